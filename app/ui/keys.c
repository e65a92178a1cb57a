/* SPDX-License-Identifier: BSD-3-Clause */
#define NCURSES_NOMACROS
#include "keys.h"

#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESC '\033'
#define MAX_SEQ 32
#define ESC_WAIT_NS 50000000ull  /* wait for what may follow an Escape */
#define SEQ_WAIT_NS 500000000ull /* wait for the rest of a longer beginning */

static const struct {
	const char *cap;
	enum key_code code;
} named[] = {
	{"kcuu1", K_UP},        {"kcud1", K_DOWN},       {"kcub1", K_LEFT},
	{"kcuf1", K_RIGHT},     {"khome", K_HOME},       {"kend", K_END},
	{"kdch1", K_DELETE},    {"kpp", K_PGUP},         {"knp", K_PGDN},
	{"kcbt", K_BACKTAB},    {"kf1", K_F1},           {"kf5", K_F5},
	{"kf6", K_F6},          {"kLFT5", K_WORD_LEFT},  {"kRIT5", K_WORD_RIGHT},
	{"kLFT3", K_WORD_LEFT}, {"kRIT3", K_WORD_RIGHT}, {"kUP5", K_PAGE_UP},
	{"kDN5", K_PAGE_DOWN},  {"kUP3", K_PAGE_UP},     {"kDN3", K_PAGE_DOWN},
	{"kri", K_PAGE_UP},     {"kind", K_PAGE_DOWN},   {"PS", K_PASTE},
	{"PE", K_PASTED},
};

struct seq {
	char text[16];
	enum key_code code;
};

struct keys {
	struct seq seq[2 * ARRAY_SIZE(named)];
	unsigned nseqs;
	char *paste_on, *paste_off;
	char pend[MAX_SEQ]; /* bytes that are kept, which may be the beginning of a sequence */
	unsigned npend;
	mbstate_t mbs;
	bool pasting;
	struct key *queue;
	unsigned head, n, cap;
};

static const char *keys_string(const char *cap)
{
	const char *s = tigetstr((char *)cap);

	return s == NULL || s == (char *)-1 ? "" : s;
}

static void keys_add(struct keys *k, const char *text, enum key_code code)
{
	size_t n = strlen(text);

	if (n < 2 || n >= sizeof(k->seq[0].text) || text[0] != ESC)
		return;
	for (unsigned i = 0; i < k->nseqs; i++)
		if (strcmp(k->seq[i].text, text) == 0)
			return;
	memcpy(k->seq[k->nseqs].text, text, n + 1);
	k->seq[k->nseqs++].code = code;
}

struct keys *keys_new(void)
{
	struct keys *k = xcalloc(1, sizeof(*k));
	bool paste = *keys_string("BE") != '\0' && *keys_string("BD") != '\0' &&
		     *keys_string("PS") != '\0' && *keys_string("PE") != '\0';

	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		const char *s = keys_string(named[i].cap);
		keys_add(k, s, named[i].code);
		/* There are two keypad modes, and some terminals send the sequences of the other
		 * one. */
		if (strlen(s) == 3 && s[0] == ESC && (s[1] == 'O' || s[1] == '[')) {
			const char other[] = {ESC, s[1] == 'O' ? '[' : 'O', s[2], '\0'};
			keys_add(k, other, named[i].code);
		}
	}
	k->paste_on = xstrdup(paste ? keys_string("BE") : "");
	k->paste_off = xstrdup(paste ? keys_string("BD") : "");
	return k;
}

void keys_free(struct keys *k)
{
	if (k == NULL)
		return;
	free(k->paste_on);
	free(k->paste_off);
	free(k->queue);
	free(k);
}

static struct key *keys_push(struct keys *k, enum key_code code)
{
	if (k->head > 0 && k->head == k->n)
		k->head = k->n = 0;
	if (k->n == k->cap) {
		k->cap = k->cap != 0 ? 2 * k->cap : 64;
		k->queue = xrealloc(k->queue, k->cap * sizeof(*k->queue));
	}
	struct key *key = &k->queue[k->n++];
	*key = (struct key){.code = code, .pasted = k->pasting};
	return key;
}

/* Takes a byte of a character. Bytes that are no character in this locale are dropped. */
static void text_byte(struct keys *k, char byte)
{
	wchar_t wc;
	size_t used = mbrtowc(&wc, &byte, 1, &k->mbs);

	if (used == (size_t)-1)
		memset(&k->mbs, 0, sizeof(k->mbs));
	else if (used <= 1)
		keys_push(k, K_CHAR)->ch = used == 0 ? L'\0' : wc;
}

static void keys_forget(struct keys *k, unsigned n)
{
	memmove(k->pend, k->pend + n, k->npend - n);
	k->npend -= n;
}

/* Compares the kept bytes with the terminal's sequences. Returns 1 when they are one, and *code
 * says which; 0 when they may be the beginning of one; else -1. */
static int keys_match(const struct keys *k, enum key_code *code)
{
	int rc = -1;

	for (unsigned i = 0; i < k->nseqs; i++) {
		const struct seq *s = &k->seq[i];
		if (strncmp(s->text, k->pend, k->npend) != 0 || (k->pasting && s->code != K_PASTED))
			continue;
		if (s->text[k->npend] == '\0') {
			*code = s->code;
			return 1;
		}
		rc = 0;
	}
	return rc;
}

/* True when a sequence that the terminal's description does not name has ended (ECMA-48, 5.4). */
static bool seq_ended(const struct keys *k)
{
	char last = k->pend[k->npend - 1];

	if (k->npend >= 3 && k->pend[1] == 'O')
		return true;
	if (k->npend >= 3 && k->pend[1] == '[' && k->pend[2] == 'M')
		return k->npend >= 6; /* the button, the column and the row */
	return k->npend >= 3 && last >= 0x40 && last <= 0x7e;
}

/* Takes the kept bytes if they are a report of the mouse, in one of its two forms. The wheel
 * becomes a key; buttons do nothing. */
static void keys_mouse(struct keys *k)
{
	int button = -1, col = 0, row = 0;

	if (k->pend[2] == 'M') {
		button = (unsigned char)k->pend[3] - 32;
		row = (unsigned char)k->pend[5] - 32;
	} else if (sscanf(k->pend + 2, "<%d;%d;%dM", &button, &col, &row) != 3) {
		return;
	}
	if (button == 64 || button == 65)
		keys_push(k, button == 64 ? K_WHEEL_UP : K_WHEEL_DOWN)->row = row - 1;
}

static void named_key(struct keys *k, enum key_code code)
{
	if (code == K_PASTE || code == K_PASTED) {
		k->pasting = code == K_PASTE;
	} else {
		struct key *key = keys_push(k, code);
		memcpy(key->raw, k->pend, k->npend);
	}
	k->npend = 0;
}

/* Makes a key of the kept bytes, or drops some of them. Returns false when they wait for more. */
static bool keys_decode(struct keys *k)
{
	enum key_code code;

	if (k->pend[0] != ESC) {
		text_byte(k, k->pend[0]);
		keys_forget(k, 1);
		return true;
	}
	int m = keys_match(k, &code);
	if (m > 0) {
		named_key(k, code);
		return true;
	}
	if (k->pasting) {
		if (m == 0)
			return false;
		keys_forget(k, 1); /* a pasted text has no keys, so its Escape is dropped */
		return true;
	}
	bool seq = k->npend >= 2 && (k->pend[1] == '[' || k->pend[1] == 'O');
	if (m < 0 && seq && seq_ended(k)) {
		k->pend[k->npend] = '\0';
		keys_mouse(k);
		k->npend = 0;
		return true;
	}
	if (k->npend + 1 < MAX_SEQ && (k->npend == 1 || m == 0 || seq))
		return false;
	keys_timeout(k);
	return true;
}

void keys_byte(struct keys *k, unsigned char byte)
{
	k->pend[k->npend++] = (char)byte;
	while (k->npend > 0 && keys_decode(k))
		;
}

uint64_t keys_wait_ns(const struct keys *k)
{
	return k->npend == 0 || k->pasting ? 0 : k->npend == 1 ? ESC_WAIT_NS : SEQ_WAIT_NS;
}

/* The first byte is an Escape. The line editor makes what it can of the characters: Escape, or Meta
 * and a character. */
void keys_timeout(struct keys *k)
{
	char bytes[MAX_SEQ];
	unsigned n = k->npend;

	memcpy(bytes, k->pend, n);
	k->npend = 0;
	keys_push(k, K_CHAR)->ch = (unsigned char)bytes[0];
	for (unsigned i = 1; i < n; i++)
		keys_byte(k, (unsigned char)bytes[i]);
}

bool keys_next(struct keys *k, struct key *out)
{
	if (k->head == k->n)
		return false;
	*out = k->queue[k->head++];
	return true;
}

bool keys_waiting(const struct keys *k)
{
	return k->head != k->n;
}

void keys_drop(struct keys *k)
{
	k->head = k->n = k->npend = 0;
	k->pasting = false;
	memset(&k->mbs, 0, sizeof(k->mbs));
}

bool keys_pasting(const struct keys *k)
{
	return k->pasting;
}

const char *keys_paste_on(const struct keys *k)
{
	return k->paste_on;
}

const char *keys_paste_off(const struct keys *k)
{
	return k->paste_off;
}
