/* SPDX-License-Identifier: BSD-3-Clause */
/* By what a port's device chooses the Rx queue of what comes to it. For lib/ctl and for works.
 * Control thread. */
#pragma once
#include "rss.h"

struct ctl;
struct ctl_port;

/* How a port's device hands received frames to its queues. */
enum rss_way {
	RSS_WAY_ONE,    /* it has one queue, or none */
	RSS_WAY_TXQ,    /* a wire: by the Tx queue of the sender */
	RSS_WAY_HASH,   /* by setup, which is known */
	RSS_WAY_UNKNOWN /* why says why */
};
struct rss_to {
	enum rss_way way;
	bool known; /* setup is what the device works by; else why is filled in */
	bool ours;  /* a wire: its hash is our own, so there is no doubt of it */
	struct rss_setup setup;
	char why[300];
};
/* Asks the device of the port, once it has been told what is set. The result is large. */
void rss_to_read(struct ctl_port *cp, struct rss_to *out);
/* NULL, or why the queue of such a frame is not certain; static. */
const char *rss_doubt(const struct rss_to *, const struct rss_tuple *);

/* The port whose streams come to this one, and to which those of this one come; NULL: it is closed.
 * *how: why it is taken for it, static. */
struct ctl_port *rss_other_end(struct ctl *c, const struct ctl_port *cp, const char **how);
