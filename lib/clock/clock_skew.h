/* SPDX-License-Identifier: BSD-3-Clause */
/* Do the cycle counters of two CPUs agree? One CPU asks and the other answers with its counter. The
 * answer was read after the question left and before the answer arrived, so each round bounds the
 * difference from both sides. Load and distance only widen the bounds: counters that agree can
 * never look as if they did not. No threads are made here: the caller runs clock_pong() on the
 * other CPU. */
#pragma once
#include "clock.h"

struct clock_pingpong {
	uint64_t ping WR_ALIGNED(CACHE_LINE); /* number of the round; UINT64_MAX: it is over */
	/* Number of the round that was answered. UINT64_MAX: the other CPU will answer no more. */
	uint64_t pong WR_ALIGNED(CACHE_LINE);
	uint64_t tsc;  /* the answer: the other CPU's counter */
	int64_t ahead; /* added to the answer, so that tests have a counter that is ahead */
};

/* The other counter is ahead of ours by lo..hi cycles. lo > hi: it ran at another speed. rounds 0:
 * no answer came. */
struct clock_skew {
	int64_t lo, hi;
	unsigned rounds;
};

/* Answers questions on the other CPU until clock_ping() is over. If that is over already, the
 * function returns at once. */
void clock_pong(struct clock_pingpong *p);
/* Waits, after clock_ping(), until clock_pong() no longer uses *p. */
void clock_pong_wait(const struct clock_pingpong *p);
/* Asks `rounds` times, but not beyond the moment at which this CPU's counter reads end_tsc. Returns
 * false if no answer came. */
bool clock_ping(struct clock_pingpong *p, unsigned rounds, uint64_t end_tsc,
		struct clock_skew *out);

/* By how many cycles the other counter is certainly ahead (above 0) or behind (below 0). 0: the
 * counters may agree. */
int64_t clock_skew_proven(const struct clock_skew *s);

/* A CPU, and how its counter compares with that of the reference CPU. */
struct clock_cpu {
	int cpu; /* -1: the lcore's thread may run on several CPUs */
	unsigned lcore;
	const char *unchecked; /* why it was not compared; NULL: it was, or it is the reference */
	struct clock_skew skew;
};
#define CLOCK_SKEW_MAX_NS 100
/* Returns 0, or -ENODEV if the counter of some CPU is proven to be off by more than
 * CLOCK_SKEW_MAX_NS. Then *e says which CPUs agree and what to do. */
int clock_skew_judge(const struct clock_cpu *cpus, unsigned n, int reference, double hz,
		     struct err *e);
