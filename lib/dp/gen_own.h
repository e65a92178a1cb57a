/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside kind "gen": what a queue's worker keeps of its groups while a run goes on. kind/gen.c sends with it, gen_adopt.c leads it from plan to
 * plan and from phase to phase. Worker only. */
#pragma once
#include "txq.h"

#define GEN_FCS RTE_ETHER_CRC_LEN

/* A group: the schedule of the port, or a stream of its own rate. Own frame i, counted from the start of the run, is frame k = queue + i x nqueues. */
struct gen_grp {
	/* for each burst */
	uint64_t i;           /* own frames that were built */
	uint64_t end_i;       /* where the phase or the run ends */
	struct pace pace;     /* over frames, or bytes where the rate is one of bits */
	uint64_t unit;        /* of the next frame */
	uint64_t step;        /* units from one own frame to the next; 0: sizes differ */
	const struct frun *prog;
	void *state;
	uint32_t tag;         /* of class 0 */
	uint16_t len;         /* without FCS of every own frame; 0: they differ */
	uint16_t port_len;    /* the same of all queues' frames */
	bool plain;           /* one class, and its mark is the queue's */
	bool fixed, bytes, l2;
	bool mends;           /* the driver writes into frames although their mark stays */
	bool simple;          /* the port's only group, plain, of one length, without prepare */
	int32_t stream;
	/* at the end of a phase, and for a new plan */
	uint16_t nclasses;
	const struct gen_group *group;
	const struct gen_phase *phase;
	uint64_t limit_i;
	uint64_t epoch, epoch_i; /* number of the schedule and the own frame it began with */
	uint64_t prog_i;      /* own frame 0 of prog */
	uint64_t off;         /* bytes: units before the phase's first frame, mod 2^64 */
};

/* A group that is not over, in a binary heap: the one that is due first is on top. */
struct gen_slot { uint64_t due; uint32_t grp; };

struct gen_own {
	struct gen_grp first; /* group 0 lies in the state itself: one load less for the port that sends one schedule */
	uint16_t ngroups, nlive;
	bool one_mark;        /* all frames of the plan carry the same one */
	uint64_t progress_tsc;
	struct gen_slot *slot; /* nlive of them, from 1 on; both in the plan's memory */
	struct gen_grp *more;  /* groups 1, 2, ... */
};

static inline struct gen_own *gen_own(struct gen_state *g) { return (struct gen_own *)(void *)g->own; }

static inline struct gen_grp *gen_grp(struct gen_own *o, unsigned n) { return n == 0 ? &o->first : &o->more[n - 1]; }

/* The group whose frames are in the tail, or that was found due: bursts are of one group, and it stays on top until they are gone. */
static inline struct gen_grp *gen_top(struct gen_own *o) { return o->ngroups == 1 ? &o->first : gen_grp(o, o->slot[1].grp); }

/* Own frames of a queue among frames 0 .. k - 1. */
static inline uint64_t gen_own_before(const struct gen_job *j, uint64_t k)
{
	return k > j->queue ? (k - j->queue - 1) / j->nqueues + 1 : 0;
}

/* Number of the group's next frame within its phase, all queues. */
static inline uint64_t gen_phase_k(const struct gen_job *j, const struct gen_grp *gr, uint64_t i)
{
	return j->queue + (i - gr->epoch_i) * j->nqueues - gr->phase->k0;
}

/* Bytes of the first k frames of the phase, on the wire or with FCS. */
static inline uint64_t gen_phase_bytes(const struct gen_grp *gr, uint64_t k)
{
	if (gr->port_len != 0)
		return k * (gr->port_len + GEN_FCS + (gr->l2 ? 0u : PACE_WIRE_OVERHEAD));
	return gr->l2 ? frun_l2(gr->prog, k) : frun_wire(gr->prog, k);
}

/* The unit at which own frame i of this phase begins. */
static inline uint64_t gen_unit(const struct gen_job *j, const struct gen_grp *gr, uint64_t i)
{
	return gr->bytes ? gr->off + gen_phase_bytes(gr, gen_phase_k(j, gr, i)) : j->queue + i * j->nqueues;
}

/* When the group wants to be served next. One without pace is served when those that are due have been, in turn with others of its kind. */
static inline uint64_t gen_due(const struct gen_grp *gr, uint64_t now)
{
	return pace_is_max(&gr->pace) ? now : pace_due(&gr->pace, gr->unit);
}

/* Bytes of a frame that a driver may write into while it prepares it, and that nobody writes anew. */
static inline unsigned gen_mended(const struct frun_class *c)
{
	return c->offload && c->from == 0 ? c->l2_len + c->l3_len + c->l4_len : 0;
}

static inline void gen_sift(struct gen_own *o, unsigned at)
{
	struct gen_slot s = o->slot[at];

	for (unsigned child; (child = 2 * at) <= o->nlive; at = child) {
		if (child < o->nlive && (int64_t)(o->slot[child + 1].due - o->slot[child].due) < 0)
			child++;
		if ((int64_t)(o->slot[child].due - s.due) >= 0)
			break;
		o->slot[at] = o->slot[child];
	}
	o->slot[at] = s;
}

/* gen_adopt.c */
void gen_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now);
void gen_drop(const struct dp_task *t);
void gen_set_state(struct gen_state *g, enum gen_state_id id);
/* The run is over: counts are settled, control is told. */
void gen_finish(struct dp_worker *w, const struct gen_job *j, struct gen_state *g);
/* The top group has reached the end of a phase, without a tail: on to the next one; false: it has no more frames and is gone. */
bool gen_next_phase(const struct gen_job *j, struct gen_state *g);
void gen_leave(struct gen_own *o);
/* The driver refused the top group's next frame, of so many bytes: it counts as through, and not as its stream's. */
void gen_skip(const struct gen_job *j, struct gen_state *g, struct gen_grp *gr, uint64_t bytes);
/* Own frames that are due before the end of the run and were not built. */
uint64_t gen_left(const struct gen_job *j, struct gen_own *o);
/* A buffer gets the image of class c of the group's program, and its mark. */
void gen_refill(const struct gen_grp *gr, unsigned c, struct rte_mbuf *m);
