/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate of a port in the words that a person did not use: what 10% comes to in frames and bits. */
#include "app.h"
#include "out.h"

#include <stdlib.h>

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
	struct ctl_load l;
	double speed = link_bps(app, port);

	if (ctl_load(app->ctl, port, &l, NULL) < 0)
		return false;
	double share = 100 * l.l1_bps / speed;
	if (l.is_max) {
		sbuf_add(out, "as fast as the device takes them; the link carries ");
		put(speed / (8 * (l.mean_size + APP_WIRE_EXTRA)), "pps", out);
	} else {
		sbuf_add(out, l.is_top ? "at most " : "");
		put(l.pps, "pps = ", out);
		sbuf_addf(out, "%.4g%% = ", share);
		put(l.l1_bps, "bps/l1 = ", out);
		put(l.l2_bps, "bps/l2", out);
	}
	if (l.min_size == l.max_size)
		sbuf_addf(out, " of %u-byte frames", l.min_size);
	else
		sbuf_addf(out, " of frames of %u to %u bytes, %.5g on average", l.min_size, l.max_size, l.mean_size);
	if (!l.is_max && share > 100.001) {
		sbuf_add(out, ", more than the link carries (");
		put(speed, "bps)", out);
	}
	return true;
}
