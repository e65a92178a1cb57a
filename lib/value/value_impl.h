/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of lib/value share: exact decimal numbers and units. */
#pragma once
#include "value.h"

__extension__ typedef unsigned __int128 u128;

/* A decimal number as it was written, 15, 1.5 or 1.5e3: it is m / 10^frac, and takes len bytes of
 * the text. It is exact, since 1.5ms must be 1500000 ns and not nearly so. The parser of the C
 * library is not used, because its decimal point depends on the locale. */
struct dec {
	u128 m;
	unsigned frac;
	size_t len;
};
/* Reads the number at the start of text. -EINVAL: there is none; -ERANGE: it has more digits than
 * any value has. Then len still says where it ends. */
int dec_scan(const char *text, struct dec *out);

/* A unit and how many base units it is. Case is ignored where it has no meaning: B is bytes and b
 * is bits, and M is not m. An array of units ends with name NULL; a unit "" allows a bare
 * number. */
struct unit {
	const char *name;
	uint64_t mult;
	bool other; /* another spelling, which is read, but not offered or printed */
};
/* Finds the unit that the whole text names; NULL: none. */
const struct unit *unit_find(const struct unit *units, const char *text);

/* Parses a whole number of base units: 0, or -EINVAL or -ERANGE with *e. `what` names the value in
 * an error: "a duration". The limits of the spec are not checked. */
int whole_parse(const struct vspec *s, const char *text, const struct unit *units, const char *what,
		uint64_t *out, struct err *e);
/* Checks v against min and max of the spec, or against lo and hi if the spec has none: 0, or
 * -ERANGE with *e. */
int whole_limits(const struct vspec *s, const char *text, uint64_t v, uint64_t lo, uint64_t hi,
		 struct err *e);
/* Appends v / mult as an exact decimal number; mult is a power of ten. */
void whole_put(uint64_t v, uint64_t mult, struct sbuf *out);
/* If prefix is a number, maybe with the first letters of a unit, offers the number with each unit
 * that fits. */
void unit_complete(const struct unit *units, const char *prefix,
		   void (*offer)(void *, const char *), void *arg);
/* Returns the column of the word after the first blank behind column `at`; 0: there is no blank. */
size_t trailing_words(const char *text, size_t at);
/* Refuses a text that goes on after a value that ends at column `at`: -EINVAL with *e. */
int trailing_fail(const struct vspec *s, const char *text, size_t at, struct err *e);
/* Refuses a text whose unit, at column `at`, is not known: -EINVAL with *e, which names the nearest
 * unit. */
int unit_fail(const struct vspec *s, const struct unit *units, const char *text, size_t at,
	      struct err *e);

/* Says whether word begins with prefix. */
bool word_starts(const char *word, const char *prefix);
