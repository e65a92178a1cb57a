/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc_lines.h"

#include <string.h>

#define KEEP_BYTES 65536 /* memory that is kept while the buffer is empty */

/* Removes the bytes before `at`, which were given out or dropped. */
static void lines_tidy(struct lines *l)
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
	lines_tidy(l);
	sbuf_addn(&l->buf, bytes, n);
}

/* Drops what is there of a line that is too long; lines_add() drops the rest when it comes. */
static void lines_discard(struct lines *l)
{
	l->discard = true;
	l->at = l->looked = l->buf.len;
	lines_tidy(l);
}

static char *lines_newline(const struct lines *l)
{
	return l->buf.len > l->looked ? memchr(l->buf.s + l->looked, '\n', l->buf.len - l->looked)
				      : NULL;
}

/* Call it where there is no newline. Says whether the bytes that are there are too many for a line
 * already. */
static bool too_long(struct lines *l)
{
	l->looked = l->buf.len;
	/* memory of an idle client is freed */
	if (l->at == l->buf.len)
		lines_tidy(l);
	return l->buf.len - l->at > l->max;
}

enum lines_got lines_next(struct lines *l, char **line, size_t *len)
{
	char *nl = lines_newline(l);

	if (nl == NULL && !too_long(l))
		return LINES_NONE;
	if (nl == NULL) {
		lines_discard(l);
		return LINES_LONG;
	}
	*line = l->buf.s + l->at;
	*len = (size_t)(nl - *line);
	*nl = '\0';
	l->at = l->looked = (size_t)(nl + 1 - l->buf.s);
	return *len > l->max ? LINES_LONG : LINES_ONE;
}

bool lines_more(struct lines *l)
{
	return lines_newline(l) != NULL || too_long(l);
}

void lines_free(struct lines *l)
{
	sbuf_free(&l->buf);
}
