/* SPDX-License-Identifier: BSD-3-Clause */
/* vt_every: none, all, or one of N. */
#include "value_impl.h"

#include <errno.h>
#include <string.h>

static int every_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	static const struct vspec count = {.type = &vt_uint, .min = 1, .max = UINT32_MAX};
	uint64_t n = 0;
	uint32_t v;
	bool on;

	if (strncmp(text, "every", 5) == 0 && (text[5] == ' ' || text[5] == '\0')) {
		size_t at = 5 + strspn(text + 5, " ");
		if (text[at] == '\0')
			return vspec_fail(s, EINVAL, (int)at, e, text, "lacks its number");
		int rc = vt_uint.parse(&count, text + at, &n, e);
		if (rc < 0) {
			if (e != NULL)
				e->col += (int)at;
			return rc;
		}
	} else if (vt_bool.parse(&(struct vspec){.type = &vt_bool}, text, &on, NULL) == 0) {
		n = on;
	} else {
		return vspec_fail(s, EINVAL, 0, e, text, "is none of them");
	}
	v = (uint32_t)n;
	memcpy(out, &v, sizeof(v));
	return 0;
}

static void every_print(const struct vspec *s, const void *val, struct sbuf *out)
{
	uint32_t v;

	(void)s;
	memcpy(&v, val, sizeof(v));
	if (v > 1)
		sbuf_addf(out, "every %u", v);
	else
		sbuf_add(out, v == 1 ? "on" : "off");
}

static enum vplain every_plain(const struct vspec *s, const void *val, double *out)
{
	uint32_t v;

	(void)s;
	memcpy(&v, val, sizeof(v));
	*out = v;
	return v <= 1 ? VPLAIN_BOOL : VPLAIN_NUMBER;
}

static void every_number(const struct vspec *s, double n, struct sbuf *out)
{
	(void)s;
	if (n == 0) {
		sbuf_add(out, "off");
		return;
	}
	sbuf_add(out, "every ");
	value_digits(n, out);
}

static void every_complete(const struct vspec *s, const char *prefix,
			   void (*offer)(void *arg, const char *word), void *arg)
{
	static const char *const words[] = {"on", "off", "every"};

	(void)s;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (word_starts(words[i], prefix))
			offer(arg, words[i]);
}

const struct vtype vt_every = {.name = "every",
			       .syntax = "off | on | every N",
			       .size = sizeof(uint32_t),
			       .parse = every_parse,
			       .print = every_print,
			       .complete = every_complete,
			       .plain = every_plain,
			       .number = every_number};
