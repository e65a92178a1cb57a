/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of the work "probe" for a port that receives probes. */
#pragma once
#include "value.h"

/* Latencies written to a file, as Pktgen's sampler does. */
enum sampler_kind { SAMPLER_NONE, SAMPLER_SIMPLE, SAMPLER_POISSON };
struct sampler_cfg {
	uint32_t kind; /* enum sampler_kind: none, evenly, at random times */
	uint32_t num;  /* the most samples that are taken */
	uint32_t rate; /* samples per second, over all Rx queues */
	char file[VT_TEXT_MAX];
};

struct probe_cfg {
	/* A latency that differs by more than this from the one before is counted. 0: none is. */
	uint64_t jitter_us;
	struct sampler_cfg sampler;
	bool verify; /* the receiver checks the checksums of frames with probes */
};
