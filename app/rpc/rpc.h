/* SPDX-License-Identifier: BSD-3-Clause */
/* The remote socket: sessions of clients over a Unix socket or TCP, on the loop of control.
 * Control thread.
 *
 * This is version 1 of the protocol. Both sides send JSON objects, one on each line, in UTF-8. The
 * server speaks first:
 *
 *   {"wirerate":"0.1.0","protocol":1,"auth":false}
 *
 * auth is true where a token must be given before anything else, which is so over TCP.
 *
 * A request may have an "id", which is any JSON value. All lines that belong to the request have
 * the same id, or null if it has none. An id may be used again when its request has been answered.
 * Each request gets one answer, and only answers have "ok":
 *
 *   {"id":1,"ok":true,"exit_code":0,"results":[...],"notes":"...","text":"..."}
 *   {"id":1,"ok":false,"exit_code":2,
 *    "error":{"code":"EINVAL","text":"...","col":4,"line":"set 0 rtae 1"}}
 *
 * (The second one is one line, too.) Only commands and chunks have an exit_code, 0 to 5 as the
 * program's. results are the documents that were printed, [] when there are none; notes are
 * warnings and remarks; text is what was printed otherwise, by `help` or by print() of Lua. An
 * error has code and text, and where the place is known col, which counts from 0 in line. Members
 * that have nothing to say are absent. New members may be added.
 *
 * Each request has one of these members, and its answer what is said here:
 *
 *   {"cmd":"show stats"}
 *        Runs commands, separated by ; or newlines, until one is refused. "mode" may be "json"
 *        (the default), "text" or "csv". With the last two the answer has text in place of
 *        results, and what a command prints while it still runs is sent before the answer, as
 *        lines {"id":1,"out":"..."} and {"id":1,"note":"..."}
 *   {"lua":"return ...","args":["a"]}
 *        Runs a chunk of Lua in a state that belongs to this client; results are what it returns.
 *        "mode" is as above
 *   {"complete":"set 0 ra","cursor":8}
 *        Words that could stand at the cursor: "start":6,"words":[{"word":"rate","help":"..."}].
 *        An element without "word" says in its help what else may stand there. cursor counts bytes
 *        and is the end of the line if it is left out
 *   {"snapshot":"stats,log:5"}
 *        "snapshot":{...}, as `show snapshot` prints it
 *   {"progress":true}
 *        How far the command or chunk of this client has come, or if none runs, the runs of ports,
 *        as a prompt shows it:
 *        "progress":{"share":0.28,"left_ns":5700000000,"text":"sending, 2.3 s of 8.0 s"}
 *        share goes from 0 to 1. What is not known is absent. "progress":null: nothing goes on, or
 *        nothing that takes long
 *   {"subscribe":["link","interval"]}
 *        Sends these events from now on, and no others; app/event.h has the names.
 *        "subscribed":[...]
 *   {"cancel":true}
 *        Ends the command or chunk of this client that runs; {"cancel":"all"} ends those that wait
 *        as well. "cancelled":N
 *   {"ping":true}
 *        Is answered, and nothing else
 *   {"auth":"TOKEN"}
 *        Must be the first line if the greeting says "auth":true. Else it is answered and does
 *        nothing
 *
 * cmd and lua are run in order, one at a time. The others are answered at once, also while a
 * command runs. Clients do not wait for each other.
 *
 * Events are {"event":"link","port":0,"text":"..."}, {"event":"start","port":0},
 * {"event":"interval","stats":{...}} with the document of `show stats`, and so on. Two are sent
 * without having been asked for: {"event":"dropped","count":3} says how many events are missing
 * because the client read too slowly, and {"event":"closed","text":"..."} is the last line of a
 * connection that the server ends.
 *
 * A line that is no request (no JSON, too long) is answered with an error and id null, and the
 * connection goes on behind it. Half a line at the end of a connection is not run. A client that
 * closes its sending side still gets its answers. When a client is gone, the command that it was
 * running ends, and ports keep sending. Over TCP these two look the same at first: the command
 * ends when the client's machine reports that the client is gone. It is asked when the connection
 * has been silent for 30 s. If it does not answer, the command ends 30 s later.
 *
 * A session over a socket has a page, theme and screen settings of its own. Its commands never
 * change the screen of the program. */
#pragma once
#include "base.h"

#define RPC_PROTOCOL 1
#define RPC_DEFAULT_NAME "wirerate"
#define RPC_DEFAULT_HOST "127.0.0.1"
#define RPC_DEFAULT_PORT "22022" /* Pktgen's */

struct rpc;
struct app;

/* What is refused over TCP, and to Lua from any client, unless --rpc-allow allows it. */
enum rpc_allow {
	RPC_ALLOW_FILES = 1, /* commands that name a file: save, load, theme FILE ... */
	RPC_ALLOW_QUIT = 2,
	RPC_ALLOW_LUA = 4, /* Lua without its sandbox, `script FILE` */
};
int rpc_allow_parse(const char *list, unsigned *out, struct err *e); /* "files,quit,lua" or "all" */

struct rpc_limits {
	uint64_t clients;    /* connections of all sockets together */
	uint64_t line_bytes; /* length of a request */
	/* Requests of a client that wait for the one that runs. Together they have at most 4 *
	 * line_bytes. */
	uint64_t queue;
	/* requests per second of a client; more of them are read later. 0: no limit */
	uint64_t rate;
	/* Bytes that a client has not read yet, and bytes of one answer. A client that lets more
	 * wait is disconnected. */
	uint64_t out_bytes;
	uint64_t lua_ns;    /* run time of a chunk */
	uint64_t lua_bytes; /* memory of a client's Lua */
};
void rpc_limits_init(struct rpc_limits *);
/* "clients=200,line=64k,rate=0" */
int rpc_limits_parse(const char *list, struct rpc_limits *, struct err *e);

struct rpc_opts {
	/* a name, or a path, which has a slash; "": RPC_DEFAULT_NAME; NULL: no Unix socket */
	const char *socket;
	const char *listen; /* HOST:PORT, HOST or :PORT; "": the default; NULL: no TCP */
	/* NULL: the file `token` in the runtime directory. Made if it is not there */
	const char *token_file;
	unsigned allow;      /* enum rpc_allow */
	const char *version; /* of the program */
	struct rpc_limits limits;
};

/* Makes the sockets that are asked for and listens on them. Call it after ctl_open() and after any
 * fork. Returns 0, or -errno with *e: -EINVAL if what was asked for is wrong (exit code 2), others
 * if it cannot be had now (exit code 3). *out is NULL when no socket is asked for. */
int rpc_open(struct rpc **out, struct app *app, const struct rpc_opts *opts, struct err *e);
/* call it once per turn of the loop, before ctl_turn(); NULL: does nothing */
void rpc_turn(struct rpc *);
void rpc_close(struct rpc *); /* tells clients, and removes the Unix socket; NULL: does nothing */
const char *rpc_path(const struct rpc *); /* the path of the Unix socket; NULL: there is none */

/* For clients: the path of a Unix socket. name is as in rpc_opts.socket. Nothing is made. Returns
 * 0, or -errno with *e: -EINVAL if the name or path is wrong, others if the runtime directory
 * cannot be trusted. */
int rpc_socket_path(const char *name, struct sbuf *out, struct err *e);
/* The runtime directory of this user, which for root is /run/wirerate. make: makes it if it is not
 * there, and closes it to others. Returns 0, or -errno with *e: it is no directory of this user, or
 * cannot be made. */
int rpc_runtime_dir(bool make, struct sbuf *out, struct err *e);
