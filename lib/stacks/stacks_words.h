/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to be measured: the words of `stacks`. */
#pragma once
#include "base.h"

enum stacks_arm { STACKS_KK, STACKS_PK, STACKS_PP, STACKS_ARMS };
extern const char *const stacks_arm_name[STACKS_ARMS];

/* Transactions of one byte, or bytes without end, with what conf their records get. */
struct stacks_kind {
	const char *name;
	bool udp, stream, closes; /* closes: a connection for each transaction */
	bool iperf;               /* iperf3: its own options say the rest, also whether it is UDP */
	unsigned flows;           /* connections, if nothing else is said */
	uint32_t bytes;           /* of a request and of its response, or of a datagram */
	uint32_t gap_us;          /* from one datagram of a stream to the next */
};
extern const struct stacks_kind stacks_kinds[];
#define STACKS_KINDS 6
const struct stacks_kind *stacks_kind_find(const char *name); /* NULL: there is none */

#define STACKS_RUNS_MOST 25
#define STACKS_PORT 5300
#define STACKS_CONGESTION "cubic"
#define STACKS_RTO_MS 5

/* Behind the word iperf3: what its clients are told, in all arms. */
#define STACKS_IPERF_WORDS 32
struct stacks_iperf {
	const char *word[STACKS_IPERF_WORDS];
	unsigned n;
	bool udp, reverse, bidir;
	bool algorithm;      /* its words name one */
	char congestion[16]; /* "none" of UDP */
	uint64_t omit_s;
};

struct stacks_opts {
	bool help, serve, listens;
	const struct stacks_kind *kind[STACKS_KINDS];
	unsigned kinds;
	unsigned runs, flows, mss, mtu; /* flows, mss: 0: as usual */
	uint64_t duration_ns, warm_ns;
	bool warm_given;
	struct stacks_iperf iperf;
	bool arm[STACKS_ARMS];
	bool down, verify, skip, loopback;
	int cpu[2];                           /* of the peer, and of who asks */
	const char *peer, *port_peer, *spec;  /* NULL: not given */
	const char *ip, *device, *html, *svg; /* the same */
	unsigned port;
};

/* Reads words; texts stay the caller's. 0 or -EINVAL with *e. */
int stacks_words(int argc, char *const *argv, struct stacks_opts *out, struct err *e);
void stacks_usage(struct sbuf *out);
bool stacks_udp(const struct stacks_opts *, const struct stacks_kind *);

/* ---- stacks_iperf_words.c ---- */

/* Whether iperf3 can do what is asked of it, in all arms; fills in o->iperf. -EINVAL with *e. */
int stacks_iperf_check(struct stacks_opts *o, struct err *e);
/* The options of its clients but for where the server is, separated by blanks, which none has. */
void stacks_iperf_options(const struct stacks_opts *, struct sbuf *out);
