/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of dperf, by its names and in its lines: what the page `dperf` draws, and what a
 * program with --dperf prints. An object of the part "dperf" of snapshots goes in. */
#pragma once
#include <jansson.h>
#include "base.h"

/* All of its numbers by their names, each with its sort. COUNT: counted up; WRONG: likewise, and
 * not 0 is a warning; NOW: of this moment; EVER: since the last clear, although others are of a
 * second. */
#define DPERF_NUMBERS(X) \
	X(pktRx, COUNT) \
	X(pktTx, COUNT) \
	X(bitsRx, COUNT) \
	X(bitsTx, COUNT) \
	X(dropTx, WRONG) \
	X(tcpRx, COUNT) \
	X(tcpTx, COUNT) \
	X(udpRx, COUNT) \
	X(udpTx, COUNT) \
	X(arpRx, COUNT) \
	X(arpTx, COUNT) \
	X(icmpRx, COUNT) \
	X(icmpTx, COUNT) \
	X(tosRx, COUNT) \
	X(otherRx, COUNT) \
	X(badRx, WRONG) \
	X(synRx, COUNT) \
	X(synTx, COUNT) \
	X(finRx, COUNT) \
	X(finTx, COUNT) \
	X(rstRx, WRONG) \
	X(rstTx, WRONG) \
	X(synRt, WRONG) \
	X(finRt, WRONG) \
	X(ackRt, WRONG) \
	X(pushRt, WRONG) \
	X(tcpDrop, WRONG) \
	X(udpDrop, WRONG) \
	X(ackDup, WRONG) \
	X(udpRt, WRONG) \
	X(skOpen, COUNT) \
	X(skClose, COUNT) \
	X(skCon, NOW) \
	X(skErr, WRONG) \
	X(httpGet, COUNT) \
	X(httpPost, COUNT) \
	X(http2XX, COUNT) \
	X(httpErr, WRONG) \
	X(tcpReq, COUNT) \
	X(tcpRsp, COUNT) \
	X(ierrors, EVER) \
	X(oerrors, EVER) \
	X(imissed, EVER)

enum dperf_sort { DPERF_COUNT, DPERF_WRONG, DPERF_NOW, DPERF_EVER };
#define DPERF_ID(name, sort) DPERF_##name,
enum { DPERF_NUMBERS(DPERF_ID) DPERF_NNUMBERS };
#undef DPERF_ID
extern const struct dperf_number {
	const char *name;
	enum dperf_sort sort;
} dperf_numbers[DPERF_NNUMBERS];

/* One place of a line: a name, padded, and behind it the number of `key`. */
struct dperf_place {
	char label[12];
	const char *key;
	int width; /* of the number in dperf's lines */
};
#define DPERF_PLACES 6
/* The places of line i of a block (from 0), as they are for its protocol. Returns how many, -1:
 * there are no more lines, 0: the block has no such line. */
int dperf_block_line(const json_t *block, unsigned i, struct dperf_place out[DPERF_PLACES]);
/* Appends one of its numbers with commas, "-": it is not known. *wrong: it asks for attention. */
void dperf_block_number(const json_t *block, bool total, const char *key, struct sbuf *out,
			bool *wrong);
/* Appends what went wrong by our own names, "refused 2, connect timeout 1"; nothing if nothing
 * did. */
void dperf_block_errors(const json_t *block, bool total, struct sbuf *out);
/* Append a whole block: of the last second, with its first line, or the totals alone. which: the
 * block's role is named, since there are several. */
void dperf_block_second(const json_t *block, uint64_t seconds, bool which, struct sbuf *out);
void dperf_block_total(const json_t *block, bool which, struct sbuf *out);
