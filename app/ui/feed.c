/* SPDX-License-Identifier: BSD-3-Clause */
#include "feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 65536

struct feed {
	struct loop *loop;
	struct sess *sess;
	int fd;
	const char *name;
	unsigned long line; /* number of the line in which text begins */
	/* what was read and not handed over: an unfinished line or an open quote */
	struct sbuf text;
	unsigned long lines; /* newlines read */
	bool reading, ended, held;
};

struct feed *feed_new(struct loop *loop, struct sess *sess, int fd, const char *name)
{
	struct feed *f = xcalloc(1, sizeof(*f));

	*f = (struct feed){.loop = loop, .sess = sess, .fd = fd, .name = name, .line = 1};
	return f;
}

void feed_free(struct feed *f)
{
	if (f == NULL)
		return;
	if (f->reading)
		loop_fd(f->loop, f->fd, 0, NULL, NULL);
	sbuf_free(&f->text);
	free(f);
}

/* Gives the session the first n bytes of the text, which are whole commands or the answer to a
 * question. */
static void hand_over(struct feed *f, size_t n)
{
	struct sbuf where = {0};

	if (f->name != NULL)
		sbuf_addf(&where, "%s:%lu", f->name, f->line);
	char kept = f->text.s[n];
	f->text.s[n] = '\0';
	sess_exec(f->sess, f->text.s, where.s);
	for (size_t i = 0; i < n; i++)
		f->line += f->text.s[i] == '\n';
	f->text.s[n] = kept;
	memmove(f->text.s, f->text.s + n, f->text.len - n + 1);
	f->text.len -= n;
	sbuf_free(&where);
}

/* True when a command ends behind the first n bytes, whose last one is a newline; false when a
 * quote is open there. The command language itself is asked: a mark that is added behind these
 * bytes becomes a command of its own only outside of quotes. */
static bool feed_complete(struct feed *f, size_t n)
{
	struct sbuf probe = {0}, one = {0};
	bool last = false;

	sbuf_addn(&probe, f->text.s, n);
	sbuf_addc(&probe, '\1');
	const char *p = probe.s;
	while (cmd_next(&p, &one)) {
		last = strcmp(sbuf_str(&one), "\1") == 0;
		sbuf_reset(&one);
	}
	sbuf_free(&one);
	sbuf_free(&probe);
	return last;
}

static void feed_readable(void *arg, short revents)
{
	struct feed *f = arg;
	char chunk[CHUNK];

	(void)revents;
	ssize_t n = read(f->fd, chunk, sizeof(chunk));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		f->ended = true;
		if (f->text.len > 0)
			hand_over(f, f->text.len);
		return;
	}
	/* A zero byte would hide what follows it. A '?' in its place makes the command fail. */
	for (ssize_t i = 0; i < n; i++)
		if (chunk[i] == '\0')
			chunk[i] = '?';
		else
			f->lines += chunk[i] == '\n';
	sbuf_addn(&f->text, chunk, (size_t)n);
	const char *nl = memrchr(f->text.s, '\n', f->text.len);
	size_t whole = nl != NULL ? (size_t)(nl - f->text.s) + 1 : 0;
	/* The answer to a question is no command: a quote in it opens nothing. */
	if (whole > 0 && (sess_asks(f->sess) || feed_complete(f, whole)))
		hand_over(f, whole);
}

void feed_turn(struct feed *f)
{
	bool want = !f->ended && !f->held && (!sess_busy(f->sess) || sess_asks(f->sess));

	if (want == f->reading)
		return;
	loop_fd(f->loop, f->fd, want ? POLLIN : 0, feed_readable, f);
	f->reading = want;
}

void feed_hold(struct feed *f, bool on)
{
	f->held = on;
}

bool feed_ended(const struct feed *f)
{
	return f->ended;
}

void feed_drop(struct feed *f)
{
	sbuf_reset(&f->text);
}

unsigned long feed_lines(const struct feed *f)
{
	return f->lines;
}
