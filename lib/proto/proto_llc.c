/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

/* IEEE 802.2 3.2. */
static const struct field fields[] = {
	{ .name = "dsap", .help = "destination service access point; fills itself from the next header",
	  .bit = 0, .bits = 8, .hex = true, .since = "0.1" },
	{ .name = "ssap", .help = "source service access point; fills itself from the next header",
	  .bit = 8, .bits = 8, .hex = true, .since = "0.1" },
	{ .name = "ctl", .help = "control, 3 = unnumbered information",
	  .bit = 16, .bits = 8, .dflt = "3", .hex = true, .since = "0.1" },
	{ 0 },
};

/* In place of an EtherType stands the length of what follows, IEEE 802.3 3.2.6. */
static const struct bind binds[] = {
	{ .lower = "eth", .value = ETYPE_MAX_LEN, .is_len = true }, { .lower = "vlan", .value = ETYPE_MAX_LEN, .is_len = true },
	{ .lower = "qinq", .value = ETYPE_MAX_LEN, .is_len = true },
	{ 0 },
};

const struct proto proto_llc = {
	.name = "llc", .help = "IEEE 802.2 LLC", .len = LEN_LLC, .fields = fields, .binds = binds,
};
