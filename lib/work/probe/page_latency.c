/* SPDX-License-Identifier: BSD-3-Clause */
/* The page latency. It has a row for each port that says what became of the probes that were sent
 * to it and how long they took. Below are the distributions at the selected port, and a row for
 * each of its streams that has `latency on`. */
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "out.h"
#include "page_dist.h"

#define NAME_MOST 16
/* While probes are sent, a missing one may still be on its way for so long at least, and for
 * WAY_UNKNOWN_NS if no latency is known yet. */
#define WAY_LEAST_NS 10e6
#define WAY_UNKNOWN_NS 100e6
#define DIST_MOST 12 /* the most rows of the distribution */
#define DETAIL_MIN 5 /* so many rows of detail are worth leaving ports out for */

/* What a cell of the page shows. While all missing probes may still be on their way, CELL_LOST and
 * CELL_SHARE show 0, and CELL_WAY counts them. */
enum cell_kind { CELL_NAME, CELL_COUNT, CELL_LOSS, CELL_LOST, CELL_WAY, CELL_SHARE, CELL_NS };

struct col {
	const char *title, *unit;
	int width, rank;
	enum cell_kind kind;
	const char *path;
};

/* The columns of ports, from left to right. If there is not enough room, the column with the
 * highest rank is left out first. */
static const struct col port_cols[] = {
	{"Port", "", 8, 0, CELL_NAME, NULL},
	{"Probes", "sent", 11, 6, CELL_COUNT, "counts.sent"},
	{"Probes", "received", 11, 2, CELL_COUNT, "counts.received"},
	{"Lost", "", 9, 1, CELL_LOST, "counts.lost"},
	{"Lost", "share", 7, 9, CELL_SHARE, "counts.loss"},
	{"On the", "way", 7, 10, CELL_WAY, "counts.lost"},
	{"Copies", "", 7, 7, CELL_LOSS, "counts.duplicated"},
	{"Out of", "order", 7, 5, CELL_LOSS, "counts.reordered"},
	{"Late", "", 7, 14, CELL_LOSS, "counts.late"},
	{"Damaged", "", 7, 11, CELL_LOSS, "counts.corrupted"},
	{"Latency", "min", 7, 10, CELL_NS, "latency.actual.min_ns"},
	{"Latency", "mean", 7, 8, CELL_NS, "latency.actual.mean_ns"},
	{"Latency", "50%", 7, 3, CELL_NS, "latency.actual.percentiles_ns.p50"},
	{"Latency", "99%", 7, 4, CELL_NS, "latency.actual.percentiles_ns.p99"},
	{"Latency", "99.9%", 7, 12, CELL_NS, "latency.actual.percentiles_ns.p99_9"},
	{"Latency", "max", 7, 5, CELL_NS, "latency.actual.max_ns"},
	{"Jitter", "", 7, 13, CELL_NS, "counts.jitter_ns"},
	{"Own", "share", 7, 15, CELL_NS, "bias_ns"},
};

/* The columns of distributions, of which each has a row. */
static const struct col dist_cols[] = {
	{"", "", 9, 0, CELL_NAME, NULL},
	{"min", "", 7, 2, CELL_NS, "min_ns"},
	{"mean", "", 7, 5, CELL_NS, "mean_ns"},
	{"50%", "", 7, 1, CELL_NS, "percentiles_ns.p50"},
	{"90%", "", 7, 6, CELL_NS, "percentiles_ns.p90"},
	{"95%", "", 7, 8, CELL_NS, "percentiles_ns.p95"},
	{"99%", "", 7, 1, CELL_NS, "percentiles_ns.p99"},
	{"99.9%", "", 7, 3, CELL_NS, "percentiles_ns.p99_9"},
	{"99.99%", "", 7, 4, CELL_NS, "percentiles_ns.p99_99"},
	{"99.999%", "", 7, 7, CELL_NS, "percentiles_ns.p99_999"},
	{"max", "", 7, 2, CELL_NS, "max_ns"},
	{"samples", "", 11, 9, CELL_COUNT, "samples"},
};

/* The columns of streams. */
static const struct col stream_cols[] = {
	{"Stream", "", 9, 0, CELL_NAME, NULL},
	{"sent", "", 11, 5, CELL_COUNT, "sent"},
	{"received", "", 11, 2, CELL_COUNT, "received"},
	{"lost", "", 7, 1, CELL_LOST, "lost"},
	{"copies", "", 6, 6, CELL_LOSS, "duplicated"},
	{"reorder", "", 7, 4, CELL_LOSS, "reordered"},
	{"min", "", 7, 7, CELL_NS, "latency.min_ns"},
	{"mean", "", 7, 8, CELL_NS, "latency.mean_ns"},
	{"50%", "", 7, 1, CELL_NS, "latency.percentiles_ns.p50"},
	{"99%", "", 7, 3, CELL_NS, "latency.percentiles_ns.p99"},
	{"99.9%", "", 7, 9, CELL_NS, "latency.percentiles_ns.p99_9"},
	{"max", "", 7, 4, CELL_NS, "latency.max_ns"},
};

#define COLS_MAX 18
_Static_assert(ARRAY_SIZE(port_cols) <= COLS_MAX && ARRAY_SIZE(dist_cols) <= COLS_MAX &&
		       ARRAY_SIZE(stream_cols) <= COLS_MAX,
	       "room");

struct cols {
	const struct col *col;
	unsigned n;
	int at[COLS_MAX], width[COLS_MAX];
};

/* Chooses the columns that fit into the room, and gives what is left to the names in the first. */
static void probe_fit(struct cols *c, const struct col *col, unsigned n, int room)
{
	int rank[COLS_MAX], used = 0;

	c->col = col;
	c->n = n;
	for (unsigned i = 0; i < n; i++) {
		c->width[i] = col[i].width;
		rank[i] = col[i].rank;
	}
	page_fit(c->width, rank, n, 1, room, c->at);
	for (unsigned i = 0; i < n; i++)
		if (c->at[i] >= 0)
			used = c->at[i] + c->width[i];
	int more = room - used < NAME_MOST - c->width[0] ? room - used : NAME_MOST - c->width[0];
	c->width[0] += more > 0 ? more : 0;
	page_fit(c->width, rank, n, 1, room, c->at);
}

static void probe_heads(const struct cols *c, struct grid *g, int row, bool second)
{
	for (unsigned i = 0; i < c->n; i++) {
		const char *text = second ? c->col[i].unit : c->col[i].title;
		if (c->at[i] < 0)
			continue;
		if (i == 0)
			grid_left(g, row, c->at[i], c->width[i], ROLE_STAT_LABEL, text);
		else
			grid_right(g, row, c->at[i], c->width[i], ROLE_STAT_LABEL, text);
	}
}

/* Draws the cells of a row from o. way: all missing probes may still be on their way. */
static void probe_cells(const struct cols *c, struct grid *g, int row, const json_t *o, bool way)
{
	for (unsigned i = 1; i < c->n; i++) {
		int at = c->at[i], w = c->width[i];
		double v = page_num(o, c->col[i].path, NAN);
		if (at < 0)
			continue;
		switch (c->col[i].kind) {
		case CELL_NS:
			page_put_ns(g, row, at, w, ROLE_DYN_VALUES, v);
			break;
		case CELL_SHARE:
			v = way && isfinite(v) ? 0 : v;
			page_put_share(g, row, at, w, v > 0 ? ROLE_WARN : ROLE_DYN_VALUES, v);
			break;
		case CELL_LOST:
		case CELL_WAY:
			if (isfinite(v) && way == (c->col[i].kind == CELL_LOST))
				page_put_si(g, row, at, w, ROLE_ZERO, 0);
			else
				page_put_count(g, row, at, w,
					       v > 0 && !way ? ROLE_WARN : ROLE_DYN_VALUES,
					       out_get(o, c->col[i].path));
			break;
		default:
			page_put_count(g, row, at, w,
				       c->col[i].kind == CELL_LOSS && v > 0 ? ROLE_WARN
									    : ROLE_PORT_TOTALS,
				       out_get(o, c->col[i].path));
		}
	}
}

/* ---- ports ---- */

/* The latency of what this port receives; NULL: it receives nothing. */
static const json_t *at_port(const struct page_in *in, const json_t *port)
{
	return page_by(out_get(in->snap, "latency.ports"), "port",
		       (unsigned)page_int(port, "port", -1));
}

/* May all missing probes still be on their way? That is so while ports send, and no more are
 * missing than were sent in twice the time that the slowest probe took. */
static bool on_the_way(const struct page_in *in, const json_t *o, const char *counts,
		       const json_t *sender)
{
	double pps = page_num(sender, "tx.pps", 0),
	       lost = page_num(counts != NULL ? json_object_get(o, counts) : o, "lost", NAN);
	double longest = page_num(o, counts != NULL ? "latency.actual.max_ns" : "latency.max_ns",
				  NAN),
	       wait = WAY_UNKNOWN_NS;
	const json_t *from;
	size_t i;

	if (json_is_true(out_get(in->snap, "latency.settled")) || !isfinite(lost))
		return false;
	json_array_foreach(json_object_get(o, "from"), i, from)
		pps += page_num(page_port(in->snap, (unsigned)page_int(from, "port", -1)), "tx.pps",
				0);
	if (isfinite(longest))
		wait = 2 * longest > WAY_LEAST_NS ? 2 * longest : WAY_LEAST_NS;
	return lost <= 1 + pps * wait / 1e9;
}

static void port_row(const struct page_in *in, const struct cols *c, struct grid *g, int row,
		     const json_t *port)
{
	bool selected = (unsigned)page_int(port, "port", -1) == in->port;
	struct sbuf b = {0};

	page_port_name(port, in, c->width[0], &b);
	grid_left(g, row, c->at[0], c->width[0], ROLE_PORT_LABEL, sbuf_str(&b));
	if (selected)
		grid_select(g, row, c->at[0], c->width[0]);
	sbuf_free(&b);
	const json_t *o = at_port(in, port);
	probe_cells(c, g, row, o, on_the_way(in, o, "counts", NULL));
}

/* ---- the selected port ---- */

static void dist_row(struct flow *f, const struct cols *c, const char *name, const json_t *o)
{
	flow_room(f, 1);
	grid_left(&f->g, f->row, c->at[0], c->width[0], ROLE_DYN_LABEL, name);
	probe_cells(c, &f->g, f->row, o, false);
	f->row++;
}

static void pair_ns(struct pairs *p, const char *name, const json_t *o, const char *path)
{
	struct sbuf b = {0};

	if (json_is_number(out_get(o, path)))
		out_cell(out_get(o, path), OF_NS, &b);
	pairs_add(p, name, b.len > 0 ? b.s : "-", PAIR_FIXED);
	sbuf_free(&b);
}

static void pair_share(struct pairs *p, const char *name, const json_t *o, const char *path,
		       bool percent)
{
	double v = page_num(o, path, NAN);
	struct sbuf b = {0};

	if (isfinite(v) && percent)
		sbuf_addf(&b, "%.2f%%", 100 * v);
	else if (isfinite(v))
		out_real(v, &b);
	pairs_add(p, name, b.len > 0 ? b.s : "-", PAIR_FIXED);
	sbuf_free(&b);
}

static void probe_figures(struct flow *f, const json_t *o)
{
	struct pairs p = {0};
	struct sbuf extent = {0};

	pair_ns(&p, "jitter", o, "counts.jitter_ns");
	pair_ns(&p, "delay variation", o, "latency.actual.pdv_ns");
	bool stamped = strcmp(page_str(o, "bias_clock", ""), "nic") == 0;
	pair_ns(&p, stamped ? "own share (nic)" : "own share", o, "bias_ns");
	if (page_num(o, "counts.reordered", 0) > 0) {
		out_cell(out_get(o, "counts.extent_max"), OF_COUNT, &extent);
		pairs_add(&p, "reordered by up to", sbuf_str(&extent), PAIR_FIXED);
	}
	pair_ns(&p, "gap asked", o, "gap.target_ns");
	pair_share(&p, "gap within 64ns", o, "gap.near.64", true);
	pair_share(&p, "within 128ns", o, "gap.near.128", true);
	pair_share(&p, "within 256ns", o, "gap.near.256", true);
	pair_share(&p, "within 512ns", o, "gap.near.512", true);
	pair_share(&p, "gap variation", o, "gap.cv", false);
	pair_share(&p, "dispersion 1us", o, "gap.dispersion.1us", false);
	pair_share(&p, "10us", o, "gap.dispersion.10us", false);
	pair_share(&p, "100us", o, "gap.dispersion.100us", false);
	pair_share(&p, "1ms", o, "gap.dispersion.1ms", false);
	flow_pairs(f, 0, f->g.cols, &p);
	pairs_free(&p);
	sbuf_free(&extent);
}

static void probe_count(struct sbuf *b, const json_t *n, const char *what)
{
	out_cell(n, OF_COUNT, b);
	sbuf_add(b, what);
}

/* Says which clock times arrivals now, and which one timed those so far. Both may differ, because a
 * device's clock is not known at first and may be lost. */
static void probe_sources(struct flow *f, const json_t *stamps)
{
	bool some = page_num(stamps, "nic", 0) > 0, ours = page_num(stamps, "software", 0) > 0;
	const char *text = page_str(stamps, "text", NULL);
	struct sbuf b = {0};

	if (text == NULL)
		return;
	sbuf_addf(&b, "arrivals timed %s", text);
	if (some || ours) {
		sbuf_add(&b, "; so far ");
		const char *most = some ? "nic" : "software";
		probe_count(&b, json_object_get(stamps, most),
			    page_num(stamps, most, 0) == 1 ? " frame by " : " frames by ");
		sbuf_add(&b, some ? "stamps" : "our clock");
	}
	if (some && ours) {
		sbuf_add(&b, ", ");
		probe_count(&b, json_object_get(stamps, "software"), " by our clock");
	}
	if (page_num(stamps, "unstamped", 0) + page_num(stamps, "odd", 0) > 0) {
		sbuf_add(&b, " (");
		probe_count(&b, json_object_get(stamps, "unstamped"), " had no stamp, ");
		probe_count(&b, json_object_get(stamps, "odd"), " one that cannot be)");
	}
	flow_text(f, 0, f->g.cols, some && ours ? ROLE_WARN : ROLE_STAT_LABEL, sbuf_str(&b));
	sbuf_free(&b);
}

static void probe_remarks(const struct page_in *in, struct flow *f, const json_t *o)
{
	const char *why = page_str(o, "counts.why", NULL);
	struct sbuf b = {0};

	if (page_num(o, "counts.rx_queues", 0) > 1) {
		sbuf_addf(
			&b,
			"one stream came on %d Rx queues: order and jitter are judged on each alone",
			page_int(o, "counts.rx_queues", 0));
		flow_text(f, 0, f->g.cols, ROLE_WARN, sbuf_str(&b));
	}
	if (why != NULL) {
		sbuf_reset(&b);
		sbuf_addf(&b, "not exact: %s", why);
		flow_text(f, 0, f->g.cols, ROLE_WARN, sbuf_str(&b));
	}
	for (unsigned i = 0; i < 2; i++) {
		static const char *const key[] = {"damaged", "foreign"};
		static const char *const what[] = {"probes damaged beyond telling whose they are",
						   "probes of others"};
		if (!(page_num(o, key[i], 0) > 0))
			continue;
		sbuf_reset(&b);
		out_cell(json_object_get(o, key[i]), OF_COUNT, &b);
		sbuf_addf(&b, " %s", what[i]);
		flow_text(f, 0, f->g.cols, ROLE_WARN, sbuf_str(&b));
	}
	if (json_is_true(json_object_get(o, "bias_other")))
		flow_text(f, 0, f->g.cols, ROLE_STAT_LABEL,
			  "own share: measured by another clock than these arrivals, not shown");
	if (!json_is_true(out_get(in->snap, "latency.settled")))
		flow_text(f, 0, f->g.cols, ROLE_STAT_LABEL,
			  "sending: what may still be on its way is not lost yet");
	sbuf_free(&b);
}

static void probe_page_streams(const struct page_in *in, struct flow *f)
{
	const json_t *list = out_get(in->snap, "latency.streams"), *s;
	struct cols c;
	size_t i;

	if (json_array_size(list) == 0)
		return;
	probe_fit(&c, stream_cols, ARRAY_SIZE(stream_cols), f->g.cols);
	flow_room(f, 1);
	probe_heads(&c, &f->g, f->row++, false);
	json_array_foreach(list, i, s) {
		flow_room(f, 1);
		grid_putf(&f->g, f->row, c.at[0], c.width[0], ROLE_DYN_LABEL, "%d/%d",
			  page_int(s, "port", 0), page_int(s, "stream", 0));
		probe_cells(&c, &f->g, f->row++, s,
			    on_the_way(in, s, NULL,
				       page_port(in->snap, (unsigned)page_int(s, "port", -1))));
	}
}

/* The receiver whose distributions are shown: the selected port, or, if no probe came in there, a
 * port that received what the selected one sent. */
static const json_t *probe_receiver(const struct page_in *in)
{
	const json_t *list = out_get(in->snap, "latency.ports"),
		     *own = page_by(list, "port", in->port), *o;
	size_t i;

	if (page_num(own, "probes", 0) > 0)
		return own;
	json_array_foreach(list, i, o)
		if (page_num(o, "probes", 0) > 0 &&
		    page_by(json_object_get(o, "from"), "port", in->port) != NULL)
			return o;
	return own;
}

/* Draws what is below the table of ports. room: how many rows the drawing of the distribution may
 * take; with too few of them it is left out. */
static void probe_detail(const struct page_in *in, struct flow *f, int room)
{
	const json_t *o = probe_receiver(in);
	struct cols c;

	if (o == NULL) {
		flow_text(f, 0, f->g.cols, ROLE_STAT_LABEL, "this port receives nothing");
	} else {
		if (room >= DIST_LEAST)
			dist_draw(f, out_get(o, "latency.actual"),
				  room < DIST_MOST ? room : DIST_MOST, in->ascii);
		probe_fit(&c, dist_cols, ARRAY_SIZE(dist_cols), f->g.cols);
		flow_room(f, 1);
		probe_heads(&c, &f->g, f->row++, false);
		dist_row(f, &c, "latency", out_get(o, "latency.actual"));
		dist_row(f, &c, "since due", out_get(o, "latency.intended"));
		dist_row(f, &c, "gap", out_get(o, "gap"));
		probe_figures(f, o);
		probe_sources(f, json_object_get(o, "timestamps"));
		probe_remarks(in, f, o);
	}
	probe_page_streams(in, f);
}

static void probe_separator(const struct page_in *in, struct grid *g, int row)
{
	struct sbuf b = {0};

	grid_fill(g, row, 0, g->cols, ROLE_SEP_DASH, in->ascii ? L'-' : L'─');
	const json_t *o = probe_receiver(in);
	unsigned at = (unsigned)page_int(o, "port", (int)in->port);
	sbuf_addf(&b, at == in->port ? " port %u " : " port %u, from port %u ", at, in->port);
	grid_left(g, row, 2, g->cols - 2, ROLE_SEP_TEXT, sbuf_str(&b));
	sbuf_free(&b);
}

static bool any_probes(const struct page_in *in)
{
	const json_t *o;
	size_t i;

	json_array_foreach(out_get(in->snap, "latency.ports"), i, o)
		if (page_num(o, "probes", 0) > 0 || page_num(o, "counts.sent", 0) > 0)
			return true;
	return json_is_true(out_get(in->snap, "latency.armed"));
}

static void table_of(const struct page_in *in, struct grid *g, const json_t **port, unsigned first,
		     unsigned n, int titles)
{
	struct cols c;

	probe_fit(&c, port_cols, ARRAY_SIZE(port_cols), g->cols);
	for (int i = 0; i < titles; i++)
		probe_heads(&c, g, i, i > 0 || titles == 1);
	if (titles == 1)
		grid_left(g, 0, c.at[0], c.width[0], ROLE_STAT_LABEL, "Port");
	for (unsigned i = 0; i < n; i++)
		port_row(in, &c, g, titles + (int)i, port[first + i]);
}

static void probe_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	unsigned nports, first;
	const json_t **port = page_ports(in->snap, &nports);
	int titles = g->rows >= 5 ? 2 : g->rows >= 3 ? 1 : 0, room = g->rows - titles;
	struct flow f;

	out->of = nports;
	first = page_first(in, nports);
	if (!any_probes(in) && g->rows > 0)
		grid_left(g, 0, 0, g->cols, ROLE_STAT_LABEL,
			  nports == 0
				  ? "no ports"
				  : "no frame has a probe: `set <ports> probe on`, then `start`");
	if (!any_probes(in) || nports == 0 || room <= 0) {
		free(port);
		return;
	}
	unsigned n = nports - first;
	if (in->max_ports > 0 && n > in->max_ports)
		n = in->max_ports;
	flow_init(&f, g->cols);
	probe_detail(in, &f, 0);
	int spare = room - (int)n - 1 - f.row;
	if (spare >= DIST_LEAST) {
		flow_free(&f);
		flow_init(&f, g->cols);
		probe_detail(in, &f, spare);
	}
	/* Ports come first, and the details of the selected one get the rest. If there is not room
	 * for both, the details get half. */
	int below = room - (int)n - 1;
	if (below < DETAIL_MIN && room >= 2 * DETAIL_MIN + 2)
		below = f.row < room / 2 ? f.row : room / 2;
	if (below < 1)
		below = 0;
	if ((int)n > room - (below > 0 ? below + 1 : 0))
		n = (unsigned)(room - (below > 0 ? below + 1 : 0));
	table_of(in, g, port, first, n, titles);
	out->shown = n;
	if (below > 0) {
		probe_separator(in, g, titles + (int)n);
		flow_show(&f, g, titles + (int)n + 1, below, 0, in->top, out);
	}
	flow_free(&f);
	free(port);
}

const struct page page_latency = {
	.name = "latency",
	.alias = "lat",
	.parts = "stats,latency:@",
	.draw = probe_draw,
	.help = "Loss, order and latency of the probes at each port, and the distributions at the selected one.",
};
