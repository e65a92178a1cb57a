/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter_names.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userfile.h"

#define FILE_MOST (4u << 20)

/* The two files as they are; a lookup goes through the text. */
static struct sbuf services, protocols;
static enum filter_answer refused = FILTER_SYNTAX;
static char refused_name[FILTER_TEXT_MOST];

void names_read(void)
{
	const struct userfile_kind kind = {.most_bytes = FILE_MOST, .text = true};

	sbuf_reset(&services);
	sbuf_reset(&protocols);
	userfile_read("/etc/services", &kind, &services, NULL);
	userfile_read("/etc/protocols", &kind, &protocols, NULL);
}

enum filter_answer names_refused(const char **name)
{
	*name = refused_name;
	return refused;
}

void names_forget(void)
{
	refused = FILTER_SYNTAX;
	refused_name[0] = '\0';
}

static void names_refuse(enum filter_answer kind, const char *name)
{
	if (refused != FILTER_SYNTAX)
		return;
	refused = kind;
	snprintf(refused_name, sizeof(refused_name), "%s", name);
}

/* Takes the next word of a line; false: there is none. '#' begins a comment. */
static bool names_word(const char **at, const char **word, size_t *n)
{
	const char *p = *at;

	while (*p == ' ' || *p == '\t' || *p == '\r')
		p++;
	*word = p;
	while (*p != '\0' && *p != '\n' && *p != '#' && !isspace((unsigned char)*p))
		p++;
	*n = (size_t)(p - *word);
	*at = p;
	return *n > 0;
}

/* Finds a name in a file of lines `name number[/suffix] [alias...]`. suffix NULL: the file has
 * none. Returns the number, or -1. */
static int names_find(const struct sbuf *file, const char *name, const char *suffix)
{
	for (const char *line = sbuf_str(file); *line != '\0';) {
		const char *at = line, *word, *number;
		size_t n, digits;
		bool is = false;

		if (names_word(&at, &word, &n) && names_word(&at, &number, &digits)) {
			char *end;
			unsigned long value = strtoul(number, &end, 10);
			const char *tail = number + digits;
			bool fits = end > number && value <= UINT16_MAX;

			if (suffix != NULL)
				fits = fits && *end == '/' &&
				       (size_t)(tail - end - 1) == strlen(suffix) &&
				       strncmp(end + 1, suffix, strlen(suffix)) == 0;
			do
				is = n == strlen(name) && strncmp(word, name, n) == 0;
			while (!is && names_word(&at, &word, &n));
			if (is && fits)
				return (int)value;
		}
		line = strchr(at, '\n');
		if (line == NULL)
			break;
		line++;
	}
	return -1;
}

/* What libpcap calls. The C library reads addresses that are written as numbers. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **out)
{
	int (*numeric)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
	struct addrinfo h = hints != NULL ? *hints : (struct addrinfo){0};
	char number[16];

	*(void **)&numeric = dlsym(RTLD_NEXT, "getaddrinfo");
	if (numeric == NULL)
		return EAI_FAIL;
	h.ai_flags = (h.ai_flags & ~AI_ADDRCONFIG) | AI_NUMERICHOST | AI_NUMERICSERV;
	if (node == NULL && service != NULL && !isdigit((unsigned char)service[0])) {
		int port = names_find(&services, service,
				      h.ai_protocol == IPPROTO_UDP ? "udp" : "tcp");
		if (port < 0)
			return EAI_SERVICE;
		snprintf(number, sizeof(number), "%d", port);
		service = number;
	}
	int rc = numeric(node, service, &h, out);
	if (rc != 0 && node != NULL && !(hints != NULL && hints->ai_flags & AI_NUMERICHOST))
		names_refuse(FILTER_HOST, node);
	return rc;
}

struct hostent *gethostbyname(const char *name)
{
	names_refuse(FILTER_HOST, name);
	return NULL;
}

struct netent *getnetbyname(const char *name)
{
	names_refuse(FILTER_NET, name);
	return NULL;
}

int getnetbyname_r(const char *name, struct netent *entry, char *buf, size_t size,
		   struct netent **out, int *why)
{
	(void)entry;
	(void)buf;
	(void)size;
	*why = HOST_NOT_FOUND;
	*out = NULL;
	names_refuse(FILTER_NET, name);
	return 0;
}

int ether_hostton(const char *name, struct ether_addr *address)
{
	(void)address;
	names_refuse(FILTER_ETHER, name);
	return -1;
}

struct protoent *getprotobyname(const char *name)
{
	static struct protoent entry;

	entry = (struct protoent){.p_name = (char *)name,
				  .p_proto = names_find(&protocols, name, NULL)};
	return entry.p_proto >= 0 ? &entry : NULL;
}

int getprotobyname_r(const char *name, struct protoent *entry, char *buf, size_t size,
		     struct protoent **out)
{
	const struct protoent *found = getprotobyname(name);

	(void)buf;
	(void)size;
	*out = NULL;
	if (found != NULL) {
		*entry = *found;
		*out = entry;
	}
	return 0;
}
