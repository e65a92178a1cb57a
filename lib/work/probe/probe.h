/* SPDX-License-Identifier: BSD-3-Clause */
/* What the receivers of this process learn from the probes that its ports send: counts for each
 * port and stream, and latency. Control thread only. */
#pragma once
#include "ctl.h"
#include "hist.h"

/* What became of the probes of one port, or of one stream, since open or the last `clear`. The
 * counts are exact when nothing is being sent and nothing is on its way; until then, what is on its
 * way counts as lost. */
struct probe_counts {
	uint64_t sent;       /* probes that the device accepted */
	uint64_t received;   /* probes that came in whole; copies do not count */
	uint64_t lost;       /* sent - received - corrupted - late, not below 0 */
	uint64_t duplicated; /* further copies of frames that came in before */
	uint64_t reordered;  /* RFC 4737, among those received */
	uint64_t late;       /* came too late to tell whether they are copies: see prx_flow.late */
	/* Frames that are known by their probe, but a checksum is wrong. Further copies of a frame
	 * are duplicates, whichever of the copies is whole. */
	uint64_t corrupted;
	/* RFC 4737 4.2.2. UINT64_MAX: not known, because the largest may be from before the last
	 * `clear`. */
	uint64_t extent_max;
	uint64_t extent_unknown; /* how many reordered probes have an extent that is not known */
	double extent_mean;      /* NAN: none */
	double jitter_ns;        /* RFC 3550, the largest among its flows; NAN: none */
	/* The most Rx queues on which probes of one stream and Tx queue came in. Order is judged on
	 * each queue alone. */
	unsigned nrxq;
	bool inexact;    /* something was not counted exactly, see `why` */
	const char *why; /* in words, static; NULL: all is exact */
};
/* Fills *out. stream: the id of a stream; -1: all streams of the port. receivers: counts only what
 * came in on these ports; NULL: on any port. Returns false if the port has sent no probes, none of
 * its probes came in, and no receiver has tables for them. */
bool probe_counts(struct ctl *, unsigned port, int stream, const struct portset *receivers,
		  struct probe_counts *out);
/* How many frames came in on these ports that held a probe and are so damaged that nobody can tell
 * which port sent them. receivers NULL, here and below: all ports. */
uint64_t probe_damaged(struct ctl *, const struct portset *receivers);
/* How many frames without a probe came in on these ports. */
uint64_t probe_plain(struct ctl *, const struct portset *receivers);
/* A histogram in ns of all that came in on these ports, over all of their Rx queues: latency since
 * the moment of sending (actual) or since the frame was due (intended), or the gaps between frames
 * on each queue. It is new, the caller frees it with free(). NULL: there are none. */
enum probe_latency { PROBE_ACTUAL, PROBE_INTENDED, PROBE_GAP };
struct hist *probe_hist(struct ctl *, const struct portset *receivers, enum probe_latency which);

/* Do receivers check the checksums of whole frames? If not, only damage to probes is seen. */
bool probes_verify(const struct ctl *);
/* The most memory that receivers may take together: the default in MB, set, and get. */
#define PROBES_DFLT_MEMORY "2000" /* as text, like the defaults of settings in cfg.h */
void probes_memory_set(struct ctl *, uint64_t bytes);
uint64_t probes_memory_most(const struct ctl *);

/* Which clock says when frames arrive: ours, when a worker takes them, or the device's, by its time
 * stamps. */
enum probe_clock { PROBE_SOFTWARE, PROBE_NIC, PROBE_CLOCKS };
const char *probe_clock_word(enum probe_clock); /* "software", "nic"; PROBE_CLOCKS: "both" */
/* How many frames came in on the port since the last clear, by the clock that timed them. */
struct probe_timed {
	uint64_t frames[PROBE_CLOCKS];
};
struct probe_timed probe_timed(struct ctl *, unsigned port);

/* The tester's own share of a latency, as `calibrate` measured it from port tx to port rx. It is
 * kept for each clock by itself, because with a device's time stamps it is not the same as
 * without. */
struct probe_bias {
	bool known;
	enum probe_clock clock; /* the clock that timed the arrivals */
	uint64_t median_ns, min_ns, frames;
	uint64_t wall_ns; /* when it was measured */
};
void probe_bias_set(struct ctl *, unsigned tx, unsigned rx, const struct probe_bias *);
/* The own share from port tx to port rx. tx -1: from any port from which rx was measured, its
 * partner first. `known` is false if none was measured with this clock. It is always false for
 * PROBE_CLOCKS, because no share holds for arrivals that were timed by both clocks. */
struct probe_bias probe_bias(const struct ctl *, int tx, unsigned rx, enum probe_clock);

/* Begins to take single latencies of probes that come in on the port, as its setting `latsampler`
 * says. Returns 0 or -errno, and *e says why. */
int probe_sampler_start(struct ctl *, unsigned port, struct err *e);
/* samples: how many were taken. beyond: how many came after as many as were asked for. lost: how
 * many found no room on their way to control. file: the file of the setting, as it was when the
 * sampler began. */
struct sampler_result {
	uint64_t samples, beyond, lost;
	char file[VT_TEXT_MAX];
};
/* Ends the port's sampler, and appends to *text what belongs into its file, which is not written
 * here: the line "Latency", then a line for each latency in ns. Returns false if the sampler is not
 * on. */
bool probe_sampler_stop(struct ctl *, unsigned port, struct sbuf *text, struct sampler_result *out);

/* The document of `show latency`; a new reference. null: not known, or too few samples for it.
 * {"show":"latency", "time_ns", "wall_ns", "armed", "settled", "corrected": LATENCY_CORRECTED was
 *    asked for, "clock":{"hz", "uncertainty_ppm", "tick_ns"}, "memory_bytes", "window",
 *  "ports":[{"port", "name", "queues", "probes", "plain", "damaged", "foreign",
 *    "early": probes that by the clocks came before they were sent, or more than 2^35 cycles after;
 *      they count with latency 0,
 *    "verify": checksums of whole frames are checked,
 *    "counts":C, "corrected": the own share was subtracted,
 *    "jitter":{"limit_ns", "compared", "above", "share"} or null,
 *    "bias_ns": the own share, measured with the clock that timed these arrivals,
 *    "bias_clock": that clock,
 *    "bias_other": true if the own share was measured only with another clock,
 *    "timestamps":{"source":"nic"|"software"|"both", "nic", "software": frames timed by each clock,
 *      "unstamped", "odd": frames timed by our clock, while stamps count, because they had no stamp
 *      or one that cannot be right, "error_ns" or null, "text"},
 *    "latency":{"actual":H, "intended":H}, "gap":G, "from":[{"port", C}]}],
 *  "streams":[{"port", "stream", C, "latency":H or null, "intended":H or null, "corrected",
 *    "receivers":[port,..]}]}
 * C: the members of struct probe_counts.
 * H: {"samples", "error", "above", "min_ns", "mean_ns", "max_ns", "stdev_ns", "pdv_ns",
 *    "percentiles_ns":{"p50",..,"p99_9",..}}.
 * G: the members of H, and "target_ns", "near":{"64",..} (shares), "cv", "dispersion":{"1us",..}.
 * Flags: LATENCY_CORRECTED subtracts the own share; LATENCY_NO_STREAMS leaves "streams" empty;
 * LATENCY_BINS adds "bins":{"from_ns", "per_octave", "counts"} to latency.actual of ports, where
 * counts[i] is how many probes took from_ns * 2^(i / per_octave) or more, up to the next bin. */
enum { LATENCY_CORRECTED = 1, LATENCY_NO_STREAMS = 2, LATENCY_BINS = 4 };
json_t *probe_latency_json(struct ctl *, const struct portset *ports, unsigned flags);
/* The "streams" of that document for one port: only its streams with `latency on`. A new
 * reference. */
json_t *probe_streams_json(struct ctl *, unsigned port);
/* Appends the histograms of the ports, and those of their streams with `latency on`, as a log that
 * HdrHistogram's tools read. Returns 0 or -errno, and *e says why: -ENODATA if there are none. */
int probe_latency_log(struct ctl *, const struct portset *ports, struct sbuf *out, struct err *e);
