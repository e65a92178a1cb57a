/* SPDX-License-Identifier: BSD-3-Clause */
#include "lines.h"

#include <string.h>

#define KEEP_BYTES 65536 /* memory kept while nothing is there */

/* What was given out makes room; a line that is being discarded takes none. */
static void tidy(struct lines *l)
{
	if (l->at == 0)
		return;
	l->buf.len -= l->at;
	l->looked -= l->at;
	if (l->buf.len == 0 && l->buf.cap > KEEP_BYTES)
		sbuf_free(&l->buf);
	else if (l->buf.s != NULL)
		memmove(l->buf.s, l->buf.s + l->at, l->buf.len + 1);
	l->at = 0;
}

void lines_add(struct lines *l, const char *bytes, size_t n)
{
	if (l->discard && l->buf.len == l->at) {
		const char *end = memchr(bytes, '\n', n);
		if (end == NULL)
			return;
		l->discard = false;
		n -= (size_t)(end + 1 - bytes);
		bytes = end + 1;
	}
	tidy(l);
	sbuf_addn(&l->buf, bytes, n);
}

/* The rest of the line goes as it comes. */
static void discard(struct lines *l)
{
	l->discard = true;
	l->at = l->looked = l->buf.len;
	tidy(l);
}

enum lines_got lines_next(struct lines *l, char **line, size_t *len)
{
	char *nl = l->buf.len > l->looked ? memchr(l->buf.s + l->looked, '\n', l->buf.len - l->looked) : NULL;

	if (nl == NULL) {
		l->looked = l->buf.len;
		if (l->buf.len - l->at > l->max) {
			discard(l);
			return LINES_LONG;
		}
		/* an idle client holds no more than it must */
		if (l->at == l->buf.len)
			tidy(l);
		return LINES_NONE;
	}
	*line = l->buf.s + l->at;
	*len = (size_t)(nl - *line);
	*nl = '\0';
	l->at = l->looked = (size_t)(nl + 1 - l->buf.s);
	return *len > l->max ? LINES_LONG : LINES_ONE;
}

bool lines_more(struct lines *l)
{
	if (l->buf.len > l->looked && memchr(l->buf.s + l->looked, '\n', l->buf.len - l->looked) != NULL)
		return true;
	l->looked = l->buf.len;
	if (l->buf.len - l->at > l->max)
		return true;
	if (l->at == l->buf.len)
		tidy(l);
	return false;
}

void lines_free(struct lines *l)
{
	sbuf_free(&l->buf);
}
