/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

enum { P_OPTIONS };

static const struct section sections[] = {
	[P_OPTIONS] = { .name = "options", .len = 0, .optional = true },
	{ 0 },
};

/* RFC 8926 3.4. */
static const struct field fields[] = {
	{ .name = "version", .help = "version",
	  .role = ROLE_VERSION, .bit = 0, .bits = 2, .dflt = "0", .since = "0.1" },
	{ .name = "optlen", .help = "length of options in units of 4 bytes; fills itself",
	  .role = ROLE_HLEN, .bit = 2, .bits = 6, .len_from = 8, .len_unit = 4, .since = "0.1" },
	{ .name = "o", .help = "control packet",
	  .bit = 8, .bits = 1, .since = "0.1" },
	{ .name = "c", .help = "critical options present",
	  .bit = 9, .bits = 1, .since = "0.1" },
	{ .name = "res", .help = "reserved",
	  .bit = 10, .bits = 6, .since = "0.1" },
	{ .name = "type", .help = "protocol type, an EtherType; fills itself from the next header",
	  .role = ROLE_NEXT, .bit = 16, .bits = 16, .hex = true, .since = "0.1" },
	{ .name = "vni", .help = "network identifier",
	  .bit = 32, .bits = 24, .ident = true, .since = "0.1" },
	{ .name = "res2", .help = "reserved",
	  .bit = 56, .bits = 8, .since = "0.1" },
	{ .name = "options", .help = "options as bytes, padded to 4",
	  .kind = FIELD_BYTES, .section = &sections[P_OPTIONS], .bit = 0, .max = 252, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	{ .lower = "udp", .value = UDP_OF_GENEVE, .field = "dst" },
	{ 0 },
};

const struct proto proto_geneve = {
	.name = "geneve", .help = "Generic Network Virtualization Encapsulation", .len = LEN_GENEVE, .fields = fields, .sections = sections,
	.binds = binds, .pad = 4,
};
