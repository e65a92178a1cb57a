/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

enum { P_OPT, P_PDU };

static const struct section sections[] = {
	[P_OPT] = { .name = "opt", .len = 4, .optional = true,
		.seen = { COND("e", {1, 1}), COND("s", {1, 1}), COND("pn", {1, 1}) } },
	[P_PDU] = { .name = "pdu", .len = 4, .optional = true, .head_len = 1, .head = {1},
		.seen = { COND("next", {0x85, 0x85}) } },
	{ 0 },
};

/* 3GPP TS 29.281 5.1 and 5.2; PDU session container: TS 38.415 5.5.2. */
static const struct field fields[] = {
	{ .name = "version", .help = "version",
	  .role = ROLE_VERSION, .bit = 0, .bits = 3, .dflt = "1", .since = "0.1" },
	{ .name = "pt", .help = "protocol type, 1 = GTP",
	  .bit = 3, .bits = 1, .dflt = "1", .since = "0.1" },
	{ .name = "res", .help = "reserved",
	  .bit = 4, .bits = 1, .since = "0.1" },
	{ .name = "e", .help = "extension header flag; fills itself",
	  .role = ROLE_HAS, .bit = 5, .bits = 1, .of = "next,pdu", .since = "0.1" },
	{ .name = "s", .help = "sequence number flag; fills itself",
	  .role = ROLE_HAS, .bit = 6, .bits = 1, .of = "seq", .since = "0.1" },
	{ .name = "pn", .help = "N-PDU number flag; fills itself",
	  .role = ROLE_HAS, .bit = 7, .bits = 1, .of = "npdu", .since = "0.1" },
	{ .name = "type", .help = "message type: 255 G-PDU, 1 echo request, 2 echo response, 254 end marker",
	  .bit = 8, .bits = 8, .dflt = "255", .since = "0.1" },
	{ .name = "len", .help = "length in bytes behind the first 8; fills itself",
	  .role = ROLE_LEN, .bit = 16, .bits = 16, .len_from = 8, .since = "0.1" },
	{ .name = "teid", .word = "teid", .help = "tunnel endpoint identifier",
	  .bit = 32, .bits = 32, .ident = true, .since = "0.1" },
	{ .name = "seq", .help = "sequence number",
	  .section = &sections[P_OPT], .bit = 0, .bits = 16, .since = "0.1" },
	{ .name = "npdu", .help = "N-PDU number",
	  .section = &sections[P_OPT], .bit = 16, .bits = 8, .since = "0.1" },
	{ .name = "next", .help = "type of the next extension header; fills itself",
	  .role = ROLE_HAS, .section = &sections[P_OPT], .bit = 24, .bits = 8, .of = "pdu", .has_value = 0x85, .hex = true, .since = "0.1" },
	{ .name = "pdutype", .help = "PDU session container: 0 downlink, 1 uplink",
	  .section = &sections[P_PDU], .bit = 8, .bits = 4, .since = "0.1" },
	{ .name = "pdubits", .help = "PDU session container: QMP, SNP and spare bits",
	  .section = &sections[P_PDU], .bit = 12, .bits = 4, .since = "0.1" },
	{ .name = "ppp", .help = "PDU session container: paging policy presence",
	  .section = &sections[P_PDU], .bit = 16, .bits = 1, .since = "0.1" },
	{ .name = "rqi", .help = "PDU session container: reflective QoS indicator",
	  .section = &sections[P_PDU], .bit = 17, .bits = 1, .since = "0.1" },
	{ .name = "qfi", .help = "PDU session container: QoS flow identifier",
	  .section = &sections[P_PDU], .bit = 18, .bits = 6, .since = "0.1" },
	{ .name = "pdunext", .help = "type of the extension header behind the PDU session container",
	  .section = &sections[P_PDU], .bit = 24, .bits = 8, .hex = true, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	{ .lower = "udp", .value = UDP_OF_GTPU, .field = "dst" },
	{ 0 },
};

const struct proto proto_gtpu = {
	.name = "gtpu", .help = "GTP-U tunnel", .len = LEN_GTPU, .fields = fields, .sections = sections, .binds = binds,
};
