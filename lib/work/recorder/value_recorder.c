/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of faults as people write them: "loss,reorder", "corrupt,latency>1ms". */
#include "recorder_app.h"

#include <errno.h>
#include <string.h>

/* One kind of the list. n: its length. */
static int what_one(const struct vspec *s, const char *text, size_t n, int col,
		    struct recorder_what *out, struct err *e)
{
	const char *above = memchr(text, '>', n);
	size_t len = above != NULL ? (size_t)(above - text) : n;
	unsigned i = 0;
	char limit[64];

	while (len > 0 && text[len - 1] == ' ')
		len--;
	while (recorder_kinds[i] != NULL &&
	       (strlen(recorder_kinds[i]) != len || strncmp(recorder_kinds[i], text, len) != 0))
		i++;
	if (recorder_kinds[i] == NULL || (above != NULL && i != RECORDER_LATENCY))
		return vspec_fail(s, EINVAL, col, e, text, "is not a list of kinds of faults");
	out->kinds |= 1u << i;
	if (above == NULL)
		return 0;
	above += 1 + strspn(above + 1, " ");
	len = (size_t)(text + n - above);
	if (len == 0 || len >= sizeof(limit))
		return vspec_fail(s, EINVAL, col, e, text, "lacks the time behind >");
	memcpy(limit, above, len);
	limit[len] = '\0';
	return vt_duration.parse(&(struct vspec){.type = &vt_duration}, limit, &out->latency_ns, e);
}

static int what_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct recorder_what w = {0};
	const char *at = text;
	int rc = 0;

	for (bool more = true; more && rc == 0;) {
		size_t n = strcspn(at, ",");
		rc = what_one(s, at, n, (int)(at - text), &w, e);
		more = at[n] == ',';
		at += n + more;
	}
	if (rc == 0)
		*(struct recorder_what *)out = w;
	return rc;
}

static void what_print(const struct vspec *s, const void *val, struct sbuf *out)
{
	const struct recorder_what *w = val;
	const char *before = "";

	(void)s;
	for (unsigned i = 0; i < RECORDER_KINDS; i++) {
		if ((w->kinds >> i & 1) == 0)
			continue;
		sbuf_addf(out, "%s%s", before, recorder_kinds[i]);
		before = ",";
	}
	if (w->latency_ns > 0) {
		sbuf_addc(out, '>');
		vt_duration.print(&(struct vspec){.type = &vt_duration}, &w->latency_ns, out);
	}
}

static void what_complete(const struct vspec *s, const char *prefix,
			  void (*offer)(void *arg, const char *word), void *arg)
{
	const char *comma = strrchr(prefix, ',');
	size_t had = comma != NULL ? (size_t)(comma + 1 - prefix) : 0;

	(void)s;
	for (unsigned i = 0; i < RECORDER_KINDS; i++) {
		struct sbuf word = {0};
		sbuf_addn(&word, prefix, had);
		sbuf_add(&word, recorder_kinds[i]);
		if (strncmp(recorder_kinds[i], prefix + had, strlen(prefix + had)) == 0)
			offer(arg, sbuf_str(&word));
		sbuf_free(&word);
	}
}

const struct vtype recorder_vt_what = {
	.name = "faults",
	.syntax = "loss,duplicate,reorder,corrupt,latency>1ms, or some of them",
	.size = sizeof(struct recorder_what),
	.parse = what_parse,
	.print = what_print,
	.complete = what_complete,
};
