/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "app.h"
#include "event.h"
#include "log.h"

/* READY=1 is sent once, and without it the manager takes the start for failed. So sending it may
 * wait for a manager that is busy. Other messages are lost when they cannot be sent at once. */
static const struct timeval READY_WAITS = {.tv_sec = 5};

#define READY_TRIES 20

struct notify {
	int fd;
	struct sockaddr_un to;
	socklen_t len;
	uint64_t watchdog_ns; /* 0: none */
	struct app *app;
	struct app_listener *listener;
	int timer;
	bool stopping;
};

static uint64_t notify_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t n = 0;

	if (usec != NULL && (pid == NULL || strtol(pid, NULL, 10) == (long)getpid() ||
			     strtol(pid, NULL, 10) == (long)getppid()))
		n = strtoull(usec, NULL, 10);
	return n < UINT64_MAX / 1000 ? n * 1000 : 0;
}

struct notify *notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t n = path != NULL ? strlen(path) : 0;
	struct notify *s = NULL;
	struct sockaddr_un to = {.sun_family = AF_UNIX};

	/* an absolute path, or a name of the abstract namespace, which is written with @ */
	if (n > 1 && n < sizeof(to.sun_path) && (path[0] == '/' || path[0] == '@')) {
		memcpy(to.sun_path, path, n);
		s = xcalloc(1, sizeof(*s));
		*s = (struct notify){.to = to, .timer = -1, .watchdog_ns = notify_watchdog()};
		s->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (path[0] == '/'));
		if (path[0] == '@')
			s->to.sun_path[0] = '\0';
		s->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (s->fd >= 0)
			(void)setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &READY_WAITS,
					 sizeof(READY_WAITS));
	}
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return s;
}

static void notify_say(const struct notify *s, const char *text, int flags)
{
	for (unsigned tries = 0; s->fd >= 0 && tries < READY_TRIES; tries++) {
		if (sendto(s->fd, text, strlen(text), MSG_NOSIGNAL | flags,
			   (const struct sockaddr *)&s->to, s->len) >= 0)
			return;
		/* a process that is stopped and goes on (SIGSTOP, a debugger) tries again */
		if (errno != EINTR)
			break;
	}
	if (s->fd >= 0 && (flags & MSG_DONTWAIT) == 0)
		log_msg(LOG_LVL_WARN,
			"NOTIFY_SOCKET: the service manager could not be told of readiness: %s",
			strerror(errno));
}

static void add_status(const struct notify *s, struct sbuf *out)
{
	unsigned n = ctl_nports(s->app->ctl), sending = 0;

	for (unsigned p = 0; p < n; p++)
		sending += ctl_sending(s->app->ctl, p);
	sbuf_addf(out, "STATUS=%u port%s, %u sending\n", n, n == 1 ? "" : "s", sending);
}

static void on_event(void *arg, const struct app_event *ev)
{
	const struct notify *s = arg;
	struct sbuf b = {0};

	if (s->stopping || (ev->kind != APP_EVENT_START && ev->kind != APP_EVENT_END))
		return;
	add_status(s, &b);
	notify_say(s, sbuf_str(&b), MSG_DONTWAIT);
	sbuf_free(&b);
}

static void feed_watchdog(void *arg)
{
	notify_say(arg, "WATCHDOG=1\n", MSG_DONTWAIT);
}

void notify_ready(struct notify *s, struct app *app, bool forked)
{
	struct sbuf b = {0};

	if (s == NULL)
		return;
	s->app = app;
	sbuf_add(&b, "READY=1\n");
	if (forked)
		sbuf_addf(&b, "MAINPID=%ld\n", (long)getpid());
	add_status(s, &b);
	notify_say(s, sbuf_str(&b), 0);
	sbuf_free(&b);
	s->listener = app_listen(app, on_event, s);
	if (s->watchdog_ns > 1)
		s->timer = loop_timer(app->loop, s->watchdog_ns / 2, s->watchdog_ns / 2,
				      feed_watchdog, s);
}

void notify_stopping(struct notify *s)
{
	if (s == NULL || s->stopping)
		return;
	s->stopping = true;
	notify_say(s, "STOPPING=1\nSTATUS=stopping\n", MSG_DONTWAIT);
}

void notify_close(struct notify *s)
{
	if (s == NULL)
		return;
	app_unlisten(s->listener);
	if (s->timer >= 0)
		loop_timer_del(s->app->loop, s->timer);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}
