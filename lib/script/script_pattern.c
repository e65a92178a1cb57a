/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out how long a search by Lua's library would take, before it is begun: nothing can
 * interrupt one. The search is done here in the same steps, which are counted and bounded. If
 * something is wrong with the pattern, this stops, and the library says what. */
#include "script_int.h"

#include <ctype.h>
#include <string.h>

#define STEPS_MOST 8000000 /* some 50 ms, and the search itself takes as long again */
#define DEPTH_MOST 200     /* the limit of the library */
#define CAPTURES 32

struct search {
	const unsigned char *text, *end, *pattern, *pattern_end;
	struct {
		const unsigned char *from;
		size_t len;
		bool open;
	} capture[CAPTURES];
	unsigned captures, depth;
	uint64_t steps;
	bool stopped; /* there were too many steps, or the library would refuse the pattern */
};

/* Counts n steps. Returns false when the search is stopped. */
static bool pattern_step(struct search *k, size_t n)
{
	k->steps += n;
	k->stopped |= k->steps > STEPS_MOST;
	return !k->stopped;
}

static const unsigned char *pattern_stop(struct search *k)
{
	k->stopped = true;
	return NULL;
}

static bool in_class(int c, int class)
{
	bool in;

	switch (tolower(class)) {
	case 'a':
		in = isalpha(c);
		break;
	case 'c':
		in = iscntrl(c);
		break;
	case 'd':
		in = isdigit(c);
		break;
	case 'g':
		in = isgraph(c);
		break;
	case 'l':
		in = islower(c);
		break;
	case 'p':
		in = ispunct(c);
		break;
	case 's':
		in = isspace(c);
		break;
	case 'u':
		in = isupper(c);
		break;
	case 'w':
		in = isalnum(c);
		break;
	case 'x':
		in = isxdigit(c);
		break;
	case 'z':
		in = c == 0;
		break;
	default:
		return class == c;
	}
	return isupper(class) ? !in : in;
}

/* Returns where the pattern goes on after a single character, class or set. NULL: the pattern ends
 * within it, which the library will refuse. */
static const unsigned char *single_end(struct search *k, const unsigned char *p)
{
	if (*p == '%')
		return p + 1 < k->pattern_end ? p + 2 : pattern_stop(k);
	if (*p++ != '[')
		return p;
	if (p < k->pattern_end && *p == '^')
		p++;
	do {
		if (p >= k->pattern_end)
			return pattern_stop(k);
		if (*p++ == '%' && p < k->pattern_end)
			p++;
	} while (p >= k->pattern_end || *p != ']');
	return p + 1;
}

/* Says whether a character is in a set. set is at its opening bracket, last at its closing one. */
static bool in_set(struct search *k, int c, const unsigned char *set, const unsigned char *last)
{
	bool in = true;

	if (set[1] == '^') {
		in = false;
		set++;
	}
	while (++set < last) {
		pattern_step(k, 1);
		if (*set == '%') {
			set++;
			if (in_class(c, *set))
				return in;
		} else if (set[1] == '-' && set + 2 < last) {
			set += 2;
			if (set[-2] <= c && c <= *set)
				return in;
		} else if (*set == c) {
			return in;
		}
	}
	return !in;
}

/* Says whether the character at s fits the single item at p; behind is where that item ends. */
static bool fits_single(struct search *k, const unsigned char *s, const unsigned char *p,
			const unsigned char *behind)
{
	if (s >= k->end || !pattern_step(k, 1))
		return false;
	switch (*p) {
	case '.':
		return true;
	case '%':
		return in_class(*s, p[1]);
	case '[':
		return in_set(k, *s, p, behind - 1);
	default:
		return *p == *s;
	}
}

/* Matches the rest of the pattern, from p on, at s. Returns where the match ends; NULL: it
 * fails. */
static const unsigned char *pattern_match(struct search *k, const unsigned char *s,
					  const unsigned char *p);

static const unsigned char *repeat_most(struct search *k, const unsigned char *s,
					const unsigned char *p, const unsigned char *behind)
{
	size_t n = 0;

	while (fits_single(k, s + n, p, behind))
		n++;
	for (;; n--) {
		const unsigned char *e =
			pattern_step(k, 1) ? pattern_match(k, s + n, behind + 1) : NULL;
		if (e != NULL || n == 0 || k->stopped)
			return e;
	}
}

static const unsigned char *repeat_least(struct search *k, const unsigned char *s,
					 const unsigned char *p, const unsigned char *behind)
{
	for (;; s++) {
		const unsigned char *e =
			pattern_step(k, 1) ? pattern_match(k, s, behind + 1) : NULL;
		if (e != NULL || k->stopped || !fits_single(k, s, p, behind))
			return e;
	}
}

static const unsigned char *pattern_balanced(struct search *k, const unsigned char *s,
					     const unsigned char *p)
{
	unsigned long open = 1;

	if (k->pattern_end - p < 2)
		return pattern_stop(k);
	if (s >= k->end || *s != p[0])
		return NULL;
	while (++s < k->end && pattern_step(k, 1)) {
		if (*s == p[1] && --open == 0)
			return s + 1;
		if (*s == p[0] && p[0] != p[1])
			open++;
	}
	return NULL;
}

static const unsigned char *open_capture(struct search *k, const unsigned char *s,
					 const unsigned char *p)
{
	bool place = p + 1 < k->pattern_end && p[1] == ')';

	if (k->captures == CAPTURES)
		return pattern_stop(k);
	k->capture[k->captures].from = s;
	k->capture[k->captures].len = 0;
	k->capture[k->captures++].open = !place;
	const unsigned char *e = pattern_match(k, s, p + 1 + place);
	if (e == NULL)
		k->captures--;
	return e;
}

static const unsigned char *close_capture(struct search *k, const unsigned char *s,
					  const unsigned char *p)
{
	unsigned i = k->captures;

	while (i > 0 && !k->capture[i - 1].open)
		i--;
	if (i == 0)
		return pattern_stop(k);
	k->capture[i - 1].open = false;
	k->capture[i - 1].len = (size_t)(s - k->capture[i - 1].from);
	const unsigned char *e = pattern_match(k, s, p + 1);
	if (e == NULL)
		k->capture[i - 1].open = true;
	return e;
}

static const unsigned char *same_again(struct search *k, const unsigned char *s, unsigned i)
{
	if (i >= k->captures || k->capture[i].open)
		return pattern_stop(k);
	size_t len = k->capture[i].len;
	if ((size_t)(k->end - s) < len || !pattern_step(k, len / 16 + 1) ||
	    memcmp(k->capture[i].from, s, len) != 0)
		return NULL;
	return s + len;
}

static bool at_frontier(struct search *k, const unsigned char *s, const unsigned char *p,
			const unsigned char *behind)
{
	int before = s == k->text ? 0 : s[-1], here = s < k->end ? *s : 0;

	return !in_set(k, before, p, behind - 1) && in_set(k, here, p, behind - 1);
}

/* Matches %b, %f or a number of a capture, and moves *s and *p on; false: it does not fit. */
static bool match_special(struct search *k, const unsigned char **s, const unsigned char **p)
{
	const unsigned char *at = *p, *behind;

	switch (at[1]) {
	case 'b':
		*s = pattern_balanced(k, *s, at + 2);
		*p = at + 4;
		return *s != NULL;
	case 'f':
		at += 2;
		if (at >= k->pattern_end || *at != '[')
			return pattern_stop(k) != NULL;
		behind = single_end(k, at);
		*p = behind;
		return behind != NULL && at_frontier(k, *s, at, behind);
	default:
		*s = at[1] == '0' ? pattern_stop(k) : same_again(k, *s, at[1] - '1');
		*p = at + 2;
		return *s != NULL;
	}
}

static const unsigned char *match_from(struct search *k, const unsigned char *s,
				       const unsigned char *p)
{
	while (p < k->pattern_end && pattern_step(k, 1)) {
		if (*p == '(')
			return open_capture(k, s, p);
		if (*p == ')')
			return close_capture(k, s, p);
		if (*p == '$' && p + 1 == k->pattern_end)
			return s == k->end ? s : NULL;
		if (*p == '%' && p + 1 < k->pattern_end &&
		    (p[1] == 'b' || p[1] == 'f' || isdigit(p[1]))) {
			if (!match_special(k, &s, &p))
				return NULL;
			continue;
		}
		const unsigned char *behind = single_end(k, p);
		if (behind == NULL)
			return NULL;
		int how = behind < k->pattern_end ? *behind : 0;
		if (how == '*')
			return repeat_most(k, s, p, behind);
		if (how == '+')
			return fits_single(k, s, p, behind) ? repeat_most(k, s + 1, p, behind)
							    : NULL;
		if (how == '-')
			return repeat_least(k, s, p, behind);
		bool fits = fits_single(k, s, p, behind);
		if (how == '?') {
			const unsigned char *e = fits ? pattern_match(k, s + 1, behind + 1) : NULL;
			if (e != NULL)
				return e;
			p = behind + 1;
			continue;
		}
		if (!fits)
			return NULL;
		s++;
		p = behind;
	}
	return k->stopped ? NULL : s;
}

static const unsigned char *pattern_match(struct search *k, const unsigned char *s,
					  const unsigned char *p)
{
	if (k->depth == DEPTH_MOST) {
		k->steps = STEPS_MOST + 1;
		return pattern_stop(k);
	}
	k->depth++;
	const unsigned char *e = match_from(k, s, p);
	k->depth--;
	return e;
}

/* Counts the search for a plain text: each place that has its first character is tried. */
static void look_plain(struct search *k)
{
	size_t n = (size_t)(k->pattern_end - k->pattern);

	for (const unsigned char *s = k->text; n > 0 && (size_t)(k->end - s) >= n; s++) {
		size_t same = 1;
		s = memchr(s, *k->pattern, (size_t)(k->end - s));
		if (s == NULL || (size_t)(k->end - s) < n)
			return;
		while (same < n && s[same] == k->pattern[same])
			same++;
		if (same == n || !pattern_step(k, same))
			return;
	}
}

/* Counts the search for a pattern: each place is tried, up to the first that fits, or all of
 * them. */
static void look_all(struct search *k, bool all)
{
	bool fixed = k->pattern < k->pattern_end && *k->pattern == '^';
	const unsigned char *p = k->pattern + fixed;

	for (const unsigned char *s = k->text; s <= k->end && pattern_step(k, 1);) {
		k->captures = 0;
		const unsigned char *e = pattern_match(k, s, p);
		if (k->stopped || fixed || (e != NULL && !all))
			return;
		s = e != NULL && e > s ? e : s + 1;
	}
}

bool pattern_takes_long(const char *text, size_t len, const char *pattern, size_t plen,
			enum pattern_use use)
{
	struct search k = {.text = (const unsigned char *)text,
			   .pattern = (const unsigned char *)pattern};

	k.end = k.text + len;
	/* the library takes a zero byte for the end of a pattern */
	k.pattern_end = k.pattern + (use == PATTERN_PLAIN ? plen : strnlen(pattern, plen));
	if (use == PATTERN_PLAIN ||
	    (use == PATTERN_FIRST && strpbrk(pattern, "^$*+?.([%-") == NULL &&
	     strlen(pattern) == plen))
		look_plain(&k);
	else
		look_all(&k, use == PATTERN_ALL);
	return k.steps > STEPS_MOST;
}
