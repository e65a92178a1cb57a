/* SPDX-License-Identifier: BSD-3-Clause */
/* The full screen is the front that curses draws: the page on top, and below it the log of what was
 * printed, the prompt and the footer. Control thread. */
#pragma once
#include "front.h"

struct fullscreen;
/* Opens the screen. Returns NULL with *e when that is not possible on this terminal. */
struct fullscreen *screen_open(struct front *f, enum args_color color, struct err *e);
/* Puts the terminal back as it was, and writes on it what was printed meanwhile. */
void screen_close(struct fullscreen *);
/* Prompts until the loop is stopped, the user leaves, or the other front is wanted. Returns true in
 * the last case. */
bool screen_run(struct fullscreen *);
/* To be called when something was added to the log. */
void screen_printed(struct fullscreen *);
/* To be called when it is time to look how far a command or run has come. */
void screen_look(struct fullscreen *);
/* To be called when the window has another size. */
void screen_resize(struct fullscreen *);
/* To be called before the shell gets the terminal: it is given back. */
void screen_suspend(struct fullscreen *);
/* To be called when the shell may have given the terminal back. If it has, the terminal is taken
 * and everything is drawn anew. */
void screen_again(struct fullscreen *);
