/* SPDX-License-Identifier: BSD-3-Clause */
/* A flood of one port of a file in commands: what its frames are, which tuples they go over, and
 * how many there are in a second. */
#include <stdlib.h>

#include "dperf_int.h"

#define LIST_MOST 1024 /* values of a list of ours */
/* What weights of streams may be, and what all of a port's together: docs/frames.md. */
#define WEIGHT_MOST 65535
#define WEIGHTS_MOST 65536

/* What comes one after another of the lines that change the destination: as a list, or a line alone
 * as a range, which may have more addresses than a list has. */
struct flood_group {
	unsigned first, lines;
	uint64_t addresses;
};

/* The group that begins with that line. False: there is no such line. */
static bool flood_group(const struct dperf_conf *c, unsigned first, struct flood_group *g)
{
	const struct dperf_line *l;

	*g = (struct flood_group){.first = first};
	while ((l = dperf_find(c, DPERF_CHANGE_DIP, first + g->lines)) != NULL &&
	       (g->lines == 0 || g->addresses + l->v[2].n <= LIST_MOST)) {
		g->addresses += l->v[2].n;
		g->lines++;
	}
	return g->lines > 0;
}

static void flood_group_values(const struct dperf_conf *c, const struct flood_group *g,
			       struct sbuf *out)
{
	bool one = g->lines == 1;

	if (!one)
		sbuf_add(out, "list ");
	for (unsigned i = 0; i < g->lines; i++) {
		const struct dperf_line *l = dperf_find(c, DPERF_CHANGE_DIP, g->first + i);
		uint64_t last = l->v[2].n - 1, by = l->v[1].n;
		bool range = last > 0 && (one || by == 1);
		for (uint64_t k = 0; k <= last; k += range ? last : 1) {
			struct dperf_addr a = dperf_add(&l->v[0].addr, k * by);
			sbuf_add(out, k == 0 ? (i > 0 ? "," : "") : range ? ".." : ",");
			dperf_print_addr(&a, out);
		}
		if (range && by > 1)
			sbuf_addf(out, " step %s", l->v[1].text);
	}
}

/* Where frames go: blocks of tuples, times groups of destinations where those have their own
 * (change_dip). Each has a stream, which sends as often as its tuples have it. */
struct flood {
	const struct dperf_say *s;
	struct dperf_held held;
	unsigned groups; /* 0: the destinations are those of the tuples */
	unsigned streams;
	uint64_t common; /* of the weights of all streams, and what is left of their sum */
	uint64_t weights;
	bool own_rates; /* the weights are too large */
};

static uint64_t flood_weight(const struct flood *f, unsigned block, const struct flood_group *g)
{
	return f->held.block[block].tuples * (f->groups > 0 ? g->addresses : 1);
}

/* Goes over all streams: false behind the last one. */
static bool flood_next(const struct flood *f, unsigned *block, struct flood_group *g)
{
	if (f->groups > 0 && flood_group(f->s->c, g->first + g->lines, g))
		return true;
	if (f->groups > 0)
		flood_group(f->s->c, 0, g);
	return ++*block < f->held.n;
}

static void flood_weights(struct flood *f)
{
	struct flood_group g = {0};
	uint64_t largest = 0, sum = 0;
	unsigned block = 0;

	if (f->groups > 0)
		flood_group(f->s->c, 0, &g);
	do {
		uint64_t weight = flood_weight(f, block, &g);
		f->common = gcd(weight, f->common);
		largest = weight > largest ? weight : largest;
		sum += weight;
	} while (flood_next(f, &block, &g));
	f->weights = sum / f->common;
	f->own_rates = f->weights > WEIGHTS_MOST || largest / f->common > WEIGHT_MOST;
}

/* A rate, which rises while dperf opens its connections. part: of the rate of all. */
static void flood_rate(const struct flood *f, double part, struct sbuf *out)
{
	const struct dperf_say *s = f->s;
	const struct dperf_line *keep = dperf_find(s->c, DPERF_KEEPALIVE, 0);

	if (keep == NULL) {
		dperf_ramp(s, part * (double)dperf_least(s, DPERF_CPS, DPERF_CPS_DEFAULT), "pps",
			   out);
		return;
	}
	double each = (double)dperf_number(s->c, DPERF_PIPELINE, 1);
	double one = part * (each < 1 ? 1 : each) * 1e9 / (double)keep->v[0].n;
	if (f->held.seconds > 1 && f->held.tuples > 1) {
		dperf_plain(one, "pps", out);
		sbuf_add(out, "..");
	}
	dperf_plain(one * (double)f->held.tuples, "pps", out);
	if (f->held.seconds > 1 && f->held.tuples > 1)
		sbuf_addf(out, " over %llus", (unsigned long long)f->held.seconds);
}

/* Where one stream goes, and how often. */
static void flood_stream(const struct flood *f, unsigned i, unsigned block,
			 const struct flood_group *g)
{
	struct dperf_say s = *f->s;
	uint64_t weight = flood_weight(f, block, g);
	struct sbuf b = {0};

	s.stream = f->streams > 1 ? i + 1 : 0;
	dperf_say_block(&s, f->held.block[block].d);
	if (f->groups > 0) {
		const struct dperf_line *l = dperf_find(s.c, DPERF_CHANGE_DIP, g->first);
		flood_group_values(s.c, g, &b);
		if (s.stream > 0)
			dperf_command(&s, l, "set %u/%u %s.dst %s", s.port, i, dperf_fields(s.c).ip,
				      b.s);
		else
			dperf_command(&s, l, "set %u %s.dst %s", s.port, dperf_fields(s.c).ip, b.s);
		sbuf_reset(&b);
	}
	if (f->own_rates) {
		flood_rate(f, (double)weight / (double)f->common / (double)f->weights, &b);
		dperf_set(&s, DPERF_FLOOD, "rate %s", b.s);
	} else if (f->streams > 1) {
		dperf_set(&s, DPERF_FLOOD, "weight %llu", (unsigned long long)(weight / f->common));
	}
	sbuf_free(&b);
}

/* False: it is told that there are too many. */
static bool flood_streams(struct flood *f)
{
	const struct dperf_say *s = f->s;
	struct flood_group g;
	bool few = dperf_held(s, &f->held);

	for (unsigned at = 0; flood_group(s->c, at, &g); at += g.lines)
		f->groups++;
	unsigned groups = f->groups > 0 ? f->groups : 1;
	if (few && f->held.n <= DPERF_BLOCKS_MOST / groups) {
		f->streams = f->held.n * groups;
		return true;
	}
	const struct dperf_line *l = dperf_find(s->c, DPERF_CLIENT_HOP, 0);
	l = l != NULL ? l : dperf_find(s->c, DPERF_CC, 0);
	l = l != NULL ? l : dperf_find(s->c, DPERF_FLOOD, 0);
	dperf_fail(
		s->wrong, l->line, l->col,
		"%s: the tuples that this flood goes over come to more than %d streams, which a "
		"port may have; fewer addresses or ports, or a round number of connections, help",
		dperf_directives[l->id].name, DPERF_BLOCKS_MOST);
	return false;
}

/* How many connections dperf has open; a note, if that is not what the file says. */
static void flood_keeps(const struct flood *f)
{
	const struct dperf_say *s = f->s;
	uint64_t cc = dperf_has(s->c, DPERF_CC) ? dperf_least(s, DPERF_CC, 0) : 0;

	if (!dperf_has(s->c, DPERF_KEEPALIVE))
		return;
	dperf_set(s, DPERF_KEEPALIVE, "dperf.held %llu", (unsigned long long)f->held.tuples);
	if (cc == f->held.tuples)
		return;
	sbuf_addf(s->out,
		  "# %s: of port %u %llu connections are open at the end, by cps, its time and its "
		  "tuples, and frames go over the tuples of these\n",
		  cc > 0 ? "cc" : "keepalive", s->port, (unsigned long long)f->held.tuples);
}

static void flood_tuples(struct flood *f)
{
	const struct dperf_say *s = f->s;
	struct flood_group g = {0};
	struct sbuf rate = {0};
	unsigned block = 0, i = 0;

	flood_keeps(f);
	flood_weights(f);
	if (!f->own_rates) {
		flood_rate(f, 1, &rate);
		dperf_set(s, DPERF_FLOOD, "rate %s", rate.s);
		sbuf_free(&rate);
	}
	if (f->streams > 1)
		dperf_command(s, dperf_find(s->c, DPERF_FLOOD, 0), "stream add %u %u like %u/0",
			      s->port, f->streams - 1, s->port);
	if (f->streams > s->plan->streams)
		s->plan->streams = f->streams;
	if (f->groups > 0)
		flood_group(s->c, 0, &g);
	do {
		flood_stream(f, i++, block, &g);
	} while (flood_next(f, &block, &g));
}

/* The size of a frame of UDP, FCS included, that `packet_size` of older files asks for; 0: there is
 * none that fits. */
static uint64_t flood_packet_size(const struct dperf_conf *c)
{
	const struct dperf_line *l = dperf_find(c, DPERF_PACKET_SIZE, 0);
	unsigned most = dperf_jumbo(c) > 0 ? dperf_jumbo(c) + 18 : 1518;
	char *end;

	if (l == NULL || l->n != 1 || !c->udp)
		return 0;
	unsigned long n = strtoul(l->v[0].text, &end, 10);
	return *end == '\0' && n <= most ? n : 0;
}

void dperf_say_flood(const struct dperf_say *s)
{
	const struct dperf_fields f = dperf_fields(s->c);
	const struct dperf_line *file = dperf_find(s->c, DPERF_PAYLOAD_FILE, 0);
	unsigned head = 14 + (s->c->six ? 40 : 20) + (s->c->udp ? 8 : 24) +
			(dperf_has(s->c, DPERF_VXLAN) ? 50 : 0) +
			(dperf_has(s->c, DPERF_VLAN) ? 4 : 0);
	uint64_t payload = s->c->udp ? dperf_number(s->c, DPERF_PAYLOAD_SIZE, 0) : 0;
	struct flood flood = {.s = s};

	/* what comes back is of no connection here, and dperf's udpRx of two-way loads */
	dperf_set(s, DPERF_FLOOD, "unclaimed on");
	if (!s->c->udp) {
		dperf_set(s, DPERF_FLOOD, "%s.flags syn", f.l4);
		dperf_set(s, DPERF_FLOOD, "%s.seq random", f.l4);
		dperf_set(s, DPERF_MSS, "%s.mss %llu", f.l4,
			  (unsigned long long)dperf_number(s->c, DPERF_MSS,
							   s->c->six ? 1440 : 1460));
	}
	uint64_t size = head + payload + 4, asked = flood_packet_size(s->c);

	size = asked > size && payload == 0 ? asked : size;
	dperf_set(s, DPERF_PAYLOAD_SIZE, "size %llu", (unsigned long long)(size < 64 ? 64 : size));
	if (file != NULL && s->c->udp) {
		dperf_set(s, DPERF_PAYLOAD_FILE, "pattern file");
		dperf_set_word(s, DPERF_PAYLOAD_FILE, "pattern.file", file->v[0].text);
	} else if (dperf_has(s->c, DPERF_PAYLOAD_RANDOM)) {
		dperf_set(s, DPERF_PAYLOAD_RANDOM, "pattern random");
	}
	if (flood_streams(&flood))
		flood_tuples(&flood);
	free(flood.held.block);
}
