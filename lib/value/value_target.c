/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of ports, streams and other objects of ports (struct target). */
#include "value_impl.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define TARGET_SYNTAX \
	"all | N | N-M, each with /streams if wanted, joined by commas without blanks: 0,2-3,1/0-7"

static int target_fail(struct err *e, int code, size_t col, const char *text, const char *reason)
{
	return err_at(e, code, (int)col,
		      "\"%.40s\" is not a port list: %s; allowed: " TARGET_SYNTAX, text, reason);
}

static int target_number(const char *text, size_t *at, uint32_t top, uint32_t *out, struct err *e)
{
	uint64_t v = 0;
	size_t start = *at;

	if (!isdigit((unsigned char)text[start])) {
		if (text[start] == '-')
			return target_fail(e, EINVAL, start, text, "a number is never negative");
		return target_fail(e, EINVAL, start, text, "a number or \"all\" is wanted here");
	}
	for (; isdigit((unsigned char)text[*at]); (*at)++)
		if (v <= top)
			v = v * 10 + (unsigned)(text[*at] - '0');
	if (v > top)
		return err_at(e, ERANGE, (int)start,
			      "\"%.40s\": the number is too large; allowed: 0 to %" PRIu32, text,
			      top);
	*out = (uint32_t)v;
	return 0;
}

static int target_range(const char *text, size_t *at, uint32_t top, uint32_t *lo, uint32_t *hi,
			struct err *e)
{
	size_t start = *at;

	if (strncmp(text + start, "all", 3) == 0 && !isalnum((unsigned char)text[start + 3])) {
		*lo = 0;
		*hi = UINT32_MAX;
		*at += 3;
		return 0;
	}
	int rc = target_number(text, at, top, lo, e);
	*hi = *lo;
	if (rc != 0 || text[*at] != '-')
		return rc;
	(*at)++;
	rc = target_number(text, at, top, hi, e);
	if (rc == 0 && *hi < *lo)
		return target_fail(e, EINVAL, start, text, "the range runs backwards");
	return rc;
}

/* Says what may be after the '/', for an error that is about this word. */
static int target_kind_fail(struct err *e, size_t at, const char *text, const char *const *kinds,
			    int len)
{
	struct sbuf reason = {0};

	sbuf_addf(&reason, "\"%.*s\" is nothing that ports have; there is", len > 40 ? 40 : len,
		  text + at);
	for (unsigned i = 0; kinds[i] != NULL; i++)
		sbuf_addf(&reason, "%s /%s.N", i > 0 ? "," : "", kinds[i]);
	int rc = target_fail(e, EINVAL, at, text, reason.s);
	sbuf_free(&reason);
	return rc;
}

/* Reads "KIND." if a word other than "all" stands there. *kind becomes the one of kinds that the
 * word is, or NULL if there is no word. */
static int target_kind(const char *text, size_t *at, const char *const *kinds, const char **kind,
		       struct err *e)
{
	size_t len = 0, i = 0;

	*kind = NULL;
	while (isalnum((unsigned char)text[*at + len]) || text[*at + len] == '_')
		len++;
	if (kinds == NULL || kinds[0] == NULL || !isalpha((unsigned char)text[*at]) ||
	    (len == 3 && strncmp(text + *at, "all", len) == 0))
		return 0;
	while (kinds[i] != NULL &&
	       (strlen(kinds[i]) != len || strncmp(text + *at, kinds[i], len) != 0))
		i++;
	if (kinds[i] == NULL)
		return target_kind_fail(e, *at, text, kinds, (int)len);
	*at += len;
	if (text[*at] != '.')
		return target_fail(e, EINVAL, *at, text,
				   "a dot and a number or \"all\" are wanted here");
	(*at)++;
	*kind = kinds[i];
	return 0;
}

int target_parse(const char *text, const char *const *kinds, struct target *out, struct err *e)
{
	struct target t = {0};
	size_t at = 0;

	for (;; at++) {
		uint32_t p0 = 0, p1 = 0, s0 = 0, s1 = 0;
		size_t start = at;
		const char *kind = NULL;
		bool streams = false;
		if (t.n == ARRAY_SIZE(t.item))
			return target_fail(e, ERANGE, at, text, "more than 64 items");
		int rc = target_range(text, &at, TARGET_MAX_PORT, &p0, &p1, e);
		if (rc == 0 && text[at] == '/') {
			at++;
			streams = true;
			rc = target_kind(text, &at, kinds, &kind, e);
			if (rc == 0)
				rc = target_range(text, &at, TARGET_MAX_STREAM, &s0, &s1, e);
		}
		if (rc != 0)
			return rc;
		if (t.n > 0 && kind != t.kind)
			return target_fail(e, EINVAL, start, text,
					   "all items of a list are of one sort");
		t.kind = kind;
		t.item[t.n].p0 = p0;
		t.item[t.n].p1 = p1;
		t.item[t.n].s0 = s0;
		t.item[t.n].s1 = s1;
		t.item[t.n++].has_streams = streams;
		if (text[at] == '\0')
			break;
		if (text[at] != ',')
			return target_fail(e, EINVAL, at, text,
					   "a comma or the end is wanted here");
	}
	*out = t;
	return 0;
}

static void put_range(uint32_t lo, uint32_t hi, struct sbuf *out)
{
	if (lo == 0 && hi == UINT32_MAX)
		sbuf_add(out, "all");
	else if (lo == hi)
		sbuf_addf(out, "%" PRIu32, lo);
	else
		sbuf_addf(out, "%" PRIu32 "-%" PRIu32, lo, hi);
}

void target_print(const struct target *t, struct sbuf *out)
{
	for (unsigned i = 0; i < t->n; i++) {
		if (i > 0)
			sbuf_addc(out, ',');
		put_range(t->item[i].p0, t->item[i].p1, out);
		if (!t->item[i].has_streams)
			continue;
		sbuf_addc(out, '/');
		if (t->kind != NULL)
			sbuf_addf(out, "%s.", t->kind);
		put_range(t->item[i].s0, t->item[i].s1, out);
	}
}
