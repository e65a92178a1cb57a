/* SPDX-License-Identifier: BSD-3-Clause */
/* The page wire: what devices under test do to frames. It has a column for each direction of a
 * wire, named by the port that sends into it. */
#include <string.h>

#include "page_table.h"

static const struct line {
	const char *title, *key;
	bool text;
	bool fault; /* a number above 0 has a colour */
} lines[] = {
	{"to port", "to", false, false},
	{"device", "device", true, false},
	{"link", "link", true, false},
	{"in", "in", false, false},
	{"out", "out", false, false},
	{"waiting", "waiting", false, false},
	{"most waiting", "most_waiting", false, false},
	{"lost", "lost", false, true},
	{"queue full", "queue_drops", false, true},
	{"too long", "too_long", false, true},
	{"failed", "failed", false, true},
	{"overflow", "overflow", false, true},
	{"flushed", "flushed", false, true},
	{"duplicated", "duplicated", false, true},
	{"reordered", "reordered", false, true},
	{"corrupted", "corrupted", false, true},
};

static const char *line_title(unsigned line)
{
	return lines[line].title;
}

static void put_line(struct grid *g, int row, int col, int width, unsigned line, const json_t *wire)
{
	const struct line *l = &lines[line];
	const json_t *v = json_object_get(wire, l->key);

	if (l->text) {
		const char *word = page_str(wire, l->key, "-");
		bool bad = strcmp(word, "down") == 0 || strcmp(word, "failed") == 0;
		grid_right(g, row, col, width, bad ? ROLE_WARN : ROLE_STAT_VALUES, word);
		return;
	}
	page_put_count(g, row, col, width,
		       l->fault && json_integer_value(v) > 0 ? ROLE_WARN : ROLE_STAT_VALUES, v);
}

static void wire_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	static const struct sheet sheet = {
		.none = "no port is a wire; `-p wire` makes two that are connected to each other",
		.label = 13,
		.width = 14,
		.nlines = ARRAY_SIZE(lines),
		.title = line_title,
		.put = put_line,
	};

	sheet_draw(&sheet, json_object_get(in->snap, "wires"), in, g, out);
}

const struct page page_wire = {
	.name = "wire",
	.parts = "wires",
	.draw = wire_draw,
	.help = "What the device under test of each wire has done to frames: taken, handed over, waiting, lost and why.",
};
