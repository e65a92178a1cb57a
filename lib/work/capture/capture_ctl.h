/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the work capture that belong to control share. */
#pragma once
#include "capture_face.h"
#include "capture_merge.h"
#include "work.h"

/* ARMED: plans have its tasks. ENDING: they no longer shall. WRITING: no worker has its sources,
 * and what they held is being written. ENDED: its files are complete. */
enum capture_stage { CAPTURE_ARMED, CAPTURE_ENDING, CAPTURE_WRITING, CAPTURE_ENDED };

/* Why it ended. */
enum capture_why { CAPTURE_BY_STOP, CAPTURE_BY_TIME, CAPTURE_BY_OUT, CAPTURE_BY_QUIT };

/* What became of the frames of an interface. dropped is the sum of the four before it. */
struct capture_count {
	uint64_t seen, accepted, frames, bytes;
	uint64_t no_block, write_failed, beyond_limit, rotated_out, dropped;
};

/* One `capture`. */
struct capture {
	struct capture *next;
	struct capture_spec spec; /* path and filter are its own copies */
	enum capture_stage stage;
	enum capture_why why;
	unsigned refs; /* of plans */
	unsigned nsources;
	struct capture_source **source;
	unsigned *iface; /* of each source: index into the interfaces of out */
	/* The tasks of each port and worker: [iface * nworkers + worker]. */
	struct capture_state **state;
	unsigned nifaces, nworkers;
	struct filter_exec *filter; /* NULL: all frames */
	struct capture_out *out;
	struct capture_merge *merge;
	uint64_t begin_tsc, end_tsc, ended_tsc; /* end UINT64_MAX: no time ends it */
	uint64_t begin_ns;                      /* wall clock at begin_tsc */
	size_t memory_bytes;
	struct capture_count *kept; /* [nifaces], when the sources are gone */
};

struct captures {
	struct capture *first;
	struct writer *thread; /* NULL: nothing was captured yet */
	bool closing;          /* the program ends */
};

struct capture_port {
	struct capture *now; /* the newest of the port; NULL: none */
};

extern const struct work work_capture;

static inline struct captures *captures_of(const struct ctl *c)
{
	return work_ctl(c, &work_capture);
}
static inline struct capture_port *capture_of_port(const struct ctl_port *cp)
{
	return work_port(cp, &work_capture);
}

/* capture_mem.c: a source with its pieces, on this NUMA node. NULL: there is no memory. */
struct capture_source *capture_source_new(unsigned npieces, int node);
void capture_source_free(struct capture_source *s);
/* Bytes that it takes. */
size_t capture_source_bytes(unsigned npieces);

/* capture_json.c: iface -1: of all together. */
void capture_count_of(const struct capture *k, int iface, struct capture_count *out);
/* Keeps what the sources have counted, before they go. */
void capture_count_keep(struct capture *k);
/* Appends how a capture ended: "its time is over", "stopped". */
void capture_why_text(const struct capture *k, struct sbuf *out);
