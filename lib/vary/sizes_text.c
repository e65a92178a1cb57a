/* SPDX-License-Identifier: BSD-3-Clause */
/* vt_sizes: frame sizes as text. */
#include "form.h"
#include "sizes.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define RANGE_WORDS (1u << FORM_STEP | 1u << FORM_FROM)
#define RANDOM_WORDS (1u << FORM_REPEAT | 1u << FORM_SEED)

/* The sizes of letters a to h: RFC 6985 section 4, table 1 */
static const uint16_t letter_size[] = {64, 128, 256, 512, 1024, 1280, 1518, 2112};
/* The mix that generators call simple IMIX, as Ethernet sizes with FCS */
static const struct {
	uint16_t size, weight;
} imix[] = {{64, 7}, {570, 4}, {1518, 1}};

static int one_size(const struct vspec *s, const struct form *f, size_t at, size_t len,
		    uint16_t *out, struct err *e)
{
	const struct vspec one = {.type = &vt_size, .min = s->min, .max = s->max};
	int rc = form_value(f, &one, at, len, out, e);

	if (rc == 0 && *out == 0)
		return vspec_fail(s, EINVAL, (int)at, e, f->text,
				  "has auto beside other words; it stands alone");
	return rc;
}

static void size_allowed(const struct vspec *s, struct sbuf *out)
{
	const struct vspec one = {.type = &vt_size, .min = s->min, .max = s->max};

	vspec_allowed(&one, out);
	sbuf_add(
		out,
		"; or A..B [step S] [from F] | A,B,C | A:W,B:W | imix [LETTERS] | random A..B [repeat N] [seed S]");
}

static int sizes_text_bounds(const struct vspec *s, const struct form *f, struct sizes *z,
			     struct err *e)
{
	size_t dots = form_dots(f), right = dots + 2 + strspn(f->text + dots + 2, " \t"),
	       left = dots;
	uint16_t a, b;

	while (left > f->at && (f->text[left - 1] == ' ' || f->text[left - 1] == '\t'))
		left--;
	int rc = one_size(s, f, f->at, left - f->at, &a, e);
	if (rc == 0)
		rc = one_size(s, f, right, f->at + f->len - right, &b, e);
	if (rc != 0)
		return rc;
	z->down = a > b;
	z->lo = z->down ? b : a;
	z->hi = z->down ? a : b;
	return 0;
}

static int parse_range(const struct vspec *s, const struct form *f, struct sizes *z, struct err *e)
{
	uint64_t step = 1;
	uint16_t first = 0;
	int rc = form_only(s, f, RANGE_WORDS, "a range", e);

	if (rc == 0)
		rc = sizes_text_bounds(s, f, z, e);
	if (rc == 0)
		rc = form_number(f, FORM_STEP, UINT16_MAX, &step, e);
	if (rc == 0 && f->opt[FORM_FROM].len != 0)
		rc = one_size(s, f, f->opt[FORM_FROM].at, f->opt[FORM_FROM].len, &first, e);
	if (rc != 0)
		return rc;
	if (first != 0 && (first < z->lo || first > z->hi))
		return vspec_fail(s, ERANGE, (int)f->opt[FORM_FROM].at, e, f->text,
				  "begins outside of its own range");
	z->kind = SIZES_RANGE;
	z->step = (uint16_t)step;
	if (first != (z->down ? z->hi : z->lo))
		z->first = first;
	if (z->first == 0 && z->hi - z->lo < z->step) {
		uint16_t one = z->down ? z->hi : z->lo;
		*z = (struct sizes){.kind = SIZES_FIXED, .n = 1, .item = {{one, 1}}};
	}
	return 0;
}

static int parse_random(const struct vspec *s, const struct form *f, struct sizes *z, struct err *e)
{
	int rc = form_only(s, f, RANDOM_WORDS, "random sizes", e);

	if (rc == 0 && form_dots(f) == SIZE_MAX)
		return vspec_fail(s, EINVAL, (int)f->at, e, f->text,
				  "has no range A..B after random");
	z->kind = SIZES_RANDOM;
	z->repeat = SIZES_RANDOM_REPEAT;
	if (rc == 0)
		rc = sizes_text_bounds(s, f, z, e);
	if (rc == 0)
		rc = form_number(f, FORM_REPEAT, SIZES_MAX_COUNT, &z->repeat, e);
	if (rc == 0)
		rc = form_number(f, FORM_SEED, UINT64_MAX, &z->seed, e);
	z->down = false;
	if (rc == 0 && z->lo == z->hi)
		*z = (struct sizes){.kind = SIZES_FIXED, .n = 1, .item = {{z->lo, 1}}};
	return rc;
}

static int list_item(const struct vspec *s, const struct form *f, size_t at, size_t len,
		     struct sizes *z, struct err *e)
{
	const struct vspec weights = {.type = &vt_uint, .min = 1, .max = UINT16_MAX};
	const char *colon = memchr(f->text + at, ':', len);
	size_t size = colon != NULL ? (size_t)(colon - f->text) - at : len;
	uint64_t w = 1;

	if (len == 0)
		return vspec_fail(s, EINVAL, (int)at, e, f->text, "has an empty place in its list");
	if (z->n == SIZES_MAX_ITEMS)
		return vspec_fail(s, ERANGE, (int)at, e, f->text, "has more than %d sizes",
				  SIZES_MAX_ITEMS);
	int rc = one_size(s, f, at, size, &z->item[z->n].size, e);
	if (rc == 0 && colon != NULL)
		rc = form_value(f, &weights, at + size + 1, len - size - 1, &w, e);
	z->item[z->n].weight = (uint16_t)w;
	z->n += rc == 0;
	return rc;
}

static int parse_list(const struct vspec *s, const struct form *f, struct sizes *z, struct err *e)
{
	size_t at = f->at, item, len;
	int rc = form_only(s, f, 0, "a list", e);

	z->kind = SIZES_LIST;
	while (rc == 0 && form_item(f, &at, &item, &len))
		rc = list_item(s, f, item, len, z, e);
	if (rc == 0 && sizes_count(z) > SIZES_MAX_COUNT)
		return vspec_fail(s, ERANGE, (int)f->at, e, f->text,
				  "has weights that add up to more than %d frames",
				  SIZES_MAX_COUNT);
	if (rc == 0 && z->n == 1) {
		z->kind = SIZES_FIXED;
		z->item[0].weight = 1;
	}
	return rc;
}

static int too_small_for_imix(const struct vspec *s, const char *text, unsigned size, int col,
			      struct err *e)
{
	return vspec_fail(s, ERANGE, col, e, text,
			  "holds a frame of %u bytes, which is not allowed here", size);
}

static bool size_fits(const struct vspec *s, unsigned size)
{
	return (s->min == 0 && s->max == 0) || (size >= s->min && size <= s->max);
}

/* Reads "imix" and what follows it. */
static int parse_imix(const struct vspec *s, const char *text, struct sizes *z, struct err *e)
{
	size_t i = 4 + strspn(text + 4, " \t"), end = i + strcspn(text + i, " \t");

	z->kind = SIZES_LIST;
	for (unsigned k = 0; text[i] == '\0' && k < ARRAY_SIZE(imix); k++) {
		if (!size_fits(s, imix[k].size))
			return too_small_for_imix(s, text, imix[k].size, 0, e);
		z->item[z->n].size = imix[k].size;
		z->item[z->n++].weight = imix[k].weight;
	}
	for (; i < end; i++) {
		unsigned k = (unsigned)(text[i] - 'a');
		if (text[i] < 'a' || k >= ARRAY_SIZE(letter_size))
			return vspec_fail(s, EINVAL, (int)i, e, text,
					  "has a letter that is not one of a to h");
		if (z->n == SIZES_MAX_ITEMS)
			return vspec_fail(s, ERANGE, (int)i, e, text, "has more than %d letters",
					  SIZES_MAX_ITEMS);
		if (!size_fits(s, letter_size[k]))
			return too_small_for_imix(s, text, letter_size[k], (int)i, e);
		z->item[z->n].size = letter_size[k];
		z->item[z->n++].weight = 1;
	}
	if (text[end + strspn(text + end, " \t")] != '\0')
		return vspec_fail(s, EINVAL, (int)(end + strspn(text + end, " \t")), e, text,
				  "has more after its letters");
	if (z->n == 1)
		z->kind = SIZES_FIXED;
	return 0;
}

static bool starts_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	return strncmp(text, word, n) == 0 &&
	       (text[n] == '\0' || text[n] == ' ' || text[n] == '\t');
}

/* Reads a single size. If that fails because of a limit, the error is that of the size type;
 * otherwise the error names all forms that are allowed here. */
static int parse_single(const struct vspec *s, const struct form *f, struct sizes *z, struct err *e)
{
	static const char *const forms[] = {"imix", "random", "list", "auto"};
	struct vtype type = vt_size;
	const struct vspec one = {.type = &type, .min = s->min, .max = s->max},
			   base = {.type = &vt_size, .min = s->min, .max = s->max};
	int rc = form_only(s, f, 0, "a single size; a range is A..B", e);
	char word[16] = "";

	type.allowed = size_allowed;
	if (rc != 0)
		return rc;
	rc = form_value(f, &base, f->at, f->len, &z->item[0].size, e);
	if (rc != 0 && rc != -ERANGE)
		rc = form_value(f, &one, f->at, f->len, &z->item[0].size, e);
	size_t n = strcspn(f->text, " \t0123456789");
	if (rc != 0 && n > 1 && n < sizeof(word)) {
		memcpy(word, f->text, n);
		const char *near = str_nearest(word, forms, ARRAY_SIZE(forms));
		if (near != NULL)
			return vspec_fail(s, EINVAL, 0, e, f->text,
					  "is unknown, did you mean \"%s\"", near);
	}
	if (rc == 0 && z->item[0].size != 0) {
		z->kind = SIZES_FIXED;
		z->n = 1;
		z->item[0].weight = 1;
	}
	return rc;
}

static int sizes_one(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct sizes z = {.kind = SIZES_AUTO};
	struct form f;
	int rc;

	if (starts_word(text, "imix")) {
		rc = parse_imix(s, text, &z, e);
	} else {
		rc = form_scan(s, text, RANGE_WORDS | RANDOM_WORDS, &f, e);
		if (rc != 0)
			return rc;
		if (f.random)
			rc = parse_random(s, &f, &z, e);
		else if (f.list || memchr(text + f.at, ',', f.len) != NULL ||
			 memchr(text + f.at, ':', f.len) != NULL)
			rc = parse_list(s, &f, &z, e);
		else if (form_dots(&f) != SIZE_MAX)
			rc = parse_range(s, &f, &z, e);
		else
			rc = parse_single(s, &f, &z, e);
	}
	if (rc == 0)
		memcpy(out, &z, sizeof(z));
	return rc;
}

static int sizes_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(sizes_one, s, text, out, e);
}

static bool is_imix(const struct sizes *z)
{
	for (unsigned i = 0; i < ARRAY_SIZE(imix); i++)
		if (z->n != ARRAY_SIZE(imix) || z->item[i].size != imix[i].size ||
		    z->item[i].weight != imix[i].weight)
			return false;
	return true;
}

static void put_list(const struct sizes *z, struct sbuf *out)
{
	bool weights = false;

	if (is_imix(z)) {
		sbuf_add(out, "imix");
		return;
	}
	for (unsigned i = 0; i < z->n; i++)
		weights |= z->item[i].weight != 1;
	for (unsigned i = 0; i < z->n; i++) {
		sbuf_addf(out, "%s%u", i > 0 ? "," : "", z->item[i].size);
		if (weights)
			sbuf_addf(out, ":%u", z->item[i].weight);
	}
}

static void sizes_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct sizes *z = v;

	(void)s;
	switch (z->kind) {
	case SIZES_FIXED:
		sbuf_addf(out, "%u", z->item[0].size);
		break;
	case SIZES_RANGE:
		sbuf_addf(out, "%u..%u", z->down ? z->hi : z->lo, z->down ? z->lo : z->hi);
		if (z->step != 1)
			sbuf_addf(out, " step %u", z->step);
		if (z->first != 0)
			sbuf_addf(out, " from %u", z->first);
		break;
	case SIZES_LIST:
		put_list(z, out);
		break;
	case SIZES_RANDOM:
		sbuf_addf(out, "random %u..%u", z->lo, z->hi);
		if (z->repeat != SIZES_RANDOM_REPEAT)
			sbuf_addf(out, " repeat %" PRIu64, z->repeat);
		if (z->seed != 0)
			sbuf_addf(out, " seed %" PRIu64, z->seed);
		break;
	default:
		sbuf_add(out, "auto");
		break;
	}
}

static void sizes_complete(const struct vspec *s, const char *prefix,
			   void (*offer)(void *, const char *), void *arg)
{
	const struct vspec one = {.type = &vt_size, .min = s->min, .max = s->max};

	if (strpbrk(prefix, " \t") == NULL) {
		vt_size.complete(&one, prefix, offer, arg);
		if (strncmp("imix", prefix, strlen(prefix)) == 0)
			offer(arg, "imix");
	}
	form_complete(prefix, RANGE_WORDS, RANDOM_WORDS, 0, offer, arg);
}

static enum vplain sizes_plain(const struct vspec *s, const void *v, double *out)
{
	const struct sizes *z = v;

	(void)s;
	if (z->kind != SIZES_FIXED)
		return VPLAIN_TEXT;
	*out = z->item[0].size;
	return VPLAIN_NUMBER;
}

const struct vtype vt_sizes = {
	.name = "sizes",
	.syntax =
		"N | A..B [step S] [from F] | A,B,C | A:W,B:W | imix [LETTERS] | random A..B | auto",
	.size = sizeof(struct sizes),
	.parse = sizes_parse,
	.print = sizes_print,
	.complete = sizes_complete,
	.allowed = size_allowed,
	.plain = sizes_plain};
