/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of the program: one table of options that getopt, --help and the manual page are made from. */
#pragma once
#include "base.h"
#include "rpc/rpc.h"

enum args_what { ARGS_RUN, ARGS_HELP, ARGS_VERSION, ARGS_DUMP, ARGS_SCHEMA, ARGS_LUA, ARGS_LUA_MANUAL, ARGS_MAN };
enum args_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* A command file (-f, read whole) or text (-e), in the order given. */
struct args_item {
	char *where; /* "file:1" or "-e:1": where its first line is; NULL: it is a script, whose messages say that */
	char *text;
	const char *script; /* it runs this file of Lua; NULL: none */
	bool pktgen;        /* a command file of Pktgen's, which goes on after a refused line */
};

struct args {
	enum args_what what;
	enum args_color color;
	int out_mode; /* enum out_mode */
	bool batch, keep_going, promiscuous, take, no_screen, lua_jit;
	bool attach;          /* a client of a program that serves */
	const char *attach_to; /* NULL: the only one */
	bool daemon, serve;   /* no prompt, goes on for its clients */
	bool stream; /* lines of JSON while it runs */
	const char *log_file, *theme, *report, *pid_file; /* NULL: not given */
	struct rpc_opts rpc;
	uint64_t mbufs, txd, rxd, mtu; /* 0: not given */
	const char **port;
	unsigned nports;
	const char **map;
	unsigned nmaps;
	struct args_item *item;
	unsigned nitems;
	char *command; /* the words after the options as one command, NULL: none */
	char **eal;    /* what stands before "--" */
	unsigned neal;
};

/* 0 or -EINVAL with text (exit code 2). Option texts point into argv. */
int args_parse(struct args *a, int argc, char **argv, struct err *e);
void args_free(struct args *a);
struct sess;
void args_exec(const struct args *a, struct sess *s); /* queue the files and commands, in their order */
void args_help(struct sbuf *out);
/* The sections of the manual page that are the program's own: its options, its exit codes. roff. */
void args_man(struct sbuf *out);
void args_man_exit(struct sbuf *out);
