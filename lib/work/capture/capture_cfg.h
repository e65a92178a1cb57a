/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of captures of a port. */
#pragma once
#include "base.h"

#define CAPTURE_DFLT_MEMORY 64
#define CAPTURE_MOST_MEMORY 65536

struct capture_cfg {
	uint64_t memory; /* of the pieces of a capture, in 10^6 bytes */
};
