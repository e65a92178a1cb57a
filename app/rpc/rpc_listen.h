/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets on which clients connect. */
#pragma once
#include <sys/types.h>
#include "base.h"

/* A Unix socket of this process. As long as the process holds the lock on the file lock_path, no
 * other one takes its name. */
struct unix_socket {
	int fd, lock;
	char *path, *lock_path;
	dev_t dev;
	ino_t ino;
};
/* Makes the socket and listens on it. name is as in rpc_opts.socket. Returns 0, or -errno with *e:
 * -EADDRINUSE if another process that runs has the name. */
int unix_listen(const char *name, struct unix_socket *out, struct err *e);
/* Closes the socket, and removes its file if that is still the one which was made. */
void unix_close(struct unix_socket *);

/* Listens on TCP at `where`, which is as in rpc_opts.listen. Returns the file descriptor, or -errno
 * with *e. *address becomes "HOST:PORT", the address that it got. */
int tcp_listen(const char *where, struct sbuf *address, struct err *e);
