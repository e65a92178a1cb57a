/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens capture files, and reads those of pcap (draft-ietf-opsawg-pcap). */
#include "pcapio_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "pcapio_int.h"
#include "userfile.h"

/* Bits of pcap's link type that mean nothing (section 4, R and Reserved3). */
#define LINK_RESERVED 0x0bff0000u

/* Ends reading with what *text says, and frees it. */
static int reader_fail(struct pcapio_reader *r, int code, struct sbuf *text)
{
	r->rc = err_set(&r->err, code, "%s", text->s);
	sbuf_free(text);
	return r->rc;
}

/* How much of a file can be had that is at fault, for the end of an error. */
static void add_rest(const struct pcapio_reader *r, struct sbuf *out)
{
	if (r->frames == 0)
		sbuf_add(out, "; it has no frame before that");
	else if (r->frames == 1)
		sbuf_add(out, "; the frame before that is whole");
	else
		sbuf_addf(out, "; the %" PRIu64 " frames before that are whole", r->frames);
}

static void add_where(const struct pcapio_reader *r, struct sbuf *out)
{
	sbuf_addf(out, "cannot read '%.400s' from byte %" PRIu64 "%s on: ", r->name, r->src.offset,
		  r->src.packed ? " (unpacked)" : "");
}

/* Ends reading at the next byte, for the reason that fmt and ap make. advice: how people get what
 * is behind it. */
static int reader_ends(struct pcapio_reader *r, int code, const char *fmt, va_list ap,
		       const char *advice)
{
	struct sbuf out = {0};

	add_where(r, &out);
	sbuf_vaddf(&out, fmt, ap);
	add_rest(r, &out);
	sbuf_addf(&out, ", for the rest %s", advice);
	return reader_fail(r, code, &out);
}

int reader_damaged(struct pcapio_reader *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int rc = reader_ends(r, EBADMSG, fmt, ap, "find a copy that is not damaged");
	va_end(ap);
	return rc;
}

int reader_too_much(struct pcapio_reader *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int rc = reader_ends(r, EFBIG, fmt, ap, "take `editcap` to make a file without that");
	va_end(ap);
	return rc;
}

int reader_short(struct pcapio_reader *r, const char *what)
{
	struct sbuf out = {0};
	uint64_t end = r->src.offset + (r->src.to - r->src.from);
	const char *unpacked = r->src.packed ? " (unpacked)" : "";
	int code = r->src.rc != 0 ? -r->src.rc : ENODATA;

	if (code == ENODATA)
		sbuf_addf(&out,
			  "'%.400s' is cut off: it ends at byte %" PRIu64
			  "%s, in the middle of %s that begins at byte %" PRIu64,
			  r->name, end, unpacked, what, r->src.offset);
	else
		sbuf_addf(&out, "cannot read '%.400s' from byte %" PRIu64 "%s on: %s", r->name, end,
			  unpacked,
			  code == EBADMSG && r->src.packed ? "what gzip has packed is damaged"
							   : strerror(code));
	add_rest(r, &out);
	sbuf_add(&out, ", for the rest find a whole copy");
	return reader_fail(r, code, &out);
}

int reader_version(struct pcapio_reader *r, const char *format, unsigned major, unsigned minor)
{
	struct sbuf out = {0};

	add_where(r, &out);
	sbuf_addf(&out, "%s of version %u.%u is not read; `editcap` may write it anew", format,
		  major, minor);
	return reader_fail(r, ENOTSUP, &out);
}

struct reader_interface *reader_add_interface(struct pcapio_reader *r)
{
	if (r->ninterfaces == PCAPIO_MAX_INTERFACES)
		return NULL;
	if (r->ninterfaces == r->cap) {
		r->cap = 2 * r->cap + 1;
		r->interfaces = xrealloc(r->interfaces, r->cap * sizeof(*r->interfaces));
	}
	struct reader_interface *i = &r->interfaces[r->ninterfaces++];
	*i = (struct reader_interface){.exponent = 6,
				       .texts.sum = &r->held,
				       .stats_texts.sum = &r->held};
	return i;
}

/* The header of a pcap file (section 4). */
static int read_pcap_head(struct pcapio_reader *r)
{
	if (source_want(&r->src, PCAPIO_PCAP_HEAD) < PCAPIO_PCAP_HEAD)
		return reader_short(r, "the file's header");
	const uint8_t *p = source_at(&r->src);
	unsigned major = reader_half(r, p + 4), minor = reader_half(r, p + 6);
	uint32_t link = reader_word(r, p + 20);
	if (major != PCAP_MAJOR || minor != PCAP_MINOR)
		return reader_version(r, "pcap", major, minor);
	if ((link & LINK_RESERVED) != 0)
		return reader_damaged(r, "its link type is 0x%" PRIx32 ", with bits that must be 0",
				      link);
	struct reader_interface *i = reader_add_interface(r);
	i->known.link_type = (uint16_t)link;
	i->known.snaplen = reader_word(r, p + 16);
	source_use(&r->src, PCAPIO_PCAP_HEAD);
	return 0;
}

/* A record of pcap (section 5). 1, or 0 at the file's end with r->rc = 1, or an error. */
static int read_pcap_record(struct pcapio_reader *r, struct pcapio_record *rec)
{
	const struct pcapio_interface *i = &r->interfaces[0].known;
	size_t have = source_want(&r->src, PCAPIO_PCAP_RECORD);

	if (have == 0 && r->src.rc == 0 && !r->src.cut) {
		r->rc = 1;
		return 0;
	}
	if (have < PCAPIO_PCAP_RECORD)
		return reader_short(r, "a record");
	uint32_t caplen = reader_word(r, source_at(&r->src) + 8);
	if (caplen > PCAPIO_MAX_BLOCK - PCAPIO_PCAP_RECORD || !reader_believes(i, caplen))
		return reader_damaged(r,
				      "a record says that it has %" PRIu32 " bytes of a frame, "
				      "and frames are cut to %" PRIu32,
				      caplen, i->snaplen);
	if (source_want(&r->src, PCAPIO_PCAP_RECORD + caplen) < PCAPIO_PCAP_RECORD + caplen)
		return reader_short(r, "a record");
	const uint8_t *p = source_at(&r->src);
	uint32_t origlen = reader_word(r, p + 12);
	*rec = (struct pcapio_record){
		.link_type = i->link_type,
		.timed = true,
		.ns = reader_word(r, p) * (uint64_t)NS_PER_S +
		      reader_word(r, p + 4) * (r->us ? 1000ull : 1ull),
		.frame = p + PCAPIO_PCAP_RECORD,
		.caplen = caplen,
		.origlen = origlen > caplen ? origlen : caplen,
		.offset = r->src.offset,
	};
	source_use(&r->src, PCAPIO_PCAP_RECORD + caplen);
	return 1;
}

/* Finds out by its first word what the file is, and reads its header. */
static int reader_begin(struct pcapio_reader *r)
{
	size_t have = source_want(&r->src, 4);
	const uint8_t *p = source_at(&r->src);
	struct sbuf out = {0};
	uint32_t magic = have < 4 ? 0 : pcapio_word(p);

	if (have < 4 && (r->src.rc != 0 || r->src.cut))
		return reader_short(r, "the file's header");
	if (magic == BLOCK_SECTION) {
		struct pcapio_record unused;
		r->ng = true;
		return reader_ng_block(r, &unused);
	}
	r->swap = magic == __builtin_bswap32(PCAP_US) || magic == __builtin_bswap32(PCAP_NS);
	magic = r->swap ? __builtin_bswap32(magic) : magic;
	r->us = magic == PCAP_US;
	if (magic == PCAP_US || magic == PCAP_NS)
		return read_pcap_head(r);
	if (have == 0)
		sbuf_addf(&out, "'%.400s' is no capture file: it is empty", r->name);
	else
		sbuf_addf(&out, "'%.400s' is no capture file: it begins with", r->name);
	for (size_t i = 0; i < have && i < 4; i++)
		sbuf_addf(&out, " %02x", p[i]);
	sbuf_add(&out, "; files of pcap and pcapng are read, also packed by gzip");
	return reader_fail(r, EBADMSG, &out);
}

static ssize_t reader_read_fd(void *arg, void *buf, size_t n)
{
	const struct pcapio_reader *r = arg;
	ssize_t got;

	do
		got = read(r->fd, buf, n);
	while (got < 0 && errno == EINTR);
	return got >= 0 ? got : -errno;
}

static struct pcapio_reader *reader_new(const char *name, int fd)
{
	struct pcapio_reader *r = xcalloc(1, sizeof(*r));

	r->fd = fd;
	r->name = xstrdup(name);
	r->section_texts.sum = &r->held;
	return r;
}

static int reader_start(struct pcapio_reader *r, pcapio_read_fn read_fn, void *arg,
			struct pcapio_reader **out, struct err *e)
{
	source_init(&r->src, read_fn, arg);
	int rc = reader_begin(r);
	if (rc == 0) {
		*out = r;
		return 0;
	}
	err_set(e, -rc, "%s", r->err.text);
	pcapio_close(r);
	return rc;
}

int pcapio_open(const char *path, struct pcapio_reader **out, struct err *e)
{
	const char *why;
	int fd = userfile_open(path, O_RDONLY, 0, &why);

	if (fd < 0)
		return err_set(e, -fd, "cannot read '%.400s': %s", path, why);
	struct pcapio_reader *r = reader_new(path, fd);
	return reader_start(r, reader_read_fd, r, out, e);
}

int pcapio_open_by(pcapio_read_fn read_fn, void *arg, const char *name, struct pcapio_reader **out,
		   struct err *e)
{
	return reader_start(reader_new(name, -1), read_fn, arg, out, e);
}

int pcapio_next(struct pcapio_reader *r, struct pcapio_record *rec, struct err *e)
{
	int rc = 0;

	while (r->rc == 0 && rc == 0)
		rc = r->ng ? reader_ng_block(r, rec) : read_pcap_record(r, rec);
	if (rc == 1) {
		r->frames++;
		return 1;
	}
	if (r->rc == 1)
		return 0;
	return err_set(e, -r->rc, "%s", r->err.text);
}

void pcapio_close(struct pcapio_reader *r)
{
	if (r == NULL)
		return;
	for (unsigned i = 0; i < r->ninterfaces; i++) {
		texts_free(&r->interfaces[i].texts);
		texts_free(&r->interfaces[i].stats_texts);
	}
	texts_free(&r->section_texts);
	texts_free(&r->comments);
	source_free(&r->src);
	if (r->fd >= 0)
		close(r->fd);
	free(r->interfaces);
	free(r->name);
	free(r);
}

const struct pcapio_section *pcapio_reader_section(const struct pcapio_reader *r)
{
	return &r->section;
}

unsigned pcapio_reader_interfaces(const struct pcapio_reader *r)
{
	return r->ninterfaces;
}

const struct pcapio_interface *pcapio_reader_interface(const struct pcapio_reader *r, unsigned i)
{
	return &r->interfaces[i].known;
}

const struct pcapio_stats *pcapio_reader_stats(const struct pcapio_reader *r, unsigned i)
{
	return r->interfaces[i].has_stats ? &r->interfaces[i].stats : NULL;
}
