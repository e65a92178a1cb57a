/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver of probes (frame_probe.h) of one Rx queue. It is a tap (dp_tap): it looks at frames
 * before the queue's owner gets them, and only reads them. The queue's worker is the only writer;
 * control allocates the memory, reads it, and merges what several queues have learnt.
 *
 * A flow is what one (port, stream, Tx queue) of this process sends: its probes are numbered
 * without holes in the order in which they were sent, for as long as the process lives. Counts are
 * exact whatever Rx queues a flow's frames arrive on: each queue marks the sequence numbers that it
 * has seen in a window of its own, in blocks of 64. By its window a queue knows its own duplicates;
 * numbers that two queues have both seen are found by control, when it merges the windows of queues
 * (prx_merge.h). Order, jitter and delay variation are judged among the frames of a flow on this
 * queue alone. Everything here is exact when nothing arrives.
 *
 * Each frame is exactly one of these: a probe of a known flow (received, late or corrupted),
 * damaged, foreign, or plain. An ICMP error that quotes a frame with a probe is plain: the probe in
 * it has not arrived, but somebody says why it will not. */
#pragma once
#include "dp.h"
#include "dp_clock.h"
#include "dp_fault.h"
#include "frame_probe.h"
#include "hist.h"

#define PRX_PORT_BITS 10  /* histograms of a port know values to 1 / 1024 */
#define PRX_STREAM_BITS 6 /* histograms of a stream know values to 1 / 64 */
#define PRX_TOP 36        /* values of 2^36 ns (68 s) and more are out of range */
#define PRX_SCALES 4      /* dispersion: 1 us, 10 us, 100 us, 1 ms */
#define PRX_NEARS 4       /* gaps within 64, 128, 256, 512 ns of their target */
#define PRX_NEAR_NS 64
#define PRX_PLACES 1024  /* bits in prx_spec.quoted */
#define PRX_MULT_BITS 40 /* of ns_mult: enough from 3.91 MHz on; CLOCK_HZ_MIN is above that */

/* A block of a window. A window of sequence numbers is a ring of blocks of 64 numbers each: block b
 * lies in place b mod nblocks, and `no` says which block a place holds: its number + 1, or 0 for
 * none. `no` is 0 too while the place is being taken for another block, so a reader reads no, bits,
 * and no again. Only numbers in the newer half of the window are marked; lower ones are late. So a
 * bit stays in the window for as long as the flow takes to send half a window, and a reader that
 * looks that often sees all bits. The block of the highest number is not in the window yet, but in
 * prx_flow.bits. */
struct prx_block {
	uint64_t no, bits;
};

/* n numbers from `from` on had not come when a higher one came. `at` is how many different probes
 * had arrived before that higher one, mod 2^32. */
struct prx_hole {
	uint64_t from;
	uint32_t n, at;
};

/* The cells of a flow. Sequence numbers are extended to 64 bits: the first number that a queue sees
 * counts as 2^32 + itself, so that queues agree mod 2^32. */
struct prx_flow {
	/* first cache line: touched by each probe */
	/* Probes, duplicates among them, but no late and no corrupted ones. A further copy of a
	 * corrupted frame counts here, as a duplicate. */
	cell_t received;
	cell_t next; /* highest sequence number seen so far + 1; 0: none yet */
	/* Which numbers of the block of next - 1 have been seen. They go to the window when another
	 * block becomes the highest one. */
	cell_t bits;
	uint64_t last_transit;           /* transit of the last probe, in cycles */
	cell_t jitter;                   /* RFC 3550 6.4.1, in cycles: see prx_jitter() */
	cell_t transit_min, transit_max; /* in cycles; min is kept as ~min so that 0 is none */
	cell_t last_tsc;                 /* when the last probe arrived, in cycles */
	/* second cache line */
	/* Probes whose number was seen before on this queue. This frame or the one before may be
	 * corrupted. */
	cell_t duplicate;
	/* Probes older than half the window. Nobody knows whether they are duplicates: they are not
	 * marked and not received. */
	cell_t late;
	cell_t reordered;              /* below `next` and no duplicate: RFC 4737 4.1 */
	cell_t extent_sum, extent_max; /* RFC 4737 4.2.2, of probes whose hole is still known */
	cell_t extent_unknown;         /* reordered probes whose hole is no longer known */
	/* Probes that are whole in a frame of which a checksum is wrong or a header contradicts
	 * itself. Each number counts once. Read it with `received`. */
	cell_t corrupted;
	cell_t first; /* number of the first probe seen + 1 */
} WR_ALIGNED(CACHE_LINE);
_Static_assert(sizeof(struct prx_flow) == 2 * CACHE_LINE, "two lines");

/* Counts of all frames that came in on this queue. */
struct prx_port {
	/* probes: frames with the probe of a known flow, that is received + late + corrupted of all
	 * flows. plain: frames without a probe. */
	cell_t probes, plain;
	/* Frames that seem to have held a probe, which is not whole. Either one turned bit is all
	 * that makes the bytes at a place for a probe differ from the probe of a known flow; or a
	 * header or checksum is wrong in a frame that is laid out like those in which probes were
	 * found before. */
	cell_t damaged;
	/* Whole probes of a flow that is not known here, or with an impossible number: one that is
	 * further ahead than there was time to send. */
	cell_t foreign;
	/* Probes that arrived before they were sent, by the clocks: they count with latency 0. */
	cell_t early;
	cell_t searched; /* probes that were found by a search, not behind a known header */
	cell_t last_tsc; /* when the last frame arrived, in cycles */
	/* Windows of time, for dispersion. The current window of each scale lasts `cycles`, ends at
	 * `end`, and has had n frames so far. The cells are about windows that are over, also those
	 * without a frame: how many there were, and the sums of n and of n * n. The index of
	 * dispersion is the variance of n divided by its mean. */
	struct {
		uint64_t cycles, end, n;
		cell_t windows, sum, sum_sq;
	} scale[PRX_SCALES];
	/* Frames whose time of arrival is the device's time stamp. All others count as arrived when
	 * their burst was taken. */
	cell_t stamped;
	/* Frames among these others, while time stamps are used: unstamped ones had no stamp, odd
	 * ones had a stamp at which the frame cannot have come. */
	cell_t unstamped, odd;
	/* Gaps between frames by their distance from the target: near[0] at most 64 ns, near[1]
	 * more than that and at most 128 ns, and so on. The last counts gaps that are further away,
	 * and all gaps if there is no target. */
	cell_t near[PRX_NEARS + 1];
};
/* Sets n[i] to the number of gaps that are at most PRX_NEAR_NS << i from the target, and the last
 * one to the number of all gaps. No n[i] is below the one before it, also while frames arrive. */
static inline void prx_nears(const struct prx_port *p, uint64_t n[PRX_NEARS + 1])
{
	uint64_t sum = 0;

	for (unsigned i = 0; i <= PRX_NEARS; i++)
		n[i] = sum += cell_get(&p->near[i]);
}

/* What a receiver is made for. */
struct prx_spec {
	uint8_t nports; /* flows of ports 0 .. nports - 1, at most PROBE_PORTS */
	/* Streams of a port are numbered below nstreams. 0: no probes come from this port. */
	struct {
		uint16_t nstreams, nqueues;
	} of[PROBE_PORTS];
	/* [sum of nstreams], port by port: not 0 for streams that get histograms of their own.
	 * NULL: none do. */
	const uint8_t *latency;
	/* [sum of nstreams], port by port: not 0 for streams whose frames are ICMP errors and hold
	 * the probe in what these quote. NULL: none are. */
	const uint8_t *quotes;
	/* Where the probe of a stream may lie when somebody quotes its frame, as bits: those are
	 * the places where each frame is looked at for being a quotation. NULL: nowhere. From
	 * PRX_PLACES on each is. */
	const uint64_t *quoted;
	uint32_t window_blocks;     /* blocks in a flow's window: a power of two, at least 2 */
	uint16_t holes;             /* remembered for each flow, for extents; a power of two */
	uint64_t hz;                /* cycles per second, for the scales of dispersion */
	uint64_t target_gap_cycles; /* the gap that frames are to have; 0: none */
	uint64_t ns_mult;           /* ns = cycles * ns_mult >> 32; below 2^PRX_MULT_BITS */
	/* Check the IPv4, UDP, TCP, SCTP and ICMP checksums of each frame with a probe, where the
	 * device did not. */
	bool verify;
};

struct prx;
/* Bytes of a receiver. 0: they would be more than 2^40, or the spec is wrong. */
size_t prx_size(const struct prx_spec *);
/* Makes a receiver in mem: zeroed memory of prx_size() bytes, aligned to a cache line, which
 * remains the caller's. The spec is not kept. */
void prx_init(void *mem, const struct prx_spec *);
/* From the next burst on, the device's time stamps say when frames arrive, for latency and gaps.
 * NULL: they do not. The clock that was set before must live until the worker has finished its
 * current burst. Any thread. */
void prx_set_clock(struct prx *, const struct dp_clock *);
/* From the next burst on, gaps are compared with another target; 0: with none. Any thread. */
void prx_set_target(struct prx *, uint64_t gap_cycles);
/* From the next burst on, faults of frames are told to this watcher, by the queue's worker; NULL:
 * to nobody. The watcher that was set before must live until the worker has finished its current
 * burst. Any thread. */
void prx_set_watcher(struct prx *, const struct dp_watcher *);
/* The functions of the tap, on the queue's worker. now: cycles, read after the burst was taken.
 * Histograms are complete after prx_flush(), which the worker calls when it finds the queue empty
 * or its plan ends. */
void prx_rx(void *state, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
	    uint64_t now);
void prx_flush(void *state);

/* The jitter of a flow in cycles. Any thread. */
static inline double prx_jitter(const struct prx_flow *f)
{
	uint64_t bits = cell_get(&f->jitter);
	double cycles;

	memcpy(&cycles, &bits, sizeof(cycles));
	return cycles;
}

/* Reads the block of the highest numbers, which the window does not hold yet, or not all of. Read
 * it before the window: when another block becomes the highest, its bits go to the window first and
 * change here afterwards. Returns false if that is happening just now, or nothing has come yet. Any
 * thread. */
bool prx_block_now(const struct prx_flow *f, struct prx_block *out);

/* Functions for readers, on any thread. They return NULL if the spec has no such flow. */
const struct prx_flow *prx_flow(const struct prx *, unsigned port, unsigned stream, unsigned queue);
const struct prx_block *prx_window(const struct prx *, unsigned port, unsigned stream,
				   unsigned queue, uint32_t *nblocks);
const struct prx_port *prx_port(const struct prx *);
enum prx_hist { PRX_ACTUAL, PRX_INTENDED, PRX_GAP };
/* Histograms of the queue, in ns. PRX_ACTUAL: latency of received and late probes since they were
 * sent. PRX_INTENDED: the same since they were due. PRX_GAP: gaps between frames; within a burst
 * that our clock timed they are 0. */
const struct hist *prx_port_hist(const struct prx *, enum prx_hist which);
/* Histograms of a stream, PRX_ACTUAL or PRX_INTENDED. NULL: the spec did not ask for any. */
const struct hist *prx_stream_hist(const struct prx *, unsigned port, unsigned stream,
				   enum prx_hist which);
