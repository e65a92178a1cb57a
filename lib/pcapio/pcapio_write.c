/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes blocks of pcapng and records of pcap into memory. Sections are those of
 * draft-ietf-opsawg-pcapng. */
#include "pcapio.h"

#include <errno.h>

#include "pcapio_format.h"
#include "visible.h"

/* Where a block is written. rc keeps the first error, and then nothing more is written. */
struct writer {
	uint8_t *buf;
	size_t size, len;
	int rc;
};

/* Makes room for n bytes and returns it; NULL: there is none. */
static uint8_t *writer_room(struct writer *w, size_t n)
{
	uint8_t *p = w->buf + w->len;

	if (w->rc == 0 && n > w->size - w->len)
		w->rc = -ENOSPC;
	if (w->rc != 0)
		return NULL;
	w->len += n;
	return p;
}

static void put_word(struct writer *w, uint32_t v)
{
	uint8_t *p = writer_room(w, sizeof(v));

	if (p != NULL)
		pcapio_put_word(p, v);
}

static void put_halves(struct writer *w, uint16_t a, uint16_t b)
{
	put_word(w, pcapio_option_word(a, b));
}

/* A time, or a part of it: the high word goes first whatever the order of the machine is (4.3). */
static void put_stamp(struct writer *w, uint64_t stamp)
{
	put_word(w, (uint32_t)(stamp >> 32));
	put_word(w, (uint32_t)stamp);
}

/* Bytes, and zeros up to a multiple of 4 (3.6.2). */
static void put_padded(struct writer *w, const void *bytes, size_t n)
{
	size_t padded = pcapio_padded(n);
	uint8_t *p = writer_room(w, padded);

	if (p == NULL || n == 0)
		return;
	memset(p + padded - 4, 0, 4);
	memcpy(p, bytes, n);
}

/* An option (3.5) of a few bytes. */
static void put_option(struct writer *w, uint16_t code, const void *value, uint16_t n)
{
	put_halves(w, code, n);
	put_padded(w, value, n);
}

/* A text, which may be NULL, behind `lead` bytes of 0. The format wants UTF-8 alone (3.6.3), and
 * names of files and devices may be anything. */
static void put_text_behind(struct writer *w, uint16_t code, size_t lead, const char *text)
{
	size_t n = text != NULL ? strlen(text) : 0, len;
	uint32_t ch;

	if (text == NULL)
		return;
	if (w->rc == 0 && n > PCAPIO_MAX_TEXT - lead)
		w->rc = -EINVAL;
	put_halves(w, code, (uint16_t)(lead + n));
	uint8_t *p = writer_room(w, pcapio_padded(lead + n));
	if (p == NULL || lead + n == 0)
		return;
	memset(p, 0, lead);
	memset(p + lead + n, 0, pcapio_padded(lead + n) - lead - n);
	for (size_t i = 0; i < n; i += len) {
		len = visible_character(text + i, n - i, &ch);
		if (len > 0)
			memcpy(p + lead + i, text + i, len);
		else
			p[lead + i] = '?';
		len = len > 0 ? len : 1;
	}
}

static void put_text(struct writer *w, uint16_t code, const char *text)
{
	put_text_behind(w, code, 0, text);
}

static void put_comments(struct writer *w, const char *const *comments, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put_text(w, OPT_COMMENT, comments[i]);
}

/* Begins a block (3.1); its length comes at its end. */
static struct writer begin_block(uint8_t *buf, size_t size, uint32_t type)
{
	struct writer w = {.buf = buf, .size = size};

	put_word(&w, type);
	put_word(&w, 0);
	return w;
}

/* Ends a block whose options, if it has any, begin at `options`. */
static ssize_t end_block(struct writer *w, size_t options)
{
	if (w->len > options)
		put_halves(w, OPT_END, 0);
	size_t len = w->len + 4;
	if (w->rc == 0 && len > PCAPIO_MAX_BLOCK)
		w->rc = -EINVAL;
	put_word(w, (uint32_t)len);
	if (w->rc != 0)
		return w->rc;
	pcapio_put_word(w->buf + 4, (uint32_t)len);
	return (ssize_t)len;
}

ssize_t pcapio_put_section(uint8_t *buf, size_t size, const struct pcapio_section *s)
{
	struct writer w = begin_block(buf, size, BLOCK_SECTION);

	put_word(&w, SECTION_MAGIC);
	put_halves(&w, 1, 0); /* version 1.0 */
	/* A length of -1: nobody knows how many blocks will follow. */
	put_word(&w, UINT32_MAX);
	put_word(&w, UINT32_MAX);
	size_t options = w.len;
	put_text(&w, SHB_HARDWARE, s->hardware);
	put_text(&w, SHB_OS, s->os);
	put_text(&w, SHB_USERAPPL, s->application);
	put_comments(&w, s->comments, s->ncomments);
	return end_block(&w, options);
}

ssize_t pcapio_put_interface(uint8_t *buf, size_t size, const struct pcapio_interface *i)
{
	static const uint8_t ns = 9; /* stamps count 10^-9 s */
	struct writer w = begin_block(buf, size, BLOCK_INTERFACE);

	put_halves(&w, i->link_type, 0);
	put_word(&w, i->snaplen);
	size_t options = w.len;
	put_text(&w, IF_NAME, i->name);
	put_text(&w, IF_DESCRIPTION, i->description);
	if (i->has_mac)
		put_option(&w, IF_MACADDR, i->mac, sizeof(i->mac));
	if (i->speed_bps != 0)
		put_option(&w, IF_SPEED, &i->speed_bps, sizeof(i->speed_bps));
	put_option(&w, IF_TSRESOL, &ns, sizeof(ns));
	put_text_behind(&w, IF_FILTER, 1, i->filter); /* kind 0: libpcap's language */
	put_comments(&w, i->comments, i->ncomments);
	return end_block(&w, options);
}

ssize_t pcapio_put_record(uint8_t *buf, size_t size, const struct pcapio_record *r)
{
	struct writer w = begin_block(buf, size, BLOCK_PACKET);

	if (r->caplen > r->origlen || r->caplen > PCAPIO_MAX_BLOCK)
		return -EINVAL;
	put_word(&w, r->interface);
	put_stamp(&w, r->ns);
	put_word(&w, r->caplen);
	put_word(&w, r->origlen);
	put_padded(&w, r->frame, r->caplen);
	size_t options = w.len;
	if (r->flags != 0)
		put_option(&w, EPB_FLAGS, &r->flags, sizeof(r->flags));
	if (r->has_id)
		put_option(&w, EPB_PACKETID, &r->id, sizeof(r->id));
	if (r->has_queue)
		put_option(&w, EPB_QUEUE, &r->queue, sizeof(r->queue));
	put_comments(&w, r->comments, r->ncomments);
	return end_block(&w, options);
}

ssize_t pcapio_put_stats(uint8_t *buf, size_t size, const struct pcapio_stats *s)
{
	struct writer w = begin_block(buf, size, BLOCK_STATS);

	put_word(&w, s->interface);
	put_stamp(&w, s->ns);
	size_t options = w.len;
	for (unsigned i = PCAPIO_START; i < PCAPIO_NSTATS; i++) {
		if ((s->has & 1u << i) == 0)
			continue;
		if (i > PCAPIO_END) {
			put_option(&w, (uint16_t)i, &s->value[i], sizeof(s->value[i]));
			continue;
		}
		put_halves(&w, (uint16_t)i, 8);
		put_stamp(&w, s->value[i]);
	}
	put_comments(&w, s->comments, s->ncomments);
	return end_block(&w, options);
}

void pcapio_epb_record(const uint8_t *block, struct pcapio_record *r)
{
	*r = (struct pcapio_record){
		.interface = pcapio_epb_interface(block),
		.timed = true,
		.has_queue = true,
		.ns = pcapio_epb_stamp(block),
		.frame = pcapio_epb_frame(block),
		.caplen = pcapio_epb_caplen(block),
		.origlen = pcapio_epb_origlen(block),
		.flags = pcapio_epb_flags(block),
		.queue = pcapio_epb_queue(block),
	};
}

ssize_t pcapio_put_pcap_head(uint8_t *buf, size_t size, uint16_t link_type, uint32_t snaplen)
{
	struct writer w = {.buf = buf, .size = size};

	put_word(&w, PCAP_NS);
	put_halves(&w, PCAP_MAJOR, PCAP_MINOR);
	put_word(&w, 0);
	put_word(&w, 0);
	/* 0 is not allowed here. Programs take this for the longest frame that may come. */
	put_word(&w, snaplen != 0 ? snaplen : FRAME_MAX);
	put_word(&w, link_type);
	return w.rc != 0 ? w.rc : (ssize_t)w.len;
}

ssize_t pcapio_put_pcap_record(uint8_t *buf, size_t size, const struct pcapio_record *r)
{
	struct writer w = {.buf = buf, .size = size};

	if (r->caplen > r->origlen || r->caplen > PCAPIO_MAX_BLOCK - PCAPIO_PCAP_RECORD ||
	    r->ns / NS_PER_S > UINT32_MAX)
		return -EINVAL;
	put_word(&w, (uint32_t)(r->ns / NS_PER_S));
	put_word(&w, (uint32_t)(r->ns % NS_PER_S));
	put_word(&w, r->caplen);
	put_word(&w, r->origlen);
	uint8_t *p = writer_room(&w, r->caplen);
	if (p != NULL && r->caplen > 0)
		memcpy(p, r->frame, r->caplen);
	return w.rc != 0 ? w.rc : (ssize_t)w.len;
}
