/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl: a trial that goes on. trial.c leads it, trial_read.c looks at its numbers. */
#pragma once
#include "ctl_int.h"
#include "trial.h"

/* trial_progress() has words for them in this order. */
enum trial_phase { TRIAL_LEARN, TRIAL_PAUSE, TRIAL_SEND, TRIAL_DRAIN, TRIAL_SETTLE, TRIAL_DONE };

/* A port before the first frame. */
struct trial_base {
	struct snap_port dev;       /* sums since open; without queues */
	uint64_t link_seq, carrier_changes;
};

/* A worker before the first frame; waited_ns, from the end of the sending on: how long it waited. */
struct trial_cpu {
	uint64_t stalls, stall_cycles, waited_ns;
	bool waited_known;
	uint64_t barren, loops;     /* turns at the last move of a counter, or when all had arrived */
};

struct trial {
	struct ctl *c;
	struct trial_spec spec;
	enum trial_phase phase;
	struct portset rx, all, teachers; /* receivers; all ports; those that send learning frames */
	struct trial_base *base;    /* of each port */
	struct trial_cpu *cpu;      /* of each worker */
	const struct work_witness *witness; /* NULL: there is none */
	bool told;                  /* each frame says which one it is */
	void **told_base;           /* of each flow: what the witness knew before the first frame; NULL: not asked */
	struct hist *latency[LATENCY_KINDS]; /* of all receivers before; NULL: none yet */
	bool arrived;               /* all frames are accounted for; workers may still have to put them into histograms */
	double hz;                  /* of the clock by which it was paced */
	uint64_t until_ns, begin_ns, sent_ns, moved_ns, moved; /* CLOCK_MONOTONIC_RAW; sum of counters */
	struct trial_result r;
};

void trial_told_base(struct trial *t);      /* after the start: tables may have been made anew */
uint64_t trial_movement(struct trial *t);  /* changes while frames are on their way */
bool trial_arrived(struct trial *t);       /* every frame is accounted for */
void trial_mark_late(struct trial *t);     /* what arrives from here on is late */
void trial_read(struct trial *t);          /* everything, into t->r */
