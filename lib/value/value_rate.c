/* SPDX-License-Identifier: BSD-3-Clause */
/* The types for rates: percent, frames/s, bit/s, connections/s, constant or changing with time.
 * Also prints any double with the fewest digits. */
#include "value_impl.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What is printed, behind a scale. */
static const struct {
	char name[2];
	unsigned exp;
} rate_scales[] = {{"", 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}};
static const char *const rate_words[] = {
	[RATE_PPS] = "pps", [RATE_L1_BPS] = "bps", [RATE_L2_BPS] = "bps/l2",
	[RATE_CPS] = "cps", [RATE_TPS] = "tps",    [RATE_EACH] = "/s",
};
/* All spellings that are read, each after k, M, G, T or nothing. */
static const struct {
	const char *name;
	enum rate_kind kind;
} rate_others[] = {
	{"pps", RATE_PPS},    {"p/s", RATE_PPS},    {"bits/s", RATE_L1_BPS}, {"bit/s", RATE_L1_BPS},
	{"bit", RATE_L1_BPS}, {"bps", RATE_L1_BPS}, {"b/s", RATE_L1_BPS},    {"cps", RATE_CPS},
	{"tps", RATE_TPS},    {"/s", RATE_EACH},
};
/* Numbers per second of anything but frames: 50k, 1.5M. */
static const struct unit each_names[] = {{"", 1},           {"k", 1000},       {"M", 1000000},
					 {"G", 1000000000}, {"K", 1000, true}, {NULL, 0}};
/* The units by name, for completion and for finding the nearest word. */
static const struct unit rate_names[] = {{"%", 1},    {"pps", 1},  {"kpps", 1}, {"Mpps", 1},
					 {"Gpps", 1}, {"bps", 1},  {"kbps", 1}, {"Mbps", 1},
					 {"Gbps", 1}, {"Tbps", 1}, {NULL, 0}};

/* At less than the smallest rate a lifetime would pass without a frame; no device reaches the
 * largest. */
static const struct {
	double lo, hi;
	const char *text;
} rate_limits[] = {
	[RATE_PERCENT] = {1e-6, 100, "above 0 to 100%"},
	[RATE_PPS] = {1e-6, 1e12, "above 0 to 1000Gpps"},
	[RATE_L1_BPS] = {1, 1e15, "1bps to 1000Tbps"},
	[RATE_L2_BPS] = {1, 1e15, "1bps to 1000Tbps"},
	[RATE_CPS] = {1e-6, 1e9, "above 0 to 1Gcps"},
	[RATE_TPS] = {1e-6, 1e9, "above 0 to 1Gtps"},
	[RATE_EACH] = {1e-6, 1e12, "above 0 to 1000G/s"},
};

/* Returns the double that is nearest to d * 10^exp. The text for strtod() has no decimal point, so
 * the locale does not matter. */
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

static bool counts_bits(enum rate_kind kind)
{
	return kind == RATE_L1_BPS || kind == RATE_L2_BPS;
}

/* The type takes what it takes of frames and bits, and numbers of connections beside them. */
static bool is_load(const struct vspec *s)
{
	return s->type == &vt_rate_load;
}

/* Returns the length of the unit at the start of text behind a scale of so many letters, and its
 * kind; 0: there is no unit. Case is ignored, except that Bps and B/s would be bytes and are not
 * taken. */
static size_t unit_behind(const struct vspec *s, const char *text, size_t at, enum rate_kind *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(rate_others); i++) {
		const char *name = rate_others[i].name;
		size_t n = strlen(name);
		if (strncasecmp(text + at, name, n) != 0 || (text[at] == 'B' && name[1] != 'i') ||
		    (rate_others[i].kind >= RATE_CPS && !is_load(s)))
			continue;
		/* there is no Tpps: nobody sends so many frames */
		if (at > 0 && (text[0] | 32) == 't' && !counts_bits(rate_others[i].kind))
			continue;
		*kind = rate_others[i].kind;
		return at + n;
	}
	return 0;
}

/* The same with or without a scale, and its power of ten. */
static size_t any_unit(const struct vspec *s, const char *text, enum rate_kind *kind, int *exp)
{
	static const char scales[] = "kmgt";
	const char *scale = text[0] != '\0' ? strchr(scales, text[0] | 32) : NULL;
	size_t n = unit_behind(s, text, 0, kind);

	*exp = 0;
	if (n > 0 || scale == NULL)
		return n;
	*exp = 3 * (int)(scale - scales + 1);
	return unit_behind(s, text, 1, kind);
}

/* Says whether rates of this type count something else than frames and bits. */
static bool is_each(const struct vspec *s)
{
	return s->type == &vt_per_second || (s->of != NULL && s->of->type == &vt_per_second);
}

static int each_unit_parse(const struct vspec *s, const char *text, size_t at, struct rate *r,
			   int *exp, struct err *e)
{
	const struct unit *u = unit_find(each_names, text + at);

	r->kind = RATE_PPS;
	*exp = 0;
	if (u == NULL)
		return trailing_words(text, at) != 0 ? trailing_fail(s, text, at, e)
						     : unit_fail(s, each_names, text, at, e);
	for (uint64_t m = u->mult; m > 1; m /= 10)
		++*exp;
	return 0;
}

static int rate_unit_parse(const struct vspec *s, const char *text, size_t at, struct rate *r,
			   int *exp, struct err *e)
{
	const char *tail = text + at;

	if (is_each(s))
		return each_unit_parse(s, text, at, r, exp, e);
	*exp = 0;
	r->kind = RATE_PERCENT;
	if (tail[0] == '\0' || strcmp(tail, "%") == 0)
		return 0;
	if (trailing_words(text, at) != 0)
		return trailing_fail(s, text, at, e);
	enum rate_kind kind;
	size_t n = any_unit(s, tail, &kind, exp);
	if (n > 0) {
		const char *layer = tail + n;
		bool bits = counts_bits(kind);
		r->kind = kind;
		if (layer[0] == '\0' || (bits && strcasecmp(layer, "/l1") == 0))
			return 0;
		if (bits && strcasecmp(layer, "/l2") == 0) {
			r->kind = RATE_L2_BPS;
			return 0;
		}
		return vspec_fail(s, EINVAL, (int)(layer - text), e, text,
				  "has \"%.20s\" after %.*s", layer, (int)n, tail);
	}
	if (tail[1] == '\0' && strchr("kMGmKg", tail[0]) != NULL) {
		char c = (tail[0] | 32) == 'k' ? 'k' : (char)(tail[0] & ~32);
		return is_load(s)
			       ? vspec_fail(s, EINVAL, (int)at, e, text,
					    "has no unit, %cpps, %cbps, %ccps or %ctps", c, c, c, c)
			       : vspec_fail(s, EINVAL, (int)at, e, text,
					    "has no unit, %cpps or %cbps", c, c);
	}
	*exp = 0;
	return unit_fail(s, rate_names, text, at, e);
}

#define EACH_LEAST 1e-6
#define EACH_MOST 1e9

static int one_parse(const struct vspec *s, const char *text, struct rate *r, struct err *e)
{
	struct dec d;
	int exp;

	memset(r, 0, sizeof(*r));
	r->kind = RATE_MAX;
	if (strcmp(text, "max") == 0)
		return 0;
	int rc = dec_scan(text, &d);
	if (rc == -EINVAL)
		return vspec_fail(s, EINVAL, 0, e, text,
				  text[0] == '-' ? "is negative" : "is not a rate");
	int urc = rate_unit_parse(s, text, d.len, r, &exp, e);
	if (urc != 0)
		return urc;
	if (rc == -ERANGE)
		return vspec_fail(s, ERANGE, 0, e, text, "has too many digits");
	r->value = dec_double(&d, exp);
	if (is_each(s) && (r->value < EACH_LEAST || r->value > EACH_MOST))
		return vspec_fail(s, ERANGE, 0, e, text, "is out of range (above 0 to 1G)");
	if (r->value < rate_limits[r->kind].lo || r->value > rate_limits[r->kind].hi)
		return vspec_fail(
			s, ERANGE, 0, e, text, "is out of range (%s)%s", rate_limits[r->kind].text,
			r->value == 0 ? "; to send nothing use stop"
			: text[d.len] == '\0'
				? "; a number alone is percent, others have a unit, pps or bps"
				: "");
	return 0;
}

static const struct vspec trend_time = {.type = &vt_duration, .min = 1, .max = INT64_MAX};

/* Parses len bytes of the text from column `at` on, as a rate or as a time. Columns of errors are
 * those of the whole text. */
static int part_parse(const struct vspec *s, const char *text, size_t at, size_t len, void *out,
		      struct err *e)
{
	char part[128];

	if (len >= sizeof(part))
		return vspec_fail(s, EINVAL, (int)at, e, text, "is too long");
	memcpy(part, text + at, len);
	part[len] = '\0';
	int rc = s == &trend_time ? vt_duration.parse(s, part, out, e) : one_parse(s, part, out, e);
	if (rc != 0 && e != NULL)
		e->col = (int)at + (e->col > 0 ? e->col : 0);
	return rc;
}

#define TREND_WORDS 4
#define RATE_MAX_STEPS 1e6

/* Finds the words from column i on, which is behind A..B. Returns their number, or TREND_WORDS + 1
 * if there are more. */
static unsigned words_of(const char *text, size_t i, size_t at[TREND_WORDS],
			 size_t len[TREND_WORDS])
{
	unsigned n = 0;

	for (;;) {
		i += strspn(text + i, " \t");
		if (text[i] == '\0')
			return n;
		if (n == TREND_WORDS)
			return n + 1;
		at[n] = i;
		len[n] = strcspn(text + i, " \t");
		i += len[n++];
	}
}

static bool word_is(const char *text, size_t at, size_t len, const char *word)
{
	return len == strlen(word) && memcmp(text + at, word, len) == 0;
}

static int steps_parse(const struct vspec *s, const char *text, size_t at, size_t len,
		       struct rate *r, struct err *e)
{
	struct rate step;
	double way = r->to > r->value ? r->to - r->value : r->value - r->to;
	int rc = part_parse(s, text, at, len, &step, e);

	if (rc != 0)
		return rc;
	if (step.kind != r->kind)
		return vspec_fail(s, EINVAL, (int)at, e, text,
				  "has a step of another unit than its ends");
	if (step.value > way || way / step.value > RATE_MAX_STEPS)
		return vspec_fail(s, ERANGE, (int)at, e, text, "has a step that is %s",
				  step.value > way ? "larger than the way" : "too small");
	r->step = step.value;
	return 0;
}

/* Parses "A..B over T" or "A..B step S every T". dots is the column of "..". */
static int trend_parse(const struct vspec *s, const char *text, size_t dots, struct rate *r,
		       struct err *e)
{
	size_t end = dots + 2 + strcspn(text + dots + 2, " \t"), at[TREND_WORDS], len[TREND_WORDS];
	struct rate to;
	unsigned n = words_of(text, end, at, len);
	int rc = part_parse(s, text, 0, dots, r, e);

	if (rc == 0)
		rc = part_parse(s, text, dots + 2, end - dots - 2, &to, e);
	if (rc != 0)
		return rc;
	if (r->kind == RATE_MAX || to.kind == RATE_MAX)
		return vspec_fail(s, EINVAL, r->kind == RATE_MAX ? 0 : (int)dots + 2, e, text,
				  "has an end that is no number");
	if (r->kind != to.kind)
		return vspec_fail(s, EINVAL, (int)dots + 2, e, text, "has ends of different units");
	if (r->value == to.value)
		return vspec_fail(s, EINVAL, (int)dots + 2, e, text,
				  "has two ends that are the same");
	r->to = to.value;
	bool ramp = n == 2 && word_is(text, at[0], len[0], "over");
	bool steps = n == 4 && word_is(text, at[0], len[0], "step") &&
		     word_is(text, at[2], len[2], "every");
	if (!ramp && !steps)
		return vspec_fail(
			s, EINVAL, n > 0 ? (int)at[0] : (int)strlen(text), e, text,
			"does not say how long it takes: \"over 30s\", or \"step %s every 5s\"",
			is_each(s) ? "1k" : "1Mpps");
	if (steps)
		rc = steps_parse(s, text, at[1], len[1], r, e);
	unsigned last = ramp ? 1 : 3;
	return rc != 0 ? rc : part_parse(&trend_time, text, at[last], len[last], &r->over_ns, e);
}

static int whole_rate(const struct vspec *s, const char *text, void *out, struct err *e)
{
	const char *dots = strstr(text, "..");
	struct rate r;
	int rc = dots != NULL ? trend_parse(s, text, (size_t)(dots - text), &r, e)
			      : one_parse(s, text, &r, e);

	if (rc == 0)
		memcpy(out, &r, sizeof(r));
	return rc;
}

static int rate_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(whole_rate, s, text, out, e);
}

/* Writes the fewest digits that give v again, so that v is 0.d1d2.. * 10^(*point), and returns
 * their number. */
static size_t short_digits(double v, char digits[24], int *point)
{
	for (int p = 1;; p++) {
		char text[64], again[64];
		size_t n = 0;
		snprintf(text, sizeof(text), "%.*e", p - 1, v);
		char *exp = strchr(text, 'e');
		/* what is no digit is the locale's decimal point */
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

void value_digits(double v, struct sbuf *out)
{
	char digits[24];
	int point;

	if (v < 0)
		sbuf_addc(out, '-');
	if (v == 0 || !(v <= DBL_MAX && v >= -DBL_MAX)) {
		sbuf_add(out, v == 0 ? "0" : "inf");
		return;
	}
	size_t n = short_digits(v < 0 ? -v : v, digits, &point);
	put_digits(digits, n, point, out);
}

static void value_print(const struct vspec *s, enum rate_kind kind, double value, struct sbuf *out)
{
	char digits[24];
	int point;
	size_t n = short_digits(value, digits, &point);

	if (kind == RATE_PERCENT) {
		put_digits(digits, n, point, out);
		sbuf_addc(out, '%');
		return;
	}
	size_t best = 0;
	for (size_t i = 1; i < ARRAY_SIZE(rate_scales) - !counts_bits(kind); i++)
		if (point > (int)rate_scales[i].exp)
			best = i;
	put_digits(digits, n, point - (int)rate_scales[best].exp, out);
	sbuf_add(out, rate_scales[best].name);
	sbuf_add(out, is_each(s) ? "" : rate_words[kind]);
}

static void rate_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	struct rate r;

	memcpy(&r, v, sizeof(r));
	if (r.kind == RATE_MAX) {
		sbuf_add(out, "max");
		return;
	}
	value_print(s, r.kind, r.value, out);
	if (r.over_ns == 0)
		return;
	sbuf_add(out, "..");
	value_print(s, r.kind, r.to, out);
	if (r.step > 0) {
		sbuf_add(out, " step ");
		value_print(s, r.kind, r.step, out);
	}
	sbuf_add(out, r.step > 0 ? " every " : " over ");
	vt_duration.print(&trend_time, &r.over_ns, out);
}

/* Only a rate in frames/s is a number: of other numbers a program would not know the unit. */
static enum vplain rate_plain(const struct vspec *s, const void *v, double *out)
{
	struct rate r;

	memcpy(&r, v, sizeof(r));
	if (r.kind != (is_load(s) ? RATE_EACH : RATE_PPS) || r.over_ns != 0)
		return VPLAIN_TEXT;
	*out = r.value;
	return VPLAIN_NUMBER;
}

static void rate_number(const struct vspec *s, double n, struct sbuf *out)
{
	value_digits(n, out);
	sbuf_add(out, is_each(s) ? "" : rate_words[is_load(s) ? RATE_EACH : RATE_PPS]);
}

/* Offers the words that may follow A..B, for the last word of prefix. */
static void trend_complete(const char *prefix, void (*offer)(void *, const char *), void *arg)
{
	static const char *const words[] = {"over", "step", "every"};
	size_t begin = strlen(prefix), at[TREND_WORDS], len[TREND_WORDS];
	struct sbuf whole = {0};

	while (begin > 0 && prefix[begin - 1] != ' ')
		begin--;
	sbuf_addn(&whole, prefix, begin);
	unsigned n = words_of(sbuf_str(&whole), strcspn(sbuf_str(&whole), " "), at, len);
	bool steps = n > 0 && word_is(prefix, at[0], len[0], "step");
	for (unsigned w = 0; w < ARRAY_SIZE(words) && begin > 0; w++) {
		if (!(n == 0 ? w < 2 : n == 2 && steps && w == 2) ||
		    !word_starts(words[w], prefix + begin))
			continue;
		whole.len = begin;
		sbuf_add(&whole, words[w]);
		offer(arg, whole.s);
	}
	sbuf_free(&whole);
}

static void rate_complete(const struct vspec *s, const char *prefix,
			  void (*offer)(void *, const char *), void *arg)
{
	static const char *const of_link[] = {"max", "1%", "10%", "50%", "100%"};
	static const char *const each[] = {"max", "1k", "10k", "100k", "1M"};
	const char *const *words = is_each(s) ? each : of_link;

	if (strstr(prefix, "..") != NULL) {
		trend_complete(prefix, offer, arg);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(each); i++)
		if (word_starts(words[i], prefix) && (prefix[0] == '\0' || words[i][0] == 'm'))
			offer(arg, words[i]);
	unit_complete(is_each(s) ? each_names : rate_names, prefix, offer, arg);
}

static int steady_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	const char *dots = strstr(text, "..");

	if (dots != NULL)
		return vspec_fail(s, EINVAL, (int)(dots - text), e, text,
				  "changes with time, and this is one load");
	return rate_parse(s, text, out, e);
}

static void steady_complete(const struct vspec *s, const char *prefix,
			    void (*offer)(void *, const char *), void *arg)
{
	if (strstr(prefix, "..") == NULL)
		rate_complete(s, prefix, offer, arg);
}

const struct vtype vt_rate_steady = {.name = "rate",
				     .syntax = "10% | 1.5Mpps | 3Gbps[/l2] | max",
				     .size = sizeof(struct rate),
				     .parse = steady_parse,
				     .print = rate_print,
				     .complete = steady_complete,
				     .plain = rate_plain,
				     .number = rate_number};

const struct vtype vt_rate_load = {.name = "rate",
				   .syntax = "10% | 1.5Mpps | 3Gbps[/l2] | 10kcps | 10ktps | max",
				   .size = sizeof(struct rate),
				   .parse = steady_parse,
				   .print = rate_print,
				   .complete = steady_complete,
				   .plain = rate_plain,
				   .number = rate_number};

const struct vtype vt_rate = {.name = "rate",
			      .syntax = RATE_SYNTAX,
			      .size = sizeof(struct rate),
			      .parse = rate_parse,
			      .print = rate_print,
			      .complete = rate_complete,
			      .plain = rate_plain,
			      .number = rate_number};

const struct vtype vt_per_second = {.name = "rate",
				    .syntax = PER_SECOND_SYNTAX,
				    .size = sizeof(struct rate),
				    .parse = rate_parse,
				    .print = rate_print,
				    .complete = rate_complete,
				    .plain = rate_plain,
				    .number = rate_number};
