/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line. getopt, --help and the manual page are made from one table of options. */
#pragma once
#include "base.h"
#include "rpc/rpc.h"

enum args_what {
	ARGS_RUN,
	ARGS_HELP,
	ARGS_VERSION,
	ARGS_DUMP,
	ARGS_SCHEMA,
	ARGS_LUA,
	ARGS_LUA_MANUAL,
	ARGS_MAN,
	ARGS_DOCTOR,
	ARGS_ALONE,
	ARGS_DPERF_DUMP,
	ARGS_DPERF_MANUAL
};
enum args_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* One option -f or -e. */
struct args_item {
	/* the place of its first line, "file:1" or "-e:1"; NULL for a script, whose messages name
	 * their own lines */
	char *where;
	char *text;         /* the commands to run */
	const char *script; /* the Lua file that text runs; NULL: text runs none */
	bool pktgen;        /* a command file written for Pktgen: a refused line does not end it */
};

struct args {
	enum args_what what;
	enum args_color color;
	int out_mode; /* enum out_mode */
	bool batch, keep_going, promiscuous, take, no_screen, lua_jit;
	bool attach;           /* be a client of a program that serves */
	const char *attach_to; /* which one (attach_find()); NULL: the only one that serves */
	/* serve clients without a prompt, in the background or in the foreground */
	bool daemon, serve;
	bool stream; /* print lines of JSON while the program runs */
	const char *log_file, *theme, *report, *pid_file; /* NULL: not given */
	struct rpc_opts rpc;
	uint64_t mbufs, txd, rxd, mtu; /* 0: not given */
	const char **port;
	unsigned nports;
	const char **map;
	unsigned nmaps;
	const char *hint; /* the map of files whose ports are those of -p; NULL: there is none */
	struct args_item *item; /* in the order in which they were given */
	unsigned nitems;
	const char **doctor; /* the words behind `doctor` (ARGS_DOCTOR) */
	unsigned ndoctor;
	char **alone; /* the words of a verb that needs no port (ARGS_ALONE) */
	int nalone;
	const char **dperf; /* files of dperf, in the order in which they were given */
	unsigned ndperf;
	unsigned dperf_ports; /* how many `port` lines they have */
	/* what options of these files point into, and what is printed (ARGS_DPERF_DUMP) */
	char *dperf_text, *dperf_map, *text;
	char **dperf_device; /* where each port is named in them; NULL: they are those of -p */
	char *dperf_notes;   /* lines about their CPUs, for stderr; NULL: none */
	/* What dperf prints is printed: a block each second, if not quiet, and the totals. */
	bool dperf_prints, dperf_quiet, dperf_clear;
	char *dperf_stop; /* commands that end their run before its time; NULL: there is none */
	char *command;    /* the words after the options as one command, NULL: none */
	char **eal;       /* the arguments before "--", which are for EAL */
	unsigned neal;
	char **argv; /* all of them, in the order in which they came */
};

/* Returns 0, or -EINVAL with *e, which ends the program with exit code 2. Option values in *a point
 * into argv. Call args_free() in both cases. */
int args_parse(struct args *a, int argc, char **argv, struct err *e);
void args_free(struct args *a);
struct sess;
/* Prints what becomes of the CPUs that files of dperf name, if it is not what they say, to stderr.
 * lacks: why the map for given ports is not used; NULL: it is. */
void args_dperf_tell(const struct args *a, const char *lacks);
/* Where files of dperf name the port that an error is about, as "FILE:LINE:COLUMN: "; "": none of
 * them does. */
const char *args_dperf_place(const struct args *a, const char *error);
/* Whether so many ports are enough for files of dperf: 0, or -EINVAL with *e. */
int args_dperf_ports(const struct args *a, unsigned nports, struct err *e);
void args_exec(const struct args *a, struct sess *s); /* queues the items in their order */
void args_help(struct sbuf *out);
/* Two pieces of the manual page as roff: the sections about attaching and about options, and the
 * section about exit codes. The rest of the page comes from the command language. */
void args_man(struct sbuf *out);
void args_man_exit(struct sbuf *out);
