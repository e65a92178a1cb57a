/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"

/* One field, one row. */
/* clang-format off */

enum { P_QUERY3, P_RECORD };

static const struct section sections[] = {
	[P_QUERY3] = { .name = "query3", .len = 4, .optional = true, .when = COND("type", {17, 17}) },
	[P_RECORD] = { .name = "record", .len = 8, .when = COND("type", {34, 34}) },
	{ 0 },
};

/* RFC 1112 appendix I, RFC 2236 2, RFC 3376 4. */
static const struct field fields[] = {
	{ .name = "type", .help = "message type: 0x11 query, 0x12 0x16 0x22 reports of version 1 2 3, 0x17 leave",
	  .bit = 0, .bits = 8, .dflt = "0x16", .hex = true, .since = "0.1" },
	{ .name = "maxresp", .help = "maximum response time, 1/10 s",
	  .bit = 8, .bits = 8, .since = "0.1" },
	{ .name = "cksum", .help = "checksum; fills itself",
	  .role = ROLE_SUM_L4, .bit = 16, .bits = 16, .hex = true, .since = "0.1" },
	{ .name = "group", .help = "group address",
	  .kind = FIELD_IP4, .bit = 32, .bits = 32, .dflt = "239.0.0.1", .when = COND("type", {0, 33}, {35, 255}), .since = "0.1" },
	{ .name = "res", .help = "reserved",
	  .bit = 32, .bits = 16, .when = COND("type", {34, 34}), .hex = true, .since = "0.1" },
	{ .name = "nrec", .help = "number of group records",
	  .bit = 48, .bits = 16, .dflt = "1", .when = COND("type", {34, 34}), .since = "0.1" },
	{ .name = "s", .help = "version 3 query: suppress router-side processing",
	  .section = &sections[P_QUERY3], .bit = 4, .bits = 1, .since = "0.1" },
	{ .name = "qrv", .help = "version 3 query: robustness of the querier",
	  .section = &sections[P_QUERY3], .bit = 5, .bits = 3, .dflt = "2", .since = "0.1" },
	{ .name = "qqic", .help = "version 3 query: interval of the querier, seconds",
	  .section = &sections[P_QUERY3], .bit = 8, .bits = 8, .dflt = "125", .since = "0.1" },
	{ .name = "nsrc", .help = "version 3 query: number of sources; fills itself",
	  .role = ROLE_COUNT, .section = &sections[P_QUERY3], .bit = 16, .bits = 16, .len_unit = 4, .of = "srcs", .since = "0.1" },
	{ .name = "srcs", .help = "version 3 query: source addresses as bytes, 4 each",
	  .kind = FIELD_BYTES, .section = &sections[P_QUERY3], .bit = 32, .max = 1024, .since = "0.1" },
	{ .name = "rtype", .help = "version 3 report: record type, 4 = change to exclude",
	  .section = &sections[P_RECORD], .bit = 0, .bits = 8, .dflt = "4", .since = "0.1" },
	{ .name = "auxlen", .help = "version 3 report: auxiliary data, units of 4 bytes",
	  .section = &sections[P_RECORD], .bit = 8, .bits = 8, .since = "0.1" },
	{ .name = "rnsrc", .help = "version 3 report: number of sources; fills itself",
	  .role = ROLE_COUNT, .section = &sections[P_RECORD], .bit = 16, .bits = 16, .len_unit = 4, .of = "rsrcs", .since = "0.1" },
	{ .name = "maddr", .help = "version 3 report: group address",
	  .kind = FIELD_IP4, .section = &sections[P_RECORD], .bit = 32, .bits = 32, .dflt = "239.0.0.1", .since = "0.1" },
	{ .name = "rsrcs", .help = "version 3 report: source addresses as bytes, 4 each",
	  .kind = FIELD_BYTES, .section = &sections[P_RECORD], .bit = 64, .max = 1024, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	{ .lower = "ipv4", .value = 2 }, { .lower = "ah", .value = 2 },
	{ 0 },
};

const struct proto proto_igmp = {
	.name = "igmp", .help = "Internet Group Management Protocol", .len = 8, .fields = fields, .sections = sections,
	.binds = binds, .closed = true,
};
