/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve.h"
#include "visible.h"

#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

enum { EXIT_LACKING = 3 };

static int serve_begin(struct app *app, const struct serve_opts *o)
{
	if (o->daemon != NULL)
		visible_print(stderr, "wirerate: pid %ld serves at %s\n", (long)getpid(),
			      o->where != NULL ? o->where : "no socket");
	if (!daemon_ready(o->daemon)) {
		log_msg(LOG_LVL_ERROR,
			"whoever started this daemon did not wait until it was ready; it ends");
		return EXIT_LACKING;
	}
	notify_ready(o->notify, app, o->daemon != NULL);
	return 0;
}

int serve_run(struct app *app, struct sess *sess, const struct serve_opts *o)
{
	const struct args *a = o->args;
	int pid_fd = -1, code = 0;
	struct err e;

	/* This is before any command, so that a second program with the same file is refused before
	 * it sends anything. */
	if (a->pid_file != NULL && (pid_fd = pid_file_make(a->pid_file, &e)) < 0) {
		visible_print(stderr, "wirerate: %s\n", e.text);
		return EXIT_LACKING;
	}
	args_exec(a, sess);
	sess_poll(sess);
	if (!loop_stopped(app->loop) && !sess_failed(sess)) {
		code = serve_begin(app, o);
		while (code == 0 && !loop_stopped(app->loop))
			o->turn(o->arg);
		notify_stopping(o->notify);
	}
	pid_file_remove(pid_fd, a->pid_file);
	return code;
}

/* Logs each line of a text as one message. */
static void log_lines(enum log_level level, const char *text)
{
	for (; text != NULL && *text != '\0'; text += strspn(text, "\n")) {
		size_t n = strcspn(text, "\n");
		log_msg(level, "%.*s", (int)n, text);
		text += n;
	}
}

void serve_log_text(const char *text)
{
	log_lines(LOG_LVL_INFO, text);
}

void serve_log_session(const struct sess_event *ev)
{
	if (ev->kind == SESS_ERROR)
		log_lines(LOG_LVL_ERROR, ev->text);
	else if (ev->kind != SESS_DONE)
		log_lines(LOG_LVL_INFO, ev->text);
}

void serve_syslog(const struct log_entry *m)
{
	static const int level[] = {[LOG_LVL_ERROR] = LOG_ERR,
				    [LOG_LVL_WARN] = LOG_WARNING,
				    [LOG_LVL_INFO] = LOG_INFO,
				    [LOG_LVL_DEBUG] = LOG_DEBUG};

	if (m->level <= LOG_LVL_INFO)
		syslog(LOG_DAEMON | level[m->level], "%s", m->text);
}
