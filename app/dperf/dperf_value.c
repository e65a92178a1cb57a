/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of arguments: from text to numbers and addresses. */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dperf_int.h"

#define PCI_CHARS 12
#define BOND_MOST 4

/* Digits, at most one point among them if `point`, and then what `rest` points to. Its value times
 * a million, so that a fraction is exact as far as it matters. */
static bool value_digits_of(const char *text, bool point, uint64_t *millionths, const char **rest)
{
	uint64_t n = 0, scale = 1000000;
	bool digits = false, behind = false;

	for (; *text != '\0'; text++) {
		if (*text == '.' && point && !behind) {
			behind = true;
			continue;
		}
		if (!isdigit((unsigned char)*text))
			break;
		digits = true;
		unsigned d = (unsigned)(*text - '0');
		if (!behind) {
			if (n > 100000000000ull)
				return false;
			n = n * 10 + d;
		} else if (scale > 1) {
			n = n * 10 + d;
			scale /= 10;
		}
	}
	*millionths = n * scale;
	*rest = text;
	return digits;
}

static bool value_within(const struct dperf_arg *a, struct dperf_value *v, uint64_t n)
{
	v->n = v->to = n;
	return n >= a->min && n <= a->max;
}

static bool value_number(const struct dperf_arg *a, struct dperf_value *v)
{
	const char *rest;
	uint64_t m;

	return value_digits_of(v->text, false, &m, &rest) && *rest == '\0' &&
	       value_within(a, v, m / 1000000);
}

static bool value_hex(const struct dperf_arg *a, struct dperf_value *v)
{
	if (v->text[0] != '0' || tolower((unsigned char)v->text[1]) != 'x')
		return value_number(a, v);
	size_t n = strspn(v->text + 2, "0123456789abcdefABCDEF");
	return n > 0 && n <= 8 && v->text[2 + n] == '\0' &&
	       value_within(a, v, strtoul(v->text + 2, NULL, 16));
}

static bool value_count(const struct dperf_arg *a, struct dperf_value *v)
{
	uint64_t unit = 1, m;
	const char *rest;

	if (!value_digits_of(v->text, true, &m, &rest))
		return false;
	if (*rest != '\0') {
		char c = (char)tolower((unsigned char)*rest);
		if ((c != 'k' && c != 'm') || rest[1] != '\0')
			return false;
		unit = c == 'k' ? 1000 : 1000000;
	}
	return m <= a->max * 1000000 / unit && value_within(a, v, m * unit / 1000000);
}

static bool value_time(const struct dperf_arg *a, struct dperf_value *v)
{
	static const struct {
		char c;
		uint64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	uint64_t seconds = 1, m;
	const char *rest;

	if (!value_digits_of(v->text, true, &m, &rest))
		return false;
	if (*rest != '\0') {
		seconds = 0;
		for (unsigned i = 0; i < ARRAY_SIZE(units); i++)
			if (*rest == units[i].c)
				seconds = units[i].seconds;
		if (seconds == 0 || rest[1] != '\0')
			return false;
	}
	if (m / 1000000 > a->max / DPERF_NS / seconds)
		return false;
	/* whole seconds, as in dperf */
	return value_within(a, v, m * seconds / 1000000 * DPERF_NS);
}

static bool value_interval(const struct dperf_arg *a, struct dperf_value *v)
{
	const char *rest;
	uint64_t m;

	if (!value_digits_of(v->text, false, &m, &rest))
		return false;
	uint64_t n = m / 1000000, unit = 1000;
	if (strcmp(rest, "ms") == 0)
		unit = 1000000;
	else if (strcmp(rest, "s") == 0)
		unit = DPERF_NS;
	else if (strcmp(rest, "us") != 0)
		return false;
	else if ((n > 1 && n < 10 && n % 2 != 0) || (n >= 10 && n % 10 != 0) ||
		 (n >= 1000 && n % 1000 != 0))
		return false;
	return n <= a->max / unit && value_within(a, v, n * unit);
}

static bool value_word(const struct dperf_arg *a, struct dperf_value *v)
{
	for (unsigned i = 0; a->words[i] != NULL; i++)
		if (strcmp(a->words[i], v->text) == 0) {
			v->n = i;
			return true;
		}
	return false;
}

static bool value_addr(struct dperf_value *v)
{
	static const uint8_t none[16];

	v->addr = (struct dperf_addr){.six = strchr(v->text, ':') != NULL};
	return inet_pton(v->addr.six ? AF_INET6 : AF_INET, v->text, v->addr.b) == 1 &&
	       memcmp(v->addr.b, none, sizeof(none)) != 0;
}

static bool value_mac(struct dperf_value *v)
{
	const char *t = v->text;

	v->addr = (struct dperf_addr){0};
	if (strlen(t) != 17)
		return false;
	for (unsigned i = 0; i < 17; i++)
		if (i % 3 == 2 ? t[i] != ':' : !isxdigit((unsigned char)t[i]))
			return false;
	for (unsigned i = 0; i < 6; i++)
		v->addr.b[i] = (uint8_t)strtoul(t + 3 * i, NULL, 16);
	return true;
}

/* 0000:3b:00.0 */
static bool value_is_pci(const char *t, size_t n)
{
	static const char form[] = "xxxx:xx:xx.x";

	if (n != PCI_CHARS)
		return false;
	for (unsigned i = 0; i < PCI_CHARS; i++)
		if (form[i] == 'x' ? !isxdigit((unsigned char)t[i]) : t[i] != form[i])
			return false;
	return true;
}

/* net_memif000: dperf looks at the length alone, so virtual devices of DPDK can be in its files. */
static bool value_is_virtual(const char *t, size_t n)
{
	return n == PCI_CHARS && strncmp(t, "net_", 4) == 0 &&
	       strspn(t, "abcdefghijklmnopqrstuvwxyz_0123456789") >= n;
}

bool dperf_pci(const char *device, unsigned i, char out[16])
{
	const char *at = strchr(device, '(');
	size_t n;

	at = at != NULL ? at + 1 : device;
	for (;; at += n + 1) {
		n = strcspn(at, ",)");
		if (!value_is_pci(at, n) && !value_is_virtual(at, n))
			return false;
		if (i-- == 0)
			break;
		if (at[n] != ',')
			return false;
	}
	memcpy(out, at, PCI_CHARS);
	out[PCI_CHARS] = '\0';
	return true;
}

/* What stands in n of the value: 0 is a PCI address, 1 a bond, 2 a virtual device. A bond is
 * bondM:P(pci,...), M from 0 to 6, P from 0 to 3. */
static bool value_device(struct dperf_value *v)
{
	const char *t = v->text;
	size_t n = strlen(t);

	if (value_is_pci(t, n))
		return true;
	if (value_is_virtual(t, n)) {
		v->n = 2;
		return true;
	}
	if (strncmp(t, "bond", 4) != 0 || n < 9 + PCI_CHARS || t[4] < '0' || t[4] > '6' ||
	    t[5] != ':' || t[6] < '0' || t[6] > '3' || t[7] != '(' || t[n - 1] != ')')
		return false;
	size_t each = PCI_CHARS + 1, list = n - 8;
	if (list % each != 0 || list / each > BOND_MOST)
		return false;
	for (size_t i = 0; i < list / each; i++)
		if (!value_is_pci(t + 8 + i * each, PCI_CHARS) ||
		    t[8 + i * each + PCI_CHARS] != (i + 1 < list / each ? ',' : ')'))
			return false;
	v->n = 1;
	return true;
}

static bool value_cpus(const struct dperf_arg *a, struct dperf_value *v)
{
	const char *rest;
	uint64_t m;

	if (!value_digits_of(v->text, false, &m, &rest))
		return false;
	v->n = v->to = m / 1000000;
	if (*rest == '-') {
		if (!value_digits_of(rest + 1, false, &m, &rest))
			return false;
		v->to = m / 1000000;
	}
	return *rest == '\0' && v->n <= v->to && v->to <= a->max;
}

static bool value_sizes(const struct dperf_value *v)
{
	const char *t = v->text;

	for (;; t++) {
		size_t n = strspn(t, "0123456789");
		if (n == 0 || n > 9)
			return false;
		t += n;
		if (*t != ',')
			return *t == '\0';
	}
}

bool dperf_value(const struct dperf_arg *a, struct dperf_value *v)
{
	switch (a->type) {
	case DPERF_T_NUMBER:
		return value_number(a, v);
	case DPERF_T_HEX:
		return value_hex(a, v);
	case DPERF_T_COUNT:
		return value_count(a, v);
	case DPERF_T_TIME:
		return value_time(a, v);
	case DPERF_T_INTERVAL:
		return value_interval(a, v);
	case DPERF_T_WORD:
		return value_word(a, v);
	case DPERF_T_ADDR:
		return value_addr(v);
	case DPERF_T_MAC:
		return value_mac(v);
	case DPERF_T_DEVICE:
		return value_device(v);
	case DPERF_T_CPUS:
		return value_cpus(a, v);
	case DPERF_T_SIZES:
		return value_sizes(v);
	case DPERF_T_TEXT:
		return value_within(a, v, strlen(v->text));
	case DPERF_T_PATH:
		return v->text[0] == '/' && value_within(a, v, strlen(v->text));
	case DPERF_T_ANY:
		return true;
	case DPERF_T_NONE:
		break;
	}
	return false;
}

struct dperf_addr dperf_add(const struct dperf_addr *a, uint64_t n)
{
	struct dperf_addr sum = *a;
	unsigned at = a->six ? 12 : 0;

	for (unsigned i = 4; i-- > 0; n >>= 8) {
		n += sum.b[at + i];
		sum.b[at + i] = (uint8_t)n;
	}
	return sum;
}

void dperf_print_addr(const struct dperf_addr *a, struct sbuf *out)
{
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(a->six ? AF_INET6 : AF_INET, a->b, text, sizeof(text)) != NULL)
		sbuf_add(out, text);
}
