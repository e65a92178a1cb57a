/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of lib/flow: flows with many servers, which take turns by weight and are counted one by
 * one (flow_servers.c). */
#pragma once
#include "flow_int.h"

/* Turns of destinations with weights. */
struct flow_weights {
	struct flow_turns {
		uint32_t n, values;
		uint16_t *at;     /* [n]: a place among the values */
		uint32_t *rank;   /* [n]: how often it came before in the round */
		uint32_t *weight; /* [values] */
	} turn[2];                /* of addresses, of ports */
	uint64_t round, rounds;   /* turns; how often they come before a tuple comes again */
	uint64_t sources, first;
	uint32_t queue, queues;
	uint64_t opens; /* own turns so far */
	uint64_t *next; /* of each server: the source that is its next one */
};
/* What servers are counted by. Keys are addresses and ports as they are in frames. */
struct flow_servers {
	uint32_t n, mask;
	bool remote;
	uint64_t *key;   /* [n] */
	uint16_t slot[]; /* [mask + 1]: a place in key, and 1; 0: free */
};
static inline uint32_t flow_field_value(const struct flow_field *v, uint64_t ordinal)
{
	return FLOW_UNLIKELY(v->list != NULL) ? v->list[ordinal]
					      : v->base + (uint32_t)ordinal * v->step;
}
static inline uint32_t flow_server_hash(uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 40);
}

/* The place of a key; how many there are: it is none of them. */
static inline uint32_t flow_server_place(const struct flow_servers *s, uint64_t key)
{
	uint32_t at = flow_server_hash(key) & s->mask;

	for (; s->slot[at] != 0; at = (at + 1) & s->mask)
		if (s->key[s->slot[at] - 1] == key)
			return s->slot[at] - 1u;
	return s->n;
}

/* flow_servers.c: the next turn of a client whose servers have weights, and its server; the next
 * source of that server, into t->value. And what is counted by servers. */
uint32_t flow_weights_turn(struct flow_tuples *t);
void flow_weights_next(struct flow_tuples *t, uint32_t server);
void flow_server_opened(const struct flow_ver *f, const struct flow_conn *c);
void flow_server_established(const struct flow_ver *f, const struct flow_conn *c);
void flow_server_ended(const struct flow_ver *f, const struct flow_conn *c, enum wl_end why);
void flow_server_sent(const struct flow_ver *f, const struct flow_conn *c, uint32_t bytes);
void flow_server_received(const struct flow_ver *f, const struct flow_conn *c, uint32_t bytes);
void flow_server_transactions(const struct flow_ver *f, const struct flow_conn *c, uint64_t done,
			      uint64_t failed);
/* Payload came, if connections are counted by their servers. */
static inline void conn_server_received(const struct flow_ver *f, const struct flow_conn *c,
					uint32_t bytes)
{
	if (FLOW_UNLIKELY(f->by_server))
		flow_server_received(f, c, bytes);
}
/* A server's handshake is complete; flow_established() does it for clients. */
static inline void conn_server_established(const struct flow_ver *f, const struct flow_conn *c)
{
	if (FLOW_UNLIKELY(f->by_server) && f->spec->role == FLOW_SERVER)
		flow_server_established(f, c);
}
