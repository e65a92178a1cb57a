/* SPDX-License-Identifier: BSD-3-Clause */
/* The line editor is libedit with our keys: TAB completes, "?" helps, and the history is the
 * program's. For the line prompt libedit draws the line on the terminal itself. For the full screen
 * it works on a pseudo-terminal that nobody sees, and curses draws what edit_line() returns. */
#pragma once
#include <histedit.h>
#include "front.h"
#include "hint.h"

struct edit;
struct edit_opts {
	struct front *front;
	FILE *tty; /* NULL: a pseudo-terminal of its own */
	/* Gets the next key. Returns 1 when it is in *wc, 0 when there are no more keys, and -1
	 * with errno when it failed. */
	int (*key)(void *arg, wchar_t *wc);
	/* Shows what could stand at the cursor. */
	void (*list)(void *arg, const struct hint_list *);
	/* Beeps, because nothing completes the word. NULL: libedit beeps itself. */
	void (*beep)(void *arg);
	/* The prompt. A \1 stands before and after what takes no columns. NULL: there is none. */
	const char *(*prompt)(void *arg);
	void *arg;
};

/* Returns NULL when there is no pseudo-terminal or libedit refuses. */
struct edit *edit_new(const struct edit_opts *);
void edit_free(struct edit *);
EditLine *edit_el(struct edit *);
/* When the front changes: edit_keep() puts the edited line into the front, and edit_give() takes it
 * from there into the editor of the other front. */
void edit_keep(struct edit *);
void edit_give(struct edit *);

/* The functions below are for an editor on a pseudo-terminal. edit_key() lets libedit take one key;
 * where this key begins a command of several, libedit calls opts.key() for the others. */
enum edit_did { EDIT_MORE, EDIT_ENTER, EDIT_END };
enum edit_did edit_key(struct edit *);
void edit_insert(struct edit *, const wchar_t *text, size_t n);
/* Returns the line with its cursor, in libedit's own memory: valid until the line changes. */
const LineInfoW *edit_line(struct edit *);
/* Returns the line as text, without a newline at its end. The caller frees it. */
char *edit_text(struct edit *);
void edit_reset(struct edit *); /* makes the line empty */
bool edit_is_vi(struct edit *); /* ~/.editrc has chosen vi's keys (bind -v) */
