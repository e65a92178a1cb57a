/* SPDX-License-Identifier: BSD-3-Clause */
#include "spool.h"
#include "visible.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEEP_BYTES 65536 /* memory kept while nothing waits */
#define TELL_NS 1000000000ull
#define ASK_NS 100000000ull

struct spool {
	struct loop *loop;
	int fd, own;       /* own: the same output, opened anew without blocking; -1: it is not */
	bool socket, file; /* what fd is; neither: a pipe or a terminal */
	bool tty;
	bool watches;
	struct sbuf text;
	size_t sent;
	int err;
};

int spool_reopen(int fd)
{
	char path[64];

	/* A descriptor that is open only for reading must not become writable by this: writing to
	 * it is to fail, and not to lose everything silently. */
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

struct spool *spool_open(struct loop *loop, int fd)
{
	struct spool *s = xcalloc(1, sizeof(*s));
	struct stat st;

	*s = (struct spool){.loop = loop, .fd = fd, .own = -1, .tty = isatty(fd)};
	if (fstat(fd, &st) == 0) {
		s->socket = S_ISSOCK(st.st_mode);
		s->file = S_ISREG(st.st_mode) || S_ISBLK(st.st_mode);
	}
	if (!s->socket && !s->file)
		s->own = spool_reopen(fd);
	return s;
}

static void spool_watch(struct spool *s, bool on);

void spool_close(struct spool *s)
{
	if (s == NULL)
		return;
	spool_watch(s, false);
	if (s->own >= 0)
		close(s->own);
	sbuf_free(&s->text);
	free(s);
}

static int out_fd(const struct spool *s)
{
	return s->own >= 0 ? s->own : s->fd;
}

static ssize_t write_some(const struct spool *s, const char *text, size_t n)
{
	struct pollfd p = {.fd = s->fd, .events = POLLOUT};

	if (s->own >= 0)
		return write(s->own, text, n);
	if (s->socket)
		return send(s->fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (s->file)
		return write(s->fd, text, n);
	/* When poll() says that a pipe has room, it accepts PIPE_BUF bytes without blocking. */
	if (poll(&p, 1, 0) == 0) {
		errno = EAGAIN;
		return -1;
	}
	return write(s->fd, text, n < PIPE_BUF ? n : PIPE_BUF);
}

static void spool_push(struct spool *s)
{
	while (s->err == 0 && s->sent < s->text.len) {
		ssize_t n = write_some(s, s->text.s + s->sent, s->text.len - s->sent);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n <= 0)
			s->err = n < 0 ? -errno : -EIO;
		else
			s->sent += (size_t)n;
	}
	if (s->err != 0 || s->sent == s->text.len) {
		if (s->text.cap > KEEP_BYTES)
			sbuf_free(&s->text);
		else
			sbuf_reset(&s->text);
		s->sent = 0;
	}
	spool_watch(s, s->text.len > 0);
}

static void on_ready(void *arg, short revents)
{
	(void)revents;
	spool_push(arg);
}

static void spool_watch(struct spool *s, bool on)
{
	if (on == s->watches)
		return;
	s->watches = on;
	loop_fd(s->loop, out_fd(s), on ? POLLOUT : 0, on_ready, s);
}

/* Removes the bytes that were taken when they are at least half of the text. So each byte is moved
 * only once or twice. */
static void spool_tidy(struct spool *s)
{
	if (s->sent == 0 || s->sent < s->text.len / 2)
		return;
	memmove(s->text.s, s->text.s + s->sent, s->text.len - s->sent + 1);
	s->text.len -= s->sent;
	s->sent = 0;
}

int spool_add(struct spool *s, const char *text)
{
	if (s->err != 0)
		return s->err;
	spool_tidy(s);
	if (s->tty)
		visible_add(&s->text, text, strlen(text));
	else
		sbuf_add(&s->text, text);
	spool_push(s);
	return s->err;
}

size_t spool_waiting(const struct spool *s)
{
	return s != NULL ? s->text.len - s->sent : 0;
}

int spool_error(const struct spool *s)
{
	return s != NULL ? s->err : 0;
}

/* Says whether standard error can be written without blocking. A reader who does not read standard
 * output may not read standard error either. */
static bool can_say(void)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&p, 1, 0) > 0;
}

void spool_drain(struct spool *s, bool (*stop)(void *arg, uint64_t idle_ns), void *arg)
{
	uint64_t since = loop_now_ns(), idle_ns = 0;
	size_t was = spool_waiting(s);
	bool told = false;

	while (was > 0 && !stop(arg, idle_ns)) {
		loop_turn(s->loop, ASK_NS);
		if (spool_waiting(s) < was)
			since = loop_now_ns();
		was = spool_waiting(s);
		idle_ns = loop_now_ns() - since;
		if (!told && was > 0 && idle_ns > TELL_NS && can_say()) {
			visible_print(
				stderr,
				"waiting for the reader of standard output, who has not taken the last %zu bytes\n",
				was);
			told = true;
		}
	}
	if (was > 0 && can_say())
		visible_print(
			stderr,
			"nobody has taken the last %zu bytes of standard output: they are lost\n",
			was);
}
