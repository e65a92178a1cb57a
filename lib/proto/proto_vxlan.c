/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

/* RFC 7348 5; group policy: draft-smith-vxlan-group-policy 2.1. */
static const struct field fields[] = {
	{ .name = "flags", .help = "flags: 0x0800 VNI valid, 0x8000 group policy, 0x0040 do not learn, 0x0008 policy applied",
	  .bit = 0, .bits = 16, .dflt = "0x0800", .hex = true, .since = "0.1" },
	{ .name = "gid", .help = "group policy id",
	  .bit = 16, .bits = 16, .since = "0.1" },
	{ .name = "vni", .word = "vni", .help = "network identifier",
	  .bit = 32, .bits = 24, .ident = true, .since = "0.1" },
	{ .name = "res", .help = "reserved",
	  .bit = 56, .bits = 8, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	{ .lower = "udp", .value = UDP_OF_VXLAN, .field = "dst" },
	{ 0 },
};

const struct proto proto_vxlan = {
	.name = "vxlan", .help = "Virtual eXtensible LAN", .len = LEN_VXLAN, .fields = fields, .binds = binds,
};
