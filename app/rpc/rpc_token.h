/* SPDX-License-Identifier: BSD-3-Clause */
/* The token that clients over TCP must give: a text in a file that only its owner may read. */
#pragma once
#include "base.h"

#define TOKEN_MAX 512 /* bytes */
#define TOKEN_MIN 16

struct token {
	char text[TOKEN_MAX + 1]; /* the rest is zero */
	size_t len;
};

/* Reads the token from a file. make: if there is no such file, one with a random token is made.
 * Returns 0, or -errno with *e. */
int token_read(const char *path, bool make, struct token *out, struct err *e);
/* Says whether a text is the token. How long that takes does not tell which characters are right;
 * it may depend on the length of the text. */
bool token_is(const struct token *, const char *given);
