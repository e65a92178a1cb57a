/* SPDX-License-Identifier: BSD-3-Clause */
/* A front is a prompt with a line editor. There are two: line.c works on the terminal's own lines,
 * screen.c draws with curses. This is what they have in common. console.c owns it, and runs one of
 * them at a time. */
#pragma once
#include <stdio.h>
#include "args.h"
#include "history.h"
#include "loop.h"
#include "progress.h"
#include "scroll.h"
#include "sess.h"
#include "tty.h"
#include "view.h"

#define PROMPT_WORD CMD_PROMPT_WORD
#define PROMPT PROMPT_WORD " "

struct front {
	struct loop *loop;
	struct sess *sess; /* while running */
	struct view *view;
	void (*turn)(void *arg); /* makes one turn of the loop */
	void *arg;
	struct history *history; /* NULL: none */
	struct scroll *log;
	struct progress progress; /* what is shown of commands and runs that take time */
	struct tty_caps caps;
	FILE *tty; /* where a line is edited: stdout, or stderr when results go elsewhere */
	bool can_screen;
	bool color_out, color_err, color_tty;
	bool shows_out;   /* results go to a terminal */
	char *typed;      /* the line as it stood when the front changed; NULL: it was empty */
	int cursor;       /* its cursor, in characters */
	bool interrupted; /* the line is to be dropped */
	bool hangup;      /* the terminal is gone */
	bool leaving;     /* the user leaves; commands that are queued still run */
};

/* Returns true when the other front is wanted. is_screen: the one that runs is the screen. */
static inline bool front_changes(const struct front *f, bool is_screen)
{
	return (f->view->screen && f->can_screen) != is_screen;
}

/* To be called when the user has entered a line, which goes into the history and to the session.
 * Commands that take no time have printed their results when this returns. */
void front_entered(struct front *f, const char *line);
/* To be called when the user leaves. The loop turns until the commands that are queued have ended;
 * after a hangup they are cancelled. each() is called before every turn and may be NULL. */
void front_leave(struct front *f, void (*each)(void *arg), void *arg);
