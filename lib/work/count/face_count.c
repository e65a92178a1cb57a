/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "count" as the program sees it: its setting, the word `unclaimed` of `show`, and the
 * part "unclaimed" of snapshots: the "ports" of `show unclaimed`. */
#include <errno.h>

#include "cmd/show.h"
#include "count_cfg.h"
#include "count_face.h"
#include "face.h"
#include "part/part.h"
#include "set/rows.h"

extern const struct work work_count;

static const struct setting count_rows[] = {
	{.name = "unclaimed",
	 .scope = &scope_port,
	 .v = {&vt_bool},
	 .dflt = COUNT_DFLT_UNCLAIMED,
	 .offset = offsetof(struct count_cfg, unclaimed),
	 .store = &set_work_store,
	 .arg = &work_count,
	 .why = WHY_WORK,
	 .help = "counts received frames that nothing takes by protocol, as ports with connections do anyway: show unclaimed"},
	{0},
};

static const struct out_col cols[] = {
	{"port", "port", OF_COUNT},   {"name", "name", OF_STR},
	{"tcp", "tcp", OF_COUNT},     {"udp", "udp", OF_COUNT},
	{"icmp", "icmp", OF_COUNT},   {"arp", "arp", OF_COUNT},
	{"other", "other", OF_COUNT}, {"fragments", "fragments", OF_COUNT},
	{"bad", "bad", OF_COUNT},     {"before", "before", OF_COUNT},
};
static const struct out_view view = {.rows = "ports", .cols = cols, .ncols = ARRAY_SIZE(cols)};

static int unclaimed_show(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = count_json(app_of(r)->ctl, &sel->ports);

	if (json_array_size(json_object_get(doc, "ports")) > 0)
		return show_out(r, doc, &view);
	json_decref(doc);
	return err_set(
		e, EINVAL,
		"none of these ports counts what nothing takes; `set 0 unclaimed on` does, and so do ports with connections");
}

static const struct show_row shows[] = {
	{312, "unclaimed", "received frames that nothing has taken, by their protocols",
	 unclaimed_show, TAKES_PORTS},
	{0},
};

static const struct snap_part unclaimed_part = {.name = "unclaimed",
						.takes = PART_ALONE,
						.show = count_json,
						.from = "ports"};
static const struct part_row parts[] = {{207, &unclaimed_part}, {0}};
static const struct set_chunk rows[] = {{615, count_rows}, {0}};

const struct face face_count = {.rows = rows, .shows = shows, .parts = parts};
