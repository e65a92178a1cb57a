/* SPDX-License-Identifier: BSD-3-Clause */
/* What a port can carry: which trials are to be made, what they say together, what the limit is,
 * and how many cores the link would need. Nothing is measured here: capacity_next() asks for a
 * trial, somebody makes it, and capacity_feed() takes the reading. Pure. docs/capacity.md. */
#pragma once
#include "base.h"
#include "rate_search.h"

#define CAPACITY_SIZES 16
#define CAPACITY_COUNTS 16 /* numbers of queues */
#define CAPACITY_QUEUES 256
#define CAPACITY_NS_AROUND 150000000ull /* a trial takes about so much longer than it sends */

/* The first two are about the side with the same number (enum capacity_side_of). */
enum capacity_direction { CAPACITY_SEND, CAPACITY_RECEIVE, CAPACITY_BOTH, CAPACITY_DIRECTIONS };
const char *capacity_direction_name(enum capacity_direction);

/* What held the port back. TESTER: something else than the port, such as the port that sends to it,
 * so that the port may carry more. UNKNOWN: nothing that is counted was at its limit. */
enum capacity_limit {
	CAPACITY_UNKNOWN,
	CAPACITY_CORE,
	CAPACITY_LINK,
	CAPACITY_PCIE,
	CAPACITY_DEVICE,
	CAPACITY_MEMORY,
	CAPACITY_TESTER,
	CAPACITY_LIMITS
};
const char *capacity_limit_name(enum capacity_limit);

/* Of both ports: the port that is measured, and its partner, to which it is joined. */
enum capacity_who { CAPACITY_OWN, CAPACITY_PARTNER, CAPACITY_PORTS };
enum capacity_side_of { CAPACITY_TX, CAPACITY_RX, CAPACITY_SIDES };

/* What is known of a port before any trial. */
struct capacity_port {
	unsigned port;
	unsigned nqueues[CAPACITY_SIDES];
	double link_bps; /* what percent is of */
	bool link_told;  /* the device has a link of that speed; else it only says what 100% is */
	double pcie_bps; /* what its slot carries behind the encoding; 0: not known */
	/* A port of our own wire: it takes no frame before its partner's workers have taken those
	 * before. */
	bool waits;
};

/* The Tx or the Rx queues of a port in a trial, with the workers that serve them. */
struct capacity_side {
	unsigned queues, workers; /* that moved frames */
	double pps;
	/* Tx: so much of pps may be frames that only lay in the queues of the device. */
	double room;
	double busy;          /* the busiest of the workers: the share of the time with work */
	unsigned busiest;     /* its lcore */
	double cycles;        /* of a worker for a frame; NAN: not known */
	bool shared;          /* one of the workers moved frames of another port too */
	double stall_share;   /* Tx: of all calls of the device, those that it did not take whole */
	double starved_share; /* Tx: turns without a free buffer, for each burst */
};

/* CLEAN: the trial was valid, as far as the port that is measured is concerned. SHORT: so it was,
 * but a sender sent less than it was to. DISTURBED: it says nothing. */
enum capacity_worth { CAPACITY_CLEAN, CAPACITY_SHORT, CAPACITY_DISTURBED };

struct capacity_queue {
	unsigned queue;
	int tx_worker, rx_worker; /* lcores; -1: no frame went that way */
	double sent_pps, received_pps;
};

/* What a trial told. Frames `for` the port are those that its partner sent. */
struct capacity_reading {
	enum capacity_worth worth;
	char why[256];
	double hz; /* cycles per second */
	struct capacity_side side[CAPACITY_PORTS][CAPACITY_SIDES];
	unsigned workers; /* of the port that is measured, that moved frames of it */
	uint64_t sent_for, came;
	/* Of the frames for the port, those that its device lost because no worker took them, those
	 * for which there was no buffer, and those that nobody saw again. */
	uint64_t missed, nobuffer, lost;
	unsigned nqueues;
	struct capacity_queue queue[CAPACITY_QUEUES]; /* of the port that is measured */
};

/* EXACT: it carries that, and no more. LEAST: at least that; what held it back was not the port, or
 * the trials above were not valid. NONE: it carries nothing within the allowed loss. INVALID: there
 * is no number. */
enum capacity_state {
	CAPACITY_OPEN,
	CAPACITY_EXACT,
	CAPACITY_LEAST,
	CAPACITY_NONE,
	CAPACITY_INVALID
};
const char *capacity_state_name(enum capacity_state);

struct capacity_point {
	enum capacity_direction direction;
	unsigned size, queues; /* asked for; `at` has the queues that were really used */
	enum capacity_state state;
	struct rate_search search;
	/* The trial at the highest rate that passed. Its numbers count in EXACT and LEAST. */
	struct capacity_reading at;
	/* The trial at the lowest rate above it that did not pass. */
	struct capacity_reading above;
	double l1_bps; /* bits/s on the wire, the larger of both ways */
	enum capacity_limit limit;
	char why[320]; /* the limit in words, or why there is no number */
	/* How many cores the port would need for its link, and that in words; 0 and "": not
	 * known. */
	unsigned cores;
	char need[320];
};

struct capacity_ask {
	unsigned nsizes, ncounts;
	unsigned size[CAPACITY_SIZES], count[CAPACITY_COUNTS];
	bool direction[CAPACITY_DIRECTIONS];
	double max_loss; /* share of the frames for the port */
	struct capacity_port port[CAPACITY_PORTS];
};

/* A trial that is to be made. The port sends unless direction is RECEIVE; its partner sends unless
 * it is SEND. */
struct capacity_trial {
	enum capacity_direction direction;
	unsigned size, queues;
	double pps; /* of each sender; INFINITY: as fast as possible */
};

struct capacity {
	struct capacity_ask ask;
	unsigned npoints, now; /* now: the point that is being measured; npoints: it is over */
	struct capacity_point *point;
};

/* Begins; *k is to be freed with capacity_free(). */
void capacity_begin(struct capacity *k, const struct capacity_ask *ask);
void capacity_free(struct capacity *k);
/* The next trial. false: all points are measured. */
bool capacity_next(const struct capacity *k, struct capacity_trial *out);
void capacity_feed(struct capacity *k, const struct capacity_reading *r);
/* How many trials are likely from now on. */
unsigned capacity_rest(const struct capacity *k);

/* ---- capacity_limit.c ---- */

/* Names what held the port back at a point whose search is over, and what the link would need:
 * limit, why, cores and need. */
void capacity_judge(const struct capacity_ask *ask, struct capacity_point *p);
/* Whether more than a share of the rate that may be neglected can be frames that only lay in the
 * queues of a device that did not take more; *share: of the rate. */
bool capacity_in_queues(const struct capacity_point *p, double *share);
/* About how many bytes a slot carries for a frame of that size, with headers of PCIe and the
 * descriptor of the frame. */
double capacity_pcie_bytes(unsigned size);
/* Frames/s of that size that fill a link. */
double capacity_link_pps(double bps, unsigned size);
/* Bits/s on the wire of so many frames/s. */
double capacity_l1_bps(double pps, unsigned size);
