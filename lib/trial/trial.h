/* SPDX-License-Identifier: BSD-3-Clause */
/* A trial sends at one rate for a given time, accounts for every frame, and says whether its
 * numbers may be trusted. Of ports whose streams are connections it is of these or of the
 * transactions on them instead (enum trial_of): what is said of frames holds for them as well. Its
 * steps are those of RFC 2544 23: send learning frames, wait, send,
 * wait until no more frames arrive (drain), wait once more (settle), and read all counters once.
 * Control thread only. No text that people write is parsed here. */
#pragma once
#include "calls.h"
#include "ctl.h"
#include "witness.h"

/* Defaults of struct trial_cfg, as text, like those of cfg.h. */
#define TRIAL_DFLT_LEARN_RATE "1kpps"
#define TRIAL_DFLT_DRAIN "100ms"
#define TRIAL_DFLT_DRAIN_MAX "2s"
#define TRIAL_DFLT_OVERTIME "10ms"
#define TRIAL_DFLT_MAX_CLOCK "20ppm"
#define TRIAL_DFLT_MAX_WAIT "5%"
#define TRIAL_DFLT_MAX_STALL "10ms"
/* Turns of workers that take longer are counted as stalls, even if max_stall_ns permits them. */
#define TRIAL_STALL_SEEN_NS 10000000ull
#define TRIAL_DFLT_MAX_SHORT "0.1%"
#define TRIAL_DFLT_MAX_RATE_ERROR "20ppm"
#define TRIAL_DFLT_RESOLUTION "200us"
#define TRIAL_DFLT_PROBES "on"

/* The waits of a trial, and the limits (max_*) beyond which it is not valid. Shares are in parts
 * per 10^9. */
struct trial_cfg {
	uint64_t learn; /* learning frames that each receiving port sends; 0: none */
	struct rate learn_rate;
	uint64_t learn_wait_ns; /* the pause after the learning frames */
	/* The wait for frames that are on their way ends when every frame is accounted for, or when
	 * nothing has arrived for drain_ns. It lasts drain_min_ns at least and drain_max_ns at
	 * most. */
	uint64_t drain_ns;
	uint64_t drain_min_ns, drain_max_ns;
	uint64_t settle_ns;   /* the wait after that; frames that arrive in it are late */
	uint64_t overtime_ns; /* a run that is not over so long after its time is stopped */
	uint64_t max_clock;   /* share by which the frequency of the clock may move */
	uint64_t max_wait;    /* share of the time that a worker may wait for a CPU */
	/* The longest time that one turn of a worker may take. For senders as fast as possible it
	 * is also by how much the time from the first to the last frame may be too short. */
	uint64_t max_stall_ns;
	uint64_t max_short; /* share of the intended frames that may be not sent */
	/* The mean rate is wrong if the time from the first to the last frame is off by more than
	 * this share and by more than resolution_ns. */
	uint64_t max_rate_error;
	uint64_t resolution_ns;
	/* Each frame of a port is to say which one it is, if all frames of the port have room for
	 * that. */
	bool told;
};
void trial_cfg_init(struct trial_cfg *); /* the defaults */
/* Sets the waits of RFC 2544: 2 s after learning frames, 2 s for frames on their way, 5 s to
 * settle. */
void trial_cfg_rfc2544(struct trial_cfg *);

/* What is sent at the rate, and of what all numbers are. */
enum trial_of { TRIAL_FRAMES, TRIAL_CONNECTIONS, TRIAL_TRANSACTIONS };
/* Words about them, for people and as parts of keys. */
struct trial_words {
	const char *noun, *one, *per_s; /* "frames", "frame", "pps" */
	const char *sent, *took;        /* "sent", "its device took" */
};
const struct trial_words *trial_words(enum trial_of of);

/* What a trial is to do. */
struct trial_spec {
	struct portset tx; /* senders */
	/* What any sender sends may arrive on any of these. Empty: the frames of each port arrive
	 * at its partner (0-1, 2-3), or at the port itself if its partner is not used. */
	struct portset rx;
	/* Of each sender, whatever its own setting is. Its unit is that of what the trial is of, or
	 * RATE_EACH. */
	struct rate rate;
	/* So many of the first Tx queues of each sender are used. 0: all. */
	unsigned queues;
	uint64_t duration_ns;
	struct trial_cfg cfg;
};

/* By how much the counters of one direction have grown during the trial. */
struct trial_counts {
	/* accepted: by the device. dropped: built, not accepted by the device, and thrown away. */
	uint64_t accepted, dropped;
	uint64_t tx_errors;         /* accepted, and then counted as errors by the device */
	uint64_t unconfirmed;       /* given to the kernel and not sent; holds tx_errors too */
	uint64_t arrived;           /* received by our workers before the drain was over */
	uint64_t arrived_late;      /* received by our workers after the drain was over */
	uint64_t claimed;           /* frames that works claimed, which are not in `arrived` */
	uint64_t group;             /* those of `arrived` and `arrived_late` to group addresses */
	bool unicast;               /* the trial sends none to groups: `group` is of others */
	uint64_t missed, rx_errors; /* as the receivers' devices count them */
	/* Our receivers had no free buffer. It counts frames, or looks at a queue: some drivers
	 * leave the frame in the queue and count each look. */
	uint64_t nombuf;
	bool told; /* each accepted frame said which one it was */
	/* What the frames told; see struct witness_counts. */
	uint64_t whole, whole_late; /* before and after the drain was over */
	uint64_t beyond;
	uint64_t corrupted, duplicated, reordered;
	uint64_t damaged;
	uint64_t plain;
};

/* What became of each frame. The members from `received` to `lost` add up to `sent`, unless there
 * is an `excess`. */
struct trial_fates {
	uint64_t sent; /* built, accepted or not */
	uint64_t received;
	uint64_t not_accepted; /* never accepted by the device, and thrown away */
	uint64_t tx_errors, unconfirmed;
	uint64_t rx_missed, rx_nombuf, rx_errors;
	uint64_t corrupted; /* known only where frames say which ones they are */
	uint64_t late;      /* arrived after the drain, or too late to tell copies apart */
	/* Frames that are missing, while as many frames came that said nothing: they are lost, or
	 * were not recognised. Known only where frames say which ones they are. */
	uint64_t unknown;
	uint64_t lost; /* on the wire or in the device under test: all that is left */
	uint64_t duplicated, reordered; /* known only where frames say which ones they are */
	/* frames on the receivers that are not the trial's, as far as known */
	uint64_t others;
	/* Both show that counters disagree. excess: how many more frames are accounted for than
	 * were sent. untold: how many more frames said which ones they were than the receivers
	 * counted. */
	uint64_t excess;
	uint64_t untold;
	/* Of connections their transactions, of transactions their connections; and those that
	 * failed. `lost` are all of the fates that have names (struct calls_counts). */
	uint64_t within, within_failed;
	bool told; /* frames said which ones they were; else counters alone tell */
};

/* How well a port, or all senders of a direction together, kept to what was asked. */
struct trial_load {
	bool max;                   /* as fast as possible: there is no rate to compare with */
	bool counted;               /* `intended` is known: it follows from rate and time */
	bool stopped;               /* it was stopped before it had sent everything */
	uint64_t intended, offered; /* frames; offered: went out, as far as anybody can tell */
	uint64_t given_up;          /* frames that were due and that the sender gave up */
	uint64_t behind;            /* frames that left more than 1 ms after they were due */
	double intended_pps, intended_l1_bps, intended_l2_bps;
	/* Of n sent frames it is the rate (n - 1) / duration_ns, less the share of them that did
	 * not go out. */
	double offered_pps, offered_l1_bps, offered_l2_bps;
	uint64_t duration_ns; /* from the first to the last frame */
	uint64_t due_ns;      /* duration_ns as it should have been; 0: not known */
	char why[160];        /* of what did not begin, as far as known; of one sender; "" */
};

/* One sender: a port, or one stream of connections. */
struct trial_tx {
	unsigned port;
	bool by_stream;
	unsigned stream; /* of by_stream */
	struct trial_load load;
};

/* What only a trial of connections or transactions has. */
struct trial_calls {
	struct calls_counts counts;
	/* All that is known of those that were made, and of those that were answered; NULL:
	 * nothing. */
	json_t *made, *answered;
	/* What came to all ports of the trial, and what they lost: of the whole trial only, since a
	 * port may be an end of several directions. */
	struct trial_counts own;
	/* Frames that came to the senders, and to the receivers, and belong to no call. */
	struct calls_strays strays, strays_answered;
};

/* One direction: all senders to all receivers if the trial names receivers, else one sender to the
 * port at which its frames arrive. */
struct trial_flow {
	struct portset from, to;
	struct trial_counts counts;
	struct trial_fates fates;
	struct trial_load load;
	struct trial_calls calls;
};

/* One worker that serves a port of the trial. Its stalls are turns that took too long (dp.h). */
struct trial_worker {
	unsigned lcore;
	uint64_t stalls, stalled_ns, longest_ns;
	bool waited_known;
	uint64_t waited_ns; /* ready to run, and without a CPU */
	double busy;        /* share of the time of sending in which it had work, 0 to 1 */
};

/* Where several verdicts apply, the trial gets the first of them in this order. TRIAL_VALID: none
 * of the others does. */
enum trial_verdict {
	TRIAL_VALID,
	TRIAL_COUNTERS,
	TRIAL_LINK,
	TRIAL_CLOCK,
	TRIAL_PREEMPTED,
	TRIAL_LIMITED,
	TRIAL_NVERDICTS
};
const char *trial_verdict_name(enum trial_verdict);

struct trial_result {
	enum trial_of of;
	struct portset ports; /* senders */
	struct rate rate;
	uint64_t asked_ns;         /* the time that was asked for */
	uint64_t time_ns, wall_ns; /* of the reading, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME */
	unsigned ntx, nflows, nworkers;
	struct trial_tx *tx;
	struct trial_flow *flow;
	struct trial_worker *worker;
	struct trial_fates sum; /* of all flows */
	struct trial_load load; /* of all senders */
	struct trial_calls calls;
	uint64_t inside;  /* frames that the built-in wire held when the drain was over */
	int link_changed; /* a port whose link changed; -1: none */
	double clock_moved_ppm, clock_uncertainty_ppm;
	uint64_t span_ns; /* the time in which waited_ns of the workers was measured */
	struct hist *latency[LATENCY_KINDS]; /* of all receivers; NULL: frames did not tell */
	double jitter_ns;                    /* RFC 3550, the largest; NAN: none */
	/* Receivers looked at the checksums of whole frames. Else they saw damage only in the bytes
	 * by which a frame says which one it is. */
	bool verified;
	const char *inexact; /* why frames did not tell everything; NULL: they did */
	/* Why the frames of some port told nothing. "": all told, or were not asked to. */
	char not_told[1024];
	enum trial_verdict verdict;
	/* Which verdicts apply, and for each of them a sentence for people that gives the number
	 * and its limit. */
	bool is[TRIAL_NVERDICTS];
	/* Whose fault TRIAL_LIMITED is, which may be both: a sender did not send what it was to
	 * send; our own receivers lost frames. */
	bool senders_limited, receivers_limited;
	char why[TRIAL_NVERDICTS][384];
};

/* Works out what became of every frame from the counters of one direction. Pure. */
void trial_close(const struct trial_counts *, struct trial_fates *out);
/* The frames that are accounted for: the sum of the members from `received` to `lost`. */
uint64_t trial_accounted(const struct trial_fates *);
/* Both add one record to a sum. Of durations the sum keeps the longest one; told and counted are
 * true only if they are in all records. */
void trial_fates_add(struct trial_fates *to, const struct trial_fates *from);
void trial_load_add(struct trial_load *to, const struct trial_load *from);
/* Sets verdict and the members behind it from those before it and from the limits. Pure. */
void trial_judge(struct trial_result *, const struct trial_cfg *);
/* Share of the frames that went out which was not received in time. Of connections and transactions
 * it is the larger one of the shares of both that failed. NAN: none went out, or the fates of some
 * are not known. */
double trial_loss(const struct trial_fates *);

struct trial;
/* Would trial_start() refuse this trial for what ports and streams are set to? 0, or -errno and e
 * says why. Nothing is started. */
int trial_may_start(struct ctl *, const struct trial_spec *, struct err *e);
/* What such a trial would be of, as ports and streams are set now. Likewise. */
int trial_would_be(struct ctl *, const struct trial_spec *, enum trial_of *of, struct err *e);
/* Begins a trial; only one can go on at a time. It refuses ports that are sending, ports that
 * cannot send or receive, rates of something else than the ports would send, streams with rates
 * or counts of their own, and rates that change with time: -errno, e says why, and nothing has
 * started. *out is to be freed with trial_free(). */
int trial_start(struct ctl *, const struct trial_spec *, struct trial **out, struct err *e);
/* Takes the trial further; to be called in each turn of control. 1: the trial is over and there is
 * a result. 0: it goes on. -errno: it could not go on, and e says why; trial_free() then stops what
 * it still sends. */
int trial_poll(struct trial *, struct err *e);
/* Whether its own frames are being sent, or were: before that it teaches devices where the
 * receivers are, or waits until frames of earlier runs have arrived. */
bool trial_begun(const struct trial *t);
/* Whether its time is over: it waits for what is on its way, or has a result. */
bool trial_sent(const struct trial *t);
/* What has become of its calls so far; nothing of frames. */
void trial_calls_now(const struct trial *t, struct calls_counts *out);
/* How many connections its senders have opened so far; 0 of frames. */
uint64_t trial_opened(const struct trial *t);
/* How far the trial has come: what it does now, and how much of its time has passed. all_ns is an
 * estimate, since nobody knows how long frames will be on their way. */
struct trial_progress {
	const char *doing;
	uint64_t gone_ns, all_ns;
};
void trial_progress(const struct trial *, struct trial_progress *out);
/* The result, which goes with the trial. NULL: the trial is not over. */
const struct trial_result *trial_result(const struct trial *);
/* Frees the trial and its result. A trial that is not over is stopped. NULL is allowed. */
void trial_free(struct trial *);

/* The result as {"trial":{"ports","verdict","reasons","why",...}}, see trial_json.c. New
 * reference. */
json_t *trial_json(const struct trial_result *, const struct trial_cfg *);
/* Numbers of documents about trials: to a millionth, null if it is not finite; a rate as it would
 * be set. New references. */
json_t *trial_json_real(double v);
json_t *trial_json_rate(const struct rate *r);
