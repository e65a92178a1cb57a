/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and reads files whose names come from outside, without waiting for anybody. */
#include "userfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK 65536
#define NEVER_WAITS (O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* Why it is not a regular file; NULL: it is one. */
static const char *is_other(mode_t mode)
{
	if (S_ISREG(mode))
		return NULL;
	return S_ISDIR(mode)    ? "it is a folder, not a regular file"
	       : S_ISFIFO(mode) ? "it is a pipe, not a regular file"
	       : S_ISSOCK(mode) ? "it is a socket, not a regular file"
				: "it is a device, not a regular file";
}

static int userfile_no(int code, const char *text, const char **why)
{
	*why = text != NULL ? text : strerror(code);
	return -code;
}

int userfile_open_at(int dir, const char *name, int flags, mode_t mode, const char **why)
{
	const int follow = flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0;
	const char *other;
	struct stat st;

	/* Opening a device may do something, so the file is looked at first. It is looked at again
	 * when it is open, in case somebody has exchanged it. */
	if (fstatat(dir, name, &st, follow) == 0) {
		if (S_ISLNK(st.st_mode))
			return userfile_no(ELOOP, "it is a link", why);
		if ((other = is_other(st.st_mode)) != NULL)
			return userfile_no(EINVAL, other, why);
	} else if (errno != ENOENT || !(flags & O_CREAT)) {
		return userfile_no(errno, NULL, why);
	}
	int fd = openat(dir, name, flags | NEVER_WAITS, mode);
	if (fd < 0)
		return userfile_no(errno, NULL, why);
	int code = fstat(fd, &st) != 0 ? errno : 0;
	other = code == 0 ? is_other(st.st_mode) : NULL;
	if (code == 0 && other == NULL)
		return fd;
	close(fd);
	return userfile_no(code != 0 ? code : EINVAL, other, why);
}

int userfile_open(const char *path, int flags, mode_t mode, const char **why)
{
	return userfile_open_at(AT_FDCWD, path, flags, mode, why);
}

int userfile_open_sink(const char *path, mode_t mode, bool *pipe, const char **why)
{
	struct stat st;

	*pipe = stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
	if (!*pipe)
		return userfile_open(path, O_RDWR | O_CREAT, mode, why);
	int fd = open(path, O_WRONLY | NEVER_WAITS);
	if (fd < 0)
		return userfile_no(errno,
				   errno == ENXIO
					   ? "nobody reads this pipe yet; start its reader first"
					   : NULL,
				   why);
	if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
		return fd;
	close(fd);
	return userfile_no(EINVAL, "it was exchanged while it was opened", why);
}

/* ---- pipes: what they have told cannot be read from them again ---- */

#define PIPES 16 /* that are kept for a new start of the program */
static struct {
	struct sbuf said[PIPES]; /* by those that have been read so far, in that order */
	unsigned nsaid;
	bool lost;       /* one was read, and there was no place for it */
	int from[PIPES]; /* what is read instead of the next ones */
	unsigned nfrom, next;
} pipes;

static void pipes_keep(const char *text, size_t len)
{
	if (pipes.nsaid == PIPES) {
		pipes.lost = true;
		return;
	}
	sbuf_addn(&pipes.said[pipes.nsaid++], text, len);
}

bool userfile_pipes_pass(struct sbuf *fds)
{
	for (unsigned i = 0; i < pipes.nsaid; i++) {
		const struct sbuf *b = &pipes.said[i];
		int fd = memfd_create("pipe", 0);
		size_t done = 0;

		while (fd >= 0 && done < b->len) {
			ssize_t n = write(fd, b->s + done, b->len - done);
			if (n < 0 && errno != EINTR)
				return false;
			done += n > 0 ? (size_t)n : 0;
		}
		if (fd < 0 || lseek(fd, 0, SEEK_SET) != 0)
			return false;
		sbuf_addf(fds, " %d", fd);
	}
	return !pipes.lost;
}

void userfile_pipes_take(const char *fds)
{
	char *end;

	for (; pipes.nfrom < PIPES; fds = end) {
		long fd = strtol(fds, &end, 10);
		if (end == fds || fd <= STDERR_FILENO || fd > INT_MAX)
			return;
		pipes.from[pipes.nfrom++] = (int)fd;
	}
}

void userfile_pipes_forget(void)
{
	for (unsigned i = 0; i < pipes.nsaid; i++)
		sbuf_free(&pipes.said[i]);
	pipes.nsaid = 0;
}

/* Opens a pipe too, and waits until somebody writes to it, as a person expects. *pipe: it is
 * one. */
static int open_pipe_too(const char *path, bool *pipe, const char **why)
{
	struct stat st;

	*pipe = stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
	if (!*pipe)
		return userfile_open(path, O_RDONLY, 0, why);
	if (pipes.next < pipes.nfrom)
		return pipes.from[pipes.next++];
	int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return fd >= 0 ? fd : userfile_no(errno, NULL, why);
}

/* Appends the rest of a file until it has more than `most` bytes. 0 or errno. */
static int read_on(int fd, size_t most, struct sbuf *out)
{
	char *chunk = xcalloc(1, CHUNK);
	size_t start = out->len;
	ssize_t n = 1;

	while (n != 0 && out->len - start <= most) {
		n = read(fd, chunk, CHUNK);
		if (n > 0)
			sbuf_addn(out, chunk, (size_t)n);
		else if (n < 0 && errno != EINTR)
			break;
	}
	int code = n < 0 ? errno : 0;
	free(chunk);
	return code;
}

/* "64 MiB", "2046 bytes" */
static void put_size(size_t bytes, struct sbuf *out)
{
	if (bytes >= 1u << 20 && bytes % (1u << 20) == 0)
		sbuf_addf(out, "%zu MiB", bytes >> 20);
	else
		sbuf_addf(out, "%zu bytes", bytes);
}

static int too_large(const char *path, const struct userfile_kind *k, struct err *e)
{
	struct sbuf size = {0};

	put_size(k->most_bytes, &size);
	err_set(e, EFBIG, "cannot read %s'%.400s': it has more than %s%s%s",
		k->what != NULL ? k->what : "", path, size.s, k->guess != NULL ? "; " : "",
		k->guess != NULL ? k->guess : "");
	sbuf_free(&size);
	return -EFBIG;
}

/* Refuses a file that is too large, or that holds a zero byte and should not. */
static int userfile_judge(const char *path, const struct userfile_kind *k, const char *text,
			  size_t len, struct err *e)
{
	if (len > k->most_bytes)
		return too_large(path, k, e);
	if (k->text && len > 0 && memchr(text, '\0', len) != NULL)
		return err_set(e, EINVAL, "cannot read %s'%.400s': it holds a zero byte%s%s",
			       k->what != NULL ? k->what : "", path, k->guess != NULL ? "; " : "",
			       k->guess != NULL ? k->guess : "");
	return 0;
}

int userfile_read(const char *path, const struct userfile_kind *k, struct sbuf *out, struct err *e)
{
	const char *why;
	size_t start = out->len;
	struct stat st;
	bool pipe = false;
	int rc, fd = k->pipe ? open_pipe_too(path, &pipe, &why)
			     : userfile_open(path, O_RDONLY, 0, &why);

	if (fd < 0)
		return err_set(e, EINVAL, "cannot read %s'%.400s': %s",
			       k->what != NULL ? k->what : "", path, why);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size > k->most_bytes) {
		close(fd);
		return too_large(path, k, e);
	}
	int code = read_on(fd, k->most_bytes, out);
	close(fd);
	if (code != 0)
		rc = err_set(e, EINVAL, "cannot read %s'%.400s': %s",
			     k->what != NULL ? k->what : "", path, strerror(code));
	else
		rc = userfile_judge(path, k, sbuf_str(out) + start, out->len - start, e);
	if (rc == 0 && pipe)
		pipes_keep(sbuf_str(out) + start, out->len - start);
	if (rc != 0 && out->s != NULL) {
		out->len = start;
		out->s[start] = '\0';
	}
	return rc;
}
