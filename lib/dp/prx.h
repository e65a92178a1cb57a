/* SPDX-License-Identifier: BSD-3-Clause */
/* What one Rx queue learns from the probes (frame_probe.h) that arrive on it: a tap (dp_tap) before the queue's owner, read only. One writer, the
 * queue's worker; control allocates, reads and merges. A flow is one (port, stream, Tx queue) of this process: its probes are numbered without
 * holes in the order in which they were sent.
 *
 * Exact whatever queues a flow's frames arrive on: each queue marks the sequence numbers that it has seen in a window of its own, in blocks of 64.
 * Alone it tells its own duplicates; what two queues have both seen, control finds when it merges windows (prx_merge.h). Order, jitter and delay
 * variation are judged among the frames of a flow on this queue. Everything here is exact when nothing arrives. */
#pragma once
#include "dp.h"
#include "frame_probe.h"
#include "hist.h"

#define PRX_PORT_BITS 10    /* error of a port's histograms: 1 / 1024 */
#define PRX_STREAM_BITS 6   /* of a stream's: 1 / 64 */
#define PRX_TOP 36          /* ns: values of 68 s and more are out of range */
#define PRX_SCALES 4        /* dispersion: 1 us, 10 us, 100 us, 1 ms */
#define PRX_NEARS 4         /* gaps within 64, 128, 256, 512 ns of their target */

/* A window of sequence numbers, a ring of blocks: block b (64 numbers) lies in slot b mod nblocks, no[] says which block a slot holds. */
struct prx_block { uint64_t no, bits; }; /* no: block number + 1; 0: none */

/* Cells of a flow. */
struct prx_flow {
	/* first line: touched by each probe */
	cell_t received;     /* probes, duplicates among them, corrupted ones not */
	cell_t next;         /* highest sequence number seen so far, extended to 64 bits, + 1; 0: none yet */
	cell_t duplicate;    /* seen before on this queue */
	cell_t late;         /* older than the window: whether it is a duplicate is not known; not marked */
	cell_t reordered;    /* below `next` and no duplicate: RFC 4737 4.1 */
	uint64_t last_transit; /* cycles, of the probe before */
	cell_t jitter;       /* RFC 3550 6.4.1, in 1/16 cycles */
	cell_t last_tsc;     /* of the last arrival */
	/* second line */
	cell_t extent_sum, extent_max; /* RFC 4737 4.2.2, of reordered probes whose hole is still known */
	cell_t extent_unknown;
	cell_t corrupted;    /* its probe is whole and a checksum of the frame is wrong */
	cell_t first;        /* extended sequence number of the first probe seen + 1 */
	cell_t transit_min, transit_max; /* cycles; min is kept as ~min so that 0 is none */
	uint32_t holes_at, nholes; /* see prx.c: what reordered probes are judged by */
} WR_ALIGNED(CACHE_LINE);

/* Of all probes that came in on this queue, whoever sent them. */
struct prx_port {
	cell_t probes, plain; /* frames with a probe, frames without */
	cell_t corrupted;     /* the probe cannot be told from noise but its place held one that is damaged, see prx.c; of no known flow */
	cell_t foreign;       /* right probes of no flow that is known here */
	uint64_t last_tsc;    /* of the last frame */
	/* counts of frames in windows of each scale; windows without a frame count */
	struct { uint64_t window, n; cell_t windows, sum, sum_sq_lo, sum_sq_hi; } scale[PRX_SCALES];
	cell_t near[PRX_NEARS], gaps; /* gaps between frames, and how many of them are near the target */
};

struct prx_spec {
	uint8_t nports;              /* flows of ports 0 .. nports - 1 */
	struct { uint16_t nstreams, nqueues; } of[PROBE_PORTS]; /* streams are numbered below nstreams; 0: no probes from this port */
	const uint8_t *latency;      /* [sum of nstreams]: streams that get a histogram of their own, port by port */
	uint32_t window_blocks;      /* per flow, a power of two; 64 x that many numbers */
	uint64_t target_gap_cycles;  /* 0: none */
	uint64_t ns_mult;            /* ns = cycles * ns_mult >> 32, also used by whoever reports */
	bool verify;                 /* check IPv4, UDP, TCP and ICMP sums of each probe's frame where the device did not */
};

struct prx;
size_t prx_size(const struct prx_spec *); /* bytes, aligned to a cache line, zeroed by control; 0: beyond 2^40 */
void prx_init(void *mem, const struct prx_spec *);
/* The tap's function; now: read after the burst was taken. */
void prx_rx(void *state, const struct dp_rxq *q, struct rte_mbuf *const *m, unsigned n, uint64_t now);

/* Readers. Index of a flow: prx_flow_index(); NULL where the spec has none. */
const struct prx_flow *prx_flow(const struct prx *, unsigned port, unsigned stream, unsigned queue);
const struct prx_block *prx_window(const struct prx *, unsigned port, unsigned stream, unsigned queue, uint32_t *nblocks);
const struct prx_port *prx_port(const struct prx *);
enum prx_hist { PRX_ACTUAL, PRX_INTENDED, PRX_GAP };
/* Latency in ns against the time of sending and the time at which it was due, gaps in ns: of the queue */
const struct hist *prx_port_hist(const struct prx *, enum prx_hist which);
const struct hist *prx_stream_hist(const struct prx *, unsigned port, unsigned stream); /* PRX_ACTUAL; NULL: none was asked for */
