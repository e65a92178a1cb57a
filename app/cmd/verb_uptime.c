/* SPDX-License-Identifier: BSD-3-Clause */
/* uptime: how long the program has run, and since when. */
#include "clock.h"
#include "show.h"

#include <time.h>

#define NS_PER_S 1000000000ull

static uint64_t began_ns, began_wall_ns;

/* Runs before main(), so that the time in which devices are opened counts as well. */
__attribute__((constructor)) static void begin(void)
{
	began_ns = clock_raw_ns();
	began_wall_ns = clock_wall_ns();
}

/* After the first second the time is told in whole seconds. */
static void uptime_say(uint64_t ns, struct sbuf *out)
{
	time_t s = (time_t)(began_wall_ns / NS_PER_S);
	char stamp[32];
	struct tm tm;

	localtime_r(&s, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &tm);
	sbuf_add(out, "up ");
	out_duration(ns < NS_PER_S ? ns : ns / NS_PER_S * NS_PER_S, out);
	sbuf_addf(out, ", since %s\n", stamp);
}

static int uptime_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	uint64_t ns = clock_raw_ns() - began_ns;

	(void)args;
	(void)e;
	if (r->out_mode == OUT_TEXT) {
		uptime_say(ns, r->out);
		return 0;
	}
	json_t *doc = show_doc("uptime");
	json_object_set_new(doc, "uptime_ns", json_integer((json_int_t)ns));
	json_object_set_new(doc, "began_wall_ns", json_integer((json_int_t)began_wall_ns));
	return show_out(r, doc, NULL);
}

static const struct arg_spec none[] = {{ARG_END}};

const struct verb verb_uptime = {
	.name = "uptime",
	.args = none,
	.run = uptime_run,
	.flags = VERB_NO_LOAD | VERB_LOOKS,
	.help = "Print how long the program has run, and since when.",
};
