/* SPDX-License-Identifier: BSD-3-Clause */
/* Files whose names come from outside: from a command, an option, a script or the environment.
 * Control has one thread, and opening a pipe that nobody writes would hold it for ever. So opening
 * never waits, and what is not a regular file is refused. Every such file is opened here. */
#pragma once
#include <sys/types.h>
#include "base.h"

/* Opens a file. flags are those of open(2): O_RDONLY, O_WRONLY or O_RDWR, with O_APPEND, O_CREAT,
 * O_EXCL, O_NOFOLLOW; what keeps it from waiting is added. Returns the file descriptor, or -errno
 * with the reason for a user in *why: "it is a pipe, not a regular file". */
int userfile_open(const char *path, int flags, mode_t mode, const char **why);
/* The same for a name in an open folder `dir` (AT_FDCWD: the current one). A link is followed
 * unless flags have O_NOFOLLOW; then it is -ELOOP. */
int userfile_open_at(int dir, const char *name, int flags, mode_t mode, const char **why);
/* Opens a file for writing and reading, which is made if it is not there, or a pipe for writing;
 * *pipe says which. What is written to a pipe does not wait either. -ENXIO: nobody reads the
 * pipe. */
int userfile_open_sink(const char *path, mode_t mode, bool *pipe, const char **why);

/* What is expected of a file that is read as a whole. */
struct userfile_kind {
	/* Goes before its name in errors: "the script "; NULL: nothing. */
	const char *what;
	/* A question at the end of the error if it is too large or holds a zero byte: "is it a
	 * command file?"; NULL: none. */
	const char *guess;
	/* More than this is refused, also if the file grows while it is read. */
	size_t most_bytes;
	bool text; /* a zero byte is refused */
	/* A pipe is read as well, to its end, and this waits for it. Only for the time before the
	 * loop takes signals. */
	bool pipe;
};

/* Appends the whole file to *out. -EINVAL with text: it cannot be read, or it is not of this kind;
 * -EFBIG: it is too large. Then *out is as before. */
int userfile_read(const char *path, const struct userfile_kind *kind, struct sbuf *out,
		  struct err *e);
/* For a program that starts itself anew and reads its files again (app/begin.h), of which pipes
 * would have nothing more to say. What has been read from pipes so far is put into files without
 * names that stay open over exec(), and their descriptors are appended to *fds, " 5 6". false: that
 * cannot be done. */
bool userfile_pipes_pass(struct sbuf *fds);
/* The same descriptors in the new program: the next pipes are not read, but these. */
void userfile_pipes_take(const char *fds);
/* There will be no new start. */
void userfile_pipes_forget(void);
