/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares how ports start, what came of a run (struct run_result), and the functions that a work
 * with runs provides (struct work_run). Control thread only. */
#pragma once
#include "ctl.h"

struct ctl_port;

/* What a start asks for. */
struct run_ask {
	uint64_t duration_ns;    /* 0: no bound in time */
	uint64_t count;          /* frames, used with own_count; 0: no bound */
	bool own_count;          /* count replaces the port's setting */
	const struct rate *rate; /* replaces the port's setting; NULL: the setting holds */
	/* Of these ports only streams that answer start (stream_answers()); NULL: of none. */
	const struct portset *answer;
	unsigned queues; /* send on so many of the first Tx queues; 0: on all */
	/* How long after the end of its time the run may still send frames that were due. All runs
	 * have at least GRACE_NS for that. */
	uint64_t grace_ns;
};

/* RAMP: frames are sent, and the rate is on its way to another one. DRAINING: no more frames are
 * made, and the device has not yet accepted all that were made. The stages are in the order of a
 * run. Where several works run together, the stage is that of the work which has come least far. */
enum run_stage {
	RUN_STAGE_IDLE,
	RUN_STAGE_RAMP,
	RUN_STAGE_RUNNING,
	RUN_STAGE_DRAINING,
	RUN_STAGE_DONE
};

/* What came of the current or last run of a port, as the sum over all works that send in it. It can
 * be read at any moment, and is exact when nothing is sending. */
struct run_result {
	enum run_stage stage;
	/* Counts of frames since the run began, and the bytes of the sent ones, with FCS; modulo
	 * 2^64. sent: the device accepted them. unsent: they were due and were given up. dropped:
	 * they were built, not accepted, and thrown away. */
	uint64_t sent, bytes, unsent, dropped;
	/* Cycle counts at which the device accepted the first and the last frame; 0: none yet. */
	uint64_t first_tsc, last_tsc;
	uint64_t count;    /* frames after which the run ends; 0: counts do not end it */
	bool endless;      /* some of what it sends has no end, but for that of its time */
	bool ends;         /* it ends by itself, though not by a count of frames or by time */
	bool asked_max;    /* some frames are asked for as fast as possible */
	bool rate_changed; /* during the run, so that asked_* do not hold for all of it */
	bool ramps;        /* a rate is on its way: asked_* are those of this moment */
	bool unasked;      /* some frames follow from others that come in: asked_* are not all */
	double asked_pps, asked_l1_bps;
	/* When rates or frames last changed, in ns of CLOCK_MONOTONIC_RAW; 0: not since the
	 * start. */
	uint64_t changed_ns;

	/* Only works that send by a schedule fill in these. A frame's slot is the time from its
	 * deadline to the next one. */
	uint64_t intended; /* frames, from rate and time; UINT64_MAX: not known */
	/* The rate as it was set, if the port has one group whose rate is in frames; else
	 * asked_pps. */
	double intended_pps;
	double mean_size; /* of frames to come, with FCS; 0: there are none */
	/* Both are known only when the run is over; 0: not known. slot_cycles: the time from the
	 * start to the end of the last frame's slot. due_cycles: the time from the first to the
	 * last sent frame, by their deadlines. */
	uint64_t slot_cycles;
	uint64_t due_cycles;

	/* What run_result() works out from the members above. steady_ns is the time since rates or
	 * frames last changed, or since the start; it is 0 during a ramp. */
	uint64_t duration_ns, steady_ns;
	double mean_pps, mean_l1_bps;
};

/* The part of a work that has runs. Functions that are NULL have nothing to do. */
struct work_run {
	/* At a start: can the work start on the port? 0, or -errno with the reason in *e. It may
	 * prepare what begin() needs, and changes nothing else. If any port or work refuses,
	 * never_mind() is called for all ports and throws away what was prepared. */
	int (*may_start)(struct ctl *c, struct ctl_port *cp, const struct run_ask *ask,
			 struct err *e);
	void (*never_mind)(struct ctl *c, struct ctl_port *cp);
	/* The run begins: cp->run is new, and its start has no time yet (`armed`). */
	void (*begin)(struct ctl *c, struct ctl_port *cp, const struct run_ask *ask);
	/* The time of the start is known: cp->run.start_tsc. */
	void (*arm)(struct ctl *c, struct ctl_port *cp);
	/* Adds what the work has sent and was asked to send. It does not touch the members that
	 * run_result() works out. */
	void (*result)(const struct ctl_port *cp, struct run_result *io);
	/* What load does the run ask for? true: some changed settings wait for the next start, so
	 * the settings do not tell, and the work has added the load of its run to *io. false: the
	 * run follows the settings, and *io is as it was. */
	bool (*load)(const struct ctl_port *cp, struct ctl_load *io);
	/* true: the run is over on all queues. */
	bool (*done)(const struct ctl_port *cp);
	/* The run is over. The work may leave a note (ctl_note()). */
	void (*ended)(struct ctl *c, struct ctl_port *cp, const struct run_result *r);
};

/* By how much a counter has grown; 0 where a device has set it back. */
static inline uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Starts all ports or none: ctl_start() with everything that a start can ask for. */
int run_start(struct ctl *c, const struct portset *ports, const struct run_ask *ask, struct err *e);
/* Finds the runs that have ended, and throws away the events by which workers woke control. */
void run_events(struct ctl *c);
/* Fills in *out for the port's current or last run. */
void run_result(const struct ctl_port *cp, struct run_result *out);
