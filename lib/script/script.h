/* SPDX-License-Identifier: BSD-3-Clause */
/* Lua with the module `wirerate`, which is made from the tables of the command language: settings
 * are properties, and verbs are functions. This library knows neither ports nor control; a host
 * gives what the tables do not say. A chunk runs as a coroutine that gives way, so its owner calls
 * script_poll() in each turn of the loop, as a session polls a verb. All functions are for the
 * control thread. */
#pragma once
#include <jansson.h>
#include "cmd.h"

struct script;

/* What a script asks of the program. */
struct script_host {
	void *arg;
	struct cmd *cmd; /* the language of the commands that scripts run */
	void *cmd_host;  /* their cmd_run.host */
	/* Does what a sess_snapshot_fn does, for wr.stats(). Returns a new reference. */
	json_t *(*snapshot)(void *cmd_host, const char *parts, struct err *e);
	const char *const *events; /* names for on(), NULL at the end; NULL: any name */
	const char *version;       /* of the program */
	const char *dpdk_version;  /* "DPDK 22.11.11"; NULL: DPDK is not there */
	/* Called for each expect(), with its place and what it said as a text for people; arg is
	 * that above. NULL: nothing is called. */
	void (*check)(void *arg, bool passed, const char *text);
	/* Says whether Ctrl-C has come since the script got its turn. NULL: the signal is blocked,
	 * and it is looked for among those that are pending. */
	bool (*interrupted)(void);
};

struct script_opts {
	bool jit; /* loops are compiled, and nothing interrupts those */
	/* For chunks of strangers: without io, os.execute, ffi, package.loadlib, debug and
	 * bytecode, and without files of the user. */
	bool sandbox;
	size_t max_bytes;     /* most memory of the state; 0: no limit */
	size_t max_out_bytes; /* most bytes that may be printed and noted; 0: max_bytes */
	uint64_t max_ns;      /* most time from a chunk's start to its end; 0: no limit */
	bool batch;           /* no person at the other end: cmd_run.batch */
	int out_mode;         /* of the commands whose output is printed */
	struct cmd_own *own;  /* of the session whose user answers input(); NULL: nobody does */
	/* The folder of Lua files that came with the program. require() looks there after the
	 * folder of the script and that of the user. */
	const char *lua_dir;
};

/* Makes a Lua state. NULL with *e. Its globals live as long as it does, so a chunk finds what
 * earlier chunks left there. */
struct script *script_new(const struct script_host *, const struct script_opts *, struct err *e);
void script_free(struct script *); /* cancels what runs; does nothing for NULL */
/* Prepares script_free() for a caller that nothing may hold up. If the state is a sandbox's and has
 * much memory, it cancels what runs and lets a thread free that memory; until this is done the
 * result is false, and the caller asks again later and calls nothing else with this state
 * meanwhile. true: the caller may call script_free() now. It is true for NULL too. */
bool script_let_go(struct script *);

/* Starts a chunk. name stands in messages: "=lua" or "@file.lua". The chunk gets the arguments as
 * ... and in the table `arg`. out and note get what it prints, and must live until its end. 0 or
 * -errno with "NAME:LINE: message" in *e; then nothing has run. -EBUSY: another chunk is
 * running. */
int script_start(struct script *, const char *text, const char *name, const char *const *args,
		 unsigned nargs, struct sbuf *out, struct sbuf *note, struct err *e);
/* Does the same for a file. If the file cannot be read, e->col is 0 and stands for its name in the
 * command. */
int script_start_file(struct script *, const char *path, const char *const *args, unsigned nargs,
		      struct sbuf *out, struct sbuf *note, struct err *e);
/* Lets the chunk go on for some instructions, or looks whether what it waits for has happened.
 * Returns VERB_PENDING, VERB_DONE, or -errno with the message in *e and the traceback in note. */
int script_poll(struct script *, struct err *e);
bool script_running(const struct script *);
/* Says whether the chunk would go on at once: then the caller is to wait for nothing before it
 * polls. */
bool script_ready(const struct script *);
/* Says how far the chunk has come: what it says itself or, if it says nothing, for how long it has
 * been running; then what the command says for which it waits. false: no chunk is running. */
bool script_progress(const struct script *, struct cmd_progress *out);
/* Ends the chunk at once and cancels the commands that it is running. Ports keep sending unless the
 * chunk asked otherwise with at_end(). */
void script_cancel(struct script *);
/* For the time after the end of a chunk: what it returned, as an array (a new reference, NULL:
 * nothing), and the exit code that it asks for: that of exit(), else the highest of the commands
 * that it ran, else 1 after a failed expect(), else 0. */
json_t *script_results(struct script *);
int script_exit_code(const struct script *);
/* Reports that something happened: functions that wait for it (`on(name, fn)`) are called at the
 * next poll. text and doc may be NULL. */
void script_event(struct script *, const char *name, unsigned port, const char *text, json_t *doc);
/* Offers names that could stand at the cursor in a line of Lua, as cmd_complete() does for
 * commands. */
void script_complete(struct script *, const char *line, int cursor, int *start,
		     void (*offer)(void *arg, const char *word, const char *help), void *arg);
/* Does the same without a state. */
void script_complete_line(struct cmd *, const char *line, int cursor, int *start,
			  void (*offer)(void *arg, const char *word, const char *help), void *arg);
/* Append what is made from the tables: annotations for LuaLS, and the reference manual as Markdown.
 * cmd needs no host. */
void script_annotations(struct cmd *, struct sbuf *out);
void script_manual(struct cmd *, struct sbuf *out);
