/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared inside lib/vary: the outer form of a variation's text, "[random|list] VALUES [word value]...". */
#pragma once
#include "value.h"

enum form_word { FORM_STEP, FORM_FROM, FORM_REPEAT, FORM_SEED, FORM_MASK, FORM_NWORDS };

struct form {
	const char *text;
	bool random, list;               /* the leading word */
	size_t at, len;                  /* values within the text; len 0: none */
	struct {
		size_t word, at, len;    /* the word and its value; len 0: not given */
	} opt[FORM_NWORDS];
};

/* allowed: bit 1 << form_word. Errors are those of spec s, columns in text. */
int form_scan(const struct vspec *s, const char *text, unsigned allowed, struct form *out, struct err *e);
/* Refuse words outside of `allowed`: `"mask" does not belong to <what>`. */
int form_only(const struct vspec *s, const struct form *f, unsigned allowed, const char *what, struct err *e);
/* Parse a part of the text by spec part (the part is named in errors, columns are those of the text). */
int form_value(const struct form *f, const struct vspec *part, size_t at, size_t len, void *out, struct err *e);
/* The value of a word as a number of at least 1; unchanged where it is not given. */
int form_number(const struct form *f, enum form_word w, uint64_t max, uint64_t *out, struct err *e);
/* Where ".." stands in the values, SIZE_MAX: nowhere. */
size_t form_dots(const struct form *f);
/* Next item of a comma list in [*at, end): its place without blanks around it. False at the end. */
bool form_item(const struct form *f, size_t *at, size_t *item, size_t *len);
/* Offer the words of the form that could stand at the end of prefix; allowed depends on what precedes: words for a range, for random values,
 * for a single value. */
void form_complete(const char *prefix, unsigned range, unsigned random, unsigned single, void (*offer)(void *, const char *), void *arg);
