/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the setting table, for cmd_new: one file per scope. Field rows are made once from the protocol table. */
#pragma once
#include "cmd.h"

struct frame_stack;

/* A row that is another way to write a different row ("proto udp" rewrites "frame"): never listed, never saved. Bits from 0x100 on
 * are the program's; lib/cmd does not look at them. */
#define SET_DERIVED 0x100

/* Rows that stand together in the table (app/pieces.h). */
struct set_chunk {
	int at;
	const struct setting *row; /* ends with a row without a name; NULL: none */
	void (*add)(const struct setting ***rows, unsigned *n); /* appends rows that are made at the first call; NULL: there are no such */
};

/* All rows, valid until the program ends; the array is until the next call. Rows of further headers of a kind ("vlan[2].vid"), as far
 * as somebody asked for them, are at its end. */
const struct setting *const *set_rows(unsigned *n);
/* A field's row by its name; those of further headers are made here. NULL: there is no such field. */
const struct setting *set_row_named(const char *name);
/* Make the rows of further headers of a kind that this frame has. */
void set_rows_for(const struct frame_stack *stack);
/* What the rows' checks would say of a stream as it is now, for who did not let them: false with the first of it. */
bool set_check_whole(const struct set_obj *stream, struct err *warn);
/* Whether `show settings` lists the row for this object: not an alias, and no field that the frame does not have, unless it was set. */
bool set_applies(const struct setting *row, const struct set_obj *obj);
/* Rows of a stream that are no field and say how its frames change or what is in them: nest, payload, random bits. */
const struct setting *const *set_extra_rows(unsigned *n);
/* From hold(true) to hold(false) no setting changes: the frame that rows read is built once per stream, not once per row. */
void set_hold(bool on);
