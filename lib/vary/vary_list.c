/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of values as text, with their weights. First parsing, then printing. */
#include "vary_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Reads an item of a list. The flags of an item are joined by |, which their own type wants as a
 * comma. */
static int list_item(const struct vspec *s, const struct form *f, size_t at, size_t len,
		     vary_u *out, struct err *e)
{
	char buf[256];
	struct form part = {.text = buf};

	if (!vary_text_is_flags(s) || len >= sizeof(buf))
		return vary_text_one(s, f, at, len, out, e);
	for (size_t i = 0; i < len; i++)
		buf[i] = f->text[at + i] == '|' ? ',' : f->text[at + i];
	buf[len] = '\0';
	int rc = vary_text_one(s, &part, 0, len, out, e);
	if (rc != 0 && e != NULL)
		e->col += (int)at;
	return rc;
}

/* The values of a list as they were written, each with its weight. */
struct list_text {
	vary_u *value; /* [VARY_LIST_MAX] */
	uint32_t *weight, n;
	bool weighted;
};
#define LIST_WEIGHT_MAX 65535

/* Cuts the weight off an item: "V:W", or "[V]:W" of values that have colons. *w: 1 without one. */
static int list_weight(const struct vspec *s, const struct form *f, size_t *at, size_t *len,
		       uint32_t *w, struct err *e)
{
	const struct vspec number = {.type = &vt_uint, .min = 0, .max = LIST_WEIGHT_MAX};
	const char *text = f->text + *at, *colon = memchr(text, ':', *len), *close = NULL;
	size_t end = *at + *len, from;
	uint64_t n;

	*w = 1;
	if (vary_text_is_flags(s) || (vary_text_has_colons(s) && text[0] != '['))
		return 0;
	if (vary_text_has_colons(s)) {
		close = memchr(text, ']', *len);
		if (close == NULL || (close + 1 < f->text + end && close[1] != ':'))
			return vspec_fail(s, EINVAL, (int)*at, e, f->text,
					  "has a bracket and no \"]:WEIGHT\" behind it");
		colon = close + 1 < f->text + end ? close + 1 : NULL;
		(*at)++;
	}
	*len = (size_t)((close != NULL   ? close
			 : colon != NULL ? colon
					 : f->text + end) -
			f->text) -
	       *at;
	if (colon == NULL)
		return 0;
	from = (size_t)(colon + 1 - f->text);
	int rc = form_value(f, &number, from, end - from, &n, NULL);
	if (rc < 0 || n == 0)
		return vspec_fail(s, ERANGE, (int)from, e, f->text,
				  rc < 0 ? "has a weight that is not 1 to %u"
					 : "has a weight of 0: 1 to %u, or leave the value out",
				  LIST_WEIGHT_MAX);
	*w = (uint32_t)n;
	return 1;
}

/* The first and the last value of an item: one value, A..B, or a prefix. */
static int list_bounds(const struct vspec *s, const struct form *f, size_t at, size_t len,
		       vary_u *lo, vary_u *hi, struct err *e)
{
	struct form part = {.text = f->text, .at = at, .len = len};
	const char *slash = vary_text_is_ip(s) ? memchr(f->text + at, '/', len) : NULL;
	size_t dots = vary_text_is_flags(s) ? SIZE_MAX : form_dots(&part);
	struct vary v = {.bits = (uint8_t)vary_text_width(s), .div = 1};
	bool one = false;
	int rc;

	if (dots != SIZE_MAX)
		return vary_text_bounds(s, &part, dots, lo, hi, e);
	if (slash == NULL) {
		rc = list_item(s, f, at, len, lo, e);
		*hi = *lo;
		return rc;
	}
	rc = vary_text_prefix(s, &part, (size_t)(slash - f->text), &v, &one, e);
	*lo = v.kind == VARY_RANGE ? v.lo : v.first;
	*hi = v.kind == VARY_RANGE ? v.hi : v.first;
	return rc;
}

static int list_add(const struct vspec *s, const struct form *f, size_t at, size_t len,
		    struct list_text *l, struct err *e)
{
	size_t item = at;
	vary_u lo = 0, hi = 0;
	uint32_t w;

	if (len == 0)
		return vspec_fail(s, EINVAL, (int)item, e, f->text,
				  "has an empty place in its list");
	int rc = list_weight(s, f, &at, &len, &w, e);
	if (rc < 0)
		return rc;
	l->weighted |= rc > 0;
	rc = list_bounds(s, f, at, len, &lo, &hi, e);
	for (vary_u x = lo; rc == 0; x = lo < hi ? x + 1 : x - 1) {
		if (l->n == VARY_LIST_MAX)
			return vspec_fail(s, ERANGE, (int)item, e, f->text,
					  "has more than %d values", VARY_LIST_MAX);
		l->value[l->n] = x;
		l->weight[l->n++] = w;
		if (x == hi)
			break;
	}
	return rc;
}

/* Values that are written twice are one with both weights. Returns the sum of all weights, by what
 * they have in common. */
static uint64_t list_merge(struct list_text *l)
{
	uint32_t n = 0, by = 0;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t k = 0;
		while (k < n && l->value[k] != l->value[i])
			k++;
		l->value[k] = l->value[i];
		l->weight[k] = k < n ? l->weight[k] + l->weight[i] : l->weight[i];
		n += k == n;
	}
	l->n = n;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t rest = l->weight[i]; rest != 0;) {
			uint32_t was = rest;
			rest = by % rest;
			by = was;
		}
	for (uint32_t i = 0; i < n; i++)
		sum += l->weight[i] /= by;
	return sum;
}

/* Puts each value into the list as often as it weighs: number r of one that weighs w comes at r / w
 * of the round, and of those at the same time the one that was written first. */
static void list_spread(const struct list_text *l, uint32_t total, vary_u *out)
{
	uint32_t *done = xcalloc(l->n, sizeof(*done));

	for (uint32_t i = 0; i < total; i++) {
		uint32_t best = 0;
		for (uint32_t k = 1; k < l->n; k++)
			if ((uint64_t)done[k] * l->weight[best] <
			    (uint64_t)done[best] * l->weight[k])
				best = k;
		out[i] = l->value[best];
		done[best]++;
	}
	free(done);
}

static int list_settle(const struct vspec *s, const struct form *f, struct list_text *l,
		       struct vary *v, vary_u *all, struct err *e)
{
	uint64_t total = l->n;

	if (l->weighted)
		total = list_merge(l);
	if (total > VARY_LIST_MAX)
		return vspec_fail(s, ERANGE, (int)f->at, e, f->text,
				  "has weights that add up to %" PRIu64
				  ", and at most %d are possible",
				  total, VARY_LIST_MAX);
	v->weighted = l->weighted && total > l->n;
	v->n = (uint32_t)total;
	v->first = l->value[0];
	if (v->weighted)
		list_spread(l, v->n, all);
	else
		memcpy(all, l->value, l->n * sizeof(*all));
	return 0;
}

int vary_text_list(const struct vspec *s, const struct form *f, struct vary *v, vary_u **list,
		   struct err *e)
{
	size_t at = f->at, item, len;
	vary_u *all = xcalloc(VARY_LIST_MAX, sizeof(*all));
	struct list_text l = {.value = xcalloc(VARY_LIST_MAX, sizeof(*l.value)),
			      .weight = xcalloc(VARY_LIST_MAX, sizeof(*l.weight))};
	int rc = form_only(s, f, 0, "a list", e);

	while (rc == 0 && form_item(f, &at, &item, &len))
		rc = list_add(s, f, item, len, &l, e);
	rc = rc == 0 ? list_settle(s, f, &l, v, all, e) : rc;
	free(l.value);
	free(l.weight);
	if (rc == 0 && v->n > 1) {
		v->kind = VARY_LIST;
		*list = all;
		return 0;
	}
	v->n = 0;
	free(all);
	return rc;
}

/* Whether the values are a list, which may be one of one item with a weight. */
bool vary_text_is_list(const struct vspec *s, const struct form *f)
{
	const char *text = f->text + f->at;

	if (vary_text_is_flags(s))
		return false;
	return memchr(text, ',', f->len) != NULL ||
	       (vary_text_has_colons(s) ? f->len > 0 && text[0] == '['
					: memchr(text, ':', f->len) != NULL);
}

/* print */

static void put_item(const struct vspec *s, vary_u x, struct sbuf *out)
{
	size_t at = out->len;

	vary_text_put(s, x, out);
	for (; vary_text_is_flags(s) && at < out->len; at++)
		if (out->s[at] == ',')
			out->s[at] = '|';
}

/* How many values of the list from i on go up by one, up to `end`, and weigh the same. */
static uint32_t put_run(const struct vary *v, const uint32_t *weight, uint32_t i, uint32_t end)
{
	uint32_t n = 1;

	while (i + n < end && v->list[i + n] == v->list[i] + n && weight[i + n] == weight[i])
		n++;
	return n;
}

/* Weights are counted: the first of each value come first. */
static uint32_t put_weights(const struct vary *v, uint32_t *weight)
{
	uint32_t end = v->weighted ? 0 : v->n;

	for (uint32_t i = 0; v->weighted && i < v->n; i++) {
		uint32_t k = 0;
		while (k < end && v->list[k] != v->list[i])
			k++;
		weight[k]++;
		end += k == end;
	}
	return end;
}

/* From so many values on bounds are easier to read. */
#define PUT_RUN 4
void vary_text_put_list(const struct vspec *s, const struct vary *v, struct sbuf *out)
{
	uint32_t *weight = xcalloc(v->n, sizeof(*weight)), end = put_weights(v, weight), n;
	bool brackets = v->weighted && vary_text_has_colons(s);
	/* all of it in one run would be a range */
	bool runs = !vary_text_is_flags(s) && (v->weighted || put_run(v, weight, 0, end) < end);

	if (vary_text_is_flags(s))
		sbuf_add(out, "list ");
	for (uint32_t i = 0; i < end; i += n) {
		n = put_run(v, weight, i, end);
		if (n < PUT_RUN || !runs)
			n = 1;
		sbuf_add(out, i > 0 ? "," : "");
		sbuf_add(out, brackets ? "[" : "");
		put_item(s, v->list[i], out);
		if (n > 1) {
			sbuf_add(out, "..");
			put_item(s, v->list[i + n - 1], out);
		}
		sbuf_add(out, brackets ? "]" : "");
		if (v->weighted)
			sbuf_addf(out, ":%u", weight[i]);
	}
	free(weight);
}
