/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the program without a prompt, for clients: --daemon and --serve. */
#pragma once
#include "app.h"
#include "args.h"
#include "daemon.h"
#include "log.h"
#include "notify.h"
#include "sess.h"

struct serve_opts {
	const struct args *args;
	struct daemon *daemon; /* NULL: in the foreground */
	struct notify *notify;
	const char *where; /* the path of the Unix socket, for a message; NULL: there is none */
	void (*turn)(void *arg); /* one turn of the loop */
	void *arg;
};

/* Runs the files and texts of the command line, then turns until the loop is stopped. When what the
 * commands do at once is done, and none was refused, it tells whoever started the program that it
 * is ready (daemon.h, notify.h). A command that takes time, such as `wait`, goes on then. If a
 * command was refused before that, it does not tell so, and returns at once. Returns 0, or
 * an exit code when it cannot serve. The exit code of the commands is the session's, and not part
 * of it. */
int serve_run(struct app *, struct sess *, const struct serve_opts *);
/* A daemon has no standard streams. serve_log_session() writes to the log what a session would
 * print there, serve_log_text() each line of a text, and serve_syslog() passes a message of the log
 * to syslog. */
void serve_log_text(const char *text);
void serve_log_session(const struct sess_event *);
void serve_syslog(const struct log_entry *);
