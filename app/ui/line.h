/* SPDX-License-Identifier: BSD-3-Clause */
/* The line prompt is the front on the terminal's own lines: libedit draws it, and what is printed
 * meanwhile stands above it. Control thread. */
#pragma once
#include "front.h"

struct line;
/* Makes the editor. Returns NULL when lines cannot be edited on this terminal. */
struct line *line_open(struct front *f);
void line_close(struct line *);
/* Prompts until the loop is stopped, the user leaves, or the other front is wanted. Returns true in
 * the last case. */
bool line_run(struct line *);
/* line_hide() takes the edited line off the terminal, so that something can be printed; line_show()
 * puts it there again. */
void line_hide(struct line *);
void line_show(struct line *);
/* To be called when it is time to look how far a command or run has come. */
void line_look(struct line *);
void line_resize(struct line *);
void line_suspend(struct line *); /* the shell will get the terminal: its modes are put back */
void line_again(struct line *);   /* the shell may have given it back: if so, our modes are set */
