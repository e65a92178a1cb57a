/* SPDX-License-Identifier: BSD-3-Clause */
/* The token of clients over TCP: text in a file that its owner alone reads. */
#pragma once
#include "base.h"

#define TOKEN_MAX 512 /* bytes */
#define TOKEN_MIN 16

struct token {
	char text[TOKEN_MAX + 1]; /* zeros behind it */
	size_t len;
};

/* make: where there is no such file, a random one is written. 0, or -errno with *e. */
int token_read(const char *path, bool make, struct token *out, struct err *e);
/* In a time that does not depend on what is given, but for its length. */
bool token_is(const struct token *, const char *given);
