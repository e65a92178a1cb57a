/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program's verbs get as their host, and what ties control to the command language. No DPDK. Control thread. */
#pragma once
#include <jansson.h>
#include "cmd.h"
#include "ctl.h"
#include "loop.h"
#include "trial.h"
#include "ui/view.h"

struct sess;

/* Settings of the tester, of no port: app/set/tester.c. */
struct tester {
	uint64_t stall_ns; /* a turn of a worker that takes longer is a stall */
	struct trial_cfg trial;
};
void tester_init(struct tester *);

/* Whose commands are run while it is there: a client of the socket. Lua that it sends runs in a state of its own, *script, which is made when it is
 * first wanted. */
struct app_guest {
	struct cmd *cmd; /* the commands of that state */
	bool sandbox;
	size_t max_bytes, max_out_bytes;
	uint64_t max_ns;
	struct script **script;
};

struct app {
	struct ctl *ctl;
	struct cmd *cmd;
	struct loop *loop;
	bool oneshot; /* the words after the options are the only command: an unbounded `start` would end at once */
	struct portset written; /* ports whose settings or streams were written since `load` began */
	struct xstats_memory *xstats; /* of snapshots, for rates; NULL: none was asked for */
	struct view view; /* what the user looks at, also without a screen */
	struct tester tester;
	json_t *trial; /* the result of the last one, NULL: none has run */
	struct app_listener *listeners; /* event.c */
	unsigned telling;
	uint64_t told_run[PORTSET_MAX]; /* the run of each port whose start was told, 0: its end was too */
	bool serves;  /* nobody sits at it: clients may end it */
	/* Of a client of a program that serves, which has no ports of its own (ctl NULL): how many there are there, and what takes snapshots. */
	struct sess *remote;
	unsigned remote_nports;
	json_t *(*snapshot)(void *host, const char *parts, struct err *e); /* NULL: control's own */
	bool lua_jit; /* scripts may be compiled, and then not be interrupted in loops */
	const struct app_guest *guest; /* NULL: nobody's, or those of who started the program */
	bool quit;    /* `quit` was said; the loop is stopped too, and sessions run nothing more */
};

/* The settings of the tester were written: control follows them. */
void tester_apply(const struct app *);

/* The host of cmd_new: ports, streams and their settings from app->ctl. *host points to app. */
void app_host(struct app *app, struct cmd_host *host);

/* Ports of a target, all of which must exist: 0 or -EINVAL with text. Streams in the target are refused when !streams_ok. */
int app_ports(const struct app *app, const struct target *t, bool streams_ok, struct portset *out, struct err *e);
/* The lowest stream of a port. */
unsigned app_first_stream(const struct app *app, unsigned port);
/* How far ports have come with what they were started for; false: none of them sends. */
bool app_progress_ports(const struct app *app, const struct portset *ports, struct cmd_progress *out);
/* The same of all ports that end by themselves, for sess_opts; host: the app. */
bool app_progress(const void *host, struct cmd_progress *out);
/* Warnings of what keeps frames of these ports from arriving, each port's once. */
void app_tell_reach(const struct app *app, const struct portset *ports, struct sbuf *note);
/* Which of the ports are not waited for any longer, because their device takes nothing. */
void app_tell_stuck(const struct app *app, const struct portset *ports, struct sbuf *note);
/* How many ports there are, here or where a client is attached. */
unsigned app_nports(const struct app *app);
/* All ports there are. */
void app_all_ports(const struct app *app, struct portset *out);

#define APP_WIRE_EXTRA 20 /* preamble 7, SFD 1, inter-frame gap 12 */
/* "1.488Mpps = 10% = ... of 64-byte frames"; false: no frame can be built, nothing is added. */
bool app_load_text(const struct app *app, unsigned port, struct sbuf *out);
/* The same with the time between frames and what the link carries; of one stream alone, or of the port (-1). */
bool app_rate_text(const struct app *app, unsigned port, int stream, struct sbuf *out);

/* What one of the settings arrival, catchup, lag and pacing comes to. false: as above. */
bool app_pacing_text(const struct app *app, unsigned port, const char *setting, struct sbuf *out);

/* Trees that `show` lays out and that snapshots hand out; new references. */
json_t *app_log_json(unsigned last);              /* messages, oldest first; last: at most so many of the newest, 0: all that are kept */
json_t *app_map_json(const struct app *app);

/* Verbs of the build's file list, for cmd_new (set and help among them). */
const struct verb *const *cmd_verbs(unsigned *n);
/* Words that are no commands, and what is told of each (cmd/known.c); ends with NULL. */
extern const struct cmd_known cmd_known_words[];

static inline struct app *app_of(const struct cmd_run *r)
{
	return r->host;
}
