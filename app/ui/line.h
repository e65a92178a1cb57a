/* SPDX-License-Identifier: BSD-3-Clause */
/* The prompt on the terminal's own lines: libedit draws it, and what is printed meanwhile stands above it. */
#pragma once
#include "front.h"

struct line;
/* NULL: the terminal cannot be edited on. */
struct line *line_open(struct front *f);
void line_close(struct line *);
/* Until the loop is stopped, the user leaves, or the other front is wanted (true). */
bool line_run(struct line *);
/* Take the edited line off the screen before something is printed, and put it there again. */
void line_hide(struct line *);
void line_show(struct line *);
/* The time has come to look at work that goes on. */
void line_look(struct line *);
void line_resize(struct line *);
void line_suspend(struct line *); /* the shell is given the terminal */
void line_again(struct line *);   /* and has given it back, in modes of its own */
