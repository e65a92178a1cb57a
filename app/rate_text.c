/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells a person what a rate means in other units: what 10% of a port or a stream comes to in
 * frames and bits, and what the link carries. */
#include "app.h"
#include "face.h"
#include "out.h"

#include <string.h>

static void load_put(double v, const char *unit, struct sbuf *out)
{
	out_si(v, out);
	sbuf_add(out, unit);
}

static void put_time(double ns, struct sbuf *out)
{
	static const struct {
		double ns;
		const char *unit;
	} scale[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};

	for (unsigned i = 0; i < ARRAY_SIZE(scale); i++)
		if (ns >= scale[i].ns * 0.99995) {
			double v = ns / scale[i].ns;
			/* no exponent */
			sbuf_addf(out, v < 9999.5 ? "%.4g %s" : "%.0f %s", v, scale[i].unit);
			return;
		}
	sbuf_addf(out, "%.4g ns", ns);
}

static void put_sizes(const struct ctl_load *l, struct sbuf *out)
{
	if (l->min_size == l->max_size)
		sbuf_addf(out, " of %u-byte frames", l->min_size);
	else
		sbuf_addf(out, " of frames of %u to %u bytes, %.5g on average", l->min_size,
			  l->max_size, l->mean_size);
}

static double most_pps(const struct ctl_load *l)
{
	return l->link_bps / (8 * (l->mean_size + APP_WIRE_EXTRA));
}

static bool too_much(const struct ctl_load *l)
{
	return !l->is_max && l->l1_bps > l->link_bps * 1.00001;
}

static void put_link(const struct ctl_load *l, struct sbuf *out)
{
	uint64_t bps = (uint64_t)(l->link_bps + 0.5);

	sbuf_add(out, "a link of ");
	vt_speed.print(&(struct vspec){.type = &vt_speed}, &bps, out);
}

/* Four digits, and never with an exponent. */
static void put_percent(double v, struct sbuf *out)
{
	int places = 3;

	if (v >= 1e-4 || v == 0) {
		sbuf_addf(out, v < 9999.5 ? "%.4g%%" : "%.0f%%", v);
		return;
	}
	for (double at = v; at < 1 && places < 30; at *= 10)
		places++;
	sbuf_addf(out, "%.*f", places, v);
	while (out->s[out->len - 1] == '0')
		out->s[--out->len] = '\0';
	sbuf_addc(out, '%');
}

static void put_load(const struct ctl_load *l, struct sbuf *out)
{
	if (l->is_max) {
		sbuf_add(out, "as fast as the device takes them; the link carries ");
		load_put(most_pps(l), "pps", out);
	} else {
		sbuf_add(out, l->low_pps < l->pps ? "at most " : "");
		load_put(l->pps, "pps = ", out);
		put_percent(100 * l->l1_bps / l->link_bps, out);
		sbuf_add(out, " = ");
		load_put(l->l1_bps, "bps/l1 = ", out);
		load_put(l->l2_bps, "bps/l2", out);
	}
	put_sizes(l, out);
	if (!l->is_max && l->low_pps < l->pps) {
		sbuf_add(out, ", at least ");
		load_put(l->low_pps, "pps", out);
	}
}

/* Whether works carry all streams of the port, so that its rate is nobody's. */
static bool no_frames(const struct ctl_load *l)
{
	return l->max_size == 0;
}

bool app_load_text(const struct app *app, unsigned port, struct sbuf *out)
{
	struct ctl_load l;
	bool any;

	if (ctl_load(app->ctl, port, &l, NULL) < 0)
		return false;
	any = !no_frames(&l);
	if (any)
		put_load(&l, out);
	if (any && too_much(&l)) {
		sbuf_add(out, ", more than ");
		put_link(&l, out);
		sbuf_add(out, " carries");
	}
	for (const struct face *const *f = faces; *f != NULL; f++) {
		struct sbuf text = {0};
		if ((*f)->loads != NULL)
			(*f)->loads(app, port, &text);
		if (text.len > 0)
			sbuf_addf(out, "%s%s", out->len > 0 ? "; " : "", text.s);
		sbuf_free(&text);
	}
	return out->len > 0;
}

/* Says what the time between frames stands for, where it does not hold between any two frames. */
static const char *gap_of(const struct ctl_load *l, const struct arrival *a)
{
	if (a->kind == ARRIVAL_ONOFF || (a->kind == ARRIVAL_BURST && a->gap_ns != 0))
		return " while it sends";
	return a->kind != ARRIVAL_CONSTANT || l->min_size != l->max_size ? " on average" : "";
}

/* Adds the time between frames, also on each queue where several share the load, and what the link
 * carries at most. */
static void put_gap(const struct ctl_load *l, const struct arrival *arrival, struct sbuf *out)
{
	if (l->is_max)
		return;
	sbuf_add(out, ", one every ");
	put_time(1e9 / l->pps, out);
	sbuf_add(out, gap_of(l, arrival));
	if (l->nqueues > 1) {
		sbuf_addf(out, " (on each of %u queues: ", l->nqueues);
		put_time(1e9 / l->pps * l->nqueues, out);
		sbuf_addc(out, ')');
	}
	sbuf_add(out, too_much(l) ? "; more than " : "; ");
	put_link(l, out);
	sbuf_add(out, too_much(l) ? " carries: " : " carries ");
	load_put(most_pps(l), "pps", out);
}

bool app_rate_text(const struct app *app, unsigned port, int stream, struct sbuf *out)
{
	const struct stream_cfg *cfg =
		stream < 0 ? NULL : ctl_stream_cfg(app->ctl, port, (unsigned)stream);
	const struct arrival *arrival = cfg != NULL && cfg->rate.set
						? &cfg->arrival
						: &ctl_port_cfg(app->ctl, port)->arrival;
	struct ctl_load l;
	int rc = stream < 0 ? ctl_load(app->ctl, port, &l, NULL)
			    : ctl_stream_load(app->ctl, port, (unsigned)stream, &l, NULL);

	if (rc < 0)
		return false;
	if (cfg != NULL ? ctl_stream_carried(cfg) : no_frames(&l)) {
		sbuf_add(out, cfg != NULL
				      ? "it is a flow, whose rate is `cps`"
				      : "all streams of the port are flows, whose rate is `cps`");
		return true;
	}
	if (!l.is_max && l.pps == 0) {
		sbuf_add(out, "takes no turns: it is not enabled");
		return true;
	}
	put_load(&l, out);
	put_gap(&l, arrival, out);
	if (cfg != NULL && !cfg->enabled)
		sbuf_add(out, "; it is not enabled");
	return true;
}

static void put_every(double ns, const char *more, struct sbuf *out)
{
	put_time(ns, out);
	sbuf_add(out, more);
}

static void put_mean(const struct ctl_load *l, double share, struct sbuf *out)
{
	sbuf_add(out, ": ");
	load_put(l->pps * share, "pps on average", out);
}

static bool put_arrival(const struct app *app, unsigned port, struct sbuf *out)
{
	const struct arrival *a = &ctl_port_cfg(app->ctl, port)->arrival;
	struct ctl_load l;

	if (ctl_load(app->ctl, port, &l, NULL) < 0 || no_frames(&l))
		return false;
	if (l.is_max) {
		sbuf_add(out,
			 "frames leave as fast as the device takes them, at no times of their own");
		return true;
	}
	double gap = 1e9 / l.pps, on;
	switch ((enum arrival_kind)a->kind) {
	case ARRIVAL_CONSTANT:
		put_every(gap,
			  l.min_size == l.max_size ? " from frame to frame"
						   : " from frame to frame on average",
			  out);
		break;
	case ARRIVAL_POISSON:
		put_every(gap, " from frame to frame on average, at random", out);
		break;
	case ARRIVAL_JITTER:
		put_every(gap, " from frame to frame, each up to ", out);
		put_every(gap * a->share, " sooner or later", out);
		break;
	case ARRIVAL_BURST:
		sbuf_addf(out, "%u frames ", a->burst);
		if (a->gap_ns == 0) {
			put_every(1e9 / most_pps(&l), " apart, every ", out);
			put_every(gap * a->burst, "", out);
			break;
		}
		put_every(gap, " apart, then nothing for ", out);
		put_time((double)a->gap_ns, out);
		on = gap * a->burst;
		put_mean(&l, on / (on + (double)a->gap_ns), out);
		break;
	case ARRIVAL_ONOFF:
		put_every(gap, " from frame to frame for ", out);
		put_every((double)a->on_ns, ", then nothing for ", out);
		put_time((double)a->off_ns, out);
		put_mean(&l, (double)a->on_ns / ((double)a->on_ns + (double)a->off_ns), out);
		break;
	}
	return true;
}

static void put_catchup(const struct port_cfg *cfg, struct sbuf *out)
{
	if (cfg->catchup.kind == CATCHUP_KEEP) {
		sbuf_add(
			out,
			"frames that are late are all sent, as fast as the device takes them; `lag` matters to `catchup` overspeed and skip");
		return;
	}
	sbuf_add(out, "frames later than ");
	put_time((double)cfg->lag_ns, out);
	if (cfg->catchup.kind == CATCHUP_SKIP)
		sbuf_add(out, " are not sent, and counted as unsent");
	else
		sbuf_addf(out, " are sent at most %.4g%% faster than asked, until none is late",
			  100 * cfg->catchup.share);
}

bool app_pacing_text(const struct app *app, unsigned port, const char *setting, struct sbuf *out)
{
	if (strcmp(setting, "arrival") == 0)
		return put_arrival(app, port, out);
	if (strcmp(setting, "pacing") == 0)
		ctl_pacing_text(app->ctl, port, out);
	else
		put_catchup(ctl_port_cfg(app->ctl, port), out);
	return true;
}
