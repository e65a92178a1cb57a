/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes texts of variations and sizes apart. */
#include "form.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const words[FORM_NWORDS + 1] = {"step", "from", "repeat", "seed", "mask", NULL};

static bool form_blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t form_skip(const char *text, size_t i)
{
	return i + strspn(text + i, " \t");
}

static size_t word_end(const char *text, size_t i)
{
	return i + strcspn(text + i, " \t");
}

static bool word_is(const char *text, size_t at, const char *word)
{
	size_t n = strlen(word);

	return strncmp(text + at, word, n) == 0 &&
	       (text[at + n] == '\0' || form_blank(text[at + n]));
}

static int word_at(const char *text, size_t at)
{
	for (int w = 0; w < FORM_NWORDS; w++)
		if (word_is(text, at, words[w]))
			return w;
	return -1;
}

/* Where the values end that begin at `at`. Blanks around commas and ".." do not end them: "1, 2 ,
 * 3", "1 .. 9". */
static size_t values_end(const char *text, size_t at)
{
	size_t end = word_end(text, at);

	for (;;) {
		size_t next = form_skip(text, end);
		bool glued = end > at && (text[end - 1] == ',' ||
					  (end > at + 1 && strncmp(text + end - 2, "..", 2) == 0));
		if (text[next] == '\0' ||
		    (!glued && text[next] != ',' && strncmp(text + next, "..", 2) != 0))
			return end;
		end = word_end(text, next);
	}
}

static int scan_word(const struct vspec *s, struct form *f, size_t *i, unsigned allowed,
		     struct err *e)
{
	const char *text = f->text, *near, *known[FORM_NWORDS];
	int w = word_at(text, *i);
	char given[24];
	size_t n = word_end(text, *i) - *i, nknown = 0;

	snprintf(given, sizeof(given), "%.*s", (int)(n < sizeof(given) ? n : sizeof(given) - 1),
		 text + *i);
	if (w < 0 || !(allowed >> w & 1)) {
		for (int k = 0; k < FORM_NWORDS; k++)
			if (allowed >> k & 1)
				known[nknown++] = words[k];
		near = str_nearest(given, known, nknown);
		if (near != NULL)
			return vspec_fail(s, EINVAL, (int)*i, e, text,
					  "has \"%s\" after the value, did you mean \"%s\"", given,
					  near);
		return vspec_fail(s, EINVAL, (int)*i, e, text, "has more after the value");
	}
	if (f->opt[w].len != 0)
		return vspec_fail(s, EINVAL, (int)*i, e, text, "says %s twice", words[w]);
	f->opt[w].word = *i;
	f->opt[w].at = form_skip(text, *i + n);
	f->opt[w].len = word_end(text, f->opt[w].at) - f->opt[w].at;
	if (f->opt[w].len == 0)
		return vspec_fail(s, EINVAL, (int)strlen(text), e, text, "says no value for %s",
				  words[w]);
	*i = form_skip(text, f->opt[w].at + f->opt[w].len);
	return 0;
}

int form_scan(const struct vspec *s, const char *text, unsigned allowed, struct form *out,
	      struct err *e)
{
	struct form f = {.text = text,
			 .random = word_is(text, 0, "random"),
			 .list = word_is(text, 0, "list")};
	size_t i = f.random || f.list ? form_skip(text, word_end(text, 0)) : 0;

	if (f.list && text[i] == '\0')
		return vspec_fail(s, EINVAL, (int)i, e, text, "has no values");
	f.at = i;
	if (!f.random || word_at(text, i) < 0) {
		f.len = values_end(text, i) - i;
		i = form_skip(text, i + f.len);
	}
	while (text[i] != '\0') {
		int rc = scan_word(s, &f, &i, allowed, e);
		if (rc != 0)
			return rc;
	}
	*out = f;
	return 0;
}

int form_only(const struct vspec *s, const struct form *f, unsigned allowed, const char *what,
	      struct err *e)
{
	for (int w = 0; w < FORM_NWORDS; w++)
		if (f->opt[w].len != 0 && !(allowed >> w & 1))
			return vspec_fail(s, EINVAL, (int)f->opt[w].word, e, f->text,
					  "has \"%s\", which does not belong to %s", words[w],
					  what);
	return 0;
}

int form_value(const struct form *f, const struct vspec *part, size_t at, size_t len, void *out,
	       struct err *e)
{
	char buf[256];

	if (len >= sizeof(buf))
		return err_at(e, EINVAL, (int)at, "\"%.40s...\" is too long for one value",
			      f->text + at);
	memcpy(buf, f->text + at, len);
	buf[len] = '\0';
	int rc = part->type->parse(part, buf, out, e);
	if (rc != 0 && e != NULL)
		e->col = (int)at + (e->col > 0 ? e->col : 0);
	return rc;
}

int form_number(const struct form *f, enum form_word w, uint64_t max, uint64_t *out, struct err *e)
{
	const struct vspec number = {.type = &vt_uint, .min = 1, .max = max};

	return f->opt[w].len != 0 ? form_value(f, &number, f->opt[w].at, f->opt[w].len, out, e) : 0;
}

size_t form_dots(const struct form *f)
{
	for (size_t i = 0; i + 1 < f->len; i++)
		if (f->text[f->at + i] == '.' && f->text[f->at + i + 1] == '.')
			return f->at + i;
	return SIZE_MAX;
}

bool form_item(const struct form *f, size_t *at, size_t *item, size_t *len)
{
	size_t end = f->at + f->len, i = *at;

	if (i > end)
		return false;
	while (i < end && f->text[i] != ',')
		i++;
	size_t first = *at, last = i;
	while (first < last && form_blank(f->text[first]))
		first++;
	while (last > first && form_blank(f->text[last - 1]))
		last--;
	*item = first;
	*len = last - first;
	*at = i + 1;
	return true;
}

void form_complete(const char *prefix, unsigned range, unsigned random, unsigned single,
		   void (*offer)(void *, const char *), void *arg)
{
	size_t begin = strlen(prefix), i = 0;
	struct sbuf whole = {0};
	unsigned now, given = 0;
	int last = -1;

	while (begin > 0 && !form_blank(prefix[begin - 1]))
		begin--;
	if (begin == 0) {
		for (unsigned w = 0; w < 2; w++)
			if (strncmp(w == 0 ? "random" : "list", prefix, strlen(prefix)) == 0)
				offer(arg, w == 0 ? "random" : "list");
		return;
	}
	if (word_is(prefix, 0, "list"))
		return;
	now = word_is(prefix, 0, "random") ? random : strstr(prefix, "..") != NULL ? range : single;
	/* every other word has a value after it */
	for (i = form_skip(prefix, word_end(prefix, 0)); i < begin;
	     i = form_skip(prefix, word_end(prefix, i))) {
		last = last < 0 ? word_at(prefix, i) : -1;
		if (last >= 0)
			given |= 1u << last;
	}
	if (given >> FORM_MASK & 1)
		now = random;
	for (int w = 0; last < 0 && w < FORM_NWORDS; w++) {
		if (!(now >> w & 1) || given >> w & 1 ||
		    strncmp(words[w], prefix + begin, strlen(prefix + begin)) != 0)
			continue;
		sbuf_reset(&whole);
		sbuf_addn(&whole, prefix, begin);
		sbuf_add(&whole, words[w]);
		offer(arg, whole.s);
	}
	sbuf_free(&whole);
}
