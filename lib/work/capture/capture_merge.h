/* SPDX-License-Identifier: BSD-3-Clause */
/* What several sources have captured becomes one sequence by time, and goes to the files of a
 * capture. */
#pragma once
#include "capture_out.h"
#include "capture_run.h"
#include "work.h"

/* The writer's half of a source. */
struct capture_feed {
	struct capture_source *source;
	unsigned iface;
	/* A ring of pieces that have come and are not written yet. */
	struct capture_piece **piece;
	unsigned head, n;
	/* What of the first one has been written. */
	uint32_t off, frames;
	uint64_t bytes;
	uint64_t horizon_ns;
};

struct capture_merge {
	struct writer_client client; /* the thread's */
	struct writer *thread;
	struct capture_out *out;
	unsigned nfeeds;
	struct capture_feed *feed;
	size_t left;    /* bytes that waited for a pipe in the last turn */
	unsigned still; /* turns since it last took some */
	bool told;      /* control knows that nothing more is written */
	/* Control: no worker has the sources any more, and what they hold is all that comes. It is
	 * written with release order. */
	bool closing;
};

/* Makes the feeds of these sources. iface[i] is the interface of source i. The sources must stay
 * until the client is over. */
struct capture_merge *capture_merge_new(struct capture_out *out,
					struct capture_source *const *source, const unsigned *iface,
					unsigned n);
void capture_merge_free(struct capture_merge *);
/* A turn of the client. Nothing but this runs on the thread. */
enum writer_turn capture_merge_turn(struct writer_client *);
/* Control: the sources are closed. */
void capture_merge_close(struct capture_merge *);
