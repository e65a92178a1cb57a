/* SPDX-License-Identifier: BSD-3-Clause */
#include "part.h"

#include <string.h>

static int help_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
		    json_t *doc, struct err *e)
{
	json_t *list = json_array();
	struct sbuf syntax = {0}, help = {0};

	(void)snap;
	(void)arg;
	(void)e;
	for (unsigned i = 0; i < cmd_nverbs(app->cmd); i++) {
		const struct verb *v = cmd_verb_at(app->cmd, i);
		if (v->flags & (VERB_HIDDEN | VERB_LATER))
			continue;
		sbuf_reset(&syntax);
		cmd_verb_syntax(v, &syntax);
		sbuf_reset(&help);
		cmd_help_first(v->help, &help);
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", v->name, "syntax",
						      sbuf_str(&syntax), "help", sbuf_str(&help)));
	}
	json_object_set_new(doc, "help", list);
	sbuf_free(&syntax);
	sbuf_free(&help);
	return 0;
}

const struct snap_part part_help = {.name = "help", .add = help_add};
