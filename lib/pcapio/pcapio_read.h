/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads capture files frame by frame: pcap in both byte orders, with stamps in us or ns, and pcapng
 * with any number of sections and interfaces, both also packed by gzip. No length in a file is
 * trusted, and memory is bounded: by PCAPIO_MAX_BLOCK for a block, a few times as much for comments
 * of a frame, and by the two numbers below, whatever the file says.
 *
 *	struct pcapio_reader *r;
 *	struct pcapio_record rec;
 *	if ((rc = pcapio_open("x.pcapng", &r, &e)) != 0)
 *		return rc;
 *	while ((rc = pcapio_next(r, &rec, &e)) == 1)
 *		use(&rec);
 *	pcapio_close(r);
 *
 * One reader is for one thread at a time. All that is returned belongs to the reader: a record and
 * its texts until the next call of pcapio_next(), the rest as it says. */
#pragma once
#include "pcapio.h"

/* Files with more interfaces, or with more memory for the texts of sections, interfaces and
 * statistics, are refused. */
#define PCAPIO_MAX_INTERFACES 65536u
#define PCAPIO_MAX_TEXTS (64u << 20)

struct pcapio_reader;

/* Reads up to n > 0 bytes into buf. Returns how many, 0 at the end, or -errno. */
typedef ssize_t (*pcapio_read_fn)(void *arg, void *buf, size_t n);

/* Opens a regular file and reads its first header. 0, or -errno with text:
 *	-EBADMSG  it is no capture file, or a damaged one
 *	-ENODATA  it ends within this header
 *	-ENOTSUP  it is a capture file of a version that is not read
 *	-EFBIG    a block, or all interfaces together, are more than is read
 *	others    it cannot be opened or read */
int pcapio_open(const char *path, struct pcapio_reader **out, struct err *e);
/* The same for what a function gives; name: what it is called in errors. */
int pcapio_open_by(pcapio_read_fn read, void *arg, const char *name, struct pcapio_reader **out,
		   struct err *e);
/* Gives the next frame. 1: there is one; 0: the file has ended; or -errno with text: -ENODATA if
 * the file is cut off, the others as above. All frames before the fault have been given then, and
 * each further call says the same. */
int pcapio_next(struct pcapio_reader *r, struct pcapio_record *rec, struct err *e);
void pcapio_close(struct pcapio_reader *r); /* NULL is allowed */

/* What the section says that was begun last; nothing is told in pcap. Until the next call of
 * pcapio_next(). */
const struct pcapio_section *pcapio_reader_section(const struct pcapio_reader *r);
/* The interfaces that were described so far, in all sections together, in their order. A file of
 * pcap has one. */
unsigned pcapio_reader_interfaces(const struct pcapio_reader *r);
/* i < pcapio_reader_interfaces(). The texts stay until the reader is closed, the struct until the
 * next call of pcapio_next(). */
const struct pcapio_interface *pcapio_reader_interface(const struct pcapio_reader *r, unsigned i);
/* The last statistics of this interface, with times in ns, or NULL. Its number is that in the whole
 * file. Until the next call of pcapio_next(). */
const struct pcapio_stats *pcapio_reader_stats(const struct pcapio_reader *r, unsigned i);
