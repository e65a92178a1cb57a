/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what a port carries: makes the trials that lib/capacity asks for, one after the other,
 * and tells it what was counted. Only the frame sizes of streams are changed, and they are put
 * back. Control thread only. */
#pragma once
#include "capacity.h"
#include "trial.h"

struct capacity_run_spec {
	unsigned port;
	/* The facts of both ports (ask.port) are filled in by capacity_run_start(), but for
	 * pcie_bps. If no direction is asked for, it takes all that the port can do; if no number
	 * of queues is, 1, 2, 4 and so on up to all that there are. */
	struct capacity_ask ask;
	uint64_t duration_ns; /* of each trial */
	struct trial_cfg cfg;
};

/* The port to which this one is joined if it is joined to one: 0-1, 2-3. -1: that is not used. */
int capacity_partner(const struct ctl *c, unsigned port);

struct capacity_run;
/* Begins. It refuses what cannot be measured: ports that are sending, more queues than there are,
 * frames that cannot have such a size. -errno, e says why, and nothing is changed. *out is to be
 * freed with capacity_run_free(). */
int capacity_run_start(struct ctl *c, const struct capacity_run_spec *spec,
		       struct capacity_run **out, struct err *e);
/* Takes it further; to be called in each turn of control. 1: all is measured. 0: it goes on.
 * -errno: it could not go on, and e says why. */
int capacity_run_poll(struct capacity_run *r, struct err *e);
/* The points, those that are measured before those that are not. */
const struct capacity *capacity_run_result(const struct capacity_run *r);
/* How much time has gone, and how much all will take as far as can be known. */
void capacity_run_progress(const struct capacity_run *r, uint64_t *gone_ns, uint64_t *all_ns);
/* Stops what it still sends, and puts sizes back that nobody else has changed meanwhile. NULL is
 * allowed. */
void capacity_run_free(struct capacity_run *r);
