/* SPDX-License-Identifier: BSD-3-Clause */
/* The remote socket: sessions of clients over a Unix socket or TCP, on the loop of control. Control thread.
 *
 * The protocol, version 1. Both sides send JSON objects, one on each line, in UTF-8. The server speaks first:
 *
 *   {"wirerate":"0.1.0","protocol":1,"auth":false}       auth: a token is wanted before anything else (TCP)
 *
 * A request may carry "id", any JSON value; what belongs to it carries the same, null without one. An id may be used again when its request has
 * been answered. Each request gets one answer, which is the one line with "ok":
 *
 *   {"id":1,"ok":true,"exit_code":0,"results":[...],"notes":"...","text":"..."}
 *   {"id":1,"ok":false,"exit_code":2,"error":{"code":"EINVAL","text":"...","col":4,"line":"set 0 rtae 1"}}
 *
 * exit_code is that of commands and chunks alone (0 to 5, as the program's). results: the documents that were printed, [] when there are none.
 * notes: warnings and remarks. text: what was printed otherwise (`help`; print() of Lua). An error has code and text, col (from 0, in line) where
 * a place is known. Members that have nothing to say are absent; new ones may be added.
 *
 * Requests, each with one of these members:
 *
 *   {"cmd":"show stats"}                  commands, separated by ; or newlines; the first one refused ends them. "mode":"json" (default), "text"
 *                                         or "csv": with the last two the answer has text instead of results, and what a command prints while it
 *                                         goes on comes before it as lines {"id":1,"out":"..."} and {"id":1,"note":"..."}
 *   {"lua":"return ...","args":["a"]}     a chunk of Lua in a state of this client's own; results: what it returns. "mode":"text": as above
 *   {"complete":"set 0 ra","cursor":8}    words that could stand there: "start":6,"words":[{"word":"rate","help":"..."}]; without "word" the help
 *                                         says what else may stand there. cursor counts bytes; default: the end
 *   {"snapshot":"stats,log:5"}            "snapshot":{...}, as `show snapshot` prints it
 *   {"progress":true}                     how far that has come which runs for this client, else what ports were started for, as its prompt shows it:
 *                                         "progress":{"share":0.28,"left_ns":5700000000,"text":"sending, 2.3 s of 8.0 s"}; share goes from 0 to 1,
 *                                         what is not known is absent; null: nothing goes on, or nothing that takes long
 *   {"subscribe":["link","interval"]}     events from now on; [] ends them. Names: app/event.h. "subscribed":[...]
 *   {"cancel":true}                       the command or chunk of this client that is running; "all": those that wait too. "cancelled":N
 *   {"ping":true}
 *   {"auth":"TOKEN"}                      the first line where the greeting says "auth":true; else it is answered and changes nothing
 *
 * cmd and lua are run in order, one at a time; the others are answered at once, also while a command runs. Clients do not wait for each other.
 *
 * Events: {"event":"link","port":0,"text":"..."}, {"event":"start","port":0}, {"event":"interval","stats":{...}} with the document of `show stats`,
 * and of their own accord {"event":"dropped","count":3} (events that a slow reader missed) and {"event":"closed","text":"..."}, the last line of
 * a connection that the server ends.
 *
 * A line that is no request (no JSON, too long) is answered with an error and id null; the connection goes on behind it. Half a line at the end
 * of a connection is not run. A client that closes its sending side gets what is left to answer; one that is gone ends what it was running (over
 * TCP these two look the same: what runs ends when the other end says that it is gone, after 30 s at the latest if it can); ports keep sending.
 *
 * A session over a socket has a page, theme and screen settings of its own: these commands never change the screen of the program. */
#pragma once
#include "base.h"

#define RPC_PROTOCOL 1
#define RPC_DEFAULT_NAME "wirerate"
#define RPC_DEFAULT_HOST "127.0.0.1"
#define RPC_DEFAULT_PORT "22022" /* Pktgen's */

struct rpc;
struct app;

/* What is refused over TCP, and to chunks of Lua from anywhere, unless it is allowed. */
enum rpc_allow {
	RPC_ALLOW_FILES = 1, /* commands that name a file: save, load, theme FILE ... */
	RPC_ALLOW_QUIT = 2,
	RPC_ALLOW_LUA = 4,   /* Lua without its sandbox, `script FILE` */
};
int rpc_allow_parse(const char *list, unsigned *out, struct err *e); /* "files,quit,lua" or "all" */

struct rpc_limits {
	uint64_t clients;     /* connections, of all sockets */
	uint64_t line_bytes;  /* a request */
	uint64_t queue;       /* requests of a client that wait for the one that runs; together no more than four lines of line_bytes */
	uint64_t rate;        /* requests per second of a client; who is faster is read later. 0: no limit */
	uint64_t out_bytes;   /* of a client, not yet read by it; beyond it is disconnected. An answer has no more */
	uint64_t lua_ns;      /* run time of a chunk */
	uint64_t lua_bytes;   /* memory of a client's Lua */
};
void rpc_limits_init(struct rpc_limits *);
int rpc_limits_parse(const char *list, struct rpc_limits *, struct err *e); /* "clients=200,line=64k,rate=0" */

struct rpc_opts {
	const char *socket;     /* NULL: no Unix socket; "" RPC_DEFAULT_NAME; a name; a path, which has a slash */
	const char *listen;     /* NULL: no TCP; "" the default; HOST:PORT, HOST or :PORT */
	const char *token_file; /* NULL: `token` in the runtime directory, made when it is not there */
	unsigned allow;         /* enum rpc_allow */
	const char *version;    /* of the program */
	struct rpc_limits limits;
};

/* Bind and listen. -EINVAL: what was asked for is wrong (exit code 2); others: it cannot be had now (exit code 3). After ctl_open, and after any
 * fork. *out is NULL when neither socket is asked for. */
int rpc_open(struct rpc **out, struct app *app, const struct rpc_opts *opts, struct err *e);
void rpc_turn(struct rpc *);  /* once per turn of the loop, before ctl_turn; NULL: nothing */
void rpc_close(struct rpc *); /* tells clients, removes the Unix socket; NULL: nothing */
const char *rpc_path(const struct rpc *); /* of the Unix socket; NULL: none */

/* For clients: the path of the Unix socket of that name, as rpc_opts.socket; nothing is made. 0 or -EINVAL. */
int rpc_socket_path(const char *name, struct sbuf *out, struct err *e);
/* The runtime directory of this user, /run/wirerate for root. make: make it, or say why it cannot be trusted. */
int rpc_runtime_dir(bool make, struct sbuf *out, struct err *e);
