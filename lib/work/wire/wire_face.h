/* SPDX-License-Identifier: BSD-3-Clause */
/* What control tells the program about wires. */
#pragma once
#include "ctl.h"

/* What devices under test did to the frames that each port of a wire sent, since open or clear; exact when nothing is on its way, and of one
 * moment always: {"show":"wire","ports":[{"port","name","to","device":"on"|..,"link","before":inside at the clear,"in","out","lost",..}]}. The
 * sum closes: before + in + duplicated == out + lost + queue_drops + too_long + failed + overflow + flushed + waiting. */
json_t *wire_json(struct ctl *, const struct portset *ports);
bool wire_has_port(const struct ctl *, unsigned port); /* it is an end of a wire */
