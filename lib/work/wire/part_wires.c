/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "wires" of a snapshot: what devices under test did, as in `show wire`, but without the
 * text of the settings. */
#include "wire_app.h"
#include "wire_face.h"

const struct snap_part part_wires = {.name = "wires",
				     .takes = PART_ALONE,
				     .show = wire_json,
				     .from = "ports"};
