/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the runs of ports have come. `wait` tells it, and so does the prompt after a `start`. */
#include "app.h"

#include <stdio.h>

#include "out.h"

bool app_progress_ports(const struct app *app, const struct portset *ports,
			struct cmd_progress *out)
{
	struct ctl_progress p;
	struct sbuf text = {0};

	ctl_progress(app->ctl, ports, &p);
	if (!p.sending)
		return false;
	if (!p.bounded) {
		sbuf_add(&text, "sending for ");
		cmd_progress_span(p.gone_ns, &text);
		sbuf_add(&text, ", without an end");
	} else if (p.all_ns != 0) {
		sbuf_add(&text, "sending, ");
		cmd_progress_spans(p.gone_ns < p.all_ns ? p.gone_ns : p.all_ns, p.all_ns, &text);
	} else {
		sbuf_add(&text, "sent ");
		out_si((double)p.sent, &text);
		sbuf_add(&text, " of ");
		out_si((double)p.count, &text);
		sbuf_add(&text, " frames");
	}
	if (p.bounded) {
		out->share = p.share;
		out->left_ns = p.left_ns;
	}
	snprintf(out->text, sizeof(out->text), "%s", text.s);
	sbuf_free(&text);
	return true;
}

bool app_progress(const void *host, struct cmd_progress *out)
{
	const struct app *app = host;
	struct portset ends = {0};

	*out = (struct cmd_progress){.left_ns = CMD_LEFT_UNKNOWN};
	for (unsigned p = 0; p < ctl_nports(app->ctl); p++)
		if (ctl_sending(app->ctl, p) && ctl_bounded(app->ctl, p))
			portset_add(&ends, p);
	return app_progress_ports(app, &ends, out);
}
