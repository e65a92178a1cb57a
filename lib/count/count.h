/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters: cells with one writer, tables that describe them, snapshots. No DPDK. docs/ARCHITECTURE.md follows one to the screen. */
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
	uint64_t unsent;         /* due frames that were given up as too late, or left at the end of a run's time */
	uint64_t nombuf;         /* turns that found no free buffer */
	uint64_t bursts;         /* calls of the driver that took frames */
	uint64_t late;           /* frames accepted more than CNT_LATE_NS after their deadline */
};
#define CNT_LATE_NS 1000000
struct cnt_rx {
	uint64_t packets, bytes; /* received by our workers; bytes with FCS */
	uint64_t broadcast, multicast;
	uint64_t bursts;         /* calls of the driver that gave frames */
	uint64_t full;           /* and as many as were asked for: the queue may hold more */
};

/* Frames by size with FCS. */
#define CNT_NSIZES 8
struct cnt_sizes { uint64_t n[CNT_NSIZES]; };

/* Frames of one stream that devices accepted, and their bytes with FCS. */
struct cnt_stream { cell_t packets, bytes; };

extern const uint8_t cnt_size_classes[1523];
static inline unsigned cnt_size_class(uint64_t size) { return size < ARRAY_SIZE(cnt_size_classes) ? cnt_size_classes[size] : CNT_NSIZES - 1; }

extern const struct counter cnt_tx_table[], cnt_rx_table[], cnt_sizes_table[]; /* end with name == NULL */
