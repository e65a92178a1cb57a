/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the workers' half share: the memory that only the worker uses. */
#pragma once
#include "flows_run.h"
#include "txq.h"

/* How many opens, and how many transactions, a flow begins in a turn at most, so that what arrives
 * is not left waiting. */
#define FLOWS_BATCH 64
/* Rooms that are taken from the pool at a time: few, so that those which a driver has just given
 * back, and which are in the nearest cache, are soon used again. */
#define FLOWS_ROOMS 16
#define FLOWS_QUEUES 256 /* of a port, at most */

/* A pace as it is followed. */
struct flows_due {
	struct flows_pace pace; /* as control gave it, but its shape is the copy below, or NULL */
	struct pace_shape shape;
	uint64_t t0;   /* the flow's number 0 is due then */
	uint64_t i;    /* own number of the next one: the flow's number first + i x step */
	uint64_t next; /* when that is due */
	/* A pace of a newer epoch begins then; UINT64_MAX: there is none. */
	uint64_t from;
	bool ahead;        /* it begins at its time, and does not go on from the pace before */
	bool scarce;       /* max: there was no tuple or no memory for the last one */
	uint64_t late_max; /* of the run */
	/* POISSON: the sums of the gaps before own number i, and before own number `seen`. All
	 * below `seen` have been due. */
	pace_pos x, seen_x;
	uint64_t seen, seed;
};

/* The worker's half of struct flows_state_of. */
struct flows_on {
	/* What the machine opens by, or listens to; NULL: nothing. */
	struct flows_held *held;
	uint8_t stage; /* enum flows_stage; IDLE: in no run */
	/* Something other than time may let it go on: connections that end or become ready. */
	bool blocked;
	uint64_t wake;         /* when something is due next, DP_NOW: at once */
	uint64_t given_up;     /* opens of the run that were due, and will not come any more */
	uint64_t given_up_tps; /* and transactions */
	/* Of a pace without limit: how many had been opened when two spans of time began, the newer
	 * one at recent_ns. */
	uint64_t recent[2], recent_ns;
	struct flows_due cps, tps;
};
_Static_assert(sizeof(struct flows_on) <= sizeof(((struct flows_state_of *)0)->worker),
	       "the memory of a flow");

/* A version that the machine has not let go of. */
struct flows_held {
	const struct flows_version *version; /* NULL: none */
	struct flows_state_of *of;
	/* What the machine was given: a copy, since it may have the same one twice. */
	struct flow_spec spec;
	int number;
	bool retired;
	uint8_t told; /* what of its sweeps has been asked for: enum flows_told */
};
enum flows_told { FLOWS_TOLD_NOTHING, FLOWS_TOLD_DRAIN, FLOWS_TOLD_ABORT };

/* struct flows_state.mem */
struct flows_own {
	struct flow_sink sink;
	struct flows_state *state;
	struct dp_txq *q;
	const struct flows_job *job; /* the one that it has adopted */
	/* The time of the turn. It never goes back. */
	uint64_t now, now_ns;
	unsigned moved;     /* frames that left in this turn */
	bool refused;       /* the device has refused frames in this turn */
	bool nobuf;         /* the pool had no buffer in this turn */
	bool waits;         /* a version waits for a number */
	bool again;         /* there is more to do in the next turn */
	unsigned sweeps;    /* that the machine has been asked for, 0: it has ended all */
	unsigned nretired;  /* of `held` */
	uint32_t sample_at; /* how far the walk for samples is */
	bool sample_rest;   /* it looks for connections in TIME-WAIT, and before for all others */
	uint64_t sampled;   /* the request that it is for */
	uint64_t told_got[FLOWS_QUEUES]; /* of each queue's flows_errors.put */
	unsigned turn;                   /* a number of the turn, by which flows take turns */
	unsigned nheld;                  /* places of `held` that have been used */
	struct flows_held held[FLOW_VERSIONS];
	struct flow_room room[FLOW_ROOMS][FLOWS_ROOMS];
	struct flow_out out[DP_BURST_MAX];
	/* Buffers without bytes of their own, for the filling of super-frames: each frame in the
	 * sink may want one, and each room of the kind FLOW_PLAIN. */
	unsigned nrest;
	struct rte_mbuf *rest[DP_BURST_MAX + FLOWS_ROOMS];
	struct rte_mbuf_ext_shared_info rest_use;
	/* Of the frames that the sort has claimed, or that come from the rings; FLOWS_HAND beside
	 * it: they may be another queue's. */
	uint8_t shape[DP_BURST_MAX];
	uint16_t ident[DP_BURST_MAX]; /* of those that the sort has claimed: their networks */
	uint8_t whose[DP_BURST_MAX];  /* of frames from the rings: the queue that received them */
};
_Static_assert(FLOWS_QUEUES <= 256, "queues in a byte");

static inline struct flows_own *flows_own(const struct flows_state *s)
{
	return s->mem;
}
static inline struct flows_on *flows_on_of(struct flows_state_of *s)
{
	return (struct flows_on *)(void *)s->worker;
}
static inline struct flows_on *flows_on(const struct flows_flow *f)
{
	return flows_on_of(f->state);
}
/* Cycles as ns of the machine, and the other way round; spans. */
static inline uint64_t flows_ns(const struct flows_job *j, uint64_t cycles)
{
	return (uint64_t)((unsigned __int128)cycles * j->ns_mult >> 32);
}
static inline uint64_t flows_cycles(const struct flows_job *j, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * j->cycles_mult >> 32);
}
/* The time of a turn begins. */
static inline void flows_now(struct flows_own *o, const struct flows_job *j, uint64_t now)
{
	if (now > o->now) {
		o->now = now;
		o->now_ns = flows_ns(j, now - j->base_tsc);
	}
}
static inline uint64_t flows_alive(const struct flows_flow *f)
{
	return f->state->counts.opening + f->state->counts.open;
}

/* Whether the bytes before the innermost IP header are those of a shape. */
static inline bool flows_is_like(const struct flows_shape *s, const uint8_t *frame)
{
	uint64_t differ = 0, word;

	for (unsigned i = 0; i < s->words; i++) {
		memcpy(&word, frame + 8 * i, 8);
		differ |= (word ^ s->value[i]) & s->mask[i];
	}
	return differ == 0;
}

/* The number of the network of a frame that is like a shape; FLOWS_IDENTS: it is none of ours. */
static inline unsigned flows_ident_of(const struct flows_job *j, unsigned shape,
				      const uint8_t *frame)
{
	const struct flows_shape *s = &j->shape[shape];
	uint64_t value[FLOWS_SHAPE_WORDS];
	unsigned ident;

	for (unsigned i = 0; i < s->nids; i++) {
		memcpy(&value[i], frame + 8 * s->id_at[i], 8);
		value[i] &= s->id[i];
	}
	ident = flows_ident(j->idents, shape, value, s->nids);
	return ident < j->nidents ? ident : FLOWS_IDENTS;
}

/* Whether a flow is a client's. */
static inline bool flows_opens(const struct flows_job *j, const struct flows_flow *f)
{
	return f->version != NULL && f->version->spec[j->queue].role == FLOW_CLIENT;
}

/* ---- flows_sums.c ---- */

/* What the checksums of outer headers come to: GOOD, BAD, or PARTIAL. The innermost packet of TCP
 * or UDP has been found, and its IP header is there. kernel_peer: one of UDP that is the sum of
 * its pseudo header alone is PARTIAL. */
enum flow_verdict flows_outer_judge(const struct flows_shape *s, const struct flow_in *in,
				    bool kernel_peer);

/* ---- flows_datagrams.c ---- */

/* Gives the machine the datagrams of a super-frame of UDP. in: what it would be told of the frame
 * as a whole, all of whose pieces are there. */
void flows_datagrams(struct flow_machine *machine, const struct flow_in *in,
		     const struct rte_mbuf *m, uint64_t now_ns);

/* ---- flows_sink.c ---- */

/* The task begins, or ends: then the sink is empty, and what had not left has been given up. */
void flows_sink_begin(struct flows_own *o, const struct flows_job *j);
void flows_sink_end(struct flows_own *o);
/* Offers what waits to the device, once in a turn. Returns how many frames it took. */
unsigned flows_sink_send(struct flows_own *o);
/* flows_dead.c, where there are dead servers: drops claimed frames to them, and returns how many
 * are left, in their order; drops frames of the sink from them. */
unsigned flows_dead_rx(struct flows_own *o, const struct flows_job *j, struct rte_mbuf **m,
		       unsigned n);
void flows_dead_tx(struct flows_own *o);
/* Whether what is to be sent is more than the device takes, or than there are buffers for. */
static inline bool flows_sink_is_behind(const struct flows_own *o)
{
	return o->refused || o->nobuf || txq_has_tail(o->q) || flow_waiting(o->job->machine);
}
/* Whether frames wait for the device. */
static inline bool flows_sink_waits(const struct flows_own *o)
{
	return o->sink.nout > 0 || txq_has_tail(o->q);
}

/* ---- flows_sort.c ---- */

/* Where TCP or UDP begins in an IPv6 packet of which len bytes are there; 0: not in these bytes, or
 * it is not the first fragment. */
unsigned flows_l4_of6(const uint8_t *ip, unsigned len);
void flows_rx(struct dp_worker *w, const struct dp_task *t, struct dp_rxq *rx, struct rte_mbuf **m,
	      unsigned n, const struct dp_burst *b, uint64_t now);

/* ---- flows_hand.c ---- */

/* The 4-tuple of a claimed frame, from our end. false: its ports are not there. */
bool flows_tuple_of(const struct flows_shape *s, const struct rte_mbuf *m, struct flow_tuple *t);
/* Hands those of n claimed frames over that are other queues'. Those that stay are the first ones
 * of m and of o->shape then; returns how many. */
unsigned flows_hand_over(struct flows_own *o, const struct flows_job *j, struct rte_mbuf **m,
			 unsigned n);
/* Gives the buffers of n frames that came from the rings at once back to who has received them. */
void flows_hand_free(const struct flows_hand *h, const struct flows_own *o, struct rte_mbuf **m,
		     unsigned n);
/* A plan begins: what is given from now on is by its job. */
void flows_hand_begin(const struct flows_job *j);
/* The task ends: gives back what others have handed over. */
void flows_hand_end(const struct flows_hand *h);

/* ---- flows_heard.c ---- */

/* ICMP errors that came to other queues of the port. */
void flows_hear_others(struct flows_state *s, const struct flows_job *j);
/* So long a worker may be away from them. */
#define FLOWS_HEAR_NS 10000000

/* ---- flows_arm.c: of jobs with an arm ---- */

/* What control asks, and what it is told. */
void flows_arm_turn(struct flows_own *o, const struct flows_job *j);
uint64_t flows_arm_next(const struct flows_own *o, const struct flows_job *j);
/* Whether a flow does not open yet, or not by itself. */
bool flows_arm_holds(const struct flows_job *j, const struct flows_flow *f);
/* Whether nobody is to listen for a server's flow now. */
bool flows_arm_withholds(const struct flows_job *j, const struct flows_flow *f);

/* ---- flows_lines.c: of an arm with lines ---- */

/* Opens the next one if all before it are ready; begins those that are; looks at how they are. */
void flows_lines_open(struct flows_own *o, const struct flows_job *j);
void flows_lines_go(struct flows_own *o, const struct flows_job *j);
void flows_lines_look(struct flows_own *o, const struct flows_job *j);

/* ---- flows_served.c: of an arm whose data comes to a server ---- */

/* Lets connections come, or ends them, as control asks; looks at how they are. */
void flows_served_turn(struct flows_own *o, const struct flows_job *j);
/* Begins those that wait for it. */
void flows_served_go(struct flows_own *o, const struct flows_job *j);

/* ---- flows_open.c ---- */

/* A run begins at start_tsc. */
void flows_pace_begin(struct flows_due *d, const struct flows_pace *p);
/* A new plan has come: a pace of another epoch begins soon. Returns how many that had been due for
 * longer than late_cycles are given up for it. */
uint64_t flows_pace_follow(struct flows_due *d, const struct flows_pace *p, uint64_t late_cycles,
			   uint64_t now);
/* Opens and transactions that are due. They set f's wake and blocked. */
void flows_open_due(struct flows_own *o, const struct flows_job *j, const struct flows_flow *f);
/* Whether some that are due before the end of the run have not come. */
bool flows_open_left(const struct flows_job *j, const struct flows_flow *f);
/* No more of them will come: counts those that were due before `until`. */
void flows_open_end(const struct flows_job *j, const struct flows_flow *f, uint64_t until);

/* ---- flows_life.c: versions and runs ---- */

/* Versions that are new, and those that are not wanted any more. */
void flows_versions(struct flows_own *o, const struct flows_job *j);
/* Those that the machine has let go of. */
void flows_versions_gone(struct flows_own *o, const struct flows_job *j);
/* A new plan: the flow may be in another run, with other paces. */
void flows_run_follow(struct flows_own *o, const struct flows_flow *f);
/* Whether the time of a running flow's opens and transactions is over. */
bool flows_run_is_over(const struct flows_own *o, const struct flows_job *j,
		       const struct flows_flow *f);
/* Takes the run to its next stage if it is time, and sees to what is open. Sets wake. */
void flows_run_stage(struct dp_worker *w, struct flows_own *o, const struct flows_job *j,
		     const struct flows_flow *f);
