/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that vary as text: "64", "64..1500", "64:7,570:4,1460:1", "1ms..5ms". */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "value.h"
#include "workload.h"

#define VARY_WEIGHT_MAX 65535

struct vary_text {
	const struct vspec *s;
	struct vspec one; /* of each value */
	const char *text;
	struct wl_vary v;
	uint64_t total; /* of the weights */
	struct err *e;
};

/* The spec of each value of a spec of variations. */
static struct vspec vary_one(const struct vspec *s)
{
	bool sizes = s->type != &vt_wl_pauses;
	struct vspec one = {.type = sizes ? &vt_uint : &vt_duration, .min = s->min, .max = s->max};

	if (s->max == 0)
		one.max = sizes ? WL_SIZE_MAX : WL_PAUSE_MAX_NS;
	return one;
}

static size_t vary_skip(const char *text, size_t at, size_t *len)
{
	while (*len > 0 && (text[at] == ' ' || text[at] == '\t')) {
		at++;
		(*len)--;
	}
	while (*len > 0 && (text[at + *len - 1] == ' ' || text[at + *len - 1] == '\t'))
		(*len)--;
	return at;
}

/* A value of a type in a piece of the text, which is quoted in errors. */
static int vary_value(struct vary_text *p, const struct vspec *spec, size_t at, size_t len,
		      uint64_t *out)
{
	char piece[64];
	struct err why;
	int rc;

	at = vary_skip(p->text, at, &len);
	if (len == 0)
		return vspec_fail(p->s, EINVAL, (int)at, p->e, p->text, "lacks a value");
	if (len >= sizeof(piece))
		return vspec_fail(p->s, EINVAL, (int)at, p->e, p->text,
				  "has a value of more than %zu characters", sizeof(piece) - 1);
	memcpy(piece, p->text + at, len);
	piece[len] = '\0';
	rc = spec->type->parse(spec, piece, out, &why);
	return rc == 0 ? 0 : err_at(p->e, -rc, (int)at + why.col, "%s", why.text);
}

/* N, A..B, N:W or A..B:W */
static int vary_item(struct vary_text *p, size_t at, size_t len)
{
	const struct vspec weights = {.type = &vt_uint, .min = 1, .max = VARY_WEIGHT_MAX};
	const char *colon = memchr(p->text + at, ':', len);
	size_t values = colon != NULL ? (size_t)(colon - p->text) - at : len;
	const char *dots = memmem(p->text + at, values, "..", 2);
	size_t first = dots != NULL ? (size_t)(dots - p->text) - at : values;
	struct wl_vary_item *it = &p->v.item[p->v.n];
	uint64_t weight = 1;
	int rc;

	if (p->v.n == WL_VARY_ITEMS)
		return vspec_fail(p->s, ERANGE, (int)at, p->e, p->text, "has more than %d items",
				  WL_VARY_ITEMS);
	rc = vary_value(p, &p->one, at, first, &it->lo);
	it->hi = it->lo;
	if (rc == 0 && dots != NULL)
		rc = vary_value(p, &p->one, at + first + 2, values - first - 2, &it->hi);
	if (rc == 0 && it->hi < it->lo)
		return vspec_fail(p->s, EINVAL, (int)at, p->e, p->text,
				  "has a range that ends below its beginning");
	if (rc == 0 && colon != NULL)
		rc = vary_value(p, &weights, at + values + 1, len - values - 1, &weight);
	it->weight = (uint32_t)weight;
	p->total += weight;
	p->v.n += rc == 0;
	return rc;
}

/* Bounds, and which random numbers choose an item. */
static void vary_finish(struct vary_text *p)
{
	struct wl_vary *v = &p->v;
	uint64_t sum = 0;

	v->least = v->item[0].lo;
	v->most = v->item[0].hi;
	for (unsigned i = 0; i < v->n; i++) {
		struct wl_vary_item *it = &v->item[i];

		if (it->lo < v->least)
			v->least = it->lo;
		if (it->hi > v->most)
			v->most = it->hi;
		sum += it->weight;
		it->upto = (uint32_t)((sum << 32) / p->total - 1);
	}
	if (v->n == 1 && v->least == v->most)
		*v = (struct wl_vary){.least = v->least, .most = v->most};
	else if (v->n == 1)
		v->item[0].weight = 1;
}

static int vary_scan(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct vary_text p = {.s = s, .one = vary_one(s), .text = text, .e = e};
	size_t at = 0, len;
	int rc;

	for (;; at += len + 1) {
		len = strcspn(text + at, ",");
		rc = vary_item(&p, at, len);
		if (rc != 0)
			return rc;
		if (text[at + len] == '\0')
			break;
	}
	vary_finish(&p);
	memcpy(out, &p.v, sizeof(p.v));
	return 0;
}

static void vary_print(const struct vspec *s, const void *value, struct sbuf *out)
{
	const struct vspec one = vary_one(s);
	const struct wl_vary *v = value;
	bool weights = false;

	if (v->n == 0) {
		one.type->print(&one, &v->least, out);
		return;
	}
	for (unsigned i = 0; i < v->n; i++)
		weights |= v->item[i].weight != 1;
	for (unsigned i = 0; i < v->n; i++) {
		const struct wl_vary_item *it = &v->item[i];

		if (i > 0)
			sbuf_addc(out, ',');
		one.type->print(&one, &it->lo, out);
		if (it->lo != it->hi) {
			sbuf_add(out, "..");
			one.type->print(&one, &it->hi, out);
		}
		if (weights)
			sbuf_addf(out, ":%" PRIu32, it->weight);
	}
}

/* Completes the last value, if it has units. */
struct vary_offer {
	const char *prefix;
	size_t head;
	void (*offer)(void *arg, const char *word);
	void *arg;
};

static void vary_offer(void *arg, const char *word)
{
	const struct vary_offer *o = arg;
	struct sbuf whole = {0};

	sbuf_addn(&whole, o->prefix, o->head);
	sbuf_add(&whole, word);
	o->offer(o->arg, sbuf_str(&whole));
	sbuf_free(&whole);
}

static void vary_complete(const struct vspec *s, const char *prefix,
			  void (*offer)(void *, const char *), void *arg)
{
	const struct vspec one = vary_one(s);
	struct vary_offer o = {.prefix = prefix, .offer = offer, .arg = arg};
	const char *comma = strrchr(prefix, ','), *dots;

	if (one.type->complete == NULL)
		return;
	o.head = comma != NULL ? (size_t)(comma - prefix) + 1 : 0;
	dots = strstr(prefix + o.head, "..");
	if (dots != NULL)
		o.head = (size_t)(dots - prefix) + 2;
	if (strchr(prefix + o.head, ':') == NULL)
		one.type->complete(&one, prefix + o.head, vary_offer, &o);
}

static void vary_allowed(const struct vspec *s, struct sbuf *out)
{
	const struct vspec one = vary_one(s);

	vspec_allowed(&one, out);
	sbuf_add(out, "; or A..B, or several with commas between them, each with :WEIGHT or not");
}

static enum vplain vary_plain(const struct vspec *s, const void *value, double *out)
{
	const struct wl_vary *v = value;

	(void)s;
	return v->n != 0 ? VPLAIN_TEXT : value_plain_u64(v->least, out);
}

static void vary_number(const struct vspec *s, double n, struct sbuf *out)
{
	const struct vspec one = vary_one(s);

	if (one.type->number != NULL)
		one.type->number(&one, n, out);
	else
		value_digits(n, out);
}

static int vary_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(vary_scan, s, text, out, e);
}

#define VARY_TYPE(name_, syntax_) \
	{ \
		.name = name_, .syntax = syntax_, .size = sizeof(struct wl_vary), \
		.parse = vary_parse, .print = vary_print, .complete = vary_complete, \
		.allowed = vary_allowed, .plain = vary_plain, .number = vary_number \
	}

const struct vtype vt_wl_sizes = VARY_TYPE("payload sizes", "N | A..B | A:W,B:W,C..D:W");
const struct vtype vt_wl_pauses =
	VARY_TYPE("pauses", "10ms | 1ms..5ms | 1ms:9,100ms:1, with ns, us, ms, s, m or h");
