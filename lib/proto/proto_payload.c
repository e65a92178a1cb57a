/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"

/* One field, one row. */
/* clang-format off */

static const struct field fields[] = { { 0 } };

/* Values that are set aside for experiments, so that no receiver takes a bare payload for a
 * protocol: the local experimental EtherType 1 (IEEE 802 9.2.3) and IP protocol 253 (RFC 3692). PPP
 * has no such value, so it gets a number that nobody has (RFC 3818), and LLC the null SAP. */
static const struct bind binds[] = {
	BIND_ETHERTYPE(0x88b5), { .lower = "gre", .value = 0x88b5 }, { .lower = "geneve", .value = 0x88b5 },
	BIND_IP_PROTO(253), { .lower = "pppoe", .value = 0x0079 },
	{ .lower = "mpls", .value = 1, .field = "bos" }, { .lower = "llc", .value = 0, .field = "dsap", .also = "ssap" },
	{ .lower = "icmp" }, { .lower = "icmpv6" }, { .lower = "udp" }, { .lower = "tcp" }, { .lower = "sctp" }, { .lower = "vxlan" },
	{ .lower = "gtpu" }, { .lower = "esp" }, { 0 },
};

const struct proto proto_payload = {
	.name = "payload", .help = "filling up to the frame's size", .fields = fields, .binds = binds, .is_payload = true,
};
