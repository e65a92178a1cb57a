/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared inside lib/cmd. */
#pragma once
#include "cmd.h"

/* The names and aliases of a table by their words. */
struct name {
	const char *text; /* len bytes, inside the row's list */
	size_t len;
	uint64_t hash;
	unsigned row, words, next; /* next: index + 1 in the chain */
	bool alias;
};
struct names {
	struct name *e;
	unsigned n, cap, mask, max_words;
	unsigned *head; /* index + 1, 0: none */
};
void names_add(struct names *t, const char *list, bool alias, unsigned row);
void names_index(struct names *t); /* after the last names_add */
void names_free(struct names *t);
/* First name in the table's order that is exactly the k words, and the one after it; NULL: none. */
const struct name *names_find(const struct names *t, const struct cmd_word *w, unsigned k);
const struct name *names_more(const struct names *t, const struct name *e, const struct cmd_word *w);

struct cmd {
	const struct setting **settings;
	unsigned nsettings;
	const struct verb **verbs;
	unsigned nverbs;
	struct names setting_names, verb_names;
	struct cmd_host host;
	bool checks_held;
};

/* Words of one line with the memory behind them. */
struct line_words {
	struct cmd_word *w;
	unsigned n;
	char *buf;
};
int line_split(const char *line, struct line_words *out, struct err *e);
void line_free(struct line_words *l);
/* Column in line of byte `off` of the text that joining the words from column `col` on gives. */
int line_rest_col(const char *line, int col, int off);

/* One name of a comma separated list, words separated by blanks. Advances *list; false at its end. */
bool name_next(const char **list, const char **name, size_t *len);

/* Where a setting is looked for: what stands before it. */
enum find_in { FIND_ANY, FIND_GLOBAL, FIND_BARE, FIND_STREAMS };
/* What there is to say of each scope, by enum cmd_scope. */
struct scope {
	const char *name, *before; /* "stream"; what stands before a row's name in `set` */
	const char *title;         /* of its rows in `help` */
	uint8_t rank[4];           /* by enum find_in: where several scopes have a word, it means the row of the lowest */
};
extern const struct scope scopes[];
extern const unsigned nscopes;
enum find_in find_in_targets(const struct target *t);
/* Row whose name or alias stands at w[0..]; *used words. Exact before prefix, long before short, names before aliases. NULL with *e,
 * column of the word in its line. */
const struct setting *setting_match(const struct cmd *c, enum find_in in, const struct cmd_word *w, unsigned n,
				    unsigned *used, struct err *e);
/* -EINVAL when the row does not belong to what stands before it. */
int setting_fits(const struct setting *s, enum find_in in, int col, struct err *e);
/* Verb that the line's first words name (a name may have several words: "stream add"); *used of them. */
const struct verb *verb_match(const struct cmd *c, const struct cmd_word *w, unsigned n, unsigned *used, struct err *e);
/* The second words of the verbs whose name's first word begins with `word`: "stream" -> "add | copy". */
void verb_seconds(const struct cmd *c, const char *word, struct sbuf *out);
int setting_later(const struct setting *s, struct err *e);

/* Match the words from `first` on, those after the verb, against its template. args: CMD_MAX_ARGS. *text holds the joined texts, caller
 * frees. look: streams named need not be there. */
int args_match(const struct cmd *c, const struct verb *v, const struct line_words *l, const char *line, unsigned first, bool look,
	       struct arg_val *args, struct sbuf text[CMD_MAX_ARGS], struct err *e);
unsigned verb_nargs(const struct verb *v);
/* Index after the optional group that begins at i. */
unsigned group_end(const struct arg_spec *a, unsigned i);
bool word_prefix(const char *word, const char *prefix);
/* How the k words of w name `name` (len bytes, words separated by blanks): all of its words, each one whole or shortened. */
enum how { HOW_NO, HOW_PREFIX, HOW_EXACT };
enum how name_match(const char *name, size_t len, const struct cmd_word *w, unsigned k);
/* Words in a name. */
unsigned name_words(const char *name, size_t len);
/* A word that can only be meant as a port list. */
bool looks_like_targets(const char *word);

enum set_how { SET_LOOK /* write nothing */, SET_WRITE, SET_ECHO /* and say what it comes to */ };
/* cmd_set. *in_value: the error is about the value. */
int set_apply(struct cmd *c, const struct target *t, const struct setting *s, const char *value, enum set_how how,
	      struct sbuf *note, bool *in_value, struct err *e);
/* The ports are there, and where `streams` is set, the streams too. */
int target_check(const struct cmd *c, const struct target *t, bool streams, struct err *e);

const char *arg_name(const struct arg_spec *a);
void verb_syntax(const struct verb *v, struct sbuf *out);
void setting_syntax(const struct setting *s, struct sbuf *out);
void setting_allowed(const struct setting *s, struct sbuf *out);
/* {"commands":[..],"settings":[..]} of some rows. */
json_t *rows_json(const struct verb *const *v, unsigned nverbs, const struct setting *const *s, unsigned nsettings);

/* Lines of a note from `from` on that say the same of several ports become one, where the first of them stands. */
void notes_group(struct sbuf *note, size_t from);
