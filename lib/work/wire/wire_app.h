/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder that belong to the program share. */
#pragma once
#include "cmd/show.h"
#include "part/part.h"
#include "set/set.h"

extern const struct setting wire_rows[]; /* ends with a row without a name */
/* Is this a setting of wires that means nothing for this port, because the port is no wire? */
bool wire_idle(const struct setting *row, const struct set_obj *obj);

extern const struct snap_part part_wires;
show_fn wire_show;
