/* SPDX-License-Identifier: BSD-3-Clause */
/* The program as its verbs see it: struct app is their host, and the functions below tie control to
 * the command language. Nothing here uses DPDK. Control thread. */
#pragma once
#include <jansson.h>
#include "cmd.h"
#include "ctl.h"
#include "loop.h"
#include "trial.h"
#include "ui/view.h"

struct sess;

/* Settings of the program that are about measuring. Their rows are in app/set/rows_tester.c. */
struct tester {
	uint64_t stall_ns; /* a turn of a worker that takes longer is a stall */
	struct trial_cfg trial;
};
void tester_init(struct tester *);

/* A client of the socket, while one of its commands runs. Lua that the client sends runs in a state
 * of Lua that belongs to this client alone. The members say how that state is made; the limits are
 * those of struct script_opts. */
struct app_guest {
	struct cmd *cmd; /* the commands that scripts in this state may run */
	bool sandbox;
	size_t max_bytes, max_out_bytes;
	uint64_t max_ns;
	struct script **script; /* the state; *script is NULL until the client first needs it */
};

struct app {
	struct ctl *ctl;
	struct cmd *cmd;
	struct loop *loop;
	/* The words after the options are the only command. A `start` without a bound is then
	 * refused, because the program would end at once. */
	bool oneshot;
	bool as_link; /* called by the name of another program, it runs that one's verb */
	bool streams; /* --json-stream: lines of JSON go to standard output */
	/* ports whose settings or streams were written since `load` began */
	struct portset written;
	/* Earlier readings, from which the part "xstats" of snapshots computes rates; NULL: nobody
	 * has asked for that part. */
	struct xstats_memory *xstats;
	struct dperf_memory *dperf; /* the part "dperf" of snapshots; NULL: nobody has asked */
	struct view view;           /* what the user looks at, also without a screen */
	struct tester tester;
	json_t *trial; /* the result of the last trial, NULL: none has run */
	/* event.c: who listens, how many calls of app_tell() go on, and for each port the run whose
	 * start was told (0: none, or its end was told as well). */
	struct app_listener *listeners;
	unsigned telling;
	uint64_t told_run[PORTSET_MAX];
	bool serves; /* started with --daemon or --serve: clients may end the program */
	/* `wirerate attach` is a client and has no ports (ctl is NULL). These are its session with
	 * the program that serves, the number of ports there, and the function that gets snapshots
	 * from there. snapshot NULL: control of this program takes them. */
	struct sess *remote;
	unsigned remote_nports;
	json_t *(*snapshot)(void *host, const char *parts, struct err *e);
	bool lua_jit; /* scripts may be compiled; a loop that is compiled cannot be interrupted */
	/* The client whose command runs now; NULL: no command runs, or it comes from the prompt, a
	 * file or the command line. */
	const struct app_guest *guest;
	/* `quit` was given: the loop is stopped too, and sessions run no further command */
	bool quit;
};

/* Gives control the settings of app->tester that it follows at once. Call it when they were
 * written. */
void tester_apply(const struct app *);

/* Fills *host for cmd_new(): ports, streams and settings are those of app->ctl. app must outlive
 * it. */
void app_host(struct app *app, struct cmd_host *host);

/* The ports that a target names. Returns 0, or -EINVAL with *e when one of them does not exist, or
 * when the target names streams and streams_ok is false. */
int app_ports(const struct app *app, const struct target *t, bool streams_ok, struct portset *out,
	      struct err *e);
/* The lowest stream of a port. */
unsigned app_first_stream(const struct app *app, unsigned port);
/* Says how much of their runs these ports have done. Returns false when none of them sends. */
bool app_progress_ports(const struct app *app, const struct portset *ports,
			struct cmd_progress *out);
/* Does the same for all ports whose runs end by themselves. Sessions call it (sess_opts.progress);
 * host is a struct app. */
bool app_progress(const void *host, struct cmd_progress *out);
/* Appends warnings about what will keep the frames of these ports from arriving. */
void app_tell_reach(const struct app *app, const struct portset *ports, struct sbuf *note);
/* Appends a line for each of these ports that is not waited for any longer, because its device
 * accepts no frames. */
void app_tell_stuck(const struct app *app, const struct portset *ports, struct sbuf *note);
/* The number of ports: of this program, or of the program to which this client is attached. */
unsigned app_nports(const struct app *app);
void app_all_ports(const struct app *app, struct portset *out);

#define APP_WIRE_EXTRA 20 /* preamble 7, SFD 1, inter-frame gap 12 */
/* Appends the rate of a port in all units: "1.488Mpps = 10% = ... of 64-byte frames". Returns false
 * and appends nothing when no frame can be built. */
bool app_load_text(const struct app *app, unsigned port, struct sbuf *out);
/* Appends the same, then the time between frames and what the link carries. stream: one stream
 * alone, or -1 for the port as a whole. Returns false likewise. */
bool app_rate_text(const struct app *app, unsigned port, int stream, struct sbuf *out);

/* Appends what the setting of that name (arrival, catchup, lag or pacing) means for the frames of
 * this port. Returns false likewise. */
bool app_pacing_text(const struct app *app, unsigned port, const char *setting, struct sbuf *out);

/* JSON that both `show` and snapshots use. Each function returns a new reference. */
/* the newest `last` messages of the log, 0: all that are kept; oldest first */
json_t *app_log_json(unsigned last);
json_t *app_map_json(const struct app *app); /* the placement, and the lcores that it could use */

/* All verbs for cmd_new(): those of the build's list, `set` and `help`, and those of works. */
const struct verb *const *cmd_verbs(unsigned *n);
/* Words that are no commands of this program but that users of other programs type, with an answer
 * for each (cmd/verbs_known.c). The table ends with NULL. */
extern const struct cmd_known cmd_known_words[];

static inline struct app *app_of(const struct cmd_run *r)
{
	return r->host;
}
