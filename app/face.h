/* SPDX-License-Identifier: BSD-3-Clause */
/* What a kind of work (lib/work/NAME) gives the program: its pieces of the program's lists (pieces.h). The places of the program's own are in set/rows.c
 * and cmd/show.c, those of verbs and parts in meson.build. NULL: it has none. */
#pragma once
#include "cmd/show.h"
#include "part/part.h"
#include "set/set.h"

struct face {
	const struct set_chunk *rows;
	const struct show_row *shows;
	const struct verb_row *verbs;
	const struct part_row *parts;
	/* A row of its own says nothing about this port or stream, and `show settings` leaves it out. */
	bool (*idle_row)(const struct setting *row, const void *obj);
};

/* face_NAME of each kind of work that has one, in the order of their list; ends with NULL. */
extern const struct face *const faces[];
