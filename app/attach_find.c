/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rpc/rpc.h"

#define SUFFIX ".sock"

/* Says whether a process listens on a socket. The kernel refuses connections to a socket that a
 * dead process has left; any other failure counts as somebody who listens. */
static bool attach_find_serves(const char *dir, const char *file)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int n = snprintf(to.sun_path, sizeof(to.sun_path), "%s/%s", dir, file);
	int fd = n < (int)sizeof(to.sun_path)
			 ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)
			 : -1;
	bool refused = fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) != 0 &&
		       errno == ECONNREFUSED;

	if (fd >= 0)
		close(fd);
	return !refused;
}

/* Looks for sockets in the runtime directory that somebody listens on. Returns how many there are;
 * names gets their names, and first the name of the first one. */
static unsigned attach_find_list(struct sbuf *names, struct sbuf *first)
{
	struct sbuf dir = {0};
	struct dirent *d;
	unsigned n = 0;
	DIR *f = rpc_runtime_dir(false, &dir, NULL) == 0 ? opendir(dir.s) : NULL;

	while (f != NULL && (d = readdir(f)) != NULL) {
		size_t len = strlen(d->d_name);
		if (len <= strlen(SUFFIX) ||
		    strcmp(d->d_name + len - strlen(SUFFIX), SUFFIX) != 0 ||
		    !attach_find_serves(dir.s, d->d_name))
			continue;
		sbuf_addf(names, "%s%.*s", n > 0 ? ", " : "", (int)(len - strlen(SUFFIX)),
			  d->d_name);
		if (n++ == 0)
			sbuf_addn(first, d->d_name, len - strlen(SUFFIX));
	}
	if (f != NULL)
		closedir(f);
	sbuf_free(&dir);
	return n;
}

static int find_unix(const char *name, struct attach_to *to, struct err *e)
{
	int rc = rpc_socket_path(name, &to->path, e);

	sbuf_addf(&to->name, "wirerate at %s", sbuf_str(&to->path));
	return rc;
}

static int find_any(struct attach_to *to, struct err *e)
{
	struct sbuf names = {0}, first = {0};
	unsigned n = attach_find_list(&names, &first);
	int rc;

	if (n > 1)
		rc = err_set(e, EINVAL,
			     "several programs serve: %.600s; name one: wirerate attach NAME",
			     names.s);
	else
		rc = find_unix(n == 1 ? first.s : "", to, e);
	sbuf_free(&names);
	sbuf_free(&first);
	return rc;
}

/* Takes "HOST:PORT", "[ADDRESS]:PORT" or ":PORT" apart. colon points to the last colon of name. */
static int find_tcp(const char *name, const char *colon, struct attach_to *to, struct err *e)
{
	size_t n = (size_t)(colon - name);

	if (n >= 2 && name[0] == '[' && name[n - 1] == ']')
		sbuf_addn(&to->host, name + 1, n - 2);
	else if (memchr(name, ':', n) != NULL)
		return err_set(e, EINVAL, "'%.100s': an IPv6 address stands in brackets: [::1]:%s",
			       name, RPC_DEFAULT_PORT);
	else
		sbuf_addn(&to->host, name, n);
	if (to->host.len == 0)
		sbuf_add(&to->host, RPC_DEFAULT_HOST);
	sbuf_add(&to->port, colon[1] != '\0' ? colon + 1 : RPC_DEFAULT_PORT);
	sbuf_addf(&to->name, "wirerate at %s", name);
	return 0;
}

int attach_find(const char *name, struct attach_to *to, struct err *e)
{
	const char *colon = name != NULL ? strrchr(name, ':') : NULL;

	*to = (struct attach_to){0};
	if (name == NULL)
		return find_any(to, e);
	if (*name == '\0')
		return err_set(
			e, EINVAL,
			"the name of what to attach to is empty; allowed: a name, a path, HOST:PORT, or nothing");
	if (strchr(name, '/') == NULL && colon != NULL)
		return find_tcp(name, colon, to, e);
	return find_unix(name, to, e);
}

void attach_to_free(struct attach_to *to)
{
	sbuf_free(&to->path);
	sbuf_free(&to->host);
	sbuf_free(&to->port);
	sbuf_free(&to->name);
}
