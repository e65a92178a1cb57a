/* SPDX-License-Identifier: BSD-3-Clause */
/* The line of keys: which of them have room, and where. */
#pragma once
#include "keys_help.h"
#include "page.h"

#define FOOTER_ITEMS 32

struct footer_item {
	char key[24];
	const char *text;
	const struct page *page; /* that the key shows, NULL: it does something else */
};

struct footer {
	struct footer_item item[FOOTER_ITEMS];
	int at[FOOTER_ITEMS]; /* column, -1: no room */
	unsigned n;
	bool tight;           /* no blank between a key and what it does */
};

/* Those of the list that have a brief text, behind the names of pages if with_pages. Where there is not room for all, starting comes before
 * pages, and these before the rest. */
void footer_make(struct footer *, const struct key_help *, bool with_pages, int cols);
