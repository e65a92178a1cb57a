/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a port that only sending reads. */
#pragma once
#include <stdint.h>

struct send_cfg {
	uint64_t forgive_ns;      /* a lag beyond this is dropped when the rate changes; 50 ms */
};
