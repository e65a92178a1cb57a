/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two editing prompts have in common: line.c on the terminal's own lines, screen.c with curses. console.c owns it. */
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
	void (*turn)(void *arg); /* one turn of the loop */
	void *arg;
	struct history *history; /* NULL: none */
	struct scroll *log;
	struct progress progress; /* what is shown of work that goes on */
	struct tty_caps caps;
	FILE *tty;         /* where a line is edited: stdout, or stderr when results go elsewhere */
	bool can_screen;
	bool color_out, color_err, color_tty;
	bool shows_out; /* results go to a terminal */
	char *typed;       /* the line as it stood when the front changed, and its cursor; NULL: none */
	int cursor;        /* characters */
	bool interrupted;  /* the line is to be dropped */
	bool hangup;       /* the terminal is gone */
	bool leaving;      /* what was asked for is done, then the end */
};

/* Is this the moment to go over to the other front? */
static inline bool front_changes(const struct front *f, bool is_screen)
{
	return (f->view->screen && f->can_screen) != is_screen;
}

/* Enter. Commands that are done at once have printed when it returns. */
void front_entered(struct front *f, const char *line);
/* What was asked for is done first; after a hangup nobody waits for it. each: before every turn, may be NULL. */
void front_leave(struct front *f, void (*each)(void *arg), void *arg);
