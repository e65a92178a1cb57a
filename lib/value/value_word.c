/* SPDX-License-Identifier: BSD-3-Clause */
/* The types whose values are words: switches, choices and any text. */
#include "value_impl.h"

#include <errno.h>
#include <string.h>

/* bool */

static const struct {
	const char *word;
	bool v;
} bools[] = {{"on", true},  {"off", false}, {"enable", true}, {"disable", false},
	     {"yes", true}, {"no", false},  {"true", true},   {"false", false}};

static int bool_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(bools); i++) {
		if (strcmp(text, bools[i].word) == 0) {
			memcpy(out, &bools[i].v, sizeof(bool));
			return 0;
		}
	}
	return vspec_fail(s, EINVAL, 0, e, text, "is neither on nor off");
}

static void bool_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	bool b;

	(void)s;
	memcpy(&b, v, sizeof(b));
	sbuf_add(out, b ? "on" : "off");
}

static void bool_complete(const struct vspec *s, const char *prefix,
			  void (*offer)(void *, const char *), void *arg)
{
	(void)s;
	for (size_t i = 0; i < ARRAY_SIZE(bools); i++)
		if (word_starts(bools[i].word, prefix) && (prefix[0] != '\0' || i < 2))
			offer(arg, bools[i].word);
}

static enum vplain bool_plain(const struct vspec *s, const void *v, double *out)
{
	bool b;

	(void)s;
	memcpy(&b, v, sizeof(b));
	*out = b;
	return VPLAIN_BOOL;
}

const struct vtype vt_bool = {.name = "switch",
			      .syntax = "on | off (also enable, disable, yes, no, true, false)",
			      .size = sizeof(bool),
			      .parse = bool_parse,
			      .print = bool_print,
			      .complete = bool_complete,
			      .plain = bool_plain};

/* enum */

static int enum_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	int found = -1;
	size_t n = 0;
	struct sbuf many = {0};

	for (; s->choices != NULL && s->choices[n] != NULL; n++) {
		if (strcmp(s->choices[n], text) == 0) {
			found = (int)n;
			sbuf_reset(&many);
			break;
		}
		if (text[0] == '\0' || !word_starts(s->choices[n], text))
			continue;
		if (found >= 0)
			sbuf_addf(&many, "%s%s", many.len ? ", " : "", s->choices[n]);
		else
			found = (int)n;
	}
	int rc = 0;
	if (many.len > 0)
		rc = vspec_fail(s, EINVAL, 0, e, text, "is ambiguous (%s, %s)", s->choices[found],
				sbuf_str(&many));
	else if (found < 0) {
		const char *near = str_nearest(text, s->choices, n);
		if (near != NULL && text[0] != '\0')
			rc = vspec_fail(s, EINVAL, 0, e, text, "is unknown, did you mean \"%s\"",
					near);
		else
			rc = vspec_fail(s, EINVAL, 0, e, text, "is unknown");
	} else
		memcpy(out, &found, sizeof(found));
	sbuf_free(&many);
	return rc;
}

static void enum_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	int n, i = 0;

	memcpy(&n, v, sizeof(n));
	while (s->choices != NULL && s->choices[i] != NULL && i < n)
		i++;
	if (n >= 0 && i == n && s->choices != NULL && s->choices[i] != NULL)
		sbuf_add(out, s->choices[i]);
}

static void enum_complete(const struct vspec *s, const char *prefix,
			  void (*offer)(void *, const char *), void *arg)
{
	for (size_t i = 0; s->choices != NULL && s->choices[i] != NULL; i++)
		if (word_starts(s->choices[i], prefix))
			offer(arg, s->choices[i]);
}

static void enum_allowed(const struct vspec *s, struct sbuf *out)
{
	for (size_t i = 0; s->choices != NULL && s->choices[i] != NULL; i++)
		sbuf_addf(out, "%s%s", i ? " | " : "", s->choices[i]);
}

const struct vtype vt_enum = {.name = "choice",
			      .syntax = "one of the words",
			      .size = sizeof(int),
			      .parse = enum_parse,
			      .print = enum_print,
			      .complete = enum_complete,
			      .allowed = enum_allowed};

/* text */

static int text_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	size_t n = strlen(text);

	if (n >= VT_TEXT_MAX)
		return vspec_fail(s, ERANGE, VT_TEXT_MAX - 1, e, text, "is too long (%zu bytes)",
				  n);
	memset(out, 0, VT_TEXT_MAX);
	memcpy(out, text, n);
	return 0;
}

static void text_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	(void)s;
	sbuf_addn(out, v, strnlen(v, VT_TEXT_MAX));
}

const struct vtype vt_text = {.name = "text",
			      .syntax = "any text of at most 255 bytes",
			      .size = VT_TEXT_MAX,
			      .parse = text_parse,
			      .print = text_print};
