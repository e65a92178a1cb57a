/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of the device under test on a wire, of the port that sends. */
#pragma once
#include "value.h"

/* What the device under test does to the frames that a port of a wire sends. */
#define WIRE_QUEUE 512
struct wire_cfg {
	struct rate_limit limit;
	struct delay delay;
	struct hits loss, duplicate, reorder, corrupt;
	uint64_t mtu;             /* bytes without Ethernet header and tags; 0: any */
	bool fail;                /* one-way: all frames are lost */
	int link_down;            /* 1: of the wire, both directions */
	struct flap flap;         /* likewise */
	int in_order;             /* delays do not let frames overtake each other */
	uint64_t seed;
};
