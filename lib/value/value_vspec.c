/* SPDX-License-Identifier: BSD-3-Clause */
/* What all types share: the text that says what is allowed, and the error that refuses a value. */
#include "value_impl.h"

#include <assert.h>
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

void value_default(const struct vtype *type, const char *text, void *out)
{
	value_default_of(&(const struct vspec){.type = type}, text, out);
}

void value_default_of(const struct vspec *s, const char *text, void *out)
{
	int rc = s->type->parse(s, text, out, NULL);

	assert(rc == 0);
	(void)rc;
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

/* Copies the user's text for an error, which goes to a terminal: control characters are replaced,
 * and a long text is cut. */
static void show_text(const char *text, char *buf, size_t size)
{
	size_t n = strlen(text), keep = n < size ? n : size - 4;

	for (size_t i = 0; i < keep; i++)
		buf[i] = iscntrl((unsigned char)text[i]) ? '?' : text[i];
	buf[keep] = '\0';
	if (keep < n)
		strcpy(buf + keep, "...");
}

int vspec_fail(const struct vspec *s, int code, int col, struct err *e, const char *text,
	       const char *reason, ...)
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
