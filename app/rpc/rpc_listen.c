/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc_listen.h"
#include "userfile.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "rpc.h"

#define BACKLOG 64

static int in_use(const char *path, int lock, struct err *e)
{
	char pid[24] = "";

	if (lock >= 0 && pread(lock, pid, sizeof(pid) - 1, 0) > 0)
		pid[strspn(pid, "0123456789")] = '\0';
	return err_set(
		e, EADDRINUSE,
		"the socket '%.300s' is in use by another process%s%s; give this one a name of its own: --socket=NAME",
		path, pid[0] != '\0' ? ", " : "", pid);
}

/* Locks the file beside the socket. The process that holds the lock owns the socket's name; the
 * kernel releases the lock however the process ends. Returns the file descriptor. */
static int take_lock(const char *path, const char *lock, struct err *e)
{
	char pid[24];

	for (;;) {
		struct stat a, b;
		const char *why;
		int fd = userfile_open(lock, O_RDWR | O_CREAT | O_NOFOLLOW, 0600, &why);
		if (fd < 0)
			return err_set(e, -fd, "cannot make '%.400s' beside the socket: %s", lock,
				       why);
		if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
			int rc = errno == EWOULDBLOCK
					 ? in_use(path, fd, e)
					 : err_set(e, errno, "cannot lock '%.400s': %s", lock,
						   strerror(errno));
			close(fd);
			return rc;
		}
		/* The last owner may have removed the file between the opening and the lock. */
		if (fstat(fd, &a) == 0 && stat(lock, &b) == 0 && a.st_ino == b.st_ino &&
		    a.st_dev == b.st_dev) {
			int n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
			if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)n, 0) != n) {
				close(fd);
				return err_set(e, EIO, "cannot write '%.400s'", lock);
			}
			return fd;
		}
		close(fd);
	}
}

/* Removes a socket that a dead process has left. One that somebody listens on, and a file that is
 * no socket, are refused. */
static int make_room(const char *path, const struct sockaddr_un *addr, struct err *e)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0
				       : err_set(e, errno, "cannot use the socket '%.400s': %s",
						 path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return err_set(
			e, EEXIST,
			"'%.400s' is there and is no socket; give another path, or remove it",
			path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc = fd < 0                                                           ? -errno
		 : connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0 ? 0
										  : -errno;
	if (fd >= 0)
		close(fd);
	if (rc != -ECONNREFUSED)
		return in_use(path, -1, e);
	if (unlink(path) != 0 && errno != ENOENT)
		return err_set(e, errno, "cannot remove the socket of a dead process '%.400s': %s",
			       path, strerror(errno));
	return 0;
}

/* Binds the socket with a umask, so that from its first moment nobody else may use it. */
static int bind_private(int fd, const struct sockaddr_un *addr)
{
	mode_t old = umask(0177);
	int rc = bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0 ? 0 : -errno;

	umask(old);
	return rc;
}

static int open_socket(struct unix_socket *s, struct err *e)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct stat st;
	int rc;

	memcpy(addr.sun_path, s->path, strlen(s->path) + 1);
	rc = make_room(s->path, &addr, e);
	if (rc < 0)
		return rc;
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = s->fd < 0 ? -errno : bind_private(s->fd, &addr);
	if (rc < 0)
		return err_set(e, -rc, "cannot make the socket '%.400s': %s", s->path,
			       strerror(-rc));
	if (lstat(s->path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid() &&
	    (st.st_mode & 0777) == 0600) {
		s->dev = st.st_dev;
		s->ino = st.st_ino;
		if (listen(s->fd, BACKLOG) == 0)
			return 0;
		return err_set(e, errno, "cannot listen on '%.400s': %s", s->path, strerror(errno));
	}
	return err_set(
		e, EACCES,
		"the socket '%.400s' is not as it was made (owner, mode 0600); is its directory open to others?",
		s->path);
}

int unix_listen(const char *name, struct unix_socket *out, struct err *e)
{
	struct sbuf path = {0}, lock = {0};
	int rc = strchr(name, '/') == NULL ? rpc_runtime_dir(true, &path, e) : 0;

	*out = (struct unix_socket){.fd = -1, .lock = -1};
	if (rc == 0)
		rc = rpc_socket_path(name, &path, e);
	if (rc < 0) {
		sbuf_free(&path);
		return rc;
	}
	sbuf_addf(&lock, "%s.lock", path.s);
	rc = take_lock(path.s, lock.s, e);
	if (rc < 0) {
		sbuf_free(&path);
		sbuf_free(&lock);
		return rc;
	}
	*out = (struct unix_socket){.fd = -1, .lock = rc, .path = path.s, .lock_path = lock.s};
	rc = open_socket(out, e);
	if (rc < 0)
		unix_close(out);
	return rc;
}

void unix_close(struct unix_socket *s)
{
	struct stat st;

	if (s->path == NULL)
		return;
	if (s->ino != 0 && lstat(s->path, &st) == 0 && st.st_ino == s->ino && st.st_dev == s->dev)
		unlink(s->path);
	if (s->fd >= 0)
		close(s->fd);
	unlink(s->lock_path);
	close(s->lock);
	free(s->path);
	free(s->lock_path);
	*s = (struct unix_socket){.fd = -1, .lock = -1};
}

/* Takes "HOST:PORT", "[IPv6 address]:PORT", ":PORT" or a host alone apart. What is missing gets its
 * default. */
static int listen_split(const char *where, struct sbuf *host, struct sbuf *port, struct err *e)
{
	const char *colon = strrchr(where, ':'), *end = where + strlen(where);

	if (where[0] == '[') {
		const char *close = strchr(where, ']');
		if (close == NULL || (close[1] != '\0' && close[1] != ':'))
			return err_set(
				e, EINVAL,
				"'%.100s' is no address; an IPv6 address with a port is [ADDRESS]:PORT",
				where);
		sbuf_addn(host, where + 1, (size_t)(close - where - 1));
		colon = close[1] == ':' ? close + 1 : NULL;
	} else if (colon != NULL && strchr(where, ':') != colon) {
		return err_set(
			e, EINVAL,
			"'%.100s' is no address; an IPv6 address with a port is [ADDRESS]:PORT",
			where);
	} else {
		sbuf_addn(host, where, (size_t)((colon != NULL ? colon : end) - where));
	}
	if (host->len == 0)
		sbuf_add(host, RPC_DEFAULT_HOST);
	sbuf_add(port, colon != NULL ? colon + 1 : RPC_DEFAULT_PORT);
	if (host->s[strspn(host->s, "0123456789")] == '\0')
		return err_set(e, EINVAL, "'%.100s' has no host; a port alone is :%.20s", where,
			       host->s);
	if (port->len == 0 || port->len > 5 ||
	    port->s[strspn(sbuf_str(port), "0123456789")] != '\0' || atoi(port->s) > 65535)
		return err_set(e, EINVAL,
			       "'%.100s': a port is a number from 0 (any free one) to 65535",
			       where);
	return 0;
}

static void put_address(int fd, struct sbuf *out)
{
	struct sockaddr_storage a;
	socklen_t n = sizeof(a);
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (getsockname(fd, (struct sockaddr *)&a, &n) == 0 &&
	    getnameinfo((struct sockaddr *)&a, n, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) == 0)
		sbuf_addf(out, a.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* Listens on the first address of the list that allows it. Returns the file descriptor or
 * -errno. */
static int bind_first(const struct addrinfo *list)
{
	const int on = 1;
	int rc = -EADDRNOTAVAIL;

	for (const struct addrinfo *a = list; a != NULL; a = a->ai_next) {
		int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd < 0) {
			rc = -errno;
			continue;
		}
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (a->ai_family == AF_INET6)
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
		if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
			return fd;
		rc = -errno;
		close(fd);
	}
	return rc;
}

int tcp_listen(const char *where, struct sbuf *address, struct err *e)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	struct sbuf host = {0}, port = {0};
	struct addrinfo *list = NULL;
	int rc = listen_split(where, &host, &port, e);

	if (rc == 0) {
		int code = getaddrinfo(host.s, port.s, &hints, &list);
		if (code != 0)
			rc = err_set(e, EINVAL, "there is no address for '%.100s': %s", host.s,
				     gai_strerror(code));
	}
	if (rc == 0) {
		rc = bind_first(list);
		if (rc < 0)
			err_set(e, -rc,
				"cannot listen on %.100s, port %s: %s; -g HOST:PORT names another address",
				host.s, port.s, strerror(-rc));
		else
			put_address(rc, address);
	}
	if (list != NULL)
		freeaddrinfo(list);
	sbuf_free(&host);
	sbuf_free(&port);
	return rc;
}
