/* SPDX-License-Identifier: BSD-3-Clause */
/* The work beacon as users see it: the setting `beacon` of ports. */
#include "beacon_cfg.h"
#include "face.h"
#include "set/rows.h"

extern const struct work work_beacon;

static const struct setting beacon_rows[] = {
	{.name = "beacon",
	 .scope = &scope_port,
	 .v = {&vt_bool},
	 .dflt = "off",
	 .offset = offsetof(struct beacon_cfg, on),
	 .store = &set_work_store,
	 .arg = &work_beacon,
	 .help = "a numbered frame leaves each 10 ms by the port's first queue"},
	{0},
};

static const struct set_chunk rows[] = {{610, beacon_rows}, {0}};

const struct face face_beacon = {.rows = rows};
