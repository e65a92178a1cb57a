/* SPDX-License-Identifier: BSD-3-Clause */
/* Handing over: where nobody can tell to which queue the answers of a connection come, each worker
 * gives the frames that it receives and that are not its own to the worker whose they are, through
 * a ring for each pair of queues. Whoever takes them has the rings as one more queue to receive
 * from, and so looks at them as often, asleep or not. */
#include "flows_own.h"
#include "mbox.h"
#include "proto_run.h"

/* What is in a ring: a buffer's address, and in the bits that are 0 in it the number of the frame's
 * shape, which whoever received it has found out. */
#define HAND_SHAPE ((uintptr_t)(FLOWS_SHAPES - 1))
_Static_assert(FLOWS_SHAPES <= RTE_CACHE_LINE_SIZE, "the bits that are 0");

bool flows_tuple_of(const struct flows_shape *s, const struct rte_mbuf *m, struct flow_tuple *t)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *) + s->l3;
	unsigned len = m->data_len - s->l3, l4;

	*t = (struct flow_tuple){.is6 = s->is6};
	l4 = s->is6 ? flows_l4_of6(ip, len) : (ip[0] & 15u) * 4;
	if (l4 == 0 || len < l4 + 4)
		return false;
	if (s->is6) {
		memcpy(t->remote.v6, ip + 8, 16);
		memcpy(t->local.v6, ip + 24, 16);
	} else {
		t->remote.v4 = get_be16(ip + 12) << 16 | get_be16(ip + 14);
		t->local.v4 = get_be16(ip + 16) << 16 | get_be16(ip + 18);
	}
	t->remote_port = (uint16_t)get_be16(ip + l4);
	t->local_port = (uint16_t)get_be16(ip + l4 + 2);
	return true;
}

static unsigned hand_owner(const struct flows_job *j, unsigned shape, const struct rte_mbuf *m)
{
	struct flow_tuple t;

	if ((shape & FLOWS_HAND) == 0 || !flows_tuple_of(&j->shape[shape & HAND_SHAPE], m, &t))
		return j->queue;
	return flows_owner(&t, j->hand->n);
}

/* Puts those of n frames into the ring of a queue that are its, and takes them off the list, whose
 * order stays. Returns how many are left. */
static unsigned hand_put(struct flows_hand *h, unsigned queue, void **frame, uint16_t *owner,
			 unsigned n)
{
	struct rte_mbuf *lost[DP_BURST_MAX];
	void *some[DP_BURST_MAX];
	unsigned have = 0, left = 0, put;

	for (unsigned i = 0; i < n; i++) {
		if (owner[i] == queue) {
			some[have++] = frame[i];
			continue;
		}
		frame[left] = frame[i];
		owner[left++] = owner[i];
	}
	put = mbox_pass_put(h->to[queue], some, have);
	cell_add(&h->counts->handed, put);
	if (unlikely(put < have)) {
		for (unsigned i = put; i < have; i++)
			lost[i - put] = (void *)((uintptr_t)some[i] & ~HAND_SHAPE);
		cell_add(&h->counts->full, have - put);
		rte_pktmbuf_free_bulk(lost, have - put);
	}
	return left;
}

unsigned flows_hand_over(struct flows_own *o, const struct flows_job *j, struct rte_mbuf **m,
			 unsigned n)
{
	void *frame[DP_BURST_MAX];
	uint16_t owner[DP_BURST_MAX];
	unsigned stay = 0, go = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned shape = o->shape[i] & HAND_SHAPE, to = hand_owner(j, o->shape[i], m[i]);

		if (to == j->queue) {
			m[stay] = m[i];
			o->shape[stay++] = (uint8_t)shape;
			continue;
		}
		frame[go] = (void *)((uintptr_t)m[i] | shape);
		owner[go++] = (uint16_t)to;
	}
	while (go > 0)
		go = hand_put(j->hand, owner[0], frame, owner, go);
	return stay;
}

/* ---- whoever takes them ---- */

/* Buffers that come home go where those go whose frames stay here: so this worker receives into
 * them again while they are in its caches, and not after all others of the pool. */
static void hand_home(const struct flows_hand *h)
{
	struct rte_mbuf *m[DP_BURST_MAX];
	unsigned n;

	for (unsigned i = 0; i < h->n; i++) {
		if (i == h->me)
			continue;
		n = mbox_pass_take(h->home[i], (void **)m, DP_BURST_MAX);
		if (n > 0)
			rte_pktmbuf_free_bulk(m, n);
	}
}

/* Takes frames of another queue, and notes whose they are. Those that it has given by a newer job
 * may be of a flow that is not known here yet: they wait. */
static unsigned hand_take(struct flows_hand *h, unsigned from, void **frame, uint8_t *whose,
			  unsigned n)
{
	unsigned there = mbox_pass_count(h->from[from]);

	/* read behind the count: what has been counted was given before any newer job */
	if (there == 0 ||
	    __atomic_load_n(&h->all[from].heard, __ATOMIC_ACQUIRE) > cell_get(&h->counts->heard))
		return 0;
	n = mbox_pass_take(h->from[from], frame, RTE_MIN(n, there));
	memset(whose, (int)from, n);
	return n;
}

/* dp_io.rx: from the rings of all others. Another one is the first each time. */
static uint16_t hand_rx(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct flows_hand *h = queue;
	struct flows_own *o = flows_own(h->state);
	void *frame[DP_BURST_MAX];
	unsigned have = 0;

	hand_home(h);
	for (unsigned i = 0; i < h->n && have < n; i++) {
		unsigned from = h->next + i < h->n ? h->next + i : h->next + i - h->n;

		if (from != h->me)
			have += hand_take(h, from, frame + have, o->whose + have, n - have);
	}
	if (have == 0)
		return 0;
	h->next = (uint16_t)(h->next + 1 < h->n ? h->next + 1 : 0);
	for (unsigned i = 0; i < have; i++) {
		o->shape[i] = (uint8_t)((uintptr_t)frame[i] & HAND_SHAPE);
		m[i] = (void *)((uintptr_t)frame[i] & ~HAND_SHAPE);
	}
	cell_add(&h->counts->taken, have);
	return (uint16_t)have;
}

const struct dp_io flows_hand_io = {.rx = hand_rx};

/* Where nobody takes them back they go to their pool, and not into this worker's cache of it:
 * nobody would take them from there, and the queue that receives from that pool would have so many
 * fewer. */
static void hand_free(struct rte_mbuf **m, unsigned n)
{
	struct rte_mbuf *back[DP_BURST_MAX];
	unsigned have = 0;

	for (unsigned i = 0; i < n; i++)
		for (struct rte_mbuf *s = m[i], *next; s != NULL; s = next) {
			next = s->next;
			s = rte_pktmbuf_prefree_seg(s);
			if (unlikely(s == NULL))
				continue;
			if (have == DP_BURST_MAX || (have > 0 && back[0]->pool != s->pool)) {
				rte_mempool_generic_put(back[0]->pool, (void **)back, have, NULL);
				have = 0;
			}
			back[have++] = s;
		}
	if (have > 0)
		rte_mempool_generic_put(back[0]->pool, (void **)back, have, NULL);
}

void flows_hand_free(const struct flows_hand *h, const struct flows_own *o, struct rte_mbuf **m,
		     unsigned n)
{
	for (unsigned i = 0, some, put; i < n; i += some) {
		for (some = 1; i + some < n && o->whose[i + some] == o->whose[i];)
			some++;
		put = mbox_pass_put(h->back[o->whose[i]], (void **)m + i, some);
		if (unlikely(put < some))
			hand_free(m + i + put, some - put);
	}
}

unsigned flows_hand_drain(struct rte_ring *r)
{
	void *frame;
	struct rte_mbuf *m;
	unsigned n = 0;

	for (; mbox_pass_take(r, &frame, 1) == 1; n++) {
		m = (void *)((uintptr_t)frame & ~HAND_SHAPE);
		hand_free(&m, 1);
	}
	return n;
}

void flows_hand_begin(const struct flows_job *j)
{
	/* before any frame that it gives */
	__atomic_store_n(&j->hand->counts->heard, j->heard, __ATOMIC_RELEASE);
}

void flows_hand_end(const struct flows_hand *h)
{
	for (unsigned i = 0; i < h->n; i++)
		if (i != h->me) {
			cell_add(&h->counts->taken, flows_hand_drain(h->from[i]));
			flows_hand_drain(h->home[i]);
		}
}
