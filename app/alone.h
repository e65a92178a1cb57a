/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs that need no port: as the command of a line without ports they run without DPDK, and under
 * the name of a link they behave as the program that has this name. */
#pragma once
#include "base.h"

struct alone {
	const char *verb;
	/* The names of links, which end with NULL. */
	const char *const *links;
	/* link: the name by which the program was called, NULL: it is the verb of our own command
	 * line. argv[0] is that word, out_mode is enum out_mode. Returns the exit code. */
	int (*run)(const char *link, int argc, char **argv, int out_mode);
	/* Whether these words behind a link are for its port, if it has one; NULL: none are. false:
	 * run() does without it what they say, as printing help, or tells what is wrong. May change
	 * the order of argv. */
	bool (*on_port)(const char *link, int argc, char **argv);
	/* The original's exit code for one of ours. */
	int (*code)(int ours);
};
/* By a verb, or by the path by which the program was called, in which *link becomes the name. NULL:
 * there is none. */
const struct alone *alone_verb(const char *verb);
const struct alone *alone_link(const char *path, const char **link);

/* ---- alone_port.c: links on ports ---- */

/* Runs a link: by run(), or on the port that its words or the environment name, for which `ours`
 * is called with a command line of ours. Returns the original's exit code. */
int alone_run(const struct alone *, const char *link, int argc, char **argv,
	      int (*ours)(void *arg, int argc, char **argv), void *arg);
void alone_port_help(unsigned width, struct sbuf *out);

/* Prints a text on standard output. false: it was not taken, which is told under that name on
 * standard error; a reader who has left had enough, and that is none. */
bool alone_print(const char *name, const char *text);

/* neper_alone.c, iperf3_alone.c, stacks_alone.c */
extern const struct alone alone_neper, alone_iperf3, alone_stacks;
