/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks: numbers for what buffers hold, kept in a hash table by content. A worker need not write an
 * image again into a buffer that is marked with it. */
#include <stdlib.h>
#include <string.h>

#include "send_groups.h"

#define CHAINS 4096

/* A mark and its content: what a buffer holds and what its mbuf says, without what is written anew
 * in each frame. */
struct mark_entry {
	struct mark_entry *next;
	uint32_t mark;
	unsigned refs;
	uint64_t hash;
	struct frun_class k; /* k.bytes: a copy of the image from byte k.from on */
	unsigned len;        /* of all frames of the frun; 0: written anew in each frame */
};

struct marks {
	struct mark_entry *chain[CHAINS];
	uint32_t last; /* the newest mark */
};

static uint64_t marks_mix(uint64_t h, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (; n >= 8; n -= 8, b += 8) {
		uint64_t w;
		memcpy(&w, b, 8);
		h = (h ^ w) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	h = fnv1a(h, b, n);
	return h ^ h >> 32;
}

/* Returns the length of the image from byte k->from on: frun_fill() writes the bytes before. */
static unsigned tail_len(const struct frun_class *k)
{
	return k->len > k->from ? (unsigned)(k->len - k->from) : 0;
}

static uint64_t flags_of(const struct frun_class *k)
{
	return (uint64_t)k->offload | (uint64_t)k->ip4 << 1 | (uint64_t)k->ip6 << 2 |
	       (uint64_t)k->udp << 3 | (uint64_t)k->tcp << 4 | (uint64_t)k->dst << 5;
}

static bool marks_same(const struct mark_entry *t, const struct frun_class *k, unsigned len)
{
	return t->len == len && t->k.len == k->len && t->k.from == k->from &&
	       flags_of(&t->k) == flags_of(k) && t->k.l2_len == k->l2_len &&
	       t->k.l3_len == k->l3_len && t->k.l4_len == k->l4_len &&
	       memcmp(t->k.bytes, k->bytes + k->from, tail_len(k)) == 0;
}

struct mark_entry *mark_take(struct ctl *c, const struct frun *f, const struct frun_class *k)
{
	uint64_t facts[] = {frun_len(f), k->len, k->from, flags_of(k),
			    (uint64_t)k->l2_len << 32 | (uint64_t)k->l3_len << 16 | k->l4_len};
	uint64_t hash =
		marks_mix(marks_mix(1, facts, sizeof(facts)), k->bytes + k->from, tail_len(k));

	if (send_ctl(c)->marks == NULL)
		send_ctl(c)->marks = xcalloc(1, sizeof(*send_ctl(c)->marks));
	struct mark_entry **at = &send_ctl(c)->marks->chain[hash % CHAINS];
	for (struct mark_entry *t = *at; t != NULL; t = t->next)
		if (t->hash == hash && marks_same(t, k, frun_len(f))) {
			t->refs++;
			return t;
		}
	struct mark_entry *t = xcalloc(1, sizeof(*t) + tail_len(k));
	*t = (struct mark_entry){.next = *at,
				 .mark = ++send_ctl(c)->marks->last,
				 .refs = 1,
				 .hash = hash,
				 .k = *k,
				 .len = frun_len(f)};
	memcpy(t + 1, k->bytes + k->from, tail_len(k));
	t->k.bytes = (const uint8_t *)(t + 1);
	*at = t;
	return t;
}

uint32_t mark_number(const struct mark_entry *t)
{
	return t->mark;
}

void mark_give(struct ctl *c, struct mark_entry *t)
{
	if (--t->refs > 0)
		return;
	struct mark_entry **at = &send_ctl(c)->marks->chain[t->hash % CHAINS];
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	free(t);
}

void marks_free(struct ctl *c)
{
	free(send_ctl(c)->marks);
	send_ctl(c)->marks = NULL;
}
