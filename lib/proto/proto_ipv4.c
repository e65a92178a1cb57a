/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

/* RFC 791 3.1: bit 0 of the three is the highest; "rb" is the reserved one. */
static const char *const flag_names[] = { "mf", "df", "rb", NULL };

enum { P_RALERT, P_OPTIONS };

static const struct section sections[] = {
	[P_RALERT] = { .name = "ralert", .len = 4, .optional = true, .option = true, .head_len = 2, .head = {0x94, 4} },
	[P_OPTIONS] = { .name = "options", .len = 0, .optional = true },
	{ 0 },
};

static const struct field fields[] = {
	{ .name = "version", .help = "IP version",
	  .role = ROLE_VERSION, .bit = 0, .bits = 4, .dflt = "4", .since = "0.1" },
	{ .name = "ihl", .help = "header length in units of 4 bytes; fills itself",
	  .role = ROLE_HLEN, .bit = 4, .bits = 4, .len_unit = 4, .since = "0.1" },
	{ .name = "tos", .word = "tos", .help = "type of service: DSCP and ECN",
	  .bit = 8, .bits = 8, .dflt = "0", .hex = true, .since = "0.1" },
	{ .name = "len", .help = "length in bytes from this header to the end; fills itself",
	  .role = ROLE_LEN, .bit = 16, .bits = 16, .since = "0.1" },
	{ .name = "id", .help = "identification",
	  .bit = 32, .bits = 16, .dflt = "0", .hex = true, .since = "0.1" },
	{ .name = "flags", .help = "fragmentation flags",
	  .kind = FIELD_FLAGS, .role = ROLE_MORE, .bit = 48, .bits = 3, .choices = flag_names, .since = "0.1" },
	{ .name = "frag", .help = "fragment offset in units of 8 bytes",
	  .role = ROLE_FRAG, .bit = 51, .bits = 13, .dflt = "0", .since = "0.1" },
	{ .name = "ttl", .word = "ttl", .help = "time to live, hops",
	  .bit = 64, .bits = 8, .dflt = "64", .since = "0.1" },
	{ .name = "proto", .help = "protocol number; fills itself from the next header",
	  .role = ROLE_NEXT, .bit = 72, .bits = 8, .since = "0.1" },
	{ .name = "cksum", .help = "header checksum; fills itself",
	  .role = ROLE_SUM_HDR, .bit = 80, .bits = 16, .hex = true, .since = "0.1" },
	{ .name = "src", .word = "src ip", .help = "source address",
	  .kind = FIELD_IP4, .bit = 96, .bits = 32, .since = "0.1" },
	{ .name = "dst", .word = "dst ip", .help = "destination address",
	  .kind = FIELD_IP4, .bit = 128, .bits = 32, .since = "0.1" },
	{ .name = "ralert", .help = "router alert option (RFC 2113)",
	  .section = &sections[P_RALERT], .bit = 16, .bits = 16, .since = "0.1" },
	{ .name = "options", .help = "further options as bytes, padded to 4",
	  .kind = FIELD_BYTES, .section = &sections[P_OPTIONS], .bit = 0, .max = 40, .since = "0.1" },
	{ 0 },
};

/* Behind ipv4 it is IP in IP, RFC 2003; behind icmp what an error message quotes, RFC 792. */
static const struct bind binds[] = {
	BIND_ETHERTYPE(ETYPE_IP4), { .lower = "gre", .value = ETYPE_IP4 }, { .lower = "geneve", .value = ETYPE_IP4 }, BIND_IP_PROTO(IP_IP4),
	{ .lower = "pppoe", .value = PPP_OF_IP4 },
	{ .lower = "mpls", .value = 1, .field = "bos", .peek = 0x40, .peek_mask = 0xf0 },
	{ .lower = "gtpu", .value = GTPU_G_PDU, .field = "type", .peek = 0x40, .peek_mask = 0xf0 },
	{ .lower = "icmp", .value = 3, .field = "type" }, { .lower = "icmp", .value = 4, .field = "type" },
	{ .lower = "icmp", .value = 5, .field = "type" }, { .lower = "icmp", .value = 11, .field = "type" },
	{ .lower = "icmp", .value = 12, .field = "type" },
	{ 0 },
};

const struct proto proto_ipv4 = {
	.name = "ipv4", .help = "Internet Protocol version 4", .len = LEN_IP4, .fields = fields, .sections = sections,
	.binds = binds, .has_pseudo = true,
	.options = OPTIONS_IP, .pad = 4,
};
