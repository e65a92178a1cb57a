/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the work count share that belong to control. */
#pragma once
#include "count_cfg.h"
#include "count_run.h"
#include "work.h"

extern const struct work work_count;

struct count_port {
	struct count_state **sink;  /* state of the task of each Rx queue */
	uint64_t base[COUNT_SORTS]; /* at the last clear */
	bool counts;                /* plans have been made in which it counts by sorts */
	uint64_t before;            /* frames since the last clear that it did not count so */
	uint64_t seen;              /* frames received by the last clear, or when it ceased */
};

struct count_port *count_of(const struct ctl_port *cp);
/* Whether the port counts by protocols what nothing else takes. */
bool count_unclaimed(const struct ctl_port *cp);
/* How many frames have come since the last clear while it did not count by sorts. */
uint64_t count_before(const struct ctl_port *cp);
/* What all its queues have counted since open. */
void count_sum(const struct ctl_port *cp, uint64_t sum[COUNT_SORTS]);
