/* SPDX-License-Identifier: BSD-3-Clause */
/* The verb latency, which is Pktgen's. There it says how often a frame is sent only to measure.
 * Here the traffic itself is measured, so the time between measurements becomes a number of
 * frames. */
#include "cmd/verbs.h"
#include "pktgen.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char *const words[] = {"rate", "entropy", NULL};
static const char *const about[] = {"microseconds between probes",
				    "spread of probes over Rx queues"};
enum { RATE, ENTROPY };

#define US_MAX 1000000

/* Has some stream of the port the setting `probe`? */
static bool has_probes(struct ctl *ctl, unsigned port)
{
	for (unsigned s = 0; s < ctl_nstreams(ctl, port); s++)
		if (ctl_stream_cfg(ctl, port, s) != NULL &&
		    ctl_stream_cfg(ctl, port, s)->frame.probe != 0)
			return true;
	return false;
}

/* Sets `probe every N` for all streams of a port, so that at its rate there is a probe about every
 * `us` microseconds. Frames of streams with a rate of their own count too. */
static int set_rate(struct cmd_run *r, unsigned port, uint64_t us, struct err *e)
{
	struct ctl *ctl = app_of(r)->ctl;
	const struct setting *row = cmd_setting_find(r->cmd, "probe", e);
	struct target t = {.n = 1,
			   .item[0] = {.p0 = port,
				       .p1 = port,
				       .has_streams = true,
				       .s0 = 0,
				       .s1 = UINT32_MAX}};
	struct ctl_load load;
	char text[32];

	if (row == NULL)
		return -EINVAL;
	if (!has_probes(ctl, port)) {
		sbuf_addf(
			r->note,
			"port %u: nothing is measured yet: `enable %u latency` puts a probe in each frame, then `latency %u rate %" PRIu64
			"` makes them fewer\n",
			port, port, port, us);
		return 0;
	}
	int rc = ctl_load(ctl, port, &load, e);
	if (rc < 0)
		return rc;
	if (load.is_max)
		return err_set(e, EINVAL,
			       "port %u sends as fast as it can, so %" PRIu64
			       " us are no number of frames: `set %u probe every 1000` "
			       "measures one of 1000",
			       port, us, port);
	double every = fmax(round(load.pps * (double)us / 1e6), 1);
	snprintf(text, sizeof(text), "every %.0f", fmin(every, UINT32_MAX));
	rc = cmd_set(r->cmd, &t, row, text, r->note, e);
	if (rc == 0)
		sbuf_addf(r->note, "port %u: set %u probe %s\n", port, port, text);
	return rc;
}

static int latency_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;
	int rc = arg_ports(r, &args[0], &ports, e);

	if (rc < 0)
		return rc;
	if (args[1].choice == ENTROPY && args[2].v.u != 0)
		return err_at(
			e, EINVAL, args[1].col,
			"probes are in the frames of the traffic and spread over Rx queues as these do; "
			"`set <ports> udp.src random` spreads them");
	if (args[1].choice == ENTROPY)
		return 0;
	if (args[2].v.u == 0 || args[2].v.u > US_MAX)
		return err_at(e, EINVAL, args[2].col,
			      "the time between probes is 1 to %d microseconds", US_MAX);
	for (unsigned p = 0; p < ctl_nports(app_of(r)->ctl) && rc == 0; p++)
		if (portset_has(&ports, p))
			rc = set_rate(r, p, args[2].v.u, e);
	return rc;
}

static const struct arg_spec args_latency[] = {
	{ARG_TARGETS, "ports"},
	{ARG_CHOICE, "what", 0, {.choices = words}, about},
	{ARG_VALUE, "N", 0, {&vt_uint, 0, UINT32_MAX}},
	{ARG_END},
};

const struct verb verb_latency = {
	.name = "latency",
	.args = args_latency,
	.run = latency_run,
	.help = "Pktgen's latency settings: `latency <ports> rate 1000` measures about one frame in 1000 us.\n"
		"The frames of the traffic carry the probes, in each of them after `enable <ports> latency` or\n"
		"`set <ports> probe on`. The time becomes a number of frames at the port's rate as it is now:\n"
		"`set <ports> probe every N` says it directly. entropy other than 0 has no meaning: probes spread as the frames do.",
};
