/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives the bytes of a file in order. Memory grows only with bytes that have come. */
#include "pcapio_source.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_BYTES (256u << 10)
#define PACKED_BYTES (64u << 10)
#define GZIP_BITS (15 + 16) /* the largest window, and gzip's header alone */

/* Reads plain bytes. Returns how many; 0: no more come. */
static size_t source_read(struct source *s, uint8_t *buf, size_t n)
{
	ssize_t got = s->read(s->arg, buf, n);

	if (got < 0)
		s->rc = (int)got;
	return got > 0 ? (size_t)got : 0;
}

/* Unpacks some bytes. A packed file may have several members, one behind the other. Returns how
 * many bytes; 0: no more come. */
static size_t source_unpack(struct source *s, uint8_t *buf, size_t n)
{
	uInt room = n < FIRST_BYTES ? (uInt)n : FIRST_BYTES;

	s->z.next_out = buf;
	s->z.avail_out = room;
	while (s->z.avail_out == room) {
		if (s->z.avail_in == 0) {
			s->z.next_in = s->zbuf;
			s->z.avail_in = (uInt)source_read(s, s->zbuf, PACKED_BYTES);
		}
		if (s->z.avail_in == 0) {
			s->cut = s->in_member;
			return 0;
		}
		s->in_member = true;
		int rc = inflate(&s->z, Z_NO_FLUSH);
		if (rc == Z_STREAM_END) {
			s->in_member = false;
			inflateReset(&s->z);
		} else if (rc != Z_OK && rc != Z_BUF_ERROR) {
			s->rc = rc == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
			break;
		}
	}
	return room - s->z.avail_out;
}

/* Makes room for more bytes behind those that are there. */
static void source_grow(struct source *s)
{
	size_t have = s->to - s->from;

	if (s->from > 0) {
		memmove(s->buf, s->buf + s->from, have);
	} else {
		s->cap = s->cap > 0 ? 2 * s->cap : FIRST_BYTES;
		s->buf = xrealloc(s->buf, s->cap);
	}
	s->from = 0;
	s->to = have;
}

size_t source_want(struct source *s, size_t n)
{
	while (s->to - s->from < n && !s->ended) {
		if (s->to == s->cap)
			source_grow(s);
		uint8_t *p = s->buf + s->to;
		size_t room = s->cap - s->to,
		       got = s->packed ? source_unpack(s, p, room) : source_read(s, p, room);
		s->to += got;
		s->ended = got == 0 || s->rc != 0;
	}
	return s->to - s->from;
}

void source_init(struct source *s, pcapio_read_fn read, void *arg)
{
	*s = (struct source){.read = read, .arg = arg};
	size_t have = source_want(s, 2);

	if (have < 2 || s->buf[0] != 0x1f || s->buf[1] != 0x8b)
		return;
	/* What was read is packed. Unpacking begins with it. */
	s->zbuf = xcalloc(1, FIRST_BYTES > PACKED_BYTES ? FIRST_BYTES : PACKED_BYTES);
	memcpy(s->zbuf, s->buf, s->to);
	s->z.next_in = s->zbuf;
	s->z.avail_in = (uInt)s->to;
	s->to = 0;
	s->packed = true;
	s->ended = inflateInit2(&s->z, GZIP_BITS) != Z_OK;
	s->rc = s->ended ? -ENOMEM : s->rc;
}

void source_free(struct source *s)
{
	if (s->packed)
		inflateEnd(&s->z);
	free(s->zbuf);
	free(s->buf);
}
