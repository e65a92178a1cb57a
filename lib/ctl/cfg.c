/* SPDX-License-Identifier: BSD-3-Clause */
#include "cfg.h"
#include "work.h"

#include <string.h>

void port_cfg_init(struct port_cfg *c)
{
	*c = (struct port_cfg){
		.rate = {.kind = RATE_PERCENT, .value = 100}, .burst = 32, .rxburst = 64, .mtu = 1500, .txd = 1024, .rxd = 1024,
		.catchup = {.kind = CATCHUP_OVERSPEED, .share = 0.1}, .lag_ns = 1000000, .lead_ns = 100000,
	};
	EACH_WORK(w, cfg_init)
		w->cfg_init(work_cfg(c, w));
}

void stream_cfg_init(struct stream_cfg *s)
{
	*s = (struct stream_cfg){.enabled = true, .weight = 1, .sizes = {.kind = SIZES_AUTO}};
	frame_stack_parse("eth/ipv4/udp", &s->frame.stack, NULL);
	strcpy(s->frame.user, "0123456789abcde");
}

void stream_cfg_free(struct stream_cfg *s)
{
	frame_spec_free(&s->frame);
	frame_vals_free(&s->dflt);
	*s = (struct stream_cfg){0};
}

void stream_cfg_copy(struct stream_cfg *dst, const struct stream_cfg *src)
{
	*dst = *src;
	frame_spec_copy(&dst->frame, &src->frame);
	dst->dflt = (struct frame_vals){0};
	frame_vals_copy(&dst->dflt, &src->dflt);
}
