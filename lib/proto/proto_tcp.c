/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

static const char *const flag_names[] = { "fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", NULL };

enum { P_MSS, P_SACKOK, P_TS, P_WSCALE, P_OPTIONS };

static const struct section sections[] = {
	[P_MSS] = { .name = "mss", .len = 4, .optional = true, .option = true, .head_len = 2, .head = {2, 4} },
	[P_SACKOK] = { .name = "sackok", .len = 2, .optional = true, .option = true, .head_len = 2, .head = {4, 2} },
	[P_TS] = { .name = "ts", .len = 10, .optional = true, .option = true, .head_len = 2, .head = {8, 10} },
	[P_WSCALE] = { .name = "wscale", .len = 3, .optional = true, .option = true, .head_len = 2, .head = {3, 3} },
	[P_OPTIONS] = { .name = "options", .len = 0, .optional = true },
	{ 0 },
};

/* RFC 9293 3.1; options: RFC 2018, RFC 7323. */
static const struct field fields[] = {
	{ .name = "src", .word = "sport,src port", .help = "source port",
	  .bit = 0, .bits = 16, .dflt = "1234", .since = "0.1" },
	{ .name = "dst", .word = "dport,dst port", .help = "destination port",
	  .bit = 16, .bits = 16, .dflt = "5678", .since = "0.1" },
	{ .name = "seq", .word = "tcp seq", .help = "sequence number",
	  .bit = 32, .bits = 32, .dflt = "0x12378", .since = "0.1" },
	{ .name = "ack", .word = "tcp ack", .help = "acknowledgment number",
	  .bit = 64, .bits = 32, .dflt = "0x12390", .since = "0.1" },
	{ .name = "off", .help = "header length in units of 4 bytes; fills itself",
	  .role = ROLE_HLEN, .bit = 96, .bits = 4, .len_unit = 4, .since = "0.1" },
	{ .name = "res", .help = "reserved bits, the lowest is AE (accurate ECN)",
	  .bit = 100, .bits = 4, .dflt = "0", .since = "0.1" },
	{ .name = "flags", .word = "tcp flags,tcp flag", .help = "control flags",
	  .kind = FIELD_FLAGS, .bit = 104, .bits = 8, .dflt = "ack", .choices = flag_names, .since = "0.1" },
	{ .name = "window", .help = "window, bytes before scaling",
	  .bit = 112, .bits = 16, .dflt = "8192", .since = "0.1" },
	{ .name = "cksum", .help = "checksum; fills itself",
	  .role = ROLE_SUM_L4, .bit = 128, .bits = 16, .hex = true, .since = "0.1" },
	{ .name = "urgptr", .help = "urgent pointer",
	  .bit = 144, .bits = 16, .dflt = "0", .since = "0.1" },
	{ .name = "mss", .help = "maximum segment size option, bytes",
	  .section = &sections[P_MSS], .bit = 16, .bits = 16, .dflt = "1460", .since = "0.1" },
	{ .name = "sackok", .help = "1: SACK permitted option",
	  .role = ROLE_HERE, .section = &sections[P_SACKOK], .bit = 0, .since = "0.1" },
	{ .name = "tsval", .help = "timestamps option: value",
	  .section = &sections[P_TS], .bit = 16, .bits = 32, .since = "0.1" },
	{ .name = "tsecr", .help = "timestamps option: echo reply",
	  .section = &sections[P_TS], .bit = 48, .bits = 32, .since = "0.1" },
	{ .name = "wscale", .help = "window scale option: shift, bits",
	  .section = &sections[P_WSCALE], .bit = 16, .bits = 8, .dflt = "7", .since = "0.1" },
	{ .name = "options", .help = "further options as bytes, padded to 4",
	  .kind = FIELD_BYTES, .section = &sections[P_OPTIONS], .bit = 0, .max = 40, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	BIND_IP_PROTO(IP_TCP),
	{ 0 },
};

const struct proto proto_tcp = {
	.name = "tcp", .help = "Transmission Control Protocol", .len = LEN_TCP, .fields = fields, .sections = sections, .binds = binds,
	.pseudo_proto = IP_TCP,
	.options = OPTIONS_IP, .pad = 4,
};
