/* SPDX-License-Identifier: BSD-3-Clause */
/* Files whose names come from outside: from a command, an option, a script or the environment. Control has one thread, and a pipe that nobody
 * writes would hold it for good; so opening never waits, and what is not a regular file is refused. Every such name is opened here. */
#pragma once
#include <sys/types.h>
#include "base.h"

/* flags: as of open(2), O_RDONLY, O_WRONLY or O_RDWR and O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW; what keeps it from waiting is added. The file
 * descriptor, or -errno and in *why the reason for a user: "it is a pipe, not a regular file". */
int userfile_open(const char *path, int flags, mode_t mode, const char **why);
/* The same below a folder that is open, without following a link. */
int userfile_open_at(int dir, const char *name, int flags, mode_t mode, const char **why);

/* What is expected of a file that is read as a whole. */
struct userfile_kind {
	const char *what;  /* said before its name in errors: "the script "; NULL: nothing */
	const char *guess; /* asked where it is too large or holds a zero byte: "is it a command file?" */
	size_t most_bytes; /* more is refused, also of a file that grows while it is read */
	bool text;         /* a zero byte is refused */
	bool pipe;         /* a pipe is read too, to its end, and waited for: for the time before signals are kept for the loop */
};

/* The whole file, behind what is in *out. -EINVAL with text: it cannot be read, or is not of that kind; -EFBIG: it is
 * too large. *out is as before. */
int userfile_read(const char *path, const struct userfile_kind *kind, struct sbuf *out, struct err *e);
