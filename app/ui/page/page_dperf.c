/* SPDX-License-Identifier: BSD-3-Clause */
/* Page dperf: the last second and the totals by the names of dperf, in its lines; those that are
 * too long for the grid go on in the next row. */
#include <string.h>

#include "page_as_dperf.h"
#include "page_flow.h"

#define PLACE_LEAST 26 /* a name, 12 digits with their commas, a gap */
#define LINE_MOST 135  /* from here on places are as wide as dperf has them */

/* Draws one line of a block, as many places in a row as there is room for. */
static void dperf_put_line(struct flow *f, const json_t *block, bool total,
			   const struct dperf_place *p, int n)
{
	bool all = f->g.cols >= LINE_MOST;
	int at = 0;

	for (int i = 0; i < n; i++) {
		struct sbuf v = {0};
		bool wrong;
		dperf_block_number(block, total, p[i].key, &v, &wrong);
		int label = (int)strlen(p[i].label), need = label + (int)v.len;
		int wide = all ? label + p[i].width + 1 : PLACE_LEAST;
		if (at > 0 && at + (need > wide || all ? need : wide - 1) > f->g.cols) {
			f->row++;
			at = 0;
		}
		flow_room(f, 1);
		wide = need >= wide ? need + 1 : wide;
		grid_put(&f->g, f->row, at, label, ROLE_STAT_LABEL, p[i].label);
		grid_put(&f->g, f->row, at + label, -1, wrong ? ROLE_WARN : ROLE_STAT_VALUES,
			 sbuf_str(&v));
		at += wide;
		sbuf_free(&v);
	}
	f->row++;
}

static void dperf_put_block(struct flow *f, const json_t *block, bool total)
{
	struct dperf_place p[DPERF_PLACES];
	struct sbuf errors = {0};
	int n;

	for (unsigned i = 0; (n = dperf_block_line(block, i, p)) >= 0; i++)
		if (n > 0)
			dperf_put_line(f, block, total, p, n);
	dperf_block_errors(block, total, &errors);
	if (errors.len > 0) {
		struct sbuf line = {0};
		sbuf_addf(&line, "errors  %s", errors.s);
		flow_text(f, 0, f->g.cols, ROLE_WARN, line.s);
		sbuf_free(&line);
	}
	sbuf_free(&errors);
	flow_room(f, 1);
	f->row++;
}

/* The line above a block: its role and ports, and of the last second how long it has run, and what
 * its workers did. */
static void dperf_put_head(struct flow *f, const json_t *block, bool total)
{
	struct sbuf b = {0};
	const json_t *v;
	size_t i;

	sbuf_addf(&b, "%s, port", page_str(block, "role", "-"));
	json_array_foreach(json_object_get(block, "ports"), i, v)
		sbuf_addf(&b, "%s%d", i > 0 ? "," : " ", (int)json_integer_value(v));
	if (total) {
		sbuf_add(&b, ": Total Numbers");
	} else {
		sbuf_addf(&b, ": seconds %d  cpuUsage", page_int(block, "seconds", 0));
		json_array_foreach(json_object_get(block, "cpuUsage"), i, v)
			sbuf_addf(&b, " %d", (int)json_integer_value(v));
	}
	flow_text(f, 0, f->g.cols, ROLE_PORT_LABEL, sbuf_str(&b));
	sbuf_free(&b);
}

static void page_dperf_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	const json_t *list = json_object_get(in->snap, "dperf"), *block;
	struct flow f;
	size_t i;

	flow_init(&f, g->cols);
	json_array_foreach(list, i, block) {
		if (json_is_object(json_object_get(block, "second"))) {
			dperf_put_head(&f, block, false);
			dperf_put_block(&f, block, false);
		}
	}
	json_array_foreach(list, i, block) {
		dperf_put_head(&f, block, true);
		dperf_put_block(&f, block, true);
	}
	if (json_array_size(list) == 0)
		flow_text(
			&f, 0, f.g.cols, ROLE_STAT_LABEL,
			"nothing has run: `set 0 flow client; set 1 flow server; start all` opens connections");
	flow_show(&f, g, 0, g->rows, 0, in->top, out);
	flow_free(&f);
}

const struct page page_dperf = {
	.name = "dperf",
	.parts = "dperf",
	.draw = page_dperf_draw,
	.help = "The last second and the totals of connections by the names that they have in dperf.",
};
