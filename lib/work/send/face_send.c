/* SPDX-License-Identifier: BSD-3-Clause */
/* What sending adds to the program: settings, words of `show` and parts of snapshots. */
#include "face.h"
#include "send_app.h"
#include "send_cfg.h"
#include "set/rows.h"

extern const struct work work_send;

static const struct setting port_rows[] = {
	{.name = "forgive",
	 .scope = &scope_port,
	 .v = {&vt_duration, 0, 3600000000000},
	 .dflt = SEND_DFLT_FORGIVE,
	 .offset = offsetof(struct send_cfg, forgive_ns),
	 .store = &set_work_store,
	 .arg = &work_send,
	 .why = WHY_WORK,
	 .help = "how late frames may be and still be sent when the rate changes: what is later is given up, and counted as unsent"},
	{0},
};

static const struct set_chunk rows[] = {{450, port_rows}, {0}};

static const struct show_row shows[] = {
	{200, "streams", "streams of each port, and what they have sent", send_show_streams,
	 TAKES_STREAMS},
	{0},
};

static const struct part_row parts[] = {{200, &part_streams}, {0}};

const struct face face_send = {
	.rows = rows,
	.shows = shows,
	.parts = parts,
};
