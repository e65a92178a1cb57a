/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a reader, for pcapio_read.c, pcapio_ng.c and pcapio_texts.c. */
#pragma once
#include "pcapio_format.h"
#include "pcapio_source.h"

/* Texts that belong together, each with a zero byte at its end. They may move while more are added,
 * so their places are kept as numbers until texts_end(). */
struct texts {
	char *bytes;
	size_t *at;
	const char **list;
	size_t len, cap, n, ncap;
	/* All that count together share this sum of memory; NULL: nobody counts it. */
	size_t *sum;
};
void texts_reset(struct texts *t);
void texts_free(struct texts *t);
/* Adds n bytes up to the first zero byte and returns the text's number. */
size_t texts_add(struct texts *t, const uint8_t *bytes, size_t n);
/* Returns all texts as a list, which stays until the next change. */
const char *const *texts_end(struct texts *t);

/* An interface and what it takes to read its stamps. */
struct reader_interface {
	struct pcapio_interface known;
	bool power_of_2; /* stamps count 2^-exponent s, and not 10^-exponent s */
	uint8_t exponent;
	int64_t offset_s; /* is added to stamps */
	struct texts texts;
	bool has_stats;
	struct pcapio_stats stats;
	struct texts stats_texts;
};

struct pcapio_reader {
	struct source src;
	char *name;
	int fd;    /* -1: the caller's function reads */
	bool ng;   /* pcapng */
	bool swap; /* numbers are in the other byte order than the machine's */
	bool us;   /* of pcap: stamps are in us */
	struct pcapio_section section;
	struct texts section_texts;
	struct reader_interface *interfaces;
	unsigned ninterfaces, cap;
	unsigned first; /* the number in the file of the section's interface 0 */
	size_t held;    /* memory of texts */
	struct texts comments;
	uint64_t frames;
	int rc; /* why no more come; 0: they do, 1: the file has ended */
	struct err err;
};

static inline uint32_t reader_word(const struct pcapio_reader *r, const uint8_t *p)
{
	uint32_t v = pcapio_word(p);

	return r->swap ? __builtin_bswap32(v) : v;
}
static inline uint16_t reader_half(const struct pcapio_reader *r, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return r->swap ? __builtin_bswap16(v) : v;
}
static inline uint64_t reader_long(const struct pcapio_reader *r, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return r->swap ? __builtin_bswap64(v) : v;
}

/* Ends reading: the file is damaged at the next byte. Returns -EBADMSG. */
int reader_damaged(struct pcapio_reader *r, const char *fmt, ...) WR_PRINTF(2, 3);
/* The same for what may be right, but is more than is read. Returns -EFBIG. */
int reader_too_much(struct pcapio_reader *r, const char *fmt, ...) WR_PRINTF(2, 3);
/* Ends reading for want of bytes: in the middle of `what`, or because they cannot be read. */
int reader_short(struct pcapio_reader *r, const char *what);
/* The file is of a version that is not read. Returns -ENOTSUP. */
int reader_version(struct pcapio_reader *r, const char *format, unsigned major, unsigned minor);
/* Adds an interface, which counts us since 1970 if nobody says else. NULL: there are too many. */
struct reader_interface *reader_add_interface(struct pcapio_reader *r);
/* Whether a frame may have so many bytes: more than the interface cuts frames to is a sign of
 * damage, but for the many files whose writers did not know. */
static inline bool reader_believes(const struct pcapio_interface *i, uint32_t caplen)
{
	uint32_t most = i->snaplen > FRAME_MAX ? i->snaplen : FRAME_MAX;

	return i->snaplen == 0 || caplen <= most;
}

/* Reads the next block of pcapng. 1: it is a frame, in *rec; 0: it is another one; or an error. At
 * the end of the file it is 0 with r->rc = 1. */
int reader_ng_block(struct pcapio_reader *r, struct pcapio_record *rec);
