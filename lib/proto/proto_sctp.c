/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

enum { P_DATA, P_INIT };

static const struct section sections[] = {
	[P_DATA] = { .name = "data", .len = 12, .when = COND("type", {0, 0}) },
	[P_INIT] = { .name = "init", .len = 16, .when = COND("type", {1, 2}) },
	{ 0 },
};

/* RFC 9260 3.1, 3.2, 3.3.1 and 3.3.2. */
static const struct field fields[] = {
	{ .name = "src", .word = "sport,src port", .help = "source port",
	  .bit = 0, .bits = 16, .dflt = "1234", .since = "0.1" },
	{ .name = "dst", .word = "dport,dst port", .help = "destination port",
	  .bit = 16, .bits = 16, .dflt = "5678", .since = "0.1" },
	{ .name = "vtag", .help = "verification tag",
	  .bit = 32, .bits = 32, .dflt = "1", .hex = true, .since = "0.1" },
	{ .name = "cksum", .help = "CRC32c; fills itself",
	  .role = ROLE_CRC32C, .bit = 64, .bits = 32, .hex = true, .since = "0.1" },
	{ .name = "type", .help = "chunk type: 0 data, 1 init, 2 init ack",
	  .bit = 96, .bits = 8, .since = "0.1" },
	{ .name = "flags", .help = "chunk flags; data: 3 = a whole message",
	  .bit = 104, .bits = 8, .dflt = "3", .hex = true, .since = "0.1" },
	{ .name = "len", .help = "chunk length in bytes to the end; fills itself",
	  .role = ROLE_LEN, .bit = 112, .bits = 16, .len_from = 12, .since = "0.1" },
	{ .name = "tsn", .help = "transmission sequence number",
	  .section = &sections[P_DATA], .bit = 0, .bits = 32, .since = "0.1" },
	{ .name = "sid", .help = "stream identifier",
	  .section = &sections[P_DATA], .bit = 32, .bits = 16, .since = "0.1" },
	{ .name = "ssn", .help = "stream sequence number",
	  .section = &sections[P_DATA], .bit = 48, .bits = 16, .since = "0.1" },
	{ .name = "ppid", .help = "payload protocol identifier",
	  .section = &sections[P_DATA], .bit = 64, .bits = 32, .since = "0.1" },
	{ .name = "itag", .help = "initiate tag",
	  .section = &sections[P_INIT], .bit = 0, .bits = 32, .dflt = "1", .hex = true, .since = "0.1" },
	{ .name = "arwnd", .help = "advertised receiver window, bytes",
	  .section = &sections[P_INIT], .bit = 32, .bits = 32, .dflt = "65536", .since = "0.1" },
	{ .name = "os", .help = "number of outbound streams",
	  .section = &sections[P_INIT], .bit = 64, .bits = 16, .dflt = "1", .since = "0.1" },
	{ .name = "mis", .help = "most inbound streams",
	  .section = &sections[P_INIT], .bit = 80, .bits = 16, .dflt = "1", .since = "0.1" },
	{ .name = "itsn", .help = "initial transmission sequence number",
	  .section = &sections[P_INIT], .bit = 96, .bits = 32, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	BIND_IP_PROTO(IP_SCTP),
	{ 0 },
};

const struct proto proto_sctp = {
	.name = "sctp", .help = "Stream Control Transmission Protocol, one chunk", .len = LEN_SCTP, .fields = fields, .sections = sections,
	.binds = binds,
};
