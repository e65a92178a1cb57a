/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells which of the lines that a command printed are its documents. */
#include "sess.h"

#include <stdlib.h>
#include <string.h>

/* Returns a value as text, with as many digits as documents are printed with, so that a value that
 * was printed and read back gives the same text. */
static char *printed_dump(const json_t *v)
{
	return json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

/* Finds the first result from *next on whose text is this one, and moves *next behind it. */
static bool printed_find(const char *text, size_t n, const json_t *results, size_t *next)
{
	bool found = false;

	for (size_t i = *next; !found && i < json_array_size(results); i++) {
		char *one = printed_dump(json_array_get(results, i));
		found = one != NULL && strlen(one) == n && memcmp(one, text, n) == 0;
		*next = found ? i + 1 : *next;
		free(one);
	}
	return found;
}

/* Says whether a line is one of the results. Most lines are written just as printed_dump() writes
 * them;
 * only another line is parsed, which takes much longer. */
static bool is_result(const char *line, size_t n, const json_t *results, size_t *next)
{
	if (*next >= json_array_size(results))
		return false;
	if (printed_find(line, n, results, next))
		return true;
	json_t *doc = json_loadb(line, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	char *text = doc != NULL ? printed_dump(doc) : NULL;
	bool found = text != NULL && printed_find(text, strlen(text), results, next);

	free(text);
	json_decref(doc);
	return found;
}

void sess_printed(const struct sess_event *ev, struct sbuf *docs, struct sbuf *text)
{
	size_t next = 0;

	for (const char *p = ev->text; *p != '\0';) {
		size_t n = strcspn(p, "\n");
		struct sbuf *to = is_result(p, n, ev->results, &next) ? docs : text;
		n += p[n] == '\n';
		if (to != NULL)
			sbuf_addn(to, p, n);
		p += n;
	}
}
