/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of the work flows: what control gives to a task, and what the task tells
 * control. A task has one queue of a port, its Rx and its Tx side, with one machine of lib/flow. */
#pragma once
#include "arrival.h"
#include "dp.h"
#include "flow_run.h"

/* ---- what a worker is told ---- */

/* One version of a flow: what its connections are to be. Control makes it, and it stays until each
 * queue that has adopted it has said that its last connection has gone. Constant but for `gone`. */
struct flows_version {
	uint32_t refs; /* control alone */
	/* [queues]: what each queue's machine adopts. A queue that had it and has it no more, or
	 * never had it, counts `gone`. */
	struct flow_spec *spec;
	uint16_t nqueues;
	cell_t *given, *gone; /* [queues], 0 or 1: adopted; released. The queue's worker writes */
};

/* When opens or transactions of one flow are due on one queue: those with the numbers first,
 * first + step, ... of the whole flow. */
struct flows_pace {
	bool off;    /* none is */
	bool max;    /* always as many as the flow may have */
	/* Of a new number the count begins anew with the number 0, due at start_tsc. */
	uint64_t epoch, start_tsc;
	uint32_t first, step;
	struct pace_period period;      /* of the whole flow; of max: 0 */
	const struct pace_shape *shape; /* NULL: they are even */
};

/* A flow on one queue. */
struct flows_flow {
	struct flows_state_of *state;
	const struct flows_version *version;
	/* The run it is for: a number that the task has not seen begins a run. 0: it is in none, and
	 * what is open lives on. */
	uint64_t run;
	uint64_t start_tsc, end_tsc; /* opens that are due in between; UINT64_MAX: no end */
	uint64_t opens;              /* at most so many of this queue; UINT64_MAX: no bound */
	uint64_t most;               /* open at once, of this queue */
	bool stop;                   /* no opens from now on: drain */
	bool abort;                  /* and do not wait for the end of the drain */
	uint64_t drain_cycles;       /* after the end; then what is open is reset */
	uint64_t late_cycles;        /* opens and transactions that are later count as late */
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
	uint16_t ident; /* what frames of this shape are told the machine as */
	bool is6;
	uint64_t mask[FLOWS_SHAPE_WORDS], value[FLOWS_SHAPE_WORDS]; /* of the bytes before l3 */
};
/* Local ends of a flow: addresses from..to (IPv6: the last 4 bytes, after prefix6), ports from..to. */
struct flows_end {
	uint8_t shape;
	bool udp;
	uint8_t prefix6[12];
	uint32_t from, to;
	uint16_t port_from, port_to;
};

struct flows_job {
	struct dp_txq *q; /* the work's share */
	struct flow_machine *machine;
	uint64_t base_tsc; /* machine time 0, in cycles */
	uint64_t ns_mult;  /* ns = cycles * ns_mult >> 32 */
	uint16_t nflows;
	const struct flows_flow *flow;
	uint16_t nshapes, nends;
	const struct flows_shape *shape;
	const struct flows_end *end;
	uint16_t burst; /* of the port */
};

/* ---- what a worker tells ---- */

enum flows_stage { FLOWS_IDLE, FLOWS_RUNNING, FLOWS_DRAINING, FLOWS_DONE };

/* A flow on one queue: cells that its worker writes. Control allocates it once for a stream's cell,
 * zeroed, and it lives as long as the port is open. */
struct flows_state_of {
	WR_ALIGNED(CACHE_LINE) cell_t run, stage; /* as gen's: run, then how far it is */
	cell_t late;                              /* opens later than late_cycles */
	cell_t late_max_ns;                       /* the latest since the run began */
	cell_t due;                               /* opens that were due, whether they came or not */
	cell_t late_tps, due_tps;
	cell_t first_tsc, last_tsc;               /* first and last open of the run */
	cell_t drain_tsc;                         /* when the drain began */
	struct flow_counts counts;
	struct wl_counts transactions;
	void *own; /* counters of the workload, of the largest workload's own_bytes */
	/* Control's memory; NULL: not wanted. */
	struct hist *connect, *first_byte, *whole, *since_due;
	/* The worker alone uses all that follows. */
	WR_ALIGNED(CACHE_LINE) uint8_t worker[512];
};

/* Samples of connections, on demand: control writes `asked`, the worker fills and writes `answered`
 * when all of `want` are there or there are no more. */
#define FLOWS_SAMPLES 256
struct flows_samples {
	cell_t asked, answered; /* numbers; equal: nobody waits */
	uint32_t want, n;       /* want: control's, before asked; n: the worker's, before answered */
	/* Of each sample: what flow_walk() said, and the age of the machine in ns. */
	struct flow_info info[FLOWS_SAMPLES];
	uint64_t at_ns;
};

struct flows_state {
	struct dp_state base;
	struct cnt_sizes sizes; /* of the frames that the device accepted */
	cell_t claimed, claimed_group;
	cell_t dropped; /* frames of flows that were made and given up */
	struct flows_samples *samples; /* control's memory, NULL: nobody has asked yet */
	/* The worker alone uses all that follows; see flows_own.h. */
	WR_ALIGNED(CACHE_LINE) uint8_t own[256];
	void *mem; /* flows_mem_size() bytes, zeroed; control's memory */
};
size_t flows_mem_size(void);

/* How far a run of a flow has come; FLOWS_IDLE until the worker knows of it. Any thread. */
static inline enum flows_stage flows_stage(const struct flows_state_of *f, uint64_t run)
{
	if (__atomic_load_n(&f->run, __ATOMIC_ACQUIRE) != run)
		return FLOWS_IDLE;
	return (enum flows_stage)__atomic_load_n(&f->stage, __ATOMIC_ACQUIRE);
}

extern const struct dp_kind dp_kind_flows;
dp_sort_fn flows_claims; /* arg: struct flows_claim */
struct flows_claim {
	const struct flows_job *job;
	struct flows_state *state;
};
