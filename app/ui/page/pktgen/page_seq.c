/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of Pktgen's sequence: a line for each slot of the selected port. If lines have no room
 * for everything, all of the selected slot stands below them. */
#include <stdio.h>
#include <string.h>

#include "out.h"
#include "page_flow.h"
#include "page_table.h"

#define MARK 1          /* a column before each line, which marks the selected one */
#define LONG_ADDRESS 39 /* no IPv6 address is longer */
#define LONG_OTHER 12   /* a range of ports: 10000..65535 */

enum {
	C_SLOT,
	C_ON,
	C_DMAC,
	C_SMAC,
	C_DIP,
	C_SIP,
	C_SPORT,
	C_DPORT,
	C_TYPE,
	C_PROTO,
	C_VLAN,
	C_COS,
	C_TOS,
	C_SIZE,
	C_TEID,
	COLS
};
_Static_assert(COLS <= TABLE_COLS, "a table has not so many columns");

static const char *const keys[COLS] = {
	"slot", "enabled", "mac_dst", "mac_src", "ip_dst", "ip_src", "sport", "dport",
	"type", "proto",   "vlan",    "cos",     "tos",    "size",   "teid",
};
/* If there is no room for all columns, the slot and the IP addresses stay, and `on` and the ports
 * are the last to go. */
static const struct table_col columns[COLS] = {
	[C_SLOT] = {"slot", 4, 4, 0, true},       [C_ON] = {"on", 3, 3, 1, false},
	[C_DMAC] = {"dst mac", 17, 17, 6, false}, [C_SMAC] = {"src mac", 17, 17, 7, false},
	[C_DIP] = {"dst ip", 11, 0, 0, false},    [C_SIP] = {"src ip", 11, 0, 0, false},
	[C_SPORT] = {"sport", 5, 0, 2, false},    [C_DPORT] = {"dport", 5, 0, 2, false},
	[C_TYPE] = {"type", 4, 4, 5, false},      [C_PROTO] = {"proto", 5, 5, 3, false},
	[C_VLAN] = {"vlan", 4, 0, 4, false},      [C_COS] = {"cos", 3, 3, 9, false},
	[C_TOS] = {"tos", 4, 4, 9, false},        [C_SIZE] = {"size", 4, 0, 3, false},
	[C_TEID] = {"teid", 4, 0, 8, false},
};

static const char *page_seq_cell(const json_t *s, unsigned i, char number[32])
{
	if (i == C_ON)
		return json_is_false(json_object_get(s, "enabled")) ? "off" : "on";
	if (i == C_SLOT) {
		snprintf(number, 32, "%d", page_int(s, "slot", 0));
		return number;
	}
	return page_str(s, keys[i], "-");
}

static void put_row(const struct table *t, struct grid *g, int row, const json_t *s)
{
	bool off = json_is_false(json_object_get(s, "enabled"));
	char number[32];

	for (unsigned i = 0; i < COLS; i++) {
		const char *text = page_seq_cell(s, i, number);
		bool varies = strstr(text, "..") != NULL || strcmp(text, "random") == 0;
		enum role role = i == C_ON ? (off ? ROLE_WARN : ROLE_GOOD)
				 : varies  ? ROLE_VARIES
					   : ROLE_STAT_VALUES;
		table_put(t, g, row, MARK, i, role, text);
	}
}

static bool all_shown(const struct table *t)
{
	for (unsigned i = 0; i < COLS; i++)
		if (t->at[i] < 0 || t->width[i] < t->col[i].want)
			return false;
	return true;
}

/* Writes everything that is known of one slot. */
static void page_seq_detail(const json_t *s, struct flow *f)
{
	struct pairs p = {0};
	char number[32];

	for (unsigned i = C_DMAC; i < COLS; i++)
		if (strcmp(page_seq_cell(s, i, number), "-") != 0)
			pairs_add(&p, columns[i].title, page_seq_cell(s, i, number), PAIR_FIXED);
	if (page_str(s, "tcp_flags", NULL) != NULL)
		pairs_add(&p, "tcp flags", page_str(s, "tcp_flags", ""), PAIR_FIXED);
	pairs_add(&p, "frame", page_str(s, "frame", "-"), PAIR_FIXED);
	if (page_str(s, "error", NULL) != NULL)
		pairs_add(&p, "error", page_str(s, "error", ""), PAIR_FIXED)->warn = true;
	flow_columns(f, 0, f->g.cols, &p);
	pairs_free(&p);
}

/* Returns how wide column c must be to show what people look for in it: an address of any length,
 * or a range of ports. What is longer may be cut. */
static int page_seq_whole(unsigned c, int want)
{
	int most = c == C_DIP || c == C_SIP ? LONG_ADDRESS : LONG_OTHER;

	return want < most ? want : most;
}

static void page_seq_fit(struct table *t, struct table_col col[COLS], const json_t *list, int room)
{
	int addresses = 0;
	const json_t *s;
	char number[32];
	size_t i;

	memcpy(col, columns, sizeof(columns));
	json_array_foreach(list, i, s)
		for (unsigned c = 0; c < COLS; c++) {
			int w = grid_width(page_seq_cell(s, c, number));
			col[c].want = w > col[c].want ? w : col[c].want;
		}
	for (unsigned c = 0; c < COLS; c++)
		col[c].want = col[c].want < col[c].min ? col[c].min : col[c].want;
	/* If there is room enough for whole addresses, values are not cut: columns of less
	 * importance are left out instead. */
	for (unsigned c = 0; c < COLS; c++)
		addresses += columns[c].rank == 0 ? page_seq_whole(c, col[c].want) + TABLE_GAP : 0;
	for (unsigned c = 0; c < COLS && addresses - TABLE_GAP <= room; c++)
		col[c].min = col[c].min < page_seq_whole(c, col[c].want)
				     ? page_seq_whole(c, col[c].want)
				     : col[c].min;
	table_fit(t, room);
}

static void page_seq_separator(const struct page_in *in, const json_t *s, struct grid *g, int row)
{
	char text[64];

	grid_fill(g, row, 0, g->cols, ROLE_SEP_DASH, in->ascii ? L'-' : L'─');
	snprintf(text, sizeof(text), " slot %d, stream %u/%d ", page_int(s, "slot", 0), in->port,
		 page_int(s, "stream", 0));
	grid_left(g, row, 2, g->cols - 2, ROLE_SEP_TEXT, text);
}

/* Draws the page of a port without slots: it says how to make some. */
static void page_seq_empty(const struct page_in *in, struct grid *g)
{
	char text[120];
	struct flow f;

	snprintf(
		text, sizeof(text),
		"port %u has no slots; `set %u seq_cnt 4` makes and uses four, `seq 0 %u ...` writes one (`help seq`)",
		in->port, in->port, in->port);
	flow_init(&f, g->cols);
	flow_text(&f, 0, g->cols, ROLE_STAT_LABEL, text);
	flow_show(&f, g, 0, g->rows, 0, 0, NULL);
	flow_free(&f);
}

static void page_seq_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	const json_t *list = json_object_get(in->snap, "slots"),
		     *selected = page_by(list, "stream", in->stream);
	unsigned n = (unsigned)json_array_size(list), at = 0;
	struct table_col col[COLS];
	struct table t = {.col = col, .n = COLS};
	int below = 0;
	struct flow f;

	if (n == 0) {
		page_seq_empty(in, g);
		return;
	}
	page_seq_fit(&t, col, list, g->cols - MARK);
	flow_init(&f, g->cols);
	/* Stream 0 is not in the list: the first slot is shown below instead. */
	const json_t *told = selected != NULL ? selected : json_array_get(list, 0);
	if (!all_shown(&t) && g->rows >= 8) {
		page_seq_detail(told, &f);
		below = f.row + 1 < g->rows / 2 ? f.row + 1 : g->rows / 2;
	}
	while (selected != NULL && at < n && json_array_get(list, at) != selected)
		at++;
	unsigned rows = g->rows - 1 > below ? (unsigned)(g->rows - 1 - below) : 0,
		 show = rows < n ? rows : n;
	unsigned top = flow_top(at > show / 2 ? at - show / 2 : 0, show, n);
	table_heads(&t, g, 0, MARK, ROLE_STAT_LABEL);
	for (unsigned r = 0; r < show; r++) {
		const json_t *s = json_array_get(list, top + r);
		put_row(&t, g, 1 + (int)r, s);
		if (s != selected)
			continue;
		grid_put(g, 1 + (int)r, 0, 1, ROLE_SELECTED, ">");
		grid_select(g, 1 + (int)r, 0, g->cols);
	}
	if (below > 1) {
		page_seq_separator(in, told, g, 1 + (int)show);
		flow_show(&f, g, 2 + (int)show, below - 1, 0, 0, NULL);
	}
	double before = page_num(in->snap, "slots_before", 0),
	       total = page_num(in->snap, "slots_total", n);
	unsigned ahead = before > 0 && before < UINT32_MAX / 2 ? (unsigned)before : 0;
	out->rows = show;
	out->all = total > ahead + n && total < UINT32_MAX ? (unsigned)total : ahead + n;
	out->top = ahead + top;
	flow_free(&f);
}

const struct page page_seq = {
	.name = "seq",
	.alias = "sequence",
	.parts = "slots:@/#~64",
	.one_port = true,
	.draw = page_seq_draw,
	.help = "Slots of Pktgen's sequence, which are the streams of the selected port from 1 on: addresses, ports, tags, sizes.",
};
