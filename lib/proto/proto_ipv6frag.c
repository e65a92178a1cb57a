/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

/* RFC 8200 4.5. */
static const struct field fields[] = {
	{ .name = "nh", .help = "next header; fills itself",
	  .role = ROLE_NEXT, .bit = 0, .bits = 8, .since = "0.1" },
	{ .name = "res", .help = "reserved",
	  .bit = 8, .bits = 8, .since = "0.1" },
	{ .name = "offset", .help = "fragment offset in units of 8 bytes",
	  .role = ROLE_FRAG, .bit = 16, .bits = 13, .since = "0.1" },
	{ .name = "res2", .help = "reserved",
	  .bit = 29, .bits = 2, .since = "0.1" },
	{ .name = "m", .help = "more fragments follow",
	  .role = ROLE_MORE, .bit = 31, .bits = 1, .since = "0.1" },
	{ .name = "id", .help = "identification",
	  .bit = 32, .bits = 32, .hex = true, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	BIND_IP6_NEXT(IP_FRAG),
	{ 0 },
};

const struct proto proto_ipv6frag = {
	.name = "ipv6frag", .help = "IPv6 fragment header", .len = 8, .fields = fields, .binds = binds,
};
