/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of one flow, the selected stream: its rates, the distribution of its times, what became
 * of its connections, and what TCP did. */
#include <math.h>
#include <string.h>

#include "out.h"
#include "page_dist.h"
#include "page_table.h"

#define DIST_MOST 10

enum { T_NAME, T_COUNT, T_MIN, T_MEAN, T_P50, T_P90, T_P99, T_P999, T_MAX, T_COLS };
static const struct table_col time_cols[T_COLS] = {
	[T_NAME] = {"", 11, 11, 0, false}, [T_COUNT] = {"count", 7, 13, 4, true},
	[T_MIN] = {"min", 7, 8, 5, true},  [T_MEAN] = {"mean", 7, 8, 3, true},
	[T_P50] = {"50%", 7, 8, 1, true},  [T_P90] = {"90%", 7, 8, 2, true},
	[T_P99] = {"99%", 7, 8, 1, true},  [T_P999] = {"99.9%", 7, 8, 6, true},
	[T_MAX] = {"max", 7, 8, 2, true},
};
static const char *const time_keys[T_COLS] = {
	[T_COUNT] = "count", [T_MIN] = "min_ns", [T_MEAN] = "mean_ns", [T_P50] = "p50_ns",
	[T_P90] = "p90_ns",  [T_P99] = "p99_ns", [T_P999] = "p999_ns", [T_MAX] = "max_ns",
};
static const struct {
	const char *title, *path;
} times[] = {{"connect", "latency.connect"},
	     {"first byte", "latency.first_byte"},
	     {"transaction", "latency.transaction"},
	     {"since due", "latency.since_due"},
	     {"close", "latency.close"}};

/* Parts of the document, each a list of counters. */
static const struct {
	const char *title, *path;
	bool zeros; /* those that are 0 are shown, too */
} parts[] = {
	{"connections", "connections", true},
	{"transactions", "transactions", true},
	{"payload", "payload", true},
	{"segments", "segments", true},
	{"http", "http", false},
	{"what else happened", "errors", false},
	{"connections that were due", "pace.connections", false},
	{"transactions that were due", "pace.transactions", false},
};
/* Counters of those parts that ask for attention. */
static const char *const faults[] = {
	"refused",    "connect_timeout", "unreachable",  "no_tuple", "aborted_opening", "timed_out",
	"aborted",    "failed",          "bad_checksum", "bad",      "reset_by_peer",   "late",
	"mismatched",
};

static bool flow_one_fault(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(faults); i++)
		if (strcmp(name, faults[i]) == 0)
			return true;
	return false;
}

static void flow_one_times(struct flow *f, const json_t *flow)
{
	struct table t = {.col = time_cols, .n = T_COLS};

	table_fit(&t, f->g.cols);
	flow_room(f, 1 + (int)ARRAY_SIZE(times));
	table_heads(&t, &f->g, f->row++, 0, ROLE_STAT_LABEL);
	for (unsigned i = 0; i < ARRAY_SIZE(times); i++) {
		const json_t *o = out_get(flow, times[i].path);
		table_put(&t, &f->g, f->row, 0, T_NAME, ROLE_DYN_LABEL, times[i].title);
		for (unsigned k = T_COUNT; k < T_COLS; k++) {
			if (t.at[k] < 0)
				continue;
			if (k == T_COUNT)
				page_put_count(&f->g, f->row, t.at[k], t.width[k], ROLE_PORT_TOTALS,
					       json_object_get(o, time_keys[k]));
			else
				page_put_ns(&f->g, f->row, t.at[k], t.width[k], ROLE_DYN_VALUES,
					    page_num(o, time_keys[k], NAN));
		}
		f->row++;
	}
}

/* ---- by its servers ---- */

enum {
	S_SERVER,
	S_WEIGHT,
	S_OPENED,
	S_SHARE,
	S_EXPECTED,
	S_ESTABLISHED,
	S_CLOSED,
	S_OPEN,
	S_DONE,
	S_COLS
};
static const struct table_col server_cols[S_COLS] = {
	[S_SERVER] = {"server", 18, 28, 0, false},
	[S_WEIGHT] = {"weight", 6, 6, 4, true},
	[S_OPENED] = {"opened", 7, 13, 1, true},
	[S_SHARE] = {"share", 7, 7, 1, true},
	[S_EXPECTED] = {"expected", 8, 8, 2, true},
	[S_ESTABLISHED] = {"established", 11, 13, 5, true},
	[S_CLOSED] = {"closed", 7, 13, 6, true},
	[S_OPEN] = {"open", 7, 9, 3, true},
	[S_DONE] = {"transactions", 12, 13, 4, true},
};
static const struct {
	const char *key;
	enum out_fmt fmt;
} server_keys[S_COLS] = {
	[S_WEIGHT] = {"weight", OF_COUNT},
	[S_OPENED] = {"opened", OF_COUNT},
	[S_SHARE] = {"share", OF_PERCENT},
	[S_EXPECTED] = {"expected", OF_PERCENT},
	[S_ESTABLISHED] = {"established", OF_COUNT},
	[S_CLOSED] = {"closed", OF_COUNT},
	[S_OPEN] = {"open", OF_COUNT},
	[S_DONE] = {"done", OF_COUNT},
};

static void flow_one_server(struct flow *f, const struct table *t, const json_t *server)
{
	struct sbuf b = {0};

	flow_room(f, 1);
	sbuf_addf(&b, "%s %d", page_str(server, "address", "-"),
		  page_int(server, "server_port", 0));
	table_put(t, &f->g, f->row, 0, S_SERVER, ROLE_DYN_LABEL, sbuf_str(&b));
	for (unsigned k = S_WEIGHT; k < S_COLS; k++) {
		const json_t *v = json_object_get(server, server_keys[k].key);

		if (t->at[k] < 0)
			continue;
		if (server_keys[k].fmt == OF_COUNT) {
			page_put_count(&f->g, f->row, t->at[k], t->width[k], ROLE_PORT_TOTALS, v);
			continue;
		}
		sbuf_reset(&b);
		out_cell(v, server_keys[k].fmt, &b);
		table_put(t, &f->g, f->row, 0, k, ROLE_DYN_VALUES, sbuf_str(&b));
	}
	f->row++;
	sbuf_free(&b);
}

/* How far the shares are from the weights. */
static void flow_one_chance(struct flow *f, const json_t *about)
{
	static const struct {
		const char *title, *key;
		enum out_fmt fmt;
	} row[] = {{"chi-square", "chi_square", OF_REAL},
		   {"degrees", "degrees", OF_COUNT},
		   {"p", "probability", OF_REAL}};
	struct pairs p = {0};
	struct sbuf b = {0};

	for (unsigned i = 0; i < ARRAY_SIZE(row); i++) {
		sbuf_reset(&b);
		out_cell(json_object_get(about, row[i].key), row[i].fmt, &b);
		pairs_add(&p, row[i].title, sbuf_str(&b), PAIR_FIXED);
	}
	flow_pairs(f, 0, f->g.cols, &p);
	pairs_free(&p);
	sbuf_free(&b);
}

/* Of a flow that counts by its servers. At most so many of them: the numbers below are to be seen,
 * too. */
static void flow_one_servers(struct flow *f, const json_t *flow, int most)
{
	const json_t *about = json_array_get(out_get(flow, "by_dst.flows"), 0),
		     *servers = out_get(flow, "by_dst.servers");
	struct table t = {.col = server_cols, .n = S_COLS};
	int n = page_int(about, "servers", 0), shown = (int)json_array_size(servers);
	struct sbuf b = {0};

	if (shown == 0)
		return;
	shown = shown < most ? shown : most;
	table_fit(&t, f->g.cols);
	flow_room(f, 1);
	table_heads(&t, &f->g, f->row++, 0, ROLE_STAT_LABEL);
	for (int i = 0; i < shown; i++)
		flow_one_server(f, &t, json_array_get(servers, (size_t)i));
	if (n > shown) {
		sbuf_addf(&b, "and %d more: `show flows by dst %d/%d`", n - shown,
			  page_int(flow, "port", 0), page_int(flow, "stream", 0));
		flow_text(f, 0, f->g.cols, ROLE_STAT_LABEL, sbuf_str(&b));
	}
	flow_one_chance(f, about);
	sbuf_free(&b);
}

static void flow_one_counters(struct flow *f, const json_t *flow)
{
	for (unsigned i = 0; i < ARRAY_SIZE(parts); i++) {
		struct pairs p = {0};
		struct sbuf value = {0};
		const char *name;
		json_t *n;
		json_object_foreach(out_get(flow, parts[i].path), name, n) {
			if (!parts[i].zeros && json_integer_value(n) == 0)
				continue;
			sbuf_reset(&value);
			out_cell(n, strstr(name, "_ns") != NULL ? OF_NS : OF_COUNT, &value);
			pairs_add(&p, name, sbuf_str(&value), PAIR_FIXED)->warn =
				json_integer_value(n) > 0 && flow_one_fault(name);
		}
		if (p.n > 0) {
			flow_text(f, 0, f->g.cols, ROLE_STAT_LABEL, parts[i].title);
			flow_columns(f, 2, f->g.cols - 2, &p);
		}
		pairs_free(&p);
		sbuf_free(&value);
	}
}

static void flow_one_rates(struct flow *f, const json_t *flow)
{
	static const struct {
		const char *title, *path;
	} rates[] = {{"connections/s", "rates.cps"},
		     {"transactions/s", "rates.tps"},
		     {"tx bit/s", "rates.tx_bps"},
		     {"rx bit/s", "rates.rx_bps"}};
	struct pairs p = {0};
	struct sbuf b = {0};

	for (unsigned i = 0; i < ARRAY_SIZE(rates); i++) {
		sbuf_reset(&b);
		out_cell(out_get(flow, rates[i].path), OF_PPS, &b);
		pairs_add(&p, rates[i].title, sbuf_str(&b), PAIR_FIXED);
	}
	flow_pairs(f, 0, f->g.cols, &p);
	pairs_free(&p);
	sbuf_free(&b);
}

/* The times whose distribution is drawn: those of transactions, or of opening where there are
 * none. */
static unsigned flow_one_drawn(const json_t *flow)
{
	return page_num(flow, "latency.transaction.count", 0) > 0 ? 2 : 0;
}

/* rows: of the drawing, 0: none. servers: at most so many. */
static void flow_one_all(struct flow *f, const json_t *flow, int rows, int servers, bool ascii)
{
	flow_one_rates(f, flow);
	if (rows >= DIST_LEAST) {
		unsigned drawn = flow_one_drawn(flow);
		struct sbuf title = {0};
		sbuf_addf(&title, "%s:", times[drawn].title);
		if (page_num(out_get(flow, times[drawn].path), "count", 0) > 0) {
			flow_text(f, 0, f->g.cols, ROLE_STAT_LABEL, sbuf_str(&title));
			dist_draw(f, out_get(flow, times[drawn].path), rows - 1, ascii);
		}
		sbuf_free(&title);
	}
	flow_one_times(f, flow);
	flow_one_servers(f, flow, servers);
	flow_one_counters(f, flow);
}

static void flow_one_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	const json_t *flow = json_object_get(in->snap, "flow");
	struct sbuf b = {0};
	struct flow f;
	int rows = g->rows - 1, servers = rows / 3 > 4 ? rows / 3 : 4;

	if (!json_is_object(flow)) {
		sbuf_addf(&b, "stream %u/%u is no flow: `set %u/%u flow client` makes it one",
			  in->port, in->stream, in->port, in->stream);
		grid_left(g, 0, 0, g->cols, ROLE_STAT_LABEL, sbuf_str(&b));
		sbuf_free(&b);
		return;
	}
	grid_fill(g, 0, 0, g->cols, ROLE_SEP_DASH, in->ascii ? L'-' : L'─');
	sbuf_addf(&b, " flow %u/%u: %s, %s ", in->port, in->stream, page_str(flow, "role", "-"),
		  page_str(flow, "state", "-"));
	grid_left(g, 0, 2, g->cols - 2, ROLE_SEP_TEXT, sbuf_str(&b));
	sbuf_free(&b);
	flow_init(&f, g->cols);
	flow_one_all(&f, flow, 0, servers, in->ascii);
	/* The drawing gets the rows that the numbers leave, or a third, and these are scrolled. */
	int spare = rows - f.row > rows / 3 ? rows - f.row : rows / 3;
	if (spare >= DIST_LEAST + 1) {
		flow_free(&f);
		flow_init(&f, g->cols);
		flow_one_all(&f, flow, spare < DIST_MOST ? spare : DIST_MOST, servers, in->ascii);
	}
	if (rows > 0)
		flow_show(&f, g, 1, rows, 0, in->top, out);
	flow_free(&f);
}

const struct page page_flow_one = {
	.name = "flow",
	.parts = "flow:@/#",
	.one_port = true,
	.draw = flow_one_draw,
	.help = "The selected stream as a flow: how long its connections and transactions took, what became of them, and what TCP did.",
};
