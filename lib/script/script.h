/* SPDX-License-Identifier: BSD-3-Clause */
/* Lua with the module `wirerate`, made from the tables of the command language: settings are properties, verbs are functions. Nothing here
 * knows a port or control: a host gives what the tables do not say. A chunk runs as a coroutine that gives way: whoever owns it calls
 * script_poll() once per turn, as a session polls a verb. Control thread. */
#pragma once
#include <jansson.h>
#include "cmd.h"

struct script;

struct script_host {
	void *arg;
	struct cmd *cmd;
	void *cmd_host;      /* cmd_run.host of the commands that scripts run */
	/* As sess_snapshot_fn: `stats()`, `rates()`, `queues()`, `latency()` are made of it. New reference. */
	json_t *(*snapshot)(void *cmd_host, const char *parts, struct err *e);
	const char *const *events; /* names for on(), NULL at the end; NULL: any */
	const char *version;       /* of the program */
	const char *dpdk_version;  /* "DPDK 22.11.11"; NULL: none is there */
	/* expect() was called; where and what for a person. NULL: nobody counts. arg is script_host.arg. */
	void (*check)(void *arg, bool passed, const char *text);
	bool (*interrupted)(void);           /* Ctrl-C has come since the script was given its turn; NULL: it stays pending */
};

struct script_opts {
	bool jit;            /* compiled loops, which nothing interrupts */
	bool sandbox;        /* no io, os.execute, ffi, package.loadlib, debug, bytecode, no file of the user's: chunks of strangers */
	size_t max_bytes;    /* most memory of the state; 0: no limit */
	size_t max_out_bytes; /* most that is printed and noted; 0: as much as memory */
	uint64_t max_ns;     /* most time from a chunk's start to its end; 0: no limit */
	bool batch;          /* no person at the other end: cmd_run.batch */
	int out_mode;        /* of the commands whose output is printed */
	struct cmd_own *own; /* of the session whose user answers input(); NULL: there is nobody */
	const char *lua_dir; /* Lua files that came with the program; require() finds them behind those of the script's folder and the user */
};

/* NULL with *e. The globals of a state live as long as it does: a chunk finds what those before it left. */
struct script *script_new(const struct script_host *, const struct script_opts *, struct err *e);
void script_free(struct script *); /* cancels what runs; NULL: nothing */
/* Before script_free() where nobody may be kept waiting: cancels what runs, and a thread frees what a state of the sandbox holds, if it is much.
 * true: script_free() takes no time now; false: ask again later, and call nothing else meanwhile. NULL: true. */
bool script_let_go(struct script *);

/* Begin a chunk: text, named in messages ("=lua" or "@file.lua"), with arguments (... and the table `arg`). Only one runs at a time: -EBUSY.
 * out and note get what it prints, they live until its end. 0 or -errno with "NAME:LINE: message" in *e; nothing has run then. */
int script_start(struct script *, const char *text, const char *name, const char *const *args, unsigned nargs, struct sbuf *out,
		 struct sbuf *note, struct err *e);
/* The same of a file (column 0 of *e.col is the file's name in the command). */
int script_start_file(struct script *, const char *path, const char *const *args, unsigned nargs, struct sbuf *out, struct sbuf *note,
		      struct err *e);
/* Go on for some instructions, or look whether what it waits for has come. VERB_PENDING, VERB_DONE, or -errno with the message in *e, and the
 * traceback in note. */
int script_poll(struct script *, struct err *e);
bool script_running(const struct script *);
bool script_ready(const struct script *); /* it would go on at once: do not wait for anything before the next poll */
/* How far it has come: as it says itself, else as the command says that it runs. False: nothing runs. */
bool script_progress(const struct script *, struct cmd_progress *out);
/* It ends now, whatever it does; commands that it runs are cancelled; ports keep sending unless it asked otherwise with at_end(). */
void script_cancel(struct script *);
/* After its end: what it returned as an array (new reference, NULL: nothing), and the exit code that it asks for: 0, 1 after a failed
 * expect(), or that of the worst command that it ran. */
json_t *script_results(struct script *);
int script_exit_code(const struct script *);
/* Something happened: functions that wait for it (`on(name, fn)`) are called at the next poll. doc may be NULL. */
void script_event(struct script *, const char *name, unsigned port, const char *text, json_t *doc);
/* Names that could stand at the cursor of a line of Lua; as cmd_complete(). */
void script_complete(struct script *, const char *line, int cursor, int *start, void (*offer)(void *arg, const char *word, const char *help),
		     void *arg);
/* The same without a state. */
void script_complete_line(struct cmd *, const char *line, int cursor, int *start,
			  void (*offer)(void *arg, const char *word, const char *help), void *arg);
/* Made from the tables: annotations for LuaLS, and the reference manual as Markdown. cmd needs no host. */
void script_annotations(struct cmd *, struct sbuf *out);
void script_manual(struct cmd *, struct sbuf *out);
