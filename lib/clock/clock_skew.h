/* SPDX-License-Identifier: BSD-3-Clause */
/* Do two CPUs count the same cycles? One asks and the other answers with its counter: the answer was read between question and arrival, so each round
 * bounds the difference on both sides, and no load or distance can make counters that agree look as if they did not. No threads inside: whoever calls
 * runs clock_pong() on the other CPU. */
#pragma once
#include "clock.h"

struct clock_pingpong {
	uint64_t ping WR_ALIGNED(CACHE_LINE); /* round, UINT64_MAX: it is over */
	uint64_t pong WR_ALIGNED(CACHE_LINE); /* round that was answered; UINT64_MAX: no more will be */
	uint64_t tsc;
	int64_t ahead; /* added to what the other one reads: a counter that is ahead, for tests */
};

/* The other counter is ahead of ours by lo..hi cycles; lo > hi: it went by another speed. rounds 0: it did not answer. */
struct clock_skew { int64_t lo, hi; unsigned rounds; };

void clock_pong(struct clock_pingpong *p); /* returns when clock_ping() has, also when that was before */
void clock_pong_wait(const struct clock_pingpong *p); /* after clock_ping(): until the other side is done with *p */
/* Up to `rounds` of them, at most until the counter of this CPU reads end_tsc. false: no answer came. */
bool clock_ping(struct clock_pingpong *p, unsigned rounds, uint64_t end_tsc, struct clock_skew *out);

/* What is certain of the skew, 0: there need not be any; cycles, signed. */
int64_t clock_skew_proven(const struct clock_skew *s);

/* A CPU as it was compared with the one that is the reference. */
struct clock_cpu {
	int cpu;                /* -1: its thread has several */
	unsigned lcore;
	const char *unchecked;  /* why it was not compared; NULL: it was, or is the reference itself */
	struct clock_skew skew;
};
#define CLOCK_SKEW_MAX_NS 100
/* -ENODEV: some CPU's counter is proven to be off by more than CLOCK_SKEW_MAX_NS; the text says which agree and what to do. */
int clock_skew_judge(const struct clock_cpu *cpus, unsigned n, int reference, double hz, struct err *e);
