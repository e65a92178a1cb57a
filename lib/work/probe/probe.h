/* SPDX-License-Identifier: BSD-3-Clause */
/* What the receivers of this process make of the probes that its ports send: counts per (port, stream), latency. Control thread only. */
#pragma once
#include "ctl.h"
#include "hist.h"

/* Of one port's probes, or of one stream's; since open or the last `clear`. Exact when nothing is being sent and nothing is on its way: until then
 * what is on its way counts as lost. */
struct probe_counts {
	uint64_t sent;        /* accepted by the device */
	uint64_t received;    /* different ones, whole */
	uint64_t lost;        /* sent - received - corrupted - late, not below 0 */
	uint64_t duplicated;  /* further copies */
	uint64_t reordered;   /* RFC 4737, of those received */
	uint64_t late;        /* older than the window when they came */
	uint64_t corrupted;   /* known by their probe; a checksum is wrong. Copies of a frame are duplicates, whichever of them is whole */
	uint64_t extent_max;  /* RFC 4737 4.2.2; UINT64_MAX: not known, it may be from before the last `clear` */
	uint64_t extent_unknown; /* reordered ones whose extent is not known */
	double extent_mean;   /* NAN: none */
	double jitter_ns;     /* RFC 3550, the largest of its flows; NAN: none */
	unsigned nrxq;        /* Rx queues on which probes of one stream and Tx queue came, at most: order is judged on each alone */
	bool inexact;         /* something was not counted exactly, see `why` */
	const char *why;      /* in words, static; NULL: it is exact */
};
/* stream: its id, -1: all streams of the port. receivers: only what came in there; NULL: anywhere. false: nothing is armed, or the port has sent
 * no probes and none of its came in. */
bool probe_counts(struct ctl *, unsigned port, int stream, const struct portset *receivers, struct probe_counts *out);
/* Frames on the receivers that had probes in them and are damaged beyond telling whose they were. */
uint64_t probe_damaged(struct ctl *, const struct portset *receivers);
/* Frames on the receivers that had none. */
uint64_t probe_plain(struct ctl *, const struct portset *receivers);
/* Whole probes that no port of this process sent. */
uint64_t probe_foreign(struct ctl *, const struct portset *receivers);
/* Latency in ns of all that came in on these ports (histograms of their queues added up), or the gaps between frames on each of their queues; new,
 * free() it; NULL: nothing is armed. */
enum probe_latency { PROBE_ACTUAL, PROBE_INTENDED, PROBE_GAP };
struct hist *probe_hist(struct ctl *, const struct portset *receivers, enum probe_latency which);

/* Does some port send probes, or have receivers been armed for them and hold results? */
bool probes_armed(const struct ctl *);
/* Are checksums of whole frames looked at? Else damage shows in probes alone. */
bool probes_verify(const struct ctl *);
bool probes_settled(struct ctl *); /* nothing is sending: what was sent and has not come is lost, or late */
/* Most memory that receivers may take together. */
#define PROBES_DFLT_MEMORY "2000" /* MB; as the defaults of cfg.h */
void probes_memory_set(struct ctl *, uint64_t bytes);
uint64_t probes_memory_most(const struct ctl *); /* as it was set */

/* Who says when frames arrive: our clock when a worker takes them, or the device's time stamps. */
enum probe_clock { PROBE_SOFTWARE, PROBE_NIC, PROBE_CLOCKS };
const char *probe_clock_word(enum probe_clock); /* "software", "nic"; of PROBE_CLOCKS "both" */
/* Frames on the port since the last clear, by who timed them. */
struct probe_timed { uint64_t frames[PROBE_CLOCKS]; };
struct probe_timed probe_timed(struct ctl *, unsigned port);

/* The tester's own share of a latency, as `calibrate` measured it from port tx to port rx, of each clock by itself: with time stamps of a
 * device it is another one than without. */
struct probe_bias {
	bool known;
	enum probe_clock clock; /* that timed the arrivals */
	uint64_t median_ns, min_ns, frames;
	uint64_t wall_ns;     /* when */
};
void probe_bias_set(struct ctl *, unsigned tx, unsigned rx, const struct probe_bias *);
/* of -1: of whatever port was measured to rx, the partner first. PROBE_CLOCKS: none is of two clocks. known false: none. */
struct probe_bias probe_bias(const struct ctl *, int tx, unsigned rx, enum probe_clock);

/* Single latencies of what comes in on the port, by its setting `latsampler`. */
int probe_sampler_start(struct ctl *, unsigned port, struct err *e);
struct sampler_result {
	uint64_t samples, beyond, lost; /* taken; more than were asked for; that found no room on their way, and are not among the taken */
	char file[VT_TEXT_MAX];         /* of the setting when it began */
};
/* Appends the file's text: "Latency", then a line in ns each. false: it is not on. */
bool probe_sampler_stop(struct ctl *, unsigned port, struct sbuf *text, struct sampler_result *out);

/* {"show":"latency","time_ns","wall_ns","armed","settled","corrected","clock":{"hz","uncertainty_ppm"},"memory_bytes","window",
 *  "ports":[{"port","name","queues","probes","plain","damaged","early": before they were sent, by the clocks, or 2^35 cycles after: counted with
 *    latency 0,"foreign","verify": checksums of whole frames are looked at,"counts":C,"corrected": the own share was subtracted,
 *    "jitter":{"limit_ns","compared","above","share"} or null,
 *    "bias_ns": measured by the clock that timed these arrivals,"bias_clock": which one,"bias_other": one that was measured by the other clock,
 *    "timestamps":{"source":"nic"|"software"|"both","nic","software": frames timed by each,"unstamped","odd": of the latter, those without a stamp
 *    though stamps count, and those with one that cannot be,"error_ns" or null,"text"},
 *    "latency":{"actual":H,"intended":H},"gap":G,"from":[{"port",C}]}],
 *  "streams":[{"port","stream",C,"latency":H or null,"intended": likewise,"corrected","receivers":[port,..]}]}
 * C: the members of struct probe_counts. H: {"samples","error","above","min_ns","mean_ns","max_ns","stdev_ns","pdv_ns",
 *    "percentiles_ns":{"p50",..,"p99_9",..}}.
 * G: H's members beside "target_ns", "near":{"64",..} (shares), "cv", "dispersion":{"1us",..}. null: not known, or too few samples for it. */
/* LATENCY_BINS: latency.actual of ports has "bins": {"from_ns", "per_octave", "counts"}, how many took from from_ns * 2 ^ (i / per_octave) on. */
enum { LATENCY_CORRECTED = 1, LATENCY_NO_STREAMS = 2, LATENCY_BINS = 4 };
json_t *probe_latency_json(struct ctl *, const struct portset *ports, unsigned flags);
/* Its "streams" of one port, those with `latency on` alone. */
json_t *probe_streams_json(struct ctl *, unsigned port);
/* Histograms of the ports and of their streams with `latency on` as a log that HdrHistogram's tools read. */
int probe_latency_log(struct ctl *, const struct portset *ports, struct sbuf *out, struct err *e);
