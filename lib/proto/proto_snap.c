/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

/* IEEE 802 9.4, RFC 1042. */
static const struct field fields[] = {
	{ .name = "oui", .help = "organization code, 0 = EtherType follows",
	  .bit = 0, .bits = 24, .hex = true, .since = "0.1" },
	{ .name = "type", .help = "EtherType; fills itself from the next header",
	  .role = ROLE_NEXT, .bit = 24, .bits = 16, .hex = true, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	{ .lower = "llc", .value = LLC_OF_SNAP, .field = "dsap", .also = "ssap" },
	{ 0 },
};

const struct proto proto_snap = {
	.name = "snap", .help = "SNAP behind LLC", .len = LEN_SNAP, .fields = fields, .binds = binds,
};
