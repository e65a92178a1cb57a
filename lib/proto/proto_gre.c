/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

enum { P_CKSUM, P_KEY, P_SEQ };

static const struct section sections[] = {
	[P_CKSUM] = { .name = "cksum", .len = 4, .optional = true,
		.seen = { COND("c", {1, 1}) } },
	[P_KEY] = { .name = "key", .len = 4, .optional = true,
		.seen = { COND("k", {1, 1}) } },
	[P_SEQ] = { .name = "seq", .len = 4, .optional = true,
		.seen = { COND("s", {1, 1}) } },
	{ 0 },
};

/* RFC 2784 2, RFC 2890 2. A section is there when one of its fields or its bit is set. */
static const struct field fields[] = {
	{ .name = "c", .help = "checksum present; fills itself",
	  .role = ROLE_HAS, .bit = 0, .bits = 1, .of = "cksum", .since = "0.1" },
	{ .name = "r", .help = "routing present (RFC 1701)",
	  .bit = 1, .bits = 1, .since = "0.1" },
	{ .name = "k", .help = "key present; fills itself",
	  .role = ROLE_HAS, .bit = 2, .bits = 1, .of = "key", .since = "0.1" },
	{ .name = "s", .help = "sequence number present; fills itself",
	  .role = ROLE_HAS, .bit = 3, .bits = 1, .of = "seq", .since = "0.1" },
	{ .name = "res", .help = "reserved",
	  .bit = 4, .bits = 9, .hex = true, .since = "0.1" },
	{ .name = "version", .help = "version",
	  .role = ROLE_VERSION, .bit = 13, .bits = 3, .dflt = "0", .since = "0.1" },
	{ .name = "type", .help = "EtherType; fills itself from the next header",
	  .role = ROLE_NEXT, .bit = 16, .bits = 16, .hex = true, .since = "0.1" },
	{ .name = "cksum", .help = "checksum; fills itself",
	  .role = ROLE_SUM_L4, .section = &sections[P_CKSUM], .bit = 0, .bits = 16, .hex = true, .since = "0.1" },
	{ .name = "offset", .help = "reserved, offset in RFC 1701",
	  .section = &sections[P_CKSUM], .bit = 16, .bits = 16, .since = "0.1" },
	{ .name = "key", .word = "gre key", .help = "key",
	  .section = &sections[P_KEY], .bit = 0, .bits = 32, .ident = true, .since = "0.1" },
	{ .name = "seq", .help = "sequence number",
	  .section = &sections[P_SEQ], .bit = 0, .bits = 32, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	BIND_IP_PROTO(IP_GRE),
	{ 0 },
};

const struct proto proto_gre = {
	.name = "gre", .help = "Generic Routing Encapsulation", .len = LEN_GRE, .fields = fields, .sections = sections, .binds = binds,
};
