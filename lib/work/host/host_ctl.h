/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the work host that belong to control share. */
#pragma once
#include "host_auto_ctl.h"
#include "host_cfg.h"
#include "host_ping_run.h"
#include "host_run.h"
#include "neigh.h"
#include "work.h"

/* What the host has for each port. The arrays have an element for each worker. */
struct host_port {
	struct neigh *n;         /* NULL: the port has no address, or has had no link since */
	struct host_cfg applied; /* what n was made of */
	uint64_t version;        /* of neigh_self() that plans have */
	bool down;               /* the link has gone since the addresses were tried */
	struct host_state **state;
	struct dp_txq **share;
	unsigned *queue; /* the Tx queue of the share */
	uint32_t first;  /* number of n's first frame, in sent_ring of the speaker */
	int speaker;     /* the worker that sends what the host says of its own accord; -1: none */
	struct host_auto found; /* where the port's streams go */
	struct host_ping *ping; /* NULL: none goes on */
	uint32_t ping_run;      /* number of the last one */
	struct host_ping_state **ping_state;
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
json_t *host_ip_json(const uint8_t ip[NEIGH_IP]);
json_t *host_mac_json(const uint8_t mac[6]);

/* host_ping.c: the ping of the port goes on, and its tasks are added to a plan. */
void host_ping_step(struct ctl *c, struct ctl_port *cp, uint64_t now);
void host_ping_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *w);
