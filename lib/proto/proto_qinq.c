/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

/* IEEE 802.1Q 9.6, S-TAG. Its content is laid out as a C-TAG is. */
static const struct field fields[] = {
	{ .name = "pcp", .word = "cos", .help = "priority code point (802.1p)",
	  .bit = 0, .bits = 3, .since = "0.1" },
	{ .name = "dei", .help = "drop eligible indicator",
	  .bit = 3, .bits = 1, .since = "0.1" },
	{ .name = "vid", .help = "VLAN id",
	  .bit = 4, .bits = 12, .dflt = "1", .ident = true, .since = "0.1" },
	{ .name = "type", .help = "EtherType, or the length in front of llc; fills itself from the next header",
	  .role = ROLE_NEXT, .bit = 16, .bits = 16, .hex = true, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	{ .lower = "eth", .value = ETYPE_QINQ }, { .lower = "vlan", .value = ETYPE_QINQ }, { .lower = "qinq", .value = ETYPE_QINQ },
	{ 0 },
};

const struct proto proto_qinq = {
	.name = "qinq", .help = "service VLAN tag (802.1ad)", .len = LEN_VLAN, .fields = fields, .binds = binds,
};
