/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds rows by their exact names with a hash table, since a file that is loaded asks for names
 * thousands of times. */
#include "cmd_impl.h"

#include <stdlib.h>
#include <string.h>

/* Gives the next word of a name and moves *p behind it; false at the end of the name. Any number of
 * blanks may stand between words. */
static bool word_next(const char **p, const char *end, const char **word, size_t *n)
{
	while (*p < end && **p == ' ')
		(*p)++;
	if (*p == end)
		return false;
	const char *stop = memchr(*p, ' ', (size_t)(end - *p));
	*word = *p;
	*n = (size_t)((stop != NULL ? stop : end) - *p);
	*p += *n;
	return true;
}

void names_add(struct names *t, const char *list, bool alias, unsigned row)
{
	const char *name, *word;
	size_t len, n;

	while (name_next(&list, &name, &len)) {
		struct name e = {
			.text = name, .len = len, .row = row, .alias = alias, .hash = FNV_BASIS};
		const char *p = name, *end = name + len;
		while (word_next(&p, end, &word, &n)) {
			e.hash = fnv1a(fnv1a(e.hash, word, n), " ", 1);
			e.words++;
		}
		if (t->n == t->cap) {
			t->cap = t->cap ? t->cap * 2 : 64;
			t->e = xrealloc(t->e, t->cap * sizeof(*t->e));
		}
		t->e[t->n++] = e;
		if (e.words > t->max_words)
			t->max_words = e.words;
	}
}

void names_index(struct names *t)
{
	t->mask = 63;
	while (t->mask < 2 * t->n)
		t->mask = t->mask * 2 + 1;
	t->head = xcalloc(t->mask + 1, sizeof(*t->head));
	/* the last name is added first, so that each chain is in the order of the table */
	for (unsigned i = t->n; i-- > 0;) {
		unsigned *head = &t->head[t->e[i].hash & t->mask];
		t->e[i].next = *head;
		*head = i + 1;
	}
}

void names_free(struct names *t)
{
	free(t->e);
	free(t->head);
	*t = (struct names){0};
}

static bool same_words(const struct name *e, const struct cmd_word *w, unsigned k)
{
	const char *p = e->text, *end = e->text + e->len, *word;
	size_t n;

	for (unsigned i = 0; i < k; i++)
		if (!word_next(&p, end, &word, &n) || strncmp(w[i].text, word, n) != 0 ||
		    w[i].text[n] != '\0')
			return false;
	return true;
}

static const struct name *names_chain(const struct names *t, unsigned at, uint64_t hash,
				      const struct cmd_word *w, unsigned k)
{
	for (; at != 0; at = t->e[at - 1].next) {
		const struct name *e = &t->e[at - 1];
		if (e->hash == hash && e->words == k && same_words(e, w, k))
			return e;
	}
	return NULL;
}

const struct name *names_find(const struct names *t, const struct cmd_word *w, unsigned k)
{
	uint64_t h = FNV_BASIS;

	if (t->head == NULL || k > t->max_words)
		return NULL;
	for (unsigned i = 0; i < k; i++)
		h = fnv1a(fnv1a(h, w[i].text, strlen(w[i].text)), " ", 1);
	return names_chain(t, t->head[h & t->mask], h, w, k);
}

const struct name *names_more(const struct names *t, const struct name *e, const struct cmd_word *w)
{
	return names_chain(t, e->next, e->hash, w, e->words);
}
