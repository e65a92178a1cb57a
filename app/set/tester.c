/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of the tester itself: struct tester of the program. */
#include "rows.h"
#include "app.h"
#include "probe.h"

#define AT(member) offsetof(struct app, tester.member)
#define MS 1000000ull
#define S (1000 * MS)

const struct setting set_tester_rows[] = {
	{.name = "stall", .scope = SCOPE_GLOBAL, .v = {&vt_duration, 1000, 10 * S}, .dflt = "50us", .offset = AT(stall_ns),
	 .help = "a turn of a worker that takes longer is a stall: counted, and the longest one kept (page cpu, `show stats --json`)"},
	{.name = "probes.memory", .alias = "probes memory", .scope = SCOPE_GLOBAL, .v = {&vt_uint, 1, 1000000}, .dflt = "1000", .unit = "MB",
	 .offset = AT(probe_mb),
	 .help = "most memory for receiving probes, in 10^6 bytes; `start` refuses what would take more, `show plan` tells what it takes"},
};
const unsigned set_ntester_rows = ARRAY_SIZE(set_tester_rows);

void tester_init(struct tester *t)
{
	t->stall_ns = CTL_STALL_NS;
	t->probe_mb = 1000;
}

void tester_apply(const struct app *app)
{
	ctl_set_stall(app->ctl, app->tester.stall_ns);
	ctl_probe_memory(app->ctl, app->tester.probe_mb * 1000000);
}
