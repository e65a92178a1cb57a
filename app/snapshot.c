/* SPDX-License-Identifier: BSD-3-Clause */
#include "snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

/* The part behind *at, without blanks and commas around it; false at the end. */
static bool next_part(const char **at, struct sbuf *out)
{
	const char *p = *at + strspn(*at, ", ");
	size_t n = strcspn(p, ", ");

	sbuf_reset(out);
	sbuf_addn(out, p, n);
	*at = p + n;
	return n > 0;
}

json_t *app_snapshot(void *host, const char *parts, struct err *e)
{
	struct app *app = host;
	struct sbuf part = {0};
	struct snap *s = ctl_snapshot(app->ctl);
	json_t *doc = snap_json(s);

	snap_free(s);
	free(s);
	while (doc != NULL && next_part(&parts, &part)) {
		if (strcmp(sbuf_str(&part), "stats") == 0)
			continue;
		err_set(e, EINVAL, "there is no part '%s' of a snapshot; there is: stats", sbuf_str(&part));
		json_decref(doc);
		doc = NULL;
	}
	sbuf_free(&part);
	return doc;
}
