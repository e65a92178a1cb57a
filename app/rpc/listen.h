/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets that wait for clients. */
#pragma once
#include <sys/types.h>
#include "base.h"

/* A Unix socket that belongs to this process: its name is taken as long as the lock is held. */
struct unix_socket {
	int fd, lock;
	char *path, *lock_path;
	dev_t dev;
	ino_t ino;
};
/* 0, or -errno with *e: -EADDRINUSE where a living process has it. */
int unix_listen(const char *name, struct unix_socket *out, struct err *e);
void unix_close(struct unix_socket *); /* and remove it, when it is still ours */

/* The file descriptor or -errno; *address gets "HOST:PORT" as bound. */
int tcp_listen(const char *where, struct sbuf *address, struct err *e);
