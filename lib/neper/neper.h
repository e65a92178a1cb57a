/* SPDX-License-Identifier: BSD-3-Clause */
/* neper's five workloads over TCP and UDP, as client and as server, on either arm, with its
 * options, its control connection and its output. docs/neper.md says what differs. */
#pragma once
#include "arm.h"
#include "neper_wire.h"

enum neper_which {
	NEPER_TCP_RR,
	NEPER_TCP_CRR,
	NEPER_TCP_STREAM,
	NEPER_UDP_RR,
	NEPER_UDP_STREAM,
	NEPER_KINDS
};
struct neper_kind {
	const char *name;
	const char *secret; /* of the control connection */
	bool tcp, rr, stream;
};
extern const struct neper_kind neper_kind[NEPER_KINDS];
const struct neper_kind *neper_kind_find(const char *name); /* NULL: there is none */
/* Returns -EINVAL with *e, which lists them. */
int neper_kind_unknown(const char *name, struct err *e);

#define NEPER_PERCENTILES 32
#define NEPER_HOSTS 64
#define NEPER_MOST_FLOWS 100000
#define NEPER_MOST_THREADS 1024

/* The options by neper's names. Booleans are 0 or 1. Texts belong to the caller's words. */
struct neper_opts {
	const struct neper_kind *kind;
	int64_t noburst, delay; /* ns */
	int64_t reuseaddr, async_connect, mark, logrtt_entries_per_flow, buffer_size, test_length,
		response_size, request_size, no_delay, tcp_tx_delay, tcp_fastopen, num_ports,
		wait_start, iostat_ms, time_wait, port, control_port, freebind, nonblocking, nolog,
		logtostderr, pin_cpu, dry_run, debug, client, ipv4, ipv6, stime_use_proc,
		source_port, suicide_length, listen_backlog, num_clients, num_threads, num_flows,
		maxevents, magic, no_cork, enable_tcp_maerts, enable_read, enable_write,
		split_bidir, rx_zerocopy, skip_rx_copy, zerocopy, edge_trigger;
	const char *log_rtt, *all_samples, *congestion_control, *host, *local_hosts,
		*throughput_opt;
	double interval, percentile[NEPER_PERCENTILES];
	unsigned npercentiles;
	uint64_t max_pacing_rate, as_neper_pacing_rate; /* bytes/s */
	/* Ours, which are not echoed. */
	int64_t as_neper, connect_retries, help, version;
	const char *stack;
};

/* Reads the words behind the workload's name. -EINVAL or -ENOTSUP with *e. */
int neper_opts_parse(const struct neper_kind *, int argc, char **argv, struct neper_opts *,
		     struct err *e);
/* Whether all of it can be on a port. -ENOTSUP with *e: what cannot, and why. */
int neper_opts_port(const struct neper_opts *, struct err *e);
void neper_opts_help(const struct neper_kind *, struct sbuf *out);

bool neper_unit_known(const char *name); /* of --throughput-opt */

/* One line of the result. number: the value is one, for documents. */
typedef void neper_emit_fn(void *arg, const char *key, const char *value, bool number);
void neper_opts_echo(const struct neper_opts *, neper_emit_fn *, void *arg);

/* What the run says while it goes on. */
struct neper_out {
	neper_emit_fn *emit;
	void (*line)(void *arg, const char *text); /* what is no key: iostat */
	void (*note)(void *arg, const char *text); /* warnings, for standard error */
	void *arg;
};

struct neper;
/* Begins a run on the loop. NULL with *e. The arm, and opts and what they point to, live as long as
 * the run. */
struct neper *neper_begin(struct loop *, struct arm *, const struct neper_opts *,
			  const struct neper_out *, struct err *e);
/* How it ends. NEPER_RUNNING: not yet. */
enum neper_end {
	NEPER_RUNNING,
	NEPER_GOOD,
	NEPER_PEER,    /* *e: the peer, or the way to it, failed */
	NEPER_TIMEOUT, /* *e: the time of --suicide-length has passed */
};
enum neper_end neper_state(const struct neper *, struct err *e);
/* As neper at SIGTERM and SIGINT: a client ends its run before its time, a server goes away. */
void neper_interrupt(struct neper *);
/* The same of a run that nobody goes on with, and that is to be freed: a client that runs prints
 * its report, of the server's rate if it tells it within a moment, and true is returned. */
bool neper_cut(struct neper *);
void neper_free(struct neper *);
