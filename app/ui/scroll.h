/* SPDX-License-Identifier: BSD-3-Clause */
/* The log area's text: the last lines that were printed, each in one role. Kept in every front, so that `screen on` shows what was
 * printed before, and what the screen has shown is written to the terminal's own scrollback when the screen goes. */
#pragma once
#include <stdio.h>
#include <wchar.h>
#include "theme.h"

struct scroll;
struct scroll *scroll_new(unsigned max_lines);
void scroll_free(struct scroll *);
/* Each line of the text becomes one. shown: it is on the terminal already. */
void scroll_add(struct scroll *, enum role, const char *text, bool shown);
/* Rows of the lines added since the mark, at so many columns. */
unsigned scroll_rows(const struct scroll *, unsigned long mark, int cols);
/* The view stands at the beginning of the lines added since the mark, if they do not fit, else at the end. */
unsigned long scroll_mark(const struct scroll *);
void scroll_from(struct scroll *, unsigned long mark);
void scroll_by(struct scroll *, int rows); /* up; below 0 down */
void scroll_end(struct scroll *);

/* Calls fn for each row that has text, wrapped at cols, the last ones at the bottom. Returns how many rows lie below the view. */
typedef void scroll_fn(void *arg, int row, enum role, const wchar_t *text, size_t n);
unsigned scroll_draw(struct scroll *, int rows, int cols, scroll_fn *fn, void *arg);

/* Write the lines that were not shown on the terminal; they are then. error, normal: around errors. */
void scroll_replay(struct scroll *, FILE *, const char *error, const char *normal);
/* n bytes of text as characters, as lines of the log have them: tabs are blanks, '?' stands for what is no character of the locale or would move
 * the cursor. *len: how many; a zero stands behind them. The caller frees. */
wchar_t *scroll_wide(const char *text, size_t n, unsigned *len);
/* Columns of a character; control characters are shown as ^X. */
int scroll_columns(wchar_t wc);
