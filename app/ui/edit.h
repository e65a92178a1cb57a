/* SPDX-License-Identifier: BSD-3-Clause */
/* libedit with our keys: TAB completes, "?" helps, the history is the program's. On the terminal it draws the line itself; for the
 * screen it works on a pseudo-terminal that nobody sees, and curses draws what edit_line() says. */
#pragma once
#include <histedit.h>
#include "front.h"
#include "hint.h"

struct edit;
struct edit_opts {
	struct front *front;
	FILE *tty;                                        /* NULL: a pseudo-terminal of its own */
	int (*key)(void *arg, wchar_t *wc);               /* 1: a key; 0: no more; -1 with errno */
	void (*list)(void *arg, const struct hint_list *); /* show what could stand at the cursor */
	void (*beep)(void *arg);                          /* nothing completes; NULL: libedit beeps itself */
	const char *(*prompt)(void *arg);                 /* on the terminal; \1 around what is no column */
	void *arg;
};

/* NULL: there can be no editor here. */
struct edit *edit_new(const struct edit_opts *);
void edit_free(struct edit *);
EditLine *edit_el(struct edit *);
/* Keep the line for the other front, and put one in that was kept. */
void edit_keep(struct edit *);
void edit_give(struct edit *);

/* Without a terminal. One key through libedit; it asks for more where that is the beginning of a command. */
enum edit_did { EDIT_MORE, EDIT_ENTER, EDIT_END };
enum edit_did edit_key(struct edit *);
void edit_insert(struct edit *, const wchar_t *text, size_t n);
/* The line, its cursor; not longer than it may be shown. */
const LineInfoW *edit_line(struct edit *);
/* The line as text; caller frees. */
char *edit_text(struct edit *);
void edit_reset(struct edit *); /* an empty line */
bool edit_is_vi(struct edit *); /* ~/.editrc: bind -v */
