/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"

/* One field, one row. */
/* clang-format off */

static const char *const flag_names[] = { "fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", NULL };

/* RFC 9293 3.1. */
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
	{ 0 },
};

static const struct bind binds[] = { { .lower = "ipv4", .value = 6 }, { 0 } };

const struct proto proto_tcp = {
	.name = "tcp", .help = "Transmission Control Protocol", .len = 20, .fields = fields, .binds = binds, .pseudo_proto = 6,
};
