/* SPDX-License-Identifier: BSD-3-Clause */
/* The types for numbers and flags in header fields, of up to 128 bits. */
#include "value_impl.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static u128 field_top(const struct vspec *s)
{
	unsigned bits = s->bits ? s->bits : 64;

	return bits >= 128 ? ~(u128)0 : ((u128)1 << bits) - 1;
}

static void field_store(void *out, u128 v)
{
	uint8_t *b = out;

	for (int i = VT_FIELD_BYTES - 1; i >= 0; i--, v >>= 8)
		b[i] = (uint8_t)v;
}

static u128 field_load(const void *in)
{
	const uint8_t *b = in;
	u128 v = 0;

	for (int i = 0; i < VT_FIELD_BYTES; i++)
		v = v << 8 | b[i];
	return v;
}

static void put_dec(u128 v, struct sbuf *out)
{
	char digits[48], *p = digits + sizeof(digits);

	*--p = '\0';
	do
		*--p = (char)('0' + (unsigned)(v % 10));
	while ((v /= 10) != 0);
	sbuf_add(out, p);
}

/* Appends v in hexadecimal with at least `wide` digits. */
static void put_hex(u128 v, unsigned wide, struct sbuf *out)
{
	char digits[48], *p = digits + sizeof(digits);

	*--p = '\0';
	for (unsigned n = 0; n < wide || v != 0; n++, v >>= 4)
		*--p = "0123456789abcdef"[(unsigned)(v & 15)];
	sbuf_addf(out, "0x%s", p);
}

/* Parses the whole text as a number, decimal or with 0x, that is at most top. */
static int number_parse(const struct vspec *s, const char *text, u128 top, u128 *out, struct err *e)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	unsigned base = hex ? 16 : 10;
	size_t start = hex ? 2 : 0, i;
	u128 v = 0;
	bool large = false;

	for (i = start;; i++) {
		unsigned char c = (unsigned char)text[i];
		if (!(hex ? isxdigit(c) : isdigit(c)))
			break;
		unsigned d = c <= '9' ? (unsigned)(c - '0') : (unsigned)(tolower(c) - 'a' + 10);
		if (v > (~(u128)0 - d) / base)
			large = true;
		else
			v = v * base + d;
	}
	if (text[0] == '\0')
		return vspec_fail(s, EINVAL, 0, e, text, "is empty, not a number");
	if (text[0] == '-' && isdigit((unsigned char)text[1]))
		return vspec_fail(s, EINVAL, 0, e, text, "is negative");
	if (i == start)
		return vspec_fail(s, EINVAL, (int)i, e, text, "is not a number");
	if (text[i] != '\0')
		return vspec_fail(s, EINVAL, (int)(i + strspn(text + i, " \t")), e, text,
				  "has more after the number");
	if (large || v > top)
		return vspec_fail(s, ERANGE, 0, e, text, "is too large");
	*out = v;
	return 0;
}

static int fuint_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	u128 v = 0, top = field_top(s);

	if ((s->min != 0 || s->max != 0) && s->max < top)
		top = s->max;
	int rc = number_parse(s, text, top, &v, e);
	if (rc == 0 && v < s->min)
		rc = vspec_fail(s, ERANGE, 0, e, text, "is too small");
	if (rc == 0)
		field_store(out, v);
	return rc;
}

static void put_number(u128 v, struct sbuf *out)
{
	if (v > UINT64_MAX)
		put_hex(v, 1, out);
	else
		put_dec(v, out);
}

static void fuint_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	if (s->hex)
		put_hex(field_load(v), ((s->bits ? s->bits : 64) + 3) / 4, out);
	else
		put_number(field_load(v), out);
}

static void fuint_allowed(const struct vspec *s, struct sbuf *out)
{
	u128 top = field_top(s);

	if ((s->min != 0 || s->max != 0) && s->max < top)
		top = s->max;
	sbuf_addf(out, "%s, ", s->type->syntax);
	put_number(s->min, out);
	sbuf_add(out, " to ");
	put_number(top, out);
}

static enum vplain fuint_plain(const struct vspec *s, const void *v, double *out)
{
	u128 n = field_load(v);

	(void)s;
	return n > UINT64_MAX ? VPLAIN_TEXT : value_plain_u64((uint64_t)n, out);
}

const struct vtype vt_fuint = {.name = "number",
			       .syntax = "N or 0xHEX",
			       .size = VT_FIELD_BYTES,
			       .parse = fuint_parse,
			       .print = fuint_print,
			       .allowed = fuint_allowed,
			       .plain = fuint_plain};

/* flags */

static unsigned field_nflags(const struct vspec *s)
{
	unsigned n = 0, bits = s->bits ? s->bits : 64;

	while (s->choices != NULL && n < bits && s->choices[n] != NULL)
		n++;
	return n;
}

static int flag_fail(const struct vspec *s, const char *text, size_t at, const char *word,
		     struct err *e)
{
	const char *near = word[0] != '\0' ? str_nearest(word, s->choices, field_nflags(s)) : NULL;

	if (near != NULL && near[0] != '\0')
		return vspec_fail(s, EINVAL, (int)at, e, text,
				  "has an unknown flag \"%s\", did you mean \"%s\"", word, near);
	return vspec_fail(s, EINVAL, (int)at, e, text, "has an unknown flag \"%s\"", word);
}

static int fflags_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	unsigned n = field_nflags(s);
	u128 v = 0;
	size_t at = 0;
	char word[32];

	if (isdigit((unsigned char)text[0]) || text[0] == '-') {
		int rc = number_parse(s, text, field_top(s), &v, e);
		if (rc == 0)
			field_store(out, v);
		return rc;
	}
	if (strcmp(text, "none") != 0 && strcmp(text, "clr") != 0) {
		for (;;) {
			size_t len = strcspn(text + at, ",");
			unsigned i = 0;
			size_t keep = len < sizeof(word) ? len : sizeof(word) - 1;
			memcpy(word, text + at, keep);
			word[keep] = '\0';
			while (i < n && (s->choices[i][0] == '\0' || keep != len ||
					 strcmp(s->choices[i], word) != 0))
				i++;
			if (i == n)
				return flag_fail(s, text, at, word, e);
			v |= (u128)1 << i;
			if (text[at + len] == '\0')
				break;
			at += len + 1;
		}
	}
	field_store(out, v);
	return 0;
}

static void fflags_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	u128 bits = field_load(v), named = 0;
	unsigned n = field_nflags(s);
	bool first = true;

	for (unsigned i = 0; i < n; i++)
		if (s->choices[i][0] != '\0')
			named |= (u128)1 << i;
	if (bits == 0) {
		sbuf_add(out, "none");
		return;
	}
	if (bits & ~named) {
		put_hex(bits, 1, out);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		if (!(bits >> i & 1))
			continue;
		sbuf_addf(out, "%s%s", first ? "" : ",", s->choices[i]);
		first = false;
	}
}

static bool list_has(const char *list, size_t len, const char *word)
{
	size_t wn = strlen(word);

	for (size_t at = 0; at < len; at += strcspn(list + at, ",") + 1)
		if (strcspn(list + at, ",") == wn && strncmp(list + at, word, wn) == 0)
			return true;
	return false;
}

static void fflags_complete(const struct vspec *s, const char *prefix,
			    void (*offer)(void *, const char *), void *arg)
{
	const char *comma = strrchr(prefix, ',');
	size_t head = comma ? (size_t)(comma - prefix) + 1 : 0;
	struct sbuf word = {0};

	if (head == 0 && word_starts("none", prefix))
		offer(arg, "none");
	for (unsigned i = 0; i < field_nflags(s); i++) {
		if (s->choices[i][0] == '\0' || !word_starts(s->choices[i], prefix + head) ||
		    list_has(prefix, head, s->choices[i]))
			continue;
		sbuf_reset(&word);
		sbuf_addn(&word, prefix, head);
		sbuf_add(&word, s->choices[i]);
		offer(arg, word.s);
	}
	sbuf_free(&word);
}

static void fflags_allowed(const struct vspec *s, struct sbuf *out)
{
	bool any = false;

	for (unsigned i = 0; i < field_nflags(s); i++) {
		if (s->choices[i][0] == '\0')
			continue;
		sbuf_addf(out, "%s%s", any ? "," : "a comma list of ", s->choices[i]);
		any = true;
	}
	sbuf_add(out, any ? ", none, or a number to " : "none or a number to ");
	put_number(field_top(s), out);
}

const struct vtype vt_fflags = {.name = "flags",
				.syntax = "a comma list of flags, none, or a number",
				.size = VT_FIELD_BYTES,
				.parse = fflags_parse,
				.print = fflags_print,
				.complete = fflags_complete,
				.allowed = fflags_allowed};
