/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach.h"
#include "visible.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/verbs.h"
#include "out.h"
#include "rpc/rpc_token.h"
#include "set/rows.h"
#include "set/set.h"
#include "ui/console.h"
#include "ui/feed.h"

enum { EXIT_USAGE = 2, EXIT_LACKING = 3, EXIT_PEER = 5 };

#define PORTS_TRIES 20 /* each try waits as long as sess_snapshot() waits for its answer */

struct client {
	struct app *app;
	const struct args *args;
	struct attach_to to;
	struct sess *sess;
	struct console *console;
	bool interactive, told;
	int signo, out_err;
};

extern const struct verb verb_shutdown;

/* Says which program runs a line. Commands about the screen or the client itself are run by this
 * program, and all others by the program that serves. */
static enum sess_place attach_place(void *host, const char *line)
{
	const struct app *app = host;
	struct cmd_seen seen;

	if (!cmd_look(app->cmd, line, &seen))
		return SESS_THERE; /* its answer says what is wrong with the line */
	if (seen.verb == &verb_shutdown)
		return SESS_THERE_ENDS;
	if (seen.verb->flags & VERB_HERE)
		return SESS_HERE;
	if ((seen.verb->flags & VERB_SCREEN_HERE) && seen.choice != NULL &&
	    strcmp(seen.choice, "screen") == 0)
		return SESS_HERE;
	if (seen.verb == &verb_set && set_of_view(seen.setting))
		return SESS_HERE;
	return SESS_THERE;
}

static void on_session(void *arg, const struct sess_event *ev)
{
	struct client *c = arg;
	int rc;

	c->told = true;
	switch (ev->kind) {
	case SESS_RESULT:
		rc = c->out_err == 0 ? console_print(c->console, true, ev->text) : 0;
		if (rc != 0) {
			c->out_err = rc;
			loop_stop(c->app->loop);
		}
		break;
	case SESS_NOTE:
		console_print(c->console, false, ev->text);
		break;
	case SESS_ERROR:
		console_error(c->console, ev->text);
		break;
	case SESS_DONE:
		if (ev->rc == -ECANCELED && c->signo == 0)
			console_print(c->console, false, "cancelled");
		break;
	}
}

static void poll_session(void *arg)
{
	struct client *c = arg;

	sess_poll(c->sess);
	if (sess_lost(c->sess))
		loop_stop(c->app->loop);
}

static void attach_turn(void *arg)
{
	struct client *c = arg;
	bool busy = sess_busy(c->sess);

	c->told = false;
	poll_session(c);
	if (!loop_stopped(c->app->loop))
		loop_turn(c->app->loop, c->told || (busy && !sess_busy(c->sess)) ? 0 : UINT64_MAX);
}

static void on_end(void *arg, int signo)
{
	struct client *c = arg;

	c->signo = signo;
	loop_stop(c->app->loop);
	sess_cancel(c->sess);
}

static void on_interrupt(void *arg, int signo)
{
	struct client *c = arg;

	if (c->interactive)
		console_interrupt(c->console);
	else
		on_end(c, signo);
}

static void on_terminal(void *arg, int signo)
{
	struct client *c = arg;

	if (signo == SIGWINCH)
		console_resize(c->console);
	else if (signo == SIGTSTP)
		console_suspend(c->console);
	else
		console_continue(c->console);
}

static json_t *no_snapshot(void *host, const char *parts, struct err *e)
{
	const struct app *app = host;

	return sess_snapshot(app->remote, parts, e);
}

/* Asks for the number of ports. Once is enough, because it never changes while that program
 * runs. */
static int learn_ports(struct client *c, struct err *e)
{
	json_t *snap = NULL;

	for (int i = 0; i < PORTS_TRIES && snap == NULL && !sess_lost(c->sess); i++)
		snap = sess_snapshot(c->sess, "stats", e);
	if (snap == NULL)
		return -EPIPE;
	c->app->remote_nports = (unsigned)json_array_size(json_object_get(snap, "ports"));
	json_decref(snap);
	return 0;
}

/* Lets signals end the process at once (at_once), or blocks them for the loop. Before there is a
 * prompt the terminal is unchanged, so a user who does not want to wait for the connection may end
 * the process without any clean-up. */
static void hear_signals(bool at_once)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaddset(&set, ends[i]);
	pthread_sigmask(at_once ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
}

static int connect_to(struct client *c, struct err *e)
{
	const struct sess_opts opts = {.out_mode = c->args->out_mode,
				       .batch = !c->interactive,
				       .keep_going = c->args->keep_going};
	const char *file = c->args->rpc.token_file;
	struct token token = {0};
	bool tcp = c->to.path.len == 0, has_token = tcp && file != NULL;
	const struct sess_remote_opts to = {
		.path = tcp ? NULL : c->to.path.s,
		.host = c->to.host.s,
		.port = c->to.port.s,
		.token = has_token ? token.text : NULL,
		.name = c->to.name.s,
		.cmd = c->app->cmd,
		.cmd_host = c->app,
		.place = attach_place,
	};

	/* Anybody might listen at that address, so only a token that the user named is sent there.
	 * The token of programs on this machine is never sent by default. */
	if (has_token && token_read(file, false, &token, e) < 0)
		return -EACCES;
	c->sess = sess_remote(&to, c->app->loop, &opts, on_session, c, e);
	memset(&token, 0, sizeof(token));
	if (c->sess == NULL)
		return -ECONNREFUSED;
	c->app->remote = c->sess;
	c->app->snapshot = no_snapshot;
	return learn_ports(c, e);
}

static void attach_watch(struct client *c)
{
	static const int terminal[] = {SIGWINCH, SIGTSTP, SIGCONT}, ends[] = {SIGTERM, SIGHUP};
	struct loop *loop = c->app->loop;

	loop_each_turn(loop, poll_session, c);
	loop_signal(loop, SIGINT, on_interrupt, c);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		loop_signal(loop, ends[i], on_end, c);
	for (size_t i = 0; i < ARRAY_SIZE(terminal); i++)
		loop_signal(loop, terminal[i], on_terminal, c);
}

static void run_batch(struct client *c)
{
	struct loop *loop = c->app->loop;
	struct feed *feed =
		isatty(STDIN_FILENO) ? NULL : feed_new(loop, c->sess, STDIN_FILENO, "stdin");

	while (!loop_stopped(loop) && !sess_failed(c->sess)) {
		if (feed != NULL)
			feed_turn(feed);
		if (!sess_busy(c->sess) && (feed == NULL || feed_ended(feed)))
			break;
		attach_turn(c);
	}
	feed_free(feed);
}

static void attach_session(struct client *c)
{
	const struct args *a = c->args;
	struct sbuf hello = {0};

	if (c->interactive) {
		sbuf_addf(&hello, "attached to %s: `quit` detaches, `shutdown` ends a daemon",
			  c->to.name.s);
		console_print(c->console, false, hello.s);
		sbuf_free(&hello);
	}
	args_exec(a, c->sess);
	if (c->interactive)
		console_run(c->console, c->sess);
	else
		run_batch(c);
}

static int attach_leave(struct client *c)
{
	int code = sess_exit_code(c->sess);
	bool lost = sess_lost(c->sess);

	if (c->interactive)
		code = lost && code == EXIT_PEER ? code : 0;
	if (c->interactive && !lost && c->signo == 0)
		visible_print(stderr, "detached; %s goes on\n", c->to.name.s);
	if (code == 0 && c->out_err != 0 && c->out_err != -EPIPE) {
		visible_print(stderr, "wirerate: cannot write results to standard output: %s\n",
			      strerror(-c->out_err));
		code = EXIT_LACKING;
	}
	return code;
}

int attach_run(struct app *app, const struct args *args, bool interactive, int *signo)
{
	struct client c = {.app = app, .args = args, .interactive = interactive};
	const struct console_opts con = {.loop = app->loop,
					 .color = args->color,
					 .view = &app->view,
					 .turn = attach_turn,
					 .arg = &c};
	unsigned nsettings, nverbs;
	const struct setting *const *settings = set_rows(&nsettings);
	const struct verb *const *verbs = cmd_verbs(&nverbs);
	struct cmd_host host;
	struct err e;
	int code;

	app_host(app, &host);
	app->cmd = cmd_new(settings, nsettings, verbs, nverbs, &host);
	c.console = console_new(&con);
	hear_signals(true);
	code = attach_find(args->attach_to, &c.to, &e) < 0 ? EXIT_USAGE
	       : connect_to(&c, &e) < 0                    ? EXIT_PEER
							   : 0;
	hear_signals(false);
	if (code == 0) {
		attach_watch(&c);
		attach_session(&c);
	} else {
		visible_print(stderr, "wirerate: %s\n", e.text);
	}
	console_free(c.console);
	if (code == 0)
		code = attach_leave(&c);
	sess_free(c.sess);
	cmd_free(app->cmd);
	attach_to_free(&c.to);
	*signo = c.signo;
	return code;
}
