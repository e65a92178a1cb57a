/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

/* IEEE 802.3 3.2, type interpretation. */
static const struct field fields[] = {
	{ .name = "dst", .word = "dst mac", .help = "destination MAC address; auto: start asks for it",
	  .kind = FIELD_MAC, .bit = 0, .bits = 48, .found = true, .since = "0.1" },
	{ .name = "src", .word = "src mac", .help = "source MAC address",
	  .kind = FIELD_MAC, .bit = 48, .bits = 48, .since = "0.1" },
	{ .name = "type", .help = "EtherType, or the length in front of llc; fills itself from the next header",
	  .role = ROLE_NEXT, .bit = 96, .bits = 16, .hex = true, .since = "0.1" },
	{ 0 },
};

/* Inside of tunnels: RFC 7348, transparent Ethernet bridging (RFC 1701, RFC 8926), pseudowire
 * without control word (RFC 4448). */
static const struct bind binds[] = {
	{ .lower = "vxlan" },
	{ .lower = "gre", .value = ETYPE_ETH }, { .lower = "geneve", .value = ETYPE_ETH },
	{ .lower = "mpls", .value = 1, .field = "bos" },
	{ 0 },
};

const struct proto proto_eth = {
	.name = "eth", .help = "Ethernet II", .len = LEN_ETH, .fields = fields, .binds = binds, .starts = true,
};
