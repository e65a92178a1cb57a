/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of ICMP errors about streams of the port. */
#pragma once
#include "host_error_run.h"
#include "work.h"

struct host_error_state;

/* Zeroed bytes are a port that has not been a host yet. */
struct host_errors {
	struct host_error_state **state; /* of each worker; NULL: none */
	bool stale;                      /* what is sent has changed */
	bool more;                       /* there are more streams than errors are told of */
	bool over;                       /* the same, since the last clear */
	unsigned nsent;
	struct neigh_sent *sent;
	struct cnt_icmp base; /* at the last clear */
};

/* Of struct work (work.h). */
void host_error_prepare(struct ctl *c, struct ctl_port *cp, uint32_t why);
void host_error_icmp(const struct ctl_port *cp, unsigned cell, struct stream_icmp *sum);
void host_error_snap(const struct ctl_port *cp, struct snap_port *s);

/* Adds its task to a plan. link: of the plan. */
void host_error_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *w,
		     const struct host_job_link *link, unsigned nlinks);
void host_error_clear(struct ctl_port *cp);
void host_error_free(struct ctl_port *cp);
