/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes for UDP port 7 goes back to where it came from (RFC 862). */
#pragma once
#include "dp.h"

struct echo_state {
	struct dp_state base;
	struct cnt_sizes sizes; /* of what devices accepted */
};

struct echo_job {
	struct dp_txq *q;       /* its share of the Tx queue; foreign, since frames lie in the sender's buffers */
};

extern const struct dp_kind dp_kind_echo;
dp_sort_fn echo_claims;         /* UDP over IPv4 to port 7 */
