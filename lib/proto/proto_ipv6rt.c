/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

enum { P_ADDRS };

static const struct section sections[] = {
	[P_ADDRS] = { .name = "addrs", .len = 0 },
	{ 0 },
};

/* RFC 8200 4.4; type 4: RFC 8754 2; type 2: RFC 6275 6.4. */
static const struct field fields[] = {
	{ .name = "nh", .help = "next header; fills itself",
	  .role = ROLE_NEXT, .bit = 0, .bits = 8, .since = "0.1" },
	{ .name = "len", .help = "length in units of 8 bytes without the first; fills itself",
	  .role = ROLE_HLEN, .bit = 8, .bits = 8, .len_from = 8, .len_unit = 8, .since = "0.1" },
	{ .name = "type", .help = "routing type: 4 segment routing, 2 mobility, 0 source route",
	  .bit = 16, .bits = 8, .dflt = "4", .since = "0.1" },
	{ .name = "segleft", .help = "segments left",
	  .bit = 24, .bits = 8, .since = "0.1" },
	{ .name = "last", .help = "last entry; fills itself: number of addresses - 1",
	  .role = ROLE_COUNT, .bit = 32, .bits = 8, .when = COND("type", {4, 4}), .len_from = -1, .len_unit = 16, .of = "addrs", .since = "0.1" },
	{ .name = "flags", .help = "flags",
	  .bit = 40, .bits = 8, .when = COND("type", {4, 4}), .hex = true, .since = "0.1" },
	{ .name = "tag", .help = "tag",
	  .bit = 48, .bits = 16, .when = COND("type", {4, 4}), .hex = true, .since = "0.1" },
	{ .name = "res", .help = "reserved",
	  .bit = 32, .bits = 32, .when = COND("type", {0, 3}, {5, 255}), .hex = true, .since = "0.1" },
	{ .name = "addrs", .help = "addresses as bytes, 16 each; for type 4 the last segment comes first",
	  .kind = FIELD_BYTES, .section = &sections[P_ADDRS], .bit = 0, .dflt = "00000000000000000000000000000000",
	  .max = 2032, .since = "0.1" },
	/* The same bytes as single addresses, which can be set and can vary. */
	{ .name = "addr1", .help = "first address",
	  .kind = FIELD_IP6, .section = &sections[P_ADDRS], .bit = 0, .bits = 128, .since = "0.1" },
	{ .name = "addr2", .help = "second address",
	  .kind = FIELD_IP6, .section = &sections[P_ADDRS], .bit = 128, .bits = 128, .since = "0.1" },
	{ .name = "addr3", .help = "third address",
	  .kind = FIELD_IP6, .section = &sections[P_ADDRS], .bit = 256, .bits = 128, .since = "0.1" },
	{ .name = "addr4", .help = "fourth address",
	  .kind = FIELD_IP6, .section = &sections[P_ADDRS], .bit = 384, .bits = 128, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	BIND_IP6_NEXT(IP_ROUTE),
	{ 0 },
};

const struct proto proto_ipv6rt = {
	.name = "ipv6rt", .help = "IPv6 routing header", .len = 8, .fields = fields, .sections = sections, .binds = binds, .pad = 8,
};
