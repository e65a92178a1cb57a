/* SPDX-License-Identifier: BSD-3-Clause */
/* What a terminal sends, as keys: the sequences are those of its terminfo description. Bytes come one at a time, in any portions. */
#pragma once
#include <wchar.h>
#include "base.h"

enum key_code {
	K_CHAR,  /* ch; Enter is '\n' or '\r', Ctrl-A '\1' */
	K_UP, K_DOWN, K_LEFT, K_RIGHT, K_HOME, K_END, K_DELETE, /* raw: for the line editor */
	K_PGUP, K_PGDN, K_BACKTAB, K_F1, K_F5, K_F6, K_WORD_LEFT, K_WORD_RIGHT, K_PAGE_UP, K_PAGE_DOWN,
	K_WHEEL_UP, K_WHEEL_DOWN, /* row */
	K_PASTE, K_PASTED, /* begin and end of a pasted text: never seen outside keys.c */
};

struct key {
	enum key_code code;
	wchar_t ch;
	bool pasted; /* text, whatever it looks like */
	int row;     /* of the mouse */
	char raw[16];
};

struct keys;
/* Of the terminal that curses has open. */
struct keys *keys_new(void);
void keys_free(struct keys *);
void keys_byte(struct keys *, unsigned char byte);
/* Bytes are kept that may be the beginning of a key: how long they may wait for the rest; 0: there are none. */
uint64_t keys_wait_ns(const struct keys *);
void keys_timeout(struct keys *); /* the rest did not come */
bool keys_next(struct keys *, struct key *out);
bool keys_waiting(const struct keys *); /* keys_next() has one */
void keys_drop(struct keys *); /* what has not been taken, and a paste that has not ended */
bool keys_pasting(const struct keys *);
/* What switches bracketed paste on and off at this terminal; "" where it has none. */
const char *keys_paste_on(const struct keys *);
const char *keys_paste_off(const struct keys *);
