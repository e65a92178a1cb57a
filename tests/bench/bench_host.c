/* SPDX-License-Identifier: BSD-3-Clause */
/* A port that is a host while it sends: a device gives one ping in each turn of the worker. The row
 * whose base it is receives the same frames and lets them be, so that both differ in the answers
 * alone. An answer takes a place in the queue as a frame of the streams does, and both count. */
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "host_run.h"

#define LEN 60
#define SPEAK_NS 3000000ull

static const uint8_t own_mac[6] = {2, 0, 0, 0, 0, 1};
static const uint8_t own_ip[NEIGH_IP] = {[10] = 255, 255, 10, 0, 0, 1};

struct asker {
	struct rte_mempool *pool;
	uint8_t frame[LEN];
	uint64_t asked;
};

static uint16_t ask_one(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct asker *a = queue;

	(void)n;
	m[0] = rte_pktmbuf_alloc(a->pool);
	if (m[0] == NULL)
		die("questions: pool empty");
	m[0]->data_len = LEN;
	m[0]->pkt_len = LEN;
	memcpy(rte_pktmbuf_mtod(m[0], uint8_t *), a->frame, LEN);
	a->asked++;
	return 1;
}

static struct asker *asker_new(uint16_t dev)
{
	static const uint8_t echo[LEN] = {2,    0, 0,  0,        0, 1, 2, 0, 0,  0, 0, 2, 8,  0,
					  0x45, 0, 0,  LEN - 14, 0, 0, 0, 0, 64, 1, 0, 0, 10, 0,
					  0,    2, 10, 0,        0, 1, 8, 0, 0,  0, 1, 2, 0,  7};
	struct asker *a = zeroed(sizeof(*a));
	struct asker **slot = zeroed(sizeof(*slot));
	uint16_t sum;

	a->pool = new_pool();
	memcpy(a->frame, echo, LEN);
	sum = neigh_sum(a->frame + 14, 20, 0);
	memcpy(a->frame + 24, &sum, 2);
	sum = neigh_sum(a->frame + 34, LEN - 34, 0);
	memcpy(a->frame + 36, &sum, 2);
	*slot = a;
	rte_eth_fp_ops[dev].rx_pkt_burst = ask_one;
	rte_eth_fp_ops[dev].rxq.data = (void **)slot;
	rte_eth_fp_ops[dev].rxq.clbk = zeroed(sizeof(void *));
	return a;
}

static struct host_job *host_job_new(struct dp_txq *q)
{
	struct host_job *j = zeroed(sizeof(*j));
	struct host_job_link *link = zeroed(sizeof(*link));
	struct neigh_self *self = &link->self;

	memcpy(self->mac, own_mac, 6);
	self->answer = NEIGH_ANSWER_ARP | NEIGH_ANSWER_ND | NEIGH_ANSWER_PING;
	self->nown = 1;
	memcpy(self->own[0].ip, own_ip, NEIGH_IP);
	self->own[0].bits = 96 + 24;
	self->own[0].usable = true;
	j->nlinks = 1;
	j->link = link;
	j->q = q;
	j->speaks = true;
	j->period = clock_cycles(SPEAK_NS);
	j->hold = clock_cycles(HOST_HOLD_NS);
	return j;
}

void add_questions(struct variant *v, uint16_t dev, struct dp_txq *answers)
{
	struct dp_plan *p = new_plan(3, 1);
	struct asker *a = asker_new(dev);
	struct host_state *s = zeroed(sizeof(*s));

	p->task[0] = v->w->plan->task[0];
	p->ntasks = 2;
	add_sink(v, p, 1, dev, v->burst);
	if (answers != NULL) {
		struct host_job *j = host_job_new(answers);
		p->task[p->ntasks++] =
			(struct dp_task){.kind = &dp_kind_host, .state = &s->base, .job = j};
		p->rx[0].sort[p->rx[0].nsorts++] =
			(struct dp_sort){.fn = host_claims, .arg = j, .task = 2};
		v->beside = answers;
	}
	mbox_post(&v->w->mbox, p);
	for (int i = 0; i < 100; i++)
		dp_turn(v->w);
	/* A bench of questions that nobody answers would show nothing. */
	if (a->asked == 0 || s->cnt.fate[NEIGH_DID_PING] != (answers != NULL ? a->asked : 0) ||
	    s->cnt.dropped != 0 || (answers != NULL && answers->cnt.packets + s->nheld != a->asked))
		die("questions are not answered");
}
