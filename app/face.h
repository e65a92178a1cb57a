/* SPDX-License-Identifier: BSD-3-Clause */
/* What a work (lib/work/NAME) or the spellings of another program (app/pktgen) add to the program.
 * The first members are pieces of lists, which are put together by place (pieces.h). The places of
 * the program's own pieces are in set/rows.c and cmd/verb_show.c, and those of verbs and parts in
 * meson.build. A member that is NULL adds nothing. */
#pragma once
#include "cmd/show.h"
#include "part/part.h"
#include "set/set.h"

struct arm_port;
struct face {
	const struct set_chunk *rows;
	const struct show_row *shows;
	const struct verb_row *verbs;
	const struct part_row *parts;
	/* Is called once, before anything uses the verbs: completes what is made at run time. */
	void (*make)(void);
	/* Returns true when a row of this face says nothing about this port or stream, so that
	 * `show settings` leaves it out. */
	bool (*idle_row)(const struct setting *row, const struct set_obj *obj);
	/* The values that a field has in this stream if nobody has set it. false: the face does not
	 * say so. nth: which of the headers of this protocol. */
	bool (*field_default)(const struct stream_cfg *cfg, const struct proto *p, unsigned nth,
			      const struct field *f, struct vary *out);
	/* Appends remarks that `show plan` prints beside its table. */
	void (*plan_note)(const json_t *plan, struct sbuf *note);
	/* A further table of `show plan`, where the document has its rows. Each of them has a
	 * `kind`: in CSV they are further rows, as tasks are. */
	const struct out_view *plan_view;
	/* Adds what a start of the port sends beside the frames of its schedule, for a person:
	 * "0/0 opens 5k connections/s". More than one with commas between them. */
	void (*loads)(const struct app *app, unsigned port, struct sbuf *out);
	/* Returns the parts of a snapshot that lines `interval` have, too, NULL: none now. */
	const char *(*interval)(const struct app *app);
	/* Is called once, when the program has its ports. A work reads here what it has kept from
	 * earlier runs of the program. */
	void (*begin)(const struct app *app);
	/* A word behind `start <ports>` and `stop <ports>`. With it these verbs do not touch
	 * sending, but call turn() to turn this work on or off for the ports. */
	const char *turns;
	int (*turn)(struct cmd_run *r, const struct portset *ports, bool on, struct err *e);
	/* A verb that is written `start <ports> NAME WORD`, where NAME is its name. It is in no
	 * table. Its run() gets <ports> and WORD, and the command goes on as this verb. */
	const struct verb *starts;
	/* A verb that is written `show frame <ports> rx`. It is in no table either, and gets
	 * <ports>. */
	const struct verb *received;
	/* Makes protocols of other programs run on ports. */
	const struct arm_port *arm;
};

/* The faces of all works that have one, in the order in which the build lists the works, and behind
 * them those of spellings. The array ends with NULL. */
extern const struct face *const faces[];
