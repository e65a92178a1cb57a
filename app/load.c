/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate of a port in the words that a person did not use: what 10% comes to in frames and bits. */
#include "app.h"
#include "out.h"

#include <math.h>
#include <stdlib.h>

#define WIRE_EXTRA 20 /* preamble 7, SFD 1, inter-frame gap 12 */

unsigned app_frame_size(const struct app *app, unsigned port)
{
	struct frame *f = xcalloc(1, sizeof(*f));
	unsigned size = ctl_frame(app->ctl, port, app_first_stream(app, port), f, NULL) == 0 ? f->len + FRAME_FCS : 0;

	free(f);
	return size;
}

/* What percent refers to, bit/s. */
static double link_bps(const struct app *app, unsigned port)
{
	double bps = (double)ctl_port_cfg(app->ctl, port)->speed_bps;

	if (bps == 0) {
		struct snap *s = ctl_snapshot(app->ctl);
		bps = (double)s->port[port].speed_mbps * 1e6;
		snap_free(s);
		free(s);
	}
	return bps;
}

static void put(double v, const char *unit, struct sbuf *out)
{
	out_si(v, out);
	sbuf_add(out, unit);
}

bool app_load_text(const struct app *app, unsigned port, struct sbuf *out)
{
	bool max;
	double pps = ctl_asked_pps(app->ctl, port, &max), speed = link_bps(app, port);
	unsigned size = app_frame_size(app, port);

	if (size == 0)
		return false;
	double l1 = 8.0 * (size + WIRE_EXTRA), share = 100 * pps * l1 / speed;
	if (max) {
		sbuf_add(out, "as fast as the device takes them; the link carries ");
		put(speed / l1, "pps", out);
	} else {
		put(pps, "pps = ", out);
		sbuf_addf(out, "%.4g%% = ", share);
		put(pps * l1, "bps/l1 = ", out);
		put(pps * 8.0 * size, "bps/l2", out);
	}
	sbuf_addf(out, " of %u-byte frames", size);
	if (!max && share > 100.001) {
		sbuf_add(out, ", more than the link carries (");
		put(speed, "bps)", out);
	}
	return true;
}
