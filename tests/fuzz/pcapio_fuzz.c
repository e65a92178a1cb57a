/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads arbitrary bytes as a capture file. What is read must not depend on the pieces in which they
 * come, lie in memory that may be read, and be the same once more when it is written and read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "pcapio_read.h"

#define BLOCK (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file in memory, which comes in pieces. */
struct memory {
	const uint8_t *at, *end;
	size_t step;
};

/* What was read, and what of it was written anew. */
struct seen {
	uint64_t hash, frames;
	int rc;
	uint8_t *out;
	size_t len, cap;
	unsigned interfaces;
	bool whole; /* all of it was written */
};

static ssize_t memory_read(void *arg, void *buf, size_t n)
{
	struct memory *m = arg;
	size_t have = (size_t)(m->end - m->at);

	CHECK(n > 0);
	n = n > m->step ? m->step : n;
	n = n > have ? have : n;
	memcpy(buf, m->at, n);
	m->at += n;
	return (ssize_t)n;
}

static void add(struct seen *s, const uint8_t *block, ssize_t n)
{
	CHECK(n > 0 || n == -ENOSPC);
	if (n < 0) {
		s->whole = false;
		return;
	}
	if ((size_t)n > s->cap - s->len) {
		s->cap = 2 * s->cap + (size_t)n;
		s->out = realloc(s->out, s->cap);
	}
	memcpy(s->out + s->len, block, (size_t)n);
	s->len += (size_t)n;
}

static uint64_t hash_comments(uint64_t h, const char *const *comments, unsigned n)
{
	h = fnv1a_number(h, n);
	/* Bytes that are no text become others, but not more or fewer. */
	for (unsigned i = 0; i < n; i++)
		h = fnv1a_number(h, strlen(comments[i]));
	return h;
}

static uint64_t hash_record(uint64_t h, const struct pcapio_record *r)
{
	const uint64_t numbers[] = {r->interface, r->link_type, r->ns, r->caplen,    r->origlen,
				    r->flags,     r->queue,     r->id, r->has_queue, r->has_id};

	h = fnv1a(h, numbers, sizeof(numbers));
	h = fnv1a(h, r->frame, r->caplen);
	return hash_comments(h, r->comments, r->ncomments);
}

static void see_record(struct seen *s, const struct pcapio_reader *r,
		       const struct pcapio_record *rec, uint8_t *block)
{
	CHECK(rec->caplen <= rec->origlen && rec->caplen <= PCAPIO_MAX_BLOCK);
	CHECK(rec->interface < pcapio_reader_interfaces(r));
	CHECK(rec->timed || rec->ns == 0);
	s->frames++;
	s->hash = hash_record(s->hash, rec);
	for (; block != NULL && s->interfaces < pcapio_reader_interfaces(r); s->interfaces++)
		add(s, block,
		    pcapio_put_interface(block, BLOCK, pcapio_reader_interface(r, s->interfaces)));
	if (block != NULL)
		add(s, block, pcapio_put_record(block, BLOCK, rec));
}

static void see_rest(struct seen *s, const struct pcapio_reader *r)
{
	const struct pcapio_section *sec = pcapio_reader_section(r);

	s->hash = hash_comments(s->hash, sec->comments, sec->ncomments);
	for (unsigned i = 0; i < pcapio_reader_interfaces(r); i++) {
		const struct pcapio_interface *f = pcapio_reader_interface(r, i);
		const struct pcapio_stats *stats = pcapio_reader_stats(r, i);
		const char *const text[] = {f->name, f->description, f->filter};
		for (unsigned k = 0; k < ARRAY_SIZE(text); k++)
			s->hash = fnv1a_number(s->hash, text[k] != NULL ? strlen(text[k]) : 0);
		s->hash = hash_comments(s->hash, f->comments, f->ncomments);
		s->hash = fnv1a_number(s->hash, f->snaplen ^ f->speed_bps);
		if (stats == NULL)
			continue;
		CHECK(stats->interface == i);
		s->hash = fnv1a(s->hash, stats->value, sizeof(stats->value));
		s->hash = hash_comments(s->hash, stats->comments, stats->ncomments);
	}
}

/* Reads a file. block: room to write it anew, or NULL. */
static struct seen see(const uint8_t *data, size_t size, size_t step, uint8_t *block)
{
	struct seen s = {.hash = FNV_BASIS, .whole = true};
	struct memory m = {data, data + size, step};
	struct pcapio_reader *r;
	struct pcapio_record rec;
	struct err e = {0};

	if (block != NULL)
		add(&s, block, pcapio_put_section(block, BLOCK, &(struct pcapio_section){0}));
	s.rc = pcapio_open_by(memory_read, &m, "x", &r, &e);
	if (s.rc == 0) {
		while ((s.rc = pcapio_next(r, &rec, &e)) == 1)
			see_record(&s, r, &rec, block);
		CHECK(pcapio_next(r, &rec, NULL) == s.rc);
		see_rest(&s, r);
		pcapio_close(r);
	}
	CHECK(s.rc == 0 || e.text[0] != '\0');
	CHECK(s.rc == 0 || s.rc == -EBADMSG || s.rc == -ENODATA || s.rc == -ENOTSUP ||
	      s.rc == -EFBIG);
	return s;
}

/* The hash of the frames alone. */
static uint64_t frames_of(const uint8_t *data, size_t size, int *end)
{
	struct memory m = {data, data + size, SIZE_MAX};
	uint64_t h = FNV_BASIS;
	struct pcapio_reader *r;
	struct pcapio_record rec;

	*end = pcapio_open_by(memory_read, &m, "x", &r, NULL);
	if (*end != 0)
		return h;
	while ((*end = pcapio_next(r, &rec, NULL)) == 1)
		h = hash_record(h, &rec);
	pcapio_close(r);
	return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t block[BLOCK];
	size_t step = size > 0 ? data[size - 1] % 32 + 1 : 1;
	struct seen one = see(data, size, SIZE_MAX, block), other = see(data, size, step, NULL);
	int end;

	CHECK(one.rc == other.rc && one.frames == other.frames && one.hash == other.hash);
	if (one.whole && one.frames > 0) {
		uint64_t first = frames_of(data, size, &end),
			 again = frames_of(one.out, one.len, &end);
		CHECK(end == 0 && first == again);
	}
	free(one.out);
	return 0;
}
