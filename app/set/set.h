/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the table of settings, for cmd_new(). Each file of app/set has the rows of one
 * subject; those of header fields are made from the protocol table. */
#pragma once
#include "cmd.h"

struct frame_stack;

/* What the program's own rows belong to. A work whose ports have other objects beside streams adds
 * a scope: its rows point to a record in its own folder (struct cmd_scope), whose functions get the
 * struct app as arg. The objects are to be members of the work's settings of the port (work_cfg()):
 * then `reset`, and a `load` that is refused, set them back too. */
extern const struct cmd_scope scope_global, scope_port, scope_stream;

/* A flag of rows: the row is another way to write other rows ("proto udp" rewrites "frame"), and is
 * neither listed nor saved. Flags from 0x100 on belong to the program; lib/cmd ignores them. */
#define SET_DERIVED 0x100

/* Rows that stand together in the table, as a piece of the list (app/pieces.h). */
struct set_chunk {
	int at;
	const struct setting *row; /* an array that ends with a row without a name; NULL: none */
	/* appends rows that are made at run time; NULL: none */
	void (*add)(const struct setting ***rows, unsigned *n);
};

/* All rows. They are valid until the program ends, and the array until the next call. At its end
 * are rows of second and further headers of a kind ("vlan[2].vid"), but only those that were made
 * already. */
const struct setting *const *set_rows(unsigned *n);
/* Finds the row of a field in a second or further header ("vlan[2].vid"), and makes it at the first
 * call. NULL: the name has no number in brackets, or there is no such field. */
const struct setting *set_row_named(const char *name);
/* Says in *e what is wrong with a name that is of no row but begins as those of fields in answers
 * do ("reply."); *e stays as it is for other names. */
void set_row_wrong(const char *name, struct err *e);
/* Makes the rows of second and further headers of a kind that this frame has. */
void set_rows_for(const struct frame_stack *stack);
/* Checks a stream as it is now, for a caller that has held back the checks of its rows
 * (cmd_hold_checks()). Returns true, or false with the first warning. */
bool set_check_whole(const struct set_obj *stream, struct err *warn);
/* Says whether `show settings` lists a row for this object. Rows that stand for others are not
 * listed, and fields that the frame does not have only if they were set. */
bool set_applies(const struct setting *row, const struct set_obj *obj);
/* Rows of streams that are no fields and say what is in the frames or how they change: nest,
 * payload, random bits. */
const struct setting *const *set_extra_rows(unsigned *n);
/* The caller promises that no setting changes between set_hold(true) and set_hold(false). The frame
 * that rows read is then not built anew for each row, as long as the rows of one stream are read
 * one after the other. */
void set_hold(bool on);
