/* SPDX-License-Identifier: BSD-3-Clause */
/* A witness is a work whose frames say which ones they are, so that it knows on arrival what became
 * of each of them. Control thread only. */
#pragma once
#include "ctl.h"
#include "hist.h"

struct ctl_port;

/* What became of the frames of some senders at some receivers since a base, in frames. */
struct witness_counts {
	uint64_t sent;       /* accepted by devices, and each said which one it was */
	uint64_t whole;      /* different frames that arrived whole */
	uint64_t duplicated; /* further copies of frames that had arrived */
	uint64_t reordered;
	uint64_t beyond;     /* came too late to tell whether they are copies */
	uint64_t corrupted;  /* arrived damaged, and still said which ones they were */
	uint64_t damaged;    /* too damaged to tell which ones they were */
	uint64_t plain;      /* said nothing: of other senders, or changed on the way */
	double jitter_ns;    /* RFC 3550, the largest; NAN: none */
	const char *inexact; /* why these numbers are not exact, static; NULL: they are */
};

/* From when a latency counts: from when the frame left, or from when it was due. */
enum latency_of { LATENCY_SENT, LATENCY_DUE, LATENCY_KINDS };

/* The functions of a work that is a witness. Those that return int return 0, or -errno with the
 * reason in *e. */
struct work_witness {
	/* on: from the next start on, each frame of the port says which one it is, whatever its
	 * streams' settings say; where not all frames have room for that, nothing changes, and e
	 * says why. Off: the settings hold again. */
	int (*ask)(struct ctl *c, struct ctl_port *cp, bool on, struct err *e);
	/* At a start, before anything is changed: receivers get ready for the frames of these ports
	 * and of those that send already. */
	int (*arm)(struct ctl *c, const struct portset *starting, struct err *e);
	/* Returns what is known now of frames of `from` at `to`, as a base for read(). The caller
	 * frees it with free(). */
	void *(*base)(struct ctl *c, const struct portset *from, const struct portset *to);
	/* Fills in *out with what has come in since the base. */
	void (*read)(struct ctl *c, const struct portset *from, const struct portset *to,
		     const void *base, struct witness_counts *out);
	/* The latencies, in ns, of all frames that have come in on these ports so far. The caller
	 * frees the histogram with free(). NULL: none is known. */
	struct hist *(*latency)(struct ctl *c, const struct portset *to, enum latency_of);
	/* true: receivers look at the checksums of whole frames. false: they see damage only in
	 * the bytes by which a frame says which one it is. */
	bool (*verified)(const struct ctl *c);
};
