/* SPDX-License-Identifier: BSD-3-Clause */
/* What a person sits at: the full screen (screen.h), or with view->screen off a prompt on the terminal's own lines (line.h), either fed key
 * by key from the loop, so that ports, timers and signals go on while a line is edited. A terminal that cannot move its cursor
 * gets a plain prompt. Sees a session and nothing of control. */
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
	void (*turn)(void *arg); /* one turn of the loop */
	void *arg;
};

/* Before anything is printed, with a terminal or without one. */
struct console *console_new(const struct console_opts *opts);
void console_free(struct console *);
/* Print without harm to the line that is being edited. result: to stdout, else to stderr. 0 or -errno of the write. */
int console_print(struct console *, bool result, const char *text);
/* The same to stderr, in red. */
void console_error(struct console *, const char *text);
/* Prompt until the loop is stopped or the user leaves. Needs a terminal on stdin. */
void console_run(struct console *, struct sess *sess);
/* Of the loop's signals: Ctrl-C cancels the running verb, else drops the line. */
void console_interrupt(struct console *);
void console_resize(struct console *);
void console_suspend(struct console *);
void console_continue(struct console *);
