/* SPDX-License-Identifier: BSD-3-Clause */
/* link: prints the columns of `show ports` that are about links. */
#include "show.h"

#include <errno.h>

static const struct out_col link_cols[] = {
	{"port", "port", OF_COUNT},       {"name", "name", OF_STR}, {"link", "link", OF_STR},
	{"speed_mbps", "speed", OF_MBPS}, {"mtu", "mtu", OF_COUNT}, {"driver", "driver", OF_STR},
};
static const struct out_view link_view = {.rows = "ports",
					  .cols = link_cols,
					  .ncols = ARRAY_SIZE(link_cols)};

static int link_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct show_sel sel = {.given = args[0].given};

	if (arg_ports_or_all(r, &args[0], &sel.ports, e) < 0)
		return -EINVAL;
	json_t *doc = ctl_ports_json(app_of(r)->ctl);
	show_filter(doc, &sel);
	return show_out(r, doc, &link_view);
}

static const struct arg_spec args_link[] = {{ARG_TARGETS, "ports", ARG_OPT}, {ARG_END}};

const struct verb verb_link = {
	.name = "link",
	.args = args_link,
	.run = link_run,
	.flags = VERB_NO_LOAD | VERB_HIDDEN,
	.help = "Print the links of ports, all without a list; `show ports` has the rest of what is known of them.",
};
