/* SPDX-License-Identifier: BSD-3-Clause */
#include "about.h"

#include <string.h>

#include "dperf/dperf.h"
#include "out.h"
#include "schema.h"
#include "script.h"

/* cmd_man() writes the page. The program's options are put in before the section about commands,
 * where a manual page has them, and the exit codes at the end. */
static void print_man(struct cmd *cmd, struct sbuf *out)
{
	struct sbuf page = {0};

	cmd_man(cmd, "wirerate", WR_VERSION, &page);
	const char *all = sbuf_str(&page), *commands = strstr(all, ".SH COMMANDS\n");
	size_t head = commands != NULL ? (size_t)(commands - all) : page.len;
	sbuf_addn(out, all, head);
	args_man(out);
	sbuf_add(out, all + head);
	args_man_exit(out);
	sbuf_free(&page);
}

void about_text(enum args_what what, struct cmd *cmd, struct sbuf *out)
{
	if (what == ARGS_HELP) {
		args_help(out);
	} else if (what == ARGS_VERSION) {
		sbuf_add(out, "wirerate " WR_VERSION "\n");
	} else if (what == ARGS_SCHEMA) {
		sbuf_add(out, schema_text);
	} else if (what == ARGS_LUA) {
		script_annotations(cmd, out);
	} else if (what == ARGS_LUA_MANUAL) {
		script_manual(cmd, out);
	} else if (what == ARGS_DPERF_MANUAL) {
		dperf_manual(out);
	} else if (what == ARGS_DUMP) {
		json_t *doc = cmd_dump(cmd);
		out_write(OUT_JSON, doc, NULL, out);
		json_decref(doc);
	} else {
		print_man(cmd, out);
	}
}
