/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of dperf, by its names and in its lines: what the page `dperf` draws, and what a
 * program with --dperf prints. An object of the part "dperf" of snapshots goes in. */
#pragma once
#include <jansson.h>
#include "base.h"

/* All of its numbers. */
enum {
	DPERF_pktRx,
	DPERF_pktTx,
	DPERF_bitsRx,
	DPERF_bitsTx,
	DPERF_dropTx,
	DPERF_tcpRx,
	DPERF_tcpTx,
	DPERF_udpRx,
	DPERF_udpTx,
	DPERF_arpRx,
	DPERF_arpTx,
	DPERF_icmpRx,
	DPERF_icmpTx,
	DPERF_tosRx,
	DPERF_otherRx,
	DPERF_badRx,
	DPERF_synRx,
	DPERF_synTx,
	DPERF_finRx,
	DPERF_finTx,
	DPERF_rstRx,
	DPERF_rstTx,
	DPERF_synRt,
	DPERF_finRt,
	DPERF_ackRt,
	DPERF_pushRt,
	DPERF_tcpDrop,
	DPERF_udpDrop,
	DPERF_ackDup,
	DPERF_udpRt,
	DPERF_skOpen,
	DPERF_skClose,
	DPERF_skCon,
	DPERF_skErr,
	DPERF_httpGet,
	DPERF_httpPost,
	DPERF_http2XX,
	DPERF_httpErr,
	DPERF_tcpReq,
	DPERF_tcpRsp,
	DPERF_ierrors,
	DPERF_oerrors,
	DPERF_imissed,
	DPERF_NNUMBERS
};
/* COUNT: counted up; WRONG: likewise, and not 0 is a warning; NOW: of this moment; EVER: since the
 * last clear, although others are of a second. */
enum dperf_sort { DPERF_COUNT, DPERF_WRONG, DPERF_NOW, DPERF_EVER };
extern const struct dperf_number {
	const char *name;
	enum dperf_sort sort;
} dperf_numbers[DPERF_NNUMBERS];

/* One place of a line: a name, padded, and behind it the number of `key`. */
struct dperf_place {
	char label[12];
	const char *key;
	uint8_t width; /* of the number in dperf's lines */
};
#define DPERF_PLACES 6
/* The places of line i of a block (from 0), as they are for its protocol; the first without a key
 * ends them. Returns how many, -1: there are no more lines, 0: the block has no such line. */
int dperf_block_line(const json_t *block, unsigned i, const struct dperf_place **out);
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
