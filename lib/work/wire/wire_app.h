/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program's files of wires share. */
#pragma once
#include "cmd/show.h"
#include "part/part.h"
#include "set/set.h"

extern const struct setting wire_rows[]; /* ends with a row without a name */
/* A row of wires says nothing about this port: it is no wire. */
bool wire_idle(const struct setting *row, const struct set_obj *obj);

extern const struct snap_part part_wires;
show_fn wire_show;
