/* SPDX-License-Identifier: BSD-3-Clause */
/* Page help: the keys of the screen and all commands, each on a line. */
#include <stdlib.h>
#include <string.h>

#include "keys_help.h"
#include "page_flow.h"

#define BESIDE 100 /* columns from which keys and commands stand beside each other */
#define GAP 3

/* Draws a name, and its text wrapped beside it, or below it where there is too little room. All
 * names stand in a column as wide as the widest. */
static void help_entry(struct flow *f, int col, int width, int name_cols, const char *name,
		       const char *text, enum role role, enum role text_role)
{
	bool beside = width >= name_cols + 20;

	flow_room(f, 1);
	grid_left(&f->g, f->row, col, width, role, name);
	if (!beside)
		f->row++;
	flow_text(f, col + (beside ? name_cols + 2 : 1), width - (beside ? name_cols + 2 : 1),
		  text_role, text);
}

static void help_keys(struct flow *f, int col, int width)
{
	int widest = 0;

	flow_text(f, col, width, ROLE_PORT_LABEL, "Keys of the screen");
	for (unsigned i = 0; keys_help[i].key != NULL; i++) {
		int w = grid_width(keys_help[i].key);
		widest = w > widest ? w : widest;
	}
	for (unsigned i = 0; keys_help[i].key != NULL; i++)
		help_entry(f, col, width, widest, keys_help[i].key, keys_help[i].text, ROLE_KEY,
			   ROLE_KEY_TEXT);
}

static void help_verbs(const struct page_in *in, struct flow *f, int col, int width)
{
	const json_t *list = json_object_get(in->snap, "help"), *v;
	int widest = 0;
	size_t i;

	flow_text(f, col, width, ROLE_PORT_LABEL, "Commands; `help WORD` tells more");
	json_array_foreach(list, i, v) {
		int w = grid_width(page_str(v, "name", ""));
		widest = w > widest ? w : widest;
	}
	json_array_foreach(list, i, v)
		help_entry(f, col, width, widest, page_str(v, "name", "?"), page_str(v, "help", ""),
			   ROLE_STAT_VALUES, ROLE_STAT_LABEL);
}

static void help_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	bool beside = g->cols >= BESIDE;
	int left = beside ? (g->cols - GAP) * 2 / 5 : g->cols;
	struct flow f;

	flow_init(&f, g->cols);
	help_keys(&f, 0, left);
	int below = f.row;
	if (beside)
		f.row = 0;
	help_verbs(in, &f, beside ? left + GAP : 0, beside ? g->cols - left - GAP : g->cols);
	f.row = f.row > below ? f.row : below;
	flow_show(&f, g, 0, g->rows, 0, in->top, out);
	flow_free(&f);
}

const struct page page_help = {
	.name = "help",
	.alias = "keys",
	.parts = "help",
	.draw = help_draw,
	.help = "Keys and commands.",
};
