/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the screen: what screen.c (the terminal), screen_draw.c and screen_keys.c share. */
#pragma once
#include "capture.h"
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
	struct capture *capture;
	SCREEN *scr;
	struct outlet *out; /* the terminal, whatever stdout is meanwhile */
	int fd;             /* its own */
	struct layout at;
	int page_need;       /* rows that the page has needed since somebody did something: numbers alone move no line */
	bool running, resized, paused, ended, busy, mouse, waits_output;
	bool due_page, due_log, due_prompt, due_all, due_sep, due_look;
	unsigned version, repaint; /* of the view, when it was drawn */
	uint64_t interval_ns, drawn_ns;
	int timer, esc_timer;
	json_t *snap;        /* that the page was drawn from */
	struct page_out out_of;
	unsigned spin;
	int left;            /* columns of the line that are left of the prompt's window */
	bool pane;           /* what was printed since the mark is read over the page, until Escape */
	unsigned long pane_mark;
	unsigned below;      /* rows of the log below what is shown */
	wchar_t feed[16];    /* of one key, for the editor */
	unsigned nfeed;
	enum { MACRO_MAY, MACRO_ASK, MACRO_DONE } macro; /* has libedit keys of its own left? */
};

/* Lines were added to the log since the mark: the view stands at their beginning, and where the log has not the rows for them the page gives them. */
void screen_read(struct fullscreen *, unsigned long mark);
void screen_close_pane(struct fullscreen *);

/* Before each turn of the loop: bring the terminal up to date, if it takes something. */
void screen_step(void *fullscreen);
void screen_size(const struct fullscreen *, int *rows, int *cols);
void screen_take_size(struct fullscreen *);
/* Nobody waits any more for the terminal to take what it was slow with. */
void screen_unwatch(struct fullscreen *);
/* Would a read or a write not wait? POLLIN or POLLOUT. */
bool screen_fd_ready(int fd, short what);
/* The terminal is another job's now. */
bool screen_waits(struct fullscreen *);
/* What a crash has to write has changed. */
void screen_tell_leave(struct fullscreen *);

/* Bytes of the terminal become keys: one after the other, and none behind Enter, so that what is typed for the shell after `quit` stays in
 * the terminal. */
void screen_input(void *fullscreen, short revents);
void screen_take_key(struct fullscreen *, const struct key *);
/* The editor's next key. It asks for more than one where a key begins a command (Escape, Ctrl-V, a search): the loop turns meanwhile. */
int screen_get_key(void *fullscreen, wchar_t *wc);
/* No more keys are wanted now. */
bool screen_stops(const struct fullscreen *);
