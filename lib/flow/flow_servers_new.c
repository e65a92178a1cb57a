/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of flows with many servers: turns by weight, and the index of servers. */
#include <stdlib.h>
#include "flow_weights.h"

static uint64_t weights_values(const struct flow_values *v)
{
	return v->count == 0 ? 1ull << 32 : v->count;
}

static uint32_t weights_most(const struct flow_values *v)
{
	uint32_t *n = xcalloc(v->count, sizeof(*n)), most = 0;

	for (uint32_t i = 0; i < v->turns; i++)
		if (++n[v->turn[i]] > most)
			most = n[v->turn[i]];
	free(n);
	return most;
}

uint64_t flow_weights_count(const struct flow_tuples_conf *conf, uint64_t *need, uint64_t *have)
{
	*need = (uint64_t)weights_most(conf->remote) * weights_most(conf->remote_port);
	*have = weights_values(conf->local) * weights_values(conf->local_port);
	return *have / *need * conf->remote->turns * conf->remote_port->turns;
}

static void weights_turns(struct flow_turns *t, const struct flow_values *v)
{
	*t = (struct flow_turns){.n = v->turns, .values = v->count};
	t->at = xcalloc(v->turns, sizeof(*t->at));
	t->rank = xcalloc(v->turns, sizeof(*t->rank));
	t->weight = xcalloc(v->count, sizeof(*t->weight));
	for (uint32_t i = 0; i < v->turns; i++) {
		t->at[i] = v->turn[i];
		t->rank[i] = t->weight[v->turn[i]]++;
	}
}

struct flow_weights *flow_weights_new(const struct flow_tuples_conf *conf)
{
	struct flow_weights *w = xcalloc_lines(sizeof(*w));
	uint64_t need;

	weights_turns(&w->turn[0], conf->remote);
	weights_turns(&w->turn[1], conf->remote_port);
	w->round = (uint64_t)conf->remote->turns * conf->remote_port->turns;
	w->rounds = flow_weights_count(conf, &need, &w->sources) / w->round;
	w->first = conf->start % w->sources;
	w->queue = conf->queue;
	w->queues = conf->queues > 0 ? conf->queues : 1;
	w->next = xcalloc_lines((size_t)conf->remote->count * conf->remote_port->count *
				sizeof(*w->next));
	return w;
}

void flow_weights_free(struct flow_weights *w)
{
	for (unsigned i = 0; w != NULL && i < 2; i++) {
		free(w->turn[i].at);
		free(w->turn[i].rank);
		free(w->turn[i].weight);
	}
	free(w != NULL ? w->next : NULL);
	free(w);
}

void flow_weights_at(const struct flow_tuples *t, uint64_t i, uint32_t value[4])
{
	const struct flow_weights *w = t->weights;
	const struct flow_turns *a = &w->turn[0], *p = &w->turn[1];
	uint64_t place = i % w->round, at = place % a->n, pt = place / a->n;
	uint32_t weight = a->weight[a->at[at]];
	uint64_t source = i / w->round * weight * p->weight[p->at[pt]] +
			  (uint64_t)p->rank[pt] * weight + a->rank[at];

	source = (source + w->first) % w->sources;
	value[FLOW_REMOTE - 1] = flow_field_value(&t->f[FLOW_REMOTE - 1], a->at[at]);
	value[FLOW_REMOTE_PORT - 1] = flow_field_value(&t->f[FLOW_REMOTE_PORT - 1], p->at[pt]);
	for (unsigned k = 2; k < 4; k++) {
		const struct flow_field *v = &t->f[t->order[k]];
		uint64_t n = v->count == 0 ? 1ull << 32 : v->count;

		value[t->order[k]] = flow_field_value(v, source % n);
		source /= n;
	}
}

/* ---- servers ---- */

static uint32_t servers_value(const struct flow_values *v, uint32_t i)
{
	return v->list != NULL ? v->list[i] : v->base + i * (v->step != 0 ? v->step : 1);
}

struct flow_servers *flow_servers_new(const struct flow_values *address,
				      const struct flow_values *port, bool remote)
{
	uint64_t all = weights_values(address) * weights_values(port);
	uint32_t n = (uint32_t)all, slots = 4;
	struct flow_servers *s;

	if (all > FLOW_SERVERS_MAX)
		return NULL;
	while (slots < 2 * n)
		slots *= 2;
	size_t head = (sizeof(*s) + slots * sizeof(s->slot[0]) + 7) / 8 * 8;
	s = xcalloc(1, head + n * sizeof(*s->key));
	*s = (struct flow_servers){.n = n, .mask = slots - 1, .remote = remote};
	s->key = (uint64_t *)(void *)((uint8_t *)s + head);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t a = servers_value(address, i / port->count), at;
		uint16_t p = (uint16_t)servers_value(port, i % port->count);

		s->key[i] = (uint64_t)__builtin_bswap32(a) << 16 | __builtin_bswap16(p);
		at = flow_server_hash(s->key[i]) & s->mask;
		while (s->slot[at] != 0)
			at = (at + 1) & s->mask;
		s->slot[at] = (uint16_t)(i + 1);
	}
	return s;
}

uint32_t flow_servers_count(const struct flow_servers *s)
{
	return s->n;
}

uint32_t flow_servers_find(const struct flow_servers *s, uint32_t address, uint16_t port)
{
	return flow_server_place(s, (uint64_t)__builtin_bswap32(address) << 16 |
					    __builtin_bswap16(port));
}

void flow_servers_at(const struct flow_servers *s, uint32_t i, uint32_t *address, uint16_t *port)
{
	*address = __builtin_bswap32((uint32_t)(s->key[i] >> 16));
	*port = __builtin_bswap16((uint16_t)s->key[i]);
}
