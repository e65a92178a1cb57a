/* SPDX-License-Identifier: BSD-3-Clause */
/* A scroll holds the text of the log: the last lines that were printed, each in one role. Every
 * front keeps it. So `screen on` shows what was printed before, and when the screen goes, what it
 * has shown is written to the terminal's own scrollback. The view is the part of the log that the
 * screen shows. */
#pragma once
#include <stdio.h>
#include <wchar.h>
#include "theme.h"

struct scroll;
/* Most characters of all lines together, but for the last line, which is always there: who asks for
 * JSON once a second gets long lines. */
#define SCROLL_CHARS (1u << 20)
struct scroll *scroll_new(unsigned max_lines);
void scroll_free(struct scroll *);
/* Adds the lines of a text to the log. shown: the terminal shows them already. */
void scroll_add(struct scroll *, enum role, const char *text, bool shown);
/* Returns how many rows of so many columns the lines take that were added since the mark. */
unsigned scroll_rows(const struct scroll *, unsigned long mark, int cols);
/* Returns a mark for the present end of the log. */
unsigned long scroll_mark(const struct scroll *);
/* Moves the view to the beginning of the lines that were added since the mark or, if all of them
 * fit, to the end. */
void scroll_from(struct scroll *, unsigned long mark);
void scroll_by(struct scroll *, int rows); /* moves the view up; rows below 0: down */
void scroll_end(struct scroll *);          /* moves the view to the end */

/* Calls fn for each row of the view, with lines wrapped at `cols` columns. Text that has fewer rows
 * than the view stands at its bottom. Returns how many rows lie below the view. */
typedef void scroll_fn(void *arg, int row, enum role, const wchar_t *text, size_t n);
unsigned scroll_draw(struct scroll *, int rows, int cols, scroll_fn *fn, void *arg);

/* Writes the lines that the terminal has not shown yet; afterwards they count as shown. `error` and
 * `normal` are written before and after each line that is an error. */
void scroll_replay(struct scroll *, FILE *, const char *error, const char *normal);
/* Makes the characters of a line of the log of n bytes of text: tabs become blanks, and a '?'
 * stands for what is no character of the locale or would move the cursor. *len is the number of
 * characters; a zero stands behind them. The caller frees them. */
wchar_t *scroll_wide(const char *text, size_t n, unsigned *len);
/* Returns how many columns a character takes. A control character is shown as ^X and takes two. */
int scroll_columns(wchar_t wc);
