/* SPDX-License-Identifier: BSD-3-Clause */
#include "measuring.h"

#include <errno.h>
#include <stdlib.h>

#include "file.h"

static struct measuring *measuring_of(struct cmd_run *r)
{
	return (struct measuring *)r->state;
}

int measuring_begin(struct cmd_run *r, void *run, const struct arg_val *file)
{
	measuring_of(r)->run = run;
	measuring_of(r)->file = file->given ? xstrdup(file->text) : NULL;
	return VERB_PENDING;
}

/* Prints what is measured, and writes the page. */
static int measuring_tell(struct cmd_run *r, const struct measuring_kind *of, bool complete,
			  struct err *e)
{
	struct measuring *m = measuring_of(r);
	json_t *doc = of->doc(r, m->run, complete);
	int rc = 0;

	of->print(r, m->run, doc);
	if (m->file != NULL) {
		struct sbuf page = {0};
		of->page(doc, &page);
		rc = file_create(m->file, sbuf_str(&page), page.len, e);
		sbuf_free(&page);
	}
	json_decref(doc);
	return rc;
}

void measuring_drop(struct cmd_run *r, const struct measuring_kind *of)
{
	struct measuring *m = measuring_of(r);

	of->free(r, m->run);
	free(m->file);
	*m = (struct measuring){0};
}

int measuring_poll(struct cmd_run *r, const struct measuring_kind *of, struct err *e)
{
	struct err file = {.text = ""};
	int rc = of->poll(r, measuring_of(r)->run, e);

	if (rc == 0)
		return VERB_PENDING;
	if (rc > 0)
		rc = measuring_tell(r, of, true, e);
	else if (of->any(measuring_of(r)->run))
		measuring_tell(r, of, false, &file);
	measuring_drop(r, of);
	return rc;
}

void measuring_cancel(struct cmd_run *r, const struct measuring_kind *of)
{
	struct err e = {.text = ""};

	if (of->any(measuring_of(r)->run) && measuring_tell(r, of, false, &e) < 0)
		sbuf_addf(r->note, "%s: %s\n", of->name, e.text);
	measuring_drop(r, of);
}

void measuring_announce(struct cmd_run *r, const struct measuring_kind *of, const char *what,
			uint64_t likely_ns, uint64_t most_ns, const char *then)
{
	struct sbuf likely = {0}, most = {0};

	cmd_progress_span(likely_ns, &likely);
	cmd_progress_span(most_ns, &most);
	sbuf_addf(r->note, "%s: %s, likely %s, at most about %s%s\n", of->name, what,
		  sbuf_str(&likely), sbuf_str(&most), then);
	sbuf_free(&likely);
	sbuf_free(&most);
}

int measuring_time(const struct arg_val *a, uint64_t *out, struct err *e)
{
	if (!a->given)
		return 0;
	if (a->v.u == 0)
		return err_at(
			e, EINVAL, a->col,
			"a trial of no time sends nothing; allowed are durations above 0, like 10s or 1.5ms");
	if (a->v.u > MEASURING_MOST_NS)
		return err_at(
			e, ERANGE, a->col,
			"each trial would take more than a day; allowed are durations above 0 up to 24h, like 10s or 1.5ms");
	*out = a->v.u;
	return 0;
}
