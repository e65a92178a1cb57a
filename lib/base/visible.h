/* SPDX-License-Identifier: BSD-3-Clause */
/* Text for a terminal. Names of files, arguments, the content of files and what a server sends may
 * hold characters that a terminal obeys: they move the cursor, change the title, or make it answer
 * as if somebody typed. All bytes that come from outside pass through here before a terminal gets
 * them. */
#pragma once
#include <stdio.h>
#include "base.h"

/* Appends text in a visible form. Control characters (C0 except newline and tab, DEL, C1) and those
 * that change the direction of writing become \u001b, bytes that are not UTF-8 become \x9b.
 * Everything else stays, and strings of a JSON document keep their meaning. */
void visible_add(struct sbuf *out, const char *text, size_t n);
/* The number of bytes of the UTF-8 character that begins at text (RFC 3629: no surrogates, no long
 * forms), and the character in *ch. It reads n > 0 bytes at most. 0: none begins there. */
size_t visible_character(const char *text, size_t n, uint32_t *ch);
/* Prints a message like fprintf(), in visible form, and flushes it. 0 or -errno. */
int visible_print(FILE *f, const char *fmt, ...) WR_PRINTF(2, 3);
