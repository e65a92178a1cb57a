/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of a command line, read by getopt_long() from a table. A row of it is of its owner's
 * type, whose first member is a struct opt_word. */
#pragma once
#include "base.h"

struct opt_word {
	int letter; /* 0: none */
	/* Without the dashes. An underscore in it is a dash on the command line. */
	const char *name;
	/* The name of its value; "[" first: the value may be left out; NULL: it takes none. */
	const char *arg;
};
/* Its members in a row. */
#define OPT_WORD(letter, name, arg) \
	{ \
		letter, name, arg \
	}
struct opt_table {
	const void *row;
	size_t row_bytes;
	unsigned n;
	/* What messages say: "option -p, --port<whose> needs a value", "unknown option --x<whose>;
	 * <list>". hint stands before list unless it is known which option was meant; "": nothing. */
	const char *whose, *hint, *list;
	/* Words that are no options end the reading; false: they are left for its end. */
	bool in_order;
	/* Whether the row is one of this reading; NULL: each is. */
	bool (*has)(const void *row, const void *arg);
	const void *arg;
};

/* One reading of a command line. Only one at a time: getopt's variables are the process's. */
struct opts;
struct opts *opts_begin(const struct opt_table *);
/* The next option. 1: *row is its row, *value its value or NULL. 0: no option is left; words begin
 * at argv[optind], and reading may go on behind them when optind was moved. -EINVAL with *e. */
int opts_next(struct opts *, int argc, char **argv, const void **row, const char **value,
	      struct err *e);
void opts_end(struct opts *); /* NULL is allowed */

void opt_print(const struct opt_word *, struct sbuf *out);      /* -p, --port */
void opt_print_long(const struct opt_word *, struct sbuf *out); /* --port */
/* The same with the name of its value, and four blanks where a letter would be. */
void opt_print_head(const struct opt_word *, struct sbuf *out);
/* A help text of lines beside a head of `width` columns. */
void opt_print_help(const char *head, const char *help, unsigned width, struct sbuf *out);
