/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/trial: a trial that goes on. trial.c leads it from stage to stage, and trial_read.c
 * reads its numbers. */
#pragma once
#include "trial.h"
#include "work.h"

/* The stages, in their order. trial_progress() has a text for each. */
enum trial_stage {
	TRIAL_READY,
	TRIAL_LEARN,
	TRIAL_PAUSE,
	TRIAL_SEND,
	TRIAL_DRAIN,
	TRIAL_SETTLE,
	TRIAL_DONE
};

/* The numbers of a port before the first frame of the trial. */
struct trial_base {
	struct snap_port dev; /* stat_streams() */
	uint64_t claimed;
	uint64_t link_seq, carrier_changes;
};

/* The numbers of a worker before the first frame of the trial. */
struct trial_cpu {
	/* waited_ns: how long the worker had waited for a CPU before the first frame. When sending
	 * is over, it is replaced by how long the worker waited while the ports sent. */
	uint64_t stalls, stall_cycles, waited_ns;
	bool waited_known;
	/* The worker's numbers of turns (dp.h) when a counter last moved, or when all frames had
	 * arrived. See note_looks(). */
	uint64_t barren, loops;
};

struct trial {
	struct ctl *c;
	struct trial_spec spec;
	enum trial_stage stage;
	/* Receivers; all ports of the trial; those that send learning frames. */
	struct portset rx, all, teachers;
	struct trial_base *base;            /* of each port */
	struct trial_cpu *cpu;              /* of each worker */
	const struct work_witness *witness; /* NULL: there is none */
	bool told;                          /* each frame says which one it is */
	/* For each flow, the base of the witness before the first frame; NULL: it was not asked. */
	void **told_base;
	/* Of all receivers, before the first frame; NULL: nothing had come in. */
	struct hist *latency[LATENCY_KINDS];
	/* All frames are accounted for; workers may still have to put them into histograms. */
	bool arrived;
	double hz; /* of the clock by which the frames were paced */
	/* Times of CLOCK_MONOTONIC_RAW: the end of the pause that goes on, the begin and the end of
	 * sending, and the last change of trial_movement(). moved: its sum at that time. */
	uint64_t until_ns, begin_ns, sent_ns, moved_ns, moved;
	struct trial_result r;
};

/* Takes the bases of the witness. It is called after the start, which may have made the tables of
 * the receivers anew. */
void trial_told_base(struct trial *t);
/* Returns a sum of counters, which changes whenever a frame arrives, is lost at a receiver, or is
 * confirmed by the kernel. */
uint64_t trial_movement(struct trial *t);
/* true: every frame is accounted for. */
bool trial_arrived(struct trial *t);
/* Notes what has arrived so far. Frames that arrive later are late. */
void trial_mark_late(struct trial *t);
/* Reads all numbers of the trial into t->r. Only the verdict is left to trial_judge(). */
void trial_read(struct trial *t);
