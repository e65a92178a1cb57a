/* SPDX-License-Identifier: BSD-3-Clause */
/* The next hops of the streams of a port: where frames go whose eth.dst is `auto`. */
#pragma once
#include "frame.h"
#include "neigh.h"

struct ctl;
struct ctl_port;
struct err;
struct portset;
struct sbuf;
struct stream;

#define HOST_LINKS_MAX 16  /* of a port, beside that of host.vlan */
#define HOST_HOPS_MAX 4096 /* of a port; NEIGH_MAX has room for others beside them */

struct host_hop {
	uint8_t ip[NEIGH_IP], mac[6];
	struct neigh_tags tags; /* of the link that it is on */
	bool known;             /* mac is its address, or was when it was last heard of */
	bool group;             /* mac follows from the address, and nobody is asked */
	bool sought;            /* it has been asked for, for this run */
};

/* Where a stream goes: to one next hop, or to one for each value of its destination or VLAN ids. */
struct host_aim {
	uint32_t cell, id;
	uint32_t first, n;      /* of host_auto.to */
	struct frame_lead lead; /* n > 1: the field that varies */
	uint64_t div;           /* frames that each of its values holds for */
};

/* Zeroed bytes are a port none of whose streams has asked. */
struct host_auto {
	enum { HOST_AUTO_NONE, HOST_AUTO_SEEKS, HOST_AUTO_FOUND } stage;
	bool asked; /* SEEKS: the machine knows of the hops */
	bool used;  /* the machine keeps them resolved, because the port sends */
	bool given; /* streams have got values */
	uint64_t since_ns;
	uint64_t said;  /* hash of the last note about streams that cannot be followed; 0: none */
	uint64_t moves; /* neigh_moves() of all links, at the last look */
	unsigned nhops, naims, nto;
	struct host_hop *hop;
	struct host_aim *aim;
	uint32_t *to; /* hops */
	/* VLANs of streams that answer: the host answers there, too, for those who look for them */
	struct neigh_tags serves[HOST_LINKS_MAX];
	unsigned nserves;
};

/* Of struct work (work.h). */
int host_ready(struct ctl *c, const struct portset *ports, bool again, struct err *e);
int host_check(struct ctl *c, struct ctl_port *cp, struct err *e);
bool host_finds(const struct ctl_port *cp, const struct stream *s);
bool host_own_address(const struct ctl_port *cp, bool is6, uint8_t *ip); /* struct work */
void host_reach(struct ctl *c, struct ctl_port *cp, struct sbuf *out);

/* In each turn of a port that is a host: follows neighbours that have moved, and streams that were
 * changed while the port sends. */
void host_auto_step(struct ctl *c, struct ctl_port *cp, uint64_t now);
/* The port is no host any more: its streams get their defaults back. */
void host_auto_end(struct ctl_port *cp);
void host_auto_free(struct host_auto *a);
