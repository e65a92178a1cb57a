/* SPDX-License-Identifier: BSD-3-Clause */
/* Capture files: the blocks of pcapng (draft-ietf-opsawg-pcapng) and the records of pcap
 * (draft-ietf-opsawg-pcap) as bytes in memory. Nothing here opens or writes a file: a file is what
 * these functions give, one behind the other. pcapng begins with a section, has the description of
 * each interface before its frames, and its statistics at the end. pcapio_read.h reads files,
 * pcapio_run.h is for workers.
 *
 * Numbers are written in the order of this machine and stamps in ns since 1970, UTC. Text is UTF-8:
 * bytes that are not become '?'. Functions that write are pure, run on any thread, and return the
 * number of bytes, or
 *	-ENOSPC  it does not fit into the buffer, whose content is then undefined
 *	-EINVAL  the format cannot say it: an option of more than PCAPIO_MAX_TEXT bytes, a block of
 *	         more than PCAPIO_MAX_BLOCK, more bytes of a frame than it had, in pcap a time
 *	         beyond 2106 */
#pragma once
#include <sys/types.h>
#include "pcapio_run.h"

#define PCAPIO_ETHERNET 1 /* link type, of the registry in draft-ietf-opsawg-pcaplinktype */
#define PCAPIO_MAX_TEXT 65535u
/* What we write and accept as one block or record, as a bound for memory. */
#define PCAPIO_MAX_BLOCK (16u << 20)

/* A section, that is, whose file it is (section 4.1). NULL: not told. */
struct pcapio_section {
	const char *hardware, *os, *application;
	const char *const *comments;
	unsigned ncomments;
};
ssize_t pcapio_put_section(uint8_t *buf, size_t size, const struct pcapio_section *s);

/* Numbers of an interface (section 4.6), by the codes of their options. The first two are times in
 * ns. */
enum pcapio_stat {
	PCAPIO_START = 2,  /* isb_starttime: the capture began */
	PCAPIO_END,        /* isb_endtime: it ended */
	PCAPIO_RECEIVED,   /* isb_ifrecv: frames that the interface received */
	PCAPIO_DROPPED,    /* isb_ifdrop: of them, those that it had no room for */
	PCAPIO_ACCEPTED,   /* isb_filteraccept: frames that the filter let through */
	PCAPIO_OS_DROPPED, /* isb_osdrop: of them, those that are not in the file */
	PCAPIO_DELIVERED,  /* isb_usrdeliv: of them, those that are */
	PCAPIO_NSTATS
};
struct pcapio_stats {
	uint32_t interface; /* its number in the section */
	uint32_t has;       /* bit 1 << enum pcapio_stat: this value is told */
	uint64_t ns;        /* when they were read */
	uint64_t value[PCAPIO_NSTATS];
	const char *const *comments;
	unsigned ncomments;
};
static inline void pcapio_stats_set(struct pcapio_stats *s, enum pcapio_stat which, uint64_t value)
{
	s->has |= 1u << which;
	s->value[which] = value;
}
ssize_t pcapio_put_stats(uint8_t *buf, size_t size, const struct pcapio_stats *s);

/* An interface (section 4.2). Text that is NULL is not told. */
struct pcapio_interface {
	uint16_t link_type;
	bool has_mac;
	uint8_t mac[6];
	uint32_t snaplen;   /* 0: no limit */
	uint64_t speed_bps; /* 0: not told */
	const char *name, *description;
	const char *filter; /* what libpcap compiled */
	const char *const *comments;
	unsigned ncomments;
};
/* The first interface of a section has number 0. */
ssize_t pcapio_put_interface(uint8_t *buf, size_t size, const struct pcapio_interface *i);

/* A frame, to be written or as it was read. */
struct pcapio_record {
	/* To be written: the number in the section. Read: in the whole file. */
	uint32_t interface;
	uint16_t link_type; /* only read; writers take that of the interface */
	/* Only read. false: the block has no time, or one outside of 1970 to 2554; ns is 0. */
	bool timed;
	bool has_queue, has_id;
	uint64_t ns;
	const uint8_t *frame;
	uint32_t caplen, origlen; /* bytes at `frame`, and of the frame itself */
	uint32_t flags;           /* epb_flags; 0: not told */
	uint32_t queue;
	uint64_t id; /* epb_packetid */
	const char *const *comments;
	unsigned ncomments;
	uint64_t offset; /* only read: where its block begins in the file, without gzip */
};
/* An Enhanced Packet Block (section 4.3). */
ssize_t pcapio_put_record(uint8_t *buf, size_t size, const struct pcapio_record *r);
/* What a block says that pcapio_epb_put() has written, without comments. r->frame is in it. */
void pcapio_epb_record(const uint8_t *block, struct pcapio_record *r);

/* pcap: one header, then records. They have one link type, stamps in ns, and none of the options.
 * snaplen 0: no limit. */
#define PCAPIO_PCAP_HEAD 24u
#define PCAPIO_PCAP_RECORD 16u /* and the frame */
ssize_t pcapio_put_pcap_head(uint8_t *buf, size_t size, uint16_t link_type, uint32_t snaplen);
ssize_t pcapio_put_pcap_record(uint8_t *buf, size_t size, const struct pcapio_record *r);
