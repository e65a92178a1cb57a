/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of the work flows: streams whose frames are connections. */
#include "flows_ctl.h"

static void flows_cfg_init(void *cfg)
{
	struct flows_cfg *f = cfg;
	uint64_t cps;

	value_default(&vt_uint, FLOWS_DFLT_CPS, &cps);
	f->cps = (struct rate){.kind = RATE_PPS, .value = (double)cps};
	value_default(&vt_duration, FLOWS_DFLT_DRAIN, &f->drain_ns);
	value_default(&vt_duration, FLOWS_DFLT_TIMEWAIT, &f->timewait_ns);
	value_default(&vt_duration, FLOWS_DFLT_RTO, &f->rto_ns);
	value_default(&vt_uint, FLOWS_DFLT_WINDOW, &f->window);
	value_default(&vt_uint, FLOWS_DFLT_RETRIES, &f->retries);
	value_default(&vt_uint, FLOWS_DFLT_TRANSACTIONS, &f->transactions);
	value_default(&vt_bool, FLOWS_DFLT_SACK, &f->sack);
}

static bool flows_carries(const struct stream_cfg *cfg)
{
	return flows_cfg_of(cfg)->role != FLOWS_OFF;
}

const struct work work_flows = {
	.name = "flows",
	.stream_cfg_bytes = sizeof(struct flows_cfg),
	.stream_cfg_init = flows_cfg_init,
	.carries = flows_carries,
	.carried_frame = "eth/ipv4/tcp",
};
