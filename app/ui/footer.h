/* SPDX-License-Identifier: BSD-3-Clause */
/* The footer is the screen's lowest row: keys and what they do. This decides which of them have
 * room, and where they stand. */
#pragma once
#include "keys_help.h"
#include "page.h"

#define FOOTER_ITEMS 32

struct footer_item {
	char key[24];
	const char *text;
	const struct page *page; /* the page that the key shows; NULL: it does something else */
};

struct footer {
	struct footer_item item[FOOTER_ITEMS];
	int at[FOOTER_ITEMS]; /* column, -1: no room */
	unsigned n;
	bool tight; /* no blank between a key and what it does */
};

/* Makes a footer of the keys of the list that have a brief text. With `with_pages` the names of
 * pages stand before them; then, where `cols` columns are too few for all, the first key of the
 * list (start) is kept rather than pages, and pages are kept rather than the other keys. */
void footer_make(struct footer *, const struct key_help *, bool with_pages, int cols);
