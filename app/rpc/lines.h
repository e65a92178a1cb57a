/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes that arrive in any portions -> lines. One that is too long is told once, when that is seen, and passed over to its end. */
#pragma once
#include "base.h"

struct lines {
	size_t max;     /* bytes of a line, without its newline */
	struct sbuf buf;
	size_t at;      /* the first byte that was not given out */
	size_t looked;  /* up to here there is no newline behind at */
	bool discard;   /* the rest of a line that was too long */
};
enum lines_got { LINES_NONE, LINES_ONE, LINES_LONG };

void lines_add(struct lines *, const char *bytes, size_t n);
/* ONE: *line has *len bytes and a zero byte behind them; valid until lines_add. */
enum lines_got lines_next(struct lines *, char **line, size_t *len);
bool lines_more(struct lines *); /* lines_next() would not say NONE; the line that it gave before is no longer needed */
void lines_free(struct lines *);
