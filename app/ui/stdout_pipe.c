/* SPDX-License-Identifier: BSD-3-Clause */
#include "stdout_pipe.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stdout_pipe {
	struct loop *loop;
	void (*line)(void *arg, const char *text);
	void *arg;
	int fd;       /* the end of the pipe that is read */
	int saved[2]; /* copies of stdout and stderr as they were; -1: this one was not taken */
	struct sbuf text;
};

/* Hands over the whole lines that have arrived. With `all`, it hands over a last line without a
 * newline too. */
static void stdout_pipe_take(struct stdout_pipe *c, bool all)
{
	char bytes[4096];
	ssize_t n;

	while ((n = read(c->fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < n; i++)
			sbuf_addc(&c->text, bytes[i] != '\0' ? bytes[i] : '?');
	const char *nl = c->text.len > 0 ? memrchr(c->text.s, '\n', c->text.len) : NULL;
	size_t whole = all ? c->text.len : nl != NULL ? (size_t)(nl - c->text.s) + 1 : 0;
	if (whole == 0)
		return;
	struct sbuf lines = {0};
	sbuf_addn(&lines, c->text.s, whole);
	memmove(c->text.s, c->text.s + whole, c->text.len - whole + 1);
	c->text.len -= whole;
	c->line(c->arg, sbuf_str(&lines));
	sbuf_free(&lines);
}

static void stdout_pipe_readable(void *arg, short revents)
{
	(void)revents;
	stdout_pipe_take(arg, false);
}

struct stdout_pipe *stdout_pipe_open(struct loop *loop, void (*line)(void *arg, const char *text),
				     void *arg)
{
	int ends[2];

	/* Neither end blocks: control itself may write, and nobody would read meanwhile. */
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return NULL;
	struct stdout_pipe *c = xcalloc(1, sizeof(*c));
	*c = (struct stdout_pipe){
		.loop = loop, .line = line, .arg = arg, .fd = ends[0], .saved = {-1, -1}};
	fflush(stdout);
	fflush(stderr);
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		if (!isatty(fd))
			continue;
		c->saved[fd - 1] = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (c->saved[fd - 1] >= 0)
			dup2(ends[1], fd);
	}
	close(ends[1]);
	loop_fd(loop, c->fd, POLLIN, stdout_pipe_readable, c);
	return c;
}

void stdout_pipe_close(struct stdout_pipe *c)
{
	if (c == NULL)
		return;
	fflush(stdout);
	fflush(stderr);
	stdout_pipe_take(c, true);
	loop_fd(c->loop, c->fd, 0, NULL, NULL);
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		if (c->saved[fd - 1] < 0)
			continue;
		dup2(c->saved[fd - 1], fd);
		close(c->saved[fd - 1]);
	}
	close(c->fd);
	sbuf_free(&c->text);
	free(c);
}

int stdout_pipe_fd(const struct stdout_pipe *c)
{
	return c != NULL ? c->fd : -1;
}
