/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a file, unpacked if it is packed by gzip, for pcapio_read.c and pcapio_ng.c. */
#pragma once
#include <zlib.h>
#include "pcapio_read.h"

struct source {
	pcapio_read_fn read;
	void *arg;
	/* buf[from .. to) is there and not yet used. Its first byte has the number `offset` in the
	 * unpacked file. */
	uint8_t *buf;
	size_t cap, from, to;
	uint64_t offset;
	bool ended; /* no more bytes come */
	bool cut;   /* and packed ones are missing */
	int rc;     /* why it ended: -errno of reading, -EBADMSG: what is packed is damaged */
	/* Only of a packed file. */
	bool packed, in_member;
	z_stream z;
	uint8_t *zbuf;
};

/* Begins to read, and looks whether it is packed. */
void source_init(struct source *s, pcapio_read_fn read, void *arg);
void source_free(struct source *s);
/* Waits for n bytes. Returns how many are there, which is fewer only if no more come. */
size_t source_want(struct source *s, size_t n);
static inline const uint8_t *source_at(const struct source *s)
{
	return s->buf + s->from;
}
/* Uses n bytes that are there. They stay in place until the next source_want(). */
static inline void source_use(struct source *s, size_t n)
{
	s->from += n;
	s->offset += n;
}
