/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "host" as the program sees it: its settings, verbs, words of `show`, and the part
 * "hosts" of snapshots: the "ports" of `show host`. */
#include "face.h"
#include "host_app.h"
#include "host_face.h"

static const struct set_chunk rows[] = {{610, host_rows}, {0}};

static const struct show_row shows[] = {
	{310, "host", "addresses of ports, and what they answered", host_show, TAKES_PORTS},
	{311, "neighbours", "neighbours of ports that have addresses", host_show_neighbours,
	 TAKES_PORTS},
	{0},
};

static const struct verb_row verbs[] = {
	{230, &verb_garp},   {231, &verb_clear_neighbours}, {232, &verb_ping},
	{233, &verb_arping}, {234, &verb_traceroute},       {0},
};

static const struct snap_part host_part = {.name = "hosts",
					   .takes = PART_ALONE,
					   .show = host_json,
					   .from = "ports"};
static const struct part_row parts[] = {{206, &host_part}, {0}};

const struct face face_host = {
	.rows = rows, .shows = shows, .verbs = verbs, .parts = parts, .idle_row = host_idle};
