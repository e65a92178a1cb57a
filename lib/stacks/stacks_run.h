/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs as their files share them. */
#pragma once
#include "stacks.h"
#include "stacks_end.h"
#include "stacks_result.h"

struct stacks {
	const struct stacks_opts *o;
	struct stacks_net net;
	struct stacks_end asks, serves;
	/* of this run */
	const struct stacks_kind *kind;
	enum stacks_arm arm;
	bool tap;
	char device[64];
};

/* Where a workload's server is, on any stack. */
static inline unsigned stacks_run_port(const struct stacks_opts *o)
{
	return o->port + 1;
}

/* ---- stacks_iperf_run.c: they wait; 0 or -errno with *e ---- */

/* A server of iperf3 on the kernel's sockets, which listens when this returns. */
int stacks_iperf_serve(struct stacks_end *, int ns, int cpu, unsigned port, struct err *e);
/* Asks the server at host: on sockets, or on the port of a program that is there. */
int stacks_iperf_ask(struct stacks *, int ns, const char *host, struct err *e);
void stacks_iperf_ask_port(struct stacks *, const char *host);
/* The program has its ports. */
int stacks_iperf_port_there(struct stacks *, struct err *e);
/* Two programs with a port each, which a memif joins. */
int stacks_iperf_memif(struct stacks *, struct err *e);
/* The test of who asks, until it has its result. */
int stacks_iperf_measure(struct stacks *, struct stacks_found *out, struct err *e);
