/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

/* RFC 768. */
static const struct field fields[] = {
	{ .name = "src", .word = "sport,src port", .help = "source port",
	  .bit = 0, .bits = 16, .dflt = "1234", .since = "0.1" },
	{ .name = "dst", .word = "dport,dst port", .help = "destination port",
	  .bit = 16, .bits = 16, .dflt = "5678", .since = "0.1" },
	{ .name = "len", .help = "length in bytes from this header to the end; fills itself",
	  .role = ROLE_LEN, .bit = 32, .bits = 16, .since = "0.1" },
	{ .name = "cksum", .help = "checksum; fills itself, 0 = none",
	  .role = ROLE_SUM_L4, .bit = 48, .bits = 16, .zero_is_none = true, .hex = true, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	BIND_IP_PROTO(IP_UDP),
	{ 0 },
};

const struct proto proto_udp = {
	.name = "udp", .help = "User Datagram Protocol", .len = LEN_UDP, .fields = fields, .binds = binds, .pseudo_proto = IP_UDP,
};
