/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"

/* One field, one row. */
/* clang-format off */

/* RFC 5880 4.1, without authentication. */
static const struct field fields[] = {
	{ .name = "version", .help = "version",
	  .role = ROLE_VERSION, .bit = 0, .bits = 3, .dflt = "1", .since = "0.1" },
	{ .name = "diag", .help = "why the session went down: 0 it did not, 1 detection time expired, 3 the neighbour said so, 7 by hand",
	  .bit = 3, .bits = 5, .since = "0.1" },
	{ .name = "state", .help = "state of the session: 0 down by hand, 1 down, 2 init, 3 up",
	  .bit = 8, .bits = 2, .dflt = "1", .since = "0.1" },
	{ .name = "p", .help = "poll: an answer is asked for",
	  .bit = 10, .bits = 1, .since = "0.1" },
	{ .name = "f", .help = "final: the answer to a poll",
	  .bit = 11, .bits = 1, .since = "0.1" },
	{ .name = "c", .help = "control plane independent",
	  .bit = 12, .bits = 1, .since = "0.1" },
	{ .name = "a", .help = "authentication present",
	  .bit = 13, .bits = 1, .since = "0.1" },
	{ .name = "d", .help = "demand mode",
	  .bit = 14, .bits = 1, .since = "0.1" },
	{ .name = "m", .help = "multipoint",
	  .bit = 15, .bits = 1, .since = "0.1" },
	{ .name = "mult", .help = "detection time, in intervals",
	  .bit = 16, .bits = 8, .dflt = "3", .since = "0.1" },
	{ .name = "len", .help = "length in bytes",
	  .bit = 24, .bits = 8, .dflt = "24", .since = "0.1" },
	{ .name = "my", .help = "discriminator of the sender",
	  .bit = 32, .bits = 32, .dflt = "1", .since = "0.1" },
	{ .name = "your", .help = "discriminator of the neighbour, 0 = unknown",
	  .bit = 64, .bits = 32, .since = "0.1" },
	{ .name = "mintx", .help = "desired interval between packets that are sent, us",
	  .bit = 96, .bits = 32, .dflt = "1000000", .since = "0.1" },
	{ .name = "minrx", .help = "required interval between packets that are received, us",
	  .bit = 128, .bits = 32, .dflt = "1000000", .since = "0.1" },
	{ .name = "minecho", .help = "required interval between echo packets that are received, us; 0 = none are answered",
	  .bit = 160, .bits = 32, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	{ .lower = "udp", .value = 3784, .field = "dst" },
	{ 0 },
};

const struct proto proto_bfd = {
	.name = "bfd", .help = "Bidirectional Forwarding Detection", .len = 24, .fields = fields, .binds = binds, .closed = true,
};
