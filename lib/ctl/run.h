/* SPDX-License-Identifier: BSD-3-Clause */
/* A run: from the start of a port to its end, whatever works send there, and what it has come to. Control thread only. */
#pragma once
#include "ctl.h"

struct ctl_port;

/* What a start asks for. */
struct run_ask {
	uint64_t duration_ns;      /* 0: none */
	uint64_t count;            /* 0: none; own_count: instead of the port's setting */
	bool own_count;
	const struct rate *rate;   /* instead of the port's; NULL: that */
	uint64_t grace_ns;         /* 0, or less than it is for all runs: that */
};

/* RAMP: it runs, and its rate is on its way to another one. DRAINING: nothing more is to come, and devices have not taken all of it. Ordered by how
 * far a run is: of works that run together the one that is least far says it. */
enum run_phase { RUN_PHASE_IDLE, RUN_PHASE_RAMP, RUN_PHASE_RUNNING, RUN_PHASE_DRAINING, RUN_PHASE_DONE };

/* What the current or last run of a port has come to, of all works that run there together. Read at any moment, exact when nothing is sending. */
struct run_result {
	enum run_phase phase;
	uint64_t sent, bytes, unsent, dropped; /* frames since its begin; bytes of those that were sent, with FCS; mod 2^64 */
	uint64_t first_tsc, last_tsc; /* of `sent`, as devices took them; 0: none yet */
	uint64_t count;            /* frames after which it ends; 0: counts do not end it */
	bool asked_max;
	bool rate_changed;         /* while it was sending: one number does not tell what was asked of all of it */
	bool ramps;                /* a rate is on its way to another one: asked is that of this moment */
	double asked_pps, asked_l1_bps;
	uint64_t changed_ns;       /* when rates or frames last changed, CLOCK_MONOTONIC_RAW; 0: not since the start */
	/* Of who sends by a schedule. */
	uint64_t intended;         /* frames that rate and time make; UINT64_MAX: not known */
	double intended_pps;       /* of a rate in frames of one schedule, whatever its deadlines make of it; else asked_pps */
	double mean_size;          /* of a frame to come, with FCS; 0: none */
	uint64_t slot_cycles;      /* of a run that is over: from its start to where the slot of the last frame ends; 0: not known */
	uint64_t due_cycles;       /* likewise: from the first to the last of `sent`, as the schedule has it; 0: not known */
	/* What follows from those above; run_result() sees to it. */
	uint64_t duration_ns, steady_ns; /* steady: since rates or frames last changed, or since the start */
	double mean_pps, mean_l1_bps;
};

/* The part of a work that has runs. Functions that are NULL have nothing to do. */
struct work_run {
	/* Nothing of the port is changed but what is prepared for begin(); never_mind() throws that away: another port or work refused. */
	int (*may_start)(struct ctl *c, struct ctl_port *cp, const struct run_ask *ask, struct err *e);
	void (*never_mind)(struct ctl *c, struct ctl_port *cp);
	void (*begin)(struct ctl *c, struct ctl_port *cp, const struct run_ask *ask); /* cp->run is new, and armed */
	void (*arm)(struct ctl *c, struct ctl_port *cp); /* its time is known: cp->run.start_tsc */
	void (*result)(const struct ctl_port *cp, struct run_result *io); /* adds its own; leaves alone what run_result() sees to */
	/* Settings are for the next start: adds what the run that goes on asks, all of it. false: it follows the settings. */
	bool (*load)(const struct ctl_port *cp, struct ctl_load *io);
	bool (*done)(const struct ctl_port *cp); /* on all queues */
	void (*ended)(struct ctl *c, struct ctl_port *cp, const struct run_result *r); /* it is over: a note, if there is something to say */
};

int run_start(struct ctl *c, const struct portset *ports, const struct run_ask *ask, struct err *e); /* ctl_start() */
void run_events(struct ctl *c);
void run_arm(struct ctl *c);       /* give armed starts their time; called before plans are built */
void run_result(const struct ctl_port *cp, struct run_result *out);
