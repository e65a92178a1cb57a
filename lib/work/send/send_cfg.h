/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a port that only sending reads. */
#pragma once
#include <stdint.h>

#define SEND_DFLT_FORGIVE "50ms" /* the default of forgive_ns, as the row `forgive` has it */

struct send_cfg {
	uint64_t forgive_ns; /* a lag beyond this is dropped when the rate changes */
};
