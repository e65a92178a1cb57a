/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder share that belong to the program. */
#pragma once
#include "cmd/show.h"
#include "part/part.h"
#include "set/set.h"

extern const struct setting send_seq_rows[]; /* ends with a row without a name */
/* Appends the rows of Pktgen's ranges, which are made once, from lib/ctl's table of words. */
void send_range_rows(const struct setting ***rows, unsigned *n);
/* Returns whether the row is that of a range which the stream was not given. */
bool send_idle(const struct setting *row, const struct set_obj *obj);
/* Makes a new slot of Pktgen's sequence: a stream that has the defaults and the tags and tunnels of
 * stream 0, and is not enabled. Returns 0 or -errno with *e. */
int send_slot_make(struct ctl *ctl, unsigned port, unsigned stream, struct err *e);

extern const struct verb verb_range, verb_sequence;
extern const struct snap_part part_streams, part_slots, part_ranges;
/* Returns the id at which a window of n streams must begin to have `stream` in its middle. Near the
 * end of the streams the window is full instead. */
unsigned send_first_around(struct ctl *ctl, unsigned port, unsigned stream, unsigned n);

show_fn send_show_streams;
