/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that goes on without its terminal (--daemon), and what it leaves for others to find it (--pid-file). */
#pragma once
#include "base.h"

struct daemon;

/* Whatever the caller had open beside the standard streams is not kept open for good. Before anything of our own is. */
void daemon_close_fds(void);
/* Before there is a thread, a device or a socket. The process forks; the caller goes on in the child, in a session of its own, with the standard
 * streams of the parent until daemon_ready(). 0: this is the child. 1: this is the parent, which has waited until the child was ready or has
 * ended: it returns
 * *code as its own exit code. -errno with *e: there is no child. */
int daemon_fork(struct daemon **out, int *code, struct err *e);
/* The parent may go; the standard streams become /dev/null. False: it is gone already, who started this does not want it any more. */
bool daemon_ready(struct daemon *);
void daemon_free(struct daemon *); /* NULL: nothing */

/* The number of this process in a file that is locked while it lives: -EBUSY when another holds it. Close the result with pid_file_remove(). */
int pid_file_make(const char *path, struct err *e);
void pid_file_remove(int fd, const char *path);
