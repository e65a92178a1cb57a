/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder share that belong to the program. */
#pragma once
#include "cmd/show.h"
#include "part/part.h"
#include "set/set.h"

extern const struct snap_part part_streams;

show_fn send_show_streams;
