/* SPDX-License-Identifier: BSD-3-Clause */
/* show snapshot: prints snapshots in the form in which pages and clients get them. */
#include "show.h"
#include "snapshot.h"

#include <errno.h>

static int show_snapshot_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct err own = {.col = -1};
	json_t *doc = app_snapshot(app_of(r), args[0].given ? args[0].text : "", &own);

	if (doc == NULL) {
		*e = own;
		e->col = args[0].col + (own.col > 0 ? own.col : 0);
		return -EINVAL;
	}
	verb_out(r, OUT_JSON, doc, NULL);
	json_decref(doc);
	return 0;
}

static const struct arg_spec args_snapshot[] = {{ARG_REST, "parts", ARG_OPT}, {ARG_END}};

const struct verb verb_show_snapshot = {
	.name = "show snapshot",
	.args = args_snapshot,
	.run = show_snapshot_run,
	.flags = VERB_LOOKS | VERB_NO_LOAD,
	.help = "Print the snapshot that pages and clients in other processes get: one line of JSON in every mode.\n"
		"It has the keys of `show stats`, and those of the parts that are named, separated by commas:\n"
		"stats,frame:0/3. A part that is not known is told with all that there are.",
};
