/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

/* RFC 2516 4 and 7. */
static const struct field fields[] = {
	{ .name = "version", .help = "version",
	  .role = ROLE_VERSION, .bit = 0, .bits = 4, .dflt = "1", .since = "0.1" },
	{ .name = "type", .help = "type",
	  .bit = 4, .bits = 4, .dflt = "1", .since = "0.1" },
	{ .name = "code", .help = "code, 0 = session data",
	  .bit = 8, .bits = 8, .hex = true, .since = "0.1" },
	{ .name = "sid", .help = "session id",
	  .bit = 16, .bits = 16, .dflt = "1", .hex = true, .ident = true, .since = "0.1" },
	{ .name = "len", .help = "length in bytes, PPP protocol included; fills itself",
	  .role = ROLE_LEN, .bit = 32, .bits = 16, .len_from = 6, .since = "0.1" },
	{ .name = "proto", .help = "PPP protocol; fills itself from the next header",
	  .role = ROLE_NEXT, .bit = 48, .bits = 16, .hex = true, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	{ .lower = "eth", .value = ETYPE_PPPOE }, { .lower = "vlan", .value = ETYPE_PPPOE }, { .lower = "qinq", .value = ETYPE_PPPOE },
	{ 0 },
};

const struct proto proto_pppoe = {
	.name = "pppoe", .help = "PPPoE session with PPP", .len = LEN_PPPOE, .fields = fields, .binds = binds,
};
