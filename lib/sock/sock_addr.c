/* SPDX-License-Identifier: BSD-3-Clause */
#include "sock_ask.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

int sock_resolve(const char *host, unsigned port, int family, struct sock_addr *out, unsigned max,
		 struct err *e)
{
	const struct addrinfo hints = {.ai_family = family,
				       .ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_PASSIVE};
	struct addrinfo *list = NULL;
	char service[16];
	unsigned n = 0;

	if (host != NULL && host[0] == '\0')
		host = NULL;
	snprintf(service, sizeof(service), "%u", port);
	int rc = getaddrinfo(host, service, &hints, &list);
	for (const struct addrinfo *a = list; rc == 0 && a != NULL && n < max; a = a->ai_next)
		if (a->ai_addrlen <= sizeof(out->sa) &&
		    (a->ai_family == AF_INET || a->ai_family == AF_INET6)) {
			out[n].len = a->ai_addrlen;
			memcpy(&out[n++].sa, a->ai_addr, a->ai_addrlen);
		}
	if (rc == 0)
		freeaddrinfo(list);
	if (n > 0)
		return (int)n;
	const char *kind = family == AF_INET ? "IPv4 " : family == AF_INET6 ? "IPv6 " : "";
	return err_set(e, EHOSTUNREACH, "there is no %saddress of '%s': %s", kind,
		       host == NULL ? "this machine" : host,
		       rc == 0 ? "the name has none" : gai_strerror(rc));
}

bool sock_is_name(const char *host)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
	struct addrinfo *list;

	if (host == NULL || host[0] == '\0')
		return false;
	if (getaddrinfo(host, NULL, &hints, &list) != 0)
		return true;
	freeaddrinfo(list);
	return false;
}

void sock_addr_print(const struct sock_addr *a, struct sbuf *out)
{
	char text[INET6_ADDRSTRLEN] = "?";

	if (a->sa.any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &a->sa.v6.sin6_addr, text, sizeof(text));
		sbuf_addf(out, "[%s]:%u", text, sock_addr_port(a));
	} else {
		inet_ntop(AF_INET, &a->sa.v4.sin_addr, text, sizeof(text));
		sbuf_addf(out, "%s:%u", text, sock_addr_port(a));
	}
}

unsigned sock_addr_port(const struct sock_addr *a)
{
	return ntohs(a->sa.any.sa_family == AF_INET6 ? a->sa.v6.sin6_port : a->sa.v4.sin_port);
}

void sock_addr_set_port(struct sock_addr *a, unsigned port)
{
	if (a->sa.any.sa_family == AF_INET6)
		a->sa.v6.sin6_port = htons((uint16_t)port);
	else
		a->sa.v4.sin_port = htons((uint16_t)port);
}

bool sock_addr_same(const struct sock_addr *a, const struct sock_addr *b)
{
	if (a->sa.any.sa_family != b->sa.any.sa_family || sock_addr_port(a) != sock_addr_port(b))
		return false;
	if (a->sa.any.sa_family == AF_INET6)
		return memcmp(&a->sa.v6.sin6_addr, &b->sa.v6.sin6_addr, 16) == 0 &&
		       a->sa.v6.sin6_scope_id == b->sa.v6.sin6_scope_id;
	return a->sa.v4.sin_addr.s_addr == b->sa.v4.sin_addr.s_addr;
}

void sock_ends(int fd, struct sock_addr *own, struct sock_addr *peer)
{
	own->len = peer->len = sizeof(own->sa);
	if (getsockname(fd, &own->sa.any, &own->len) != 0)
		own->len = 0;
	if (getpeername(fd, &peer->sa.any, &peer->len) != 0)
		peer->len = 0;
}
