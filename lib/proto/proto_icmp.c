/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

enum { P_STAMPS, P_MASK };

static const struct section sections[] = {
	[P_STAMPS] = { .name = "stamps", .len = 12, .when = COND("type", {13, 14}) },
	[P_MASK] = { .name = "mask", .len = 4, .when = COND("type", {17, 18}) },
	{ 0 },
};

/* RFC 792, RFC 950. */
static const struct field fields[] = {
	{ .name = "type", .help = "message type: 8 echo request, 0 echo reply, 3 unreachable, 5 redirect, 11 time exceeded, 12 parameter problem",
	  .bit = 0, .bits = 8, .dflt = "8", .since = "0.1" },
	{ .name = "code", .help = "code, its meaning depends on the type",
	  .bit = 8, .bits = 8, .since = "0.1" },
	{ .name = "cksum", .help = "checksum; fills itself",
	  .role = ROLE_SUM_L4, .bit = 16, .bits = 16, .hex = true, .since = "0.1" },
	{ .name = "id", .help = "identifier",
	  .bit = 32, .bits = 16, .when = COND("type", {0, 0}, {8, 8}, {13, 18}), .hex = true, .since = "0.1" },
	{ .name = "seq", .help = "sequence number",
	  .bit = 48, .bits = 16, .when = COND("type", {0, 0}, {8, 8}, {13, 18}), .since = "0.1" },
	{ .name = "unused", .help = "unused; the lower byte is the length of RFC 4884",
	  .bit = 32, .bits = 16, .when = COND("type", {3, 3}), .hex = true, .since = "0.1" },
	{ .name = "mtu", .help = "MTU of the next hop, bytes (code 4, RFC 1191)",
	  .bit = 48, .bits = 16, .when = COND("type", {3, 3}), .since = "0.1" },
	{ .name = "gateway", .help = "gateway address",
	  .kind = FIELD_IP4, .bit = 32, .bits = 32, .when = COND("type", {5, 5}), .since = "0.1" },
	{ .name = "ptr", .help = "byte of the quoted packet that is wrong",
	  .bit = 32, .bits = 8, .when = COND("type", {12, 12}), .since = "0.1" },
	{ .name = "rest", .help = "rest of the header",
	  .bit = 32, .bits = 32, .when = COND("type", {1, 2}, {4, 4}, {6, 7}, {9, 11}, {19, 255}), .hex = true, .since = "0.1" },
	{ .name = "orig", .help = "originate timestamp, ms since midnight UTC",
	  .section = &sections[P_STAMPS], .bit = 0, .bits = 32, .since = "0.1" },
	{ .name = "recv", .help = "receive timestamp, ms since midnight UTC",
	  .section = &sections[P_STAMPS], .bit = 32, .bits = 32, .since = "0.1" },
	{ .name = "xmit", .help = "transmit timestamp, ms since midnight UTC",
	  .section = &sections[P_STAMPS], .bit = 64, .bits = 32, .since = "0.1" },
	{ .name = "mask", .help = "address mask",
	  .kind = FIELD_IP4, .section = &sections[P_MASK], .bit = 0, .bits = 32, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	{ .lower = "ipv4", .value = IP_ICMP }, { .lower = "ah", .value = IP_ICMP },
	{ 0 },
};

const struct proto proto_icmp = {
	.name = "icmp", .help = "Internet Control Message Protocol", .len = LEN_ICMP, .fields = fields, .sections = sections, .binds = binds,
	.quotes = true,
};
