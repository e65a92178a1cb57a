/* SPDX-License-Identifier: BSD-3-Clause */
/* The arm `port`: the addresses of the port, which are those of its setting `ip`. */
#include "flows_arm_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

/* One address of the port's setting, "10.0.0.1/24". */
static bool own_read(char *word, struct sock_addr *out)
{
	char *slash = strchr(word, '/');

	*out = (struct sock_addr){.len = 0};
	if (slash != NULL)
		*slash = '\0';
	if (inet_pton(AF_INET, word, &out->sa.v4.sin_addr) == 1) {
		out->sa.v4.sin_family = AF_INET;
		out->len = sizeof(out->sa.v4);
	} else if (inet_pton(AF_INET6, word, &out->sa.v6.sin6_addr) == 1) {
		out->sa.v6.sin6_family = AF_INET6;
		out->len = sizeof(out->sa.v6);
	}
	return out->len != 0;
}

/* The port's first address of the family that is also `like`, if that is not NULL. */
static bool own_find(const struct port_arm *a, int family, const struct sock_addr *like,
		     struct sock_addr *out)
{
	const struct setting *s = cmd_setting_find(a->r->cmd, "ip", &(struct err){.col = -1});
	struct sbuf text = {0};
	char *save = NULL;
	bool found = false;

	if (s != NULL && cmd_setting_text(a->r->cmd, s, a->ask.port, 0, &text))
		for (char *w = strtok_r(text.s, ",", &save); w != NULL && !found;
		     w = strtok_r(NULL, ",", &save))
			found = own_read(w, out) &&
				(family == AF_UNSPEC || out->sa.any.sa_family == family) &&
				(like == NULL || sock_addr_same(out, like));
	sbuf_free(&text);
	return found;
}

static int own_none(const struct port_arm *a, const char *what, struct err *e)
{
	return err_set(e, EADDRNOTAVAIL,
		       "port %u has no %s address of its own: `set %u ip ADDRESS/LENGTH`, or --ip",
		       a->ask.port, what, a->ask.port);
}

static const char *own_word(int family)
{
	return family == AF_INET6 ? "IPv6" : family == AF_INET ? "IPv4" : "IP";
}

int flows_own_server_at(struct arm *arm, const char *host, unsigned port, int family,
			struct sock_addr *out, struct err *e)
{
	struct port_arm *a = port_of(arm);
	struct sock_addr at;

	if (*host == '\0') {
		if (!own_find(a, family, NULL, &a->own))
			return own_none(a, own_word(family), e);
	} else {
		int rc = sock_resolve(host, 0, family, &at, 1, e);
		if (rc < 0)
			return rc;
		if (!own_find(a, at.sa.any.sa_family, &at, &a->own))
			return err_set(e, EADDRNOTAVAIL,
				       "%s is no address of port %u: `show settings %u ip`", host,
				       a->ask.port, a->ask.port);
	}
	*out = a->own;
	sock_addr_set_port(out, port);
	return 0;
}

int flows_own_reach(struct arm *arm, struct sock_addr *list, unsigned n, struct err *e)
{
	struct port_arm *a = port_of(arm);
	int family = n > 0 ? list[0].sa.any.sa_family : AF_UNSPEC;

	for (unsigned i = 0; i < n; i++)
		if (own_find(a, list[i].sa.any.sa_family, NULL, &a->own)) {
			a->to = list[0] = list[i];
			return 1;
		}
	return own_none(a, own_word(family), e);
}

int flows_own_check(const struct port_arm *a, const struct arm_conf *c, struct err *e)
{
	struct sock_addr own;
	int rc = 0;

	for (unsigned i = 0; i < c->nlocal && rc == 0; i++)
		if (!own_find(a, a->to.sa.any.sa_family, &c->local[i], &own))
			rc = err_set(
				e, EADDRNOTAVAIL,
				"address %u to connect from is no %s address of port %u: `show "
				"settings %u ip` shows those that it has",
				i + 1, own_word(a->to.sa.any.sa_family), a->ask.port, a->ask.port);
	return rc;
}
