/* SPDX-License-Identifier: BSD-3-Clause */
/* The types for addresses in header fields: MAC, IPv4 and IPv6. */
#include "value_impl.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void field_put(void *out, const uint8_t *bytes, size_t n)
{
	memset(out, 0, VT_FIELD_BYTES);
	memcpy((uint8_t *)out + VT_FIELD_BYTES - n, bytes, n);
}

static const uint8_t *field_tail(const void *v, size_t n)
{
	return (const uint8_t *)v + VT_FIELD_BYTES - n;
}

static int addr_hexval(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

static int mac_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	uint8_t mac[6];
	unsigned n = 0, group = 0;
	char sep = '\0';
	size_t i;

	for (i = 0; text[i] != '\0'; i++) {
		char c = text[i];
		if (isxdigit((unsigned char)c)) {
			if (n == 12)
				return vspec_fail(s, EINVAL, (int)i, e, text,
						  "is too long for a MAC address");
			if (group != 0 && n % group == 0 && text[i - 1] != sep)
				break;
			mac[n / 2] = (uint8_t)(n % 2 ? mac[n / 2] << 4 | addr_hexval(c)
						     : addr_hexval(c));
			n++;
			continue;
		}
		if (group == 0 && (n == 2 || n == 4) && (c == ':' || c == '-')) {
			group = n;
			sep = c;
		}
		if (c != sep || group == 0 || n == 0 || n % group != 0 || n == 12 ||
		    text[i - 1] == sep)
			break;
	}
	if (text[i] != '\0' || n != 12 || group == 0)
		return vspec_fail(s, EINVAL, (int)i, e, text, "is not a MAC address");
	field_put(out, mac, sizeof(mac));
	return 0;
}

static void mac_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const uint8_t *m = field_tail(v, 6);

	(void)s;
	sbuf_addf(out, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
}

const struct vtype vt_mac = {.name = "mac",
			     .syntax = "aa:bb:cc:dd:ee:ff | aabb:ccdd:eeff | aa-bb-cc-dd-ee-ff",
			     .size = VT_FIELD_BYTES,
			     .parse = mac_parse,
			     .print = mac_print};

static int ip4_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	uint8_t ip[4];
	size_t i = 0;

	if (strchr(text, ':') != NULL)
		return vspec_fail(s, EINVAL, 0, e, text,
				  inet_pton(AF_INET6, text, (uint8_t[16]){0}) == 1
					  ? "is an IPv6 address, for frames of `type ipv6`"
					  : "is not an IPv4 address");
	for (unsigned part = 0; part < 4; part++) {
		size_t start = i;
		unsigned v = 0;
		while (isdigit((unsigned char)text[i]) && i - start < 4)
			v = v * 10 + (unsigned)(text[i++] - '0');
		if (i == start)
			return vspec_fail(s, EINVAL, (int)i, e, text, "is not an IPv4 address");
		if (v > 255 || (text[start] == '0' && i - start > 1))
			return vspec_fail(s, ERANGE, (int)start, e, text,
					  "has a part that is not 0 to 255 without leading zeros");
		ip[part] = (uint8_t)v;
		if (part < 3 && text[i++] != '.')
			return vspec_fail(s, EINVAL, (int)i - 1, e, text, "is not an IPv4 address");
	}
	if (text[i] != '\0')
		return vspec_fail(s, EINVAL, (int)(i + strspn(text + i, " \t")), e, text,
				  "has more after the address");
	field_put(out, ip, sizeof(ip));
	return 0;
}

static void ip4_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const uint8_t *a = field_tail(v, 4);

	(void)s;
	sbuf_addf(out, "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
}

const struct vtype vt_ip4 = {.name = "ipv4",
			     .syntax = "A.B.C.D, each 0 to 255",
			     .size = VT_FIELD_BYTES,
			     .parse = ip4_parse,
			     .print = ip4_print};

static int ip6_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	uint8_t ip[16], four[VT_FIELD_BYTES];

	if (inet_pton(AF_INET6, text, ip) != 1) {
		size_t bad = strspn(text, "0123456789abcdefABCDEF:.");
		if (ip4_parse(s, text, four, NULL) == 0)
			return vspec_fail(s, EINVAL, 0, e, text,
					  "is an IPv4 address, for frames of `type ipv4`");
		return vspec_fail(s, EINVAL, text[bad] != '\0' ? (int)bad : 0, e, text,
				  "is not an IPv6 address");
	}
	field_put(out, ip, sizeof(ip));
	return 0;
}

static void ip6_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	char text[INET6_ADDRSTRLEN] = "";

	(void)s;
	inet_ntop(AF_INET6, v, text, sizeof(text));
	sbuf_add(out, text);
}

const struct vtype vt_ip6 = {.name = "ipv6",
			     .syntax = "an IPv6 address: 2001:db8::1",
			     .size = VT_FIELD_BYTES,
			     .parse = ip6_parse,
			     .print = ip6_print};
