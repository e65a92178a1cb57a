/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of counting received frames of a port. */
#pragma once
#include "base.h"

#define COUNT_DFLT_UNCLAIMED "off"

struct count_cfg {
	/* What nothing else takes is counted by its protocol. It is so, too, on ports of which a
	 * work carries a stream. */
	bool unclaimed;
};
