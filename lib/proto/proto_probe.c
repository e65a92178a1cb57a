/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"

/* One field, one row. */
/* clang-format off */

/* The layout of frame_probe.h. The probe is written when the frame is handed to the device. */
static const struct field fields[] = {
	{ .name = "check", .help = "makes the sum of the probe's words 0x5752",
	  .role = ROLE_SUM_HDR, .sum = 0x5752, .bit = 0, .bits = 16, .hex = true, .since = "0.1" },
	{ .name = "seq", .help = "probes of this port, stream and Tx queue before this one",
	  .bit = 16, .bits = 32, .since = "0.1" },
	{ .name = "port", .help = "port that sent it",
	  .bit = 48, .bits = 5, .since = "0.1" },
	{ .name = "queue", .help = "its Tx queue",
	  .bit = 53, .bits = 6, .since = "0.1" },
	{ .name = "exp", .help = "power of two of mant's unit",
	  .bit = 59, .bits = 5, .since = "0.1" },
	{ .name = "stream", .help = "number of the stream, 8191 = room without a probe",
	  .bit = 64, .bits = 13, .dflt = "8191", .since = "0.1" },
	{ .name = "mant", .help = "send delay: it left mant x 2^exp cycles after it was due",
	  .bit = 77, .bits = 15, .since = "0.1" },
	{ .name = "sent", .help = "when it was sent, cycles of the sender's clock",
	  .bit = 92, .bits = 36, .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	{ 0 },
};

const struct proto proto_probe = {
	.name = "probe", .help = "says which frame this is and when it was sent", .len = 16, .fields = fields, .binds = binds,
};
