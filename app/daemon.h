/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that goes on in the background (--daemon), and the file by which others find its
 * process (--pid-file). */
#pragma once
#include "base.h"

struct daemon;

/* Closes all file descriptors but the standard streams, because a daemon would keep open for good
 * what its caller has left open. Call it before the program opens anything. */
void daemon_close_fds(void);
/* Forks. Call it before there is a thread, a device or a socket. Returns
 * 0 in the child, which goes on in a session of its own (setsid). Its standard input is /dev/null,
 *   and it keeps the standard output and error of the parent until daemon_ready(). daemon_free()
 *   frees *out;
 * 1 in the parent, when the child is ready or has ended; the parent is to exit with *code;
 * -errno with *e in the parent, when there is no child. */
int daemon_fork(struct daemon **out, int *code, struct err *e);
/* Tells the parent that the child is ready, and makes standard output and error /dev/null. Returns
 * false when the parent is gone already: whoever started the daemon does not want it any more. NULL
 * is no daemon: true. */
bool daemon_ready(struct daemon *);
void daemon_free(struct daemon *); /* NULL: does nothing */

/* Writes the number of this process into a file, and keeps the file locked as long as the process
 * lives. Returns a file descriptor for pid_file_remove(), or -errno with *e: -EBUSY when another
 * process has locked the file, -EEXIST when the file holds something else than the number of a
 * process. */
int pid_file_make(const char *path, struct err *e);
/* Removes the file and closes fd. A negative fd: does nothing. */
void pid_file_remove(int fd, const char *path);
