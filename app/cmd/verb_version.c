/* SPDX-License-Identifier: BSD-3-Clause */
/* version: the versions of the program and of DPDK. */
#include "show.h"

static int version_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	const char *dpdk = ctl_dpdk_version();

	(void)args;
	(void)e;
	if (r->out_mode == OUT_TEXT) {
		sbuf_addf(r->out, "wirerate " WR_VERSION ", %s\n", dpdk);
		return 0;
	}
	json_t *doc = show_doc("version");
	json_object_set_new(doc, "version", json_string(WR_VERSION));
	json_object_set_new(doc, "dpdk", json_string(dpdk));
	return show_out(r, doc, NULL);
}

static const struct arg_spec none[] = {{ARG_END}};

const struct verb verb_version = {
	.name = "version",
	.args = none,
	.run = version_run,
	.flags = VERB_NO_LOAD | VERB_HIDDEN,
	.help = "Print the version of the program and that of the DPDK that it runs on.",
};
