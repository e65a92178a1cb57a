/* SPDX-License-Identifier: BSD-3-Clause */
/* Page log: the last messages, the newest at the bottom. */
#include <stdlib.h>
#include <string.h>

#include "page_flow.h"

#define CLOCK 8  /* HH:MM:SS */
#define STAMP 12 /* with milliseconds */
#define LEVEL 7

static enum role role_of(const char *level)
{
	return strcmp(level, "error") == 0     ? ROLE_LOG_ERROR
	       : strcmp(level, "warning") == 0 ? ROLE_WARN
					       : ROLE_LOG_TEXT;
}

/* Draws a message. Time and level stand before the text where there is room for both. The first
 * letter of the level is always there. */
static void log_message(struct flow *f, const json_t *m)
{
	const char *level = page_str(m, "level", "-");
	int cols = f->g.cols,
	    stamp = cols >= 72   ? STAMP
		    : cols >= 36 ? CLOCK
				 : 0,
	    word = cols >= 50 ? LEVEL : 1;
	int text = (stamp > 0 ? stamp + 1 : 0) + word + 1;

	flow_room(f, 1);
	grid_put(&f->g, f->row, 0, stamp, ROLE_STAT_LABEL, page_str(m, "time", "-"));
	grid_put(&f->g, f->row, text - word - 1, word, role_of(level), level);
	flow_text(f, text, cols - text, role_of(level), page_str(m, "text", ""));
}

static void log_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	const json_t *list = json_object_get(in->snap, "log"), *m;
	unsigned rows = (unsigned)g->rows, all = 0;
	struct flow f;
	size_t i;

	flow_init(&f, g->cols);
	json_array_foreach(list, i, m)
		log_message(&f, m);
	all = (unsigned)f.row;
	if (all == 0)
		grid_put(g, 0, 0, -1, ROLE_STAT_LABEL, "no messages");
	/* in->top counts back from the end, so that new messages appear while it is 0. */
	unsigned back = flow_top(in->top, rows, all);
	flow_show(&f, g, 0, g->rows, 0, all > rows ? all - rows - back : 0, out);
	flow_free(&f);
}

const struct page page_log = {
	.name = "log",
	.alias = "messages",
	.parts = "log",
	.tail = true,
	.draw = log_draw,
	.help = "The last messages, the newest at the bottom.",
};
