/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the work monitor that belong to control share. */
#pragma once
#include "filter_load.h"
#include "monitor_face.h"
#include "monitor_run.h"
#include "work.h"

/* Settings of a port that no row writes; a reset gives them back all the same. */
struct monitor_cfg {
	bool last; /* the last frame is kept */
};

/* A frame as it was on the wire: its bytes with the tags that the device had taken out. */
struct monitor_whole {
	uint32_t len, have;
	uint8_t bytes[MONITOR_KEEP_MAX + 8];
};
void monitor_whole(const struct monitor_frame *is, const uint8_t *bytes, struct monitor_whole *out);

struct monitor {
	struct monitor *next;
	struct monitor_spec spec;
	bool armed;    /* plans are to have its sources */
	bool gone;     /* nobody uses it; it is freed when no plan has it */
	unsigned refs; /* of plans */
	unsigned nsources;
	struct monitor_source **source;
	struct filter_exec *filter; /* NULL: all frames */
	uint64_t *number;           /* of the last frame of each source that was read */
	struct monitor_limit limit; /* of all sources together */
	uint64_t begin_tsc, begin_ns, end_tsc;
	uint64_t shown, passed; /* passed: since the last one that was shown */
	struct monitor_whole whole;
};

struct monitor_all { /* of control */
	struct monitor *first;
};

struct monitor_port {
	struct monitor *now;            /* NULL: nobody monitors the port */
	struct monitor_state **state;   /* of each worker; NULL: none was needed yet */
	struct monitor_keeper **keeper; /* of each Rx queue; NULL: nobody has asked yet */
	uint64_t keep_tsc;              /* since when frames are kept */
	struct monitor_whole *whole;    /* the one that was asked for last */
};

extern const struct work work_monitor;

static inline struct monitor_port *monitor_of_port(const struct ctl_port *cp)
{
	return work_port(cp, &work_monitor);
}
static inline struct monitor_all *monitor_all_of(const struct ctl *c)
{
	return work_ctl(c, &work_monitor);
}

/* monitor_lines.c: frees those that are gone and that no plan has. */
void monitor_sweep(struct ctl *c);
void monitor_release(struct ctl *c, void *monitor);
bool monitor_sweeps(const struct ctl *c); /* one of them is gone and still in plans */
/* monitor_last.c: frees what a port keeps. */
void monitor_last_free(struct monitor_port *mp, const struct ctl_port *cp);
/* The keeper of an Rx queue, if the port keeps its last frame. */
struct monitor_keeper *monitor_keeper_of(const struct ctl_port *cp, unsigned queue);
