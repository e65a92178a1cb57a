/* SPDX-License-Identifier: BSD-3-Clause */
#include "arrival_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MAX_WORDS 6

/* Words of a text: where each begins and how long it is. */
struct words {
	const char *text;
	unsigned n;
	size_t at[MAX_WORDS], len[MAX_WORDS];
};

static void arrival_text_split(const char *text, struct words *w)
{
	size_t i = 0;

	*w = (struct words){.text = text};
	for (;;) {
		i += strspn(text + i, " \t");
		if (text[i] == '\0' || w->n == MAX_WORDS)
			return;
		w->at[w->n] = i;
		w->len[w->n] = strcspn(text + i, " \t");
		i += w->len[w->n++];
	}
}

static bool arrival_text_is(const struct words *w, unsigned i, const char *word)
{
	return i < w->n && w->len[i] == strlen(word) &&
	       memcmp(w->text + w->at[i], word, w->len[i]) == 0;
}

/* Refuses the text because of word i, or because of its end where there is no such word. */
static int fail_at(const struct vspec *s, const struct words *w, unsigned i, struct err *e,
		   const char *reason)
{
	return vspec_fail(s, EINVAL, i < w->n ? (int)w->at[i] : (int)strlen(w->text), e, w->text,
			  "%s", reason);
}

/* Parses word i by the spec `of`, into *out. missing: the error if there is none. */
static int value_at(const struct vspec *s, const struct words *w, unsigned i,
		    const struct vspec *of, const char *missing, void *out, struct err *e)
{
	char part[VT_TEXT_MAX];

	if (i >= w->n)
		return fail_at(s, w, i, e, missing);
	if (w->len[i] >= sizeof(part))
		return fail_at(s, w, i, e, "is too long");
	memcpy(part, w->text + w->at[i], w->len[i]);
	part[w->len[i]] = '\0';
	int rc = of->type->parse(of, part, out, e);
	if (rc != 0 && e != NULL)
		e->col = (int)w->at[i] + (e->col > 0 ? e->col : 0);
	return rc;
}

/* Parses word i as percent into a share, lo <= *out <= hi; 1 is 100 %. missing: as above. */
static int share_at(const struct vspec *s, const struct words *w, unsigned i, double lo, double hi,
		    const char *missing, double *out, struct err *e)
{
	static const struct vspec of = {.type = &vt_uint};
	char digits[32];
	uint64_t whole = 0;
	size_t n = 0, frac = 0;

	if (i >= w->n)
		return fail_at(s, w, i, e, missing);
	const char *t = w->text + w->at[i];
	size_t len = w->len[i] - (t[w->len[i] - 1] == '%');
	bool dot = false;
	for (size_t k = 0; k < len && n < 15; k++) {
		if (t[k] == '.' && !dot && k > 0 && k + 1 < len) {
			dot = true;
			continue;
		}
		if (t[k] < '0' || t[k] > '9')
			return fail_at(s, w, i, e, "has a share that is not a number of percent");
		digits[n++] = t[k];
		frac += dot;
	}
	digits[n] = '\0';
	if (n == 0 || n == 15 || frac > 6 || of.type->parse(&of, digits, &whole, NULL) != 0)
		return fail_at(s, w, i, e, "has a share that is not a number of percent");
	double scale = 100;
	for (; frac > 0; frac--)
		scale *= 10;
	*out = (double)whole / scale;
	if (*out < lo || *out > hi)
		return fail_at(s, w, i, e, "has a share out of range");
	return 0;
}

static void share_print(double share, struct sbuf *out)
{
	/* A share that was read has less than 15 digits, so this is exact. printf("%f") would use
	 * the locale's decimal point. */
	uint64_t m = (uint64_t)(share * 1e8 + 0.5), whole = m / 1000000, part = m % 1000000;
	unsigned digits = 6;

	sbuf_addf(out, "%" PRIu64, whole);
	for (; part != 0 && part % 10 == 0; digits--)
		part /= 10;
	if (part != 0)
		sbuf_addf(out, ".%0*" PRIu64, (int)digits, part);
	sbuf_addc(out, '%');
}

/* ---- arrivals ---- */

static const struct vspec time_spec = {.type = &vt_duration,
				       .min = 1,
				       .max = UINT64_C(3600000000000)};
static const struct vspec frames_spec = {.type = &vt_uint, .min = 1, .max = ARRIVAL_BURST_MAX};
static const struct vspec seed_spec = {.type = &vt_uint, .min = 1, .max = UINT64_MAX};

static int burst_parse(const struct vspec *s, const struct words *w, unsigned *used,
		       struct arrival *a, struct err *e)
{
	uint64_t frames;
	int rc = value_at(s, w, 1, &frames_spec, "does not say how many frames: \"burst 64\"",
			  &frames, e);

	if (rc != 0)
		return rc;
	a->kind = ARRIVAL_BURST;
	a->burst = (uint32_t)frames;
	*used = 2;
	if (!arrival_text_is(w, 2, "gap"))
		return 0;
	*used = 4;
	return value_at(s, w, 3, &time_spec, "does not say how long the gap is: \"gap 1ms\"",
			&a->gap_ns, e);
}

static int kind_parse(const struct vspec *s, const struct words *w, unsigned *used,
		      struct arrival *a, struct err *e)
{
	int rc;

	*used = 1;
	if (arrival_text_is(w, 0, "constant"))
		return 0;
	if (arrival_text_is(w, 0, "poisson")) {
		a->kind = ARRIVAL_POISSON;
		return 0;
	}
	if (arrival_text_is(w, 0, "burst"))
		return burst_parse(s, w, used, a, e);
	if (arrival_text_is(w, 0, "jitter")) {
		a->kind = ARRIVAL_JITTER;
		*used = 2;
		return share_at(s, w, 1, 1e-4, 0.5,
				"does not say how much of the period: \"jitter 20%\", 0.01 to 50%",
				&a->share, e);
	}
	if (arrival_text_is(w, 0, "onoff")) {
		a->kind = ARRIVAL_ONOFF;
		*used = 3;
		rc = value_at(s, w, 1, &time_spec, "does not say for how long: \"onoff 10ms 90ms\"",
			      &a->on_ns, e);
		return rc != 0 ? rc
			       : value_at(s, w, 2, &time_spec,
					  "does not say for how long not: \"onoff 10ms 90ms\"",
					  &a->off_ns, e);
	}
	return fail_at(s, w, 0, e, w->n == 0 ? "is empty" : "is no distribution of arrivals");
}

static int arrival_one(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct arrival a;
	struct words w;
	unsigned used = 0;

	memset(&a, 0, sizeof(a));
	arrival_text_split(text, &w);
	int rc = kind_parse(s, &w, &used, &a, e);
	if (rc == 0 && (a.kind == ARRIVAL_POISSON || a.kind == ARRIVAL_JITTER) &&
	    arrival_text_is(&w, used, "seed")) {
		rc = value_at(s, &w, used + 1, &seed_spec, "does not say which seed: \"seed 7\"",
			      &a.seed, e);
		used += 2;
	}
	if (rc == 0 && used < w.n)
		rc = fail_at(s, &w, used, e, "has more after it");
	if (rc == 0)
		memcpy(out, &a, sizeof(a));
	return rc;
}

static void arrival_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	static const char *const names[] = {"constant", "poisson", "burst", "jitter", "onoff"};
	struct arrival a;

	(void)s;
	memcpy(&a, v, sizeof(a));
	sbuf_add(out, names[a.kind]);
	if (a.kind == ARRIVAL_BURST)
		sbuf_addf(out, " %" PRIu32, a.burst);
	if (a.gap_ns != 0) {
		sbuf_add(out, " gap ");
		vt_duration.print(&time_spec, &a.gap_ns, out);
	}
	if (a.kind == ARRIVAL_JITTER) {
		sbuf_addc(out, ' ');
		share_print(a.share, out);
	}
	if (a.kind == ARRIVAL_ONOFF) {
		sbuf_addc(out, ' ');
		vt_duration.print(&time_spec, &a.on_ns, out);
		sbuf_addc(out, ' ');
		vt_duration.print(&time_spec, &a.off_ns, out);
	}
	if (a.seed != 0)
		sbuf_addf(out, " seed %" PRIu64, a.seed);
}

/* Offers words that begin like the last word of prefix, each with the rest of prefix before it. */
static void offer_words(const char *prefix, const char *const *words,
			void (*offer)(void *, const char *), void *arg)
{
	size_t begin = strlen(prefix);

	while (begin > 0 && prefix[begin - 1] != ' ')
		begin--;
	for (; *words != NULL; words++) {
		struct sbuf whole = {0};
		if (strncmp(*words, prefix + begin, strlen(prefix + begin)) != 0)
			continue;
		sbuf_addn(&whole, prefix, begin);
		sbuf_add(&whole, *words);
		offer(arg, whole.s);
		sbuf_free(&whole);
	}
}

/* Splits prefix and returns how many words are complete: those with a space behind them. */
static unsigned complete_words(const char *prefix, struct words *w)
{
	size_t n = strlen(prefix);

	arrival_text_split(prefix, w);
	return w->n - (w->n > 0 && n > 0 && prefix[n - 1] != ' ');
}

static void arrival_complete(const struct vspec *s, const char *prefix,
			     void (*offer)(void *, const char *), void *arg)
{
	static const char *const first[] = {"constant", "poisson", "burst",
					    "jitter",   "onoff",   NULL},
				 *const gap[] = {"gap", NULL}, *const seed[] = {"seed", NULL};
	struct words w;
	unsigned n = complete_words(prefix, &w);

	(void)s;
	if (n == 0)
		offer_words(prefix, first, offer, arg);
	else if (n == 2 && arrival_text_is(&w, 0, "burst"))
		offer_words(prefix, gap, offer, arg);
	else if ((n == 1 && arrival_text_is(&w, 0, "poisson")) ||
		 (n == 2 && arrival_text_is(&w, 0, "jitter")))
		offer_words(prefix, seed, offer, arg);
}

static const char *arrival_about(const struct vspec *s, const char *word)
{
	static const struct {
		const char *word, *about;
	} lines[] = {
		{"constant", "all gaps the same"},
		{"poisson", "exponential gaps with the period as their mean"},
		{"burst",
		 "so many frames at wire speed, as often as the rate asks for; with gap: at the rate, then nothing for so long"},
		{"jitter", "+- so much of the period around a constant spacing, in order"},
		{"onoff", "the rate for so long, then nothing for so long"},
	};

	(void)s;
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++)
		if (strcmp(word, lines[i].word) == 0)
			return lines[i].about;
	return NULL;
}

static int arrival_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(arrival_one, s, text, out, e);
}

const struct vtype vt_arrival = {
	.name = "arrival",
	.syntax =
		"constant | poisson [seed N] | burst N [gap T] | jitter 0.01..50% [seed N] | onoff T T",
	.size = sizeof(struct arrival),
	.parse = arrival_parse,
	.print = arrival_print,
	.complete = arrival_complete,
	.about = arrival_about,
};

/* ---- catching up ---- */

static int catchup_one(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct catchup c;
	struct words w;
	unsigned used = 1;
	int rc = 0;

	memset(&c, 0, sizeof(c));
	arrival_text_split(text, &w);
	if (arrival_text_is(&w, 0, "skip")) {
		c.kind = CATCHUP_SKIP;
	} else if (arrival_text_is(&w, 0, "overspeed")) {
		c.kind = CATCHUP_OVERSPEED;
		used = 2;
		rc = share_at(s, &w, 1, 1e-4, 100,
			      "does not say how much faster: \"overspeed 10%\", 0.01 to 10000%",
			      &c.share, e);
	} else if (!arrival_text_is(&w, 0, "keep")) {
		rc = fail_at(s, &w, 0, e, w.n == 0 ? "is empty" : "is no way to catch up");
	}
	if (rc == 0 && used < w.n)
		rc = fail_at(s, &w, used, e, "has more after it");
	if (rc == 0)
		memcpy(out, &c, sizeof(c));
	return rc;
}

static void catchup_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	static const char *const names[] = {"keep", "skip", "overspeed"};
	struct catchup c;

	(void)s;
	memcpy(&c, v, sizeof(c));
	sbuf_add(out, names[c.kind]);
	if (c.kind == CATCHUP_OVERSPEED) {
		sbuf_addc(out, ' ');
		share_print(c.share, out);
	}
}

static void catchup_complete(const struct vspec *s, const char *prefix,
			     void (*offer)(void *, const char *), void *arg)
{
	static const char *const words[] = {"keep", "skip", "overspeed", NULL};
	struct words w;

	(void)s;
	if (complete_words(prefix, &w) == 0)
		offer_words(prefix, words, offer, arg);
}

static const char *catchup_about(const struct vspec *s, const char *word)
{
	(void)s;
	return strcmp(word, "keep") == 0
		       ? "every frame is sent, as fast as it can be: the average stays"
	       : strcmp(word, "skip") == 0
		       ? "frames later than lag are not sent, and counted as unsent"
	       : strcmp(word, "overspeed") == 0
		       ? "every frame is sent, at most so much faster than asked"
		       : NULL;
}

static int catchup_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(catchup_one, s, text, out, e);
}

const struct vtype vt_catchup = {
	.name = "catchup",
	.syntax = "keep | skip | overspeed 0.01..10000%",
	.size = sizeof(struct catchup),
	.parse = catchup_parse,
	.print = catchup_print,
	.complete = catchup_complete,
	.about = catchup_about,
};
