/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl: which Rx queues the frames of a stream come to. */
#pragma once
#include "ctl_int.h"
#include "rss_to.h"

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
