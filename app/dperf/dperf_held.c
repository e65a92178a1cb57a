/* SPDX-License-Identifier: BSD-3-Clause */
/* Which tuples a flood of dperf goes over. Each of its CPUs has a table of tuples, opens them in
 * its order until it has its share of `cc`, and sends on all that are open. So the tuples are the
 * first ones of each CPU's table, and here they become a few blocks that streams can go over. */
#include <stdlib.h>

#include "dperf_int.h"

#define HOP 65536 /* tuples from one to the next of client_hop */
#define LAUNCH_LEAST 4
#define LAUNCH_MOST 10

/* How fast a CPU opens. */
struct held_speed {
	uint64_t cps, launch; /* launch: it opens so many a second at least, or all */
	uint64_t step;        /* of the slow start: by so many more each second */
	uint64_t wait, slow;  /* seconds of the wait, and of the slow start behind it */
	uint64_t run;         /* seconds in all behind the wait */
};

static struct held_speed held_speed(const struct dperf_conf *c, unsigned worker)
{
	uint64_t all = dperf_number(c, DPERF_CPS, DPERF_CPS_DEFAULT), slow = dperf_slow_start(c);
	struct held_speed v = {.cps = dperf_worker_share(c, worker, all),
			       .launch = dperf_number(c, DPERF_LAUNCH_NUM, 0),
			       .wait = dperf_wait(c)};

	for (uint64_t n = LAUNCH_LEAST; n <= LAUNCH_MOST && v.launch == 0; n++)
		if (v.cps % n == 0)
			v.launch = n;
	if (v.launch == 0)
		v.launch = LAUNCH_LEAST;
	v.step = slow > 0 ? all / c->cpus / slow : 0;
	v.step = v.step > 0 ? v.step : 1;
	v.slow = slow > v.wait ? slow - v.wait : 0;
	v.run = v.slow + dperf_number(c, DPERF_DURATION, 60 * DPERF_NS) / DPERF_NS;
	return v;
}

/* How many it opens in second i, from 1 on, behind the wait. */
static uint64_t held_opens(const struct held_speed *v, uint64_t i)
{
	uint64_t n = i > v->slow ? v->cps : v->step * (v->wait + i);

	n = n > v->launch ? n : v->launch;
	return n < v->cps ? n : v->cps;
}

/* How many it has opened when the run is over, at most n; *seconds: when the last one of them
 * was. */
static uint64_t held_opened(const struct held_speed *v, uint64_t n, uint64_t *seconds)
{
	uint64_t left = n, i = 0;

	while (i < v->slow && i < v->run && left > 0) {
		uint64_t opens = held_opens(v, ++i);
		left -= opens < left ? opens : left;
	}
	if (left > 0 && v->cps > 0) {
		uint64_t more = (left - 1) / v->cps + 1, most = v->run - i;
		left -= more <= most ? left : most * v->cps;
		i += more <= most ? more : most;
	}
	*seconds = i;
	return n - left;
}

/* One port while its blocks are made. */
struct held {
	const struct dperf_say *s;
	struct dperf_held *out;
	struct dperf_span all[DPERF_DIGITS];
	/* CPUs that share the client's ports, each those of one remainder, or the servers, each has
	 * one; 1: none do */
	unsigned rss, servers;
	bool hop, too_many;
};

static uint64_t held_tuples(const struct dperf_span d[DPERF_DIGITS])
{
	return d[DPERF_DST].n * d[DPERF_DPORT].n * d[DPERF_SPORT].n * d[DPERF_SRC].n;
}

/* The table of CPU q of the port. */
static void held_table(const struct held *h, unsigned q, struct dperf_span out[DPERF_DIGITS])
{
	struct dperf_span *port = &out[DPERF_SPORT];

	for (unsigned i = 0; i < DPERF_DIGITS; i++)
		out[i] = h->all[i];
	if (h->servers > 1)
		out[DPERF_DST] = (struct dperf_span){q, 1, 1};
	if (h->rss > 1) {
		uint64_t skip = (q + h->rss - port->first % h->rss) % h->rss;
		port->n = skip < port->n ? (port->n - skip - 1) / h->rss + 1 : 0;
		port->first += skip;
		port->step = h->rss;
	}
}

static void held_block(struct held *h, const struct dperf_span d[DPERF_DIGITS])
{
	struct dperf_held *o = h->out;

	if (o->n == DPERF_BLOCKS_MOST) {
		h->too_many = true;
		return;
	}
	o->block = xrealloc(o->block, (o->n + 1) * sizeof(*o->block));
	struct dperf_block *b = &o->block[o->n++];
	for (unsigned i = 0; i < DPERF_DIGITS; i++)
		b->d[i] = d[i];
	b->tuples = held_tuples(d);
	o->tuples += b->tuples;
}

/* Tuples number lo to hi - 1 of a table as blocks. d: digits above `level` have one value. Of those
 * below it whole turns are one block, and what is left at both ends is cut likewise. */
static void held_cut(struct held *h, const struct dperf_span table[DPERF_DIGITS],
		     struct dperf_span d[DPERF_DIGITS], unsigned level, uint64_t lo, uint64_t hi)
{
	uint64_t turn = 1;

	for (unsigned i = 0; i < level; i++)
		turn *= table[i].n;
	while (lo < hi) {
		uint64_t first = lo / turn, n = hi / turn - first;
		struct dperf_span own = {table[level].first + first * table[level].step, n,
					 table[level].step};
		uint64_t end = (first + 1) * turn < hi ? (first + 1) * turn : hi;
		if (lo % turn == 0 && n > 0) {
			for (unsigned i = 0; i < level; i++)
				d[i] = table[i];
			d[level] = own;
			held_block(h, d);
			lo += n * turn;
			continue;
		}
		own.n = 1;
		d[level] = own;
		held_cut(h, table, d, level - 1, lo - first * turn, end - first * turn);
		lo = end;
	}
}

static void held_range(struct held *h, const struct dperf_span table[DPERF_DIGITS], uint64_t lo,
		       uint64_t hi)
{
	struct dperf_span d[DPERF_DIGITS];

	held_cut(h, table, d, DPERF_DIGITS - 1, lo, hi);
}

/* What all CPUs have, n tuples each, as blocks that go over all of them. Returns whether that can
 * be: where ports are shared each CPU must have ended at its first client, or all have as many. */
static bool held_common(struct held *h, uint64_t n)
{
	uint64_t each = h->all[DPERF_SPORT].n / h->rss;
	uint64_t below = h->all[DPERF_DST].n * h->all[DPERF_DPORT].n;
	struct dperf_span table[DPERF_DIGITS];
	unsigned first = h->out->n;

	if (h->rss <= 1) {
		held_range(h, h->all, 0, n * h->servers);
		return true;
	}
	if (h->all[DPERF_SPORT].n % h->rss != 0 && n > below * each)
		return false;
	for (unsigned i = 0; i < DPERF_DIGITS; i++)
		table[i] = h->all[i];
	table[DPERF_SPORT].n = each > 0 ? each : 1;
	table[DPERF_SPORT].step = h->rss;
	held_range(h, table, 0, n);
	/* a port stands for those of all CPUs, which follow it */
	h->out->tuples *= h->rss;
	for (unsigned i = first; i < h->out->n; i++) {
		struct dperf_block *b = &h->out->block[i];
		b->d[DPERF_SPORT].n *= h->rss;
		b->d[DPERF_SPORT].step = 1;
		b->tuples *= h->rss;
	}
	return true;
}

/* With client_hop: each 65536th tuple of CPU q, from the first one on, and behind the last one
 * again. Returns how many. */
static uint64_t held_hops(struct held *h, unsigned q, uint64_t most, bool blocks)
{
	struct dperf_span table[DPERF_DIGITS], own[DPERF_DIGITS];
	uint64_t n = 0;

	held_table(h, q, own);
	for (unsigned i = 0; i < DPERF_DIGITS; i++)
		table[i] = h->all[i];
	table[DPERF_DST] = own[DPERF_DST];
	uint64_t below = table[DPERF_DST].n * table[DPERF_DPORT].n, ports = table[DPERF_SPORT].n;
	uint64_t all = held_tuples(table), at = 0;
	while (n < most && at < all && own[DPERF_SPORT].n > 0 && !h->too_many) {
		/* the next one whose port is this CPU's */
		while (at < all &&
		       (table[DPERF_SPORT].first + at / below % ports) % h->rss != q % h->rss)
			at = (at / below + 1) * below;
		if (at >= all)
			break;
		if (blocks)
			held_range(h, table, at, at + 1);
		n++;
		at += HOP;
	}
	return n;
}

static void held_blocks(struct held *h, const uint64_t *n)
{
	unsigned queues = h->s->queues;
	struct dperf_span table[DPERF_DIGITS];
	uint64_t common = n[0];
	bool whole = !h->hop;

	for (unsigned q = 0; q < queues; q++) {
		held_table(h, q, table);
		whole = whole && n[q] == held_tuples(table);
		common = n[q] < common ? n[q] : common;
		if (h->hop)
			held_hops(h, q, n[q], true);
	}
	if (h->hop)
		return;
	if (whole) {
		held_block(h, h->all);
		return;
	}
	if (!held_common(h, common))
		common = 0;
	for (unsigned q = 0; q < queues && !h->too_many; q++) {
		held_table(h, q, table);
		held_range(h, table, common, n[q]);
	}
}

bool dperf_held(const struct dperf_say *s, struct dperf_held *out)
{
	struct held h = {.s = s, .out = out, .rss = 1, .servers = 1};
	bool keep = dperf_has(s->c, DPERF_KEEPALIVE);
	uint64_t n[DPERF_CPUS_MOST] = {0}, sum = 0, cc = dperf_number(s->c, DPERF_CC, 0), seconds;

	*out = (struct dperf_held){0};
	dperf_table(s, h.all);
	h.hop = dperf_has(s->c, DPERF_CLIENT_HOP);
	if (s->queues > 1)
		*(dperf_has(s->c, DPERF_RSS) ? &h.rss : &h.servers) = s->queues;
	for (unsigned q = 0; q < s->queues; q++) {
		unsigned worker = s->i * s->queues + q;
		const struct held_speed v = held_speed(s->c, worker);
		struct dperf_span table[DPERF_DIGITS];
		held_table(&h, q, table);
		uint64_t want = cc > 0 ? dperf_worker_share(s->c, worker, cc) : UINT64_MAX;
		uint64_t has = h.hop ? held_hops(&h, q, want, false) : held_tuples(table);
		n[q] = want < has ? want : has;
		if (keep)
			n[q] = held_opened(&v, n[q], &seconds);
		if (keep && seconds > out->seconds)
			out->seconds = seconds;
		sum += n[q];
	}
	n[0] += sum == 0;
	held_blocks(&h, n);
	return !h.too_many;
}
