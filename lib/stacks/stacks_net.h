/* SPDX-License-Identifier: BSD-3-Clause */
/* Two network namespaces with a veth pair between them. They have no names: each lasts as long as
 * a process is in it or has it open, so however this one ends nothing is left. */
#pragma once
#include <sys/types.h>
#include "base.h"

#define STACKS_OWN_IP "10.9.0.1"
#define STACKS_PEER_IP "10.9.0.2"
#define STACKS_TAP_OWN_IP "10.10.0.1"
#define STACKS_TAP_PEER_IP "10.10.0.2"
#define STACKS_VETH "wra" /* in `own` */
#define STACKS_OWN_MAC "02:77:72:01:00:01"
#define STACKS_PEER_MAC "02:77:72:01:00:02"
#define STACKS_TAP "wrt" /* in `peer`, where a port with a tap makes it */

struct stacks_net {
	int own, peer; /* descriptors; -1: none */
};

/* 0, or -errno with *e: a right that is missing, or a program. */
int stacks_net_make(struct stacks_net *, unsigned mtu, struct err *e);
void stacks_net_free(struct stacks_net *);
/* Gives an interface its address, with a route over which the kernel's TCP has our algorithm and
 * our least time before it sends again. */
int stacks_net_address(int ns, const char *dev, const char *ip, struct err *e);
int stacks_net_no_address(int ns, const char *dev, struct err *e);

/* A process in a namespace (-1: this one's) on a CPU (-1: any), which ends with this one. */
struct stacks_start {
	int ns, cpu;
	char *const *argv; /* argv[0] is its path */
	int in, out, err;  /* its standard streams */
};
/* Its id, or -errno with *e. */
pid_t stacks_start(const struct stacks_start *, struct err *e);
