/* SPDX-License-Identifier: BSD-3-Clause */
/* What control tells the program about wires. */
#pragma once
#include "ctl.h"

/* What devices under test did to the frames that each of these ports sent into its wire, since open
 * or the last clear; a new reference. The numbers of a port are always of one moment, and exact
 * when nothing is on its way. {"show":"wire","ports":[{"port","name","to","device":"on"|..,"link",
 * "before": frames inside at the clear,"in","out","lost",..}]}. The sum closes: before + in +
 * duplicated == out + lost + queue_drops + too_long + failed + overflow + flushed + waiting. */
json_t *wire_json(struct ctl *, const struct portset *ports);
/* Is this port an end of a wire? */
bool wire_has_port(const struct ctl *, unsigned port);
