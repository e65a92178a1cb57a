/* SPDX-License-Identifier: BSD-3-Clause */
/* Latency under load: finds the limit, then measures some loads up to it, and says at which of them
 * latency begins to rise. Nothing is measured here: knee_next() asks for a trial, somebody makes
 * it, and knee_feed() takes what came of it. Pure. docs/knee.md. */
#pragma once
#include "rate_search.h"
#include "trial.h"

#define KNEE_DFLT_LOADS 10
#define KNEE_MOST_LOADS 100
/* The knee is below the first load at which the 99th percentile is more than so many times that of
 * the lowest load. */
#define KNEE_FACTOR 2.0
/* Where the tester was the limit, loads end so far below it, as a share: what it could do once, in
 * the search, it cannot do each time. */
#define KNEE_SPARE 0.05
/* How often the trial of a load is repeated if it was not valid. */
#define KNEE_AGAIN RATE_SEARCH_AGAIN

enum knee_rank { KNEE_P50, KNEE_P90, KNEE_P99, KNEE_P999, KNEE_P9999, KNEE_RANKS };
struct knee_rank_words {
	const char *key; /* "p99_9" */
	double percent;
	uint64_t samples; /* fewer say nothing about it */
};
extern const struct knee_rank_words knee_ranks[KNEE_RANKS];

/* Times of frames: DUE and SENT. Of connections and transactions: all but SENT. */
enum knee_time {
	KNEE_DUE,     /* from when it was due */
	KNEE_SENT,    /* from when it was sent */
	KNEE_CONNECT, /* from the SYN to the established connection */
	KNEE_FIRST,   /* from the request to the first byte of the response */
	KNEE_WHOLE,   /* and to the last one */
	KNEE_CLOSE,   /* from the close to the end of both directions */
	KNEE_TIMES
};
const char *knee_time_key(enum knee_time);  /* "since_due" */
const char *knee_time_name(enum knee_time); /* "since due" */
/* Whether these have that time at all, and whether it decides where the knee is. */
bool knee_time_of(enum trial_of, enum knee_time);
bool knee_time_decides(enum trial_of, enum knee_time);

struct knee_times {
	uint64_t samples;
	double ns[KNEE_RANKS]; /* NAN: too few samples, or beyond what can be measured */
	double max_ns;         /* NAN: not known */
};

/* What a trial told. */
struct knee_reading {
	bool valid;
	/* It was valid but for this, that a sender did not send so fast. */
	bool is_short;
	char verdict[32];
	char why[384];
	double intended, offered; /* each second, of all senders; NAN: none */
	double each;              /* each second, of the slowest sender */
	double passed;            /* of `each`, what came through; 0: not known */
	double loss;              /* share; NAN: not known */
	double resent;            /* of segments of TCP, the share that was sent again; NAN: none */
	struct knee_times time[KNEE_TIMES];
};

struct knee_load {
	double share;     /* of the limit */
	struct rate rate; /* of each sender */
	unsigned trials;  /* that were made; 0: it is not measured */
	struct knee_reading at;
};

/* GIVEN: the user said so. EXACT: more is lost at a rate little above. LEAST: nothing above was
 * found that fails, or not by valid trials; it is KNEE_SPARE below the highest that passed.
 * NOTHING: no rate passes. INVALID: no trial was valid. */
enum knee_limit { KNEE_SEARCHING, KNEE_GIVEN, KNEE_EXACT, KNEE_LEAST, KNEE_NOTHING, KNEE_INVALID };
const char *knee_limit_name(enum knee_limit);

struct knee_ask {
	struct rate max; /* RATE_MAX: it is searched */
	unsigned nloads; /* 1 to KNEE_MOST_LOADS */
	double max_loss; /* share */
	/* Whether sending again is a limit, too: TCP mends what is lost, so that connections fail
	 * long after it has begun. */
	bool by_resent;
	double max_resent; /* share */
};

struct knee {
	struct knee_ask ask;
	enum knee_limit limit_by;
	struct rate limit; /* of each sender */
	char why[384];     /* why there is no limit, or what kept the search from a higher one */
	struct rate_search search;
	unsigned now; /* the load that is being measured; ask.nloads: it is over */
	struct knee_load load[KNEE_MOST_LOADS];
};

void knee_begin(struct knee *k, const struct knee_ask *ask);
/* The rate of the next trial. false: it is over. */
bool knee_next(const struct knee *k, struct rate *out);
void knee_feed(struct knee *k, const struct knee_reading *r);
/* How many trials are likely from now on. */
unsigned knee_rest(const struct knee *k);
/* Loads that have been measured, those that are not valid with them. */
unsigned knee_measured(const struct knee *k);

/* Where the knee is. */
enum knee_found {
	KNEE_FOUND,   /* at load `at`; the next one that is valid, `above`, is beyond it */
	KNEE_BEYOND,  /* at no load is it worse: `at` is the highest one */
	KNEE_UNKNOWN, /* too few loads are valid, or too few samples */
};
const char *knee_found_name(enum knee_found);
struct knee_place {
	enum knee_found found;
	unsigned base, at, above;
	char why[256]; /* what is worse at `above`, or why it is not known */
};
void knee_find(const struct knee *k, enum trial_of of, struct knee_place *out);
