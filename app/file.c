/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"
#include "userfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_TRIES 100

static int file_cannot(struct err *e, const char *what, const char *path, int code)
{
	return err_set(e, EINVAL, "cannot %s '%.400s': %s", what, path, strerror(code));
}

int file_read_text(const char *path, struct sbuf *out, struct err *e)
{
	const struct userfile_kind kind = {.guess = "is it a command file?",
					   .most_bytes = FILE_TEXT_MAX,
					   .text = true};

	return userfile_read(path, &kind, out, e);
}

/* The length of a path's directory with its slash; 0: it has none. */
static size_t dir_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* The place of a file, once all links were followed: a folder, and a name in it that is no link. */
struct place {
	int dir; /* file descriptor of the folder, -1: none */
	struct sbuf name;
	struct stat st; /* of the file, if old */
	/* old: the file is there. made: it was not there before, and place_behind() has made it at
	 * the end of a link. */
	bool old, made;
};

static void place_close(struct place *p)
{
	if (p->dir >= 0)
		close(p->dir);
	sbuf_free(&p->name);
}

static int place_dir(struct place *p, const char *path, const char *full, struct err *e)
{
	struct sbuf dir = {0};
	size_t n = dir_len(full);

	sbuf_addn(&dir, full, n);
	p->dir = open(n > 0 ? dir.s : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int code = errno;
	sbuf_free(&dir);
	if (p->dir < 0)
		return file_cannot(e, "write", path, code);
	sbuf_add(&p->name, full + n);
	return 0;
}

/* Finds the place of a path that is there, as a file or as a link. The kernel opens it and says
 * where the file is, so that its rules about links in folders that others may write to hold. */
static int place_behind(struct place *p, const char *path, struct err *e)
{
	char self[40], full[PATH_MAX];
	struct stat there;
	const char *why;
	bool was = stat(path, &there) == 0;
	int fd = userfile_open(path, O_WRONLY | O_CREAT, 0666, &why);

	if (fd < 0)
		return err_set(e, EINVAL, "cannot write '%.400s': %s", path, why);
	p->old = true;
	p->made = !was;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(self, full, sizeof(full) - 1);
	int code = n < 0 ? errno : fstat(fd, &p->st) != 0 ? errno : 0;
	close(fd);
	if (code != 0)
		return file_cannot(e, "write", path, code);
	full[n] = '\0';
	int rc = place_dir(p, path, full, e);
	if (rc < 0)
		return rc;
	/* Somebody may have changed folders meanwhile: the file of that name must still be the one
	 * that was opened. */
	if (fstatat(p->dir, p->name.s, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
	    there.st_dev != p->st.st_dev || there.st_ino != p->st.st_ino)
		return err_set(e, EINVAL,
			       "cannot write '%.400s': it was moved or deleted meanwhile", path);
	return 0;
}

static int place_find(struct place *p, const char *path, struct err *e)
{
	struct stat st;

	*p = (struct place){.dir = -1};
	if (path[0] == '\0')
		return err_set(e, EINVAL, "the name of a file is wanted");
	if (lstat(path, &st) == 0)
		return place_behind(p, path, e);
	return errno == ENOENT ? place_dir(p, path, path, e) : file_cannot(e, "write", path, errno);
}

/* Makes a new file in the folder of the one that it will replace. Returns its file descriptor, and
 * its name in *tmp. */
static int open_beside(const struct place *p, const char *path, struct sbuf *tmp, struct err *e)
{
	const char *why = strerror(EEXIST);

	for (unsigned i = 0; i < MAX_TRIES; i++) {
		sbuf_reset(tmp);
		/* the name is cut, so that the longer one is no longer than a name may be */
		sbuf_addf(tmp, ".%.200s.%ld-%u", p->name.s, (long)getpid(), i);
		int fd = userfile_open_at(p->dir, tmp->s, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
					  0666, &why);
		if (fd >= 0)
			return fd;
		if (fd != -EEXIST && fd != -EINVAL && fd != -ELOOP)
			break;
	}
	return err_set(e, EINVAL, "cannot write '%.400s': %s", path, why);
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

/* Makes the entry of the directory reach the disk too. Not every file system can do that, so an
 * error is ignored. */
static void sync_dir(int at)
{
	int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!fsync(fd);
		close(fd);
	}
}

/* Gives the new file its name. A file that has the name already loses it, if it may. */
static int file_name(const struct place *p, const char *tmp, bool may_replace)
{
	if (may_replace)
		return renameat(p->dir, tmp, p->dir, p->name.s) != 0 ? -errno : 0;
	/* a second name is refused if it is taken; not every file system knows renameat2() */
	if (linkat(p->dir, tmp, p->dir, p->name.s, 0) != 0)
		return -errno;
	unlinkat(p->dir, tmp, 0);
	return 0;
}

static int file_swap(const struct place *p, const char *path, int fd, const char *tmp,
		     const char *text, size_t len, bool may_replace, struct err *e)
{
	int rc = write_all(fd, text, len);

	if (rc == 0 && p->old && !p->made) {
		/* The owner is set first, because setting it may clear permissions. A user who may
		 * not give files away keeps the new file. */
		(void)!fchown(fd, p->st.st_uid, p->st.st_gid);
		if (fchmod(fd, p->st.st_mode & 07777) != 0)
			rc = -errno;
	}
	if (close(fd) != 0 && rc == 0)
		rc = -errno;
	if (rc == 0)
		rc = file_name(p, tmp, may_replace);
	if (rc == 0) {
		sync_dir(p->dir);
		return 0;
	}
	unlinkat(p->dir, tmp, 0);
	return err_set(e, EINVAL, "cannot write '%.400s': %s%s", path, strerror(-rc),
		       p->old && !p->made ? "; the file is as it was" : "");
}

/* file_replace() or file_create(), or, with text NULL, whether they could. */
static int write_new(const char *path, const char *text, size_t len, bool may_replace,
		     struct err *e)
{
	struct stat st;
	struct sbuf tmp = {0};
	struct place p;

	if (!may_replace && lstat(path, &st) == 0)
		return err_set(
			e, EINVAL,
			"'%.400s' is there already, and nothing is written over it; give another name, or remove it first",
			path);
	int rc = place_find(&p, path, e);
	if (rc == 0) {
		int fd = rc = open_beside(&p, path, &tmp, e);
		if (fd >= 0 && text != NULL) {
			rc = file_swap(&p, path, fd, tmp.s, text, len, may_replace, e);
		} else if (fd >= 0) {
			close(fd);
			unlinkat(p.dir, tmp.s, 0);
			rc = 0;
		}
	}
	if (p.made && p.dir >= 0 && (rc != 0 || text == NULL))
		unlinkat(p.dir, p.name.s, 0);
	place_close(&p);
	sbuf_free(&tmp);
	return rc;
}

int file_replaceable(const char *path, struct err *e)
{
	return write_new(path, NULL, 0, true, e);
}

int file_creatable(const char *path, struct err *e)
{
	return write_new(path, NULL, 0, false, e);
}

int file_create(const char *path, const char *text, size_t len, struct err *e)
{
	return write_new(path, text != NULL ? text : "", len, false, e);
}

int file_replace(const char *path, const char *text, size_t len, struct err *e)
{
	return write_new(path, text != NULL ? text : "", len, true, e);
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

/* A relative path in the variable is ignored, as the XDG base directory specification says. */
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
