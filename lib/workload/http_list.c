/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of choices with weights, for settings of HTTP: "/a:7,/b:2,/c:1". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "http_make.h"
#include "value.h"

/* Splits the weight from an item of n bytes, and returns how long the rest is; 0: the weight is
 * none. The weight stands behind the last colon, of a host behind the second one. */
static size_t list_weight(const char *item, size_t n, bool host, uint32_t *weight)
{
	size_t at = n, colons = 0;
	const char *end = memchr(item, ']', n); /* an IPv6 address has colons of its own */
	uint64_t v = 0;

	*weight = 1;
	for (size_t i = end != NULL && host ? (size_t)(end - item) : 0; i < n; i++) {
		if (item[i] != ':')
			continue;
		colons++;
		at = i;
	}
	if (at == n || (host && colons < 2))
		return n;
	for (size_t i = at + 1; i < n; i++) {
		if (item[i] < '0' || item[i] > '9')
			return host ? 0 : n;
		v = v * 10 + (uint64_t)(item[i] - '0');
		if (v > WL_HTTP_PICKS)
			return 0;
	}
	if (at + 1 == n || v == 0)
		return 0;
	*weight = (uint32_t)v;
	return host && item[at - 1] == ':' ? at - 1 : at;
}

static int list_item(struct http_list *l, const char *what, const char *text, size_t at, size_t n,
		     bool host, struct err *e)
{
	uint32_t weight;
	size_t len = list_weight(text + at, n, host, &weight);
	struct http_item *i;

	if (n == 0 || len == 0)
		return err_at(e, EINVAL, (int)at,
			      "%s \"%s\": \"%.*s\" is no choice; choices are separated by commas, "
			      "each with a weight from 1 to %u if it has one, as in A%s:7,B%s:1",
			      what, text, (int)n, text + at, WL_HTTP_PICKS, host ? ":" : "",
			      host ? ":" : "");
	if (l->n == WL_HTTP_CHOICES)
		return err_at(e, ERANGE, (int)at, "%s: more than %u choices", what,
			      WL_HTTP_CHOICES);
	l->item = xrealloc(l->item, (l->n + 1) * sizeof(*l->item));
	i = &l->item[l->n++];
	*i = (struct http_item){.text = xcalloc(1, len + 1), .weight = weight, .col = (int)at};
	memcpy(i->text, text + at, len);
	l->total += weight;
	return 0;
}

/* Divides all weights by what they have in common. */
static void list_reduce(struct http_list *l)
{
	uint64_t divisor = 0;

	for (unsigned i = 0; i < l->n; i++)
		divisor = gcd(l->item[i].weight, divisor);
	for (unsigned i = 0; i < l->n; i++)
		l->item[i].weight /= (uint32_t)divisor;
	l->total /= divisor;
}

int http_list_parse(struct http_list *l, const char *what, const char *text, bool host,
		    struct err *e)
{
	size_t at = 0, n;
	int rc;

	for (;; at += n + 1) {
		n = strcspn(text + at, ",");
		rc = list_item(l, what, text, at, n, host, e);
		if (rc != 0)
			return rc;
		if (text[at + n] == '\0')
			break;
	}
	list_reduce(l);
	return 0;
}

static unsigned list_values(const struct wl_vary_item *it, unsigned most)
{
	if (it->hi - it->lo < most)
		return (unsigned)(it->hi - it->lo) + 1;
	return most < 2 ? 2 : most;
}

static void list_add_values(struct http_list *l, const struct wl_vary_item *it, unsigned values,
			    uint32_t weight)
{
	l->item = xrealloc(l->item, (l->n + values) * sizeof(*l->item));
	for (unsigned k = 0; k < values; k++) {
		uint64_t far = (it->hi - it->lo) * k / (values > 1 ? values - 1 : 1);

		l->item[l->n++] = (struct http_item){.number = it->lo + far, .weight = weight};
		l->total += weight;
	}
}

void http_list_sizes(struct http_list *l, const struct wl_vary *v, unsigned most)
{
	const struct wl_vary_item only = {.lo = v->least, .hi = v->most, .weight = 1};
	const struct wl_vary_item *item = v->n != 0 ? v->item : &only;
	unsigned n = v->n != 0 ? v->n : 1;
	uint64_t share = 1; /* a multiple of all numbers of values, so that each has a whole one */

	for (unsigned i = 0; i < n && share <= WL_HTTP_PICKS; i++)
		share *= list_values(&item[i], most) / gcd(share, list_values(&item[i], most));
	if (share > WL_HTTP_PICKS)
		share = WL_HTTP_PICKS + 1; /* too many are too many */
	for (unsigned i = 0; i < n; i++) {
		unsigned values = list_values(&item[i], most);

		list_add_values(l, &item[i], values, (uint32_t)(share / values) * item[i].weight);
	}
	list_reduce(l);
}

int http_list_numbers(struct http_list *l, const char *what, uint64_t least, uint64_t most,
		      struct err *e)
{
	const struct vspec spec = {.type = &vt_uint};
	struct err why;

	for (unsigned i = 0; i < l->n; i++) {
		struct http_item *it = &l->item[i];

		if (vt_uint.parse(&spec, it->text, &it->number, &why) != 0)
			return err_at(e, EINVAL, it->col, "%s: %s", what, why.text);
		if (it->number < least || it->number > most)
			return err_at(e, ERANGE, it->col, "%s: %s is not from %llu to %llu", what,
				      it->text, (unsigned long long)least,
				      (unsigned long long)most);
	}
	return 0;
}

void http_list_free(struct http_list *l)
{
	for (unsigned i = 0; i < l->n; i++)
		free(l->item[i].text);
	free(l->item);
	*l = (struct http_list){0};
}

/* Puts the choices in an order in which each comes as often as it weighs, and equal ones lie apart:
 * steps of a golden section go once through all places. */
uint16_t *http_list_order(const uint32_t *weight, unsigned n, uint32_t total)
{
	uint16_t *pick = xcalloc(total, sizeof(*pick));
	uint64_t at = 0, step = (uint64_t)((double)total * 0.618033988749895);

	while (total > 1 && (step == 0 || gcd(step, total) != 1))
		step++;
	for (unsigned i = 0; i < n; i++) {
		for (uint32_t k = 0; k < weight[i]; k++) {
			pick[at] = (uint16_t)i;
			at = (at + step) % total;
		}
	}
	return pick;
}
