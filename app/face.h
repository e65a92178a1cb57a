/* SPDX-License-Identifier: BSD-3-Clause */
/* What a kind of work (lib/work/NAME) gives the program: its pieces of the program's lists (pieces.h). The places of the program's own are in
 * set/rows.c, cmd/show.c and cmd/enable.c, those of verbs and parts in meson.build. NULL: it has none. */
#pragma once
#include "cmd/show.h"
#include "part/part.h"
#include "set/set.h"

struct face {
	const struct set_chunk *rows;
	const struct show_row *shows;
	const struct verb_row *verbs;
	const struct part_row *parts;
	const struct feature *features;
	/* A row of its own says nothing about this port or stream, and `show settings` leaves it out. */
	bool (*idle_row)(const struct setting *row, const struct set_obj *obj);
	/* Lines beside `show plan` as text. */
	void (*plan_note)(const json_t *plan, struct sbuf *note);
	/* The program has its ports: what was kept of them from run to run is read. */
	void (*begin)(const struct app *app);
	/* A word behind `start <ports>` and `stop <ports>`, which then turn this on and off in place of sending. */
	const char *turns;
	int (*turn)(struct cmd_run *r, const struct portset *ports, bool on, struct err *e);
};

/* face_NAME of each kind of work that has one, in the order of their list; ends with NULL. */
extern const struct face *const faces[];
