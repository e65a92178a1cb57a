/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of lib/neper: neper_run.c what control does in a run, neper_peer.c
 * control connections, neper_data.c its connections of
 * data, neper_report.c samples and results, neper_files.c files. */
#pragma once
#include "neper.h"
#include "neper_wl.h"
#include "sock_ask.h"
#include "workload.h"

/* One line of samples.csv. */
struct neper_sample {
	uint32_t flow, tick;
	uint64_t at_ns, count;
	struct rusage used; /* of the thread */
	struct neper_epoch epoch;
	uint64_t percentile[NEPER_PERCENTILES];
};
/* All flows of a thread at one time. */
struct neper_tick {
	uint64_t at_ns, count;
	unsigned flows;
};
/* What a thread notes; its own while it runs. */
struct neper_thread {
	struct neper_tick *tick;
	struct neper_sample *sample;
	uint32_t nticks, nsamples;
	uint64_t first_ns; /* when its first connection began; 0: none has */
	/* Counts of all flows as of the last sample before the end. */
	uint64_t as_neper_count;
};

struct neper_moment {
	struct rusage used;
	double stime; /* seconds */
};

struct neper {
	struct loop *loop;
	const struct neper_opts *opts;
	struct neper_out out;
	enum neper_end end;
	struct err err;
	struct wl_content content;
	struct neper_wl_conf wl;
	struct neper_split split;
	struct wl_stream_conf stream;
	struct sock_spec spec;
	struct arm *arm;
	struct arm_data *data;
	struct neper_thread *thread;
	int64_t threads; /* of `thread`: what was asked for, or the workers of a port */
	cell_t taken;    /* of a budget */
	int *cpu;
	uint64_t tick_ns, begin_ns, end_ns;
	struct neper_moment before, after;
	double machine_stime; /* when it began; 0: not wanted */
	unsigned invalid_secrets;
	/* control */
	struct sock_addr addr[8], local[NEPER_HOSTS];
	unsigned naddrs, addr_at, nlocal;
	struct sock_ask *ask; /* for the names of a client, NULL: they are known */
	int64_t retries;
	struct neper_peer *peers; /* of the server; of the client it is one */
	struct arm_listener *listener;
	unsigned greeted, over;
	uint64_t remote_rate;
	int timer, suicide, iostat;
	uint64_t rate; /* of this end */
	uint64_t stalled_done, stalled_at;
	struct {
		uint64_t tx, rx, tx_bytes, rx_bytes, at_ns;
	} io;
	bool running, reported, saying_bye;
	bool interrupted;
};

/* The other end of a control connection. */
struct neper_peer {
	struct neper *run;
	struct neper_peer *next;
	struct chan *chan;
	struct neper_talk talk;
	struct sbuf name;
	int timer;
	bool greeted, over;
};

#define SECOND 1000000000ull
#define ANSWER_NS (60 * SECOND) /* a server has so long for its ACK, and for its BYE */

/* neper_run.c: the end of a run, which stops its threads; only the first one counts. */
void neper_end_run(struct neper *, enum neper_end how);
void neper_fail(struct neper *, const struct err *e);
void neper_failed(struct neper *, const char *fmt, ...) WR_PRINTF(2, 3);
void neper_timer_stop(struct neper *, int *timer);
void neper_timer_set(struct neper *, int *timer, uint64_t ns, loop_fn *fn, void *arg);
/* The threads have stopped: prints what was measured. false: the run has failed by it. */
bool neper_tell(struct neper *, uint64_t *rate);
void neper_ended(struct neper *);       /* sets begin_ns and end_ns */
bool neper_tell_excess(struct neper *); /* true: there was some, and the run has failed */
loop_fn neper_unanswered;               /* the server has not answered in time */
loop_fn neper_client_data;              /* the client's connections of data begin */

/* neper_peer.c */
loop_fn neper_peer_connect; /* the client's control connection, to the address that is next */
arm_accept_fn neper_peer_accept;
void neper_peer_gone(struct neper_peer *);
void neper_say(struct neper_peer *, enum neper_type type, uint64_t rate);

/* neper_data.c */
/* Makes the run of data; nothing is connected yet, and nobody listens. */
int neper_data_new(struct neper *, struct err *e);
int neper_data_client(struct neper *, struct err *e);
int neper_data_server(struct neper *, struct err *e);
unsigned neper_thread_of(const struct neper *, const struct sock_line *);
uint64_t neper_data_done(struct neper *); /* transactions of all flows */
void neper_data_iostat(struct neper *);

/* neper_report.c */
void neper_moment_now(const struct neper *, struct neper_moment *);
arm_tick_fn neper_tick_fn;
/* Prints everything but the last two keys; returns this end's rate. -errno with *e: a file cannot
 * be written; all else was printed. */
int neper_report(struct neper *, uint64_t *rate, struct err *e);
void neper_report_end(struct neper *, uint64_t rate);
uint64_t neper_excess(struct neper *);
double neper_seconds(const struct timeval *);
double neper_deviation(const struct neper_epoch *); /* ns */

/* Whether files that the run is to write can be written, before it begins. */
int neper_files_check(const struct neper *, struct err *e);
/* neper_files.c, for the end that measures. The ticks are those of all threads. */
int neper_files(struct neper *, const struct neper_tick *, uint32_t nticks, struct err *e);
