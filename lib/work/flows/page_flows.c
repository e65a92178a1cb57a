/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of flows: each stream that is one in a line, and below them what went wrong, by name. */
#include <math.h>
#include <string.h>

#include "out.h"
#include "page_flow.h"
#include "page_table.h"

#define MARK 1 /* a column before each line, which marks the selected one */

enum {
	C_ID,
	C_ROLE,
	C_STATE,
	C_CPS,
	C_TPS,
	C_OPEN,
	C_TX,
	C_RX,
	C_HALF,
	C_TAIL,
	C_MOST,
	C_DONE,
	C_ERRORS,
	COLS
};

static const struct table_col columns[COLS] = {
	[C_ID] = {"flow", 6, 7, 0, false},       [C_ROLE] = {"role", 6, 6, 4, false},
	[C_STATE] = {"state", 8, 8, 5, false},   [C_CPS] = {"conn/s", 6, 7, 1, true},
	[C_TPS] = {"trans/s", 7, 7, 1, true},    [C_OPEN] = {"open", 6, 11, 2, true},
	[C_TX] = {"tx bit/s", 8, 8, 6, true},    [C_RX] = {"rx bit/s", 8, 8, 6, true},
	[C_HALF] = {"50%", 7, 8, 7, true},       [C_TAIL] = {"99%", 7, 8, 3, true},
	[C_MOST] = {"max", 7, 8, 8, true},       [C_DONE] = {"transactions", 12, 15, 9, true},
	[C_ERRORS] = {"errors", 6, 11, 2, true},
};
static const char *const keys[COLS] = {
	[C_CPS] = "rates.cps",
	[C_TPS] = "rates.tps",
	[C_OPEN] = "connections.open",
	[C_TX] = "rates.tx_bps",
	[C_RX] = "rates.rx_bps",
	[C_HALF] = "latency.transaction.p50_ns",
	[C_TAIL] = "latency.transaction.p99_ns",
	[C_MOST] = "latency.transaction.max_ns",
	[C_DONE] = "transactions.done",
};

/* What is an error: its name, and where it is counted. */
static const struct {
	const char *name, *path;
} errors[] = {
	{"refused", "connections.refused"},
	{"connect timeout", "connections.connect_timeout"},
	{"unreachable", "connections.unreachable"},
	{"no tuple", "connections.no_tuple"},
	{"aborted", "connections.aborted"},
	{"aborted opening", "connections.aborted_opening"},
	{"reset by peer", "connections.reset_by_peer"},
	{"timed out", "connections.timed_out"},
	{"transactions failed", "transactions.failed"},
	{"mismatched", "errors.mismatched"},
	{"bad checksum", "segments.bad_checksum"},
	{"http bad", "http.bad"},
	{"no memory", "errors.no_memory"},
};
/* What is none, but costs time. */
static const struct {
	const char *name, *path;
} signs[] = {
	{"retransmitted", "segments.retransmitted"},
	{"out of order", "segments.out_of_order"},
	{"duplicate", "segments.duplicate"},
	{"late connections", "pace.connections.late"},
	{"late transactions", "pace.transactions.late"},
};

static json_int_t flows_errors(const json_t *flow)
{
	uint64_t sum = 0; /* a document may hold any numbers */

	for (unsigned i = 0; i < ARRAY_SIZE(errors); i++)
		sum += (uint64_t)json_integer_value(out_get(flow, errors[i].path));
	return (json_int_t)sum;
}

static void put_flow(const struct table *t, struct grid *g, int row, const json_t *flow)
{
	struct sbuf id = {0};
	json_t *wrong = json_integer(flows_errors(flow));
	const char *state = page_str(flow, "state", "-");

	sbuf_addf(&id, "%d/%d", page_int(flow, "port", 0), page_int(flow, "stream", 0));
	table_put(t, g, row, MARK, C_ID, ROLE_PORT_LABEL, sbuf_str(&id));
	table_put(t, g, row, MARK, C_ROLE, ROLE_STAT_VALUES, page_str(flow, "role", "-"));
	table_put(t, g, row, MARK, C_STATE,
		  strcmp(state, "idle") == 0 ? ROLE_ZERO : ROLE_STAT_VALUES, state);
	for (unsigned i = C_CPS; i < COLS; i++) {
		int col = MARK + t->at[i], w = t->width[i];
		if (t->at[i] < 0)
			continue;
		if (i == C_ERRORS)
			page_put_count(g, row, col, w,
				       json_integer_value(wrong) > 0 ? ROLE_WARN : ROLE_DYN_VALUES,
				       wrong);
		else if (i == C_OPEN || i == C_DONE)
			page_put_count(g, row, col, w, ROLE_PORT_TOTALS, out_get(flow, keys[i]));
		else if (i >= C_HALF && i <= C_MOST)
			page_put_ns(g, row, col, w, ROLE_DYN_VALUES, page_num(flow, keys[i], NAN));
		else
			page_put_si(g, row, col, w, ROLE_DYN_VALUES, page_num(flow, keys[i], NAN));
	}
	sbuf_free(&id);
	json_decref(wrong);
}

static bool is_selected(const struct page_in *in, const json_t *flow)
{
	return page_int(flow, "port", -1) == (int)in->port &&
	       page_int(flow, "stream", -1) == (int)in->stream;
}

/* Adds a counter that is not 0, with the flow that it is of. */
static void page_flows_count(const json_t *flow, const char *what, const char *path, bool warn,
			     struct pairs *p)
{
	const json_t *n = out_get(flow, path);
	struct sbuf name = {0}, value = {0};

	if (json_integer_value(n) == 0)
		return;
	sbuf_addf(&name, "%d/%d %s", page_int(flow, "port", 0), page_int(flow, "stream", 0), what);
	out_cell(n, OF_COUNT, &value);
	pairs_add(p, sbuf_str(&name), sbuf_str(&value), PAIR_FIXED)->warn = warn;
	sbuf_free(&name);
	sbuf_free(&value);
}

/* What went wrong, flow by flow. */
static void page_flows_errors(const json_t *list, struct flow *f)
{
	struct pairs p = {0};
	const json_t *flow;
	size_t k;

	json_array_foreach(list, k, flow)
		for (unsigned i = 0; i < ARRAY_SIZE(errors); i++)
			page_flows_count(flow, errors[i].name, errors[i].path, true, &p);
	json_array_foreach(list, k, flow)
		for (unsigned i = 0; i < ARRAY_SIZE(signs); i++)
			page_flows_count(flow, signs[i].name, signs[i].path, false, &p);
	if (p.n == 0)
		flow_text(f, 0, f->g.cols, ROLE_STAT_LABEL, "nothing has gone wrong");
	flow_columns(f, 0, f->g.cols, &p);
	pairs_free(&p);
}

static void page_flows_separator(const struct page_in *in, struct grid *g, int row, unsigned first,
				 unsigned shown, unsigned n)
{
	struct sbuf b = {0};

	grid_fill(g, row, 0, g->cols, ROLE_SEP_DASH, in->ascii ? L'-' : L'─');
	int w = grid_left(g, row, 2, g->cols - 2, ROLE_SEP_TEXT, " errors ");
	sbuf_addf(&b, " %u-%u of %u flows ", first + 1, first + shown, n);
	if (shown < n && grid_width(sbuf_str(&b)) + w + 4 <= g->cols)
		grid_right(g, row, w + 2, g->cols - w - 4, ROLE_SEP_TEXT, sbuf_str(&b));
	sbuf_free(&b);
}

/* Places the selected flow in the middle of so many rows, or as near to it as there is room. */
static unsigned flows_top(const struct page_in *in, const json_t *list, unsigned rows, unsigned n)
{
	unsigned at = 0;

	while (at < n && !is_selected(in, json_array_get(list, at)))
		at++;
	at = at < n ? at : 0;
	return flow_top(at > rows / 2 ? at - rows / 2 : 0, rows, n);
}

static void page_flows_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	const json_t *list = json_object_get(in->snap, "flows");
	unsigned n = (unsigned)json_array_size(list);
	struct table t = {.col = columns, .n = COLS};
	int rows = g->rows - 1, below = 0;
	struct flow f;

	if (n == 0) {
		flow_init(&f, g->cols);
		flow_text(
			&f, 0, g->cols, ROLE_STAT_LABEL,
			"no flow has run: `set 0 flow client; set 1 flow server; start all` opens connections");
		flow_show(&f, g, 0, g->rows, 0, 0, NULL);
		flow_free(&f);
		return;
	}
	flow_init(&f, g->cols);
	page_flows_errors(list, &f);
	if (rows >= 4) {
		int least = f.row < rows / 3 ? f.row : rows / 3;
		below = rows - (int)n > least + 1 ? rows - (int)n : least + 1;
	}
	unsigned shown = rows > below ? (unsigned)(rows - below) : 0;
	shown = shown < n ? shown : n;
	unsigned first = flows_top(in, list, shown, n);
	table_fit(&t, g->cols - MARK);
	table_heads(&t, g, 0, MARK, ROLE_STAT_LABEL);
	for (unsigned i = 0; i < shown; i++) {
		const json_t *flow = json_array_get(list, first + i);
		put_flow(&t, g, 1 + (int)i, flow);
		if (is_selected(in, flow)) {
			grid_put(g, 1 + (int)i, 0, 1, ROLE_SELECTED, ">");
			grid_select(g, 1 + (int)i, 0, g->cols);
		}
	}
	if (below > 1) {
		page_flows_separator(in, g, 1 + (int)shown, first, shown, n);
		flow_show(&f, g, 2 + (int)shown, below - 1, 0, in->top, out);
	} else {
		out->rows = shown;
		out->all = n;
		out->top = first;
	}
	flow_free(&f);
}

const struct page page_flows = {
	.name = "flows",
	.parts = "flows",
	.draw = page_flows_draw,
	.help = "Flows: connections and transactions per second, how many are open, how long they take, and what went wrong.",
};
