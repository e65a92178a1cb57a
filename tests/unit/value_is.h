/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks for tests of types of values: which texts are values, which are refused, and how texts are
 * completed. A test may define VALUE_BYTES, SAME_VALUE and OFFERED before it includes this. */
#pragma once
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "value.h"

#ifndef VALUE_BYTES
#define VALUE_BYTES VT_TEXT_MAX
#endif
static _Alignas(16) uint8_t val[VALUE_BYTES], again[VALUE_BYTES];

#ifndef SAME_VALUE
#define SAME_VALUE(s, a, b) (memcmp(a, b, (s)->type->size) == 0)
#endif

/* Checks that the text is a value that is printed as `canon`, and that `canon` is the same
 * value. */
static inline void is(const struct vspec *s, const char *text, const char *canon)
{
	struct sbuf out = {0}, out2 = {0};
	struct err e;

	memset(val, 0, sizeof(val));
	memset(again, 0, sizeof(again));
	if (s->type->parse(s, text, val, &e) != 0)
		fail_msg("%s: %s", text, e.text);
	s->type->print(s, val, &out);
	assert_string_equal(sbuf_str(&out), canon);
	if (s->type->parse(s, sbuf_str(&out), again, &e) != 0)
		fail_msg("printed %s: %s", sbuf_str(&out), e.text);
	assert_true(SAME_VALUE(s, (const void *)val, (const void *)again));
	s->type->print(s, again, &out2);
	assert_string_equal(sbuf_str(&out), sbuf_str(&out2));
	sbuf_free(&out);
	sbuf_free(&out2);
}

/* Checks that the text is refused with this code, at this column and with this part in the message,
 * that the message says what is allowed, and that the value does not change. */
static inline void not(const struct vspec *s, const char *text, int rc, int col, const char *part)
{
	struct err e = {0};

	memset(val, 0xa5, sizeof(val));
	memset(again, 0xa5, sizeof(again));
	int got = s->type->parse(s, text, val, &e);
	if (got != rc || e.col != col || strstr(e.text, part) == NULL)
		fail_msg("\"%s\": %d at %d, expected %d at %d with \"%s\": %s", text, got, e.col,
			 rc, col, part, e.text);
	assert_memory_equal(val, again, sizeof(val));
	assert_int_equal(s->type->parse(s, text, val, NULL), rc);
	assert_non_null(strstr(e.text, "allowed: "));
}

#ifndef OFFERED
#define OFFERED "%s "
#endif

static inline void offer(void *arg, const char *word)
{
	sbuf_addf(arg, OFFERED, word);
}

/* Checks that these words complete a prefix, each written as OFFERED says. */
static inline void completes(const struct vspec *s, const char *prefix, const char *words)
{
	struct sbuf out = {0};

	s->type->complete(s, prefix, offer, &out);
	assert_string_equal(sbuf_str(&out), words);
	sbuf_free(&out);
}
