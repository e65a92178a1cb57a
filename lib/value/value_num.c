/* SPDX-License-Identifier: BSD-3-Clause */
/* The types for whole numbers with units: uint, duration, speed and size. */
#include "value_impl.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

size_t trailing_words(const char *text, size_t at)
{
	size_t blank = at + strcspn(text + at, " \t"), word = blank + strspn(text + blank, " \t");

	return text[blank] != '\0' ? word : 0;
}

int trailing_fail(const struct vspec *s, const char *text, size_t at, struct err *e)
{
	const char *what = text[at] == ' ' || text[at] == '\t' ? "number" : "value";

	return vspec_fail(s, EINVAL, (int)trailing_words(text, at), e, text,
			  "has more after the %s", what);
}

/* Refuses a text that does not begin with a digit and says why. */
static int number_fail(const struct vspec *s, const char *text, const char *what, struct err *e)
{
	if (text[0] == '\0')
		return vspec_fail(s, EINVAL, 0, e, text, "is empty, not %s", what);
	if (text[0] == '-' && isdigit((unsigned char)text[1]))
		return vspec_fail(s, EINVAL, 0, e, text, "is negative");
	return vspec_fail(s, EINVAL, 0, e, text, "is not %s", what);
}

int whole_parse(const struct vspec *s, const char *text, const struct unit *units, const char *what,
		uint64_t *out, struct err *e)
{
	struct dec d;
	int rc = dec_scan(text, &d);

	if (rc == -EINVAL)
		return number_fail(s, text, what, e);
	const char *tail = text + d.len;
	const struct unit *u = unit_find(units, tail);
	if (u == NULL) {
		if (tail[0] == '\0')
			return vspec_fail(s, EINVAL, (int)d.len, e, text, "has no unit");
		if (trailing_words(text, d.len) != 0)
			return trailing_fail(s, text, d.len, e);
		return unit_fail(s, units, text, d.len, e);
	}
	if (rc == -ERANGE)
		return vspec_fail(s, ERANGE, 0, e, text, "has too many digits");
	u128 v = d.m * u->mult;
	for (unsigned i = 0; i < d.frac; i++) {
		if (v % 10 != 0)
			return vspec_fail(s, EINVAL, 0, e, text,
					  "is not a whole number of the smallest unit");
		v /= 10;
	}
	if (v > UINT64_MAX)
		return vspec_fail(s, ERANGE, 0, e, text, "is out of range");
	*out = (uint64_t)v;
	return 0;
}

static void spec_limits(const struct vspec *s, uint64_t *lo, uint64_t *hi)
{
	if (s->min != 0 || s->max != 0) {
		*lo = s->min;
		*hi = s->max;
	}
}

int whole_limits(const struct vspec *s, const char *text, uint64_t v, uint64_t lo, uint64_t hi,
		 struct err *e)
{
	spec_limits(s, &lo, &hi);
	if (v < lo)
		return vspec_fail(s, ERANGE, 0, e, text, "is too small");
	if (v > hi)
		return vspec_fail(s, ERANGE, 0, e, text, "is too large");
	return 0;
}

void whole_put(uint64_t v, uint64_t mult, struct sbuf *out)
{
	uint64_t rest = v % mult;

	sbuf_addf(out, "%" PRIu64, v / mult);
	if (rest == 0)
		return;
	sbuf_addc(out, '.');
	for (uint64_t unit = mult / 10; rest != 0; unit /= 10) {
		sbuf_addc(out, (char)('0' + rest / unit));
		rest %= unit;
	}
}

void unit_complete(const struct unit *units, const char *prefix,
		   void (*offer)(void *, const char *), void *arg)
{
	struct dec d;
	char word[128];

	if (dec_scan(prefix, &d) != 0 || d.len > 64)
		return;
	for (; units->name != NULL; units++) {
		if (units->name[0] == '\0' || units->other ||
		    !word_starts(units->name, prefix + d.len))
			continue;
		snprintf(word, sizeof(word), "%.*s%s", (int)d.len, prefix, units->name);
		offer(arg, word);
	}
}

/* Appends the syntax and the limits, which put() prints as values of the type. */
static void allowed_limits(const struct vspec *s, uint64_t lo, uint64_t hi,
			   void (*put)(uint64_t v, struct sbuf *out), struct sbuf *out)
{
	spec_limits(s, &lo, &hi);
	sbuf_addf(out, "%s, ", s->type->syntax);
	put(lo, out);
	sbuf_add(out, " to ");
	put(hi, out);
}

enum vplain value_plain_u64(uint64_t v, double *out)
{
	if (v > (uint64_t)VPLAIN_MAX)
		return VPLAIN_TEXT;
	*out = (double)v;
	return VPLAIN_NUMBER;
}

static enum vplain whole_plain(const struct vspec *s, const void *v, double *out)
{
	uint64_t n;

	(void)s;
	memcpy(&n, v, sizeof(n));
	return value_plain_u64(n, out);
}

/* For types in which 0 stands for auto: auto is no number. */
static enum vplain auto_plain(uint64_t n, double *out)
{
	return n == 0 ? VPLAIN_TEXT : value_plain_u64(n, out);
}

/* uint */

static const struct unit uint_units[] = {
	{"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0}};

static uint64_t uint_top(const struct vspec *s)
{
	return s->bits > 0 && s->bits < 64 ? (1ull << s->bits) - 1 : UINT64_MAX;
}

static int hex_parse(const struct vspec *s, const char *text, uint64_t *out, struct err *e)
{
	uint64_t v = 0;
	size_t i;

	for (i = 2; isxdigit((unsigned char)text[i]); i++) {
		int c = tolower((unsigned char)text[i]);
		if (v >> 60)
			return vspec_fail(s, ERANGE, 0, e, text, "is too large");
		v = v << 4 | (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (i == 2 || text[i] != '\0')
		return vspec_fail(s, EINVAL, (int)i, e, text, "is not a hexadecimal number");
	*out = v;
	return 0;
}

static int uint_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	uint64_t v = 0;
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	int rc = hex ? hex_parse(s, text, &v, e)
		     : whole_parse(s, text, uint_units, "a number", &v, e);

	if (rc == 0)
		rc = whole_limits(s, text, v, 0, uint_top(s), e);
	if (rc == 0)
		memcpy(out, &v, sizeof(v));
	return rc;
}

static int uint_spaced(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(uint_parse, s, text, out, e);
}

static void uint_put(uint64_t v, struct sbuf *out)
{
	sbuf_addf(out, "%" PRIu64, v);
}

static void uint_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	uint64_t n;

	(void)s;
	memcpy(&n, v, sizeof(n));
	uint_put(n, out);
}

static void uint_allowed(const struct vspec *s, struct sbuf *out)
{
	allowed_limits(s, 0, uint_top(s), uint_put, out);
}

const struct vtype vt_uint = {.name = "number",
			      .syntax = "N[k|M|G] or 0xHEX",
			      .size = sizeof(uint64_t),
			      .parse = uint_spaced,
			      .print = uint_print,
			      .plain = whole_plain,
			      .allowed = uint_allowed};

/* duration */

#define NS_MAX ((uint64_t)INT64_MAX)
#define NS_S UINT64_C(1000000000)
static const struct unit time_units[] = {{"ns", 1},
					 {"us", 1000},
					 {"ms", 1000000},
					 {"s", NS_S},
					 {"m", 60 * NS_S},
					 {"h", 3600 * NS_S},
					 {"nsec", 1, true},
					 {"usec", 1000, true},
					 {"msec", 1000000, true},
					 {"\u00b5s", 1000, true},
					 {"\u03bcs", 1000, true},
					 {"sec", NS_S, true},
					 {"secs", NS_S, true},
					 {"second", NS_S, true},
					 {"seconds", NS_S, true},
					 {"min", 60 * NS_S, true},
					 {"mins", 60 * NS_S, true},
					 {"minute", 60 * NS_S, true},
					 {"minutes", 60 * NS_S, true},
					 {"hour", 3600 * NS_S, true},
					 {"hours", 3600 * NS_S, true},
					 {NULL, 0}};

static int time_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct dec d;
	uint64_t v = 0;
	/* only arguments of verbs take a bare number; in a setting another unit may be meant */
	bool bare = s->type == &vt_seconds && dec_scan(text, &d) == 0 && text[d.len] == '\0';
	static const struct unit seconds[] = {{"", NS_S}, {NULL, 0}};
	int rc = whole_parse(s, text, bare ? seconds : time_units, "a duration", &v, e);

	if (rc == 0)
		rc = whole_limits(s, text, v, 0, NS_MAX, e);
	if (rc == 0)
		memcpy(out, &v, sizeof(v));
	return rc;
}

static int duration_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(time_parse, s, text, out, e);
}

static void duration_put(uint64_t v, struct sbuf *out)
{
	if (v == 0)
		sbuf_add(out, "0s");
	else if (v % (3600 * NS_S) == 0)
		sbuf_addf(out, "%" PRIu64 "h", v / (3600 * NS_S));
	else if (v % (60 * NS_S) == 0)
		sbuf_addf(out, "%" PRIu64 "m", v / (60 * NS_S));
	else {
		const struct unit *u = v >= NS_S      ? &time_units[3]
				       : v >= 1000000 ? &time_units[2]
						      : &time_units[v >= 1000];
		whole_put(v, u->mult, out);
		sbuf_add(out, u->name);
	}
}

static void duration_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	uint64_t n;

	(void)s;
	memcpy(&n, v, sizeof(n));
	duration_put(n, out);
}

static void duration_number(const struct vspec *s, double n, struct sbuf *out)
{
	(void)s;
	value_digits(n, out);
	sbuf_add(out, "ns");
}

static void duration_complete(const struct vspec *s, const char *prefix,
			      void (*offer)(void *, const char *), void *arg)
{
	(void)s;
	unit_complete(time_units, prefix, offer, arg);
}

static void duration_allowed(const struct vspec *s, struct sbuf *out)
{
	if (s->min != 0 || s->max != 0)
		allowed_limits(s, 0, NS_MAX, duration_put, out);
	else
		sbuf_add(out, s->type->syntax);
}

#define DURATION(syntax_) \
	{ \
		.name = "duration", .syntax = syntax_, .size = sizeof(uint64_t), \
		.parse = duration_parse, .print = duration_print, .complete = duration_complete, \
		.plain = whole_plain, .number = duration_number, .allowed = duration_allowed \
	}

const struct vtype vt_duration = DURATION("a number with ns, us, ms, s, m or h: 10s, 1.5ms");
const struct vtype vt_seconds =
	DURATION("seconds, or a number with ns, us, ms, s, m or h: 10, 10s, 1.5ms");

/* speed */

#define SPEED_MIN 1000ull
#define SPEED_MAX 1000000000000000ull
static const struct unit speed_units[] = {{"kbps", 1000},
					  {"Mbps", 1000000},
					  {"Gbps", 1000000000},
					  {"Tbps", 1000000000000},
					  {"k", 1000},
					  {"M", 1000000},
					  {"G", 1000000000},
					  {"T", 1000000000000},
					  {"bps", 1},
					  {"bit/s", 1, true},
					  {"kbit/s", 1000, true},
					  {"Mbit/s", 1000000, true},
					  {"Gbit/s", 1000000000, true},
					  {"Tbit/s", 1000000000000, true},
					  {"kbit", 1000, true},
					  {"Mbit", 1000000, true},
					  {"Gbit", 1000000000, true},
					  {"Tbit", 1000000000000, true},
					  {"kb/s", 1000, true},
					  {"Mb/s", 1000000, true},
					  {"Gb/s", 1000000000, true},
					  {"Tb/s", 1000000000000, true},
					  {NULL, 0}};

static int speed_one(const struct vspec *s, const char *text, void *out, struct err *e)
{
	uint64_t v = 0;
	int rc = 0;

	if (strcmp(text, "auto") != 0) {
		rc = whole_parse(s, text, speed_units, "a speed", &v, e);
		if (rc == 0)
			rc = whole_limits(s, text, v, SPEED_MIN, SPEED_MAX, e);
		if (rc == 0 && v == 0)
			rc = vspec_fail(s, ERANGE, 0, e, text, "is too small");
	}
	if (rc == 0)
		memcpy(out, &v, sizeof(v));
	return rc;
}

static int speed_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(speed_one, s, text, out, e);
}

static void speed_put(uint64_t v, struct sbuf *out)
{
	static const unsigned order[] = {3, 2, 1, 0, 8};

	if (v == 0) {
		sbuf_add(out, "auto");
		return;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(order); i++) {
		const struct unit *u = &speed_units[order[i]];
		if (v < u->mult)
			continue;
		whole_put(v, u->mult, out);
		sbuf_add(out, u->name);
		return;
	}
}

static void speed_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	uint64_t n;

	(void)s;
	memcpy(&n, v, sizeof(n));
	speed_put(n, out);
}

static enum vplain speed_plain(const struct vspec *s, const void *v, double *out)
{
	uint64_t n;

	(void)s;
	memcpy(&n, v, sizeof(n));
	return auto_plain(n, out);
}

static void speed_number(const struct vspec *s, double n, struct sbuf *out)
{
	(void)s;
	value_digits(n, out);
	sbuf_add(out, "bps");
}

static void speed_complete(const struct vspec *s, const char *prefix,
			   void (*offer)(void *, const char *), void *arg)
{
	(void)s;
	if (word_starts("auto", prefix))
		offer(arg, "auto");
	unit_complete(speed_units, prefix, offer, arg);
}

static void speed_allowed(const struct vspec *s, struct sbuf *out)
{
	allowed_limits(s, SPEED_MIN, SPEED_MAX, speed_put, out);
}

const struct vtype vt_speed = {.name = "speed",
			       .syntax = "100G | 2.5Gbps | 40000Mbps | auto",
			       .size = sizeof(uint64_t),
			       .parse = speed_parse,
			       .print = speed_print,
			       .complete = speed_complete,
			       .plain = speed_plain,
			       .number = speed_number,
			       .allowed = speed_allowed};

/* size */

#define SIZE_MIN 64
#define SIZE_MAX_FRAME 16384
static const struct unit size_units[] = {{"", 1},           {"B", 1, true},     {"Bytes", 1, true},
					 {"byte", 1, true}, {"bytes", 1, true}, {NULL, 0}};

static int size_one(const struct vspec *s, const char *text, void *out, struct err *e)
{
	uint64_t v = 0;
	uint16_t n = 0;

	if (strcmp(text, "auto") != 0) {
		int rc = whole_parse(s, text, size_units, "a frame size", &v, e);
		if (rc == 0)
			rc = whole_limits(s, text, v, SIZE_MIN, SIZE_MAX_FRAME, e);
		if (rc == 0 && (v == 0 || v > UINT16_MAX))
			rc = vspec_fail(s, ERANGE, 0, e, text, "is out of range");
		if (rc != 0)
			return rc;
		n = (uint16_t)v;
	}
	memcpy(out, &n, sizeof(n));
	return 0;
}

static int size_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(size_one, s, text, out, e);
}

static void size_put(uint64_t v, struct sbuf *out)
{
	if (v == 0)
		sbuf_add(out, "auto");
	else
		sbuf_addf(out, "%" PRIu64, v);
}

static void size_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	uint16_t n;

	(void)s;
	memcpy(&n, v, sizeof(n));
	size_put(n, out);
}

static enum vplain size_plain(const struct vspec *s, const void *v, double *out)
{
	uint16_t n;

	(void)s;
	memcpy(&n, v, sizeof(n));
	return auto_plain(n, out);
}

static void size_complete(const struct vspec *s, const char *prefix,
			  void (*offer)(void *, const char *), void *arg)
{
	/* the sizes of RFC 2544 section 9.1 */
	static const char *const words[] = {"auto", "64",   "128",  "256",
					    "512",  "1024", "1280", "1518"};
	uint16_t n;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (word_starts(words[i], prefix) && size_parse(s, words[i], &n, NULL) == 0)
			offer(arg, words[i]);
}

static void size_allowed(const struct vspec *s, struct sbuf *out)
{
	allowed_limits(s, SIZE_MIN, SIZE_MAX_FRAME, size_put, out);
}

const struct vtype vt_size = {.name = "size",
			      .syntax = "bytes with FCS or auto",
			      .size = sizeof(uint16_t),
			      .parse = size_parse,
			      .print = size_print,
			      .complete = size_complete,
			      .plain = size_plain,
			      .allowed = size_allowed};
