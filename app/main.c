/* SPDX-License-Identifier: BSD-3-Clause */
/* The program from its first instruction to its exit code. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "about.h"
#include "alone.h"
#include "app.h"
#include "args.h"
#include "attach.h"
#include "batch.h"
#include "begin.h"
#include "diagnose.h"
#include "dperf_print.h"
#include "event.h"
#include "face.h"
#include "file.h"
#include "log.h"
#include "out.h"
#include "part/part_dperf.h"
#include "report.h"
#include "serve.h"
#include "sess.h"
#include "set/set.h"
#include "snapshot.h"
#include "spool.h"
#include "stuck.h"
#include "ui/console.h"
#include "ui/theme_file.h"
#include "ui/tty.h"
#include "userfile.h"
#include "visible.h"
#include "watchdog.h"

enum { EXIT_USAGE = 2, EXIT_LACKING = 3 };

#define TICK_NS 1000000000ull
#define SETTLE_NS 5000000000ull /* a report waits at most this long until nothing moves */
/* While more bytes of --json-stream wait for their reader, the session runs nothing. */
#define UNREAD_MOST (16u << 20)
/* After a signal the program waits this long for a reader of --json-stream that takes nothing. */
#define UNREAD_IDLE_NS 2000000000ull

struct prog {
	struct args args;
	char *const *again; /* the words of a link; NULL: those of args */
	struct app app;
	bool small_pages; /* the same program has found in this process that hugepages do not do */
	struct sess *sess;
	struct console *console;
	struct app_listener *log;
	struct report *report;
	struct spool *spool;       /* of --json-stream, NULL: none */
	struct daemon *daemon;     /* NULL: in the foreground */
	struct dperf_print *dperf; /* NULL: it does not print what dperf does */
	bool dperf_runs;           /* what the files of --dperf come to is still being done */
	struct notify *notify;
	struct rpc *rpc; /* NULL: no remote socket */
	bool interactive;
	bool logs_session; /* an event that the report has already is being logged */
	int signo;         /* the signal that ends the program, 0: none */
	int batch_code;    /* exit code of batch_run(), serve_run() or open_remote() */
	int out_err;       /* -errno: stdout cannot be written any more; 0: it can */
};

static int usage_error(const struct err *e)
{
	visible_print(stderr, "wirerate: %s\n", e->text);
	return EXIT_USAGE;
}

static struct cmd *open_tables(struct app *app)
{
	struct cmd_host host;
	unsigned nsettings, nverbs;
	const struct setting *const *settings = set_rows(&nsettings);
	const struct verb *const *verbs = cmd_verbs(&nverbs);

	app_host(app, &host);
	return cmd_new(settings, nsettings, verbs, nverbs, &host);
}

/* Says whether a failed write is an error. The reader of text may close the pipe when it has enough
 * (`| head`), but the reader of --json-stream must read to the end. */
static bool lost_results(int rc, bool stream)
{
	return rc != 0 && (rc != -EPIPE || stream);
}

static int out_status(int rc, bool stream)
{
	if (!lost_results(rc, stream))
		return 0;
	visible_print(stderr, "wirerate: cannot write results to standard output: %s\n",
		      strerror(-rc));
	return EXIT_LACKING;
}

/* Reads the theme of -T, and refuses it if it has errors. Without -T and with a prompt, the user's
 * own default theme is read; errors in that one are only a warning. */
static int open_theme(struct prog *p, struct err *e)
{
	struct sbuf path = {0};
	struct err why;
	int rc = 0;

	if (p->args.theme != NULL) {
		rc = theme_find(p->args.theme, &path, &why);
		if (rc == 0)
			rc = theme_read(path.s, &p->app.view.theme, &why);
		if (rc < 0)
			err_set(e, -rc, "option -T, --theme: %s", why.text);
	} else if (p->interactive && theme_own(&path) &&
		   theme_read(path.s, &p->app.view.theme, &why) < 0) {
		visible_print(stderr, "wirerate: warning: %s; the built-in theme is used\n",
			      why.text);
	}
	sbuf_free(&path);
	return rc;
}

/* Checks the files of -T and --report before anything runs, so that a report which cannot be
 * written is refused in time. Returns 0 or an exit code. */
static int open_files(struct prog *p)
{
	struct err e;

	if (open_theme(p, &e) != 0)
		return usage_error(&e);
	if (p->args.report == NULL || file_replaceable(p->args.report, &e) == 0)
		return 0;
	visible_print(stderr, "wirerate: option --report: %s\n", e.text);
	return EXIT_LACKING;
}

/* Prints a text that needs no port and no EAL (about.h). Returns an exit code. */
static int print_about(const struct args *a)
{
	enum args_what what = a->what;
	struct app app = {0};
	struct sbuf out = {0};
	bool tables = what == ARGS_DUMP || what == ARGS_MAN || what == ARGS_LUA ||
		      what == ARGS_LUA_MANUAL;
	struct cmd *cmd = tables ? open_tables(&app) : NULL;

	if (what == ARGS_DPERF_DUMP)
		sbuf_add(&out, a->text);
	else
		about_text(what, cmd, &out);
	int rc = out_stdout(sbuf_str(&out));
	cmd_free(cmd);
	sbuf_free(&out);
	return out_status(rc, false);
}

static void out_failed(struct prog *p, int rc)
{
	if (rc != 0 && p->out_err == 0) {
		p->out_err = rc;
		loop_stop(p->app.loop);
	}
}

static int print_result(void *arg, const char *text)
{
	struct prog *p = arg;

	if (p->out_err == 0)
		out_failed(p, p->spool != NULL ? spool_add(p->spool, text)
					       : console_print(p->console, true, text));
	return p->out_err;
}

static size_t prog_unread(void *arg)
{
	return spool_waiting(((struct prog *)arg)->spool);
}

static bool too_much_unread(void *arg)
{
	return prog_unread(arg) > UNREAD_MOST;
}

static void on_session(void *arg, const struct sess_event *ev)
{
	struct prog *p = arg;

	report_session(p->report, ev);
	p->logs_session = true;
	if (p->daemon != NULL)
		serve_log_session(ev);
	p->logs_session = false;
	switch (ev->kind) {
	case SESS_RESULT:
		if (!p->args.stream)
			print_result(p, ev->text);
		break;
	case SESS_NOTE:
		console_print(p->console, false, ev->text);
		break;
	case SESS_ERROR:
		console_error(p->console, ev->text);
		break;
	case SESS_DONE:
		if (ev->rc == -ECANCELED && p->signo == 0 && p->out_err == 0)
			console_print(p->console, false, "cancelled");
		break;
	}
}

static void on_log(void *arg, const struct log_entry *m)
{
	struct prog *p = arg;

	if (!p->logs_session)
		report_log(p->report, m);
	if (p->daemon != NULL) {
		if (p->args.log_file == NULL)
			serve_syslog(m);
		return;
	}
	if (m->level == LOG_LVL_ERROR)
		console_error(p->console, m->text);
	else if (m->level <= LOG_LVL_INFO)
		console_print(p->console, false, m->text);
}

static void stop_all(struct app *app)
{
	struct portset all;

	app_all_ports(app, &all);
	ctl_stop(app->ctl, &all);
}

/* Ends the process at once by the signal, without any clean-up but that of the terminal. It serves
 * a user who presses Ctrl-C again and does not want to wait for the clean-up. A signal handler. */
static void at_once(int signo)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL};

	tty_restore();
	sigaction(signo, &dfl, NULL);
	raise(signo); /* taken when the handler returns */
}

static void arm_second_interrupt(void)
{
	struct sigaction sa = {.sa_handler = at_once}, old;
	sigset_t set;

	if (sigaction(SIGINT, NULL, &old) != 0 || old.sa_handler == SIG_IGN)
		return;
	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	watchdog_give_back();
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void on_end(void *arg, int signo)
{
	struct prog *p = arg;

	p->signo = signo;
	notify_stopping(p->notify);
	stop_all(&p->app);
	loop_stop(p->app.loop);
	sess_cancel(p->sess);
	arm_second_interrupt();
}

/* SIGHUP tells a program that serves that its log file was rotated, so the file is opened again.
 * Other programs end by it. */
static void on_hangup(void *arg, int signo)
{
	struct prog *p = arg;
	struct err e;

	if (!p->app.serves)
		on_end(p, signo);
	else if (p->args.log_file != NULL && log_open(p->args.log_file, &e) != 0)
		log_msg(LOG_LVL_ERROR, "%s", e.text);
}

static void on_interrupt(void *arg, int signo)
{
	struct prog *p = arg;

	if (p->dperf_runs && !p->app.serves) {
		/* as in dperf: the run ends, what is open has its time, the totals are printed */
		p->dperf_runs = false;
		sess_cancel(p->sess);
		sess_exec(p->sess, p->args.dperf_stop, "option --dperf: the end of the run");
	} else if (p->interactive) {
		console_interrupt(p->console);
	} else {
		on_end(p, signo);
	}
}

/* A block of numbers as dperf prints it; of a daemon into its log. */
static void print_dperf(void *arg, const char *text)
{
	struct prog *p = arg;

	if (p->daemon == NULL)
		print_result(p, text);
	else
		serve_log_text(text);
}

/* Erases the terminal, if standard output is one. */
static void clear_dperf(void *arg)
{
	struct tty_caps caps;

	(void)arg;
	if (!isatty(STDOUT_FILENO))
		return;
	tty_caps(&caps, STDOUT_FILENO);
	(void)out_stdout(caps.clear);
	tty_caps_free(&caps);
}

static void open_dperf(struct prog *p)
{
	const struct dperf_print_opts opts = {.quiet = p->args.dperf_quiet,
					      .clear = p->args.dperf_clear ? clear_dperf : NULL,
					      .print = print_dperf,
					      .arg = p};

	args_dperf_tell(&p->args, ctl_hint_lacks(p->app.ctl));
	if (p->args.dperf_prints)
		p->dperf = dperf_print_new(&p->app, &opts);
	else if (p->args.ndperf > 0)
		dperf_watch(&p->app);
}

static void on_terminal(void *arg, int signo)
{
	struct prog *p = arg;

	if (signo == SIGWINCH)
		console_resize(p->console);
	else if (signo == SIGTSTP)
		console_suspend(p->console);
	else
		console_continue(p->console);
}

static void on_turn(void *arg)
{
	struct prog *p = arg;

	out_failed(p, spool_error(p->spool));
	sess_poll(p->sess);
	p->dperf_runs = p->dperf_runs && sess_busy(p->sess);
	rpc_turn(p->rpc);
	ctl_turn(p->app.ctl);
	app_events_turn(&p->app);
}

static void on_event(void *arg, const struct app_event *ev)
{
	(void)arg;
	if (ev->text != NULL && (ev->kind == APP_EVENT_NOTE || ev->kind == APP_EVENT_LINK))
		log_msg(LOG_LVL_INFO, "%s", ev->text);
}

static void on_tick(void *arg)
{
	struct prog *p = arg;

	ctl_tick(p->app.ctl);
	app_tell(&p->app, &(struct app_event){.kind = APP_EVENT_TICK});
}

static void on_links(void *arg, short revents)
{
	struct prog *p = arg;

	(void)revents;
	ctl_links(p->app.ctl);
}

static void on_workers(void *arg, short revents)
{
	struct prog *p = arg;

	(void)revents;
	ctl_events(p->app.ctl);
}

static void prog_turn(void *arg)
{
	struct prog *p = arg;

	/* Commands that were queued since the last turn must not wait until something happens. If
	 * they have ended now, the loop must not wait either, because somebody waits for that. */
	bool busy = sess_busy(p->sess);
	sess_poll(p->sess);
	bool ended = busy && !sess_busy(p->sess);
	if (!loop_stopped(p->app.loop))
		loop_turn(p->app.loop, ended ? 0 : ctl_next_ns(p->app.ctl));
}

static int open_control(struct prog *p)
{
	const struct args *a = &p->args;
	const struct ctl_opts opts = {
		.prog = "wirerate",
		.less = "smaller --mbufs, --txd, --rxd or --mtu",
		.log = "-l FILE",
		.ports = a->port,
		.nports = a->nports,
		.maps = a->map,
		.nmaps = a->nmaps,
		.hint = a->hint,
		.eal_args = a->eal,
		.neal_args = a->neal,
		.promiscuous = a->promiscuous,
		.take = a->take,
		.small_pages = p->small_pages,
		.mbufs = a->mbufs,
		.txd = a->txd,
		.rxd = a->rxd,
		.mtu = a->mtu,
	};
	struct err e;
	int rc = ctl_open(&p->app.ctl, &opts, &e);

	watchdog_come_along();
	if (rc == 0 && (rc = args_dperf_ports(a, ctl_nports(p->app.ctl), &e)) != 0)
		ctl_close(p->app.ctl);
	if (rc == 0) {
		userfile_pipes_forget();
		return 0;
	}
	if (rc == -EAGAIN) {
		if (a->daemon)
			return BEGIN_AGAIN; /* for the parent */
		begin_again(p->again != NULL ? p->again : p->args.argv);
	}
	visible_print(stderr, "wirerate: %s%s\n", args_dperf_place(a, e.text), e.text);
	if (rc == -EINVAL || rc == -ENOTSUP)
		return EXIT_USAGE;
	diagnose_start(a);
	return EXIT_LACKING;
}

static void open_session(struct prog *p)
{
	const struct console_opts con = {.loop = p->app.loop,
					 .color = p->args.color,
					 .view = &p->app.view,
					 .turn = prog_turn,
					 .arg = p};
	const struct sess_opts opts = {.out_mode = p->args.stream ? OUT_JSON : p->args.out_mode,
				       .batch = !p->interactive,
				       .person = p->interactive,
				       .keep_going = p->args.keep_going,
				       .runs = stuck_runs,
				       .holds = too_much_unread,
				       .progress = app_progress};
	static const int terminal[] = {SIGWINCH, SIGTSTP, SIGCONT};

	stuck_open(at_once);
	p->app.cmd = open_tables(&p->app);
	for (const struct face *const *f = faces; *f != NULL; f++)
		if ((*f)->begin != NULL)
			(*f)->begin(&p->app);
	p->app.oneshot = p->args.command != NULL;
	p->app.streams = p->args.stream;
	p->app.lua_jit = p->args.lua_jit;
	p->console = console_new(&con);
	p->sess = sess_local(p->app.cmd, &p->app, app_snapshot, p->app.loop, &opts, on_session, p);
	log_listen(on_log, p);
	p->log = app_listen(&p->app, on_event, p);
	loop_each_turn(p->app.loop, on_turn, p);
	loop_timer(p->app.loop, TICK_NS, TICK_NS, on_tick, p);
	loop_fd(p->app.loop, ctl_wake_fd(p->app.ctl), POLLIN, on_workers, p);
	if (ctl_link_fd(p->app.ctl) >= 0)
		loop_fd(p->app.loop, ctl_link_fd(p->app.ctl), POLLIN, on_links, p);
	const struct report_opts rep = {.lines = p->args.stream,
					.documents = p->args.out_mode == OUT_JSON,
					.file = p->args.report,
					.print = print_result,
					.waiting = prog_unread,
					.arg = p};
	p->spool = p->args.stream ? spool_open(p->app.loop, STDOUT_FILENO) : NULL;
	p->report = report_new(&p->app, &rep);
	open_dperf(p);
	loop_signal(p->app.loop, SIGINT, on_interrupt, p);
	loop_signal(p->app.loop, SIGTERM, on_end, p);
	loop_signal(p->app.loop, SIGHUP, on_hangup, p);
	for (size_t i = 0; i < ARRAY_SIZE(terminal); i++)
		loop_signal(p->app.loop, terminal[i], on_terminal, p);
}

static int open_remote(struct prog *p)
{
	struct rpc_opts opts = p->args.rpc;
	struct err e;

	opts.version = WR_VERSION;
	int rc = rpc_open(&p->rpc, &p->app, &opts, &e);
	if (rc == 0)
		return 0;
	visible_print(stderr, "wirerate: %s\n", e.text);
	return rc == -EINVAL ? EXIT_USAGE : EXIT_LACKING;
}

static void run_session(struct prog *p)
{
	const struct args *a = &p->args;
	const char *where = p->rpc != NULL ? rpc_path(p->rpc) : NULL;
	const struct serve_opts serve = {.args = a,
					 .daemon = p->daemon,
					 .notify = p->notify,
					 .where = where,
					 .turn = prog_turn,
					 .arg = p};
	const struct batch_opts opts = {
		.command = a->command,
		.read_stdin = a->command == NULL && !isatty(STDIN_FILENO),
		.turn = prog_turn,
		.arg = p,
	};

	if (p->app.serves) {
		p->batch_code = serve_run(&p->app, p->sess, &serve);
		return;
	}
	p->dperf_runs = a->ndperf > 0;
	args_exec(a, p->sess);
	if (p->interactive)
		console_run(p->console, p->sess);
	else
		p->batch_code = batch_run(&p->app, p->sess, &opts);
}

/* Takes a SIGINT that came before the end and that the loop has not taken, so that it does not
 * count as a second one, which ends the program at once. At the prompt it would only have dropped a
 * line and is ignored. In batch the program ends by this signal after the clean-up. */
static void take_late_interrupt(struct prog *p)
{
	const struct timespec now = {0};
	sigset_t set;

	watchdog_give_back();
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	if (sigtimedwait(&set, NULL, &now) == SIGINT && !p->interactive && p->signo == 0)
		p->signo = SIGINT;
}

/* Says whether the program stops waiting for the reader of its last line. It waits for a slow
 * reader without a limit, but after a signal not for one that takes nothing. */
static bool no_reader(void *arg, uint64_t idle_ns)
{
	const struct prog *p = arg;

	return p->signo != 0 && idle_ns > UNREAD_IDLE_NS;
}

/* Writes the end of the report. The totals are read when nothing moves any more, or after SETTLE_NS
 * if something still does. Returns the exit code. */
static int end_report(struct prog *p, int code)
{
	struct err e;

	if (p->report == NULL)
		return code;
	loop_stop(p->app.loop); /* from now on clients of the socket begin nothing */
	/* a command still runs if `shutdown` or a lost reader ended the loop */
	sess_cancel(p->sess);
	batch_settle(&p->app, SETTLE_NS);
	if (code == 0 && lost_results(p->out_err, p->args.stream))
		code = EXIT_LACKING;
	if (report_end(p->report, code, p->signo, &e) != 0) {
		visible_print(stderr, "wirerate: %s\n", e.text);
		code = code == 0 ? EXIT_LACKING : code;
	}
	spool_drain(p->spool, no_reader, p);
	out_failed(p, spool_error(p->spool));
	return code;
}

static int close_session(struct prog *p)
{
	int code = p->interactive ? 0 : sess_exit_code(p->sess);

	if (code == 0)
		code = p->batch_code;
	if (p->signo == 0)
		take_late_interrupt(p);
	/* Without a signal so far, a SIGINT while the last line waits is the first one. */
	if (p->signo != 0 || p->interactive)
		arm_second_interrupt();
	dperf_print_end(p->dperf);
	code = end_report(p, code);
	arm_second_interrupt();
	report_free(p->report);
	p->report = NULL;
	dperf_print_free(p->dperf);
	log_listen(NULL, NULL);
	app_unlisten(p->log);
	rpc_close(p->rpc);
	notify_close(p->notify);
	sess_free(p->sess);
	snapshot_forget(&p->app);
	dperf_forget(&p->app);
	cmd_free(p->app.cmd);
	console_free(p->console);
	spool_close(p->spool);
	int rc = out_status(p->out_err, p->args.stream);
	return code == 0 ? rc : code;
}

/* Forks if the program is to be a daemon. Returns whether this process goes on; else it is to exit
 * with *code. */
static bool in_background(struct prog *p, int *code)
{
	struct err e;
	int rc = p->args.daemon ? daemon_fork(&p->daemon, code, &e) : 0;

	if (rc == 0)
		return true;
	if (rc > 0 && *code == BEGIN_AGAIN) {
		begin_again(p->again != NULL ? p->again : p->args.argv);
		rc = err_set(&e, errno, "cannot start the program anew: %m");
	}
	if (rc < 0) {
		visible_print(stderr, "wirerate: %s\n", e.text);
		*code = EXIT_LACKING;
	}
	return false;
}

static int run_args(struct prog *p)
{
	const struct args *a = &p->args;
	int code = 0;

	if (a->what == ARGS_ALONE)
		return alone_verb(a->alone[0])->run(NULL, a->nalone, a->alone, a->out_mode);
	if (a->what != ARGS_RUN)
		return a->what == ARGS_DOCTOR ? diagnose_run(a) : print_about(a);
	p->app.view.screen = !a->no_screen;
	p->interactive = a->command == NULL && !a->batch && isatty(STDIN_FILENO);
	if ((code = open_files(p)) != 0 || !in_background(p, &code))
		return code;
	p->app.serves = a->daemon || a->serve;
	p->notify = p->app.serves ? notify_open() : NULL;
	p->app.loop = begin_loop(p->interactive, p->app.serves);
	if (p->app.loop == NULL)
		return EXIT_LACKING;
	tty_on_fatal();
	code = a->attach ? attach_run(&p->app, a, p->interactive, &p->signo) : open_control(p);
	if (code == 0 && !a->attach) {
		open_session(p);
		p->batch_code = open_remote(p);
		if (p->batch_code == 0)
			run_session(p);
		code = close_session(p);
		ctl_close(p->app.ctl);
		json_decref(p->app.trial);
	}
	daemon_free(p->daemon);
	loop_free(p->app.loop);
	log_open(NULL, NULL);
	return code;
}

static int run_program(void *prog, int argc, char **argv)
{
	struct prog *p = prog;
	struct err e;
	int code = args_parse(&p->args, argc, argv, &e);

	if (code == 0 && p->args.daemon)
		daemon_close_fds();
	if (code != 0 || log_open(p->args.log_file, &e) != 0)
		code = usage_error(&e);
	else
		code = run_args(p);
	args_free(&p->args);
	if (p->signo != 0)
		tty_die(p->signo);
	return code;
}

int main(int argc, char **argv)
{
	const char *link;
	const struct alone *alone = argc > 0 ? alone_link(argv[0], &link) : NULL;
	struct prog p = {.again = alone != NULL ? argv : NULL, .app.as_link = alone != NULL};

	view_init(&p.app.view);
	tester_init(&p.app.tester);
	begin_std_fds();
	p.small_pages = begin_is_again();
	tty_save();
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	return alone != NULL ? alone_run(alone, link, argc, argv, run_program, &p)
			     : run_program(&p, argc, argv);
}
