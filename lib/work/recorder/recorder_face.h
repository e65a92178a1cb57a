/* SPDX-License-Identifier: BSD-3-Clause */
/* What control tells the program about recorders, and what the program asks of it. */
#pragma once
#include "ctl.h"

#define RECORDER_DFLT_FRAMES 4096
#define RECORDER_DFLT_SNAP 128
#define RECORDER_FRAMES_LEAST 1024
#define RECORDER_FRAMES_MOST (1u << 20)
#define RECORDER_SNAP_LEAST 64
#define RECORDER_SNAP_MOST 9728
#define RECORDER_MEMORY_MOST (4ull << 30)
#define RECORDER_FILES_MOST 100

/* The kinds of faults, in the order of enum dp_fault_kind; the last one is NULL. */
extern const char *const recorder_kinds[];
#define RECORDER_KINDS 5
#define RECORDER_LATENCY 4 /* the place of "latency" */

/* Which faults are recorded. */
struct recorder_what {
	uint32_t kinds;      /* bits by place in recorder_kinds[] */
	uint64_t latency_ns; /* with latency: frames that took longer */
};

struct recorder_spec {
	struct portset ports;
	struct recorder_what what;
	uint32_t frames, snap; /* of each queue and direction; bytes kept of a frame */
	const char *dir;       /* where files go; "": the folder that is the current one now */
	const char *program;   /* who writes: name and version; static */
};

/* Begins to record, or refuses with *e and changes nothing. A port that is recorded already is
 * -EBUSY. *warn gets a line if nothing will tell faults. */
int recorder_on(struct ctl *c, const struct recorder_spec *spec, struct sbuf *warn, struct err *e);
/* Ends recorders that have any of these ports, with all of theirs. Returns the number of recorders
 * that were on. What has been noted is still written. */
unsigned recorder_off(struct ctl *c, const struct portset *ports);
/* Has every recorder of these ports that was turned off written all that it had? */
bool recorder_written(const struct ctl *c, const struct portset *ports);
/* Has what is in memory now written to a file by each recorder of these ports. -EINVAL: none is on.
 * -EBUSY: one is writing. */
int recorder_dump(struct ctl *c, const struct portset *ports, struct err *e);
/* true: a dump of these ports is still being written. */
bool recorder_dumping(const struct ctl *c, const struct portset *ports);
/* {"show":"recorder","files","files_most","recorders":[{"ports":[n],"state","kinds":[names],
 * "latency_ns","frames","snap","memory_bytes","kept","faults","told":{kind:
 * n},"in_files","waiting", "unwritten":{reason: n},"spread","files","failed","file","why"}]}: the
 * newest recorder of each of these ports. faults = in_files + waiting + what is unwritten. A new
 * reference. */
json_t *recorder_json(const struct ctl *c, const struct portset *ports);
