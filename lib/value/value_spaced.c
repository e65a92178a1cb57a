/* SPDX-License-Identifier: BSD-3-Clause */
/* Allows blanks that people write inside of a value: between a number and its unit ("10 gbps"), and
 * beside the dots of a range ("1Mpps .. 5Mpps"). */
#include "value_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool value_is_unit(const char *word)
{
	static const char *const alone[] = {"%",       "ppm",   "ppb",     "ns",      "us",
					    "ms",      "s",     "m",       "h",       "nsec",
					    "usec",    "msec",  "sec",     "secs",    "second",
					    "seconds", "min",   "mins",    "minute",  "minutes",
					    "hour",    "hours", "\u00b5s", "\u03bcs", "k",
					    "g",       "t",     "b",       "byte",    "bytes",
					    "kb",      "mb",    "gb",      "tb",      "kib",
					    "mib",     "gib",   "tib"};
	static const char *const scaled[] = {"pps", "p/s", "bps", "b/s", "bit", "bit/s", "bits/s"};
	char text[16];
	size_t n = strlen(word);

	if (n > 3 && (strcmp(word + n - 3, "/l1") == 0 || strcmp(word + n - 3, "/l2") == 0))
		n -= 3;
	if (n == 0 || n >= sizeof(text))
		return false;
	memcpy(text, word, n);
	text[n] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(alone); i++)
		if (strcasecmp(text, alone[i]) == 0)
			return true;
	size_t scale = strchr("kmgt", tolower((unsigned char)text[0])) != NULL;
	for (size_t i = 0; i < ARRAY_SIZE(scaled); i++)
		if (strcasecmp(text + scale, scaled[i]) == 0)
			return true;
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Says whether the text so far ends in a number. */
static bool ends_in_number(const struct sbuf *b)
{
	size_t i = b->len;

	while (i > 0 && !is_blank(b->s[i - 1]) && b->s[i - 1] != ',' &&
	       !(b->s[i - 1] == '.' && i > 1 && b->s[i - 2] == '.'))
		i--;
	return b->len > 0 && isdigit((unsigned char)b->s[i]) &&
	       isdigit((unsigned char)b->s[b->len - 1]);
}

/* Says whether the text at p, after blanks, goes on with the value in b, so that the blanks can be
 * left out. Else they separate words. */
static bool goes_on(const struct sbuf *b, const char *p)
{
	size_t n = strcspn(p, " \t,");
	/* looked for in the next word only: in all of a long text it would take long each time */
	const char *dots = memmem(p, n, "..", 2);
	char word[16];

	if (b->len == 0 || n == 0)
		return false;
	if (dots == p || (b->len > 1 && strcmp(b->s + b->len - 2, "..") == 0))
		return true;
	if (dots != NULL)
		n = (size_t)(dots - p);
	if (n >= sizeof(word) || !ends_in_number(b))
		return false;
	memcpy(word, p, n);
	word[n] = '\0';
	return value_is_unit(word);
}

int value_spaced(value_parse_fn *parse, const struct vspec *s, const char *text, void *out,
		 struct err *e)
{
	struct sbuf joined = {0};
	size_t dropped = 0;
	int rc = parse(s, text, out, e);

	if (rc == 0 || strpbrk(text, " \t") == NULL)
		return rc;
	/* for each column of the text without the blanks, its column in the text */
	size_t *at = xcalloc(strlen(text) + 1, sizeof(*at));
	for (const char *p = text; *p != '\0';) {
		size_t blanks = strspn(p, " \t");
		if (blanks > 0 && goes_on(&joined, p + blanks)) {
			dropped += blanks;
			p += blanks;
			continue;
		}
		/* blanks that stay are copied all at once, so that goes_on() is asked once for
		 * them */
		for (size_t n = blanks > 0 ? blanks : 1; n > 0; n--) {
			at[joined.len] = (size_t)(p - text);
			sbuf_addc(&joined, *p++);
		}
	}
	at[joined.len] = strlen(text);
	if (dropped > 0) {
		rc = parse(s, joined.s, out, e);
		if (rc != 0 && e != NULL && e->col >= 0)
			e->col = (int)at[(size_t)e->col < joined.len ? (size_t)e->col : joined.len];
	}
	free(at);
	sbuf_free(&joined);
	return rc;
}
