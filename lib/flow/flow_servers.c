/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows with many servers: whose turn it is where they have weights, and what is counted of
 * each. */
#include "flow_servers.h"

/* ---- turns ---- */

/* A number of all servers. */
static uint32_t weights_server(const struct flow_weights *w, uint64_t place)
{
	const struct flow_turns *a = &w->turn[0], *p = &w->turn[1];

	return a->at[place % a->n] + (uint32_t)p->at[place / a->n] * a->values;
}

FLOW_ASIDE uint32_t flow_weights_turn(struct flow_tuples *t)
{
	struct flow_weights *w = t->weights;
	uint64_t k = w->queue + w->opens++ * w->queues, place = k % w->round;

	if (w->queues > 1)
		place = (place + k / w->round) % w->round;
	return weights_server(w, place);
}

FLOW_ASIDE void flow_weights_next(struct flow_tuples *t, uint32_t server)
{
	struct flow_weights *w = t->weights;
	const struct flow_turns *a = &w->turn[0], *p = &w->turn[1];
	uint32_t address = server % a->values, port = server / a->values;
	const struct flow_field *f[4] = {&t->f[0], &t->f[1], &t->f[2], &t->f[3]};
	uint64_t most = w->rounds * a->weight[address] * p->weight[port], source = w->next[server];

	w->next[server] = source + 1 < most ? source + 1 : 0;
	source = (source + w->first) % w->sources;
	t->value[FLOW_REMOTE - 1] = flow_field_value(f[FLOW_REMOTE - 1], address);
	t->value[FLOW_REMOTE_PORT - 1] = flow_field_value(f[FLOW_REMOTE_PORT - 1], port);
	for (unsigned i = 2; i < 4; i++) {
		const struct flow_field *v = f[t->order[i]];
		uint64_t n = v->count == 0 ? 1ull << 32 : v->count;

		t->value[t->order[i]] = flow_field_value(v, source % n);
		source /= n;
	}
}

/* ---- counters ---- */

FLOW_ASIDE static struct flow_server_counts *server_of(const struct flow_ver *f,
						       const struct flow_conn *c)
{
	const struct flow_servers *s = f->spec->servers;
	uint32_t ports = c->ports;
	uint64_t key = s->remote ? (uint64_t)c->remote << 16 | ports >> 16
				 : (uint64_t)c->local << 16 | (uint16_t)ports;

	return &f->spec->server_counts[flow_server_place(s, key)];
}

FLOW_ASIDE void flow_server_opened(const struct flow_ver *f, const struct flow_conn *c)
{
	cell_add(&server_of(f, c)->opened, 1);
}

FLOW_ASIDE void flow_server_established(const struct flow_ver *f, const struct flow_conn *c)
{
	cell_add(&server_of(f, c)->established, 1);
}

FLOW_ASIDE void flow_server_ended(const struct flow_ver *f, const struct flow_conn *c,
				  enum wl_end why)
{
	struct flow_server_counts *k = server_of(f, c);
	cell_t *const fate[] = {
		[WL_END_REFUSED] = &k->refused,
		[WL_END_CONNECT_TIMEOUT] = &k->connect_timeout,
		[WL_END_UNREACHABLE] = &k->unreachable,
		[WL_END_ABORTED_OPENING] = &k->aborted_opening,
		[WL_END_CLOSED] = &k->closed,
		[WL_END_RESET_BY_US] = &k->reset_by_us,
		[WL_END_RESET_BY_PEER] = &k->reset_by_peer,
		[WL_END_TIMED_OUT] = &k->timed_out,
		[WL_END_ABORTED] = &k->aborted,
	};

	cell_add(fate[why], 1);
}

FLOW_ASIDE void flow_server_sent(const struct flow_ver *f, const struct flow_conn *c,
				 uint32_t bytes)
{
	cell_add(&server_of(f, c)->tx_bytes, bytes);
}

FLOW_ASIDE void flow_server_received(const struct flow_ver *f, const struct flow_conn *c,
				     uint32_t bytes)
{
	cell_add(&server_of(f, c)->rx_bytes, bytes);
}

FLOW_ASIDE void flow_server_transactions(const struct flow_ver *f, const struct flow_conn *c,
					 uint64_t done, uint64_t failed)
{
	struct flow_server_counts *k = server_of(f, c);

	cell_add(&k->done, done);
	cell_add(&k->failed, failed);
}
