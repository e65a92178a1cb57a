/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of the work echo: a frame that comes for an open door, which is a UDP port,
 * goes back to where it came from (RFC 862). It is a test work, which shows how a task claims
 * frames and sends received buffers, and how a work adds a scope of settings. */
#pragma once
#include "dp.h"
#include "echo_cfg.h"

struct echo_state {
	struct dp_state base;
	struct cnt_sizes sizes; /* sizes of the frames that devices accepted */
};

struct echo_job {
	/* The work's foreign share of the Tx queue: its frames lie in buffers of other pools. */
	struct dp_txq *q;
};

/* The UDP ports of open doors. It is constant and lives as long as its plan. */
struct echo_ports {
	unsigned n;
	uint16_t port[ECHO_MAX_DOORS];
};

extern const struct dp_kind dp_kind_echo;
dp_sort_fn echo_claims; /* claims frames of UDP over IPv4 to one of these ports (arg) */
