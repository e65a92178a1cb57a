/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared inside lib/value: exact decimal numbers, units. */
#pragma once
#include "value.h"

__extension__ typedef unsigned __int128 u128;

/* A decimal number as written, 15, 1.5 or 1.5e3: m / 10^frac, len bytes of text. Exact: a value such as 1.5ms must be 1500000 ns, not
 * nearly so, and the C library's own parser follows the locale's decimal point. */
struct dec {
	u128 m;
	unsigned frac;
	size_t len;
};
/* -EINVAL: no number here; -ERANGE: more digits than any value has. */
int dec_scan(const char *text, struct dec *out);

/* Units are compared as people write them: letters of either case, where the case says nothing. B is bytes and b bits, M in a unit of its own is
 * not m. */
struct unit {
	const char *name;
	uint64_t mult;
	bool other; /* another spelling: read, and not offered or printed */
};
/* The unit that is the text as a whole, NULL: none. */
const struct unit *unit_find(const struct unit *units, const char *text);

/* A whole number of base units. units ends with name == NULL; a unit "" allows a bare number. what: "a duration". On
 * failure the reason is in *e. Limits of the spec are not looked at. */
int whole_parse(const struct vspec *s, const char *text, const struct unit *units, const char *what, uint64_t *out,
		struct err *e);
/* Against min and max of the spec, or lo and hi when it has none. */
int whole_limits(const struct vspec *s, const char *text, uint64_t v, uint64_t lo, uint64_t hi, struct err *e);
/* v / mult as a decimal, exact; mult is a power of ten. */
void whole_put(uint64_t v, uint64_t mult, struct sbuf *out);
/* Offer number + unit when prefix is a number without one. */
void unit_complete(const struct unit *units, const char *prefix, void (*offer)(void *, const char *), void *arg);
/* Column of what follows the first blank after `at`, 0: there is no blank. */
size_t trailing_words(const char *text, size_t at);
int trailing_fail(const struct vspec *s, const char *text, size_t at, struct err *e);
/* `"x" is not a unit` with the nearest one. */
int unit_fail(const struct vspec *s, const struct unit *units, const char *text, size_t at, struct err *e);

bool word_starts(const char *word, const char *prefix);
