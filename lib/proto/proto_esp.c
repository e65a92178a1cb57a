/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"
#include "proto_run.h"

/* One field, one row. */
/* clang-format off */

/* RFC 4303 2. What follows is encrypted, so no header can follow. */
static const struct field fields[] = {
	{ .name = "spi", .help = "security parameters index",
	  .bit = 0, .bits = 32, .dflt = "256", .hex = true, .since = "0.1" },
	{ .name = "seq", .help = "sequence number",
	  .bit = 32, .bits = 32, .dflt = "1", .since = "0.1" },
	{ 0 },
};

static const struct bind binds[] = {
	BIND_IP_PROTO(IP_ESP),
	{ 0 },
};

const struct proto proto_esp = {
	.name = "esp", .help = "IPsec ESP header", .len = LEN_ESP, .fields = fields, .binds = binds,
};
