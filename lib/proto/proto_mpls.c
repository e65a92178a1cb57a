/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

/* RFC 3032 2.1, RFC 5462. Nothing names what follows the last entry: receivers look at its first
 * bits (RFC 4928 3). */
static const struct field fields[] = {
	{ .name = "label", .help = "label",
	  .bit = 0, .bits = 20, .dflt = "16", .ident = true, .since = "0.1" },
	{ .name = "tc", .help = "traffic class",
	  .bit = 20, .bits = 3, .since = "0.1" },
	{ .name = "bos", .help = "bottom of stack; fills itself: 0 in front of another mpls",
	  .bit = 23, .bits = 1, .dflt = "1", .since = "0.1" },
	{ .name = "ttl", .help = "time to live, hops",
	  .bit = 24, .bits = 8, .dflt = "64", .since = "0.1" },
	{ 0 },
};

/* RFC 5332 (EtherType), RFC 4023 (IP, GRE), RFC 7510 (UDP), RFC 3032 4.3 (PPP). */
static const struct bind binds[] = {
	BIND_ETHERTYPE(ETYPE_MPLS), { .lower = "gre", .value = ETYPE_MPLS },
	{ .lower = "ipv4", .value = IP_MPLS }, { .lower = "ipv6", .value = IP_MPLS },
	{ .lower = "udp", .value = UDP_OF_MPLS, .field = "dst" }, { .lower = "pppoe", .value = PPP_OF_MPLS },
	{ .lower = "mpls", .value = 0, .field = "bos" },
	{ 0 },
};

const struct proto proto_mpls = {
	.name = "mpls", .help = "MPLS label stack entry", .len = LEN_MPLS, .fields = fields, .binds = binds,
};
