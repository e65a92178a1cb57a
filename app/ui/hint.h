/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints are the words that could stand at the cursor: found by the session, completed by TAB, and
 * printed as a list below the prompt or in the log. */
#pragma once
#include "sess.h"

struct hint {
	char *word, *help;
};

struct hint_list {
	struct hint *item;
	unsigned n;
	struct sbuf forms; /* lines that describe what may stand there and is no word of the list */
	int start;         /* byte of the line where the word begins */
};

/* Finds the hints for a line, which ends at the cursor. The caller frees them with hint_free(). */
void hint_find(struct sess *sess, const char *line, struct hint_list *l);
void hint_free(struct hint_list *l);
/* Appends to *more what TAB inserts: the rest that all words share, and a blank behind a word that
 * is the only one. Returns how many bytes before the cursor it replaces: not 0 when the word was
 * typed differently, in another case or as an alias. */
int hint_complete(const struct hint_list *l, const char *line, struct sbuf *more);
/* Appends the list as lines for a terminal of so many columns. */
void hint_print(const struct hint_list *l, unsigned columns, struct sbuf *out);
/* True when a word could begin behind the line: it is empty or ends with a blank or a ';', and no
 * quote is open. */
bool hint_word_begins(const char *line);
