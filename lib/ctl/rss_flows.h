/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl: which Rx queues the frames of a stream come to. */
#pragma once
#include "ctl_int.h"
#include "rss.h"

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
/* Says of an end of a wire that no hash chooses its queues, and what changes that. */
int rss_no_hash(unsigned port, struct err *e);

#define RSS_LOOK_MAX 65536

/* What was found by stepping through the frames of a stream. */
struct rss_flows {
	struct rss_tuple first; /* that of the stream's first frame */
	uint64_t looked;        /* at so many frames from the first one on */
	bool all;               /* all others are like those */
	const char *doubt;      /* NULL, or why it may be otherwise on this device; static */
	uint64_t to[PORT_MAX_QUEUES];
};
/* Steps through at most `most` frames. 0, or -EINVAL with *e: no frame can be built. */
int rss_flows(struct ctl *c, struct ctl_port *from, struct stream *s, const struct rss_to *to,
	      uint64_t most, struct rss_flows *out, struct err *e);
