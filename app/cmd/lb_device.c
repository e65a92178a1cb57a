/* SPDX-License-Identifier: BSD-3-Clause */
#include "lb_device.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "clock.h"

#define TEXT_MOST 4096 /* of what it prints */
#define TURNS 64       /* reads in one poll */
#define SHOWN "%.120s"

enum { OUT, ERR };

struct lb_device {
	char *command;
	pid_t pid; /* 0: it does not run */
	uint64_t began_ns;
	int fd[2];
	size_t got[2];
	char text[2][TEXT_MOST + 1];
};

struct lb_device *lb_device_new(const char *command)
{
	struct lb_device *d = xcalloc(1, sizeof(*d));

	d->command = xstrdup(command);
	d->fd[OUT] = d->fd[ERR] = -1;
	return d;
}

const char *lb_device_command(const struct lb_device *d)
{
	return d->command;
}

static void device_close(struct lb_device *d)
{
	for (unsigned i = 0; i < ARRAY_SIZE(d->fd); i++) {
		if (d->fd[i] >= 0)
			close(d->fd[i]);
		d->fd[i] = -1;
	}
}

/* Ends it with all that it has started. */
static void device_kill(struct lb_device *d)
{
	if (d->pid != 0) {
		kill(-d->pid, SIGKILL);
		child_wait(d->pid);
	}
	d->pid = 0;
	device_close(d);
}

void lb_device_free(struct lb_device *d)
{
	if (d == NULL)
		return;
	device_kill(d);
	free(d->command);
	free(d);
}

int lb_device_ask(struct lb_device *d, struct err *e)
{
	int end[2] = {-1, -1}, rc = 0;

	d->got[OUT] = d->got[ERR] = 0;
	for (unsigned i = 0; rc == 0 && i < ARRAY_SIZE(end); i++) {
		int both[2];
		rc = pipe2(both, O_CLOEXEC) == 0 ? 0 : errno;
		if (rc != 0)
			break;
		d->fd[i] = both[0];
		end[i] = both[1];
		fcntl(d->fd[i], F_SETFL, O_NONBLOCK);
	}
	if (rc == 0)
		rc = child_start(&(struct child_ask){.path = "/bin/sh",
						     .argv = (char *[]){"sh", "-c", d->command,
									NULL},
						     .out = end[OUT],
						     .err = end[ERR],
						     .no_input = true,
						     .group = true},
				 &d->pid);
	for (unsigned i = 0; i < ARRAY_SIZE(end); i++)
		if (end[i] >= 0)
			close(end[i]);
	if (rc != 0) {
		d->pid = 0;
		device_close(d);
		return err_set(e, rc, "device-cps: `" SHOWN "` cannot be started: %s", d->command,
			       strerror(rc));
	}
	d->began_ns = clock_raw_ns();
	return 0;
}

bool lb_device_asked(const struct lb_device *d)
{
	return d->pid != 0;
}

/* Takes what there is; of too much the begin is kept. One that prints faster than this reads gets
 * its turn again in the next poll. true: there will be no more. */
static bool device_read(struct lb_device *d, unsigned i)
{
	char drop[TEXT_MOST];

	for (unsigned turn = 0; turn < TURNS; turn++) {
		size_t room = TEXT_MOST - d->got[i];
		ssize_t n = room > 0 ? read(d->fd[i], d->text[i] + d->got[i], room)
				     : read(d->fd[i], drop, sizeof(drop));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 || errno != EAGAIN;
		d->got[i] += room > 0 ? (size_t)n : 0;
	}
	return false;
}

/* How many numbers the text is, up to 4: more are not told apart. 0: it is something else. */
static unsigned device_parse(const char *text, uint64_t out[4])
{
	unsigned n = 0;

	for (;;) {
		while (isspace((unsigned char)*text))
			text++;
		if (*text == '\0' || n == 4)
			return n;
		if (!isdigit((unsigned char)*text))
			return 0;
		char *end;
		errno = 0;
		out[n++] = strtoull(text, &end, 10);
		if (errno != 0 || (*end != '\0' && !isspace((unsigned char)*end)))
			return 0;
		text = end;
	}
}

bool lb_device_numbers(const char *text, struct lb_told *out)
{
	uint64_t v[4] = {0};
	unsigned n = device_parse(text, v);

	*out = (struct lb_told){.opened = v[0], .holds = n == 3, .held = v[1], .room = v[2]};
	return n == 1 || (n == 3 && out->room > 0);
}

/* The first line of what it has printed, without what terminals would do something with. */
static const char *device_line(struct lb_device *d, unsigned i)
{
	char *text = d->text[i];

	text[d->got[i]] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (char *c = text; *c != '\0'; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	return text;
}

static int device_failed(struct lb_device *d, int status, struct err *e)
{
	const char *said = device_line(d, ERR);

	if (WIFSIGNALED(status))
		return err_set(e, EIO, "device-cps: `" SHOWN "` was ended by signal %d", d->command,
			       WTERMSIG(status));
	return err_set(e, EIO, "device-cps: `" SHOWN "` has failed with exit code %d%s" SHOWN,
		       d->command, WEXITSTATUS(status), said[0] != '\0' ? ": " : "", said);
}

int lb_device_poll(struct lb_device *d, struct lb_told *out, struct err *e)
{
	bool over = device_read(d, OUT);
	int status = 0;

	over &= device_read(d, ERR);
	over = over && child_over(d->pid, &status);
	if (!over && clock_raw_ns() - d->began_ns > LB_DEVICE_PATIENCE_NS) {
		device_kill(d);
		return err_set(
			e, ETIMEDOUT,
			"device-cps: `" SHOWN
			"` has not ended within %llu s; a command is needed that prints the number and ends",
			d->command, LB_DEVICE_PATIENCE_NS / 1000000000ull);
	}
	if (!over)
		return 0;
	d->pid = 0;
	device_close(d);
	if (status != 0)
		return device_failed(d, status, e);
	d->text[OUT][d->got[OUT]] = '\0';
	if (lb_device_numbers(d->text[OUT], out))
		return 1;
	return err_set(
		e, EINVAL,
		"device-cps: `" SHOWN "` has printed \"" SHOWN
		"\", and one number is needed, like 12345: all connections that the device has counted so far; or three, like "
		"\"12345 400 262144\": and those that it holds now, and the most that it can hold",
		d->command, device_line(d, OUT));
}
