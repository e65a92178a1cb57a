/* SPDX-License-Identifier: BSD-3-Clause */
/* A session is what a front end (prompt, file, client, script) holds to run commands. It runs
 * commands, completes lines, gives snapshots, and reports what happens as events. A local session
 * runs the command language in this process; a remote one sends the same calls as JSON lines to a
 * program that serves (app/rpc/rpc.h). All functions are for the control thread. */
#pragma once
#include <jansson.h>
#include "cmd.h"
#include "loop.h"

struct sess;

enum sess_event_kind { SESS_RESULT, SESS_NOTE, SESS_ERROR, SESS_DONE };
/* What a session reports. The pointers are valid during the call of sess_event_fn. */
struct sess_event {
	enum sess_event_kind kind;
	const char *text; /* RESULT: for stdout; NOTE, ERROR: for stderr */
	const char *line; /* the command that the event belongs to */
	int rc;           /* DONE: 0 or -errno of that command */
	int exit_code;    /* DONE: the exit code that the command asks for */
	/* DONE, RESULT: the documents that the command has printed so far, as an array; NULL:
	 * none */
	json_t *results;
	const struct err *err; /* ERROR: what text was made from; its column is one of line */
};
typedef void sess_event_fn(void *arg, const struct sess_event *);
/* Sorts the lines of a RESULT in mode JSON: a line that is one of the event's results is appended
 * to *docs, any other to *text. docs NULL: such lines are left out. */
void sess_printed(const struct sess_event *, struct sbuf *docs, struct sbuf *text);

/* Gives what sess_snapshot() is to return for a local session; host is that of the session. */
typedef json_t *sess_snapshot_fn(void *host, const char *parts, struct err *e);

struct sess_opts {
	int out_mode; /* enum out_mode: text, CSV or JSON */
	/* batch: no person is at the other end. keep_going: a refused command does not drop the
	 * rest of the queue. */
	bool batch, keep_going;
	bool person; /* a person types what sess_exec() gets without a where, and may be asked */
	/* The rest is for local sessions alone. Each function may be NULL.
	 * runs is called before and after commands are run or polled. holds is called before a
	 * command is run or polled, with the arg of the events; if it returns true, that has to
	 * wait. progress tells of work that goes on while no command runs. */
	void (*runs)(bool begins);
	bool (*holds)(void *arg);
	bool (*progress)(const void *host, struct cmd_progress *out);
};
/* Makes a session in this process. cmd, host and loop must outlive it. fn is called with arg for
 * every event. loop may be NULL: then the caller polls a pending command. */
struct sess *sess_local(struct cmd *cmd, void *host, sess_snapshot_fn *snapshot, struct loop *loop,
			const struct sess_opts *opts, sess_event_fn *fn, void *arg);

/* Where a command of a remote session is run. */
enum sess_place {
	SESS_THERE,      /* the server runs the command */
	SESS_HERE,       /* it is about the screen: this process runs it, by sess_remote_opts.cmd */
	SESS_THERE_ENDS, /* the server runs it, and ends when it succeeds */
};
struct sess_remote_opts {
	const char *path;        /* of a Unix socket; NULL: TCP */
	const char *host, *port; /* of TCP */
	const char *token;       /* NULL: none */
	const char *name;        /* of the server, for messages */
	struct cmd *cmd;         /* the language for commands that are run here */
	void *cmd_host;          /* their cmd_run.host */
	/* Says where a command is run. */
	enum sess_place (*place)(void *cmd_host, const char *line);
};
/* Connects to a server and greets it, which takes some seconds at most. NULL with *e. The strings
 * are not used after the call, the rest must outlive the session. No call waits for the server
 * longer than a person at a prompt tolerates: completions and snapshots that come too late are left
 * out. When the server is gone, sess_lost() returns true, the running command has failed, and the
 * exit code is 5. */
struct sess *sess_remote(const struct sess_remote_opts *, struct loop *loop,
			 const struct sess_opts *opts, sess_event_fn *fn, void *arg, struct err *e);
/* Says whether the server of a remote session is gone. */
bool sess_lost(const struct sess *);
/* For how long, in ns, a remote session has been waiting for a snapshot. Meanwhile sess_snapshot()
 * gives an earlier one. 0: it does not wait, or the session is local. */
uint64_t sess_unanswered_ns(const struct sess *);
void sess_free(struct sess *);

/* Queues the commands of a text; sess_poll() runs them. where is the place of its first line
 * ("file:12"), or has one line for each of its lines, and stands before errors; it may be NULL. If sess_asks() is true and where is NULL,
 * the first line of the text is the answer. A batch session that has failed ignores the
 * text. */
void sess_exec(struct sess *, const char *text, const char *where);
/* For commands that are queued from now on: a refused command does not drop the rest, even if
 * opts.keep_going is not set. The exit code is still that of the refused command. */
void sess_keep_going(struct sess *, bool on);
bool sess_busy(const struct sess *); /* a command is running or queued */
bool sess_asks(const struct sess *); /* the running command waits for an answer */
/* How far that has come for which a person waits: the running command or, if none runs, what the
 * ports were started for. false: there is nothing to wait for, or nothing that takes long. A remote
 * session tells what the server said last and asks it again, so this is to be called repeatedly. */
bool sess_progress(struct sess *, struct cmd_progress *out);
void sess_cancel(struct sess *); /* cancels the running command, drops the queue; ports send on */
void sess_poll(struct sess *);   /* to be called in each turn of the loop: runs commands */
int sess_exit_code(const struct sess *); /* the highest of all commands so far */
bool sess_failed(const struct sess *);   /* a command was refused and the queue was dropped */
/* Does what cmd_complete() does. */
void sess_complete(struct sess *, const char *line, int cursor, int *start,
		   void (*offer)(void *arg, const char *word, const char *help), void *arg);
/* Returns a snapshot as JSON with these parts ("stats,streams:0"; app/snapshot.h lists them), a new
 * reference. NULL with *e: there is no such part, or a server has not answered yet. */
json_t *sess_snapshot(struct sess *, const char *parts, struct err *e);
void sess_set_out_mode(struct sess *, int out_mode);
