/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads decimal numbers exactly, and finds the units behind them. */
#include "value_impl.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

/* 1e25. This times an hour in ns still fits 128 bits. */
#define DEC_MAX ((u128)1000000000000000ull * 10000000000ull)
#define DEC_MAX_FRAC 30

/* Reads an exponent after the number: e6, E+6, e-3. Anything else is left alone. -ERANGE: the
 * number has more digits than any value has. */
static int exponent_scan(const char *text, struct dec *d)
{
	const char *p = text + d->len;
	unsigned n = 0;

	if (*p != 'e' && *p != 'E')
		return 0;
	bool minus = p[1] == '-';
	const char *digit = p + 1 + (minus || p[1] == '+');
	if (!isdigit((unsigned char)*digit))
		return 0;
	for (; isdigit((unsigned char)*digit); digit++)
		n = n > 1000 ? n : n * 10 + (unsigned)(*digit - '0');
	d->len = (size_t)(digit - text);
	if (minus) {
		d->frac += n;
		return d->frac > DEC_MAX_FRAC ? -ERANGE : 0;
	}
	for (; n > 0 && d->frac > 0; n--)
		d->frac--;
	for (; n > 0 && d->m != 0; n--) {
		if (d->m > DEC_MAX / 10 - 1)
			return -ERANGE;
		d->m *= 10;
	}
	return 0;
}

int dec_scan(const char *text, struct dec *out)
{
	struct dec d = {0};
	const char *p = text;
	bool frac = false, many = false;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (;; p++) {
		if (*p == '.' && !frac && isdigit((unsigned char)p[1])) {
			frac = true;
			continue;
		}
		if (!isdigit((unsigned char)*p))
			break;
		if (d.m > DEC_MAX / 10 - 1 || d.frac >= DEC_MAX_FRAC) {
			many = true;
			continue;
		}
		d.m = d.m * 10 + (unsigned)(*p - '0');
		d.frac += frac;
	}
	d.len = (size_t)(p - text);
	if (exponent_scan(text, &d) != 0)
		many = true;
	*out = d;
	return many ? -ERANGE : 0;
}

static bool is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Says whether a text means a unit. Its case is ignored, except where it has a meaning: m, M, b and
 * B alone, and a capital B for bytes where the unit has bits. */
static bool same_unit(const char *unit, const char *text)
{
	if (strcmp(unit, text) == 0)
		return true;
	if (strcasecmp(unit, text) != 0 || unit[0] == '\0')
		return false;
	if (unit[1] == '\0')
		return strchr("mMbB", unit[0]) == NULL;
	for (size_t i = 0; unit[i] != '\0'; i++)
		if (text[i] == 'B' && unit[i] == 'b')
			return false;
	/* "Ms" would be a million seconds, and not "ms" */
	return !(unit[0] == 'm' && is_capital(text[0]) && unit[1] == 's');
}

const struct unit *unit_find(const struct unit *units, const char *text)
{
	for (const struct unit *u = units; u->name != NULL; u++)
		if (strcmp(u->name, text) == 0)
			return u;
	for (const struct unit *u = units; u->name != NULL; u++)
		if (same_unit(u->name, text))
			return u;
	return NULL;
}

int unit_fail(const struct vspec *s, const struct unit *units, const char *text, size_t at,
	      struct err *e)
{
	const char *names[16], *tail = text + at, *near = NULL;
	size_t n = 0;

	for (; units->name != NULL && n < ARRAY_SIZE(names); units++) {
		if (units->name[0] != '\0' && !units->other)
			names[n++] = units->name;
		if (strcasecmp(units->name, tail) == 0 && near == NULL && !units->other)
			near = units->name;
	}
	/* every unit is near to a text of one or two letters, so there is nothing to suggest */
	if (near == NULL && strlen(tail) > 2)
		near = str_nearest(tail, names, n);
	if (near != NULL)
		return vspec_fail(s, EINVAL, (int)at, e, text,
				  "ends in \"%.20s\", did you mean \"%s\"", tail, near);
	return vspec_fail(s, EINVAL, (int)at, e, text, "ends in \"%.20s\", which is not a unit",
			  tail);
}
