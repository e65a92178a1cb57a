/* SPDX-License-Identifier: BSD-3-Clause */
/* The full screen is the front that curses draws: the page on top, and below it the log of what was
 * printed, the prompt and the footer. Control thread. */
#pragma once
#include "front.h"

struct fullscreen;
/* Returns NULL when it cannot be opened here, and e says why. */
struct fullscreen *screen_open(struct front *f, enum args_color color, struct err *e);
/* Puts the terminal back as it was, and writes on it what was printed meanwhile. */
void screen_close(struct fullscreen *);
/* Prompts until the loop is stopped or the user leaves. True: it ended for the other front. */
bool screen_run(struct fullscreen *);
/* Something was added to the log. */
void screen_printed(struct fullscreen *);
/* The time has come to look how far a command or run has come. */
void screen_look(struct fullscreen *);
/* The window has another size. */
void screen_resize(struct fullscreen *);
/* The shell will get the terminal. */
void screen_suspend(struct fullscreen *);
/* The shell may have given the terminal back: if so, it is taken and drawn anew. */
void screen_again(struct fullscreen *);
