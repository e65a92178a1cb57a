/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "wire" as the program sees it: its settings, `show wire` and its part of snapshots. */
#include "face.h"
#include "wire_app.h"

static const struct set_chunk rows[] = {{600, wire_rows}, {0}};

static const struct show_row shows[] = {
	{300, "wire", "what the device under test of each wire did to frames", wire_show,
	 TAKES_PORTS},
	{0},
};

static const struct part_row parts[] = {{700, &part_wires}, {0}};

const struct face face_wire = {.rows = rows, .shows = shows, .parts = parts, .idle_row = wire_idle};
