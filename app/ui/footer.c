/* SPDX-License-Identifier: BSD-3-Clause */
#include "footer.h"

#include <stdio.h>
#include <string.h>

#define PAGE_KEYS 10 /* 1 to 9, and 0 */

static struct footer_item *footer_add(struct footer *f, const char *key, const char *text)
{
	struct footer_item *it = &f->item[f->n];

	if (f->n < FOOTER_ITEMS) {
		f->n++;
		snprintf(it->key, sizeof(it->key), "%s", key);
		it->text = text;
	}
	return it;
}

/* Places the items. Returns true when all items whose rank is at most `most` have room. */
static bool footer_place(struct footer *f, const int *rank, int most, int cols)
{
	int width[FOOTER_ITEMS];

	for (unsigned i = 0; i < f->n; i++)
		width[i] = (int)(strlen(f->item[i].key) + strlen(f->item[i].text)) + !f->tight;
	page_fit(width, rank, f->n, f->tight ? 1 : 2, cols, f->at);
	for (unsigned i = 0; i < f->n; i++)
		if (f->at[i] < 0 && rank[i] <= most)
			return false;
	return true;
}

void footer_make(struct footer *f, const struct key_help *list, bool with_pages, int cols)
{
	int rank[FOOTER_ITEMS];

	*f = (struct footer){0};
	for (unsigned i = 0; with_pages && i < PAGE_KEYS && pages[i] != NULL; i++) {
		const char key[] = {(char)('0' + (i + 1) % PAGE_KEYS), '\0'};
		rank[f->n] = 2 + (int)i;
		footer_add(f, key, pages[i]->name)->page = pages[i];
	}
	unsigned npages = f->n;
	for (; list->key != NULL && f->n < FOOTER_ITEMS; list++) {
		if (list->brief == NULL)
			continue;
		rank[f->n] = f->n == npages && with_pages ? 1 : 2 + PAGE_KEYS + (int)f->n;
		footer_add(f, list->key, list->brief);
	}
	if (!footer_place(f, rank, 1 + PAGE_KEYS, cols)) {
		f->tight = with_pages;
		footer_place(f, rank, 1 + PAGE_KEYS, cols);
	}
}
