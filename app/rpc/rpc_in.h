/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared inside app/rpc. */
#pragma once
#include "app.h"
#include "event.h"
#include "lines.h"
#include "listen.h"
#include "request.h"
#include "rpc.h"
#include "script.h"
#include "sess.h"
#include "token.h"

struct client;

/* The command language as remote sessions have it: commands that are not theirs are refused where they are run. */
struct guard {
	struct cmd *cmd;
	struct guarded *rows;
	struct guarded_setting *settings;
};

struct rpc {
	struct app *app;
	sess_snapshot_fn *snapshot;
	bool (*progress)(const void *host, struct cmd_progress *out); /* of what the ports were started for */
	struct rpc_opts opts;
	struct unix_socket unix_sock;
	int tcp_fd;
	struct sbuf address;
	struct token token;
	struct guard open, strict; /* of sessions on the Unix socket; of those over TCP, and of chunks in the sandbox */
	struct app_listener *listener;
	struct client *clients; /* the one that connected last first */
	unsigned nclients;
	unsigned denied;        /* wrong tokens that were not logged */
	uint64_t denied_ns;     /* when one was logged */
	int timer;              /* wakes the loop while somebody waits for a time; -1: none */
	uint64_t timer_ns;      /* its interval */
	uint64_t paused_ns;     /* != 0: nobody is let in until then */
	bool more;              /* the next turn begins at once */
	bool in_turn;
	uint64_t round;         /* of steps of those that run something */
};

struct client {
	struct client *next;
	struct rpc *rpc;
	int fd;       /* -1: there is none, bytes come by client_input() */
	bool tcp;
	char name[64]; /* for the log */
	short polled; /* what the loop watches it for */

	struct lines in;
	bool hungry;  /* no whole line is there */
	bool eof;     /* it sends no more */
	bool gone;    /* and reads no more */
	struct sbuf out;
	size_t sent;  /* bytes of out that are gone */
	uint64_t moved_ns; /* when some went, or there were none */

	bool authed;
	uint64_t auth_ns;  /* until when it must be */
	double tokens;     /* requests that it may make now */
	uint64_t tokens_ns;

	struct request *head, **tail; /* cmd and lua that wait */
	unsigned waiting;
	size_t waiting_bytes;
	struct request *running;
	struct request *aside; /* a snapshot, progress or words to complete: nothing is read before it is answered */
	uint64_t round;        /* in which it had its last step */
	const char *rest;      /* commands of it that are not yet run, NULL: none */
	struct sess *sess;     /* NULL: no command yet */
	struct script *script; /* NULL: no chunk yet */
	struct app_guest guest; /* what its chunks are given */
	struct view view;      /* what app->view is while its commands run */
	struct sbuf text, note; /* of the request, not yet sent */
	struct sbuf results;   /* its documents as JSON, with commas between them */
	struct sbuf text_json, note_json; /* as they stand in its answer, while that is made */
	size_t packed;         /* bytes of text, and behind them of note, that were taken for that */
	struct err err;
	char *err_line;
	int rc, exit_code;

	uint32_t events;
	unsigned missed;   /* events that did not fit */
	uint64_t end_ns;   /* != 0: it is being sent away, at the latest then it goes */
	uint64_t deny_ns;  /* != 0: a wrong token is answered then */
	bool counted;      /* among the clients that there may be */
	bool dead;         /* it is done with, and goes at the end of the turn, or when its script is closed */
};

/* rpc.c: without sockets, as rpc_open() begins. */
struct rpc *rpc_new(struct app *, const struct rpc_opts *);

/* client.c: connections. */
struct client *client_new(struct rpc *, int fd, bool tcp, const char *name);
void client_input(struct client *, const char *bytes, size_t n);
bool client_busy(const struct client *); /* its next step may take long: it runs something, or something waits */
bool client_work(struct client *, bool first); /* one step; false: there is none to do */
void client_flush(struct client *);            /* what the socket takes now, and what is to be polled */
void client_look(struct client *, uint64_t now_ns); /* times that are over */
bool client_waits(const struct client *);      /* for a time */
void client_end(struct client *, const char *why); /* a last word, then it goes; NULL: it goes at once */
void client_hang_up(struct client *); /* the connection and what runs for it end here */
void client_free(struct client *);
size_t client_backlog(const struct client *);

/* answer.c: lines to a client. They take the objects. */
void send_object(struct client *, json_t *doc);
void answer_ok(struct client *, json_t *id, json_t *members); /* members may be NULL */
void answer_error(struct client *, json_t *id, int rc, const struct err *, json_t *members);
int answer_too_large(struct err *, size_t bytes, bool more); /* -EMSGSIZE; it has so many, or (more) more than so many */
/* A member of an answer whose value is written as JSON already: what stands between its brackets or quotes. */
struct answer_part {
	const char *key;
	char open, close;
	const struct sbuf *inside;
};
/* Answers to what was run. */
void answer_done(struct client *, json_t *id, json_t *members, const struct answer_part *, unsigned nparts);
void answer_failed(struct client *, json_t *id, int rc, const struct err *, json_t *members, const struct answer_part *, unsigned nparts);
void send_partial(struct client *, json_t *id, const char *key, const char *text, size_t n);

/* work.c: cmd and lua. */
void work_start(struct client *, struct request *); /* takes it */
bool work_poll(struct client *);                    /* true: it has ended */
bool work_ready(const struct client *);             /* it would go on at once */
void work_cancel(struct client *);
void work_drop(struct client *); /* without an answer */

/* lua.c: a client's state of Lua. */
void lua_guest(struct client *);
int lua_begin(struct client *, const char *chunk, const char *const *args, unsigned nargs, struct sbuf *out, struct sbuf *note, struct err *e);

/* events.c */
void events_tell(void *rpc, const struct app_event *);
void events_missed(struct client *);

/* guard.c: allow: enum rpc_allow. */
void guard_open(struct guard *, struct rpc *, unsigned allow);
void guard_close(struct guard *);
