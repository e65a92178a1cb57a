/* SPDX-License-Identifier: BSD-3-Clause */
#include "value_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rate_unit {
	const char *name;
	bool bits;
	unsigned exp;
} rate_units[] = {
	{"pps", false, 0}, {"kpps", false, 3}, {"Mpps", false, 6}, {"Gpps", false, 9}, {"bps", true, 0},
	{"kbps", true, 3}, {"Mbps", true, 6},  {"Gbps", true, 9},  {"Tbps", true, 12},
};
/* The same names for completion and for the nearest word. */
static const struct unit rate_names[] = {{"%", 1},    {"pps", 1},  {"kpps", 1}, {"Mpps", 1}, {"Gpps", 1}, {"bps", 1},
					 {"kbps", 1}, {"Mbps", 1}, {"Gbps", 1}, {"Tbps", 1}, {NULL, 0}};

/* Below the smallest nothing is sent in a lifetime; above the largest no device exists. */
static const struct {
	double lo, hi;
	const char *text;
} rate_limits[] = {
	[RATE_PERCENT] = {1e-6, 100, "above 0 to 100%"},
	[RATE_PPS] = {1e-6, 1e12, "above 0 to 1000Gpps"},
	[RATE_L1_BPS] = {1, 1e15, "1bps to 1000Tbps"},
	[RATE_L2_BPS] = {1, 1e15, "1bps to 1000Tbps"},
};

/* The nearest double to m * 10^exp. The text given to strtod has no decimal point, so no locale matters. */
static double dec_double(const struct dec *d, int exp)
{
	char digits[48], *p = digits + sizeof(digits);
	char text[64];
	u128 m = d->m;

	*--p = '\0';
	do
		*--p = (char)('0' + (unsigned)(m % 10));
	while ((m /= 10) != 0);
	snprintf(text, sizeof(text), "%se%d", p, exp - (int)d->frac);
	return strtod(text, NULL);
}

static int rate_unit_parse(const struct vspec *s, const char *text, size_t at, struct rate *r, int *exp, struct err *e)
{
	const char *tail = text + at;

	*exp = 0;
	r->kind = RATE_PERCENT;
	if (tail[0] == '\0' || strcmp(tail, "%") == 0)
		return 0;
	if (trailing_words(text, at) != 0)
		return trailing_fail(s, text, at, e);
	for (size_t i = 0; i < ARRAY_SIZE(rate_units); i++) {
		const struct rate_unit *u = &rate_units[i];
		if (!word_starts(tail, u->name))
			continue;
		const char *layer = tail + strlen(u->name);
		*exp = (int)u->exp;
		r->kind = u->bits ? RATE_L1_BPS : RATE_PPS;
		if (layer[0] == '\0' || (u->bits && strcmp(layer, "/l1") == 0))
			return 0;
		if (u->bits && strcmp(layer, "/l2") == 0) {
			r->kind = RATE_L2_BPS;
			return 0;
		}
		return vspec_fail(s, EINVAL, (int)(layer - text), e, text, "has \"%.20s\" after %s", layer, u->name);
	}
	if (strcmp(tail, "k") == 0 || strcmp(tail, "M") == 0 || strcmp(tail, "G") == 0)
		return vspec_fail(s, EINVAL, (int)at, e, text, "has no unit, %spps or %sbps", tail, tail);
	return unit_fail(s, rate_names, text, at, e);
}

static int rate_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct rate r = {RATE_MAX, 0};
	struct dec d;
	int exp;

	if (strcmp(text, "max") == 0) {
		memcpy(out, &r, sizeof(r));
		return 0;
	}
	int rc = dec_scan(text, &d);
	if (rc == -EINVAL)
		return vspec_fail(s, EINVAL, 0, e, text, text[0] == '-' ? "is negative" : "is not a rate");
	int urc = rate_unit_parse(s, text, d.len, &r, &exp, e);
	if (urc != 0)
		return urc;
	if (rc == -ERANGE)
		return vspec_fail(s, ERANGE, 0, e, text, "has too many digits");
	r.value = dec_double(&d, exp);
	if (r.value < rate_limits[r.kind].lo || r.value > rate_limits[r.kind].hi)
		return vspec_fail(s, ERANGE, 0, e, text, "is out of range (%s)%s", rate_limits[r.kind].text,
				  r.value == 0 ? "; to send nothing use stop" : "");
	memcpy(out, &r, sizeof(r));
	return 0;
}

/* Shortest digits that give v again: n digits, value 0.d1d2.. * 10^(*point). */
static size_t short_digits(double v, char digits[24], int *point)
{
	for (int p = 1;; p++) {
		char text[64], again[64];
		size_t n = 0;
		snprintf(text, sizeof(text), "%.*e", p - 1, v);
		char *exp = strchr(text, 'e');
		/* whatever stands between the digits is the locale's decimal point */
		for (const char *c = text; c < exp; c++)
			if (*c >= '0' && *c <= '9')
				digits[n++] = *c;
		digits[n] = '\0';
		int x = atoi(exp + 1);
		snprintf(again, sizeof(again), "%se%d", digits, x - (p - 1));
		if (p >= 17 || strtod(again, NULL) == v) {
			while (n > 1 && digits[n - 1] == '0')
				digits[--n] = '\0';
			*point = x + 1;
			return n;
		}
	}
}

static void put_digits(const char *digits, size_t n, int point, struct sbuf *out)
{
	if (point <= 0) {
		sbuf_add(out, "0.");
		for (; point < 0; point++)
			sbuf_addc(out, '0');
		sbuf_add(out, digits);
		return;
	}
	for (size_t i = 0; i < n || i < (size_t)point; i++) {
		if (i == (size_t)point)
			sbuf_addc(out, '.');
		sbuf_addc(out, i < n ? digits[i] : '0');
	}
}

static void rate_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	struct rate r;
	char digits[24];
	int point;

	(void)s;
	memcpy(&r, v, sizeof(r));
	if (r.kind == RATE_MAX) {
		sbuf_add(out, "max");
		return;
	}
	size_t n = short_digits(r.value, digits, &point);
	if (r.kind == RATE_PERCENT) {
		put_digits(digits, n, point, out);
		sbuf_addc(out, '%');
		return;
	}
	bool bits = r.kind != RATE_PPS;
	const struct rate_unit *best = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rate_units); i++) {
		const struct rate_unit *u = &rate_units[i];
		if (u->bits == bits && (best == NULL || point > (int)u->exp))
			best = u;
	}
	put_digits(digits, n, point - (int)best->exp, out);
	sbuf_add(out, best->name);
	if (r.kind == RATE_L2_BPS)
		sbuf_add(out, "/l2");
}

static void rate_complete(const struct vspec *s, const char *prefix, void (*offer)(void *, const char *), void *arg)
{
	static const char *const words[] = {"max", "1%", "10%", "50%", "100%"};

	(void)s;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (word_starts(words[i], prefix) && (prefix[0] == '\0' || words[i][0] == 'm'))
			offer(arg, words[i]);
	unit_complete(rate_names, prefix, offer, arg);
}

const struct vtype vt_rate = {.name = "rate",
			      .syntax = "10% | 1.5Mpps | 3Gbps[/l2] | max",
			      .size = sizeof(struct rate),
			      .parse = rate_parse,
			      .print = rate_print,
			      .complete = rate_complete};
