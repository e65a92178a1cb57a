/* SPDX-License-Identifier: BSD-3-Clause */
/* From the roles of a theme to what this terminal can show: colours of 24 bits, 256, 16 or 8, or attributes alone. */
#pragma once
#include <curses.h>
#include "args.h"
#include "theme.h"

struct paint;

/* Of the terminal that curses has opened (newterm() or initscr() was called). color: what the option --color says; auto: none with
 * NO_COLOR or TERM=dumb. */
struct paint *paint_open(enum args_color color);
void paint_free(struct paint *);
/* Take over a theme; true when it is another one or has changed since, so that everything has to be drawn anew. */
bool paint_set(struct paint *, const struct theme *);
/* Attributes and colour pair of a role. */
attr_t paint_attr(const struct paint *, enum role, int *pair);
/* One character (with what combines with it) as curses wants it. */
void paint_char(const struct paint *, enum role, const wchar_t *text, cchar_t *out);
/* Colours that are used: 0 (attributes alone), 8, 16, 256, or 1 << 24. */
int paint_colors(const struct paint *);
