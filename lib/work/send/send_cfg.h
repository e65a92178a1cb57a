/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a port that only sending reads. */
#pragma once
#include <stdint.h>

#define SEND_DFLT_FORGIVE "50ms" /* as the defaults of cfg.h */

struct send_cfg {
	uint64_t forgive_ns;      /* a lag beyond this is dropped when the rate changes */
};
