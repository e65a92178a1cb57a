/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sink": counts what arrives and gives the buffers back. */
#pragma once
#include "dp.h"

struct count_state {
	struct dp_state base;
};

extern const struct dp_kind dp_kind_sink;
