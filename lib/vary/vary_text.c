/* SPDX-License-Identifier: BSD-3-Clause */
/* vt_vary: variations as text. First parsing, then printing. */
#include "vary_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIT(w) (1u << (w))
#define RANGE_WORDS (BIT(FORM_STEP) | BIT(FORM_FROM))
#define FOUND_WORD "auto"
#define RANDOM_WORDS (BIT(FORM_REPEAT) | BIT(FORM_SEED))

unsigned vary_text_width(const struct vspec *s)
{
	const struct vspec *of = s->of;

	if (of->bits != 0)
		return of->bits;
	return of->type == &vt_mac ? 48 : of->type == &vt_ip4 ? 32 : of->type == &vt_ip6 ? 128 : 64;
}

static vary_u top_of(unsigned bits)
{
	return bits >= 128 ? ~(vary_u)0 : ((vary_u)1 << bits) - 1;
}

bool vary_text_is_ip(const struct vspec *s)
{
	return s->of->type == &vt_ip4 || s->of->type == &vt_ip6;
}

bool vary_text_is_flags(const struct vspec *s)
{
	return s->of->type == &vt_fflags;
}

/* Whether values have colons of their own, so that brackets tell them from a weight. */
bool vary_text_has_colons(const struct vspec *s)
{
	return s->of->type == &vt_mac || s->of->type == &vt_ip6;
}

/* The limits of the field itself. */
static void vary_text_limits(const struct vspec *s, vary_u *lo, vary_u *hi)
{
	const struct vspec *of = s->of;

	*lo = 0;
	*hi = top_of(vary_text_width(s));
	if (of->type != &vt_fuint || (of->min == 0 && of->max == 0))
		return;
	*lo = of->min;
	if (of->max < *hi)
		*hi = of->max;
}

static void allowed_put(const struct vspec *s, struct sbuf *out)
{
	vspec_allowed(s->of, out);
	sbuf_addf(
		out,
		"; or A..B%s [step S] [from F] | %s | (random [A..B] | V mask M) [repeat N] [seed S]",
		vary_text_is_ip(s) ? " or A/LEN" : "",
		vary_text_is_flags(s)     ? "list A,B|C"
		: vary_text_has_colons(s) ? "A,B,C | [A]:W,[B]:W"
					  : "A,B,C | A:W,B:W");
	if (s->found)
		sbuf_add(out, " | " FOUND_WORD);
}

int vary_text_one(const struct vspec *s, const struct form *f, size_t at, size_t len, vary_u *out,
		  struct err *e)
{
	uint8_t v[VT_FIELD_BYTES];
	int rc = form_value(f, s->of, at, len, v, e);

	if (rc == 0)
		*out = vary_load(v);
	return rc;
}

/* Reads a step or a mask: a value of the type of the field, or a number with as many bits. */
static int vary_text_amount(const struct vspec *s, const struct form *f, enum form_word w,
			    vary_u *out, struct err *e)
{
	const struct vspec number = {.type = &vt_fuint, .bits = (uint16_t)vary_text_width(s)};
	uint8_t v[VT_FIELD_BYTES];
	size_t at = f->opt[w].at, len = f->opt[w].len;
	int rc = -1;

	if (s->of->type != &vt_fuint)
		rc = form_value(f, s->of, at, len, v, NULL);
	if (rc != 0)
		rc = form_value(f, &number, at, len, v, e);
	if (rc == 0)
		*out = vary_load(v);
	return rc;
}

static int random_words(const struct form *f, struct vary *v, struct err *e)
{
	int rc = form_number(f, FORM_REPEAT, UINT64_MAX, &v->repeat, e);

	return rc == 0 ? form_number(f, FORM_SEED, UINT64_MAX, &v->seed, e) : rc;
}

int vary_text_bounds(const struct vspec *s, const struct form *f, size_t dots, vary_u *a, vary_u *b,
		     struct err *e)
{
	size_t left = dots, right = dots + 2, end = f->at + f->len;

	while (left > f->at && isblank((unsigned char)f->text[left - 1]))
		left--;
	while (right < end && isblank((unsigned char)f->text[right]))
		right++;
	if (left == f->at || right == end)
		return vspec_fail(s, EINVAL, (int)(left == f->at ? left : right), e, f->text,
				  "has no %s bound", left == f->at ? "first" : "last");
	int rc = vary_text_one(s, f, f->at, left - f->at, a, e);
	return rc == 0 ? vary_text_one(s, f, right, end - right, b, e) : rc;
}

/* A range of one value is that value. */
static void vary_text_settle(struct vary *v)
{
	if (v->kind == VARY_RANGE && v->first == (v->down ? v->hi : v->lo) &&
	    v->hi - v->lo < v->step)
		*v = (struct vary){.bits = v->bits, .div = 1, .first = v->first};
}

static int range_words(const struct vspec *s, const struct form *f, struct vary *v, struct err *e)
{
	int rc = form_only(s, f, RANGE_WORDS, "a range", e);

	v->kind = VARY_RANGE;
	v->step = 1;
	v->first = v->down ? v->hi : v->lo;
	if (rc == 0 && f->opt[FORM_STEP].len != 0)
		rc = vary_text_amount(s, f, FORM_STEP, &v->step, e);
	if (rc == 0 && v->step == 0)
		return vspec_fail(s, ERANGE, (int)f->opt[FORM_STEP].at, e, f->text,
				  "has a step of 0; give the value alone, or a step of 1");
	if (rc == 0 && f->opt[FORM_FROM].len != 0)
		rc = vary_text_one(s, f, f->opt[FORM_FROM].at, f->opt[FORM_FROM].len, &v->first, e);
	if (rc == 0 && (v->first < v->lo || v->first > v->hi))
		return vspec_fail(s, ERANGE, (int)f->opt[FORM_FROM].at, e, f->text,
				  "begins outside of its own range");
	if (rc == 0)
		vary_text_settle(v);
	return rc;
}

static int parse_range(const struct vspec *s, const struct form *f, size_t dots, struct vary *v,
		       struct err *e)
{
	vary_u a, b;
	int rc = vary_text_bounds(s, f, dots, &a, &b, e);

	if (rc != 0)
		return rc;
	v->down = a > b;
	v->lo = v->down ? b : a;
	v->hi = v->down ? a : b;
	return range_words(s, f, v, e);
}

static int parse_random(const struct vspec *s, const struct form *f, struct vary *v, struct err *e)
{
	int rc = form_only(s, f, RANDOM_WORDS, "random values", e);
	size_t dots = form_dots(f);
	vary_u a, b;

	if (rc != 0)
		return rc;
	v->kind = VARY_RANDOM;
	vary_text_limits(s, &v->lo, &v->hi);
	if (f->len != 0 && dots == SIZE_MAX)
		return vspec_fail(s, EINVAL, (int)f->at, e, f->text,
				  "has no range A..B after random");
	if (f->len != 0) {
		rc = vary_text_bounds(s, f, dots, &a, &b, e);
		if (rc != 0)
			return rc;
		v->lo = a < b ? a : b;
		v->hi = a < b ? b : a;
	}
	rc = random_words(f, v, e);
	if (rc == 0 && v->lo == v->hi)
		*v = (struct vary){.bits = v->bits, .div = 1, .first = v->lo};
	return rc;
}

static int parse_mask(const struct vspec *s, const struct form *f, struct vary *v, struct err *e)
{
	vary_u lo, hi;
	int rc = form_only(s, f, RANDOM_WORDS | BIT(FORM_MASK), "a mask", e);

	v->kind = VARY_MASK;
	if (rc == 0)
		rc = vary_text_one(s, f, f->at, f->len, &v->first, e);
	if (rc == 0)
		rc = vary_text_amount(s, f, FORM_MASK, &v->mask, e);
	if (rc == 0)
		rc = random_words(f, v, e);
	if (rc != 0)
		return rc;
	vary_text_limits(s, &lo, &hi);
	if ((v->first & ~v->mask) < lo || (v->first | v->mask) > hi)
		return vspec_fail(s, ERANGE, (int)f->opt[FORM_MASK].at, e, f->text,
				  "gives values outside of the field's limits");
	if (v->mask == 0)
		*v = (struct vary){.bits = v->bits, .div = 1, .first = v->first};
	return 0;
}

/* Reads a prefix, which is all its addresses. With bits beside the prefix it is this one address,
 * written as interfaces are given theirs (Pktgen's habit), and *one becomes true. */
int vary_text_prefix(const struct vspec *s, const struct form *f, size_t slash, struct vary *v,
		     bool *one, struct err *e)
{
	const struct vspec length = {.type = &vt_uint, .max = vary_text_width(s)};
	uint64_t n;
	vary_u host;
	int rc = vary_text_one(s, f, f->at, slash - f->at, &v->first, e);

	if (rc != 0)
		return rc;
	if (form_value(f, &length, slash + 1, f->at + f->len - slash - 1, &n, NULL) != 0)
		return vspec_fail(s, ERANGE, (int)slash + 1, e, f->text,
				  "has a prefix length that is not 0 to %u", vary_text_width(s));
	host = n == 0 ? top_of(vary_text_width(s))
		      : top_of(vary_text_width(s)) & (((vary_u)1 << (vary_text_width(s) - n)) - 1);
	if (n == vary_text_width(s))
		host = 0;
	if ((v->first & host) != 0) {
		*one = true;
		return form_only(s, f, 0, "one address; a prefix has no bits beside its length", e);
	}
	v->lo = v->first;
	v->hi = v->first | host;
	return range_words(s, f, v, e);
}

/* The text that a wrong single value may have been meant as, or NULL. */
static const char *vary_text_meant(const struct vspec *s, const char *text, char *buf, size_t size)
{
	static const char *const forms[] = {"random", "list"};
	size_t n = strcspn(text, " \t");
	uint8_t v[VT_FIELD_BYTES];
	char word[16] = "";
	const char *dash = strchr(text, '-');

	if (dash != NULL && dash > text && strlen(text) + 2 < size && s->of->type != &vt_mac) {
		struct form f = {.text = text};
		if (form_value(&f, s->of, 0, (size_t)(dash - text), v, NULL) == 0 &&
		    form_value(&f, s->of, (size_t)(dash - text) + 1, strlen(dash + 1), v, NULL) ==
			    0) {
			snprintf(buf, size, "%.*s..%s", (int)(dash - text), text, dash + 1);
			return buf;
		}
	}
	if (n == 0 || n >= sizeof(word) || !isalpha((unsigned char)text[0]))
		return NULL;
	memcpy(word, text, n);
	return strcmp(word, "rand") == 0 || strcmp(word, "rnd") == 0
		       ? "random"
		       : str_nearest(word, forms, ARRAY_SIZE(forms));
}

/* Reads a single value. If that fails because of a limit, the error is that of the type of the
 * value; otherwise the error names all forms that are allowed here. */
static int parse_single(const struct vspec *s, const struct form *f, struct vary *v, struct err *e)
{
	struct vtype type = *s->of->type;
	struct vspec base = *s->of;
	char buf[128];
	int rc = form_only(s, f, 0, "a single value; a range is A..B", e);

	type.allowed = allowed_put;
	base.type = &type;
	base.of = s->of;
	if (rc != 0)
		return rc;
	struct vspec wide = {.type = s->type, .of = &base};
	rc = vary_text_one(s, f, f->at, f->len, &v->first, e);
	if (rc == 0 || rc == -ERANGE)
		return rc;
	rc = vary_text_one(&wide, f, f->at, f->len, &v->first, e);
	const char *hint = f->at == 0 ? vary_text_meant(s, f->text, buf, sizeof(buf)) : NULL;
	if (hint != NULL)
		return vspec_fail(s, EINVAL, 0, e, f->text, "is unknown, did you mean \"%s\"",
				  hint);
	return rc;
}

static int vary_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct vary_val *val = out;
	struct vary v = {.bits = (uint8_t)vary_text_width(s), .div = 1};
	vary_u *list = NULL;
	struct form f;
	bool one = false;

	if (s->found && strcmp(text, FOUND_WORD) == 0) {
		v.first = 0;
		val->v = v;
		val->one_of_prefix = false;
		val->found = true;
		return 0;
	}
	int rc = form_scan(s, text, BIT(FORM_NWORDS) - 1, &f, e);

	if (rc != 0)
		return rc;
	size_t dots = form_dots(&f);
	const char *slash = vary_text_is_ip(s) ? memchr(text + f.at, '/', f.len) : NULL;
	if (f.random)
		rc = parse_random(s, &f, &v, e);
	else if (f.list)
		rc = vary_text_list(s, &f, &v, &list, e);
	else if (f.opt[FORM_MASK].len != 0)
		rc = parse_mask(s, &f, &v, e);
	else if (vary_text_is_list(s, &f))
		rc = vary_text_list(s, &f, &v, &list, e);
	else if (dots != SIZE_MAX)
		rc = parse_range(s, &f, dots, &v, e);
	else if (slash != NULL)
		rc = vary_text_prefix(s, &f, (size_t)(slash - text), &v, &one, e);
	else
		rc = parse_single(s, &f, &v, e);
	if (rc != 0)
		return rc;
	val->v = v;
	val->one_of_prefix = one;
	val->found = false;
	val->v.list = NULL;
	if (list != NULL) {
		memcpy(val->list, list, v.n * sizeof(*list));
		val->v.list = val->list;
		free(list);
	}
	return 0;
}

/* print */

void vary_text_put(const struct vspec *s, vary_u x, struct sbuf *out)
{
	uint8_t v[VT_FIELD_BYTES];

	vary_store(x, v);
	s->of->type->print(s->of, v, out);
}

static void put_number(vary_u x, bool hex, struct sbuf *out)
{
	const struct vspec number = {.type = &vt_fuint, .bits = 128};
	uint8_t v[VT_FIELD_BYTES];

	vary_store(x, v);
	if (hex && x <= UINT64_MAX)
		sbuf_addf(out, "0x%" PRIx64, (uint64_t)x);
	else
		vt_fuint.print(&number, v, out);
}

/* Appends a bound. For flags it is a number, because their names have commas between them. */
static void put_bound(const struct vspec *s, vary_u x, struct sbuf *out)
{
	if (vary_text_is_flags(s))
		put_number(x, true, out);
	else
		vary_text_put(s, x, out);
}

/* Appends a step or a mask. A small step is easier to read as a number, a large one of addresses as
 * an address. */
static void put_amount(const struct vspec *s, vary_u x, bool hex, struct sbuf *out)
{
	if (s->of->type == &vt_fuint || vary_text_is_flags(s) || (!hex && x < 256))
		put_number(x, hex, out);
	else
		vary_text_put(s, x, out);
}

static void put_range(const struct vspec *s, const struct vary *v, struct sbuf *out)
{
	vary_u span = v->hi - v->lo, base = v->down ? v->hi : v->lo;
	unsigned len = vary_text_width(s);

	/* from four addresses on a prefix is easier to read than its bounds */
	if (vary_text_is_ip(s) && !v->down && span >= 3 && (span & (span + 1)) == 0 &&
	    (v->lo & span) == 0) {
		for (vary_u host = span; host != 0; host >>= 1)
			len--;
		vary_text_put(s, v->lo, out);
		sbuf_addf(out, "/%u", len);
	} else {
		put_bound(s, base, out);
		sbuf_add(out, "..");
		put_bound(s, v->down ? v->lo : v->hi, out);
	}
	if (v->step != 1) {
		sbuf_add(out, " step ");
		put_amount(s, v->step, false, out);
	}
	if (v->first != base) {
		sbuf_add(out, " from ");
		put_bound(s, v->first, out);
	}
}

static void put_random_words(const struct vary *v, struct sbuf *out)
{
	if (v->repeat != 0)
		sbuf_addf(out, " repeat %" PRIu64, v->repeat);
	if (v->seed != 0)
		sbuf_addf(out, " seed %" PRIu64, v->seed);
}

static void put_random(const struct vspec *s, const struct vary *v, struct sbuf *out)
{
	vary_u lo, hi;

	vary_text_limits(s, &lo, &hi);
	sbuf_add(out, "random");
	if (v->lo != lo || v->hi != hi) {
		sbuf_addc(out, ' ');
		put_bound(s, v->lo, out);
		sbuf_add(out, "..");
		put_bound(s, v->hi, out);
	}
	put_random_words(v, out);
}

static void vary_print(const struct vspec *s, const void *val, struct sbuf *out)
{
	const struct vary *v = &((const struct vary_val *)val)->v;

	if (s->found && ((const struct vary_val *)val)->found) {
		sbuf_add(out, FOUND_WORD);
		return;
	}
	switch (v->kind) {
	case VARY_RANGE:
		put_range(s, v, out);
		break;
	case VARY_LIST:
		vary_text_put_list(s, v, out);
		break;
	case VARY_RANDOM:
		put_random(s, v, out);
		break;
	case VARY_MASK:
		vary_text_put(s, v->first, out);
		sbuf_add(out, " mask ");
		put_amount(s, v->mask, true, out);
		put_random_words(v, out);
		break;
	default:
		vary_text_put(s, v->first, out);
		break;
	}
}

static void vary_complete(const struct vspec *s, const char *prefix,
			  void (*offer)(void *, const char *), void *arg)
{
	if (s->found && strncmp(FOUND_WORD, prefix, strlen(prefix)) == 0)
		offer(arg, FOUND_WORD);
	if (s->of->type->complete != NULL && strpbrk(prefix, " \t") == NULL)
		s->of->type->complete(s->of, prefix, offer, arg);
	/* an address with a length is a range */
	unsigned single = BIT(FORM_MASK) |
			  (vary_text_is_ip(s) && strchr(prefix, '/') != NULL ? RANGE_WORDS : 0);
	form_complete(prefix, RANGE_WORDS, RANDOM_WORDS, single, offer, arg);
}

static enum vplain vary_plain(const struct vspec *s, const void *val, double *out)
{
	const struct vary *v = &((const struct vary_val *)val)->v;
	uint8_t one[VT_FIELD_BYTES];

	enum vplain (*plain)(const struct vspec *, const void *, double *) = s->of->type->plain;

	/* the type of a value is never vt_vary, whose values are larger than `one`: without this
	 * test compilers warn */
	if (s->found && ((const struct vary_val *)val)->found)
		return VPLAIN_TEXT;
	if (v->kind != VARY_FIXED || plain == NULL || plain == vary_plain)
		return VPLAIN_TEXT;
	vary_store(v->first, one);
	return plain(s->of, one, out);
}

const struct vtype vt_vary = {
	.name = "variation",
	.syntax = "V | A..B [step S] [from F] | A,B,C | A:W,B:W | random [A..B] | V mask M",
	.size = sizeof(struct vary_val),
	.parse = vary_parse,
	.print = vary_print,
	.complete = vary_complete,
	.allowed = allowed_put,
	.plain = vary_plain};
