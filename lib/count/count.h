/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters: cells with one writer, the structs of counters that queues have, and tables that
 * describe these. snap.h has snapshots of them. No DPDK. docs/ARCHITECTURE.md follows one counter
 * from a worker to the screen. */
#pragma once
#include "base.h"

/* A cell is a counter that exactly one thread writes (a worker or control) and that any thread may
 * read. Loads and stores are relaxed atomics, which are plain moves on 64-bit machines. */
typedef uint64_t cell_t;
static inline uint64_t cell_get(const cell_t *c)
{
	return __atomic_load_n(c, __ATOMIC_RELAXED);
}
static inline void cell_set(cell_t *c, uint64_t v)
{
	__atomic_store_n(c, v, __ATOMIC_RELAXED);
}
static inline void cell_add(cell_t *c, uint64_t n)
{
#ifdef __x86_64__
	/* Readers see the old or the new value here, too. Of a load and a store that are atomic
	 * compilers do not make the one instruction that this is. */
	__asm__("addq %1, %0" : "+m"(*c) : "er"(n));
#else
	__atomic_store_n(c, __atomic_load_n(c, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
#endif
}

/* One row of a table describes one counter: its name in JSON and CSV, its unit, its meaning, and
 * its place in the struct. */
struct counter {
	const char *name, *unit, *help;
	uint32_t offset; /* of the counter, a uint64_t, in the struct that the table describes */
};

/* Counters of one share of a Tx queue, or sums of them. */
struct cnt_tx {
	uint64_t packets, bytes; /* frames that the device accepted; bytes with FCS */
	uint64_t dropped;        /* frames built and thrown away: the tail at stop or close */
	uint64_t stalls;         /* bursts that the device did not take whole */
	uint64_t unsent;         /* due frames given up as too late, or when the run's time ended */
	uint64_t nombuf;         /* turns that found no free buffer */
	uint64_t bursts;         /* calls of the driver that took frames */
	uint64_t late;           /* frames accepted more than CNT_LATE_NS after their deadline */
};
#define CNT_LATE_NS 1000000
/* Counters of one Rx queue, or sums of them. */
struct cnt_rx {
	uint64_t packets, bytes;       /* frames that our workers received; bytes with FCS */
	uint64_t broadcast, multicast; /* frames to ff:ff:ff:ff:ff:ff; to other group addresses */
	uint64_t bursts;               /* calls of the driver that gave frames */
	uint64_t full; /* bursts as large as was asked for: the queue may hold more */
};

/* Numbers of frames in classes of size with FCS; cnt_sizes_table names the classes. */
#define CNT_NSIZES 8
struct cnt_sizes {
	uint64_t n[CNT_NSIZES];
};

/* What bursts cost, from samples: `bursts` bursts took `cycles` cycles. */
struct cnt_times {
	uint64_t bursts, cycles;
};

/* All counters of one queue as plain numbers: at one moment, or what was counted in an interval. */
struct cnt_queue {
	struct cnt_tx tx;
	struct cnt_rx rx;
	struct cnt_sizes rx_sizes;
	struct cnt_times tx_times, rx_times;
	uint64_t retries; /* how often refused frames were offered again and not accepted whole */
};

/* How many frames of one stream devices accepted, and their bytes with FCS. */
struct cnt_stream {
	cell_t packets, bytes;
};

/* ICMP errors about what a port has sent, by what they say. */
struct cnt_icmp {
	uint64_t net_unreachable, host_unreachable, protocol_unreachable, port_unreachable,
		prohibited;
	uint64_t unreachable; /* for another reason */
	uint64_t too_big, hop_limit, reassembly;
	uint64_t other; /* a parameter problem, a redirect of IPv4, a source quench */
};

/* The class of each size with FCS up to 1522 bytes; larger sizes belong to the last class. */
extern const uint8_t cnt_size_classes[1523];
static inline unsigned cnt_size_class(uint64_t size)
{
	return size < ARRAY_SIZE(cnt_size_classes) ? cnt_size_classes[size] : CNT_NSIZES - 1;
}

/* The tables of the structs of counters above. Each ends with a row whose name is NULL. */
extern const struct counter cnt_tx_table[], cnt_rx_table[], cnt_sizes_table[], cnt_icmp_table[];
