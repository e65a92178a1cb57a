/* SPDX-License-Identifier: BSD-3-Clause */
/* The console is where a person works: the full screen (screen.h) or, while view->screen is off, a
 * prompt on the terminal's own lines (line.h). Both get their keys one by one from the loop, so
 * that ports, timers and signals go on while a line is edited. A terminal that cannot move its
 * cursor gets a plain prompt. The console sees a session and nothing of control. Control thread. */
#pragma once
#include "args.h"
#include "loop.h"
#include "sess.h"
#include "view.h"

struct console;

struct console_opts {
	struct loop *loop;
	enum args_color color;
	struct view *view;
	void (*turn)(void *arg); /* makes one turn of the loop */
	void *arg;
};

/* Makes the console. This is done before anything is printed, whether there is a terminal or
 * not. */
struct console *console_new(const struct console_opts *opts);
void console_free(struct console *);
/* Prints without harm to the line that is being edited: results to stdout, other text to stderr.
 * Returns 0, or -errno when the text could not be written. */
int console_print(struct console *, bool result, const char *text);
/* Prints to stderr in the same way, in red where colours are wanted. */
void console_error(struct console *, const char *text);
/* Prompts until the loop is stopped or the user leaves. stdin must be a terminal. */
void console_run(struct console *, struct sess *sess);
/* These four are called for signals, from the loop: SIGINT (Ctrl-C), SIGWINCH, SIGTSTP and SIGCONT.
 * Ctrl-C cancels the running verb; when none runs it drops the line. */
void console_interrupt(struct console *);
void console_resize(struct console *);
void console_suspend(struct console *);
void console_continue(struct console *);
