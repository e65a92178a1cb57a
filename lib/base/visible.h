/* SPDX-License-Identifier: BSD-3-Clause */
/* Text for a terminal. Names of files, arguments, what a file holds and what a server sends may carry what a terminal obeys: it moves the cursor,
 * changes the title, answers as if somebody typed. Every byte that came from outside goes through here before a terminal gets it. */
#pragma once
#include <stdio.h>
#include "base.h"

/* Control characters (C0 but newline and tab, DEL, C1) and those that turn the direction of writing become \u001b, bytes that are no UTF-8 become
 * \x9b; everything else stays. What is inside the strings of a JSON document means the same as before. */
void visible_add(struct sbuf *out, const char *text, size_t n);
/* A message of the program: as fprintf(), made visible, and written at once. 0 or -errno. */
int visible_print(FILE *f, const char *fmt, ...) WR_PRINTF(2, 3);
