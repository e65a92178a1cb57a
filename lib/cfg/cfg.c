/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes, copies and frees the settings of ports and streams. */
#include "cfg.h"
#include "filebytes.h"

#include <stdlib.h>
#include <string.h>

void port_cfg_init(struct port_cfg *c)
{
	*c = (struct port_cfg){0};
	value_default(&vt_rate, PORT_DFLT_RATE, &c->rate);
	value_default(&vt_catchup, PORT_DFLT_CATCHUP, &c->catchup);
	value_default(&vt_duration, PORT_DFLT_LAG, &c->lag_ns);
	value_default(&vt_duration, PORT_DFLT_LEAD, &c->lead_ns);
	value_default(&vt_uint, PORT_DFLT_BURST, &c->burst);
	value_default(&vt_uint, PORT_DFLT_RXBURST, &c->rxburst);
	value_default(&vt_uint, PORT_DFLT_MTU, &c->mtu);
	value_default(&vt_uint, PORT_DFLT_TXD, &c->txd);
	value_default(&vt_uint, PORT_DFLT_RXD, &c->rxd);
}

void stream_cfg_init(struct stream_cfg *s)
{
	*s = (struct stream_cfg){.sizes = {.kind = SIZES_AUTO}};
	value_default(&vt_bool, STREAM_DFLT_ENABLED, &s->enabled);
	value_default(&vt_uint, STREAM_DFLT_WEIGHT, &s->weight);
	frame_stack_parse(STREAM_DFLT_FRAME, &s->frame.stack, NULL);
	strcpy(s->frame.user, STREAM_DFLT_USER);
}

void stream_cfg_free(struct stream_cfg *s)
{
	frame_spec_free(&s->frame);
	frame_vals_free(&s->dflt);
	free(s->work);
	filebytes_drop(s->request_file);
	filebytes_drop(s->response_file);
	*s = (struct stream_cfg){0};
}

void stream_cfg_copy(struct stream_cfg *dst, const struct stream_cfg *src)
{
	*dst = *src;
	frame_spec_copy(&dst->frame, &src->frame);
	dst->dflt = (struct frame_vals){0};
	frame_vals_copy(&dst->dflt, &src->dflt);
	if (src->work != NULL) {
		dst->work = xcalloc(1, STREAM_WORK_BYTES);
		memcpy(dst->work, src->work, STREAM_WORK_BYTES);
	}
	filebytes_hold(dst->request_file);
	filebytes_hold(dst->response_file);
}

static const struct cfg_overlay *overlay;

void cfg_overlay_set(const struct cfg_overlay *o)
{
	overlay = o;
}

int cfg_overlay_apply(const struct stream_cfg *cfg, struct frame_spec *spec, struct sizes *sizes,
		      struct err *e)
{
	return cfg->overlay_on && overlay != NULL ? overlay->apply(cfg, spec, sizes, e) : 0;
}

void cfg_overlay_varies(const struct stream_cfg *cfg, void (*add)(void *arg, const char *name),
			void *arg)
{
	if (cfg->overlay_on && overlay != NULL)
		overlay->varies(cfg, add, arg);
}
