/* SPDX-License-Identifier: BSD-3-Clause */
/* Page queues: a row for each port with its sums, and below it a row for each of its queues. */
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "out.h"

/* A queue is out of balance when it has less than half or more than twice of what the queues of its
 * port have on average, and this average is at least UNEVEN_FROM_PPS. */
#define UNEVEN_LOW 0.5
#define UNEVEN_HIGH 2.0
#define UNEVEN_FROM_PPS 10
#define BUSY_FULL 0.95 /* a worker that is busy for this share of its time has none left */
#define BAR_MOST 24
#define GAP 1
#define NAME_MOST 16

/* A row of the page: a port or one of its queues. */
struct entry {
	const json_t *port, *queue; /* queue NULL: the port itself */
	unsigned number;            /* of the queue */
	double rx_mean, tx_mean;    /* mean rate of the port's queues; NAN: it has no such queues */
	unsigned rx_queues, tx_queues;
};

struct cell {
	const struct page_in *in;
	const struct entry *e;
	struct grid *g;
	int row, col, width;
};

struct col {
	const char *title, *unit;
	int width, rank;
	void (*draw)(const struct col *, const struct cell *);
	const char *path;    /* path of the value in a queue */
	const char *of_port; /* path in a port; NULL: the sum of its queues */
	bool loss;           /* the value ought to be 0 */
};

/* Returns the sum of a value over the queues of a port; *n says how many of them have it. NAN: none
 * has. */
static double queue_num(const json_t *port, const char *path, unsigned *n)
{
	const json_t *q;
	double sum = NAN;
	size_t i;

	*n = 0;
	json_array_foreach(json_object_get(port, "queues"), i, q) {
		double v = page_num(q, path, NAN);
		if (!isfinite(v))
			continue;
		sum = isfinite(sum) ? sum + v : v;
		(*n)++;
	}
	return sum;
}

static double queues_value(const struct col *col, const struct entry *e)
{
	unsigned n;

	if (e->queue != NULL)
		return col->path != NULL ? page_num(e->queue, col->path, NAN) : NAN;
	return col->of_port != NULL ? page_num(e->port, col->of_port, NAN)
				    : queue_num(e->port, col->path, &n);
}

static bool is_rx(const struct col *col)
{
	return strncmp(col->path, "rx.", 3) == 0;
}

static bool queues_uneven(double v, double mean, unsigned queues)
{
	return queues > 1 && isfinite(v) && mean >= UNEVEN_FROM_PPS &&
	       (v < UNEVEN_LOW * mean || v > UNEVEN_HIGH * mean);
}

/* Returns true when any queue of the port is out of balance. */
static bool any_uneven(const struct entry *e, const char *path, double mean, unsigned queues)
{
	const json_t *q;
	size_t i;

	json_array_foreach(json_object_get(e->port, "queues"), i, q)
		if (queues_uneven(page_num(q, path, NAN), mean, queues))
			return true;
	return false;
}

static void draw_name(const struct col *col, const struct cell *c)
{
	unsigned port = (unsigned)page_int(c->e->port, "port", 0);
	bool selected = port == c->in->port;
	struct sbuf b = {0};

	(void)col;
	if (c->e->queue != NULL) {
		grid_putf(c->g, c->row, c->col, c->width, ROLE_DYN_LABEL, "  %u q%u", port,
			  c->e->number);
	} else {
		page_port_name(c->e->port, c->in, c->width, &b);
		grid_left(c->g, c->row, c->col, c->width, ROLE_PORT_LABEL, sbuf_str(&b));
	}
	if (selected)
		grid_select(c->g, c->row, c->col, c->width);
	sbuf_free(&b);
}

/* Draws a rate, with a mark behind it when it is out of balance. */
static void draw_rate(const struct col *col, const struct cell *c)
{
	double v = queues_value(col, c->e), mean = is_rx(col) ? c->e->rx_mean : c->e->tx_mean;
	unsigned queues = is_rx(col) ? c->e->rx_queues : c->e->tx_queues;
	bool mark = c->e->queue != NULL ? queues_uneven(v, mean, queues)
					: any_uneven(c->e, col->path, mean, queues);

	page_put_si(c->g, c->row, c->col, c->width - 1,
		    mark && c->e->queue != NULL ? ROLE_WARN
		    : c->e->queue != NULL       ? ROLE_PORT_RATE
						: ROLE_TOTAL_DATA,
		    v);
	if (mark)
		grid_put(c->g, c->row, c->col + c->width - 1, 1, ROLE_WARN, "!");
}

/* Returns the share of its port's rate that a queue has. NAN: there is nothing to compare it
 * with. */
static double share_of(const struct col *col, const struct entry *e)
{
	double mean = is_rx(col) ? e->rx_mean : e->tx_mean;
	unsigned queues = is_rx(col) ? e->rx_queues : e->tx_queues;

	/* If a port has only one queue, its share says nothing. */
	if (e->queue == NULL || !(mean > 0) || queues < 2)
		return NAN;
	return queues_value(col, e) / (mean * queues);
}

/* Draws the share of a queue. The row of a port has its link in the column of Rx shares, and its
 * state in the column of Rx bars. */
static void draw_share(const struct col *col, const struct cell *c)
{
	double share = share_of(col, c->e);

	if (isfinite(share))
		grid_rightf(c->g, c->row, c->col, c->width, share > 0 ? ROLE_DYN_VALUES : ROLE_ZERO,
			    "%.1f%%", 100 * share);
	if (c->e->queue != NULL || !is_rx(col))
		return;
	const char *link = page_str(c->e->port, "link", "-");
	struct sbuf b = {0};
	if (strcmp(link, "up") == 0)
		out_cell(json_object_get(c->e->port, "speed_mbps"), OF_MBPS, &b);
	else
		sbuf_add(&b, strcmp(link, "unknown") == 0 ? "link ?" : link);
	int over = b.len > (size_t)c->width; /* "deleted" is one column wider */
	grid_right(c->g, c->row, c->col - over, c->width + over,
		   page_link_lost(c->e->port) ? ROLE_WARN : ROLE_PORT_LINK, sbuf_str(&b));
	sbuf_free(&b);
}

/* Draws the mark in the middle of a bar. The bar of a queue with the mean rate ends there. */
static void even_mark(struct grid *g, int row, int col, int width, bool ascii)
{
	grid_fill(g, row, col + width / 2, 1, ROLE_SEP_TEXT, ascii ? L'|' : L'│');
}

static void draw_bar(const struct col *col, const struct cell *c)
{
	double share = share_of(col, c->e);

	if (isfinite(share)) {
		unsigned queues = is_rx(col) ? c->e->rx_queues : c->e->tx_queues;
		grid_bar(c->g, c->row, c->col, c->width, share * queues / UNEVEN_HIGH,
			 c->in->ascii);
		even_mark(c->g, c->row, c->col, c->width, c->in->ascii);
	}
	if (c->e->queue == NULL && is_rx(col))
		grid_left(c->g, c->row, c->col, c->width, ROLE_PORT_STATUS,
			  page_str(c->e->port, "run.state", "-"));
}

static void draw_si(const struct col *col, const struct cell *c)
{
	double v = queues_value(col, c->e);
	enum role role = c->e->queue != NULL ? ROLE_DYN_VALUES : ROLE_TOTAL_DATA;

	/* Where only ports have the value, the rows of queues stay empty. */
	if (isnan(v) && c->e->queue != NULL && col->of_port != NULL)
		return;
	page_put_si(c->g, c->row, c->col, c->width, col->loss && v > 0 ? ROLE_WARN : role, v);
}

/* Draws the cycles of a queue. The rows of ports have none, because a sum of them says nothing. */
static void draw_cycles(const struct col *col, const struct cell *c)
{
	if (c->e->queue != NULL)
		page_put_si(c->g, c->row, c->col, c->width, ROLE_DYN_VALUES,
			    queues_value(col, c->e));
}

static void draw_full(const struct col *col, const struct cell *c)
{
	unsigned n;
	double full = queues_value(col, c->e), of;

	of = c->e->queue != NULL ? page_num(c->e->queue, "rx.bursts", NAN)
				 : queue_num(c->e->port, "rx.bursts", &n);
	if (isfinite(full) && of > 0)
		grid_rightf(c->g, c->row, c->col, c->width, full > 0 ? ROLE_DYN_VALUES : ROLE_ZERO,
			    "%.0f%%", 100 * full / of);
	else
		grid_right(c->g, c->row, c->col, c->width, ROLE_ZERO, "-");
}

static void draw_errors(const struct col *col, const struct cell *c)
{
	double rx = page_num(c->e->port, "rx.errors", NAN),
	       tx = page_num(c->e->port, "tx.errors", NAN);
	struct sbuf b = {0};

	(void)col;
	if (c->e->queue != NULL)
		return;
	page_pair(rx, NULL, "/", tx, c->width, &b);
	grid_right(c->g, c->row, c->col, c->width, rx > 0 || tx > 0 ? ROLE_WARN : ROLE_PORT_ERRORS,
		   sbuf_str(&b));
	page_quiet(c->g, c->row, c->col, c->width);
	sbuf_free(&b);
}

/* Draws the lcore of the queue's worker, and the share of its time that it is busy. */
static void draw_worker(const struct col *col, const struct cell *c)
{
	if (c->e->queue == NULL)
		return;
	int lcore = page_int(c->e->queue, col->path, -1);
	if (lcore < 0) {
		grid_right(c->g, c->row, c->col, c->width, ROLE_ZERO, "-");
		return;
	}
	double busy =
		page_num(page_by(json_object_get(c->in->snap, "workers"), "lcore", (unsigned)lcore),
			 "busy", NAN);
	if (isfinite(busy))
		grid_rightf(c->g, c->row, c->col, c->width,
			    busy >= BUSY_FULL ? ROLE_WARN : ROLE_DYN_VALUES, "%d %3.0f%%", lcore,
			    100 * busy);
	else
		grid_rightf(c->g, c->row, c->col, c->width, ROLE_DYN_VALUES, "%d    -", lcore);
}

/* All columns, from left to right. Where there is no room, the highest rank goes first. */
static const struct col cols[] = {
	{"Port", "  Queue", 10, 0, draw_name},
	{"Rx ", "pkt/s ", 7, 1, draw_rate, "rx.pps"},
	{"Rx", "share", 6, 6, draw_share, "rx.pps"},
	{"balance", "", 8, 7, draw_bar, "rx.pps"},
	{"Tx ", "pkt/s ", 7, 2, draw_rate, "tx.pps"},
	{"Tx", "share", 6, 11, draw_share, "tx.pps"},
	{"balance", "", 8, 10, draw_bar, "tx.pps"},
	{"Refused", "burst/s", 7, 8, draw_si, "tx.stalls_per_s", NULL, true},
	{"Dropped", "pkt/s", 7, 14, draw_si, "tx.dropped_pps", NULL, true},
	{"Tx no", "mbuf/s", 6, 9, draw_si, "tx.nombuf_per_s", NULL, true},
	{"Rx no", "mbuf", 6, 16, draw_si, "rx.nombuf", "rx.nombuf", true},
	{"Missed", "pkts", 6, 5, draw_si, "rx.missed", "rx.missed", true},
	{"Errors", "Rx/Tx", 7, 15, draw_errors},
	{"Rx cyc", "/burst", 6, 12, draw_cycles, "rx.cycles_per_burst"},
	{"Tx cyc", "/burst", 6, 13, draw_cycles, "tx.cycles_per_burst"},
	{"Full", "bursts", 6, 17, draw_full, "rx.full"},
	{"Rx lcore", "busy", 8, 3, draw_worker, "rx.worker"},
	{"Tx lcore", "busy", 8, 4, draw_worker, "tx.worker"},
};
#define NCOLS ARRAY_SIZE(cols)

/* Returns the rows of the ports from in->first on and of their queues. *nports says how many ports
 * there are in all. The caller frees the array. */
static struct entry *queues_entries(const struct page_in *in, unsigned *n, unsigned *nports)
{
	const json_t **port = page_ports(in->snap, nports), *q;
	unsigned first = page_first(in, *nports), end = *nports;
	struct entry *list = NULL;
	size_t k;

	if (in->max_ports > 0 && in->max_ports < end - first)
		end = first + in->max_ports;
	*n = 0;
	for (unsigned i = first; i < end; i++) {
		const json_t *queues = json_object_get(port[i], "queues");
		struct entry e = {.port = port[i]};
		e.rx_mean = queue_num(port[i], "rx.pps", &e.rx_queues) / e.rx_queues;
		e.tx_mean = queue_num(port[i], "tx.pps", &e.tx_queues) / e.tx_queues;
		list = xrealloc(list, (*n + 1 + json_array_size(queues)) * sizeof(*list));
		list[(*n)++] = e;
		json_array_foreach(queues, k, q) {
			e.queue = q;
			e.number = (unsigned)page_int(q, "queue", (int)k);
			list[(*n)++] = e;
		}
	}
	free(port);
	return list;
}

/* Says which sides have several queues on some port. A side that has not has no balance to show. */
struct sides {
	bool rx, tx;
};

static struct sides sides_of_several(const struct entry *list, unsigned n)
{
	struct sides s = {false, false};

	for (unsigned i = 0; i < n; i++) {
		s.rx |= list[i].rx_queues > 1;
		s.tx |= list[i].tx_queues > 1;
	}
	return s;
}

static bool of_balance(const struct col *col)
{
	return col->draw == draw_share || col->draw == draw_bar;
}

static bool has_bars(const struct col *col, struct sides several)
{
	return col->draw == draw_bar && (is_rx(col) ? several.rx : several.tx);
}

/* Places the columns that have room. The room that is left goes to the names, and then to the bars.
 * Where there is no balance to show, the Tx side has no columns for it, and those of the Rx side
 * have only the link and the state. */
static void lay_out(int room, struct sides several, int *width, int *at)
{
	int rank[NCOLS], used = 0, bars = 0;
	bool gone[NCOLS];

	for (size_t i = 0; i < NCOLS; i++) {
		gone[i] = of_balance(&cols[i]) && !is_rx(&cols[i]) && !several.tx;
		/* neither the column nor its gap takes room */
		width[i] = gone[i] ? -GAP : cols[i].width;
		rank[i] = cols[i].rank;
	}
	page_fit(width, rank, NCOLS, GAP, room, at);
	for (size_t i = 0; i < NCOLS; i++) {
		if (at[i] >= 0)
			used = at[i] + width[i];
		bars += at[i] >= 0 && has_bars(&cols[i], several);
	}
	int spare = room > used ? room - used : 0,
	    name = spare < NAME_MOST - width[0] ? spare : NAME_MOST - width[0];
	width[0] += name;
	for (size_t i = 0; i < NCOLS && bars > 0; i++)
		if (at[i] >= 0 && has_bars(&cols[i], several)) {
			int more = (spare - name) / bars;
			width[i] += more > BAR_MOST - width[i] ? BAR_MOST - width[i] : more;
		}
	page_fit(width, rank, NCOLS, GAP, room, at);
	for (size_t i = 0; i < NCOLS; i++)
		if (gone[i])
			at[i] = -1;
}

static void draw_titles(struct grid *g, struct sides several, const int *width, const int *at,
			int rows, bool ascii)
{
	for (size_t i = 0; i < NCOLS; i++) {
		const char *text[] = {cols[i].title, cols[i].unit};
		if (of_balance(&cols[i]) && is_rx(&cols[i]) && !several.rx) {
			text[0] = cols[i].draw == draw_bar ? "State" : "Link";
			text[1] = "";
		}
		for (int r = 0; r < rows && at[i] >= 0; r++) {
			if (i == 0 || cols[i].draw == draw_bar)
				grid_left(g, r, at[i], width[i], ROLE_STAT_LABEL, text[r]);
			else
				grid_right(g, r, at[i], width[i], ROLE_STAT_LABEL, text[r]);
		}
		if (at[i] >= 0 && rows > 1 && has_bars(&cols[i], several)) {
			grid_put(g, 1, at[i], 1, ROLE_STAT_LABEL, "0");
			even_mark(g, 1, at[i], width[i], ascii);
			grid_right(g, 1, at[i], width[i], ROLE_STAT_LABEL, "2x");
		}
	}
}

/* Returns how many rows those ports take that have room with all their queues, but at least the
 * rows of the first port. The other ports are shown when the user pages to them. */
static unsigned whole_ports(const struct entry *list, unsigned n, int room)
{
	unsigned end = 0, i;

	for (i = 1; i <= n; i++)
		if ((i == n || list[i].queue == NULL) && (end == 0 || (int)i <= room))
			end = i;
	return end;
}

static void queues_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	int width[NCOLS], at[NCOLS], titles = g->rows >= 5 ? 2 : g->rows >= 3 ? 1 : 0;
	unsigned n;
	struct entry *list = queues_entries(in, &n, &out->of);

	if (n == 0)
		grid_left(g, 0, 0, -1, ROLE_DEFAULT, "no ports");
	struct sides several = sides_of_several(list, n);
	lay_out(g->cols, several, width, at);
	if (n > 0)
		draw_titles(g, several, width, at, titles, in->ascii);
	n = whole_ports(list, n, g->rows - titles);
	page_list(in, n, g->rows - titles, out);
	for (unsigned r = 0; r < out->rows; r++) {
		const struct entry *e = &list[out->top + r];
		out->shown += r == 0 || e->queue == NULL;
		for (size_t i = 0; i < NCOLS; i++) {
			struct cell c = {.in = in,
					 .e = e,
					 .g = g,
					 .row = titles + (int)r,
					 .col = at[i],
					 .width = width[i]};
			if (at[i] >= 0)
				cols[i].draw(&cols[i], &c);
		}
	}
	free(list);
}

const struct page page_queues = {
	.name = "queues",
	.alias = "qstats,stats",
	.parts = "stats",
	.draw = queues_draw,
	.help = "Rates, losses and workers of each queue, and its share of its port.",
};
