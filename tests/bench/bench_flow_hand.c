/* SPDX-License-Identifier: BSD-3-Clause */
/* What a frame costs that another worker receives than the one that has its connection. There are
 * two queues, and each frame comes to queue 0 and is queue 1's, whose worker opens its own tuples
 * alone. One thread is both workers in turn: it hands a burst over as the one, and takes it from
 * the ring as the other, gives the buffers back as that, and has them home again as the first. On
 * two CPUs the lines of the rings go from cache to cache besides. */
#include <stdlib.h>

#include "bench_flow.h"
#include "flows_own.h"
#include "mbox.h"

#define SLOTS 4096

struct pair_hand {
	struct flows_hand hand[2];
	struct flows_hand_counts counts[2];
	struct rte_ring *ring[2][2], *home[2][2]; /* [to][from], [of][by] */
	struct rte_ring *to[2][2], *back[2][2];
	struct flows_state state[2];
	struct flows_shape shape;
	struct flows_job job; /* of queue 0 */
};

bool pair_hand_mine(const void *arg, const struct flow_tuple *t)
{
	(void)arg;
	return flows_owner(t, 2) == 1;
}

struct pair_hand *pair_hand_new(unsigned l3)
{
	struct pair_hand *h = zeroed(sizeof(*h));

	h->shape.l3 = (uint16_t)l3;
	for (unsigned q = 0; q < 2; q++) {
		h->to[!q][q] = h->ring[q][!q] = mbox_pass_new(SLOTS, SOCKET_ID_ANY);
		h->back[!q][q] = h->home[q][!q] = mbox_pass_new(SLOTS, SOCKET_ID_ANY);
		if (h->ring[q][!q] == NULL || h->home[q][!q] == NULL)
			die("flow: no ring");
	}
	for (unsigned q = 0; q < 2; q++) {
		h->hand[q] = (struct flows_hand){.n = 2,
						 .me = (uint16_t)q,
						 .to = h->to[q],
						 .from = h->ring[q],
						 .back = h->back[q],
						 .home = h->home[q],
						 .counts = &h->counts[q],
						 .all = h->counts,
						 .state = &h->state[q]};
		h->state[q].mem = zeroed(flows_mem_size());
	}
	h->job = (struct flows_job){.shape = &h->shape, .nshapes = 1, .hand = &h->hand[0]};
	return h;
}

unsigned pair_hand_over(struct pair_hand *h, struct rte_mbuf **m, unsigned n, unsigned most)
{
	struct flows_own *o = flows_own(&h->state[0]);

	flows_hand_io.rx(&h->hand[0], NULL, 0); /* what has come home */
	for (unsigned i = 0; i < n; i++)
		o->shape[i] = FLOWS_HAND;
	if (n > 0 && flows_hand_over(o, &h->job, m, n) != 0)
		die("flow: a frame that is not handed over");
	return flows_hand_io.rx(&h->hand[1], m, (uint16_t)most);
}

void pair_hand_free(struct pair_hand *h, struct rte_mbuf **m, unsigned n)
{
	flows_hand_free(&h->hand[1], flows_own(&h->state[1]), m, n);
}

uint64_t pair_hand_end(struct pair_hand *h)
{
	uint64_t taken = cell_get(&h->counts[1].taken);

	if (cell_get(&h->counts[0].handed) != taken || cell_get(&h->counts[0].full) != 0)
		die("flow: frames were lost that were handed over");
	for (unsigned q = 0; q < 2; q++) {
		flows_hand_drain(h->home[q][!q]);
		mbox_pass_free(h->ring[q][!q]);
		mbox_pass_free(h->home[q][!q]);
		free(h->state[q].mem);
	}
	free(h);
	return taken;
}
