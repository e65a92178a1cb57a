/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program's files of sending share. */
#pragma once
#include "cmd/show.h"
#include "part/part.h"
#include "set/set.h"

extern const struct setting send_seq_rows[]; /* ends with a row without a name */
/* Append the rows of Pktgen's ranges, which are made once from lib/ctl's table. */
void send_range_rows(const struct setting ***rows, unsigned *n);
/* A row of a range that was not given. */
bool send_idle(const struct setting *row, const struct set_obj *obj);
/* A new slot of Pktgen's sequence: a stream with the defaults and with the tags and tunnels of stream 0, not enabled. */
int send_slot_make(struct ctl *ctl, unsigned port, unsigned stream, struct err *e);

extern const struct verb verb_range, verb_sequence;
extern const struct snap_part part_streams, part_slots, part_ranges;
/* The id from which on a window of n streams has `stream` in its middle, or is full where the streams end. */
unsigned send_first_around(struct ctl *ctl, unsigned port, unsigned stream, unsigned n);

show_fn send_show_streams;
