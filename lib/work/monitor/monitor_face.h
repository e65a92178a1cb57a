/* SPDX-License-Identifier: BSD-3-Clause */
/* The work monitor, as control offers it to the program: frames that are shown one by one, and the
 * last frame of a port. */
#pragma once
#include "ctl.h"
#include "filter.h"

#define MONITOR_RATE_MOST 10000

struct monitor; /* what one command looks at */

struct monitor_spec {
	struct portset ports;
	bool rx, tx;
	unsigned rate;   /* most frames per second, of all ports together; at least 1 */
	uint64_t for_ns; /* 0: no time ends it */
};

/* A frame that was seen. */
struct monitor_line {
	unsigned port, queue;
	bool tx;
	uint64_t wall_ns; /* when the worker had it, by the wall clock */
	/* How many frames, of all that are monitored, came since the one before and are not
	 * shown. */
	uint64_t not_shown;
	uint32_t len, have; /* of the frame without FCS; how many bytes of it there are */
	const uint8_t *bytes;
};

struct monitor_counts {
	uint64_t matched, shown, not_shown; /* matched is the sum of the others */
	uint64_t full;                      /* of those not shown: nobody read fast enough */
};

/* Begins. prog: only frames that pass it; NULL: all. -errno with *e: a port has no queue for it, or
 * is monitored already. */
int monitor_start(struct ctl *c, const struct monitor_spec *spec, const struct filter_prog *prog,
		  struct monitor **out, struct err *e);
/* 0, or the same error: whether it could begin now. */
int monitor_may_start(const struct ctl *c, const struct monitor_spec *spec, struct err *e);
/* The next frame to show; the bytes are valid until the next call. false: there is none now. */
bool monitor_line_next(struct monitor *k, struct monitor_line *out);
/* Its time is over, and all of its frames can be had by monitor_line_next(). */
bool monitor_over(const struct monitor *k);
/* No more frames are looked at from now on, or soon. Then monitor_over() says when that is so. */
void monitor_stop(struct ctl *c, struct monitor *k);
void monitor_count(const struct monitor *k, struct monitor_counts *out);
/* k is not used any more; NULL: nothing. */
void monitor_free(struct ctl *c, struct monitor *k);

/* From now on the last frame that each of these ports has received is kept, until the port is
 * reset. -errno with *e: one of them cannot receive. */
int monitor_last_keep(struct ctl *c, const struct portset *ports, struct err *e);
/* That frame; the bytes are valid until the next call. age_ns: how long ago the worker had it.
 * false: none has come since it is kept. */
bool monitor_last(const struct ctl *c, unsigned port, struct monitor_line *out, uint64_t *age_ns);
