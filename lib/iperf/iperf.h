/* SPDX-License-Identifier: BSD-3-Clause */
/* iperf3 in both roles, on an arm (arm.h): what it is asked to do, and a test or a server that runs
 * on control's loop. */
#pragma once
#include "arm.h"
#include "iperf_proto.h"
#include "loop.h"

/* ---- options (iperf_opts.c) ---- */

enum iperf_stack { IPERF_STACK_ANY, IPERF_STACK_KERNEL, IPERF_STACK_PORT };

struct iperf_opts {
	bool server, client, help, version;
	char *host, *bind, *device, *logfile, *pid_file; /* NULL: not given */
	bool daemon;  /* with pid_file: for whoever owns the process */
	uint32_t cpu; /* on which bytes move, + 1; 0: any */
	unsigned port, cport;
	int family; /* AF_UNSPEC, AF_INET, AF_INET6 */
	struct iperf_params p;
	bool blksize_given;
	double interval_s; /* 0: none */
	bool json, json_stream, verbose, one_off;
	/* A server of one test to which nobody comes for idle_s ends in good order, as iperf3. */
	bool idle_is_fine;
	bool wrapped;  /* of --json: the document is one line, a member "iperf3" */
	uint8_t stack; /* enum iperf_stack */
	char format;   /* of -f, 0: adaptive */
	uint32_t connect_ms, rcv_ms, idle_s; /* 0: no limit */
};
/* Reads the words behind `iperf3`. 0, or -EINVAL, -ERANGE, -ENOTSUP with *e. Call
 * iperf_opts_free() in any case. */
int iperf_opts_read(struct iperf_opts *, char *const *word, unsigned n, struct err *e);
/* Whether all of it can be on a port. -ENOTSUP with *e: what cannot, and why. */
int iperf_opts_port(const struct iperf_opts *, struct err *e);
void iperf_opts_free(struct iperf_opts *);
void iperf_opts_help(struct sbuf *out);

/* ---- running (iperf_run.c) ---- */

/* What has become of it. */
enum iperf_end {
	IPERF_FINE,
	IPERF_LACKS, /* this machine cannot do it: a right that is missing */
	IPERF_PEER,  /* the other end did something wrong, or is not there; or a port is in use */
	IPERF_INTERRUPTED
};
struct iperf;
/* Prints results (error: false), and errors as one line with a newline at its end. */
typedef void iperf_print_fn(void *arg, bool error, const char *text);
/* Begins. The options are copied, and the arm outlives it. Nothing is printed before it has
 * returned. A client asks for names beside it. NULL with *e and *end. */
struct iperf *iperf_start(struct loop *, struct arm *, const struct iperf_opts *, iperf_print_fn *,
			  void *arg, enum iperf_end *end, struct err *e);
/* Whether it is over; *end is what has become of it. */
bool iperf_over(const struct iperf *, enum iperf_end *end);
/* Why, if that is not IPERF_FINE: one line. "" otherwise. */
const char *iperf_why(const struct iperf *);
/* The user ends it: the peer is told, and what was measured is printed. It is over then. */
void iperf_interrupt(struct iperf *);
void iperf_free(struct iperf *); /* NULL is allowed */
/* How far a client's test has come: seconds gone and of all; false: it does not run, or has no
 * length. */
bool iperf_gone(const struct iperf *, double *gone_s, double *all_s);
