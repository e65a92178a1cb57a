/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

enum { P_MLD, P_RA, P_TARGET, P_REDIRECT, P_SLLA, P_TLLA, P_PREFIX, P_LINKMTU, P_OPTIONS };

static const struct section sections[] = {
	[P_MLD] = { .name = "mld", .len = 16, .when = COND("type", {130, 132}) },
	[P_RA] = { .name = "ra", .len = 8, .when = COND("type", {134, 134}) },
	[P_TARGET] = { .name = "target", .len = 16, .when = COND("type", {135, 137}) },
	[P_REDIRECT] = { .name = "redirect", .len = 16, .when = COND("type", {137, 137}) },
	[P_SLLA] = { .name = "slla", .len = 8, .optional = true, .option = true, .head_len = 2, .head = {1, 1}, .when = COND("type", {133, 137}) },
	[P_TLLA] = { .name = "tlla", .len = 8, .optional = true, .option = true, .head_len = 2, .head = {2, 1}, .when = COND("type", {133, 137}) },
	[P_PREFIX] = { .name = "prefix", .len = 32, .optional = true, .option = true, .head_len = 2, .head = {3, 4},
		.when = COND("type", {133, 137}) },
	[P_LINKMTU] = { .name = "linkmtu", .len = 8, .optional = true, .option = true, .head_len = 2, .head = {5, 1},
		.when = COND("type", {133, 137}) },
	[P_OPTIONS] = { .name = "options", .len = 0, .optional = true, .when = COND("type", {133, 137}) },
	{ 0 },
};

/* RFC 4443 2.1 and 4, RFC 4861 4 (neighbour discovery), RFC 2710 3 (multicast listeners). */
static const struct field fields[] = {
	{ .name = "type", .help = "message type: 128 echo request, 129 reply, 133 to 137 neighbour discovery (RS RA NS NA redirect)",
	  .bit = 0, .bits = 8, .dflt = "128", .since = "0.1" },
	{ .name = "code", .help = "code, its meaning depends on the type",
	  .bit = 8, .bits = 8, .since = "0.1" },
	{ .name = "cksum", .help = "checksum; fills itself",
	  .role = ROLE_SUM_L4, .bit = 16, .bits = 16, .hex = true, .since = "0.1" },
	{ .name = "id", .help = "identifier",
	  .bit = 32, .bits = 16, .when = COND("type", {128, 129}), .hex = true, .since = "0.1" },
	{ .name = "seq", .help = "sequence number",
	  .bit = 48, .bits = 16, .when = COND("type", {128, 129}), .since = "0.1" },
	{ .name = "mtu", .help = "MTU of the next hop, bytes",
	  .bit = 32, .bits = 32, .dflt = "1280", .when = COND("type", {2, 2}), .since = "0.1" },
	{ .name = "ptr", .help = "byte of the quoted packet that is wrong",
	  .bit = 32, .bits = 32, .when = COND("type", {4, 4}), .since = "0.1" },
	{ .name = "maxresp", .help = "maximum response delay, ms",
	  .bit = 32, .bits = 16, .when = COND("type", {130, 132}), .since = "0.1" },
	{ .name = "curhlim", .help = "hop limit that hosts should use",
	  .bit = 32, .bits = 8, .dflt = "64", .when = COND("type", {134, 134}), .since = "0.1" },
	{ .name = "managed", .help = "M: addresses by DHCPv6",
	  .bit = 40, .bits = 1, .when = COND("type", {134, 134}), .since = "0.1" },
	{ .name = "other", .help = "O: other configuration by DHCPv6",
	  .bit = 41, .bits = 1, .when = COND("type", {134, 134}), .since = "0.1" },
	{ .name = "lifetime", .help = "router lifetime, seconds",
	  .bit = 48, .bits = 16, .dflt = "1800", .when = COND("type", {134, 134}), .since = "0.1" },
	{ .name = "r", .help = "R: the sender is a router",
	  .bit = 32, .bits = 1, .when = COND("type", {136, 136}), .since = "0.1" },
	{ .name = "s", .help = "S: answer to a solicitation",
	  .bit = 33, .bits = 1, .when = COND("type", {136, 136}), .since = "0.1" },
	{ .name = "o", .help = "O: override cached addresses",
	  .bit = 34, .bits = 1, .when = COND("type", {136, 136}), .since = "0.1" },
	{ .name = "res", .help = "reserved",
	  .bit = 32, .bits = 32, .when = COND("type", {0, 1}, {3, 3}, {5, 127}, {133, 133}, {135, 135}), .hex = true, .since = "0.1" },
	{ .name = "maddr", .help = "multicast address (RFC 2710)",
	  .kind = FIELD_IP6, .section = &sections[P_MLD], .bit = 0, .bits = 128, .since = "0.1" },
	{ .name = "reachable", .help = "reachable time, ms",
	  .section = &sections[P_RA], .bit = 0, .bits = 32, .since = "0.1" },
	{ .name = "retrans", .help = "retransmission timer, ms",
	  .section = &sections[P_RA], .bit = 32, .bits = 32, .since = "0.1" },
	{ .name = "target", .help = "target address",
	  .kind = FIELD_IP6, .section = &sections[P_TARGET], .bit = 0, .bits = 128, .since = "0.1" },
	{ .name = "dst", .help = "address that is redirected",
	  .kind = FIELD_IP6, .section = &sections[P_REDIRECT], .bit = 0, .bits = 128, .since = "0.1" },
	{ .name = "slla", .help = "source link-layer address option",
	  .kind = FIELD_MAC, .section = &sections[P_SLLA], .bit = 16, .bits = 48, .since = "0.1" },
	{ .name = "tlla", .help = "target link-layer address option",
	  .kind = FIELD_MAC, .section = &sections[P_TLLA], .bit = 16, .bits = 48, .since = "0.1" },
	{ .name = "prefixlen", .help = "prefix option: length, bits",
	  .section = &sections[P_PREFIX], .bit = 16, .bits = 8, .dflt = "64", .since = "0.1" },
	{ .name = "onlink", .help = "prefix option: L, on-link",
	  .section = &sections[P_PREFIX], .bit = 24, .bits = 1, .dflt = "1", .since = "0.1" },
	{ .name = "auto", .help = "prefix option: A, for autonomous addresses",
	  .section = &sections[P_PREFIX], .bit = 25, .bits = 1, .dflt = "1", .since = "0.1" },
	{ .name = "valid", .help = "prefix option: valid lifetime, seconds",
	  .section = &sections[P_PREFIX], .bit = 32, .bits = 32, .dflt = "2592000", .since = "0.1" },
	{ .name = "preferred", .help = "prefix option: preferred lifetime, seconds",
	  .section = &sections[P_PREFIX], .bit = 64, .bits = 32, .dflt = "604800", .since = "0.1" },
	{ .name = "prefix", .help = "prefix option: the prefix",
	  .kind = FIELD_IP6, .section = &sections[P_PREFIX], .bit = 128, .bits = 128, .since = "0.1" },
	{ .name = "linkmtu", .help = "MTU option: MTU of the link, bytes",
	  .section = &sections[P_LINKMTU], .bit = 32, .bits = 32, .dflt = "1500", .since = "0.1" },
	{ .name = "options", .help = "further neighbour discovery options as bytes, padded to 8",
	  .kind = FIELD_BYTES, .section = &sections[P_OPTIONS], .bit = 0, .max = 1024, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	BIND_IP6_NEXT(IP_ICMP6),
	{ 0 },
};

const struct proto proto_icmpv6 = {
	.name = "icmpv6", .help = "ICMPv6 with neighbour discovery", .len = LEN_ICMP, .fields = fields, .sections = sections, .binds = binds,
	.pseudo_proto = IP_ICMP6,
	.options = OPTIONS_ND, .pad = 8, .closed = true, .closed_when = COND("type", {130, 137}),
	.quotes = true,
};
