/* SPDX-License-Identifier: BSD-3-Clause */
/* Page main: a column for each port and one for their sums. It has the rows of Pktgen's main page
 * in its order, and some of our own among them. */
#include "page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "out.h"
#include "page_trend.h"

/* Widths in columns, with the blank before the text. */
#define LABEL 19
#define LABEL_LEAST 7
#define PORT 34       /* room for the whole history in braille */
#define PORT_LEAST 14 /* room for a pair of rates, "14.88M/14.88M" */
#define NS_PER_S 1e9
#define LASTING 3 /* a difference lasts when it was there in this many full intervals */
#define RANK_RATE 10
#define RANK_LOSS 50

/* What a row needs to fill a cell, and what it makes. */
struct cell {
	const struct page_in *in;
	const json_t **all; /* all ports */
	unsigned n;
	const json_t *port, *brief; /* port NULL: the column of sums */
	int width;                  /* of the text, without the blank before it */
	struct sbuf text;
	bool warn;
};

struct row {
	const char *label, *narrow; /* at most LABEL - 1 and LABEL_LEAST - 1 characters */
	/* where there is no room, the row with the highest rank goes first */
	int rank;
	enum role label_role, role;
	void (*fill)(const struct row *, struct cell *);
	const char *a, *b; /* paths in a port of the snapshot, or keys of "brief" */
	const char *fmt;   /* for rows of text: 'a' and 'b' in it stand for the values */
};

/* Returns the value at a path in the port, or the sum over all ports. NAN: there is none. */
static double main_number(const struct cell *c, const char *path)
{
	double sum = NAN;

	if (c->port != NULL)
		return page_num(c->port, path, NAN);
	for (unsigned i = 0; i < c->n; i++) {
		double v = page_num(c->all[i], path, NAN);
		if (isfinite(v))
			sum = isfinite(sum) ? sum + v : v;
	}
	return sum;
}

/* Does the same as main_number() for a count with all its digits, which a double cannot hold.
 * Returns false when the count is not known or has more than 63 bits. */
static bool main_count(const struct cell *c, const char *path, json_int_t *sum)
{
	bool known = false;

	*sum = 0;
	for (unsigned i = 0; i < (c->port != NULL ? 1 : c->n); i++) {
		const json_t *v = out_get(c->port != NULL ? c->port : c->all[i], path);
		if (!json_is_integer(v))
			continue;
		if (__builtin_add_overflow(*sum, json_integer_value(v), sum))
			return false;
		known = true;
	}
	return known;
}

#define ALL_DIGITS 5 /* means all digits of a count; fewer are that many digits with a unit */

static void add_count(const struct cell *c, const char *path, int digits, struct sbuf *out)
{
	json_int_t n;

	if (digits < ALL_DIGITS || !main_count(c, path, &n)) {
		out_si_digits(main_number(c, path), digits < ALL_DIGITS ? digits : ALL_DIGITS - 1,
			      out);
		return;
	}
	json_t *v = json_integer(n);
	out_cell(v, OF_COUNT, out);
	json_decref(v);
}

static void fill_rates(const struct row *r, struct cell *c)
{
	if (isnan(main_number(c, r->a)) && isnan(main_number(c, r->b))) {
		sbuf_addc(&c->text, '-');
		return;
	}
	page_pair(main_number(c, r->a), NULL, "/", main_number(c, r->b), c->width, &c->text);
}

/* The column of sums has no maximum: ports had theirs at different times. */
static void fill_max(const struct row *r, struct cell *c)
{
	if (c->port == NULL)
		sbuf_addc(&c->text, '-');
	else
		fill_rates(r, c);
}

/* Fills in one or two counts, with all digits where they fit. */
static void fill_counts(const struct row *r, struct cell *c)
{
	if (isnan(main_number(c, r->a)) && (r->b == NULL || isnan(main_number(c, r->b)))) {
		sbuf_addc(&c->text, '-');
		return;
	}
	for (int digits = ALL_DIGITS; digits > 0; digits--) {
		sbuf_reset(&c->text);
		add_count(c, r->a, digits, &c->text);
		if (r->b != NULL) {
			sbuf_addc(&c->text, '/');
			add_count(c, r->b, digits, &c->text);
		}
		if (grid_width(sbuf_str(&c->text)) <= c->width)
			return;
	}
	sbuf_reset(&c->text);
	sbuf_addc(&c->text, '~');
}

#define UNCONFIRMED "nic.unconfirmed"

static bool main_sends(const struct cell *c)
{
	for (unsigned i = 0; i < (c->port != NULL ? 1 : c->n); i++)
		if (page_sends(c->port != NULL ? c->port : c->all[i]))
			return true;
	return false;
}

/* Fills in counts that ought to be 0. */
static void fill_losses(const struct row *r, struct cell *c)
{
	fill_counts(r, c);
	/* While a port sends, most of what is not confirmed is on its way. */
	if (strcmp(r->a, UNCONFIRMED) == 0 && main_sends(c))
		return;
	c->warn = main_number(c, r->a) > 0 || (r->b != NULL && main_number(c, r->b) > 0);
}

static void fill_name(const struct row *r, struct cell *c)
{
	(void)r;
	if (c->port == NULL)
		sbuf_add(&c->text, "Total");
	else
		page_port_name(c->port, c->in, c->width, &c->text);
}

/* Adds how many ports have this text at a path: "1/2 up". */
static void add_tally(struct cell *c, const char *path, const char *text, const char *word)
{
	unsigned k = 0;

	for (unsigned i = 0; i < c->n; i++)
		k += strcmp(page_str(c->all[i], path, ""), text) == 0;
	sbuf_addf(&c->text, "%u/%u %s", k, c->n, word);
}

static void fill_link(const struct row *r, struct cell *c)
{
	if (c->port == NULL) {
		add_tally(c, r->a, "up", "up");
		return;
	}
	const char *link = page_str(c->port, r->a, "-");
	if (strcmp(link, "up") == 0) {
		struct sbuf speed = {0};
		out_cell(out_get(c->port, "speed_mbps"), OF_MBPS, &speed);
		sbuf_addf(&c->text, "<UP-%s>", sbuf_str(&speed));
		sbuf_free(&speed);
	} else {
		c->warn = page_link_lost(c->port);
		if (strcmp(link, "down") == 0)
			sbuf_add(&c->text, "<--Down-->");
		else
			sbuf_addf(&c->text, strcmp(link, "-") == 0 ? "%s" : "<%s>", link);
	}
}

static void fill_state(const struct row *r, struct cell *c)
{
	if (c->port == NULL)
		add_tally(c, r->a, "sending", "sending");
	else
		sbuf_add(&c->text, page_str(c->port, r->a, "-"));
}

/* The rate that a port is asked for and the one that it sends, in frames/s. max: it is asked to
 * send as fast as it can. */
struct load {
	double asked, offered;
	bool max, differs;
};

/* Returns true when each of the last LASTING intervals was off by 0.1 % or more, in the same
 * direction. A single interval that is off is only an interruption. */
static bool main_lasts(const json_t *port, double asked)
{
	const json_t *sent = out_get(port, "history.tx_pps");
	size_t n = json_array_size(sent);
	int less = 0, more = 0;

	if (!json_is_array(sent))
		return true;
	for (size_t i = n > LASTING ? n - LASTING : 0; i < n; i++) {
		double v = json_number_value(json_array_get(sent, i));
		more += v >= 1.001 * asked && v - asked > 1;
		less += v <= 0.999 * asked && asked - v > 1;
	}
	return more == LASTING || less == LASTING;
}

/* Compares what a port is asked for with what it sends. While it sends, this is the rate of the
 * last full interval; before there is one, and after the run, it is the mean of the run. An
 * interval in which the rate was changed is not compared. A difference of one frame or less in the
 * time of the measurement does not count. */
static void load_of(const json_t *port, struct load *l)
{
	double seconds = page_num(port, "run.duration_ns", 0) / NS_PER_S,
	       steady = page_num(port, "run.steady_ns", -1) / NS_PER_S;
	bool sending = strcmp(page_str(port, "run.state", ""), "sending") == 0,
	     changed = json_is_true(out_get(port, "run.rate_changed"));
	bool whole = sending && seconds >= 2;

	*l = (struct load){.asked = NAN, .offered = NAN};
	if (!(seconds > 0))
		return;
	l->max = json_is_true(out_get(port, "run.asked_max"));
	l->asked = page_num(port, "run.asked_pps", NAN);
	l->offered = page_num(port, whole ? "tx.pps" : "run.mean_pps", NAN);
	double off = fabs(l->offered - l->asked);
	l->differs = !l->max && off >= 0.001 * l->asked && off * (whole ? 1 : seconds) > 1;
	if (whole && steady >= 0)
		l->differs &= steady >= 1 + LASTING && main_lasts(port, l->asked);
	else
		l->differs &= !changed;
}

static void fill_load(const struct row *r, struct cell *c)
{
	struct load sum = {.asked = NAN, .offered = NAN}, l;

	(void)r;
	for (unsigned i = 0; i < (c->port != NULL ? 1 : c->n); i++) {
		load_of(c->port != NULL ? c->port : c->all[i], &l);
		sum.max |= l.max;
		sum.differs |= l.differs;
		if (isfinite(l.asked))
			sum.asked = isfinite(sum.asked) ? sum.asked + l.asked : l.asked;
		if (isfinite(l.offered))
			sum.offered = isfinite(sum.offered) ? sum.offered + l.offered : l.offered;
	}
	if (isnan(sum.asked) && isnan(sum.offered)) {
		sbuf_addc(&c->text, '-');
		return;
	}
	page_pair(sum.asked, sum.max ? "max" : NULL,
		  !sum.differs   ? "/"
		  : c->in->ascii ? "!"
				 : "≠",
		  sum.offered, c->width, &c->text);
	c->warn = sum.differs;
}

/* Fills in nothing: draw_trend() draws trends over several rows. The first row names the history,
 * and the rows below it give its curve more room. */
static void fill_trend(const struct row *r, struct cell *c)
{
	(void)r;
	(void)c;
}

static void fill_queues(const struct row *r, struct cell *c)
{
	unsigned rx = 0, tx = 0;
	const json_t *q;
	size_t k;

	(void)r;
	for (unsigned i = 0; i < (c->port != NULL ? 1 : c->n); i++)
		json_array_foreach(json_object_get(c->port != NULL ? c->port : c->all[i], "queues"),
				   k, q) {
			rx += json_object_get(q, "rx") != NULL;
			tx += json_object_get(q, "tx") != NULL;
		}
	sbuf_addf(&c->text, "%u/%u", rx, tx);
}

/* How much of a setting is shown. A port without a count sends until it is stopped, so "Forever"
 * can be left out. */
enum brief { BRIEF_ALL, BRIEF_NO_BLANKS, BRIEF_NO_FOREVER, BRIEFS };

/* Adds a setting. Returns false when the port does not have it. */
static bool add_brief(const struct row *r, struct cell *c, enum brief brief)
{
	bool any = false, rate_alone = brief == BRIEF_NO_FOREVER &&
				       strcmp(page_str(c->brief, r->a, ""), "Forever") == 0;

	for (const char *f = rate_alone ? "b" : r->fmt; *f != '\0'; f++) {
		const char *key = *f == 'a' ? r->a : *f == 'b' ? r->b : NULL;
		if (key == NULL) {
			if (brief == BRIEF_ALL || *f != ' ')
				sbuf_addc(&c->text, *f);
			continue;
		}
		const json_t *v = json_object_get(c->brief, key);
		any |= v != NULL && !json_is_null(v);
		out_cell(v, OF_STR, &c->text);
	}
	return any;
}

static void add_more(struct cell *c, const char *key)
{
	sbuf_addc(&c->text, ':');
	out_cell(json_object_get(c->brief, key), OF_STR, &c->text);
}

static void fill_brief(const struct row *r, struct cell *c)
{
	for (enum brief brief = BRIEF_ALL; brief < BRIEFS && c->port != NULL; brief++) {
		sbuf_reset(&c->text);
		if (!add_brief(r, c, brief)) {
			sbuf_reset(&c->text);
			sbuf_addc(&c->text, '-');
		} else if (strcmp(r->a, "type") == 0) {
			add_more(c, "vlan");
			add_more(c, "tcp_flags");
		} else if (strcmp(r->a, "size") == 0) {
			add_more(c, "burst");
		}
		if (grid_width(sbuf_str(&c->text)) <= c->width)
			return;
	}
}

/* Fills in flags, encapsulation and mode, as much as there is room for. */
static void fill_flags(const struct row *r, struct cell *c)
{
	const char *more[] = {page_str(c->brief, "encap", ""), page_str(c->brief, r->b, "")};

	for (size_t skip = 0; skip <= ARRAY_SIZE(more) && c->port != NULL; skip++) {
		sbuf_reset(&c->text);
		sbuf_add(&c->text, page_str(c->brief, r->a, "-"));
		for (size_t i = skip; i < ARRAY_SIZE(more); i++)
			if (more[i][0] != '\0')
				sbuf_addf(&c->text, " %s", more[i]);
		if (grid_width(sbuf_str(&c->text)) <= c->width)
			return;
	}
}

/* Fills in an address. To fit, a MAC address loses its colons and a bus address its domain. */
static void fill_address(const struct row *r, struct cell *c)
{
	fill_brief(r, c);
	if (c->port == NULL || grid_width(sbuf_str(&c->text)) <= c->width)
		return;
	char *full = xstrdup(sbuf_str(&c->text)), *domain = strstr(full, "/0000:");
	sbuf_reset(&c->text);
	if (domain != NULL)
		memmove(domain + 1, domain + 6, strlen(domain + 6) + 1);
	for (const char *p = full; *p != '\0'; p++)
		if (*p != ':' || r->role != ROLE_MAC)
			sbuf_addc(&c->text, *p);
	free(full);
}

#define SIZE_ROW(label, narrow, rank, key) \
	{ \
		label, narrow, rank, ROLE_PORT_SIZELBL, ROLE_PORT_SIZES, fill_counts, \
			"rx.sizes." key, "tx.sizes." key \
	}

/* A row that names the rows below it. */
#define HEADING(name, rank) \
	{ \
		name, name, rank, ROLE_SEP_TEXT, ROLE_SEP_DASH, NULL \
	}

/* One more row for the curve above it. */
#define MORE(rank) \
	{ \
		"", "", rank, ROLE_PORT_RATELBL, ROLE_BAR, fill_trend \
	}

/* All rows of the page, in their order. Labels with a pair name Rx first and then Tx, or say
 * otherwise. Where there is no room, the highest rank goes first. */
static const struct row rows[] = {
	{"Port:Name", "Port", 0, ROLE_PORT_LABEL, ROLE_PORT_LABEL, fill_name},
	{"Flags:Mode", "Flags", 260, ROLE_PORT_LABEL, ROLE_PORT_FLAGS, fill_flags, "flags", "mode"},
	{"Link State", "Link", 20, ROLE_PORT_LINKLBL, ROLE_PORT_LINK, fill_link, "link"},
	{"State", "State", 110, ROLE_PORT_LINKLBL, ROLE_PORT_STATUS, fill_state, "run.state"},
	HEADING("Rates", 203),
	{"Pkts/s Rx:Tx", "Pkt/s", RANK_RATE, ROLE_PORT_RATELBL, ROLE_PORT_RATE, fill_rates,
	 "rx.pps", "tx.pps"},
	{"Bits/s L1 Rx:Tx", "Bit/s", 30, ROLE_PORT_RATELBL, ROLE_PORT_RATE, fill_rates, "rx.l1_bps",
	 "tx.l1_bps"},
	{"Max Pkts/s Rx:Tx", "Maxpps", 140, ROLE_PORT_RATELBL, ROLE_PORT_RATE, fill_max,
	 "max.rx.pps", "max.tx.pps"},
	{"Max Bits/s Rx:Tx", "Maxbps", 320, ROLE_PORT_RATELBL, ROLE_PORT_RATE, fill_max,
	 "max.rx.l1_bps", "max.tx.l1_bps"},
	{"Pkts/s Asked:Sent", "Asked", 60, ROLE_PORT_RATELBL, ROLE_RATE_COUNT, fill_load},
	{"Rx Trend", "Rx", 130, ROLE_PORT_RATELBL, ROLE_BAR, fill_trend, "history.rx_pps"},
	MORE(137),
	MORE(207),
	MORE(257),
	{"Tx Trend", "Tx", 120, ROLE_PORT_RATELBL, ROLE_BAR, fill_trend, "history.tx_pps"},
	MORE(136),
	MORE(206),
	MORE(256),
	HEADING("Counts", 204),
	{"Total Rx Pkts", "RxPkts", 40, ROLE_PORT_TOTLBL, ROLE_PORT_TOTALS, fill_counts,
	 "rx.packets"},
	{"Total Tx Pkts", "TxPkts", 50, ROLE_PORT_TOTLBL, ROLE_PORT_TOTALS, fill_counts,
	 "tx.packets"},
	{"Total Bytes Rx:Tx", "Bytes", 150, ROLE_PORT_TOTLBL, ROLE_PORT_TOTALS, fill_rates,
	 "rx.bytes", "tx.bytes"},
	HEADING("Errors and losses", 265),
	{"Errors Rx/Tx", "Errors", 70, ROLE_PORT_ERRLBL, ROLE_PORT_ERRORS, fill_losses, "rx.errors",
	 "tx.errors"},
	{"Rx Missed/No mbuf", "Missed", 80, ROLE_PORT_ERRLBL, ROLE_PORT_ERRORS, fill_losses,
	 "rx.missed", "rx.nombuf"},
	{"Tx Dropped/No mbuf", "Drops", 90, ROLE_PORT_ERRLBL, ROLE_PORT_ERRORS, fill_losses,
	 "tx.dropped", "tx.nombuf"},
	{"Tx Stalls/Unsent", "Stalls", 100, ROLE_PORT_ERRLBL, ROLE_PORT_ERRORS, fill_losses,
	 "tx.stalls", "tx.unsent"},
	{"Tx Unconfirmed", "Unconf", 330, ROLE_PORT_ERRLBL, ROLE_PORT_ERRORS, fill_losses,
	 UNCONFIRMED},
	HEADING("Kinds and sizes", 315),
	{"Broadcast", "Bcast", 360, ROLE_PORT_SIZELBL, ROLE_PORT_SIZES, fill_counts,
	 "rx.broadcast"},
	{"Multicast", "Mcast", 370, ROLE_PORT_SIZELBL, ROLE_PORT_SIZES, fill_counts,
	 "rx.multicast"},
	SIZE_ROW("Sizes 64 Rx:Tx", "Size64", 160, "64"),
	SIZE_ROW("   65-127", "65-127", 270, "65-127"),
	SIZE_ROW("   128-255", "-255", 280, "128-255"),
	SIZE_ROW("   256-511", "-511", 290, "256-511"),
	SIZE_ROW("   512-1023", "-1023", 300, "512-1023"),
	SIZE_ROW("   1024-1522", "-1522", 310, "1024-1522"),
	SIZE_ROW("   Runts Rx:Tx", "Runts", 380, "0-63"),
	SIZE_ROW("   Jumbos Rx:Tx", "Jumbos", 390, "1523-"),
	HEADING("Settings", 202),
	{"Rx/Tx queue count", "Queues", 250, ROLE_STAT_LABEL, ROLE_STAT_VALUES, fill_queues},
	{"Tx Count/Rate", "Rate", 170, ROLE_STAT_LABEL, ROLE_RATE_COUNT, fill_brief, "count",
	 "rate", "a / b"},
	{"Size/Rx:Tx Burst", "Size", 180, ROLE_STAT_LABEL, ROLE_STAT_VALUES, fill_brief, "size",
	 "rxburst", "a / b"},
	{"Streams: Frame", "Frame", 350, ROLE_STAT_LABEL, ROLE_STAT_VALUES, fill_brief, "streams",
	 "frame", "a: b"},
	{"Port Src/Dest", "Ports", 230, ROLE_STAT_LABEL, ROLE_STAT_VALUES, fill_brief, "sport",
	 "dport", "a/ b"},
	{"Type:VLAN ID:Flags", "Type", 240, ROLE_STAT_LABEL, ROLE_STAT_VALUES, fill_brief, "type",
	 "proto", "a/b"},
	{"IP Destination", "IP Dst", 190, ROLE_STAT_LABEL, ROLE_IP, fill_brief, "ip_dst", NULL,
	 "a"},
	{"   Source", "IP Src", 200, ROLE_STAT_LABEL, ROLE_IP, fill_brief, "ip_src", NULL, "a"},
	{"MAC Destination", "MACDst", 210, ROLE_STAT_LABEL, ROLE_MAC, fill_address, "mac_dst", NULL,
	 "a"},
	{"    Source", "MACSrc", 220, ROLE_STAT_LABEL, ROLE_MAC, fill_address, "mac_src", NULL,
	 "a"},
	{"NUMA/PCI", "PCI", 340, ROLE_STAT_LABEL, ROLE_BDF, fill_address, "node", "pci", "a/b"},
};

struct layout {
	int label, width;      /* columns of the labels, and of a port with the blank before it */
	unsigned first, shown; /* ports */
	bool total;            /* there is room for the sums */
	double top, total_top; /* upper ends of the scales of trends: for ports, for the sums */
};

static const struct trend trends[] = {{"history.rx_pps", NULL},
				      {"history.tx_pps", "run.asked_pps"}};

/* Places the columns. Where there is little room, first the columns of ports get narrower, then the
 * labels, then the sums go, and at last only some of the ports are shown. */
static void lay_out(const struct page_in *in, unsigned n, int cols, struct layout *l)
{
	int want = (int)(in->max_ports > 0 && in->max_ports < n ? in->max_ports : n), beside;

	l->first = page_first(in, n);
	l->total = LABEL_LEAST + (int64_t)PORT_LEAST * (want + 1) <= cols;
	if (LABEL_LEAST + (int64_t)PORT_LEAST * want > cols)
		want = (cols - LABEL_LEAST) / PORT_LEAST > 1 ? (cols - LABEL_LEAST) / PORT_LEAST
							     : 1;
	beside = want + l->total;
	l->label = LABEL + PORT_LEAST * beside <= cols         ? LABEL
		   : LABEL_LEAST + PORT_LEAST * beside <= cols ? LABEL_LEAST
							       : cols - PORT_LEAST;
	l->label = l->label < 3 ? 0 : l->label;
	l->width = (cols - l->label) / beside;
	l->width = l->width > PORT ? PORT : l->width;
	l->shown = (unsigned)want < n - l->first ? (unsigned)want : n - l->first;
}

static void draw_label(const struct row *r, const struct layout *l, struct grid *g, int row)
{
	if (l->label == 0)
		return;
	grid_left(g, row, 0, l->label - 1, r->label_role, l->label < LABEL ? r->narrow : r->label);
	grid_put(g, row, l->label - 1, 1, ROLE_COLON, ":");
}

static void draw_line(const struct page_in *in, const struct row *r, const struct layout *l,
		      struct grid *g, int row)
{
	grid_fill(g, row, 0, l->label + (int)(l->shown + l->total) * l->width, r->role,
		  in->ascii ? L'-' : L'─');
	grid_putf(g, row, 1, -1, r->label_role, " %s ", r->label);
}

/* Draws the curves of all ports, and their scale in the column of labels. Both directions have the
 * same scale. */
static void draw_trend(const struct page_in *in, const struct row *r, const struct layout *l,
		       const struct cell *c, struct grid *g, int row, int high)
{
	const struct trend *t = &trends[strcmp(r->a, trends[1].path) == 0];
	int width = l->width - (l->label > 0), col = l->label + (l->label > 0);
	bool wide = l->label >= LABEL;
	struct sbuf b = {0};

	for (unsigned k = 0; k < l->shown; k++)
		trend_draw(t, l->top, false, c->all + l->first + k, 1, g, row,
			   col + (int)k * l->width, width, high, in->ascii);
	if (l->total)
		trend_draw(t, l->total_top, c->n > 1, c->all, c->n, g, row,
			   col + (int)l->shown * l->width, width, high, in->ascii);
	if (l->label < LABEL_LEAST || l->top <= 0 || (high == 1 && !wide))
		return;
	trend_text(l->top, &b);
	grid_right(g, row, wide ? LABEL - 9 : 2, wide ? 7 : LABEL_LEAST - 3, ROLE_SEP_TEXT,
		   sbuf_str(&b));
	if (high > 1)
		grid_right(g, row + high - 1, 0, l->label - (wide ? 2 : 1), ROLE_SEP_TEXT, "0");
	sbuf_free(&b);
}

/* Returns true for a row that only gives the curve above it more room. */
static bool is_more(const struct row *r)
{
	return r->fill == fill_trend && r->a == NULL;
}

static bool is_figure(const struct row *r)
{
	return r->fill == fill_rates || r->fill == fill_max || r->fill == fill_counts ||
	       r->fill == fill_losses || r->fill == fill_load;
}

static void draw_cell(const struct row *r, struct cell *c, struct grid *g, int row, int col)
{
	enum role role = c->port != NULL        ? r->role
			 : r->fill == fill_name ? ROLE_TOTAL_LABEL
						: ROLE_TOTAL_DATA;
	bool selected = c->port != NULL && page_num(c->port, "port", -1) == c->in->port;

	sbuf_reset(&c->text);
	c->warn = false;
	r->fill(r, c);
	if (c->warn)
		role = ROLE_WARN;
	grid_right(g, row, col, c->width, role, sbuf_str(&c->text));
	if (is_figure(r))
		page_quiet(g, row, col, c->width);
	if (r->fill == fill_name && selected)
		grid_select(g, row, col, c->width);
}

/* Returns the rank of a row. Losses that have occurred, on whichever port, stay longer than those
 * that have not. If there is only one row, for one port (one), it is that of the rate, because the
 * head line names the port. */
static int rank_of(const struct row *r, const struct cell *all, bool one)
{
	if (one && (r->fill == fill_name || r->rank == RANK_RATE))
		return r->fill == fill_name ? RANK_RATE : 0;
	if (r->a != NULL && strcmp(r->a, UNCONFIRMED) == 0 && main_sends(all))
		return r->rank;
	if (r->fill == fill_losses &&
	    (main_number(all, r->a) > 0 || (r->b != NULL && main_number(all, r->b) > 0)))
		return RANK_LOSS;
	return r->rank;
}

static void main_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	struct cell c = {.in = in};
	int one[ARRAY_SIZE(rows)], rank[ARRAY_SIZE(rows)], at[ARRAY_SIZE(rows)];
	struct layout l;

	c.all = page_ports(in->snap, &c.n);
	if (c.n == 0) {
		grid_left(g, 0, 0, -1, ROLE_DEFAULT, "no ports");
		free(c.all);
		return;
	}
	lay_out(in, c.n, g->cols, &l);
	l.top = trend_top(trends, ARRAY_SIZE(trends), c.all + l.first, l.shown, false);
	l.total_top = l.total ? trend_top(trends, ARRAY_SIZE(trends), c.all, c.n, true) : 0;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		one[i] = 1;
		rank[i] = rank_of(&rows[i], &c, l.shown == 1 && g->rows == 1);
	}
	page_fit(one, rank, ARRAY_SIZE(rows), 0, g->rows, at);
	const json_t **brief = xcalloc(l.shown, sizeof(*brief));
	for (unsigned k = 0; k < l.shown; k++)
		brief[k] = page_by(json_object_get(in->snap, "brief"), "port",
				   (unsigned)page_int(c.all[l.first + k], "port", 0));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (at[i] < 0)
			continue;
		if (rows[i].fill == NULL)
			draw_line(in, &rows[i], &l, g, at[i]);
		else
			draw_label(&rows[i], &l, g, at[i]);
		if (rows[i].fill == fill_trend) {
			int high = 1;
			while (i + (size_t)high < ARRAY_SIZE(rows) &&
			       is_more(&rows[i + (size_t)high]) && at[i + (size_t)high] >= 0)
				high++;
			if (!is_more(&rows[i]))
				draw_trend(in, &rows[i], &l, &c, g, at[i], high);
			continue;
		}
		c.width = l.width - (l.label > 0);
		for (unsigned k = 0; k < l.shown + l.total && rows[i].fill != NULL; k++) {
			c.port = k < l.shown ? c.all[l.first + k] : NULL;
			c.brief = c.port != NULL ? brief[k] : NULL;
			draw_cell(&rows[i], &c, g, at[i],
				  l.label + (int)k * l.width + (l.label > 0));
		}
	}
	out->shown = l.shown;
	out->of = c.n;
	sbuf_free(&c.text);
	free(brief);
	free(c.all);
}

const struct page page_main = {
	.name = "main",
	.help = "Rates, counts and settings: a column for each port, and their sums.",
	.parts = "stats,brief",
	.draw = main_draw,
};
