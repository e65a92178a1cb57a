/* SPDX-License-Identifier: BSD-3-Clause */
/* The verb latency save. */
#include "cmd/verbs.h"
#include "file.h"
#include "probe.h"
#include "probe_app.h"

static int latency_save_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct sbuf text = {0};
	struct portset ports;
	int rc = arg_ports_or_all(r, &args[1], &ports, e);

	if (rc == 0)
		rc = probe_latency_log(app_of(r)->ctl, &ports, &text, e);
	if (rc == 0)
		rc = file_replace(args[0].text, sbuf_str(&text), text.len, e);
	sbuf_free(&text);
	return rc;
}

static const struct arg_spec args_latency_save[] = {{ARG_FILE, "FILE"},
						    {ARG_TARGETS, "ports", ARG_OPT},
						    {ARG_END}};

const struct verb verb_latency_save = {
	.name = "latency save",
	.args = args_latency_save,
	.run = latency_save_run,
	.flags = VERB_NO_LOAD,
	.help = "Write the latency and gap histograms of ports, and of streams with `latency on`, for HdrHistogram's tools.\n"
		"A log (version 1.3) of one interval, from the last `clear` until now; the tags of its lines name port or stream and what was\n"
		"measured, in ns. A file of that name is replaced; if it cannot be written, the old one stays.",
};
