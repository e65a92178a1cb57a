/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of the device under test on a wire. They belong to the port that sends into it. */
#pragma once
#include "value.h"

/* How many frames may wait for a limit, unless its value says so; and at most. */
#define WIRE_QUEUE 512
#define WIRE_QUEUE_MAX (1 << 20)
#define WIRE_LIMIT \
	{ \
		&vt_limit, WIRE_QUEUE, WIRE_QUEUE_MAX \
	} /* as struct vspec */
/* Defaults that are not 0, as texts: rows show them, and wire_cfg_init() makes a struct of them. */
#define WIRE_DFLT_LIMIT "none"
#define WIRE_DFLT_SEED "1"

/* What the device under test does to the frames that a port of a wire sends. */
struct wire_cfg {
	struct rate_limit limit;
	struct delay delay;
	struct hits loss, duplicate, reorder, corrupt;
	uint64_t mtu;     /* bytes without Ethernet header and VLAN tags; 0: any */
	bool fail;        /* one-way failure: all frames are lost */
	int link_down;    /* 1: the link is down, in both directions */
	struct flap flap; /* of the link, in both directions */
	int in_order;     /* 1: delays do not let frames overtake each other */
	uint64_t seed;
};
