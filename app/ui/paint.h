/* SPDX-License-Identifier: BSD-3-Clause */
/* Paint turns the roles of a theme into what this terminal can show: colours of 24 bits, 256, 16 or
 * 8 colours, or attributes alone. */
#pragma once
#include <curses.h>
#include "args.h"
#include "theme.h"

struct paint;

/* Asks the terminal that curses has opened (newterm() or initscr() was called) for its colours.
 * color is the option --color; auto: no colours with NO_COLOR or TERM=dumb. */
struct paint *paint_open(enum args_color color);
void paint_free(struct paint *);
/* Takes over a theme. Returns true when it is another one or has changed since, so that everything
 * has to be drawn anew. */
bool paint_set(struct paint *, const struct theme *);
/* Makes the cell that curses wants of one character and those that combine with it. */
void paint_char(const struct paint *, enum role, const wchar_t *text, cchar_t *out);
