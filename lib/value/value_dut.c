/* SPDX-License-Identifier: BSD-3-Clause */
/* The types for what a device under test does to frames: hits, limit, delay, flap. Their values
 * have several words, which are split here and parsed by the types of the single words. */
#include "value_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WORDS 4

struct words {
	unsigned n;
	int col[WORDS];
	char w[WORDS][48];
};

/* Splits text at blanks. -EINVAL with *e: it has more or longer words than any value has. */
static int device_split(const struct vspec *s, const char *text, struct words *out, struct err *e)
{
	const char *p = text;

	*out = (struct words){0};
	for (;;) {
		p += strspn(p, " \t");
		if (*p == '\0')
			return 0;
		size_t len = strcspn(p, " \t");
		if (out->n == WORDS || len >= sizeof(out->w[0]))
			return vspec_fail(s, EINVAL, (int)(p - text), e, text,
					  "has more after the value");
		out->col[out->n] = (int)(p - text);
		memcpy(out->w[out->n++], p, len);
		p += len;
	}
}

/* Parses word i as a value of type t. An error shows the whole text and what s allows. */
static int word_value(const struct vspec *s, const struct vtype *t, const char *text,
		      const struct words *w, unsigned i, void *out, struct err *e)
{
	struct vspec of = {.type = t};

	if (i >= w->n)
		return vspec_fail(s, EINVAL, (int)strlen(text), e, text,
				  "has nothing behind \"%s\"", i > 0 ? w->w[i - 1] : "");
	if (t->parse(&of, w->w[i], out, NULL) == 0)
		return 0;
	return vspec_fail(s, EINVAL, w->col[i], e, text, "has \"%s\", which is no %s", w->w[i],
			  t->name);
}

static bool is_none(const struct words *w)
{
	return w->n == 1 && (strcmp(w->w[0], "none") == 0 || strcmp(w->w[0], "off") == 0 ||
			     strcmp(w->w[0], "0") == 0 || strcmp(w->w[0], "0%") == 0 ||
			     strcmp(w->w[0], "0s") == 0);
}

static int too_many(const struct vspec *s, const char *text, const struct words *w, unsigned most,
		    struct err *e)
{
	return w->n > most ? vspec_fail(s, EINVAL, w->col[most], e, text,
					"has \"%s\" behind the value", w->w[most])
			   : 0;
}

static void offer_words(const char *const *words, const char *prefix,
			void (*offer)(void *, const char *), void *arg)
{
	for (; *words != NULL; words++)
		if (word_starts(*words, prefix))
			offer(arg, *words);
}

/* Offers a word after the words that are written already, unless it is among them. */
static void offer_next(const char *word, const char *prefix, void (*offer)(void *, const char *),
		       void *arg)
{
	const char *blank = strrchr(prefix, ' '), *tail = blank != NULL ? blank + 1 : prefix;
	char text[128];

	if (prefix[0] == '\0' || !word_starts(word, tail) ||
	    (blank != NULL && strstr(prefix, word) != NULL && tail[0] == '\0'))
		return;
	if (blank != NULL && strcmp(prefix, "every ") == 0)
		return;
	snprintf(text, sizeof(text), "%.*s%s", (int)(tail - prefix), prefix, word);
	offer(arg, text);
}

/* ---- hits: "none", "0.1%", "every 1000", each with an option "burst 8" ---- */

static int hits_share(const struct vspec *s, const char *text, const struct words *w,
		      struct hits *h, unsigned *used, struct err *e)
{
	struct rate r;
	int rc;

	if (w->n > 0 && strcmp(w->w[0], "every") == 0) {
		rc = word_value(s, &vt_uint, text, w, 1, &h->every, e);
		*used = 2;
		return rc == 0 && h->every == 0
			       ? vspec_fail(s, ERANGE, w->col[1], e, text, "hits every 0th frame")
			       : rc;
	}
	rc = word_value(s, &vt_rate, text, w, 0, &r, e);
	*used = 1;
	if (rc == 0 && r.kind != RATE_PERCENT)
		return vspec_fail(s, EINVAL, w->col[0], e, text, "is no share of the frames");
	h->percent = rc == 0 ? r.value : 0;
	return rc;
}

static int hits_one(const struct vspec *s, const char *text, void *out, struct err *e)
{
	const char *option = s->choices != NULL ? s->choices[0] : NULL;
	struct hits h = {0};
	struct words w;
	unsigned used;
	int rc = device_split(s, text, &w, e);

	if (rc == 0 && !is_none(&w)) {
		rc = hits_share(s, text, &w, &h, &used, e);
		if (rc == 0 && used < w.n && option != NULL && strcmp(w.w[used], option) == 0) {
			rc = word_value(s, &vt_uint, text, &w, used + 1, &h.with, e);
			if (rc == 0 && (h.with < s->min || h.with > s->max))
				rc = vspec_fail(s, ERANGE, w.col[used + 1], e, text,
						"has %s %" PRIu64 ", not %" PRIu64 " to %" PRIu64,
						option, h.with, s->min, s->max);
			h.has_with = true;
			used += 2;
		}
		if (rc == 0)
			rc = too_many(s, text, &w, used, e);
	}
	if (rc == 0)
		memcpy(out, &h, sizeof(h));
	return rc;
}

static void hits_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	struct hits h;

	memcpy(&h, v, sizeof(h));
	if (h.every != 0)
		sbuf_addf(out, "every %" PRIu64, h.every);
	else if (h.percent > 0)
		vt_rate.print(s, &(struct rate){.kind = RATE_PERCENT, .value = h.percent}, out);
	else
		sbuf_add(out, "none");
	if (h.has_with)
		sbuf_addf(out, " %s %" PRIu64, s->choices[0], h.with);
}

static void hits_complete(const struct vspec *s, const char *prefix,
			  void (*offer)(void *, const char *), void *arg)
{
	static const char *const words[] = {"none", "0.1%", "1%", "every", NULL};

	offer_words(words, prefix, offer, arg);
	if (s->choices != NULL)
		offer_next(s->choices[0], prefix, offer, arg);
}

static void hits_allowed(const struct vspec *s, struct sbuf *out)
{
	sbuf_add(out, s->type->syntax);
	if (s->choices != NULL)
		sbuf_addf(out, ", each with [%s N], N %" PRIu64 " to %" PRIu64, s->choices[0],
			  s->min, s->max);
}

static int hits_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(hits_one, s, text, out, e);
}

const struct vtype vt_hits = {.name = "share",
			      .syntax = "none | 0.1% | every N",
			      .size = sizeof(struct hits),
			      .parse = hits_parse,
			      .print = hits_print,
			      .complete = hits_complete,
			      .allowed = hits_allowed};

/* ---- limit: "none", "3Mpps queue 512" ---- */

static int limit_one(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct rate_limit l = {.rate = {.kind = RATE_MAX}, .queue = s->min};
	struct words w;
	unsigned used = 1;
	int rc = device_split(s, text, &w, e);

	if (rc == 0 && !is_none(&w) && !(w.n == 1 && strcmp(w.w[0], "max") == 0)) {
		rc = word_value(s, &vt_rate, text, &w, 0, &l.rate, e);
		if (rc == 0 && l.rate.kind == RATE_MAX)
			rc = vspec_fail(s, EINVAL, 0, e, text, "is no limit");
		if (rc == 0 && w.n > 1 && strcmp(w.w[1], "queue") == 0) {
			rc = word_value(s, &vt_uint, text, &w, 2, &l.queue, e);
			if (rc == 0 && (l.queue < 1 || l.queue > s->max))
				rc = vspec_fail(s, ERANGE, w.col[2], e, text,
						"has a queue of %" PRIu64
						" frames, not 1 to %" PRIu64,
						l.queue, s->max);
			used = 3;
		}
		if (rc == 0)
			rc = too_many(s, text, &w, used, e);
	}
	if (rc == 0)
		memcpy(out, &l, sizeof(l));
	return rc;
}

static void limit_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	struct rate_limit l;

	memcpy(&l, v, sizeof(l));
	if (l.rate.kind == RATE_MAX) {
		sbuf_add(out, "none");
		return;
	}
	vt_rate.print(s, &l.rate, out);
	sbuf_addf(out, " queue %" PRIu64, l.queue);
}

static void limit_complete(const struct vspec *s, const char *prefix,
			   void (*offer)(void *, const char *), void *arg)
{
	static const char *const words[] = {"none", "1Mpps", "1Gbps", "50%", NULL};

	offer_words(words, prefix, offer, arg);
	if (prefix[0] == '\0' || strchr(prefix, ' ') != NULL)
		offer_next("queue", prefix, offer, arg);
	else
		vt_rate.complete(s, prefix, offer, arg);
}

static void limit_allowed(const struct vspec *s, struct sbuf *out)
{
	sbuf_addf(out, "%s, N 1 to %" PRIu64, s->type->syntax, s->max);
}

static void limit_number(const struct vspec *s, double n, struct sbuf *out)
{
	vt_rate.number(s, n, out);
}

static int limit_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(limit_one, s, text, out, e);
}

const struct vtype vt_limit = {.name = "limit",
			       .syntax = "none | RATE [queue N], RATE 3Mpps, 1Gbps[/l2] or 10%",
			       .size = sizeof(struct rate_limit),
			       .parse = limit_parse,
			       .print = limit_print,
			       .complete = limit_complete,
			       .allowed = limit_allowed,
			       .number = limit_number};

/* ---- delay: "1ms", "1ms..2ms", "normal 1ms 100us", "exponential 1ms" ---- */

static const char *const laws[] = {[DELAY_FIXED] = "",
				   [DELAY_UNIFORM] = "",
				   [DELAY_NORMAL] = "normal",
				   [DELAY_EXPONENTIAL] = "exponential"};

static int delay_limits(const struct vspec *s, const char *text, uint64_t ns, struct err *e)
{
	return s->max != 0 && ns > s->max ? vspec_fail(s, ERANGE, 0, e, text, "is too long") : 0;
}

static int delay_range(const struct vspec *s, const char *text, struct words *w, struct delay *d,
		       struct err *e)
{
	char *dots = strstr(w->w[0], "..");
	int rc;

	if (dots == NULL) {
		d->law = DELAY_FIXED;
		return word_value(s, &vt_duration, text, w, 0, &d->a_ns, e);
	}
	d->law = DELAY_UNIFORM;
	*dots = '\0';
	rc = word_value(s, &vt_duration, text, w, 0, &d->a_ns, e);
	memmove(w->w[0], dots + 2, strlen(dots + 2) + 1);
	if (rc == 0)
		rc = word_value(s, &vt_duration, text, w, 0, &d->b_ns, e);
	if (rc == 0 && d->b_ns <= d->a_ns)
		rc = vspec_fail(s, EINVAL, 0, e, text, "does not end above its begin");
	return rc;
}

static int delay_one(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct delay d = {0};
	struct words w;
	unsigned used = 1;
	int rc = device_split(s, text, &w, e);

	if (rc == 0 && !is_none(&w)) {
		if (w.n > 0 && strcmp(w.w[0], laws[DELAY_NORMAL]) == 0) {
			d.law = DELAY_NORMAL;
			rc = word_value(s, &vt_duration, text, &w, 1, &d.a_ns, e);
			if (rc == 0)
				rc = word_value(s, &vt_duration, text, &w, 2, &d.b_ns, e);
			used = 3;
		} else if (w.n > 0 && strcmp(w.w[0], laws[DELAY_EXPONENTIAL]) == 0) {
			d.law = DELAY_EXPONENTIAL;
			rc = word_value(s, &vt_duration, text, &w, 1, &d.a_ns, e);
			used = 2;
		} else {
			rc = delay_range(s, text, &w, &d, e);
		}
		if (rc == 0)
			rc = too_many(s, text, &w, used, e);
		if (rc == 0)
			rc = delay_limits(s, text, d.a_ns > d.b_ns ? d.a_ns : d.b_ns, e);
	}
	if (rc == 0)
		memcpy(out, &d, sizeof(d));
	return rc;
}

static void delay_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	struct delay d;

	memcpy(&d, v, sizeof(d));
	if (d.law == DELAY_NORMAL || d.law == DELAY_EXPONENTIAL)
		sbuf_addf(out, "%s ", laws[d.law]);
	vt_duration.print(s, &d.a_ns, out);
	if (d.law == DELAY_UNIFORM)
		sbuf_add(out, "..");
	else if (d.law == DELAY_NORMAL)
		sbuf_addc(out, ' ');
	else
		return;
	vt_duration.print(s, &d.b_ns, out);
}

static void delay_complete(const struct vspec *s, const char *prefix,
			   void (*offer)(void *, const char *), void *arg)
{
	static const char *const words[] = {"none",   "1ms",         "1ms..2ms",
					    "normal", "exponential", NULL};

	offer_words(words, prefix, offer, arg);
	vt_duration.complete(s, prefix, offer, arg);
}

static void delay_allowed(const struct vspec *s, struct sbuf *out)
{
	sbuf_add(out, s->type->syntax);
	if (s->max != 0) {
		sbuf_add(out, ", up to ");
		vt_duration.print(s, &s->max, out);
	}
}

static void delay_number(const struct vspec *s, double n, struct sbuf *out)
{
	vt_duration.number(s, n, out);
}

static int delay_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(delay_one, s, text, out, e);
}

const struct vtype vt_delay = {
	.name = "delay",
	.syntax = "none | 1ms | 1ms..2ms | normal MEAN DEVIATION | exponential MEAN",
	.size = sizeof(struct delay),
	.parse = delay_parse,
	.print = delay_print,
	.complete = delay_complete,
	.allowed = delay_allowed,
	.number = delay_number};

/* ---- flap: "none", "100ms every 10s" ---- */

static int flap_one(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct flap f = {0};
	struct words w;
	int rc = device_split(s, text, &w, e);

	if (rc == 0 && !is_none(&w)) {
		rc = word_value(s, &vt_duration, text, &w, 0, &f.down_ns, e);
		if (rc == 0 && (w.n < 2 || strcmp(w.w[1], "every") != 0))
			rc = vspec_fail(s, EINVAL, (int)strlen(w.w[0]), e, text,
					"does not say how often");
		if (rc == 0)
			rc = word_value(s, &vt_duration, text, &w, 2, &f.every_ns, e);
		if (rc == 0)
			rc = too_many(s, text, &w, 3, e);
		if (rc == 0 && f.down_ns < s->min)
			rc = vspec_fail(s, ERANGE, 0, e, text, "is down for too short a time");
		if (rc == 0 && (f.every_ns < f.down_ns + s->min || f.every_ns > s->max))
			rc = vspec_fail(s, ERANGE, w.col[2], e, text, "%s",
					f.every_ns > s->max ? "comes too seldom"
							    : "leaves no time to be up");
	}
	if (rc == 0)
		memcpy(out, &f, sizeof(f));
	return rc;
}

static void flap_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	struct flap f;

	memcpy(&f, v, sizeof(f));
	if (f.every_ns == 0) {
		sbuf_add(out, "none");
		return;
	}
	vt_duration.print(s, &f.down_ns, out);
	sbuf_add(out, " every ");
	vt_duration.print(s, &f.every_ns, out);
}

static void flap_complete(const struct vspec *s, const char *prefix,
			  void (*offer)(void *, const char *), void *arg)
{
	static const char *const words[] = {"none", "100ms", NULL};

	offer_words(words, prefix, offer, arg);
	if (strchr(prefix, ' ') != NULL)
		offer_next("every", prefix, offer, arg);
	else
		vt_duration.complete(s, prefix, offer, arg);
}

static void flap_allowed(const struct vspec *s, struct sbuf *out)
{
	sbuf_addf(out, "%s; down and up for ", s->type->syntax);
	vt_duration.print(s, &s->min, out);
	sbuf_add(out, " at least, every ");
	vt_duration.print(s, &s->max, out);
	sbuf_add(out, " at most");
}

static int flap_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(flap_one, s, text, out, e);
}

const struct vtype vt_flap = {.name = "flap",
			      .syntax = "none | TIME_DOWN every PERIOD",
			      .size = sizeof(struct flap),
			      .parse = flap_parse,
			      .print = flap_print,
			      .complete = flap_complete,
			      .allowed = flap_allowed};
