/* SPDX-License-Identifier: BSD-3-Clause */
/* The codes of the two formats, for this library's own files. */
#pragma once
#include "pcapio.h"

#define NS_PER_S 1000000000u

/* draft-ietf-opsawg-pcapng: types of blocks (section 10.1) */
#define BLOCK_SECTION 0x0a0d0d0au /* the same in both byte orders */
#define BLOCK_INTERFACE 1u
#define BLOCK_OLD_PACKET 2u /* appendix A */
#define BLOCK_SIMPLE 3u
#define BLOCK_STATS 5u
#define BLOCK_PACKET PCAPIO_EPB
/* Begins a section (4.1), in the order that its numbers have. */
#define SECTION_MAGIC 0x1a2b3c4du

/* Codes of options: of all blocks (3.5), of sections (4.1), of interfaces (4.2), of packets
 * (4.3). Those of statistics are enum pcapio_stat. */
enum {
	OPT_END = 0,
	OPT_COMMENT = 1,
	SHB_HARDWARE = 2,
	SHB_OS = 3,
	SHB_USERAPPL = 4,
	IF_NAME = 2,
	IF_DESCRIPTION = 3,
	IF_MACADDR = 6,
	IF_SPEED = 8,
	IF_TSRESOL = 9,
	IF_FILTER = 11,
	IF_TSOFFSET = 14,
	EPB_FLAGS = 2,
	EPB_PACKETID = 5,
	EPB_QUEUE = 6,
};

/* draft-ietf-opsawg-pcap section 4: magic numbers, for stamps in us and in ns, and the version */
#define PCAP_US 0xa1b2c3d4u
#define PCAP_NS 0xa1b23c4du
#define PCAP_MAJOR 2
#define PCAP_MINOR 4

/* Programs of this field take no frame above this: more than any link has, and what they write as
 * the length to which frames were cut where there was no limit. */
#define FRAME_MAX 262144u
