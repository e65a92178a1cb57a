/* SPDX-License-Identifier: BSD-3-Clause */
/* What control tells the program about captures. */
#pragma once
#include "capture_cfg.h"
#include "ctl.h"
#include "filter.h"

/* What `capture` asks for. The texts are copied. */
struct capture_spec {
	struct portset ports;
	const char *path;
	int fd; /* where to write in place of a file named path, which is only told; -1: path */
	const char *program; /* who writes the file, as it is told there; static */
	const char *filter;  /* the text of the filter; NULL: all frames */
	uint32_t snap;       /* bytes of each frame; 0: all */
	uint64_t frames, for_ns, size_bytes, every_ns; /* 0: no limit */
	unsigned rotate;                               /* 0: one file */
	bool rx, tx;
};
#define CAPTURE_ROTATE_MOST 1000
/* A file has at least so many bytes: its head, its statistics and a large frame. */
#define CAPTURE_SIZE_LEAST 65536

/* Begins a capture, and takes spec->fd over. prog: the compiled filter, which is copied; NULL:
 * none. -errno with *e: nothing was begun, and the fd is still the caller's. */
int capture_start(struct ctl *c, const struct capture_spec *spec, const struct filter_prog *prog,
		  struct err *e);
/* -EBUSY with *e: one of these ports is being captured already. */
int capture_may_start(const struct ctl *c, const struct portset *ports, struct err *e);
/* Ends the captures of these ports; those which have several ports end as a whole. Files are
 * complete when capture_goes_on() says so. */
void capture_stop(struct ctl *c, const struct portset *ports);
/* Is one of these ports being captured, or its file not complete yet? */
bool capture_goes_on(const struct ctl *c, const struct portset *ports);
/* How many frames its newest capture has put into files so far, and the time since its begin. */
uint64_t capture_frames(const struct ctl *c, unsigned port, uint64_t *since_ns);
/* Did the newest captures of these ports end because a file could not be written? */
bool capture_failed(const struct ctl *c, const struct portset *ports);
/* The newest capture of each port, a new reference. Ports without one are left out.
 * {"show":"capture","ports":[{"port","name","file","files": how many were begun,"state": capturing,
 * ending, done or failed,"why": what ended it,"direction": rx, tx or both,"filter","snap","seen",
 * "accepted","frames": those in files,"bytes": of these, with FCS,"dropped": the sum of the next
 * four,"no_block","write_failed","beyond_limit","rotated_out","waiting": accepted, and neither in a
 * file nor dropped yet,"file_bytes": of all its files,"memory_bytes","duration_ns"}]} */
json_t *capture_json(struct ctl *c, const struct portset *ports);
