/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a port that receives probes. */
#pragma once
#include "value.h"

/* Latencies written to a file, as Pktgen's sampler does. */
enum sampler_kind { SAMPLER_NONE, SAMPLER_SIMPLE, SAMPLER_POISSON };
struct sampler_cfg {
	uint32_t kind;            /* enum sampler_kind: none, evenly, at random times */
	uint32_t num;             /* samples at most */
	uint32_t rate;            /* a second */
	char file[VT_TEXT_MAX];
};

struct probe_cfg {
	uint64_t jitter_us;       /* latencies that differ by more from the one before are counted; 0: none */
	struct sampler_cfg sampler;
	bool verify;              /* checksums of frames with probes are checked at the receiver */
};
