/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters: cells with one writer, tables that describe them, snapshots. No DPDK. */
#pragma once
#include "base.h"

/* A cell: one writer (a worker or control), any reader. Relaxed atomics: plain moves on 64-bit machines. */
typedef uint64_t cell_t;
static inline uint64_t cell_get(const cell_t *c) { return __atomic_load_n(c, __ATOMIC_RELAXED); }
static inline void cell_set(cell_t *c, uint64_t v) { __atomic_store_n(c, v, __ATOMIC_RELAXED); }
static inline void cell_add(cell_t *c, uint64_t n)
{
	__atomic_store_n(c, __atomic_load_n(c, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* One row per counter: its place in the struct, its name in JSON and CSV, its meaning. */
struct counter {
	const char *name, *unit, *help;
	uint32_t offset; /* of a uint64_t in the struct that the table describes */
};

struct cnt_tx {
	uint64_t packets, bytes; /* accepted by the device; bytes with FCS */
	uint64_t dropped;        /* built and thrown away: the tail at stop or close */
	uint64_t stalls;         /* bursts not taken whole */
	uint64_t unsent;         /* slots given up by the catch-up policy */
	uint64_t nombuf;         /* turns that found no free buffer */
};
struct cnt_rx {
	uint64_t packets, bytes; /* received by our workers; bytes with FCS */
};
extern const struct counter cnt_tx_table[], cnt_rx_table[]; /* end with name == NULL */
