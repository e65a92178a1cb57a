/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40 /* as many as the kernel follows */
#define MAX_TRIES 100

static int cannot(struct err *e, const char *what, const char *path, int code)
{
	return err_set(e, EINVAL, "cannot %s '%.400s': %s", what, path, strerror(code));
}

int file_read_text(const char *path, struct sbuf *out, struct err *e)
{
	/* not waiting for who writes to a pipe: control would stand still */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return cannot(e, "read", path, errno);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, EINVAL, "cannot read '%.400s': it is not a regular file", path);
	}
	char *chunk = xcalloc(1, 65536);
	size_t start = out->len;
	int code = 0;
	while (out->len - start <= FILE_TEXT_MAX && (n = read(fd, chunk, 65536)) != 0) {
		if (n > 0)
			sbuf_addn(out, chunk, (size_t)n);
		else if (errno != EINTR) {
			code = errno;
			break;
		}
	}
	free(chunk);
	close(fd);
	if (code != 0)
		return cannot(e, "read", path, code);
	if (out->len - start > FILE_TEXT_MAX)
		return err_set(e, EINVAL, "'%.400s' has more than %u MiB; is it a command file?", path, FILE_TEXT_MAX >> 20);
	if (out->len > start && memchr(out->s + start, '\0', out->len - start) != NULL)
		return err_set(e, EINVAL, "'%.400s' holds a zero byte; is it a text file?", path);
	return 0;
}

/* The directory part, "" or with its slash. */
static size_t dir_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* Where a link leads, step by step, the last one need not exist. */
static int follow(const char *path, struct sbuf *out, struct err *e)
{
	char to[PATH_MAX];

	sbuf_add(out, path);
	for (unsigned i = 0; i < MAX_LINKS; i++) {
		ssize_t n = readlink(out->s, to, sizeof(to) - 1);
		if (n < 0)
			return 0;
		to[n] = '\0';
		if (to[0] == '/') {
			sbuf_reset(out);
		} else {
			out->len = dir_len(out->s);
			out->s[out->len] = '\0';
		}
		sbuf_add(out, to);
	}
	return cannot(e, "write", path, ELOOP);
}

/* A new file beside the one that it will replace. */
static int open_beside(const char *path, struct sbuf *tmp, struct err *e)
{
	size_t dir = dir_len(path);

	for (unsigned i = 0; i < MAX_TRIES; i++) {
		sbuf_reset(tmp);
		sbuf_addn(tmp, path, dir);
		/* not longer than the name itself may be */
		sbuf_addf(tmp, ".%.200s.%ld-%u", path + dir, (long)getpid(), i);
		int fd = open(tmp->s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return cannot(e, "write", path, errno);
	}
	return cannot(e, "write", path, EEXIST);
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return fsync(fd) != 0 && errno != EINVAL && errno != EROFS ? -errno : 0;
}

/* The name in the directory must reach the disk too; where a file system cannot do that, nothing is lost but this. */
static void sync_dir(const char *path)
{
	struct sbuf dir = {0};

	sbuf_addn(&dir, path, dir_len(path));
	int fd = open(dir.len > 0 ? dir.s : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!fsync(fd);
		close(fd);
	}
	sbuf_free(&dir);
}

/* The file that is to be replaced, *old: there is one, and a new one beside it. */
static int begin(const char *path, struct stat *st, bool *old, struct sbuf *tmp, struct err *e)
{
	*old = stat(path, st) == 0;
	if (*old && !S_ISREG(st->st_mode))
		return err_set(e, EINVAL, "cannot write '%.400s': it is not a regular file", path);
	if (*old && access(path, W_OK) != 0)
		return cannot(e, "write", path, errno);
	return open_beside(path, tmp, e);
}

static int replace(const char *path, const char *text, size_t len, struct err *e)
{
	struct sbuf tmp = {0};
	struct stat st;
	bool old;
	int fd = begin(path, &st, &old, &tmp, e);

	if (fd < 0) {
		sbuf_free(&tmp);
		return fd;
	}
	int rc = write_all(fd, text, len);
	if (rc == 0 && old) {
		/* the owner first: a change of it takes permissions away; who may not give files away keeps this one */
		(void)!fchown(fd, st.st_uid, st.st_gid);
		if (fchmod(fd, st.st_mode & 07777) != 0)
			rc = -errno;
	}
	if (close(fd) != 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(tmp.s, path) != 0)
		rc = -errno;
	if (rc != 0) {
		unlink(tmp.s);
		rc = err_set(e, EINVAL, "cannot write '%.400s': %s%s", path, strerror(-rc), old ? "; the file is as it was" : "");
	} else {
		sync_dir(path);
	}
	sbuf_free(&tmp);
	return rc;
}

static int find(const char *path, struct sbuf *real, struct err *e)
{
	struct stat st;

	if (path[0] == '\0')
		return err_set(e, EINVAL, "the name of a file is wanted");
	/* a pipe behind /dev/stdout has no name to follow */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(e, EINVAL, "cannot write '%.400s': it is not a regular file", path);
	return follow(path, real, e);
}

int file_replaceable(const char *path, struct err *e)
{
	struct sbuf real = {0}, tmp = {0};
	struct stat st;
	bool old;
	int rc = find(path, &real, e), fd = rc == 0 ? begin(real.s, &st, &old, &tmp, e) : rc;

	if (fd >= 0) {
		close(fd);
		unlink(tmp.s);
	}
	sbuf_free(&real);
	sbuf_free(&tmp);
	return fd < 0 ? fd : 0;
}

int file_replace(const char *path, const char *text, size_t len, struct err *e)
{
	struct sbuf real = {0};
	int rc = find(path, &real, e);

	if (rc == 0)
		rc = replace(real.s, text, len, e);
	sbuf_free(&real);
	return rc;
}

int file_make_parents(char *path)
{
	for (char *p = strchr(path + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		int rc = mkdir(path, 0700);
		*p = '/';
		if (rc != 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* XDG: a relative path is invalid and ignored. */
char *file_state_path(const char *name)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	struct sbuf b = {0};

	if (state != NULL && *state == '/')
		sbuf_addf(&b, "%s/wirerate/%s", state, name);
	else if (home != NULL && *home == '/')
		sbuf_addf(&b, "%s/.local/state/wirerate/%s", home, name);
	return b.s;
}
