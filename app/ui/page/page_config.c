/* SPDX-License-Identifier: BSD-3-Clause */
/* Page ports: what each device is and how it is set up. Ports stand beside each other, and long
 * values are wrapped in their column. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "page_flow.h"

#define LABEL_COLS 13
#define PORT_COLS 24 /* least columns for a port; where there are fewer, config_narrow() draws */
#define MOST_COLS 56
#define GAP 2
#define LCORES 1024 /* more than DPDK has */

typedef void text_fn(const struct page_in *, const json_t *port, struct sbuf *out);

static void config_plain(const json_t *port, const char *key, enum out_fmt fmt, struct sbuf *out)
{
	out_cell(out_get(port, key), fmt, out);
}

static void t_link(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	config_plain(port, "link", OF_STR, out);
	if (page_num(port, "speed_mbps", 0) > 0) {
		sbuf_addc(out, ' ');
		config_plain(port, "speed_mbps", OF_MBPS, out);
	}
}

static void t_driver(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	config_plain(port, "driver", OF_STR, out);
}

static void t_spec(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	config_plain(port, "spec", OF_STR, out);
}

static void t_mac(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	config_plain(port, "mac", OF_STR, out);
}

static void t_mtu(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	config_plain(port, "mtu", OF_STR, out);
}

static void t_queues(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	config_plain(port, "rx_queues", OF_COUNT, out);
	sbuf_add(out, " / ");
	config_plain(port, "tx_queues", OF_COUNT, out);
}

static void t_rings(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	config_plain(port, "rxd", OF_STR, out);
	sbuf_add(out, " / ");
	config_plain(port, "txd", OF_STR, out);
}

/* Appends the lcores that serve one side of the port, each once: "1-4,7". */
static void config_lcores(const struct page_in *in, const json_t *port, const char *side,
			  struct sbuf *out)
{
	bool serves[LCORES + 1] = {false};
	double number = page_num(port, "port", -1);
	size_t start = out->len, i;
	const json_t *q;

	json_array_foreach(out_get(in->snap, "map.queues"), i, q) {
		double core = page_num(q, "lcore", -1);
		if (page_num(q, "port", -2) == number &&
		    strcmp(page_str(q, "side", ""), side) == 0 && core >= 0 && core < LCORES)
			serves[(unsigned)core] = true;
	}
	for (unsigned from = 0, to; from < LCORES; from = to + 1) {
		for (to = from; serves[to]; to++)
			;
		if (to > from)
			sbuf_addf(out, "%s%u", out->len > start ? "," : "", from);
		if (to > from + 1)
			sbuf_addf(out, "-%u", to - 1);
	}
	if (out->len == start)
		sbuf_addc(out, '-');
}

static void t_lcores(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	config_lcores(in, port, "rx", out);
	sbuf_add(out, " / ");
	config_lcores(in, port, "tx", out);
}

static void t_node(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	if (page_num(port, "node", -1) < 0)
		sbuf_add(out, "none");
	else
		config_plain(port, "node", OF_COUNT, out);
}

static void t_pci(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	config_plain(port, "pci", OF_STR, out);
}

static void t_mbufs(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	config_plain(port, "mbufs", OF_COUNT, out);
}

static void t_memory(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	config_plain(port, "memory_bytes", OF_BPS, out);
	sbuf_add(out, "B");
}

static void t_promiscuous(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	sbuf_add(out, json_is_true(json_object_get(port, "promiscuous")) ? "on" : "off");
}

static void t_offloads(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	config_plain(port, "offloads", OF_STR, out);
}

static void t_rss(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	config_plain(port, "rss", OF_STR, out);
}

static void t_flow_control(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	(void)in;
	config_plain(port, "flow_control", OF_STR, out);
}

static void t_notes(const struct page_in *in, const json_t *port, struct sbuf *out)
{
	const json_t *note;
	size_t i;

	(void)in;
	json_array_foreach(json_object_get(port, "notes"), i, note)
		sbuf_addf(out, "%s%s", i > 0 ? "; " : "",
			  json_is_string(note) ? json_string_value(note) : "?");
	if (json_array_size(json_object_get(port, "notes")) == 0)
		sbuf_addc(out, '-');
}

static const struct fact {
	const char *label;
	text_fn *text;
	enum role role;
} facts[] = {
	/* The most important facts stand first, because the end may be out of sight. */
	{"link", t_link, ROLE_PORT_LINK},
	{"driver", t_driver, ROLE_PORT_DATA},
	{"device", t_spec, ROLE_PORT_DATA},
	{"mac", t_mac, ROLE_MAC},
	{"mtu", t_mtu, ROLE_STAT_VALUES},
	{"queues rx/tx", t_queues, ROLE_PORT_DATA},
	{"lcores rx/tx", t_lcores, ROLE_PORT_DATA},
	{"rings rx/tx", t_rings, ROLE_STAT_VALUES},
	{"mbufs a pool", t_mbufs, ROLE_STAT_VALUES},
	{"memory", t_memory, ROLE_PORT_DATA},
	{"numa node", t_node, ROLE_PORT_DATA},
	{"pci", t_pci, ROLE_BDF},
	{"promiscuous", t_promiscuous, ROLE_STAT_VALUES},
	{"rss", t_rss, ROLE_PORT_DATA},
	{"flow control", t_flow_control, ROLE_PORT_DATA},
	{"offloads", t_offloads, ROLE_PORT_DATA},
	{"notes", t_notes, ROLE_WARN},
};

static enum role role_of(const struct fact *x, const json_t *port, const char *text)
{
	if (x->text == t_link && page_link_lost(port))
		return ROLE_WARN;
	return strcmp(text, "-") == 0 ? ROLE_PORT_DATA : x->role;
}

static bool config_selected(const struct page_in *in, const json_t *port)
{
	return page_num(port, "port", -1) == in->port;
}

/* Returns true when any of these ports has this fact. */
static bool worth_a_row(const struct page_in *in, const struct fact *x, const json_t *list,
			unsigned first, unsigned n)
{
	struct sbuf b = {0};
	bool any = false;

	for (unsigned p = first; p < first + n && !any; p++) {
		sbuf_reset(&b);
		x->text(in, json_array_get(list, p), &b);
		any = strcmp(sbuf_str(&b), "-") != 0;
	}
	sbuf_free(&b);
	return any;
}

/* Draws one port in all the columns that there are. A value stands behind its label or, if it is
 * long, below it. */
static void config_narrow(const struct page_in *in, const json_t *list, unsigned at, struct flow *f)
{
	const json_t *port = json_array_get(list, at);
	struct sbuf b = {0};

	for (unsigned i = 0; i < ARRAY_SIZE(facts); i++) {
		const struct fact *x = &facts[i];
		if (!worth_a_row(in, x, list, at, 1))
			continue;
		sbuf_reset(&b);
		x->text(in, port, &b);
		int label = grid_width(x->label);
		flow_room(f, 1);
		grid_left(&f->g, f->row, 0, f->g.cols, ROLE_STAT_LABEL, x->label);
		bool beside = label + 1 + grid_width(sbuf_str(&b)) <= f->g.cols;
		f->row += !beside;
		flow_text(f, beside ? label + 1 : 1, f->g.cols - (beside ? label + 1 : 1),
			  role_of(x, port, sbuf_str(&b)), sbuf_str(&b));
	}
	sbuf_free(&b);
}

static void config_wide(const struct page_in *in, const json_t *list, unsigned first, unsigned n,
			int width, struct flow *f)
{
	struct sbuf b = {0};

	for (unsigned i = 0; i < ARRAY_SIZE(facts); i++) {
		const struct fact *x = &facts[i];
		int tallest = 1;
		if (!worth_a_row(in, x, list, first, n))
			continue;
		flow_room(f, 1);
		grid_put(&f->g, f->row, 0, LABEL_COLS - 1, ROLE_STAT_LABEL, x->label);
		for (unsigned p = 0; p < n; p++) {
			const json_t *port = json_array_get(list, first + p);
			sbuf_reset(&b);
			x->text(in, port, &b);
			int h = flow_wrap(f, f->row, LABEL_COLS + (int)p * (width + GAP), width,
					  role_of(x, port, sbuf_str(&b)), sbuf_str(&b));
			tallest = h > tallest ? h : tallest;
		}
		f->row += tallest;
	}
	sbuf_free(&b);
}

static void config_heading(const struct page_in *in, const json_t *port, struct grid *g, int col,
			   int width)
{
	struct sbuf b = {0};

	sbuf_addf(&b, "%s%.0f %s", config_selected(in, port) ? ">" : "", page_num(port, "port", 0),
		  page_str(port, "name", "-"));
	int n = grid_left(g, 0, col, width, ROLE_PORT_LABEL, sbuf_str(&b));
	if (config_selected(in, port))
		grid_select(g, 0, col, n);
	sbuf_free(&b);
}

static void config_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	const json_t *list = json_object_get(in->snap, "config");
	unsigned of = (unsigned)json_array_size(list), first = page_first(in, of),
		 most = of - first;
	int room = g->cols - LABEL_COLS, fit = (room + GAP) / (PORT_COLS + GAP), label = LABEL_COLS;
	struct flow f;

	if (of == 0) {
		grid_put(g, 0, 0, -1, ROLE_STAT_LABEL, "no ports");
		return;
	}
	if (fit < 1) {
		fit = 1;
		label = 0;
	}
	if (in->max_ports > 0 && most > in->max_ports)
		most = in->max_ports;
	unsigned n = (unsigned)fit < most ? (unsigned)fit : most;
	int width = label == 0 ? g->cols : (room + GAP) / (int)n - GAP;
	width = width > MOST_COLS && label > 0 ? MOST_COLS : width;
	flow_init(&f, g->cols);
	for (unsigned i = 0; i < n; i++)
		config_heading(in, json_array_get(list, first + i), g,
			       label + (int)i * (width + GAP), width);
	if (label == 0)
		config_narrow(in, list, first, &f);
	else
		config_wide(in, list, first, n, width, &f);
	flow_show(&f, g, 1, g->rows - 1, 0, in->top, out);
	flow_free(&f);
	out->shown = n;
	out->of = of;
}

/* The file does not have the name of the page, because page_ports() is a function already. */
const struct page page_config = {
	.name = "ports",
	.alias = "config",
	.parts = "config",
	.draw = config_draw,
	.help = "Device, link, queues, memory and offloads of each port, and what is to be known of it.",
};
