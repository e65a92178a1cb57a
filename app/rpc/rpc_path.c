/* SPDX-License-Identifier: BSD-3-Clause */
/* The path of the Unix socket, for the program that makes it and for clients. */
#include "rpc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Checks that the directory belongs to this user alone, because others could put traps into it.
 * make: it is made if it is missing, and if it belongs to this user but is open to others, it is
 * closed to them. */
static int path_trust(const char *path, bool make, struct err *e)
{
	struct stat st;

	if (make && mkdir(path, 0700) != 0 && errno != EEXIST)
		return err_set(
			e, errno,
			"cannot make the runtime directory '%.400s': %s; name a path for the socket: --socket=PATH",
			path, strerror(errno));
	if (lstat(path, &st) != 0)
		return make ? err_set(e, errno, "cannot use the runtime directory '%.400s': %s",
				      path, strerror(errno))
			    : 0;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return err_set(
			e, EACCES,
			"the runtime directory '%.400s' is not a directory of this user; it is not trusted, remove it or "
			"name a path for the socket: --socket=PATH",
			path);
	if (make && (st.st_mode & 077) && chmod(path, 0700) != 0)
		return err_set(e, errno,
			       "cannot close the runtime directory '%.400s' to others: %s", path,
			       strerror(errno));
	return 0;
}

int rpc_runtime_dir(bool make, struct sbuf *out, struct err *e)
{
	const char *run = getenv("XDG_RUNTIME_DIR");

	sbuf_reset(out);
	/* For root it must be the same in a login, under sudo and in a service, which differ in
	 * XDG_RUNTIME_DIR. */
	if (geteuid() == 0)
		sbuf_add(out, "/run/wirerate");
	else if (run != NULL && *run == '/')
		sbuf_addf(out, "%s/wirerate", run);
	else
		sbuf_addf(out, "/tmp/wirerate-%u", (unsigned)geteuid());
	return path_trust(out->s, make, e);
}

static int path_checked(const struct sbuf *path, struct err *e)
{
	const struct sockaddr_un *a = NULL;

	if (path->len < sizeof(a->sun_path))
		return 0;
	return err_set(e, EINVAL,
		       "the path of the socket has %zu bytes, the system takes %zu: '%.200s'",
		       path->len, sizeof(a->sun_path) - 1, path->s);
}

int rpc_socket_path(const char *name, struct sbuf *out, struct err *e)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (strchr(name, '/') != NULL) {
		sbuf_reset(out);
		sbuf_add(out, name);
		return path_checked(out, e);
	}
	if (*name == '\0')
		name = RPC_DEFAULT_NAME;
	if (name[strspn(name, allowed)] != '\0' || name[0] == '.')
		return err_set(
			e, EINVAL,
			"'%.60s' is no name of a socket: letters, digits, . _ - are allowed, and a path has a slash",
			name);
	int rc = rpc_runtime_dir(false, out, e);
	if (rc < 0)
		return rc;
	sbuf_addf(out, "/%s.sock", name);
	return path_checked(out, e);
}
