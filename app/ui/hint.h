/* SPDX-License-Identifier: BSD-3-Clause */
/* What could stand at the cursor, as the prompt shows it. */
#pragma once
#include "sess.h"

struct hint {
	char *word, *help;
};

struct hint_list {
	struct hint *item;
	unsigned n;
	struct sbuf forms; /* lines: what may stand there that is no word of the list */
	int start; /* byte of the line where the word begins */
};

/* line: what stands before the cursor. Caller frees with hint_free(). */
void hint_find(struct sess *sess, const char *line, struct hint_list *l);
void hint_free(struct hint_list *l);
/* What TAB inserts into *more: the rest that all words share, a blank behind the only one. Returns how many bytes
 * before the cursor it replaces (the word was written differently: other case, an alias). */
int hint_complete(const struct hint_list *l, const char *line, struct sbuf *more);
void hint_print(const struct hint_list *l, unsigned columns, struct sbuf *out);
/* A word could begin behind line: at its start or behind a blank, outside quotes. */
bool hint_word_begins(const char *line);
