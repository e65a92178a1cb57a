/* SPDX-License-Identifier: BSD-3-Clause */
/* The page wire: what devices under test do to frames. It has a column for each direction of a
 * wire, named by the port that sends into it. */
#include <string.h>

#include "page.h"

#define LABEL 13
#define WIDTH 14
#define HEADS 1 /* row of names, which stays while the others scroll */

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

static void put_line(struct grid *g, int row, int col, int width, const struct line *l,
		     const json_t *wire)
{
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
	const json_t *list = json_object_get(in->snap, "wires");
	int width = g->cols - LABEL < WIDTH ? g->cols - LABEL : WIDTH;
	unsigned n = (unsigned)json_array_size(list),
		 room = width > 0 ? (unsigned)((g->cols - LABEL) / width) : 0,
		 first = page_first(in, n);

	if (n == 0) {
		grid_left(
			g, 0, 0, g->cols, ROLE_STAT_LABEL,
			"no port is a wire; `-p wire` makes two that are connected to each other");
		return;
	}
	page_list(in, ARRAY_SIZE(lines), g->rows - HEADS, out);
	if (in->max_ports > 0 && room > in->max_ports)
		room = in->max_ports;
	for (unsigned r = 0; r < out->rows; r++)
		grid_left(g, HEADS + (int)r, 0, LABEL, ROLE_STAT_LABEL, lines[out->top + r].title);
	for (unsigned i = 0; i < room && first + i < n; i++) {
		const json_t *wire = json_array_get(list, first + i);
		int col = LABEL + (int)i * width;
		struct sbuf name = {0};
		page_port_name(wire, in, width - 1, &name);
		grid_right(g, 0, col, width, ROLE_STAT_LABEL, sbuf_str(&name));
		sbuf_free(&name);
		for (unsigned r = 0; r < out->rows; r++)
			put_line(g, HEADS + (int)r, col, width, &lines[out->top + r], wire);
		out->shown++;
	}
	out->of = n;
}

const struct page page_wire = {
	.name = "wire",
	.parts = "wires",
	.draw = wire_draw,
	.help = "What the device under test of each wire has done to frames: taken, handed over, waiting, lost and why.",
};
