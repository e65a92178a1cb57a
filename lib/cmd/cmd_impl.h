/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of lib/cmd share. */
#pragma once
#include "cmd.h"

/* An index of the names and aliases of a table (names.c). A name is one entry, and entries whose
 * hashes end in the same bits form a chain. */
struct name {
	const char *text; /* len bytes, inside the row's list */
	size_t len;
	uint64_t hash;             /* of its words */
	unsigned row, words, next; /* next: index + 1 of the next name in the chain, 0: none */
	bool alias;
};
struct names {
	struct name *e;
	unsigned n, cap, mask, max_words;
	unsigned *head; /* by hash & mask: index + 1 of the first name in the chain, 0: none */
};
/* Adds the names of a comma separated list. After the last one names_index() makes them
 * findable. */
void names_add(struct names *t, const char *list, bool alias, unsigned row);
void names_index(struct names *t);
void names_free(struct names *t);
/* names_find() gives the first name, in the order of the table, that consists of exactly these k
 * words; names_more() gives the next one after e. NULL: there is none. */
const struct name *names_find(const struct names *t, const struct cmd_word *w, unsigned k);
const struct name *names_more(const struct names *t, const struct name *e,
			      const struct cmd_word *w);

struct cmd {
	const struct setting **settings;
	unsigned nsettings;
	const struct verb **verbs;
	unsigned nverbs;
	struct names setting_names, verb_names;
	/* scopes: as cmd_scope_at() gives them. kinds: the names of those whose objects are written
	 * with them, NULL at the end. bare: the scope whose objects are not, NULL: none. */
	const struct cmd_scope **scopes, *bare;
	unsigned nscopes;
	const char **kinds;
	struct cmd_host host;
	bool checks_held;
};

/* The words of one line, with the memory that holds their texts. line_split() gives 0 or -errno
 * with *e. */
struct line_words {
	struct cmd_word *w;
	unsigned n;
	char *buf;
};
int line_split(const char *line, struct line_words *out, struct err *e);
void line_free(struct line_words *l);
/* The text of an ARG_REST is the words of a line from column `col` on, joined by one blank. This
 * function finds the column in the line at which byte `off` of that text stands. */
int line_rest_col(const char *line, int col, int off);

/* Gives the next name of a comma separated list and moves *list behind it; false at the end of the
 * list. The words of a name are separated by blanks. */
bool name_next(const char **list, const char **name, size_t *len);

/* What stands before the name of a setting, which says where to look for it: anything, no ports,
 * ports alone, bare objects ("0/3"), or objects of the scope of this name ("0/NAME.3"). */
struct find_in {
	enum find_how { FIND_ANY, FIND_GLOBAL, FIND_BARE, FIND_STREAMS, FIND_KIND } how;
	const char *kind;
};
struct find_in find_in_targets(const struct target *t);
/* Finds the row whose name or alias stands at w[0..] and sets *used to the number of its words. An
 * exact name goes before a shortened one, more words before fewer, a name before an alias. NULL
 * with *e, whose column is that of the word in its line. */
const struct setting *setting_match(const struct cmd *c, struct find_in in,
				    const struct cmd_word *w, unsigned n, unsigned *used,
				    struct err *e);
/* Checks that the row may be named after what stands before it (in): 0, or -EINVAL with *e at
 * column col. */
int setting_fits(const struct setting *s, struct find_in in, int col, struct err *e);
/* Says whether the objects of a scope are written with its name. */
bool scope_is_kind(const struct cmd_scope *scope);
/* Appends what stands before the name of a row in `set`: "", "<ports> ", "<streams> ",
 * "<ports>/NAME.<n> ". */
void scope_before(const struct cmd_scope *scope, struct sbuf *out);
/* The words that target_parse() is to know for an argument; NULL: ports and streams alone. */
const char *const *target_kinds(const struct cmd *c, const struct arg_spec *a);
/* Collects the scopes of the rows of a language; scopes_free() frees what it has made. */
void scopes_collect(struct cmd *c);
void scopes_free(struct cmd *c);
/* Finds the verb that the first words of a line name ("stream add" has two words) and sets *used to
 * the number of these words. NULL with *e. */
const struct verb *verb_match(const struct cmd *c, const struct cmd_word *w, unsigned n,
			      unsigned *used, struct err *e);
/* Appends the second words of all verbs of two words whose first word begins with `word`: for
 * "stream" that is "add | copy". */
void verb_seconds(const struct cmd *c, const char *word, struct sbuf *out);
/* Refuses a row with SET_LATER: -ENOTSUP with *e. Else 0. */
int setting_later(const struct setting *s, struct err *e);

/* Matches the words from `first` on, which are those after the verb, against the verb's arguments:
 * 0 or -errno with *e. args has CMD_MAX_ARGS elements. text gets the texts that were joined from
 * several words; the caller frees it. With `look`, streams that are named need not exist. */
int args_match(const struct cmd *c, const struct verb *v, const struct line_words *l,
	       const char *line, unsigned first, bool look, struct arg_val *args,
	       struct sbuf text[CMD_MAX_ARGS], struct err *e);
/* Says whether word begins with prefix. */
bool word_prefix(const char *word, const char *prefix);
/* Returns the number of words in a name. */
unsigned name_words(const char *name, size_t len);
/* Says whether a word can only be meant as a list of ports or streams. */
bool looks_like_targets(const char *word);

enum set_how { SET_LOOK /* only check */, SET_WRITE, SET_ECHO /* write and call echo */ };
/* Does the work of cmd_set() and of the verb `set`. *in_value says whether an error is about the
 * value; then its column counts from the beginning of the value. */
int set_apply(struct cmd *c, const struct target *t, const struct setting *s, const char *value,
	      enum set_how how, struct sbuf *note, bool *in_value, struct err *e);
/* Checks that the ports exist and, if `objects` is set, their objects too: 0 or -EINVAL with *e. */
int target_check(const struct cmd *c, const struct target *t, bool objects, struct err *e);

/* Texts about rows, for help and errors: the name of an argument, how a verb or a setting is
 * written, and the values that a setting allows. */
const char *arg_name(const struct arg_spec *a);
void verb_syntax(const struct verb *v, struct sbuf *out);
void setting_syntax(const struct setting *s, struct sbuf *out);
void setting_allowed(const struct setting *s, struct sbuf *out);
/* Returns some rows as {"commands":[..],"settings":[..]}, a new reference. */
json_t *rows_json(const struct verb *const *v, unsigned nverbs, const struct setting *const *s,
		  unsigned nsettings);

/* Joins those lines of a note, from byte `from` on, that say the same about several ports. They
 * become one line at the place of the first of them. */
void notes_group(struct sbuf *note, size_t from);
