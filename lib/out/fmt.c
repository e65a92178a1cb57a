/* SPDX-License-Identifier: BSD-3-Clause */
/* Single values as text for people, and as JSON. */
#include "out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull

/* How many decimals a value below 1000 gets to be shown with so many digits. *next: values from
 * here on would be rounded to 1000, which is 1 of the next unit. */
static int decimals_of(double v, int digits, double *next)
{
	*next = 1000 - (digits > 3 ? 5 * pow(10, 2 - digits) : 0.5);
	int whole = v < 10 - 5 * pow(10, -digits)       ? 1
		    : v < 100 - 5 * pow(10, 1 - digits) ? 2
		    : v < *next                         ? 3
							: digits;
	return digits > whole ? digits - whole : 0;
}

void out_si_digits(double v, int digits, struct sbuf *out)
{
	static const char unit[] = {0, 'k', 'M', 'G', 'T', 'P', 'E'};
	unsigned u = 0;
	double next;

	if (!isfinite(v)) {
		sbuf_add(out, "-");
		return;
	}
	if (v < 0) {
		sbuf_addc(out, '-');
		v = -v;
	}
	if (v < 1000 && v == floor(v)) {
		sbuf_addf(out, "%.0f", v);
		return;
	}
	if (v < 0.0995) { /* there is no unit for it: its first digits */
		sbuf_addf(out, "%.*g", digits > 1 ? digits - 1 : 1, v);
		return;
	}
	/* The unit is chosen after rounding: with four digits 999.95 becomes 1000. */
	decimals_of(v, digits, &next);
	while (v >= next && u + 1 < ARRAY_SIZE(unit)) {
		v /= 1000;
		u++;
	}
	sbuf_addf(out, "%.*f", decimals_of(v, digits, &next), v);
	if (unit[u] != 0)
		sbuf_addc(out, unit[u]);
}

void out_si(double v, struct sbuf *out)
{
	out_si_digits(v, 4, out);
}

void out_ns_digits(double ns, int digits, struct sbuf *out)
{
	static const char *const unit[] = {"ns", "us", "ms", "s"};
	unsigned u = 0;
	double next;

	if (!isfinite(ns)) {
		sbuf_add(out, "-");
		return;
	}
	if (ns < 0) {
		sbuf_addc(out, '-');
		ns = -ns;
	}
	/* ns have no decimals, so that 999.6 of them are shown as a microsecond */
	decimals_of(ns, digits, &next);
	if (ns < 999.5) {
		sbuf_addf(out, "%.0fns", ns);
		return;
	}
	do {
		ns /= 1000;
		u++;
	} while (ns >= next && u + 1 < ARRAY_SIZE(unit));
	sbuf_addf(out, "%.*f%s", decimals_of(ns, digits, &next), ns, unit[u]);
}

void out_share_digits(double share, int digits, struct sbuf *out)
{
	double percent = 100 * share, size = fabs(percent);

	if (!isfinite(share))
		sbuf_add(out, "-");
	else if (share == 0)
		sbuf_add(out, "0%");
	else if (size < 0.1) /* a small loss is a loss */
		sbuf_addf(out, "%.*g%%", digits > 2 ? 2 : 1, percent);
	else
		sbuf_addf(out, "%.*f%%", digits > 3 ? 2 : digits - 1 > 0 ? digits - 1 : 0, percent);
}

/* Appends v / unit, rounded to at most three decimals, without zeros at the end. */
static void fmt_trimmed(uint64_t v, uint64_t unit, const char *name, struct sbuf *out)
{
	uint64_t thousandths = v / unit * 1000 + (v % unit * 1000 + unit / 2) / unit;
	unsigned frac = (unsigned)(thousandths % 1000), decimals = 3;

	sbuf_addf(out, "%" PRIu64, thousandths / 1000);
	if (frac != 0) {
		while (frac % 10 == 0) {
			frac /= 10;
			decimals--;
		}
		sbuf_addf(out, ".%0*u", (int)decimals, frac);
	}
	sbuf_add(out, name);
}

void out_duration(uint64_t ns, struct sbuf *out)
{
	uint64_t s = ns / NS_PER_S + (ns % NS_PER_S >= NS_PER_S / 2);

	/* the unit is chosen after rounding: 59.9996 s are shown as a minute */
	if (ns < NS_PER_US)
		sbuf_addf(out, "%" PRIu64 "ns", ns);
	else if (ns < NS_PER_MS)
		fmt_trimmed(ns, NS_PER_US, "us", out);
	else if (ns < NS_PER_S - NS_PER_US / 2)
		fmt_trimmed(ns, NS_PER_MS, "ms", out);
	else if (ns < 60 * NS_PER_S - NS_PER_MS / 2)
		fmt_trimmed(ns, NS_PER_S, "s", out);
	else if (s < 3600)
		sbuf_addf(out, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
	else
		sbuf_addf(out, "%" PRIu64 "h%02" PRIu64 "m%02" PRIu64 "s", s / 3600, s / 60 % 60,
			  s % 60);
}

static void fmt_grouped(int64_t v, struct sbuf *out)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, v < 0 ? -(uint64_t)v : (uint64_t)v);

	if (v < 0)
		sbuf_addc(out, '-');
	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			sbuf_addc(out, '\'');
		sbuf_addc(out, digits[i]);
	}
}

void out_count(double v, int width, struct sbuf *out)
{
	struct sbuf cell = {0};

	if (isfinite(v) && fabs(v) < 0x1p63)
		fmt_grouped((int64_t)llround(v), &cell);
	else
		sbuf_addc(&cell, '-');
	sbuf_addf(out, "%*s", width, cell.s);
	sbuf_free(&cell);
}

void out_real(double v, struct sbuf *out)
{
	/* no power of ten where all digits are as short */
	sbuf_addf(out, fabs(v) >= 999.5 && fabs(v) < 1e15 ? "%.0f" : "%.3g", v);
}

static void fmt_mbps(double v, struct sbuf *out)
{
	if (v <= 0)
		sbuf_addc(out, '-');
	else if (v < 1000)
		sbuf_addf(out, "%gM", v);
	else
		sbuf_addf(out, "%gG", v / 1000);
}

static void fmt_number(const json_t *v, enum out_fmt fmt, struct sbuf *out)
{
	double d = json_number_value(v);

	switch (fmt) {
	case OF_PPS:
	case OF_BPS:
		out_si(d, out);
		break;
	case OF_NS:
		if (d >= 0x1p63) /* more than a duration can be */
			sbuf_addf(out, "%.3gs", d / 1e9);
		else
			out_duration(d < 0                ? 0
				     : json_is_integer(v) ? (uint64_t)json_integer_value(v)
							  : (uint64_t)(d + 0.5),
				     out);
		break;
	case OF_PERCENT:
		/* a small loss is a loss */
		sbuf_addf(out, d > 0 && d < 0.0005 ? "%.2g%%" : "%.1f%%", 100 * d);
		break;
	case OF_REAL:
		out_real(d, out);
		break;
	case OF_MBPS:
		fmt_mbps(d, out);
		break;
	case OF_COUNT:
		if (json_is_integer(v)) {
			fmt_grouped(json_integer_value(v), out);
			break;
		}
		/* fall through */
	default:
		if (json_is_integer(v))
			sbuf_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		else
			sbuf_addf(out, "%.10g", d);
	}
}

void out_cell(const json_t *v, enum out_fmt fmt, struct sbuf *out)
{
	const json_t *item;
	size_t i;

	switch (v != NULL ? json_typeof(v) : JSON_NULL) {
	case JSON_STRING:
		sbuf_add(out, json_string_value(v));
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		fmt_number(v, fmt, out);
		break;
	case JSON_TRUE:
		sbuf_add(out, "yes");
		break;
	case JSON_FALSE:
		sbuf_add(out, "no");
		break;
	case JSON_ARRAY:
		if (json_array_size(v) == 0)
			sbuf_addc(out, '-');
		json_array_foreach(v, i, item) {
			if (i > 0)
				sbuf_add(out, ", ");
			out_cell(item, fmt, out);
		}
		break;
	case JSON_OBJECT:
		out_json(v, 0, out);
		break;
	default:
		sbuf_addc(out, '-');
	}
}

static json_t *json_text(const char *text, size_t len)
{
	json_t *v = json_stringn(text, len);

	if (v != NULL)
		return v;
	char *copy = memcpy(xcalloc(len + 1, 1), text, len);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)copy[i] >= 0x80)
			copy[i] = '?';
	v = json_stringn(copy, len);
	free(copy);
	return v;
}

json_t *out_json_text(const char *text)
{
	return json_text(text, strlen(text));
}

json_t *out_json_text_or_null(const char *text)
{
	return text[0] != '\0' ? out_json_text(text) : json_null();
}

static int add_part(const char *part, size_t n, void *arg)
{
	sbuf_addn(arg, part, n);
	return 0;
}

void out_json(const json_t *v, size_t flags, struct sbuf *out)
{
	json_dump_callback(v, add_part, out, JSON_COMPACT | JSON_ENCODE_ANY | flags);
}

void out_json_inside(const char *text, size_t len, struct sbuf *out)
{
	json_t *v = json_text(text, len);
	size_t before = out->len;

	out_json(v, 0, out);
	json_decref(v);
	if (out->len < before + 2)
		return;
	out->len -= 2;
	memmove(out->s + before, out->s + before + 1, out->len - before);
	out->s[out->len] = '\0';
}

size_t out_json_bytes(const char *text, size_t len, size_t *values)
{
	size_t bytes = OUT_JSON_NUMBER, n = 1;

	for (size_t i = 0; i < len; i++) {
		size_t from = i;
		switch (text[i]) {
		case '[':
			bytes += OUT_JSON_ARRAY + OUT_JSON_ELEMENT + OUT_JSON_NUMBER;
			n++;
			break;
		case '{':
			bytes += OUT_JSON_OBJECT;
			n++;
			break;
		case ',':
			bytes += OUT_JSON_ELEMENT + OUT_JSON_NUMBER;
			n++;
			break;
		case ':':
			bytes += OUT_JSON_MEMBER + OUT_JSON_NUMBER;
			n++;
			break;
		case '"':
			while (++i < len && text[i] != '"')
				i += text[i] == '\\';
			bytes += OUT_JSON_STRING + (i - from);
			break;
		}
	}
	*values = n;
	return bytes;
}

json_t *out_get(const json_t *obj, const char *path)
{
	while (obj != NULL) {
		const char *dot = strchr(path, '.');
		char key[64];

		/* A key may contain a dot itself ("udp.dst"), so the whole rest is tried first. */
		json_t *whole = json_object_get(obj, path);
		if (whole != NULL || dot == NULL)
			return whole;
		if ((size_t)(dot - path) >= sizeof(key))
			return NULL;
		memcpy(key, path, (size_t)(dot - path));
		key[dot - path] = '\0';
		obj = json_object_get(obj, key);
		path = dot + 1;
	}
	return NULL;
}
