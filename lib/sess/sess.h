/* SPDX-License-Identifier: BSD-3-Clause */
/* A session: what a front end holds. Four calls: exec, complete, snapshot, next event. The local session runs the command
 * language in this process, the remote one sends the same calls as JSON lines to a program that serves (app/rpc/rpc.h). Control thread. */
#pragma once
#include <jansson.h>
#include "cmd.h"
#include "loop.h"

struct sess;

enum sess_event_kind { SESS_RESULT, SESS_NOTE, SESS_ERROR, SESS_DONE };
struct sess_event {
	enum sess_event_kind kind;
	const char *text;    /* RESULT: for stdout; NOTE, ERROR: for stderr */
	const char *line;    /* the command it belongs to */
	int rc;              /* DONE: 0 or -errno of that line */
	int exit_code;       /* DONE: exit code the command asks for */
	json_t *results;     /* DONE, RESULT: the documents that the command has printed so far, as an array, NULL: none */
	const struct err *err; /* ERROR: what text was made of; its column is one of line */
};
typedef void sess_event_fn(void *arg, const struct sess_event *);
/* The lines of a RESULT in mode JSON, each added to one of the two: documents that stand in its results (NULL: they are left out), and whatever
 * else was printed. */
void sess_printed(const struct sess_event *, struct sbuf *docs, struct sbuf *text);

typedef json_t *sess_snapshot_fn(void *host, const char *parts, struct err *e);

/* out_mode: text, CSV or JSON. batch: no person. keep_going: a refused line does not drop the rest of the queue. */
struct sess_opts {
	int out_mode;
	bool batch, keep_going;
	bool person; /* somebody types what sess_exec() gets without a where, and may be asked */
	/* Of a local session; NULL: nothing. runs: before and after something is run or goes on. holds: asked before, with arg of the events:
	 * true: not now. */
	void (*runs)(bool begins);
	bool (*holds)(void *arg);
	/* Of work that goes on while no command holds the line; arg: the host. */
	bool (*progress)(const void *host, struct cmd_progress *out);
};
struct sess *sess_local(struct cmd *cmd, void *host, sess_snapshot_fn *snapshot, struct loop *loop, const struct sess_opts *opts,
			sess_event_fn *fn, void *arg);

/* What a session in another process is asked for at the place where its user sits. */
enum sess_place {
	SESS_THERE,      /* the server runs the command */
	SESS_HERE,       /* it concerns the screen: run by opts->cmd */
	SESS_THERE_ENDS, /* the server runs it, and is gone when it succeeds */
};
struct sess_remote_opts {
	const char *path;        /* of a Unix socket, NULL: TCP */
	const char *host, *port; /* of TCP */
	const char *token;       /* NULL: none */
	const char *name;        /* of the server, for messages */
	struct cmd *cmd;         /* of commands that are run here, with their host */
	void *cmd_host;
	enum sess_place (*place)(void *cmd_host, const char *line);
};
/* Connect and greet, for some seconds at most. NULL with *e. The strings are copied, the rest must outlive the session. Nothing of it waits for the
 * server longer than a person at a prompt does not notice: words and snapshots that come too late are left out. When the server is gone,
 * sess_lost() is true, the running command has failed and the exit code is 5. */
struct sess *sess_remote(const struct sess_remote_opts *, struct loop *loop, const struct sess_opts *opts, sess_event_fn *fn, void *arg,
			 struct err *e);
bool sess_lost(const struct sess *); /* the other end is gone; never true of a local session */
/* How long the other end has not answered a snapshot that was asked for, ns: snapshots are those of before. 0: it has; a local session. */
uint64_t sess_unanswered_ns(const struct sess *);
void sess_free(struct sess *);

/* Queue text (any number of commands). where ("file:12", may be NULL) prefixes errors; line counts on from there. */
void sess_exec(struct sess *, const char *text, const char *where);
/* Of what is queued from now on a refused command does not drop the rest, whatever the session's own keep_going is; the exit code stays that of a
 * refused command. */
void sess_keep_going(struct sess *, bool on);
bool sess_busy(const struct sess *);      /* a verb holds the line or commands are queued */
bool sess_asks(const struct sess *);      /* the running verb waits for a line: the next text without a where is its answer */
/* How far that has come which a person waits for: the running command, else what the ports were started for. False: nothing, or nothing that takes
 * long. Of a session in another process: what it said last, and it is asked for more; whoever wants to show it looks again and again. */
bool sess_progress(struct sess *, struct cmd_progress *out);
void sess_cancel(struct sess *);          /* cancel the running verb and drop the queue; ports keep sending */
void sess_poll(struct sess *);            /* once per turn of the loop */
int sess_exit_code(const struct sess *);  /* worst so far */
bool sess_failed(const struct sess *);    /* a command was refused and the queue was dropped */
void sess_complete(struct sess *, const char *line, int cursor, int *start,
		   void (*offer)(void *arg, const char *word, const char *help), void *arg);
/* New reference: the full JSON form of a snapshot with those parts ("stats,streams:0"; app/snapshot.h lists them). NULL with *e: there is
 * no such part. */
json_t *sess_snapshot(struct sess *, const char *parts, struct err *e);
void sess_set_out_mode(struct sess *, int out_mode);
