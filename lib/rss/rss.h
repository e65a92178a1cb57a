/* SPDX-License-Identifier: BSD-3-Clause */
/* Which Rx queue a device gives a frame by receive side scaling (RSS): a pure function of its key,
 * its table, the headers that it hashes, and the frame. The hash itself is that of rte_thash. Uses
 * DPDK; any thread. */
#pragma once
#include "dpdk.h"
#include "rss_value.h"

#define RSS_TABLE_MAX 4096

enum rss_function {
	RSS_FUNCTION_TOEPLITZ,
	RSS_FUNCTION_SORT, /* Toeplitz over the sorted addresses and the sorted ports */
	RSS_FUNCTION_OTHER /* something that we cannot compute */
};

/* What a device works by. */
struct rss_setup {
	uint64_t hf; /* RTE_ETH_RSS_*: the kinds of frames that are hashed, and by what; 0: none */
	enum rss_function function;
	/* The same by DPDK's number (enum rte_eth_hash_function), which tells those apart that we
	 * cannot compute. Our own wire has none. */
	unsigned algorithm;
	unsigned key_len; /* bytes; 0: not known */
	unsigned entries; /* of the table; 0: not known */
	/* What is behind the key counts as zero. */
	_Alignas(uint32_t) uint8_t key[RSS_KEY_MAX + 1];
	uint16_t table[RSS_TABLE_MAX];
};

/* Which parts of a frame go into the hash. */
enum rss_part { RSS_PART_NONE, RSS_PART_L3, RSS_PART_L4 };

/* What of a frame can be hashed: its outermost IP header, and the ports behind it. */
struct rss_tuple {
	uint8_t version; /* of IP: 4 or 6; 0: the frame has none, and nothing else here counts */
	uint8_t proto;   /* of what follows */
	bool fragment;   /* it has no ports */
	bool ports;      /* it has ports: TCP, UDP or SCTP */
	uint8_t src[16], dst[16]; /* IPv4: the first four bytes */
	uint16_t sport, dport;
	/* NULL, or why devices differ in what they hash of such a frame; static. What is read here
	 * is what they hash who look at the outermost IP header and pass over all tags. */
	const char *doubt;
};

/* What a byte of a frame was looked at for: a frame that differs in none of those that were used
 * has the same tuple, and one that has the same shape has its addresses and ports at the same
 * places. */
enum rss_use { RSS_USE_NONE, RSS_USE_PORTS, RSS_USE_ADDRESSES, RSS_USE_SHAPE };
/* Reads them from a frame. used, if not NULL, has a byte for each of the frame's, enum rss_use. */
void rss_tuple_read(const uint8_t *frame, unsigned len, struct rss_tuple *out, uint8_t *used);
/* Reads one from text, "udp 10.0.0.1:1024 10.0.0.2:53", "tcp [fd00::1]:1 [fd00::2]:2" or "ip
 * 10.0.0.1 10.0.0.2". -EINVAL with *e. */
int rss_tuple_parse(const char *text, struct rss_tuple *out, struct err *e);

/* A frame whose kind the device has under its ports is hashed by addresses and ports; else one that
 * it has under its addresses by these. */
enum rss_part rss_part(uint64_t hf, const struct rss_tuple *);
/* 0 where nothing is hashed. The key must be known, and the function one of those that we can
 * compute. */
uint32_t rss_hash(const struct rss_setup *, const struct rss_tuple *);
/* The queue; the table must be known as well, unless nothing is hashed. A frame that is not hashed
 * comes to the queue of entry 0, or to queue 0 if the table is not known. *hash, if not NULL,
 * becomes the hash. */
uint16_t rss_queue(const struct rss_setup *, const struct rss_tuple *, uint32_t *hash);

/* Fills the table with these queues, again and again. */
void rss_fill_table(struct rss_setup *, const uint16_t *queue, unsigned n);
/* Fills the key with the two bytes 6d 5a again and again. With a key that repeats every 16 bits the
 * hash is the same when source and destination change places. */
void rss_fill_key(struct rss_setup *);
/* Whether the hash is the same when source and destination change places. */
bool rss_is_symmetric(const struct rss_setup *);
