/* SPDX-License-Identifier: BSD-3-Clause */
#include "verb_lines.h"

#include <errno.h>
#include <stdlib.h>

int verb_lines(struct cmd_run *r, const char *text, json_t **results, struct err *e)
{
	struct cmd_run *one = xcalloc(1, sizeof(*one));
	struct sbuf line = {0}, out = {0}, note = {0};
	int rc = 0;

	one->host = r->host;
	one->out = &out;
	one->note = &note;
	one->batch = true;
	cmd_hold_checks(r->cmd, true);
	while (rc == 0 && cmd_next(&text, &line)) {
		struct err why = {.col = -1};
		rc = line.len > 0 ? cmd_exec(r->cmd, one, sbuf_str(&line), &why) : 0;
		if (rc < 0)
			err_set(e, -rc, "`%s`: %.400s", sbuf_str(&line), why.text);
	}
	cmd_hold_checks(r->cmd, false);
	if (results != NULL)
		*results = json_incref(one->results);
	json_decref(one->results);
	sbuf_free(&line);
	sbuf_free(&out);
	sbuf_free(&note);
	free(one);
	return rc;
}
