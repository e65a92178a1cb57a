/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

enum { P_HOMEADDR, P_OPTIONS };

static const struct section sections[] = {
	[P_HOMEADDR] = { .name = "homeaddr", .len = 18, .optional = true, .option = true, .head_len = 2, .head = {201, 16} },
	[P_OPTIONS] = { .name = "options", .len = 0, .optional = true },
	{ 0 },
};

/* RFC 8200 4.6. */
static const struct field fields[] = {
	{ .name = "nh", .help = "next header; fills itself",
	  .role = ROLE_NEXT, .bit = 0, .bits = 8, .since = "0.1" },
	{ .name = "len", .help = "length in units of 8 bytes without the first; fills itself",
	  .role = ROLE_HLEN, .bit = 8, .bits = 8, .len_from = 8, .len_unit = 8, .since = "0.1" },
	{ .name = "homeaddr", .help = "home address option (RFC 6275)",
	  .kind = FIELD_IP6, .section = &sections[P_HOMEADDR], .bit = 16, .bits = 128, .since = "0.1" },
	{ .name = "options", .help = "further options as bytes, padded to 8",
	  .kind = FIELD_BYTES, .section = &sections[P_OPTIONS], .bit = 0, .max = 2046, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	BIND_IP6_NEXT(IP_DSTOPT),
	{ 0 },
};

const struct proto proto_ipv6dst = {
	.name = "ipv6dst", .help = "IPv6 destination options", .len = 2, .fields = fields, .sections = sections, .binds = binds,
	.options = OPTIONS_IP6, .pad = 8,
};
