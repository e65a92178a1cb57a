/* SPDX-License-Identifier: BSD-3-Clause */
/* A trial: send at one rate for one time, account for every frame, and say whether the numbers may be trusted. learn, send, stop Tx, drain, settle,
 * read once (RFC 2544 23). Control thread only; no text of people is parsed here. */
#pragma once
#include "ctl.h"
#include "witness.h"

/* Defaults of struct trial_cfg, as in cfg.h. */
#define TRIAL_DFLT_LEARN_RATE "1kpps"
#define TRIAL_DFLT_DRAIN "100ms"
#define TRIAL_DFLT_DRAIN_MAX "2s"
#define TRIAL_DFLT_OVERTIME "10ms"
#define TRIAL_DFLT_MAX_CLOCK "20ppm"
#define TRIAL_DFLT_MAX_WAIT "5%"
#define TRIAL_DFLT_MAX_STALL "10ms"
#define TRIAL_DFLT_MAX_SHORT "0.1%"
#define TRIAL_DFLT_MAX_RATE_ERROR "20ppm"
#define TRIAL_DFLT_RESOLUTION "200us"
#define TRIAL_DFLT_PROBES "on"

/* Waits, and limits beyond which a trial is not valid. Shares are in parts per 10^9. */
struct trial_cfg {
	uint64_t learn;             /* frames that each receiving port sends before, its own; 0: none */
	struct rate learn_rate;
	uint64_t learn_wait_ns;     /* after them */
	uint64_t drain_ns;          /* silence that ends the wait for frames which are on their way, */
	uint64_t drain_min_ns, drain_max_ns; /* not before and not after so long */
	uint64_t settle_ns;         /* then; what arrives meanwhile is late */
	uint64_t overtime_ns;       /* after its time a run is stopped */
	uint64_t max_clock;         /* the calibration of the clock moved by */
	uint64_t max_wait;          /* of its time a worker waited for a CPU */
	uint64_t max_stall_ns;      /* one turn of a worker took */
	uint64_t max_short;         /* frames too few */
	uint64_t max_rate_error;    /* the mean rate is off by, and by more than resolution_ns of the time */
	uint64_t resolution_ns;
	bool told;                  /* each frame says which one it is, where the smallest has room for that */
};
void trial_cfg_init(struct trial_cfg *);
void trial_cfg_rfc2544(struct trial_cfg *); /* its waits: 2 s after learning, 2 s for the residue, 5 s to settle */

struct trial_spec {
	struct portset tx;
	struct portset rx;          /* what any of them sends may arrive on any of these; empty: each one's partner (0-1, 2-3), else itself */
	struct rate rate;           /* of each port, whatever its own setting is */
	uint64_t duration_ns;
	struct trial_cfg cfg;
};

/* What is read of one direction, as it changed during the trial. */
struct trial_counts {
	uint64_t accepted, dropped; /* by the device; built and thrown away */
	uint64_t tx_errors;         /* the device's, of accepted ones */
	uint64_t unconfirmed;       /* handed to the kernel and not sent by the interface, those with errors among them */
	uint64_t arrived;           /* frames that our workers received until the wait was over, */
	uint64_t arrived_late;      /* and from then on until the end */
	uint64_t group;             /* of all of them to group addresses */
	bool unicast;               /* the trial sends none to these: they are others' */
	uint64_t missed, rx_errors;
	uint64_t nombuf;            /* frames, or looks at a queue: some drivers leave the frame where it is and count the look */
	/* Told by the frames, where each says which one it is. */
	bool told;
	uint64_t whole, whole_late; /* different ones that arrived whole until the wait was over, and from then on */
	uint64_t beyond;            /* too late to tell whether they are duplicates */
	uint64_t corrupted, duplicated, reordered;
	uint64_t damaged;           /* beyond telling whose they were */
	uint64_t plain;             /* frames that said nothing: others', or the trial's that somebody on the way has changed */
};

/* Where each frame is: those down to `lost` are sent, but for `excess`. */
struct trial_fates {
	uint64_t sent;
	uint64_t received;
	uint64_t not_accepted;      /* built, and not taken by the device to the end */
	uint64_t tx_errors, unconfirmed;
	uint64_t rx_missed, rx_nombuf, rx_errors;
	uint64_t corrupted;         /* where frames tell, as the next but one */
	uint64_t late;
	uint64_t unknown;           /* did not arrive as themselves, and as many came that said nothing: lost, or not recognised */
	uint64_t lost;              /* on the wire or in the device under test: what is left */
	uint64_t duplicated, reordered;
	uint64_t others;            /* frames on the receivers that are not the trial's, as far as known */
	uint64_t excess;            /* more is accounted for than was sent: a sum that does not close */
	uint64_t untold;            /* more frames told of themselves than receivers counted: likewise */
	bool told;
};

/* How well a port, or those of a direction together, kept to what was asked. */
struct trial_load {
	bool max;                   /* as fast as possible: nothing to compare */
	bool counted;               /* how many frames are to be sent follows from rate and time */
	bool stopped;               /* it had not sent everything long after its time */
	uint64_t intended, offered; /* frames; offered: that went out as far as anybody can tell */
	uint64_t given_up;          /* frames that were not even built, as the sender tells */
	uint64_t behind;            /* frames that left more than 1 ms after they were due */
	double intended_pps, intended_l1_bps, intended_l2_bps;
	double offered_pps, offered_l1_bps, offered_l2_bps; /* (n - 1) / (last - first) */
	uint64_t duration_ns;       /* last - first */
	uint64_t due_ns;            /* what it should have been for as many frames; 0: not known */
};

struct trial_tx { unsigned port; struct trial_load load; };

struct trial_flow {
	struct portset from, to;
	struct trial_counts counts;
	struct trial_fates fates;
	struct trial_load load;
};

struct trial_worker {
	unsigned lcore;
	uint64_t stalls, stalled_ns, longest_ns;
	bool waited_known;
	uint64_t waited_ns;         /* for a CPU */
};

/* In the order in which they are given: the first that applies. */
enum trial_verdict { TRIAL_VALID, TRIAL_COUNTERS, TRIAL_LINK, TRIAL_CLOCK, TRIAL_PREEMPTED, TRIAL_LIMITED, TRIAL_NVERDICTS };
const char *trial_verdict_name(enum trial_verdict);

struct trial_result {
	struct portset ports;       /* senders */
	struct rate rate;
	uint64_t asked_ns;          /* the time that was asked for */
	uint64_t time_ns, wall_ns;  /* of the reading, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME */
	unsigned ntx, nflows, nworkers;
	struct trial_tx *tx;
	struct trial_flow *flow;
	struct trial_worker *worker;
	struct trial_fates sum;     /* of all flows */
	struct trial_load load;
	uint64_t inside;            /* frames that our own device under test still held when the wait was over */
	int link_changed;           /* port, -1: none */
	double clock_moved_ppm, clock_uncertainty_ppm;
	uint64_t span_ns;           /* in which workers could wait */
	struct hist *latency[LATENCY_KINDS]; /* NULL: frames did not tell */
	double jitter_ns;           /* RFC 3550, the largest; NAN: none */
	bool verified;              /* checksums of whole frames were looked at; else damage shows where a frame says which it is */
	const char *inexact;        /* why frames did not tell everything; NULL: they did */
	char not_told[1024];        /* why those of some port told nothing; "": all did, or were not to */
	enum trial_verdict verdict;
	bool is[TRIAL_NVERDICTS];   /* why[] says of which number, for people */
	char why[TRIAL_NVERDICTS][256];
};

/* Pure. Every frame's fate; the sum of them is `sent` unless there is an excess. */
void trial_close(const struct trial_counts *, struct trial_fates *out);
uint64_t trial_accounted(const struct trial_fates *); /* the sum, `lost` in it */
void trial_fates_add(struct trial_fates *to, const struct trial_fates *from);
void trial_load_add(struct trial_load *to, const struct trial_load *from);
/* Pure. From everything above `verdict` and the limits: verdict, is and why. */
void trial_judge(struct trial_result *, const struct trial_cfg *);
/* Share of what was handed to the wire that was not received; NAN: nothing was, or it is not known. */
double trial_loss(const struct trial_fates *);

struct trial;
/* Refused, with nothing changed: ports that send, that cannot, streams with rates or counts of their own, one trial while another goes on. */
int trial_start(struct ctl *, const struct trial_spec *, struct trial **out, struct err *e);
/* Each turn: 1 it is over and there is a result, 0 not yet, -errno it could not go on and sends nothing any more. */
int trial_poll(struct trial *, struct err *e);
/* How far it has come: what it does now, and the time that has passed of all that it takes as far as can be told. */
struct trial_progress { const char *doing; uint64_t gone_ns, all_ns; };
void trial_progress(const struct trial *, struct trial_progress *out);
const struct trial_result *trial_result(const struct trial *);
/* Also in the middle: what it sends is stopped. */
void trial_free(struct trial *);

/* {"trial":{"ports","verdict","reasons","why",...}}, see trial_json.c. New reference. */
json_t *trial_json(const struct trial_result *, const struct trial_cfg *);
