/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws `show map`: each port as a box with its queues and, behind each queue, the core that serves
 * it; then each core with what it does. */
#include "place.h"

#include <stdlib.h>
#include <string.h>

static const struct place_lcore *find_lcore(const struct place_in *in, unsigned lcore)
{
	for (unsigned i = 0; i < in->nlcores; i++)
		if (in->lcore[i].lcore == lcore)
			return &in->lcore[i];
	return NULL;
}

static void add_core(struct sbuf *b, const struct place_in *in, unsigned lcore)
{
	const struct place_lcore *l = find_lcore(in, lcore);

	sbuf_addf(b, "lcore %u", lcore);
	if (l != NULL && l->cpu >= 0)
		sbuf_addf(b, "  CPU %d", l->cpu);
	if (l != NULL && l->node >= 0)
		sbuf_addf(b, "  node %d", l->node);
}

static void add_many(struct sbuf *b, char c, size_t n)
{
	while (n-- > 0)
		sbuf_addc(b, c);
}

/* Draws the box of a port. *at: where its queues begin in p->q; moves behind them. width: of the
 * title in the box. */
static void draw_port(const struct placement *p, const struct place_in *in, unsigned port,
		      unsigned *at, size_t width, const struct sbuf *title, struct sbuf *out)
{
	sbuf_addf(out, "+- %s ", sbuf_str(title));
	add_many(out, '-', width - title->len);
	sbuf_add(out, "-+\n");
	if (p->port[port].nrxq + p->port[port].ntxq == 0) {
		sbuf_add(out, "|  unused");
		add_many(out, ' ', width - strlen("unused"));
		sbuf_add(out, "  |\n");
	}
	for (; *at < p->n && p->q[*at].port == port; (*at)++) {
		const struct place_queue *q = &p->q[*at];
		const struct place_lcore *l = find_lcore(in, q->lcore);
		size_t before = out->len;

		sbuf_addf(out, "|  %s %u", q->tx ? "Tx" : "Rx", q->queue);
		add_many(out, ' ', width + 5 - (out->len - before));
		sbuf_addf(out, "|%s ", q->tx ? "<----" : "---->");
		add_core(out, in, q->lcore);
		if (l != NULL && l->node >= 0 && in->port[port].node >= 0 &&
		    l->node != in->port[port].node)
			sbuf_addf(out, "  (far: the port is on node %d)", in->port[port].node);
		sbuf_addc(out, '\n');
	}
	sbuf_addc(out, '+');
	add_many(out, '-', width + 4);
	sbuf_add(out, "+\n");
}

/* Adds which queues an lcore serves, "port 0 Rx 0-1 Tx 0; port 1 Tx 0". */
static void add_duties(struct sbuf *b, const struct placement *p, unsigned lcore)
{
	const struct place_queue *last = NULL;

	for (unsigned i = 0; i < p->n; i++) {
		const struct place_queue *q = &p->q[i], *end = q;

		if (q->lcore != lcore)
			continue;
		while (i + 1 < p->n && p->q[i + 1].lcore == lcore && p->q[i + 1].port == q->port &&
		       p->q[i + 1].tx == q->tx)
			end = &p->q[++i];
		if (last == NULL || last->port != q->port)
			sbuf_addf(b, "%sport %u", last ? "; " : "", q->port);
		if (last == NULL || last->port != q->port || last->tx != q->tx)
			sbuf_addf(b, " %s %u", q->tx ? "Tx" : "Rx", q->queue);
		else
			sbuf_addf(b, ",%u", q->queue);
		if (end != q)
			sbuf_addf(b, "-%u", end->queue);
		last = q;
	}
	if (last == NULL)
		sbuf_add(b, "idle");
}

void place_draw(const struct placement *p, const struct place_in *in,
		const char *(*name)(void *arg, unsigned port), void *arg, struct sbuf *out)
{
	struct sbuf *title = xcalloc(p->nports, sizeof(*title));
	size_t width = 16;
	unsigned at = 0;

	for (unsigned i = 0; i < p->nports; i++) {
		sbuf_addf(&title[i], "port %u", i);
		if (name != NULL)
			sbuf_addf(&title[i], "  %s", name(arg, i));
		if (in->port[i].node >= 0)
			sbuf_addf(&title[i], "  node %d", in->port[i].node);
		if (title[i].len > width)
			width = title[i].len;
	}
	for (unsigned i = 0; i < p->nports; i++) {
		draw_port(p, in, i, &at, width, &title[i], out);
		sbuf_addc(out, '\n');
		sbuf_free(&title[i]);
	}
	free(title);
	sbuf_addf(out, "lcore %u  control\n", in->control);
	for (unsigned i = 0; i < in->nlcores; i++) {
		add_core(out, in, in->lcore[i].lcore);
		sbuf_add(out, "  ");
		add_duties(out, p, in->lcore[i].lcore);
		sbuf_addc(out, '\n');
	}
}
