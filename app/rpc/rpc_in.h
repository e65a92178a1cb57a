/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to app/rpc: the server and its clients, and the functions of each file. */
#pragma once
#include "app.h"
#include "event.h"
#include "rpc_lines.h"
#include "rpc_listen.h"
#include "rpc_request.h"
#include "rpc.h"
#include "script.h"
#include "sess.h"
#include "rpc_token.h"

struct client;

/* The tables of the command language for remote sessions. A command that the session may not use is
 * refused when it is run (rpc_guard.c). */
struct guard {
	struct cmd *cmd;
	struct guarded *rows;
	struct guarded_setting *settings;
};

struct rpc {
	struct app *app;
	sess_snapshot_fn *snapshot;
	bool (*progress)(const void *host, struct cmd_progress *out); /* of the runs of ports */
	struct rpc_opts opts;
	struct unix_socket unix_sock;
	int tcp_fd;          /* -1: none */
	struct sbuf address; /* of TCP */
	struct token token;
	/* open: for the Unix socket; strict: for TCP, and for Lua in its sandbox */
	struct guard open, strict;
	struct app_listener *listener;
	struct client *clients; /* the newest connection is first */
	unsigned nclients;
	unsigned denied;    /* wrong tokens that were not logged */
	uint64_t denied_ns; /* when one was last logged; 0: never */
	int timer;          /* wakes the loop while a client waits for a time; -1: none */
	uint64_t timer_ns;  /* its interval */
	uint64_t paused_ns; /* != 0: no client is let in until then */
	bool more;          /* the next turn begins at once */
	bool in_turn;
	uint64_t round; /* number of the round in which each busy client gets one step */
};

struct client {
	struct client *next;
	struct rpc *rpc;
	int fd; /* -1: none; in tests, bytes come by client_input() alone */
	bool tcp;
	char name[64]; /* for the log */
	short polled;  /* events for which the loop watches fd */

	struct lines in;
	bool hungry;       /* no whole line is there */
	bool eof;          /* the client sends no more */
	bool gone;         /* the client also reads no more */
	struct sbuf out;   /* lines for the client */
	size_t sent;       /* bytes of out that were sent */
	uint64_t moved_ns; /* when bytes were sent last, or out was empty */

	bool authed;        /* the client has given the token, or needs none */
	uint64_t auth_ns;   /* the client must give it before this time */
	double tokens;      /* requests that it may make now (limit rate) */
	uint64_t tokens_ns; /* when tokens was computed */

	struct request *head, **tail; /* requests cmd and lua that wait */
	unsigned waiting;
	size_t waiting_bytes;
	struct request *running; /* the request cmd or lua that runs, NULL: none */
	/* complete, snapshot or progress: no line is read before it is answered */
	struct request *aside;
	uint64_t round;         /* round of its last step */
	const char *rest;       /* commands of `running` that are not yet run, NULL: none */
	struct sess *sess;      /* NULL: it has run no command yet */
	struct script *script;  /* NULL: it has run no chunk yet */
	struct app_guest guest; /* how its state of Lua is made */
	struct view view;       /* takes the place of app->view while its commands run */
	struct sbuf text, note; /* what `running` has printed and that was not sent yet */
	struct sbuf results;    /* documents of `running` as JSON, with commas between them */
	/* text and note in the form for JSON, while the answer is made */
	struct sbuf text_json, note_json;
	size_t packed; /* bytes of text, then of note, that have that form already */
	/* of `running`, if rc < 0; err_line: the command that it is about, or NULL */
	struct err err;
	char *err_line;
	int rc, exit_code; /* of `running` so far */

	uint32_t events; /* that it wants: bits of enum app_event_kind */
	unsigned missed; /* events that were not sent because too much waits */
	/* != 0: it is being disconnected, and is dead at this time at the latest */
	uint64_t end_ns;
	uint64_t deny_ns; /* != 0: it gave a wrong token, which is answered at this time */
	bool counted;     /* it is counted in rpc.nclients */
	bool dead;        /* it is freed at the end of a turn, when script_let_go() allows it */
};

/* rpc.c: a server without sockets. rpc_open() begins with it. */
struct rpc *rpc_new(struct app *, const struct rpc_opts *);

/* rpc_client.c: connections. */
struct client *client_new(struct rpc *, int fd, bool tcp, const char *name);
/* Bytes have come from the client. */
void client_input(struct client *, const char *bytes, size_t n);
/* It runs a request, or one waits, so its next step may take long. */
bool client_busy(const struct client *);
/* Does one step of the client. first: a request that runs is polled although it may not be ready,
 * which happens once in a turn of the loop. Returns false when there is nothing to do. */
bool client_work(struct client *, bool first);
/* Sends what the socket accepts now, and says to the loop what to watch the socket for. */
void client_flush(struct client *);
/* Does what is due at this time: answers a wrong token, and disconnects a client that has let a
 * time pass. */
void client_look(struct client *, uint64_t now_ns);
/* rpc_turn() must look at the client again after some time, although nothing comes from it. */
bool client_waits(const struct client *);
/* Sends a last line that says why, and disconnects the client when the line is sent, after 2 s at
 * the latest. why NULL: disconnects it without a line. */
void client_end(struct client *, const char *why);
/* Closes the connection, and ends the request that runs. */
void client_hang_up(struct client *);
void client_free(struct client *);
/* Bytes that wait to be sent. */
size_t client_backlog(const struct client *);

/* rpc_answer.c: lines to a client. These functions take the references to doc and members, and
 * borrow id. members may be NULL. */
void send_object(struct client *, json_t *doc);
void answer_ok(struct client *, json_t *id, json_t *members);
void answer_error(struct client *, json_t *id, int rc, const struct err *, json_t *members);
/* Makes the error of an answer that has this many bytes, or (more) more than this many. Returns
 * -EMSGSIZE. */
int answer_too_large(struct err *, size_t bytes, bool more);
/* A member of an answer. Its value is JSON already: `inside` is the text between open and close,
 * which are brackets or quotes. */
struct answer_part {
	const char *key;
	char open, close;
	const struct sbuf *inside;
};
/* The same with such members: answers to requests that were run. */
void answer_done(struct client *, json_t *id, json_t *members, const struct answer_part *,
		 unsigned nparts);
void answer_failed(struct client *, json_t *id, int rc, const struct err *, json_t *members,
		   const struct answer_part *, unsigned nparts);
/* A line with what a request has printed so far. key: "out" or "note". */
void send_partial(struct client *, json_t *id, const char *key, const char *text, size_t n);

/* rpc_run.c: runs the requests cmd and lua. */
void request_start(struct client *, struct request *); /* takes the request */
bool request_poll(struct client *);                    /* goes on; true: the request was answered */
/* request_poll() would not have to wait for anything */
bool request_ready(const struct client *);
void request_cancel(struct client *); /* ends the request and answers it */
void request_drop(struct client *);   /* ends the request without an answer */

/* rpc_lua.c: a client's state of Lua. */
void lua_guest(struct client *); /* fills in client.guest */
/* Begins a chunk; out and note get what it prints. Returns 0, or -errno with *e. */
int lua_begin(struct client *, const char *chunk, const char *const *args, unsigned nargs,
	      struct sbuf *out, struct sbuf *note, struct err *e);

/* rpc_events.c */
/* sends an event to those clients and scripts that want it */
void events_tell(void *rpc, const struct app_event *);
/* says how many events a client has missed, if there is room now */
void events_missed(struct client *);

/* rpc_guard.c: makes the tables without what is not allowed. allow: bits of enum rpc_allow. */
void guard_open(struct guard *, struct rpc *, unsigned allow);
void guard_close(struct guard *);
