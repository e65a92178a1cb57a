/* SPDX-License-Identifier: BSD-3-Clause */
#include "outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DRAIN_MS 2000 /* most time to wait while the terminal takes nothing */

struct outlet {
	int fd;
	FILE *file;       /* in memory */
	struct sbuf text; /* what was taken from the file, for the terminal */
	size_t sent;      /* bytes of it that the terminal has taken */
};

/* O_NONBLOCK belongs to an open file and not to a descriptor. On the descriptor that was given to
 * us it would hold for the shell too, so the terminal is opened a second time. */
static int outlet_reopen(int fd)
{
	const int flags = O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int own = open(path, flags);
	if (own < 0 && ttyname_r(fd, path, sizeof(path)) == 0)
		own = open(path, flags);
	return own >= 0 ? own : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

struct outlet *outlet_open(int fd)
{
	struct outlet *o = xcalloc(1, sizeof(*o));
	int memory = memfd_create("screen", MFD_CLOEXEC);

	o->fd = outlet_reopen(fd);
	o->file = memory >= 0 ? fdopen(memory, "w") : NULL;
	if (o->fd >= 0 && o->file != NULL)
		return o;
	int err = errno;
	if (o->file == NULL && memory >= 0)
		close(memory);
	outlet_close(o);
	errno = err;
	return NULL;
}

void outlet_close(struct outlet *o)
{
	if (o == NULL)
		return;
	if (o->file != NULL)
		fclose(o->file);
	if (o->fd >= 0)
		close(o->fd);
	sbuf_free(&o->text);
	free(o);
}

FILE *outlet_file(const struct outlet *o)
{
	return o->file;
}

int outlet_fd(const struct outlet *o)
{
	return o->fd;
}

void outlet_add(struct outlet *o, const char *text)
{
	fflush(o->file);
	if (write(fileno(o->file), text, strlen(text)) < 0)
		return; /* there is no memory: it is as if the terminal had not got it */
}

/* Moves what was written into the file to text. */
static void outlet_take(struct outlet *o)
{
	int memory = fileno(o->file);
	char bytes[8192];
	ssize_t n;

	fflush(o->file);
	if (lseek(memory, 0, SEEK_CUR) <= 0)
		return;
	lseek(memory, 0, SEEK_SET);
	while ((n = read(memory, bytes, sizeof(bytes))) > 0)
		sbuf_addn(&o->text, bytes, (size_t)n);
	lseek(memory, 0, SEEK_SET);
	while (ftruncate(memory, 0) != 0 && errno == EINTR)
		;
}

static void outlet_drop(struct outlet *o)
{
	sbuf_reset(&o->text);
	o->sent = 0;
}

bool outlet_push(struct outlet *o)
{
	outlet_take(o);
	while (o->sent < o->text.len) {
		ssize_t n = write(o->fd, o->text.s + o->sent, o->text.len - o->sent);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n <= 0)
			break; /* the terminal is gone; whoever reads keys notices it */
		o->sent += (size_t)n;
	}
	outlet_drop(o);
	return true;
}

bool outlet_drain(struct outlet *o)
{
	while (!outlet_push(o)) {
		struct pollfd p = {.fd = o->fd, .events = POLLOUT};
		int n = poll(&p, 1, DRAIN_MS);
		if (n > 0 || (n < 0 && errno == EINTR))
			continue;
		outlet_drop(o);
		return false;
	}
	return true;
}
