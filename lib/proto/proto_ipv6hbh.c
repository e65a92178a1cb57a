/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

enum { P_RALERT, P_OPTIONS };

static const struct section sections[] = {
	[P_RALERT] = { .name = "ralert", .len = 4, .optional = true, .option = true, .head_len = 2, .head = {5, 2} },
	[P_OPTIONS] = { .name = "options", .len = 0, .optional = true },
	{ 0 },
};

/* RFC 8200 4.3. */
static const struct field fields[] = {
	{ .name = "nh", .help = "next header; fills itself",
	  .role = ROLE_NEXT, .bit = 0, .bits = 8, .since = "0.1" },
	{ .name = "len", .help = "length in units of 8 bytes without the first; fills itself",
	  .role = ROLE_HLEN, .bit = 8, .bits = 8, .len_from = 8, .len_unit = 8, .since = "0.1" },
	{ .name = "ralert", .help = "router alert option (RFC 2711)",
	  .section = &sections[P_RALERT], .bit = 16, .bits = 16, .since = "0.1" },
	{ .name = "options", .help = "further options as bytes, padded to 8",
	  .kind = FIELD_BYTES, .section = &sections[P_OPTIONS], .bit = 0, .max = 2046, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	{ .lower = "ipv6", .value = IP_HOPOPT },
	{ 0 },
};

const struct proto proto_ipv6hbh = {
	.name = "ipv6hbh", .help = "IPv6 hop-by-hop options", .len = 2, .fields = fields, .sections = sections, .binds = binds,
	.options = OPTIONS_IP6, .pad = 8,
};
