/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs `start <ports> latsampler` and `stop <ports> latsampler`: Pktgen's sampler of single
 * latencies. */
#include <inttypes.h>

#include "cmd/verbs.h"
#include "file.h"
#include "probe.h"
#include "probe_app.h"
#include "probe_cfg.h"

static int sampler_start(struct cmd_run *r, const struct portset *ports, struct err *e)
{
	struct ctl *ctl = app_of(r)->ctl;
	struct portset begun = {0};
	int rc = 0;

	for (unsigned p = 0; p < ctl_nports(ctl) && rc == 0; p++) {
		if (!portset_has(ports, p))
			continue;
		rc = probe_sampler_start(ctl, p, e);
		if (rc == 0)
			portset_add(&begun, p);
	}
	/* if one port fails, the samplers that have begun end again: all begin, or none */
	for (unsigned p = 0; p < ctl_nports(ctl) && rc < 0; p++) {
		struct sampler_result out;
		struct sbuf text = {0};
		if (portset_has(&begun, p))
			probe_sampler_stop(ctl, p, &text, &out);
		sbuf_free(&text);
	}
	return rc;
}

static int stop_one(struct cmd_run *r, unsigned port, struct err *e)
{
	const struct sampler_cfg *cfg =
		&((const struct probe_cfg *)work_cfg(ctl_port_cfg(app_of(r)->ctl, port),
						     &work_probe))
			 ->sampler;
	struct sampler_result out;
	struct sbuf text = {0};
	int rc = 0;

	if (probe_sampler_stop(app_of(r)->ctl, port, &text, &out)) {
		rc = file_replace(out.file, text.s, text.len, e);
		if (rc == 0)
			sbuf_addf(r->note, "port %u: %" PRIu64 " latencies in %s\n", port,
				  out.samples, out.file);
		if (out.beyond + out.lost > 0)
			sbuf_addf(r->note,
				  "port %u: %" PRIu64 " more were not wanted, %" PRIu64
				  " found no room on their way\n",
				  port, out.beyond, out.lost);
	} else {
		sbuf_addf(r->note, "port %u is not sampling%s\n", port,
			  cfg->kind == SAMPLER_NONE ? "" : "; `start <ports> latsampler` begins");
	}
	sbuf_free(&text);
	return rc;
}

/* Writes the file of each port, even if another could not be written. Returns the first failure. */
static int sampler_stop(struct cmd_run *r, const struct portset *ports, struct err *e)
{
	struct err other;
	int rc = 0;

	for (unsigned p = 0; p < ctl_nports(app_of(r)->ctl); p++)
		if (portset_has(ports, p)) {
			int one = stop_one(r, p, rc == 0 ? e : &other);
			rc = rc < 0 ? rc : one;
		}
	return rc;
}

int probe_sampler_turn(struct cmd_run *r, const struct portset *ports, bool on, struct err *e)
{
	return on ? sampler_start(r, ports, e) : sampler_stop(r, ports, e);
}
