/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside app/snapshot.c: a part is a file of this folder, which adds its key to the object that a reader gets. */
#pragma once
#include "app.h"

enum part_takes {
	PART_ALONE,  /* "brief" */
	PART_LAST,   /* "log", "log:N" */
	PART_PORT,   /* "xstats:P" */
	PART_STREAM, /* "frame:P/S" */
	PART_WINDOW, /* "streams:P", "streams:P/FIRST+N", "streams:P/S~N" */
};

struct part_arg {
	unsigned port, stream;
	unsigned first, n; /* PART_WINDOW, PART_LAST; n: at most so many, 0: it was not given */
	bool around;       /* PART_WINDOW: n of them around `stream` */
};

/* One per file, const, part_NAME. add: 0, or -errno with *e; snap is what the object was begun with. */
struct snap_part {
	const char *name;
	enum part_takes takes;
	int (*add)(struct app *app, const struct snap *snap, const struct part_arg *arg, json_t *doc, struct err *e);
};

/* A part of the list (app/pieces.h). */
struct part_row {
	int at;
	const struct snap_part *part;
};
