/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"

/* One field, one row. */
/* clang-format off */

static const struct field fields[] = { { 0 } };

/* Values that are set aside for experiments, so that no receiver takes bare payload for a protocol: local experimental
 * EtherType 1 (IEEE 802 9.2.3) and IP protocol 253 (RFC 3692). */
static const struct bind binds[] = {
	{ .lower = "eth", .value = 0x88b5 }, { .lower = "vlan", .value = 0x88b5 }, { .lower = "ipv4", .value = 253 },
	{ .lower = "udp" }, { .lower = "tcp" }, { 0 },
};

const struct proto proto_payload = {
	.name = "payload", .help = "filling up to the frame's size", .fields = fields, .binds = binds, .is_payload = true,
};
