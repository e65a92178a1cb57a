/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of snapshots, for app/snapshot.c. Each part is defined in a file of this folder or of a
 * work. It adds its key to the object that a reader gets. */
#pragma once
#include "app.h"

/* What may follow the name of a part. */
enum part_takes {
	PART_ALONE,  /* "brief" */
	PART_LAST,   /* "log", "log:N" */
	PART_PORT,   /* "xstats:P" */
	PART_STREAM, /* "frame:P/S" */
	PART_WINDOW, /* "streams:P", "streams:P/FIRST+N", "streams:P/S~N" */
};

struct part_arg {
	unsigned port, stream;
	unsigned first, n; /* PART_WINDOW, PART_LAST; n: how many at most, 0: no number was given */
	/* PART_WINDOW: those around `stream` are wanted, and not those from first on */
	bool around;
};

/* A part. Its file defines it as a constant part_NAME. It is the member `from` of the document that
 * show() makes of all ports, a new reference. NULL: add() adds keys to doc, which was made from
 * snap; it returns 0, or -errno with *e. */
struct snap_part {
	const char *name;
	enum part_takes takes;
	json_t *(*show)(struct ctl *ctl, const struct portset *ports);
	const char *from;
	int (*add)(struct app *app, const struct snap *snap, const struct part_arg *arg,
		   json_t *doc, struct err *e);
};

/* Returns the id at which a window of n streams must begin to have `stream` in its middle
 * (PART_WINDOW). Near the end of the streams the window is full instead. */
unsigned part_first_around(struct ctl *ctl, unsigned port, unsigned stream, unsigned n);

/* A part as a piece of the list of parts (app/pieces.h). */
struct part_row {
	int at;
	const struct snap_part *part;
};
