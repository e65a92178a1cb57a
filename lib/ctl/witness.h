/* SPDX-License-Identifier: BSD-3-Clause */
/* A witness: where each frame says which one it is, somebody knows on arrival what became of it. Control thread only. */
#pragma once
#include "ctl.h"
#include "hist.h"

struct ctl_port;

/* Frames of some senders by what they said of themselves at some receivers, since a base. */
struct witness_counts {
	uint64_t sent;             /* accepted by devices, and said which they were */
	uint64_t whole;            /* different ones that arrived whole */
	uint64_t duplicated;       /* further copies */
	uint64_t reordered;
	uint64_t beyond;           /* came too late to tell whether they are copies */
	uint64_t corrupted;
	uint64_t damaged;          /* beyond telling whose they were */
	uint64_t plain;            /* said nothing: others', or somebody on the way has changed them */
	double jitter_ns;          /* RFC 3550, the largest; NAN: none */
	const char *inexact;       /* why they do not tell everything; static, NULL: they do */
};

/* Since when a latency counts: since the frame left, or since it was due. */
enum latency_of { LATENCY_SENT, LATENCY_DUE, LATENCY_KINDS };

/* The part of a work that is a witness. */
struct work_witness {
	/* Each frame of the port says which one it is, from the next start on, whatever its streams say; with e why not all have room for it. Off:
	 * as they say. */
	int (*ask)(struct ctl *c, struct ctl_port *cp, bool on, struct err *e);
	/* At a start, nothing is changed yet: receivers get ready for what these ports and those that send already will send. */
	int (*arm)(struct ctl *c, const struct portset *starting, struct err *e);
	void *(*base)(struct ctl *c, const struct portset *from, const struct portset *to); /* from here on; the caller frees it with free() */
	void (*read)(struct ctl *c, const struct portset *from, const struct portset *to, const void *base, struct witness_counts *out);
	/* Of all that came in on these ports so far, in ns; new, free() it. NULL: none is known. */
	struct hist *(*latency)(struct ctl *c, const struct portset *to, enum latency_of);
	bool (*verified)(const struct ctl *c); /* receivers look at checksums of whole frames; else damage shows where a frame says which it is */
};
