/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without a prompt that goes on for its clients: --daemon and --serve. */
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
	const char *where;     /* of the socket, for people; NULL: none */
	void (*turn)(void *arg);
	void *arg;
};

/* Files and texts first. Who started it hears that it is ready when what they do at once is done and was not refused; what takes time (`wait`)
 * goes on then. Until the loop is stopped. 0, or the exit code of what could not be had; that of the commands is the session's. */
int serve_run(struct app *, struct sess *, const struct serve_opts *);
/* For a daemon, whose standard streams are gone: what would stand there. */
void serve_log_session(const struct sess_event *);
void serve_syslog(const struct log_entry *);
