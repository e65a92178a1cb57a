/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/trial: a trial that goes on. trial.c leads it from stage to stage, trial_read.c reads
 * its numbers, and a struct trial_measure has what is different from one thing that is measured to
 * the next. */
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
	struct calls_strays strays; /* of a trial of calls */
};

/* The numbers of a worker before the first frame of the trial. */
struct trial_cpu {
	/* waited_ns: how long the worker had waited for a CPU before the first frame. When sending
	 * is over, it is replaced by how long the worker waited while the ports sent. */
	uint64_t stalls, stall_cycles, waited_ns;
	bool waited_known;
	/* Likewise: cycles with work, at the first frame, and in the time in which ports sent. */
	uint64_t busy_cycles;
	/* The worker's numbers of turns (dp.h) when a counter last moved, or when all frames had
	 * arrived. See note_looks(). */
	uint64_t barren, loops;
};

/* What a trial measures: frames (trial_frames.c), connections or transactions (trial_calls.c).
 * Functions that are NULL have nothing to do. */
struct trial_measure {
	enum trial_of of;
	const char *begins_text, *ends_text; /* for people: TRIAL_SEND, TRIAL_DRAIN */
	bool hurries; /* a run that is stopped needs to be told so twice to end at once */
	/* Can a sender be part of a trial, by the settings of its streams? */
	int (*check)(const struct ctl_port *cp, struct err *e);
	int (*run)(struct trial *t, struct err *e); /* starts the runs of the trial */
	void (*base)(struct trial *t);              /* nothing of them has been sent yet */
	/* Is called in each turn of TRIAL_SEND. false: nothing more begins. */
	bool (*begins)(struct trial *t);
	void (*sent)(struct trial *t); /* the first moment of TRIAL_DRAIN */
	/* Is what had begun over? */
	bool (*drained)(struct trial *t, uint64_t now);
	void (*settles)(struct trial *t); /* it is: the first moment of TRIAL_SETTLE */
	/* Sets *gone_ns to how much of the time of the trial is over. true: it has not begun, since
	 * something else comes first. NULL: it begins at once. */
	bool (*warms)(const struct trial *t, uint64_t *gone_ns);
	/* Reads flows with their fates, their sum, and the loads of senders. */
	void (*read)(struct trial *t);
	void (*end)(struct trial *t); /* the trial is over, or is ended early */
};
extern const struct trial_measure trial_frames, trial_connections, trial_transactions;

struct trial {
	struct ctl *c;
	const struct trial_measure *of; /* NULL: not known yet */
	const struct work_calls *calls; /* NULL: nobody makes any */
	unsigned first;                 /* the first sender */
	struct rate run_rate;           /* spec.rate as runs are asked for it */
	/* Ports whose runs are the trial's; and those of them that only answer. */
	struct portset runs, answer;
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

/* Finds out what the trial is of, and what follows from that, by the settings as they are now. */
int trial_take(struct trial *t, struct err *e);
/* Whether some of these ports still send. */
bool trial_active(const struct trial *t, const struct portset *ports);
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
/* Reads the counters of one direction, without what the frames told. All frames that have arrived
 * so far are in `arrived`, and none in `arrived_late`. */
void trial_read_count(struct trial *t, const struct trial_flow *f, struct trial_counts *out);
/* Fills in how fast n were sent, of which l->offered went out, from the first to the last of
 * them. */
void trial_read_offered(const struct trial *t, struct trial_load *l, uint64_t n, uint64_t cycles);
/* A time between two deadlines in ns. It uses the frequency of the clock by which the senders were
 * paced, and not the one that has been measured since. */
uint64_t trial_due_ns(const struct trial *t, uint64_t cycles);
void trial_read_frames(struct trial *t);
/* Reads all numbers of the trial into t->r. Only the verdict is left to trial_judge(). */
void trial_read(struct trial *t);
