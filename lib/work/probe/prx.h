/* SPDX-License-Identifier: BSD-3-Clause */
/* What one Rx queue learns from the probes (frame_probe.h) that arrive on it: a tap (dp_tap) before the queue's owner, read only. One writer, the
 * queue's worker; control allocates, reads and merges. A flow is one (port, stream, Tx queue) of this process: its probes are numbered without
 * holes in the order in which they were sent, for as long as the process lives.
 *
 * Exact whatever queues a flow's frames arrive on: each queue marks the sequence numbers that it has seen in a window of its own, in blocks of 64.
 * Alone it tells its own duplicates; what two queues have both seen, control finds when it merges windows (prx_merge.h). Order, jitter and delay
 * variation are judged among the frames of a flow on this queue. Everything here is exact when nothing arrives.
 *
 * Each frame is one of: a probe of a known flow (received, late or corrupted), damaged, foreign, plain. */
#pragma once
#include "dp.h"
#include "dp_clock.h"
#include "frame_probe.h"
#include "hist.h"

#define PRX_PORT_BITS 10    /* error of a port's histograms: 1 / 1024 */
#define PRX_STREAM_BITS 6   /* of a stream's: 1 / 64 */
#define PRX_TOP 36          /* ns: values of 68 s and more are out of range */
#define PRX_SCALES 4        /* dispersion: 1 us, 10 us, 100 us, 1 ms */
#define PRX_NEARS 4         /* gaps within 64, 128, 256, 512 ns of their target */
#define PRX_NEAR_NS 64
#define PRX_MULT_BITS 40    /* of ns_mult: counters from 3.91 MHz (CLOCK_HZ_MIN) on, x86 and arm64 */

/* A window of sequence numbers, a ring of blocks: block b (64 numbers) lies in slot b mod nblocks, no says which block a slot holds. While a slot is
 * taken for another block, no is 0: read no, bits, no. Numbers are marked in its newer half only and are late below, so that a bit stands for as long
 * as the flow takes for half a window: whoever looks that often has seen all. The highest block is not there yet: prx_flow.bits. */
struct prx_block { uint64_t no, bits; }; /* no: block number + 1; 0: none */

/* Numbers that had not come when one behind them came. */
struct prx_hole { uint64_t from; uint32_t n, at; }; /* at: how many different probes had arrived before that one, mod 2^32 */

/* Cells of a flow. Sequence numbers are extended to 64 bits; the first number that a queue sees counts as 2^32 + itself, so that queues agree
 * mod 2^32. */
struct prx_flow {
	/* first line: touched by each probe */
	cell_t received;     /* probes, duplicates among them; late and corrupted ones not, further copies of these are */
	cell_t next;         /* highest sequence number seen so far + 1; 0: none yet */
	cell_t bits;         /* what has been seen of the block of next - 1: it goes to the window when it is no longer the highest one */
	uint64_t last_transit; /* cycles, of the probe before */
	cell_t jitter;       /* RFC 3550 6.4.1, cycles: see prx_jitter() */
	cell_t transit_min, transit_max; /* cycles; min is kept as ~min so that 0 is none */
	cell_t last_tsc;     /* of the last arrival */
	/* second line */
	cell_t duplicate;    /* seen before on this queue; this frame or that one may be corrupted */
	cell_t late;         /* older than half the window: whether it is a duplicate is not known; not marked, not received */
	cell_t reordered;    /* below `next` and no duplicate: RFC 4737 4.1 */
	cell_t extent_sum, extent_max; /* RFC 4737 4.2.2, of reordered probes whose hole is still known */
	cell_t extent_unknown; /* reordered probes whose hole is not */
	/* Its probe is whole and a checksum of the frame is wrong, or a header contradicts itself; each number once. Read it with `received`. */
	cell_t corrupted;
	cell_t first;        /* number of the first probe seen + 1 */
} WR_ALIGNED(CACHE_LINE);
_Static_assert(sizeof(struct prx_flow) == 2 * CACHE_LINE, "two lines");

/* Of all frames that came in on this queue. */
struct prx_port {
	cell_t probes, plain; /* frames with the probe of a known flow: received + late + corrupted of all flows; frames without a probe */
	/* Frames that held a probe which is not whole: the bytes at a place for one are a known flow's probe but for one bit; or a checksum is wrong,
	 * and a probe has been found at this place before. */
	cell_t damaged;
	/* Whole probes of no flow that is known here, or with a number that cannot be: further ahead than there was time to send. */
	cell_t foreign;
	cell_t early;         /* probes that were sent after they arrived, by the clocks: they count with latency 0 */
	cell_t searched;      /* probes that no header led to */
	cell_t last_tsc;      /* of the last burst */
	/* Frames in windows of each scale; those without a frame count too. Index of dispersion: variance of n / mean of n. */
	struct { uint64_t cycles, end, n; cell_t windows, sum, sum_sq; } scale[PRX_SCALES];
	cell_t stamped;       /* frames whose time of arrival the device said; of all others it is that of the burst */
	cell_t unstamped, odd; /* of those others, while stamps count: there was none; or it was no time at which the frame can have come */
	/* Gaps between frames by their distance from the target: at most 64 ns, at most 128 and more than 64, ..; the last: further, or no target. */
	cell_t near[PRX_NEARS + 1];
};
/* n[i]: gaps at most PRX_NEAR_NS << i from the target; the last: all. Never fewer than those before it, also while frames come. */
static inline void prx_nears(const struct prx_port *p, uint64_t n[PRX_NEARS + 1])
{
	uint64_t sum = 0;

	for (unsigned i = 0; i <= PRX_NEARS; i++)
		n[i] = sum += cell_get(&p->near[i]);
}

struct prx_spec {
	uint8_t nports;              /* flows of ports 0 .. nports - 1, at most PROBE_PORTS */
	struct { uint16_t nstreams, nqueues; } of[PROBE_PORTS]; /* streams are numbered below nstreams; 0: no probes from this port */
	const uint8_t *latency;      /* [sum of nstreams]: streams that get histograms of their own, port by port; NULL: none */
	uint32_t window_blocks;      /* per flow, a power of two from 2 on; 64 x that many numbers */
	uint16_t holes;              /* remembered per flow, for extents; a power of two */
	uint64_t hz;                 /* cycles per second, for scales and nears */
	uint64_t target_gap_cycles;  /* 0: none */
	uint64_t ns_mult;            /* ns = cycles * ns_mult >> 32; below 2^PRX_MULT_BITS */
	bool verify;                 /* check IPv4, UDP, TCP, SCTP and ICMP sums of each probe's frame where the device did not */
};

struct prx;
size_t prx_size(const struct prx_spec *); /* bytes, aligned to a cache line, zeroed by control; 0: beyond 2^40, or the spec is wrong */
void prx_init(void *mem, const struct prx_spec *); /* does not keep the spec */
/* Stamps of the device count from the next burst on, of arrivals, latency and gaps; NULL: none. What was set before must live until the worker has
 * gone on. Any thread. */
void prx_set_clock(struct prx *, const struct dp_clock *);
/* Gaps are compared with another target from the next burst on; 0: with none. Any thread. */
void prx_set_target(struct prx *, uint64_t gap_cycles);
/* The tap's functions; now: read after the burst was taken. Histograms are complete after prx_flush(), which waits for an empty queue. */
void prx_rx(void *state, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n, uint64_t now);
void prx_flush(void *state);

static inline double prx_jitter(const struct prx_flow *f)
{
	uint64_t bits = cell_get(&f->jitter);
	double cycles;

	memcpy(&cycles, &bits, sizeof(cycles));
	return cycles;
}

/* Block of the highest numbers, which the window lacks or holds less of. Read it before the window: what leaves it goes there first. false: it is
 * just beginning. */
bool prx_block_now(const struct prx_flow *f, struct prx_block *out);

/* Readers. NULL where the spec has no such flow. */
const struct prx_flow *prx_flow(const struct prx *, unsigned port, unsigned stream, unsigned queue);
const struct prx_block *prx_window(const struct prx *, unsigned port, unsigned stream, unsigned queue, uint32_t *nblocks);
const struct prx_port *prx_port(const struct prx *);
enum prx_hist { PRX_ACTUAL, PRX_INTENDED, PRX_GAP };
/* Latency in ns against the time of sending and the time at which it was due, of received and late probes; gaps between frames in ns, those of
 * one burst are 0: of the queue */
const struct hist *prx_port_hist(const struct prx *, enum prx_hist which);
/* PRX_ACTUAL or PRX_INTENDED; NULL: none was asked for. */
const struct hist *prx_stream_hist(const struct prx *, unsigned port, unsigned stream, enum prx_hist which);
