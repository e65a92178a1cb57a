/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

enum { P_ICV };

static const struct section sections[] = {
	[P_ICV] = { .name = "icv", .len = 0 },
	{ 0 },
};

/* RFC 4302 2. The integrity check value is not computed. */
static const struct field fields[] = {
	{ .name = "nh", .help = "next header; fills itself",
	  .role = ROLE_NEXT, .bit = 0, .bits = 8, .since = "0.1" },
	{ .name = "len", .help = "length in units of 4 bytes minus 2; fills itself",
	  .role = ROLE_HLEN, .bit = 8, .bits = 8, .len_from = 8, .len_unit = 4, .since = "0.1" },
	{ .name = "res", .help = "reserved",
	  .bit = 16, .bits = 16, .since = "0.1" },
	{ .name = "spi", .help = "security parameters index",
	  .bit = 32, .bits = 32, .dflt = "256", .hex = true, .since = "0.1" },
	{ .name = "seq", .help = "sequence number",
	  .bit = 64, .bits = 32, .dflt = "1", .since = "0.1" },
	{ .name = "icv", .help = "integrity check value as bytes, padded to 4",
	  .kind = FIELD_BYTES, .section = &sections[P_ICV], .bit = 0, .dflt = "000000000000000000000000", .max = 1008, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	BIND_IP_PROTO(IP_AH),
	{ 0 },
};

const struct proto proto_ah = {
	.name = "ah", .help = "IPsec authentication header", .len = 12, .fields = fields, .sections = sections, .binds = binds, .pad = 4,
};
