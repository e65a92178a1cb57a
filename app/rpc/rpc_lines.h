/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes lines of bytes that arrive in any portions. A line that is too long is reported once, as
 * soon as that is known, and its rest is dropped. */
#pragma once
#include "base.h"

struct lines {
	size_t max; /* most bytes of a line, without its newline */
	struct sbuf buf;
	size_t at;     /* offset of the first byte that was not given out */
	size_t looked; /* from `at` to here there is no newline */
	bool discard;  /* bytes are dropped up to the end of a line that was too long */
};
enum lines_got { LINES_NONE, LINES_ONE, LINES_LONG };

void lines_add(struct lines *, const char *bytes, size_t n);
/* Takes the next line. LINES_ONE: *line has *len bytes and a zero byte behind them, and is valid
 * until the next call for these lines. LINES_LONG: the line is too long. LINES_NONE: no whole line
 * is there. */
enum lines_got lines_next(struct lines *, char **line, size_t *len);
/* Says whether lines_next() would give something else than LINES_NONE. The line that it gave before
 * is not valid any more. */
bool lines_more(struct lines *);
void lines_free(struct lines *);
