/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the lines that a command printed are its documents. */
#include "sess.h"

#include <stdlib.h>
#include <string.h>

/* As many digits as documents are printed with: what was read back compares the same. */
static char *dump(const json_t *v)
{
	return json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

/* The first result from *next on that is this text, *next moves behind it. */
static bool find(const char *text, size_t n, const json_t *results, size_t *next)
{
	bool found = false;

	for (size_t i = *next; !found && i < json_array_size(results); i++) {
		char *one = dump(json_array_get(results, i));
		found = one != NULL && strlen(one) == n && memcmp(one, text, n) == 0;
		*next = found ? i + 1 : *next;
		free(one);
	}
	return found;
}

/* Most are printed just as they are dumped here; a line is only read where it was written in another way, which takes much longer. */
static bool is_result(const char *line, size_t n, const json_t *results, size_t *next)
{
	if (*next >= json_array_size(results))
		return false;
	if (find(line, n, results, next))
		return true;
	json_t *doc = json_loadb(line, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	char *text = doc != NULL ? dump(doc) : NULL;
	bool found = text != NULL && find(text, strlen(text), results, next);

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
