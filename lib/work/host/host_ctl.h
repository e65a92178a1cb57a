/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the work host that belong to control share. */
#pragma once
#include "host_auto_ctl.h"
#include "host_cfg.h"
#include "host_error.h"
#include "host_ping_run.h"
#include "host_run.h"
#include "neigh.h"
#include "neigh_trace.h"
#include "work.h"

struct host_link {
	struct neigh *n;
	uint32_t id; /* never that of an earlier link of the port */
};

/* What the host has for each port. The arrays have an element for each worker. */
struct host_port {
	/* The machine of host.vlan's link. NULL: the port has no address, or has had no link. */
	struct neigh *n;
	struct host_link more[HOST_LINKS_MAX]; /* other VLANs that streams go through */
	unsigned nmore;
	uint32_t last_link;       /* the newest id */
	struct neigh_counts gone; /* of links that are no more */
	struct host_cfg applied;  /* what n was made of */
	uint64_t version;         /* host_links_version() that plans have */
	bool down;                /* the link has gone since the addresses were tried */
	uint64_t tell_full;       /* neigh_rate_may() of what is told of neighbours */
	uint64_t untold;          /* changes that were not told, because there were too many */
	struct host_state **state;
	struct dp_txq **share;
	unsigned *queue; /* the Tx queue of the share */
	uint32_t first;  /* number of n's first frame, in sent_ring of the speaker */
	int speaker;     /* the worker that sends what the host says of its own accord; -1: none */
	struct host_auto found; /* where the port's streams go */
	struct host_errors errors;
	unsigned nworkers;      /* elements of the arrays */
	struct host_ping *ping; /* NULL: none goes on */
	/* The link on which it asks for a stream; NULL: it asks on that of host.vlan. */
	const struct neigh_tags *ping_link;
	uint32_t ping_run; /* number of the last one */
	struct host_ping_state **ping_state;
	uint8_t asked[NEIGH_IP];    /* whom `arping` asks for, or asked for until then */
	struct neigh_tags asked_in; /* on this link */
	uint64_t asked_until;
	/* at the last clear */
	struct host_counts base;
	struct neigh_counts neigh_base;
};

extern const struct work work_host;

static inline struct host_port *host_of_port(const struct ctl_port *cp)
{
	return work_port(cp, &work_host);
}

/* Sums over all workers, since open. */
void host_count(const struct ctl *c, const struct ctl_port *cp, struct host_counts *sum);
/* What the host is to be made of, by the settings of the port. */
void host_setup(const struct ctl_port *cp, struct neigh_setup *s);
/* Whether the machine does not work by the settings of now yet: it follows in each turn. */
bool host_lags(const struct ctl_port *cp);
bool host_has_link(const struct ctl_port *cp);
/* Whether the port is a host by the settings of now, which it follows at once: for commands behind
 * `set` on the same line. */
bool host_settled(const struct ctl *c, struct ctl_port *cp);
json_t *host_ip_json(const uint8_t ip[NEIGH_IP]);
json_t *host_mac_json(const uint8_t mac[6]);

/* host_link.c: link 0 is that of host.vlan, and is there while h->n is. */
void host_cfg_tags(const struct host_cfg *cfg, struct neigh_tags *tags);
/* Appends "100", or "10.100" with the outer tag first; nothing for none. */
void host_print_tags(const struct neigh_tags *tags, struct sbuf *out);
/* NULL: there are no more. */
struct neigh *host_link_machine(const struct host_port *h, unsigned i);
uint32_t host_link_id(const struct host_port *h, unsigned i);
/* The machine for frames with these tags, and that of an id. NULL: there is none. */
struct neigh *host_link_find(const struct host_port *h, const struct neigh_tags *tags);
struct neigh *host_link_of_id(const struct host_port *h, uint32_t id);
/* Sums over the links, those that are no more included. */
void host_link_counts(const struct host_port *h, struct neigh_counts *sum);
/* Makes all links what the settings say, and the first one if there is none. */
void host_links_set(struct ctl_port *cp, uint64_t now);
/* Makes the links that next hops and a ping need, and ends those that none does. There is a first
 * one. */
void host_links_follow(struct ctl_port *cp, uint64_t now);
void host_links_free(struct host_port *h);
/* Another number whenever there are other links, or one of them answers otherwise. */
uint64_t host_links_version(const struct host_port *h);

/* host_ping.c: the ping of the port goes on, and its tasks are added to a plan. */
void host_ping_step(struct ctl *c, struct ctl_port *cp, uint64_t now);
void host_ping_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *w);
/* Checks the size of echo requests, with FCS; 0 becomes HOST_PING_SIZE, or what is allowed if that
 * is not. least: bytes of the shortest frame, without FCS. behind: the stream whose headers are in
 * front of the request; NULL: none are. -ERANGE with *e. */
int host_ping_size(const struct ctl_port *cp, const struct neigh_tags *tags, unsigned least,
		   const char *behind, unsigned *size, struct err *e);
/* host_trace.c: adds what a traceroute has found to the document of its ping, of which so many
 * requests were sent. */
void host_trace_json(const struct neigh_trace *t, uint64_t sent, json_t *out);
