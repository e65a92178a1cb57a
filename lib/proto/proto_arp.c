/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"

/* One field, one row. */
/* clang-format off */

/* RFC 826, for IPv4 over Ethernet. */
static const struct field fields[] = {
	{ .name = "hwtype", .help = "hardware type, 1 = Ethernet",
	  .bit = 0, .bits = 16, .dflt = "1", .since = "0.1" },
	{ .name = "ptype", .help = "protocol type, an EtherType",
	  .bit = 16, .bits = 16, .dflt = "0x0800", .hex = true, .since = "0.1" },
	{ .name = "hwlen", .help = "length of hardware addresses, bytes",
	  .bit = 32, .bits = 8, .dflt = "6", .since = "0.1" },
	{ .name = "plen", .help = "length of protocol addresses, bytes",
	  .bit = 40, .bits = 8, .dflt = "4", .since = "0.1" },
	{ .name = "op", .help = "operation: 1 request, 2 reply",
	  .bit = 48, .bits = 16, .dflt = "1", .since = "0.1" },
	{ .name = "hwsrc", .help = "sender's hardware address",
	  .kind = FIELD_MAC, .bit = 64, .bits = 48, .since = "0.1" },
	{ .name = "psrc", .word = "src ip", .help = "sender's protocol address",
	  .kind = FIELD_IP4, .bit = 112, .bits = 32, .since = "0.1" },
	{ .name = "hwdst", .help = "target's hardware address",
	  .kind = FIELD_MAC, .bit = 144, .bits = 48, .since = "0.1" },
	{ .name = "pdst", .word = "dst ip", .help = "target's protocol address",
	  .kind = FIELD_IP4, .bit = 192, .bits = 32, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	BIND_ETHERTYPE(0x0806),
	{ 0 },
};

const struct proto proto_arp = {
	.name = "arp", .help = "Address Resolution Protocol", .len = 28, .fields = fields, .binds = binds, .closed = true,
};
