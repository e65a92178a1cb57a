/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/vary: the outer form that all texts of variations and sizes have, "[random|list]
 * VALUES [word value]...". */
#pragma once
#include "value.h"

enum form_word { FORM_STEP, FORM_FROM, FORM_REPEAT, FORM_SEED, FORM_MASK, FORM_NWORDS };

struct form {
	const char *text;
	bool random, list; /* the text begins with this word */
	size_t at, len;    /* where VALUES are in the text; len 0: none */
	struct {
		size_t word, at, len; /* where a word and its value are; len 0: not given */
	} opt[FORM_NWORDS];
};

/* Takes a text apart. allowed: a bit 1 << form_word for each word that may follow. Errors are those
 * of spec s, with columns in text. */
int form_scan(const struct vspec *s, const char *text, unsigned allowed, struct form *out,
	      struct err *e);
/* Refuses words that are not in `allowed`: `"mask" does not belong to <what>`. */
int form_only(const struct vspec *s, const struct form *f, unsigned allowed, const char *what,
	      struct err *e);
/* Parses a piece of the text with the type of `part`. Errors quote that piece; their columns are
 * those of the whole text. */
int form_value(const struct form *f, const struct vspec *part, size_t at, size_t len, void *out,
	       struct err *e);
/* The value of a word as a number from 1 to max. *out is unchanged if the word is not given. */
int form_number(const struct form *f, enum form_word w, uint64_t max, uint64_t *out, struct err *e);
/* Where ".." is in the values; SIZE_MAX: nowhere. */
size_t form_dots(const struct form *f);
/* Finds the next item of a comma list. *at is where it begins in the text: the caller sets it to
 * f->at before the first call, and each call moves it on. *item and *len become the place and the
 * length of the item without the blanks around it. Returns false at the end of the list. */
bool form_item(const struct form *f, size_t *at, size_t *item, size_t *len);
/* Offers the words that could stand at the end of prefix. Which ones depends on what is before:
 * `range`, `random` and `single` are the words (bits as in `allowed`) that may follow a range,
 * random values (or a mask), and a single value. */
void form_complete(const char *prefix, unsigned range, unsigned random, unsigned single,
		   void (*offer)(void *, const char *), void *arg);
