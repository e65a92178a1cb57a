/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of addresses as settings of hosts take them. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host_app.h"
#include "host_face.h"

#define ITEM_MAX 96

/* Takes the item that begins at *at into item, and goes on to the next one. *col becomes where it
 * began. false: there is none, or it is too long. */
static bool next_item(const char *text, size_t *at, char item[ITEM_MAX], size_t *col)
{
	*col = *at;
	size_t n = strcspn(text + *at, ",");
	if (n == 0 || n >= ITEM_MAX)
		return false;
	memcpy(item, text + *at, n);
	item[n] = '\0';
	*at += n + (text[*at + n] == ',');
	return true;
}

/* Reads an address. *bits becomes the length of the whole one, as in struct neigh_prefix. */
static bool read_ip(const char *text, uint8_t ip[NEIGH_IP], unsigned *whole)
{
	*whole = 128;
	memset(ip, 0, NEIGH_IP);
	if (inet_pton(AF_INET6, text, ip) == 1)
		return !neigh_is_ip4(ip);
	ip[10] = ip[11] = 0xff;
	return inet_pton(AF_INET, text, ip + 12) == 1;
}

/* Whether one host may have this address. */
static bool one_host(const uint8_t ip[NEIGH_IP])
{
	static const uint8_t zero[NEIGH_IP], loop[NEIGH_IP] = {[15] = 1};

	if (neigh_is_ip4(ip))
		return ip[12] != 0 && ip[12] != 127 && ip[12] < 224;
	return ip[0] != 0xff && memcmp(ip, zero, NEIGH_IP) != 0 && memcmp(ip, loop, NEIGH_IP) != 0;
}

/* Reads the decimal digits behind the slash. */
static bool read_bits(const char *text, unsigned most, unsigned *bits)
{
	unsigned v = 0;

	if (!isdigit((unsigned char)text[0]) || strlen(text) > 3)
		return false;
	for (; isdigit((unsigned char)*text); text++)
		v = v * 10 + (unsigned)(*text - '0');
	*bits = v;
	return *text == '\0' && v <= most;
}

static void clear_below(uint8_t ip[NEIGH_IP], unsigned bits)
{
	for (unsigned i = bits; i < 128; i++)
		ip[i / 8] &= (uint8_t) ~(0x80u >> i % 8);
}

/* Reads ADDRESS or ADDRESS/LENGTH. Returns NULL, or what is wrong. */
static const char *read_addr(const struct vspec *s, char *item, struct neigh_prefix *out)
{
	char *slash = strchr(item, '/');
	unsigned whole, bits = 0;
	bool prefix = s->type == &host_vt_prefixes;

	if (slash != NULL)
		*slash = '\0';
	if (!read_ip(item, out->ip, &whole))
		return "is not an IPv4 or IPv6 address";
	unsigned least = neigh_is_ip4(out->ip) ? 96 : 0;
	if (s->type == &host_vt_gateway) {
		if (slash != NULL)
			return "has a length, and a gateway is one address";
		bits = whole - least;
	} else if (slash == NULL) {
		return "has no length: write ADDRESS/LENGTH";
	} else if (!read_bits(slash + 1, whole - least, &bits) || (bits == 0 && !prefix)) {
		return least > 0 ? "has a length that is not 1 to 32"
				 : "has a length that is not 1 to 128";
	}
	out->bits = (uint8_t)(least + bits);
	if (prefix)
		clear_below(out->ip, out->bits);
	else if (!one_host(out->ip))
		return "is no address that one host can have";
	return NULL;
}

/* Whether the list has it already; of gateways, one of this family. */
static bool has_addr(const struct vspec *s, const struct host_addrs *list,
		     const struct neigh_prefix *p)
{
	for (unsigned i = 0; i < list->n; i++)
		if (s->type == &host_vt_gateway
			    ? neigh_is_ip4(list->at[i].ip) == neigh_is_ip4(p->ip)
			    : memcmp(list->at[i].ip, p->ip, NEIGH_IP) == 0)
			return true;
	return false;
}

static bool is_none(const char *text)
{
	return strcmp(text, "none") == 0 || text[0] == '\0';
}

static int addrs_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct host_addrs list = {0};
	char item[ITEM_MAX];
	size_t at = 0, col;
	unsigned most = s->type == &host_vt_gateway    ? HOST_GATEWAY_MAX
			: s->type == &host_vt_prefixes ? NEIGH_PROXY_MAX
						       : HOST_IP_MAX;

	while (!is_none(text)) {
		struct neigh_prefix p = {0};
		if (!next_item(text, &at, item, &col))
			return vspec_fail(s, EINVAL, (int)col, e, text,
					  "is not a list of addresses");
		const char *wrong = read_addr(s, item, &p);
		if (wrong != NULL)
			return vspec_fail(s, EINVAL, (int)col, e, text, "%s", wrong);
		if (has_addr(s, &list, &p))
			return vspec_fail(s, EINVAL, (int)col, e, text,
					  s->type == &host_vt_gateway
						  ? "has two gateways of one family"
						  : "has an address twice");
		if (list.n == most)
			return vspec_fail(s, ERANGE, (int)col, e, text,
					  "has more than %u addresses", most);
		list.at[list.n++] = p;
		if (text[at] == '\0' && text[at - 1] != ',')
			break;
	}
	memcpy(out, &list, sizeof(list));
	return 0;
}

static void addrs_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct host_addrs *list = v;

	if (list->n == 0)
		sbuf_add(out, "none");
	for (unsigned i = 0; i < list->n; i++) {
		const struct neigh_prefix *p = &list->at[i];
		sbuf_add(out, i > 0 ? "," : "");
		host_print_ip(p->ip, out);
		if (s->type != &host_vt_gateway)
			sbuf_addf(out, "/%d", p->bits - (neigh_is_ip4(p->ip) ? 96 : 0));
	}
}

const struct vtype host_vt_ip = {.name = "addresses",
				 .syntax = "A/LEN{,A/LEN} | none: 10.0.0.1/24,fd00::1/64",
				 .size = sizeof(struct host_addrs),
				 .parse = addrs_parse,
				 .print = addrs_print};
const struct vtype host_vt_gateway = {.name = "gateway",
				      .syntax = "A[,A] | none: 10.0.0.254,fd00::fe",
				      .size = sizeof(struct host_addrs),
				      .parse = addrs_parse,
				      .print = addrs_print};
const struct vtype host_vt_prefixes = {.name = "prefixes",
				       .syntax = "A/LEN{,A/LEN} | none: 10.1.0.0/16",
				       .size = sizeof(struct host_addrs),
				       .parse = addrs_parse,
				       .print = addrs_print};

static int address_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	uint8_t ip[NEIGH_IP];
	unsigned whole;

	if (!read_ip(text, ip, &whole))
		return vspec_fail(s, EINVAL, 0, e, text, "is not an IPv4 or IPv6 address");
	if (!one_host(ip))
		return vspec_fail(s, EINVAL, 0, e, text, "is no address that one host can have");
	memcpy(out, ip, NEIGH_IP);
	return 0;
}

static void address_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	(void)s;
	host_print_ip(v, out);
}

const struct vtype host_vt_address = {.name = "address",
				      .syntax = "A: 10.0.0.2, fd00::2",
				      .size = NEIGH_IP,
				      .parse = address_parse,
				      .print = address_print};

static int neighbours_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct host_statics list = {0};
	char item[ITEM_MAX];
	size_t at = 0, col;

	while (!is_none(text)) {
		uint8_t mac[VT_FIELD_BYTES];
		const struct vspec vmac = {&vt_mac};
		unsigned whole;
		if (!next_item(text, &at, item, &col))
			return vspec_fail(s, EINVAL, (int)col, e, text,
					  "is not a list of neighbours");
		if (list.n == NEIGH_STATIC_MAX)
			return vspec_fail(s, ERANGE, (int)col, e, text,
					  "has more than %d neighbours", NEIGH_STATIC_MAX);
		struct neigh_static *x = &list.at[list.n];
		char *eq = strchr(item, '=');
		if (eq == NULL)
			return vspec_fail(s, EINVAL, (int)col, e, text,
					  "has no = behind an address");
		*eq = '\0';
		if (!read_ip(item, x->ip, &whole) || !one_host(x->ip))
			return vspec_fail(s, EINVAL, (int)col, e, text,
					  "is no address that one host can have");
		if (vt_mac.parse(&vmac, eq + 1, mac, NULL) < 0 || (mac[10] & 1) != 0)
			return vspec_fail(s, EINVAL, (int)col + (int)(eq + 1 - item), e, text,
					  "is no MAC address that one host can have");
		for (unsigned i = 0; i < list.n; i++)
			if (memcmp(list.at[i].ip, x->ip, NEIGH_IP) == 0)
				return vspec_fail(s, EINVAL, (int)col, e, text,
						  "has an address twice");
		memcpy(x->mac, mac + 10, 6);
		list.n++;
		if (text[at] == '\0' && text[at - 1] != ',')
			break;
	}
	memcpy(out, &list, sizeof(list));
	return 0;
}

static void neighbours_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct host_statics *list = v;

	(void)s;
	if (list->n == 0)
		sbuf_add(out, "none");
	for (unsigned i = 0; i < list->n; i++) {
		sbuf_add(out, i > 0 ? "," : "");
		host_print_ip(list->at[i].ip, out);
		sbuf_addc(out, '=');
		host_print_mac(list->at[i].mac, out);
	}
}

const struct vtype host_vt_neighbours = {.name = "neighbours",
					 .syntax =
						 "A=MAC{,A=MAC} | none: 10.0.0.2=02:00:00:00:00:02",
					 .size = sizeof(struct host_statics),
					 .parse = neighbours_parse,
					 .print = neighbours_print};
