/* SPDX-License-Identifier: BSD-3-Clause */
/* The full screen: the page on top, below it what was printed, the prompt, and the keys. curses alone draws. */
#pragma once
#include "front.h"

struct fullscreen;
/* NULL: it cannot be opened here, e says why. */
struct fullscreen *screen_open(struct front *f, enum args_color color, struct err *e);
/* The terminal as it was, and on it what was printed meanwhile. */
void screen_close(struct fullscreen *);
/* Until the loop is stopped, the user leaves, or the other front is wanted (true). */
bool screen_run(struct fullscreen *);
/* Something was added to the log. */
void screen_printed(struct fullscreen *);
/* The time has come to look at work that goes on. */
void screen_look(struct fullscreen *);
void screen_resize(struct fullscreen *);
void screen_suspend(struct fullscreen *);
void screen_again(struct fullscreen *);
