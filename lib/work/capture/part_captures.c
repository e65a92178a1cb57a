/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "captures" of a snapshot: what `show capture` says. */
#include "capture_app.h"
#include "part/part.h"

const struct snap_part part_captures = {.name = "captures",
					.takes = PART_ALONE,
					.show = capture_json,
					.from = "ports"};
