/* SPDX-License-Identifier: BSD-3-Clause */
/* This makes keys of the bytes that a terminal sends. The sequences are those of its terminfo
 * description. Bytes are put in one at a time, and keys are taken from a queue. */
#pragma once
#include <wchar.h>
#include "base.h"

enum key_code {
	K_CHAR, /* the character is in ch; Enter is '\n' or '\r', Ctrl-A is '\1' */
	K_UP,
	K_DOWN,
	K_LEFT,
	K_RIGHT,
	K_HOME,
	K_END,
	K_DELETE, /* the editor gets the raw bytes */
	K_PGUP,
	K_PGDN,
	K_BACKTAB,
	K_F1,
	K_F5,
	K_F6,
	K_WORD_LEFT,
	K_WORD_RIGHT,
	K_PAGE_UP,
	K_PAGE_DOWN,
	K_WHEEL_UP,
	K_WHEEL_DOWN, /* row says where the mouse is */
	K_PASTE,
	K_PASTED, /* these two begin and end a pasted text, and are seen in keys.c only */
};

struct key {
	enum key_code code;
	wchar_t ch;
	bool pasted;  /* it belongs to a pasted text and is no command, whatever key it is */
	int row;      /* of the mouse, from 0 */
	char raw[16]; /* the bytes that the terminal sent, if they are a sequence */
};

struct keys;
/* Reads the sequences of the terminal that curses has open. */
struct keys *keys_new(void);
void keys_free(struct keys *);
/* Takes the next byte that the terminal sent. */
void keys_byte(struct keys *, unsigned char byte);
/* Bytes that may be the beginning of a sequence are kept. Returns how long they may wait for the
 * rest; 0: there are none, or a text is being pasted. */
uint64_t keys_wait_ns(const struct keys *);
/* To be called when the rest has not come in this time: the bytes that were kept become
 * characters. */
void keys_timeout(struct keys *);
/* Takes the next key. Returns false when there is none. */
bool keys_next(struct keys *, struct key *out);
bool keys_waiting(const struct keys *); /* keys_next() has one */
void keys_drop(struct keys *);          /* drops keys that were not taken, and ends a paste */
bool keys_pasting(const struct keys *); /* a paste has begun and not ended */
/* The sequences that switch bracketed paste on and off at this terminal; "" where it has no such
 * thing. Owned by *keys. */
const char *keys_paste_on(const struct keys *);
const char *keys_paste_off(const struct keys *);
