/* SPDX-License-Identifier: BSD-3-Clause */
/* This header is private to the screen. screen.c opens, gives and closes the terminal,
 * screen_draw.c draws, and screen_keys.c acts on keys. */
#pragma once
#include "stdout_pipe.h"
#include "draw.h"
#include "edit.h"
#include "keys.h"
#include "outlet.h"
#include "screen.h"

struct fullscreen {
	struct front *f;
	struct edit *edit;
	struct keys *keys;
	struct paint *paint;
	struct stdout_pipe *pipe;
	SCREEN *scr;
	struct outlet *out; /* the terminal, also while the pipe takes stdout */
	int fd;             /* the outlet's descriptor */
	struct layout at;
	int page_need; /* most rows that the page needed since the user did something */
	/* paused: the terminal is another job's. ended: the user leaves. busy, mouse: the session
	 * and view->mouse as they were drawn. waits_output: the terminal has not taken all. */
	bool running, resized, paused, ended, busy, mouse, waits_output;
	bool due_page, due_log, due_prompt, due_all, due_sep, due_look; /* for screen_step() */
	unsigned version, repaint; /* of the view, when it was drawn */
	uint64_t interval_ns, drawn_ns;
	int timer, esc_timer;
	json_t *snap; /* the snapshot from which the page was drawn */
	struct page_out out_of;
	unsigned spin;
	int left;                /* columns of the line that are out of sight on the left */
	bool pane;               /* a long answer takes rows of the page, until Escape */
	unsigned long pane_mark; /* where this answer begins in the log */
	unsigned below;   /* rows of the log that are out of sight, below those that are shown */
	wchar_t feed[16]; /* characters of one key, for the editor */
	unsigned nfeed;
	enum { MACRO_MAY, MACRO_ASK, MACRO_DONE } macro; /* whether libedit may have keys left */
};

/* Shows the lines that were added to the log since the mark from their beginning. Where the log has
 * too few rows for them, the page gives up rows (the pane). */
void screen_read(struct fullscreen *, unsigned long mark);
/* Gives the page its rows back. */
void screen_close_pane(struct fullscreen *);

/* To be called before each turn of the loop: draws what is due, unless the terminal still has to
 * take what was drawn before. */
void screen_step(void *fullscreen);
/* Says how large the terminal is. One that does not know its size has that of the environment, else
 * 24 rows of 80 columns. */
void screen_size(const struct fullscreen *, int *rows, int *cols);
/* Lays the screen out for the size that the terminal has now. */
void screen_take_size(struct fullscreen *);
/* Ends the loop's watch for the terminal to take output. */
void screen_unwatch(struct fullscreen *);
/* Returns true when a read (what: POLLIN) or a write (POLLOUT) would not wait. */
bool screen_fd_ready(int fd, short what);
/* Returns true while the terminal is another job's. When it has become ours again, this takes
 * it. */
bool screen_waits(struct fullscreen *);
/* Tells tty.c what to write to leave the screen, should the program crash. To be called when that
 * has changed. */
void screen_tell_leave(struct fullscreen *);

/* Reads bytes from the terminal and makes keys of them, one byte at a time and none behind Enter,
 * so that what is typed for the shell after `quit` stays in the terminal. */
void screen_input(void *fullscreen, short revents);
/* Does what a key means, while no command of the editor waits for one. */
void screen_take_key(struct fullscreen *, const struct key *);
/* Gets the editor's next key, as edit_opts.key does. The editor asks for more than one where a key
 * begins a command (Escape, Ctrl-V, a search). The loop turns while it waits. */
int screen_get_key(void *fullscreen, wchar_t *wc);
