/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of the work flows: what control gives to a task, and what the task tells
 * control. A task has one queue of a port, its Rx and its Tx side, with one machine of lib/flow. */
#pragma once
#include "arrival.h"
#include "dp.h"
#include "flow_run.h"
#include "flows_arm_run.h"

/* ---- what a worker is told ---- */

/* How often a queue's machine has adopted a version, and has let go of it since its last connection
 * went. Its worker writes. */
struct flows_handed {
	WR_ALIGNED(CACHE_LINE) cell_t given, gone;
};

/* One version of a flow: what its connections are to be. Control makes it, and it is constant but
 * for the cells. Workers use it as long as a plan that they have not left has it, and as long as a
 * queue's `given` and `gone` differ. A queue may adopt it more than once: a server that has ended
 * and begins again. */
struct flows_version {
	uint32_t refs; /* control alone */
	/* [queues]: what each queue's machine adopts. spec.most is not what bounds a flow: see
	 * flows_flow.most. spec.wl->draining is written by the queue's worker. */
	struct flow_spec *spec;
	uint16_t nqueues;
	struct flows_handed *handed; /* [queues] */
};

/* When opens or transactions of one flow are due on one queue: those with the numbers first,
 * first + step, ... of the whole flow. */
struct flows_pace {
	bool off; /* none is */
	/* It begins so late that another one comes before, which begins at its start_tsc even if
	 * that has passed. */
	bool held;
	bool max; /* always as many as the flow may have */
	/* Of a new number the count begins anew with the number 0, due at start_tsc. If that has
	 * passed when the worker learns of it, it begins then, and what is left of the wait for the
	 * next one by the pace before is scaled by the ratio of both. */
	uint64_t epoch, start_tsc;
	uint32_t first, step;
	struct pace_period period;      /* of the whole flow; of max: 0 */
	const struct pace_shape *shape; /* NULL: they are even */
};

/* A flow on one queue. A flow that a plan does not have any more, or has without a version, opens
 * nothing, and nobody listens; what is open lives on. */
struct flows_flow {
	struct flows_state_of *state; /* by this the worker knows a flow again */
	const struct flows_version *version;
	/* The run it is for: a number that the task has not seen begins a run. 0: it is in none,
	 * and what is open lives on. A server listens in a run, until that ends. */
	uint64_t run;
	/* Opens and transactions that are due in between; UINT64_MAX: no end. Those that are late
	 * may come up to grace_cycles behind the end. */
	uint64_t start_tsc, end_tsc;
	/* At most so many opens of this queue; UINT64_MAX: no bound. When they have come, the run
	 * is over as soon as nothing is open any more; a flow with a tps goes on. */
	uint64_t opens;
	uint64_t most;         /* opening or open at once, on this queue */
	bool stop;             /* no opens from now on: drain */
	bool abort;            /* and do not wait for the end of the drain */
	uint64_t drain_cycles; /* after the end; then what is open is reset */
	uint64_t late_cycles;  /* opens and transactions that are later count as late */
	uint64_t grace_cycles; /* at least late_cycles */
	/* With a tps `most` connections are held: opens that come due while so many are open are
	 * not needed, and count nowhere. */
	struct flows_pace cps, tps;
};

/* Which frames are of flows: those whose first bytes are like these, and whose innermost header
 * says TCP or UDP to one of our ends. */
#define FLOWS_SHAPE_WORDS 16 /* of 8 bytes: FLOW_PREFIX_MAX */
#define FLOWS_SHAPES 16
#define FLOWS_ENDS 64
struct flows_shape {
	uint16_t l3;    /* where the innermost IP header begins */
	uint16_t words; /* of those below that matter */
	uint16_t nids;  /* words with bits that tell networks apart */
	bool is6;
	bool tunnel; /* other IP headers come before it */
	/* Of the bytes before l3, as they are in memory; bits beyond are 0 in the mask, and so in
	 * the value. */
	uint64_t mask[FLOWS_SHAPE_WORDS], value[FLOWS_SHAPE_WORDS];
	/* Which bits of these bytes tell networks and tunnels apart: VLAN ids, VNIs, ... */
	uint64_t id[FLOWS_SHAPE_WORDS];
	uint8_t id_at[FLOWS_SHAPE_WORDS]; /* number of the word */
	/* The checksums in these bytes. */
	uint8_t nchecks;
	struct flows_check {
		uint8_t kind;         /* FLOW_FIX_IP4, _UDP, _SUM */
		uint8_t at, from, ip; /* where it is, its header, and the IP header before that */
	} check[FLOW_FIXES];
};
/* The networks and tunnels of a port. What a machine is told of a frame's is its place in `key`. It
 * grows while workers read it: control alone writes, a slot behind its key. */
#define FLOWS_IDENTS 65535
#define FLOWS_SLOTS (1u << 17)
struct flows_idents {
	uint32_t n;
	uint16_t slot[FLOWS_SLOTS]; /* by the hash of keys: a place and 1; 0: free */
	struct flows_key {
		uint64_t shape;
		uint64_t value[FLOWS_SHAPE_WORDS]; /* of the shape's nids words */
	} key[FLOWS_IDENTS];
};
static inline uint32_t flows_key_slot(unsigned shape, const uint64_t *value, unsigned n)
{
	uint64_t h = shape;

	for (unsigned i = 0; i < n; i++) {
		h = (h ^ value[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	return (uint32_t)h & (FLOWS_SLOTS - 1);
}
/* Most shapes have no such bits: what is called for each frame calls nobody to compare nothing. */
static inline bool flows_key_is(const struct flows_key *k, unsigned shape, const uint64_t *value,
				unsigned n)
{
	uint64_t differ = k->shape ^ shape;

	for (unsigned i = 0; i < n; i++)
		differ |= k->value[i] ^ value[i];
	return differ == 0;
}
/* The place of a key; FLOWS_IDENTS: it has none. */
static inline unsigned flows_ident(const struct flows_idents *t, unsigned shape,
				   const uint64_t *value, unsigned n)
{
	for (uint32_t at = flows_key_slot(shape, value, n);; at = (at + 1) & (FLOWS_SLOTS - 1)) {
		unsigned place = __atomic_load_n(&t->slot[at], __ATOMIC_ACQUIRE);

		if (place == 0)
			return FLOWS_IDENTS;
		if (flows_key_is(&t->key[place - 1], shape, value, n))
			return place - 1;
	}
}
/* Local ends of a flow: addresses from..to (IPv6: the last 4 bytes, after prefix6), ports from..to,
 * all in the machine's order. */
struct flows_end {
	bool udp;
	uint8_t prefix6[12];
	uint32_t from, to;
	uint16_t port_from, port_to;
	bool hand; /* its frames may come to any queue, and are the owner's: flows_owner() */
	bool is6;
	/* Place in the job, and 1, of the client whose tuples were chosen so that their answers
	 * come to their owner's queue, by what the device says of its hash; 0: none. */
	uint8_t steered;
};

/* ---- which worker has a connection, where devices do not say it ---- */

static inline uint64_t flows_owner_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

/* The queue, of n, whose machine opens a tuple: a pure function, the same on all workers. */
static inline unsigned flows_owner(const struct flow_tuple *t, unsigned n)
{
	uint64_t h = (uint64_t)t->local_port << 16 | t->remote_port, word[4];

	if (t->is6) {
		memcpy(word, t->local.v6, 16);
		memcpy(word + 2, t->remote.v6, 16);
		for (unsigned i = 0; i < 4; i++)
			h = flows_owner_mix(h, word[i]);
	} else {
		h = flows_owner_mix(h, (uint64_t)t->local.v4 << 32 | t->remote.v4);
	}
	h = flows_owner_mix(h, h >> 17);
	return (unsigned)((h & UINT32_MAX) * n >> 32);
}

/* What a queue has handed over to others and got from others; frames. Its worker writes. */
struct flows_hand_counts {
	WR_ALIGNED(CACHE_LINE)
	cell_t handed; /* they have been put into the owner's ring */
	cell_t full;   /* that ring had no room: they are lost */
	cell_t taken;  /* from others */
	cell_t heard;  /* flows_job.heard of the job that it has adopted */
};

/* The rings of one queue. Control makes them; its worker writes `next`. */
struct flows_hand {
	uint16_t n; /* queues of the port */
	uint16_t me;
	uint16_t next;          /* whose ring is looked at first */
	struct rte_ring **to;   /* [n], but for the queue itself */
	struct rte_ring **from; /* the same */
	/* The same for buffers: those of frames from others, which go back to who received into
	 * them, and those of frames for others, which come home. */
	struct rte_ring **back, **home;
	struct flows_hand_counts *counts;
	const struct flows_hand_counts *all; /* [n] */
	struct flows_state *state;
	const struct flows_shape *shape; /* the engine's, of which there are only more and more */
	struct dp_rxq in;                /* by which the worker receives from the rings */
};
/* The functions of `in`, whose io_q is the struct flows_hand. */
extern const struct dp_io flows_hand_io;
/* Gives back what is in a ring, and returns how many frames that were. Whoever takes from it. */
unsigned flows_hand_drain(struct rte_ring *r);

/* An ICMP error about what one of the port's machines may have sent. */
#define FLOWS_ERROR_WORDS 10
#define FLOWS_ERRORS 32
union flows_error {
	struct {
		uint8_t what; /* enum flow_icmp */
		uint8_t len;
		uint16_t ident;
		uint32_t mtu;
		uint8_t quote[68]; /* the longest IPv4 header, and 8 bytes */
	};
	uint64_t word[FLOWS_ERROR_WORDS];
};
/* The errors that came to a queue and are about no connection of its machine. Its worker writes,
 * the others' workers read; of more than FLOWS_ERRORS the oldest are lost. */
struct flows_errors {
	WR_ALIGNED(CACHE_LINE)
	cell_t put; /* how many there were; number n is at n % FLOWS_ERRORS */
	uint64_t word[FLOWS_ERRORS][FLOWS_ERROR_WORDS];
};

/* Servers whose frames vanish, both ways; IPv4 as ::ffff:A.B.C.D. */
#define FLOWS_DEAD 8
struct flows_dead {
	uint32_t n;
	uint8_t address[FLOWS_DEAD][16];
};

/* What most frames of a job are: of one shape of IPv4 without VLAN tags or tunnels, to one of its
 * ends. Whatever differs is looked at in full. */
#define FLOWS_USUAL_WORDS 2
#define FLOWS_HAND 0x80 /* beside the number of a shape: the frame may be another queue's */
struct flows_usual {
	bool there; /* false: the job has no such shape and end */
	uint8_t protocol;
	uint8_t told; /* the shape's number, perhaps with FLOWS_HAND */
	uint16_t ident, l3;
	uint16_t port_from, port_span; /* the end's ports are port_from .. port_from + port_span */
	uint32_t from, span;           /* its addresses, in the machine's order */
	uint64_t mask[FLOWS_USUAL_WORDS], value[FLOWS_USUAL_WORDS];
};

struct flows_job {
	struct dp_txq *q; /* the work's share */
	struct flow_machine *machine;
	uint16_t queue;       /* of versions' arrays */
	uint64_t base_tsc;    /* machine time 0, in cycles: before the machine was made */
	uint64_t ns_mult;     /* ns = cycles * ns_mult >> 32 */
	uint64_t cycles_mult; /* cycles = ns * cycles_mult >> 32 */
	uint16_t nflows;
	const struct flows_flow *flow;
	uint16_t nshapes, nends;
	uint32_t nidents; /* of `idents` so many count */
	const struct flows_shape *shape;
	/* The shapes, those with the longest headers first: what is in a tunnel may be, to a flow
	 * without it, a datagram to one of its ports. */
	uint8_t order[FLOWS_SHAPES];
	const struct flows_idents *idents;
	const uint64_t *ends; /* [nidents]: to which ends frames of each may be, a bit for each */
	const struct flows_end *end;
	struct flows_usual usual;
	uint16_t burst;          /* of the port */
	uint8_t offload;         /* FLOW_OFFLOAD_SUM and _SEGMENT: what the device can complete */
	struct flows_hand *hand; /* NULL: no frame is another worker's */
	/* Grows with what the port's queues listen to: frames that another queue has handed over
	 * by a job with more of it wait until this queue has that job, too. */
	uint64_t heard;
	bool kernel_peer; /* of struct flow_machine_conf */
	bool trust;       /* checksums that the device has not judged are not looked at */
	uint16_t nqueues;
	struct flows_errors **errors; /* [nqueues]; NULL: there is one queue */
	/* Whoever asks for samples posts a plan with them. NULL: nobody asks. */
	struct flows_samples *samples;
	struct flows_arm_job *arm; /* NULL: no program's protocol runs on the port */
	struct flows_dead dead;
};

/* ---- what a worker tells ---- */

enum flows_stage { FLOWS_IDLE, FLOWS_RUNNING, FLOWS_DRAINING, FLOWS_DONE };

/* A flow on one queue: cells that its worker writes. Control allocates it once for a stream's cell,
 * zeroed, and it lives as long as the port is open. */
struct flows_state_of {
	WR_ALIGNED(CACHE_LINE) cell_t run, stage; /* as gen's: run, then how far it is */
	/* Since the run began: opens and transactions that were due, whether they came or not; that
	 * came, be it without a tuple or memory; that came later than late_cycles; and the longest
	 * time by which one was late. */
	cell_t due, done, late, late_max_ns;
	cell_t due_tps, done_tps, late_tps, late_tps_max_ns;
	cell_t full; /* turns in which something was due and had no room beside `most` */
	/* Of the first and the last open of the run, and of transactions, 0: none yet. */
	cell_t first_tsc, last_tsc, first_tps_tsc, last_tps_tsc;
	cell_t drain_tsc; /* when the drain began, 0: not yet */
	cell_t done_tsc;  /* when the run was over, 0: not yet */
	cell_t waits;     /* 1: a version waits for a number of the machine */
	struct flow_counts counts;
	struct wl_counts transactions;
	uint32_t cell; /* of the stream; constant */
	void *own;     /* counters of the workload, of the largest workload's own_bytes */
	/* Control's memory; NULL: not wanted. */
	struct hist *connect, *first_byte, *whole, *since_due, *close;
	/* The worker alone uses all that follows; see flows_own.h. */
	WR_ALIGNED(CACHE_LINE) uint8_t worker[768];
};

/* Samples of connections, on demand: control makes a request with a number that `answered` does not
 * have, and posts a plan with it. The worker fills it, and writes the number to `answered` when all
 * of `want` are there or there are no more. */
#define FLOWS_SAMPLES 256
struct flows_sample {
	struct flow_info info;
	const struct flows_state_of *flow; /* whose it is */
};
struct flows_samples {
	WR_ALIGNED(CACHE_LINE) cell_t answered; /* the worker's */
	uint64_t asked;
	uint32_t want;  /* at most FLOWS_SAMPLES */
	uint32_t n;     /* the worker's, as all that follows; valid when it has answered */
	uint64_t at_ns; /* the machine's time */
	struct flows_sample sample[FLOWS_SAMPLES];
};

#define FLOWS_STRAY_6 (1u << 16)
#define FLOWS_STRAY_KNOWN (1u << 17)

struct flows_state {
	struct dp_state base;
	struct cnt_sizes sizes; /* of the frames that the device accepted */
	cell_t claimed, claimed_group;
	cell_t dropped; /* frames of flows that were made and given up */
	/* The last frame of no connection of which that is sure: the address that it came from, of
	 * IPv4 in the last 32 bits, and its port; bit 16 of the port: it is IPv6, bit 17: there was
	 * one. Read when nothing goes on. */
	cell_t stray[2], stray_port;
	/* Pieces of packets to one of our ends that are not the first: they have no ports, and are
	 * left to others. */
	cell_t pieces;
	/* Frames whose tuples are another queue's by what the device says of its hash: it deals
	 * them in another way. They are looked for where frames are of no connection. */
	cell_t other_queue;
	/* Frames to servers that are dead, and those of theirs: they vanished. */
	cell_t dead, dead_sent;
	/* Control's: the machine is not used any more, another one takes its place. What is open
	 * when its task goes has ended then. */
	bool over;
	void *mem; /* flows_mem_size() bytes in whole cache lines, zeroed; control's memory */
};
size_t flows_mem_size(void);
/* The sink of the machine that a state's task will have: for flow_machine_new(). */
struct flow_sink *flows_sink(const struct flows_state *s);

/* How far a run of a flow has come; FLOWS_IDLE until the worker knows of it. Any thread. */
static inline enum flows_stage flows_stage(const struct flows_state_of *f, uint64_t run)
{
	if (__atomic_load_n(&f->run, __ATOMIC_ACQUIRE) != run)
		return FLOWS_IDLE;
	return (enum flows_stage)__atomic_load_n(&f->stage, __ATOMIC_ACQUIRE);
}

/* The end of a run on a queue is told by DP_EV_RUN_DONE. */
extern const struct dp_kind dp_kind_flows;
dp_sort_fn flows_claims; /* arg: struct flows_claim, in the plan's memory */
struct flows_claim {
	const struct flows_job *job;
	struct flows_state *state;
};
/* Of struct dp_hearer; arg: struct flows_claim. */
int flows_heard(const void *arg, const struct rte_mbuf *m, const struct neigh_error *e,
		uint64_t now);
