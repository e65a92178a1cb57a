/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses source ports, or source addresses, by which a stream comes to all queues of its receiver
 * evenly. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rss_flows.h"

#define FLOWS_PER_QUEUE 4
#define PORT_LOWEST 1024 /* those below belong to services */

/* The n-th value that may be chosen: a source port from the stream's own on, or a source address
 * beside the stream's own, whose last two bytes differ. false: it is not to be used. */
static bool nth_tuple(const struct rss_tuple *base, bool ports, unsigned n, struct rss_tuple *t)
{
	uint8_t *last = t->src + (base->version == 6 ? 16 : 4) - 2;

	*t = *base;
	if (ports) {
		unsigned from = base->sport >= PORT_LOWEST ? base->sport : PORT_LOWEST;
		unsigned port = from + n;
		t->sport = (uint16_t)(port <= UINT16_MAX ? port
							 : port - (UINT16_MAX + 1) + PORT_LOWEST);
		return n <= UINT16_MAX - PORT_LOWEST;
	}
	unsigned low = ((unsigned)last[0] << 8 | last[1]) + n;
	last[0] = (uint8_t)(low >> 8);
	last[1] = (uint8_t)low;
	/* what may be the address of a network or a broadcast, and the receiver's own */
	return last[1] != 0 && last[1] != 255 && memcmp(t->src, t->dst, sizeof(t->src)) != 0;
}

static void put_value(const struct rss_tuple *t, bool ports, struct sbuf *out)
{
	char text[INET6_ADDRSTRLEN];

	if (out->len > 0)
		sbuf_add(out, ",");
	if (ports)
		sbuf_addf(out, "%u", t->sport);
	else
		sbuf_add(out, inet_ntop(t->version == 6 ? AF_INET6 : AF_INET, t->src, text,
					sizeof(text)));
}

/* Finds per values for each of n queues and writes them in turns, so that a queue gets one of n
 * frames. */
static int pick_values(const struct rss_setup *s, const struct rss_tuple *base, bool ports,
		       unsigned n, unsigned per, struct sbuf *out, struct err *e)
{
	struct rss_tuple *found = xcalloc((size_t)n * per, sizeof(*found));
	unsigned *have = xcalloc(n, sizeof(*have)), missing = n * per, tried = 0;

	for (unsigned i = 0; i <= UINT16_MAX && missing > 0; i++) {
		struct rss_tuple t;
		if (!nth_tuple(base, ports, i, &t))
			continue;
		tried++;
		uint16_t q = rss_queue(s, &t, NULL);
		if (have[q] == per)
			continue;
		found[have[q]++ * n + q] = t;
		missing--;
	}
	for (unsigned i = 0; i < n * per && missing == 0; i++)
		put_value(&found[i], ports, out);
	for (unsigned q = 0; q < n && missing > 0; q++)
		if (have[q] < per) {
			err_set(e, EINVAL,
				"only %u of %u source %s come to queue %u, and %u are needed",
				have[q], tried,
				ports ? "ports from 1024 on"
				      : "addresses that differ in the last two bytes",
				q, per);
			missing = 0;
			sbuf_reset(out);
			break;
		}
	free(found);
	free(have);
	return out->len > 0 ? 0 : -EINVAL;
}

/* Says why no choice of a stream's values can spread it. */
static int cannot_spread(const struct ctl_port *cp, const struct rss_to *to, struct err *e)
{
	unsigned port = cp->p.id;

	if (to->way == RSS_WAY_ONE)
		return err_set(e, EINVAL, "port %u, to which it comes, has %u Rx queue%s", port,
			       cp->p.nrxq, cp->p.nrxq == 1 ? "" : "s");
	if (to->way == RSS_WAY_TXQ)
		return rss_no_hash(port, e);
	if (to->way == RSS_WAY_UNKNOWN)
		return err_set(e, ENOTSUP, "port %u, to which it comes: %.280s", port, to->why);
	for (unsigned q = 0; q < cp->p.nrxq; q++) {
		unsigned i = 0;
		while (i < to->setup.entries && to->setup.table[i] != q)
			i++;
		if (i == to->setup.entries)
			return err_set(
				e, EINVAL,
				"no entry of the table of port %u is queue %u; set %u rss.table 0-%u",
				port, q, port, cp->p.nrxq - 1);
	}
	return 0;
}

/* The field that may be chosen, by its name; it alone may vary in what is hashed. */
static int choose_field(const struct rss_flows *f, const struct rss_setup *s, char name[32],
			struct err *e)
{
	const struct rss_tuple *t = &f->first;
	enum rss_part part = rss_part(s->hf, t);

	if (part == RSS_PART_NONE)
		return err_set(
			e, EINVAL,
			"its receiver hashes nothing of these frames, so that all come to one queue");
	if (part == RSS_PART_L4)
		snprintf(name, 32, "%s.src",
			 t->proto == IPPROTO_UDP   ? "udp"
			 : t->proto == IPPROTO_TCP ? "tcp"
						   : "sctp");
	else
		snprintf(name, 32, "ipv%u.src", t->version);
	return 0;
}

/* Whether something else than the chosen field varies in what is hashed. */
static bool varies_beside(const struct stream *s, bool ports)
{
	const struct frame_recipe *recipe = &s->frames->recipe[0];
	uint8_t *bytes = xcalloc(1, recipe->len + 1u);
	struct rss_tuple first, t;
	bool differs = false;

	rss_tuple_read(recipe->bytes, recipe->len, &first, NULL);
	for (uint64_t o = 0; o < 4096 && !differs; o++) {
		frame_recipe_at(recipe, o, bytes);
		rss_tuple_read(bytes, recipe->len, &t, NULL);
		differs = t.version != first.version || t.proto != first.proto ||
			  t.fragment != first.fragment ||
			  memcmp(t.dst, first.dst, sizeof(t.dst)) != 0 ||
			  (ports && t.dport != first.dport) ||
			  (ports && memcmp(t.src, first.src, sizeof(t.src)) != 0);
	}
	free(bytes);
	return differs;
}

static struct stream *balanced_stream(struct ctl *c, unsigned port, unsigned stream,
				      struct ctl_port **to, struct err *e)
{
	struct stream *s = stream_at(c->port[port], stream);
	const char *how;

	*to = rss_other_end(c, c->port[port], &how);
	if (s == NULL)
		err_set(e, EINVAL, "there is no stream %u/%u", port, stream);
	else if (*to == NULL)
		err_set(e, ENODEV, "the port to which it comes is closed");
	return *to != NULL ? s : NULL;
}

static int choose_for(struct ctl *c, unsigned port, unsigned stream, uint64_t flows,
		      struct rss_to *to, struct rss_flows *f, struct ctl_rss_choice *out,
		      struct err *e)
{
	struct ctl_port *cp;
	struct stream *s = balanced_stream(c, port, stream, &cp, e);
	int rc = s != NULL ? 0 : -EINVAL;

	if (rc == 0) {
		rss_to_read(cp, to);
		rc = cannot_spread(cp, to, e);
	}
	if (rc == 0)
		rc = rss_flows(c, c->port[port], s, to, 1, f, e);
	if (rc == 0 && f->doubt != NULL)
		rc = err_set(e, ENOTSUP, "its queues cannot be predicted: %s", f->doubt);
	if (rc == 0)
		rc = choose_field(f, &to->setup, out->field, e);
	if (rc < 0)
		return rc;
	bool ports = rss_part(to->setup.hf, &f->first) == RSS_PART_L4;
	out->to = cp->p.id;
	out->queues = cp->p.nrxq;
	if (flows == 0)
		flows = (uint64_t)FLOWS_PER_QUEUE * out->queues;
	if (flows % out->queues != 0 || flows > VARY_LIST_MAX)
		return err_set(
			e, EINVAL,
			"%llu flows: it takes a multiple of the %u queues of port %u, at most %u",
			(unsigned long long)flows, out->queues, out->to,
			VARY_LIST_MAX / out->queues * out->queues);
	out->flows = (unsigned)flows;
	if (varies_beside(s, ports))
		return err_set(
			e, EINVAL,
			"other addresses or ports of it vary, too, and with them its queues (`show streams`); give them one value each first");
	return pick_values(&to->setup, &f->first, ports, out->queues, out->flows / out->queues,
			   &out->values, e);
}

int ctl_rss_choose(struct ctl *c, unsigned port, unsigned stream, uint64_t flows,
		   struct ctl_rss_choice *out, struct err *e)
{
	struct rss_to *to = xcalloc(1, sizeof(*to));
	struct rss_flows *f = xcalloc(1, sizeof(*f));
	struct err why = {.text = ""};

	*out = (struct ctl_rss_choice){.field = ""};
	int rc = choose_for(c, port, stream, flows, to, f, out, &why);
	free(to);
	free(f);
	if (rc == 0)
		return 0;
	sbuf_free(&out->values);
	return err_set(e, -rc, "stream %u/%u cannot be spread: %.800s", port, stream, why.text);
}

bool ctl_rss_even(struct ctl *c, unsigned port, unsigned stream, struct err *e)
{
	struct rss_to *to = xcalloc(1, sizeof(*to));
	struct rss_flows *f = xcalloc(1, sizeof(*f));
	struct ctl_port *cp;
	struct stream *s = balanced_stream(c, port, stream, &cp, e);
	bool even = s != NULL;

	if (even) {
		rss_to_read(cp, to);
		even = rss_flows(c, c->port[port], s, to, RSS_LOOK_MAX, f, e) == 0;
	}
	for (unsigned q = 0; even && q < cp->p.nrxq; q++)
		even = f->to[q] == f->to[0] && f->all;
	if (s != NULL && !even && f->looked > 0)
		err_set(e, EINVAL,
			"stream %u/%u: with these values its frames would still not come to all queues evenly, since something else changes them",
			port, stream);
	free(to);
	free(f);
	return even;
}
