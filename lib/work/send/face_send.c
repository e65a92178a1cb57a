/* SPDX-License-Identifier: BSD-3-Clause */
/* What sending adds to the program: settings, words of `show`, verbs and parts of snapshots. */
#include "face.h"
#include "send_app.h"
#include "send_cfg.h"
#include "set/rows.h"

extern const struct work work_send;

static const struct setting port_rows[] = {
	{.name = "forgive",
	 .scope = SCOPE_PORT,
	 .v = {&vt_duration, 0, 3600000000000},
	 .dflt = SEND_DFLT_FORGIVE,
	 .offset = offsetof(struct send_cfg, forgive_ns),
	 .store = &set_work_store,
	 .arg = &work_send,
	 .why = WHY_WORK,
	 .help = "how late frames may be and still be sent when the rate changes: what is later is given up, and counted as unsent"},
	{0},
};

static const struct set_chunk rows[] = {{450, port_rows},
					{1200, .add = send_range_rows},
					{1500, send_seq_rows},
					{0}};

static const struct show_row shows[] = {
	{{200, "streams", "streams of each port, and what they have sent"},
	 send_show_streams,
	 TAKES_STREAMS},
	{{0}},
};

static const struct verb_row verbs[] = {{210, &verb_range}, {210, &verb_sequence}, {0}};

static const struct part_row parts[] = {{200, &part_streams},
					{500, &part_slots},
					{500, &part_ranges},
					{0}};

static const struct feature features[] = {
	{{200, "range", "the ranges of `range <ports> ...`"}, .row = "ranges", .single = true},
	{{0}},
};

const struct face face_send = {
	.rows = rows,
	.shows = shows,
	.verbs = verbs,
	.parts = parts,
	.features = features,
	.idle_row = send_idle,
};
