/* SPDX-License-Identifier: BSD-3-Clause */
#include "value_impl.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

bool portset_empty(const struct portset *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(s->w); i++)
		if (s->w[i] != 0)
			return false;
	return true;
}

bool word_starts(const char *word, const char *prefix)
{
	return strncmp(word, prefix, strlen(prefix)) == 0;
}

void vspec_allowed(const struct vspec *s, struct sbuf *out)
{
	if (s->type == NULL)
		return;
	if (s->type->allowed != NULL)
		s->type->allowed(s, out);
	else
		sbuf_add(out, s->type->syntax);
}

/* The user's text goes back to a terminal: no control characters, no endless line. */
static void show_text(const char *text, char *buf, size_t size)
{
	size_t n = strlen(text), keep = n < size ? n : size - 4;

	for (size_t i = 0; i < keep; i++)
		buf[i] = iscntrl((unsigned char)text[i]) ? '?' : text[i];
	buf[keep] = '\0';
	if (keep < n)
		strcpy(buf + keep, "...");
}

int vspec_fail(const struct vspec *s, int code, int col, struct err *e, const char *text, const char *reason, ...)
{
	char why[400], shown[64];
	struct sbuf allowed = {0};
	va_list ap;

	if (e == NULL)
		return -code;
	va_start(ap, reason);
	vsnprintf(why, sizeof(why), reason, ap);
	va_end(ap);
	show_text(text, shown, sizeof(shown));
	vspec_allowed(s, &allowed);
	err_at(e, code, col, "\"%s\" %s; allowed: %s", shown, why, sbuf_str(&allowed));
	sbuf_free(&allowed);
	return -code;
}

int later_fail(const char *text, const char *form, const char *example, struct err *e)
{
	char shown[64];

	show_text(text, shown, sizeof(shown));
	return err_at(e, ENOTSUP, 0, "\"%s\" is %s: not in this version; give one value%s%s", shown, form,
		      example != NULL ? ", for example " : "", example != NULL ? example : "");
}

static bool one_ok(const struct vspec *s, const char *text, size_t n, value_one_fn *one)
{
	char buf[64];
	_Alignas(16) uint8_t out[VT_FIELD_BYTES];

	while (n > 0 && *text == ' ')
		text++, n--;
	while (n > 0 && text[n - 1] == ' ')
		n--;
	if (n == 0 || n >= sizeof(buf))
		return false;
	memcpy(buf, text, n);
	buf[n] = '\0';
	return one(s, buf, out, NULL) == 0;
}

static bool is_range(const struct vspec *s, const char *text, value_one_fn *one)
{
	const char *dots = strstr(text, "..");

	if (dots == NULL)
		return false;
	const char *step = strstr(dots, " step ");
	size_t hi = step ? (size_t)(step - dots) - 2 : strlen(dots + 2);
	return one_ok(s, text, (size_t)(dots - text), one) && one_ok(s, dots + 2, hi, one) &&
	       (step == NULL || step[6] != '\0');
}

static bool is_list(const struct vspec *s, const char *text, value_one_fn *one)
{
	for (;;) {
		size_t n = strcspn(text, ",");
		if (!one_ok(s, text, n, one))
			return false;
		if (text[n] == '\0')
			return true;
		text += n + 1;
	}
}

int one_or_later(const struct vspec *s, const char *text, value_one_fn *one, void *out, struct err *e)
{
	int rc = one(s, text, out, e);
	const char *example = NULL;

	if (rc == 0)
		return 0;
	const char *dots = strstr(text, "..");
	size_t first = dots != NULL ? (size_t)(dots - text) : strcspn(text, ",");
	char lead[64] = "";
	if (first < sizeof(lead))
		memcpy(lead, text, first);
	if (lead[0] != '\0' && one_ok(s, lead, first, one))
		example = lead;
	if (strcmp(text, "random") == 0 || (word_starts(text, "random ") && is_range(s, text + 7, one)))
		return later_fail(text, "a random variation", example, e);
	if (word_starts(text, "list ") && is_list(s, text + 5, one))
		return later_fail(text, "a list variation", example, e);
	if (is_range(s, text, one))
		return later_fail(text, "a range", example, e);
	if (strchr(text, ',') != NULL && is_list(s, text, one))
		return later_fail(text, "a list", example, e);
	return rc;
}
