/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

/* RFC 8200 3. */
static const struct field fields[] = {
	{ .name = "version", .help = "IP version",
	  .role = ROLE_VERSION, .bit = 0, .bits = 4, .dflt = "6", .since = "0.1" },
	{ .name = "tc", .word = "tos,traffic_class", .help = "traffic class: DSCP and ECN",
	  .bit = 4, .bits = 8, .hex = true, .since = "0.1" },
	{ .name = "flow", .help = "flow label",
	  .bit = 12, .bits = 20, .hex = true, .since = "0.1" },
	{ .name = "plen", .help = "length in bytes behind this header; fills itself",
	  .role = ROLE_LEN, .bit = 32, .bits = 16, .len_from = 40, .since = "0.1" },
	{ .name = "nh", .help = "next header; fills itself",
	  .role = ROLE_NEXT, .bit = 48, .bits = 8, .since = "0.1" },
	{ .name = "hlim", .word = "ttl,hop_limits", .help = "hop limit",
	  .bit = 56, .bits = 8, .dflt = "64", .since = "0.1" },
	{ .name = "src", .word = "src ip", .help = "source address",
	  .kind = FIELD_IP6, .bit = 64, .bits = 128, .since = "0.1" },
	{ .name = "dst", .word = "dst ip", .help = "destination address",
	  .kind = FIELD_IP6, .bit = 192, .bits = 128, .since = "0.1" },
	{ 0 },
};

/* Behind IP it is a tunnel, RFC 2473; behind icmpv6 what an error message quotes, RFC 4443 2.4. */
static const struct bind binds[] = {
	BIND_ETHERTYPE(ETYPE_IP6), { .lower = "gre", .value = ETYPE_IP6 }, { .lower = "geneve", .value = ETYPE_IP6 }, BIND_IP_PROTO(IP_IP6),
	{ .lower = "pppoe", .value = PPP_OF_IP6 },
	{ .lower = "mpls", .value = 1, .field = "bos", .peek = 0x60, .peek_mask = 0xf0 },
	{ .lower = "gtpu", .value = GTPU_G_PDU, .field = "type", .peek = 0x60, .peek_mask = 0xf0 },
	{ .lower = "icmpv6", .value = 1, .field = "type" }, { .lower = "icmpv6", .value = 2, .field = "type" },
	{ .lower = "icmpv6", .value = 3, .field = "type" }, { .lower = "icmpv6", .value = 4, .field = "type" },
	{ 0 },
};

const struct proto proto_ipv6 = {
	.name = "ipv6", .help = "Internet Protocol version 6", .len = LEN_IP6, .fields = fields, .binds = binds, .has_pseudo = true,
};
