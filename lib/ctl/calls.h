/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls are what somebody asks of a peer and what ends with an answer: connections, and the
 * transactions on them. A work that makes calls knows by itself what became of each. Control thread
 * only. */
#pragma once
#include "ctl.h"

struct ctl_port;

/* What is begun at a rate. */
enum calls_of { CALLS_NONE, CALLS_CONNECTIONS, CALLS_TRANSACTIONS };

#define CALLS_FATES 8

/* What became of the calls of a run. It is exact when nothing goes on. */
struct calls_counts {
	uint64_t begun, succeeded;
	/* All others, by name: they add up to `begun`. */
	unsigned nfailed;
	struct calls_fate {
		const char *name; /* static */
		uint64_t n;
	} failed[CALLS_FATES];
	/* The other kind: transactions on the connections, or connections that the transactions
	 * were on; and those of them that failed. */
	uint64_t within, within_failed;
};

/* How the calls of one stream were begun in a run. */
struct calls_load {
	unsigned stream;
	bool max;          /* as fast as possible */
	bool counted;      /* `intended` is known: it follows from rate and time */
	uint64_t intended; /* how many were to begin */
	double intended_per_s;
	uint64_t begun;
	uint64_t given_up;            /* were due, and did not begin */
	uint64_t late;                /* began more than 1 ms after they were due */
	uint64_t first_tsc, last_tsc; /* when the first and the last one began; 0: none yet */
	/* From the first to the last one as it should have been; 0: not known. */
	uint64_t due_cycles;
	char why[160]; /* what kept those that did not begin, as far as known; "" */
};

/* Frames that came to a port and belong to no call, since it was set up for its calls. */
struct calls_strays {
	uint64_t no_match;     /* of no call, and nobody waits for them */
	uint64_t bad_checksum; /* wrong sums, so that nobody knows whose they are */
	uint64_t malformed;    /* lengths that contradict the frame */
	uint64_t other_queue;  /* that a device dealt to another queue than it says */
	/* To the port alone, and taken by nobody: for other addresses or ports, or neither TCP nor
	 * UDP. Trials count them. */
	uint64_t others;
	char from[64]; /* where the last one of no_match came from, as far as known; "" */
};

/* The functions of a work that makes calls. A run makes them at a rate of its own if its start asks
 * for one (run_ask.rate): the rate is that of the port, which its streams share as their own rates
 * are. Where streams need time before they can begin at the rate, the time of the run begins behind
 * that. */
struct work_calls {
	/* What a start of the port would begin at that rate. NONE: the work carries none of its
	 * streams. -errno with *e: there is no one rate for what the port's streams do. */
	int (*of)(const struct ctl_port *cp, enum calls_of *out, struct err *e);
	/* Whether such a run still begins calls. What goes on behind that is waited for by the run
	 * itself. */
	bool (*begins)(const struct ctl_port *cp);
	/* When the time of the run has begun, as a cycle count; 0: it has not. */
	uint64_t (*begun_tsc)(const struct ctl_port *cp);
	/* These are about the port's last run that had a rate of its own. i: the i-th stream that
	 * begins calls; false: there are no more. */
	bool (*load)(const struct ctl_port *cp, unsigned i, struct calls_load *out);
	/* Adds the port's calls. */
	void (*counts)(const struct ctl_port *cp, struct calls_counts *io);
	void (*strays)(const struct ctl_port *cp, struct calls_strays *out);
	/* All that is known of the calls that these ports made, or, with `answered`, of those that
	 * they answered. New reference; NULL: there were none. */
	json_t *(*json)(struct ctl *c, const struct portset *ports, bool answered);
};
