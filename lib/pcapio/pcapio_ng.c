/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the blocks of pcapng. Sections are those of draft-ietf-opsawg-pcapng. */
#include <errno.h>
#include <inttypes.h>

#include "pcapio_int.h"

#define BLOCK_LEAST 12u /* type, length, and the length again */
#define NO_TEXT SIZE_MAX

/* The bytes of each kind of block before its options or its frame. */
#define SECTION_HEAD 24u
#define INTERFACE_HEAD 16u
#define SIMPLE_HEAD 12u
#define STATS_HEAD 20u

/* A block that is there as a whole. */
struct block {
	uint32_t type, size;
	const uint8_t *at;
	const uint8_t *end; /* behind its content: the length at its end */
};

struct option {
	uint16_t code, len;
	const uint8_t *value;
};

/* Reads an option (3.5) at *at. 1: there is one; 0: there are no more; or an error. */
static int ng_option(struct pcapio_reader *r, const struct block *b, const uint8_t **at,
		     struct option *o)
{
	size_t room = (size_t)(b->end - *at);

	if (room == 0)
		return 0;
	/* Blocks and what is before their options are multiples of 4. */
	*o = (struct option){reader_half(r, *at), reader_half(r, *at + 2), *at + 4};
	if (o->code == OPT_END)
		return 0;
	if (pcapio_padded(o->len) > room - 4)
		return reader_damaged(r,
				      "option %u of a block of type 0x%" PRIx32
				      " says that it has %u bytes, and the block has %zu more",
				      o->code, b->type, o->len, room - 4);
	*at += 4 + pcapio_padded(o->len);
	return 1;
}

/* Refuses an option whose value must have a number of bytes and has not. */
static int ng_option_of(struct pcapio_reader *r, const struct block *b, const struct option *o,
			unsigned len)
{
	if (o->len == len)
		return 0;
	return reader_damaged(r,
			      "option %u of a block of type 0x%" PRIx32
			      " has %u bytes, and must have %u",
			      o->code, b->type, o->len, len);
}

static int ng_too_short(struct pcapio_reader *r, const struct block *b)
{
	return reader_damaged(r,
			      "a block of type 0x%" PRIx32 " has %" PRIu32
			      " bytes, too few for what it must say",
			      b->type, b->size);
}

/* Refuses a file whose texts fill the memory. */
static int ng_texts_fit(struct pcapio_reader *r)
{
	if (r->held <= PCAPIO_MAX_TEXTS)
		return 0;
	return reader_too_much(r, "its sections and interfaces have more than %u MiB of text",
			       PCAPIO_MAX_TEXTS >> 20);
}

/* Returns a text of the list, or NULL. */
static const char *ng_text(const char *const *list, size_t which)
{
	return which == NO_TEXT ? NULL : list[which];
}

/* Comments may stand between other options, so they are collected first and the rest behind
 * them. */
static int ng_comments(struct pcapio_reader *r, const struct block *b, const uint8_t *at,
		       struct texts *t)
{
	struct option o;
	int rc;

	texts_reset(t);
	while ((rc = ng_option(r, b, &at, &o)) == 1)
		if (o.code == OPT_COMMENT)
			texts_add(t, o.value, o.len);
	return rc;
}

/* Turns a stamp (4.3) into ns since 1970, if they can be told. */
static bool ng_ns(const struct reader_interface *i, uint64_t stamp, uint64_t *ns)
{
	__int128 v = (__int128)stamp * NS_PER_S;

	if (i->power_of_2) {
		v >>= i->exponent; /* below 128 */
	} else {
		/* 2^64 x 10^9 is below 10^29 */
		for (unsigned n = 0; n < i->exponent && v != 0; n++)
			v /= 10;
	}
	v += (__int128)i->offset_s * NS_PER_S;
	bool can = v >= 0 && v <= UINT64_MAX;
	*ns = can ? (uint64_t)v : 0;
	return can;
}

/* The two words of a stamp, the high one first. */
static uint64_t ng_stamp(const struct pcapio_reader *r, const uint8_t *p)
{
	return (uint64_t)reader_word(r, p) << 32 | reader_word(r, p + 4);
}

static int ng_section(struct pcapio_reader *r, const struct block *b)
{
	struct texts *t = &r->section_texts;
	size_t hardware = NO_TEXT, os = NO_TEXT, application = NO_TEXT;
	const uint8_t *at = b->at + SECTION_HEAD;
	struct option o;
	int rc;

	if (b->size < SECTION_HEAD + 4)
		return ng_too_short(r, b);
	unsigned major = reader_half(r, b->at + 12), minor = reader_half(r, b->at + 14);
	if (major != 1 || (minor != 0 && minor != 2)) /* 1.2 is 1.0 (4.1) */
		return reader_version(r, "a section of pcapng", major, minor);
	if ((rc = ng_comments(r, b, at, t)) != 0)
		return rc;
	unsigned ncomments = (unsigned)t->n;
	while ((rc = ng_option(r, b, &at, &o)) == 1) {
		size_t *which = o.code == SHB_HARDWARE   ? &hardware
				: o.code == SHB_OS       ? &os
				: o.code == SHB_USERAPPL ? &application
							 : NULL;
		if (which != NULL)
			*which = texts_add(t, o.value, o.len);
	}
	const char *const *list = texts_end(t);
	r->section = (struct pcapio_section){ng_text(list, hardware), ng_text(list, os),
					     ng_text(list, application),
					     ncomments > 0 ? list : NULL, ncomments};
	r->first = r->ninterfaces;
	return rc != 0 ? rc : ng_texts_fit(r);
}

/* The texts of an interface, by their numbers. */
struct interface_texts {
	size_t name, description, filter;
};

static int ng_interface_option(struct pcapio_reader *r, const struct block *b,
			       struct reader_interface *i, const struct option *o,
			       struct interface_texts *t)
{
	int rc = 0;

	switch (o->code) {
	case IF_NAME:
		t->name = texts_add(&i->texts, o->value, o->len);
		break;
	case IF_DESCRIPTION:
		t->description = texts_add(&i->texts, o->value, o->len);
		break;
	case IF_FILTER:
		/* Other kinds than text are programs. */
		if (o->len > 0 && o->value[0] == 0)
			t->filter = texts_add(&i->texts, o->value + 1, o->len - 1u);
		break;
	case IF_MACADDR:
		if ((rc = ng_option_of(r, b, o, 6)) != 0)
			break;
		i->known.has_mac = true;
		memcpy(i->known.mac, o->value, 6);
		break;
	case IF_SPEED:
		if ((rc = ng_option_of(r, b, o, 8)) == 0)
			i->known.speed_bps = reader_long(r, o->value);
		break;
	case IF_TSRESOL:
		if ((rc = ng_option_of(r, b, o, 1)) != 0)
			break;
		i->power_of_2 = (o->value[0] & 0x80) != 0;
		i->exponent = o->value[0] & 0x7f;
		break;
	case IF_TSOFFSET:
		if ((rc = ng_option_of(r, b, o, 8)) == 0)
			i->offset_s = (int64_t)reader_long(r, o->value);
		break;
	}
	return rc;
}

static int ng_interface(struct pcapio_reader *r, const struct block *b)
{
	struct interface_texts t = {NO_TEXT, NO_TEXT, NO_TEXT};
	const uint8_t *at = b->at + INTERFACE_HEAD;
	struct option o;
	int rc;

	if (b->size < INTERFACE_HEAD + 4)
		return ng_too_short(r, b);
	struct reader_interface *i = reader_add_interface(r);
	if (i == NULL)
		return reader_too_much(r, "it has more than %u interfaces", PCAPIO_MAX_INTERFACES);
	i->known.link_type = reader_half(r, b->at + 8);
	i->known.snaplen = reader_word(r, b->at + 12);
	if ((rc = ng_comments(r, b, at, &i->texts)) != 0)
		return rc;
	i->known.ncomments = (unsigned)i->texts.n;
	while ((rc = ng_option(r, b, &at, &o)) == 1)
		if ((rc = ng_interface_option(r, b, i, &o, &t)) != 0)
			break;
	const char *const *list = texts_end(&i->texts);
	i->known.name = ng_text(list, t.name);
	i->known.description = ng_text(list, t.description);
	i->known.filter = ng_text(list, t.filter);
	i->known.comments = i->known.ncomments > 0 ? list : NULL;
	return rc != 0 ? rc : ng_texts_fit(r);
}

/* Finds an interface by its number in the section; NULL with an error: there is none. */
static struct reader_interface *ng_find(struct pcapio_reader *r, const struct block *b,
					uint32_t number)
{
	if (number < r->ninterfaces - r->first)
		return &r->interfaces[r->first + number];
	reader_damaged(r,
		       "a block of type 0x%" PRIx32 " is of interface %" PRIu32
		       ", and its section has described %u",
		       b->type, number, r->ninterfaces - r->first);
	return NULL;
}

static int ng_stats(struct pcapio_reader *r, const struct block *b)
{
	const uint8_t *at = b->at + STATS_HEAD;
	struct option o;
	int rc;

	if (b->size < STATS_HEAD + 4)
		return ng_too_short(r, b);
	struct reader_interface *i = ng_find(r, b, reader_word(r, b->at + 8));
	if (i == NULL)
		return r->rc;
	struct pcapio_stats *s = &i->stats;
	*s = (struct pcapio_stats){.interface = (uint32_t)(i - r->interfaces)};
	ng_ns(i, ng_stamp(r, b->at + 12), &s->ns);
	if ((rc = ng_comments(r, b, at, &i->stats_texts)) != 0)
		return rc;
	while ((rc = ng_option(r, b, &at, &o)) == 1) {
		uint64_t v;
		if (o.code < PCAPIO_START || o.code >= PCAPIO_NSTATS)
			continue;
		if ((rc = ng_option_of(r, b, &o, 8)) != 0)
			break;
		if (o.code > PCAPIO_END)
			pcapio_stats_set(s, o.code, reader_long(r, o.value));
		else if (ng_ns(i, ng_stamp(r, o.value), &v))
			pcapio_stats_set(s, o.code, v);
	}
	s->ncomments = (unsigned)i->stats_texts.n;
	s->comments = s->ncomments > 0 ? texts_end(&i->stats_texts) : NULL;
	i->has_stats = true;
	return rc != 0 ? rc : ng_texts_fit(r);
}

/* The options of a frame (4.3). Those of a Packet Block have the same codes, and nothing else that
 * is read. */
static int ng_packet_options(struct pcapio_reader *r, const struct block *b, const uint8_t *at,
			     struct pcapio_record *rec)
{
	struct option o;
	int rc;

	texts_reset(&r->comments);
	while ((rc = ng_option(r, b, &at, &o)) == 1) {
		if (o.code == OPT_COMMENT) {
			texts_add(&r->comments, o.value, o.len);
		} else if (o.code == EPB_FLAGS) {
			if ((rc = ng_option_of(r, b, &o, 4)) != 0)
				break;
			rec->flags = reader_word(r, o.value);
		} else if (o.code == EPB_QUEUE && b->type == BLOCK_PACKET) {
			if ((rc = ng_option_of(r, b, &o, 4)) != 0)
				break;
			rec->has_queue = true;
			rec->queue = reader_word(r, o.value);
		} else if (o.code == EPB_PACKETID && b->type == BLOCK_PACKET) {
			if ((rc = ng_option_of(r, b, &o, 8)) != 0)
				break;
			rec->has_id = true;
			rec->id = reader_long(r, o.value);
		}
	}
	rec->ncomments = (unsigned)r->comments.n;
	rec->comments = rec->ncomments > 0 ? texts_end(&r->comments) : NULL;
	return rc;
}

/* Refuses more bytes of a frame than its block has, or than the interface gives. */
static int ng_caplen(struct pcapio_reader *r, const struct block *b,
		     const struct pcapio_record *rec)
{
	size_t room = (size_t)(b->end - rec->frame);
	const struct pcapio_interface *i = &r->interfaces[rec->interface].known;

	if (rec->caplen > room)
		return reader_damaged(r,
				      "a block of type 0x%" PRIx32 " says that it has %" PRIu32
				      " bytes of a frame, in room for %zu",
				      b->type, rec->caplen, room);
	if (!reader_believes(i, rec->caplen))
		return reader_damaged(
			r,
			"a block of type 0x%" PRIx32 " has %" PRIu32
			" bytes of a frame, and its interface cuts frames to %" PRIu32,
			b->type, rec->caplen, i->snaplen);
	return 0;
}

/* An Enhanced Packet Block (4.3), or the Packet Block of old (appendix A), whose number of the
 * interface has 16 bits. */
static int ng_packet(struct pcapio_reader *r, const struct block *b, struct pcapio_record *rec)
{
	if (b->size < PCAPIO_EPB_HEAD + 4)
		return ng_too_short(r, b);
	const uint8_t *p = b->at;
	const struct reader_interface *i =
		ng_find(r, b,
			b->type == BLOCK_PACKET ? reader_word(r, p + 8) : reader_half(r, p + 8));
	if (i == NULL)
		return r->rc;
	*rec = (struct pcapio_record){
		.interface = (uint32_t)(i - r->interfaces),
		.link_type = i->known.link_type,
		.frame = p + PCAPIO_EPB_HEAD,
		.caplen = reader_word(r, p + 20),
		.origlen = reader_word(r, p + 24),
		.offset = r->src.offset,
	};
	rec->timed = ng_ns(i, ng_stamp(r, p + 12), &rec->ns);
	if (rec->origlen < rec->caplen) /* as a reader may (4.3) */
		rec->origlen = rec->caplen;
	int rc = ng_caplen(r, b, rec);
	if (rc == 0)
		rc = ng_packet_options(r, b, rec->frame + pcapio_padded(rec->caplen), rec);
	return rc != 0 ? rc : 1;
}

/* A Simple Packet Block (4.4): a frame of the section's interface 0, without a time. */
static int ng_simple(struct pcapio_reader *r, const struct block *b, struct pcapio_record *rec)
{
	if (b->size < SIMPLE_HEAD + 4)
		return ng_too_short(r, b);
	const struct reader_interface *i = ng_find(r, b, 0);
	if (i == NULL)
		return r->rc;
	uint32_t origlen = reader_word(r, b->at + 8), snaplen = i->known.snaplen;
	*rec = (struct pcapio_record){
		.interface = r->first,
		.link_type = i->known.link_type,
		.frame = b->at + SIMPLE_HEAD,
		.caplen = snaplen != 0 && snaplen < origlen ? snaplen : origlen,
		.origlen = origlen,
		.offset = r->src.offset,
	};
	int rc = ng_caplen(r, b, rec);
	return rc != 0 ? rc : 1;
}

/* Reads the head of a block (3.1) and waits for the rest. 1: it is there; 0: the file has ended; or
 * an error. */
static int ng_block_wait(struct pcapio_reader *r, struct block *b)
{
	size_t have = source_want(&r->src, BLOCK_LEAST);
	const uint8_t *p = source_at(&r->src);

	if (have == 0 && r->src.rc == 0 && !r->src.cut)
		return 0;
	if (have < BLOCK_LEAST)
		return reader_short(r, "a block");
	b->type = reader_word(r, p);
	if (b->type == BLOCK_SECTION) {
		/* Each section has a byte order of its own. */
		uint32_t magic = pcapio_word(p + 8);
		if (magic != SECTION_MAGIC && magic != __builtin_bswap32(SECTION_MAGIC))
			return reader_damaged(r,
					      "a section has the magic number %02x %02x %02x %02x, "
					      "which tells no byte order",
					      p[8], p[9], p[10], p[11]);
		r->swap = magic != SECTION_MAGIC;
	}
	b->size = reader_word(r, p + 4);
	if (b->size < BLOCK_LEAST || b->size % 4 != 0)
		return reader_damaged(r,
				      "a block of type 0x%" PRIx32 " says that it has %" PRIu32
				      " bytes; %u, %u, %u and so on are possible",
				      b->type, b->size, BLOCK_LEAST, BLOCK_LEAST + 4,
				      BLOCK_LEAST + 8);
	if (b->size > PCAPIO_MAX_BLOCK)
		return reader_too_much(r,
				       "a block of type 0x%" PRIx32 " says that it has %" PRIu32
				       " bytes, and up to %u MiB are read",
				       b->type, b->size, PCAPIO_MAX_BLOCK >> 20);
	if (source_want(&r->src, b->size) < b->size)
		return reader_short(r, "a block");
	b->at = source_at(&r->src);
	b->end = b->at + b->size - 4;
	if (reader_word(r, b->end) != b->size)
		return reader_damaged(r,
				      "a block of type 0x%" PRIx32 " has %" PRIu32
				      " bytes by the length at its begin, and %" PRIu32
				      " by the one at its end",
				      b->type, b->size, reader_word(r, b->end));
	return 1;
}

int reader_ng_block(struct pcapio_reader *r, struct pcapio_record *rec)
{
	struct block b = {0};
	int rc = ng_block_wait(r, &b);

	if (rc <= 0) {
		r->rc = rc == 0 ? 1 : r->rc;
		return rc;
	}
	rc = 0;
	switch (b.type) {
	case BLOCK_SECTION:
		rc = ng_section(r, &b);
		break;
	case BLOCK_INTERFACE:
		rc = ng_interface(r, &b);
		break;
	case BLOCK_STATS:
		rc = ng_stats(r, &b);
		break;
	case BLOCK_PACKET:
	case BLOCK_OLD_PACKET:
		rc = ng_packet(r, &b, rec);
		break;
	case BLOCK_SIMPLE:
		rc = ng_simple(r, &b, rec);
		break;
	default: /* names, secrets, what others have added */
		break;
	}
	if (rc >= 0)
		source_use(&r->src, b.size);
	return rc;
}
