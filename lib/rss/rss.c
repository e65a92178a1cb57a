/* SPDX-License-Identifier: BSD-3-Clause */
/* From a tuple to a queue. */
#include "rss.h"

#include <netinet/in.h>
#include <rte_thash.h>
#include <string.h>

#define RSS_WORDS 9 /* of the longest tuple: two IPv6 addresses and ports */
/* rte_softrss() reads one word of the key beyond the last word of the tuple. */
_Static_assert(RSS_KEY_MAX + 1 >= 4 * (RSS_WORDS + 1), "the key has room for each tuple");

#define SOME_IPV6 (RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_IPV6_EX)

static uint64_t ports_hf(const struct rss_tuple *t)
{
	bool six = t->version == 6;

	switch (t->proto) {
	case IPPROTO_TCP:
		return six ? RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_IPV6_TCP_EX
			   : RTE_ETH_RSS_NONFRAG_IPV4_TCP;
	case IPPROTO_UDP:
		return six ? RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_IPV6_UDP_EX
			   : RTE_ETH_RSS_NONFRAG_IPV4_UDP;
	case IPPROTO_SCTP:
		return six ? RTE_ETH_RSS_NONFRAG_IPV6_SCTP : RTE_ETH_RSS_NONFRAG_IPV4_SCTP;
	default:
		return 0;
	}
}

static uint64_t addresses_hf(const struct rss_tuple *t)
{
	uint64_t some = t->version == 6 ? SOME_IPV6 : RTE_ETH_RSS_IPV4;

	if (t->fragment)
		return some | (t->version == 6 ? RTE_ETH_RSS_FRAG_IPV6 : RTE_ETH_RSS_FRAG_IPV4);
	if (t->ports)
		return some;
	return some |
	       (t->version == 6 ? RTE_ETH_RSS_NONFRAG_IPV6_OTHER : RTE_ETH_RSS_NONFRAG_IPV4_OTHER);
}

enum rss_part rss_part(uint64_t hf, const struct rss_tuple *t)
{
	if (t->version == 0)
		return RSS_PART_NONE;
	if (t->ports && (hf & ports_hf(t)) != 0)
		return RSS_PART_L4;
	return (hf & addresses_hf(t)) != 0 ? RSS_PART_L3 : RSS_PART_NONE;
}

static unsigned put_address(uint32_t *word, const uint8_t *address, unsigned len)
{
	for (unsigned i = 0; i < len / 4; i++) {
		uint32_t be;
		memcpy(&be, address + 4 * i, sizeof(be));
		word[i] = rte_be_to_cpu_32(be);
	}
	return len / 4;
}

uint32_t rss_hash(const struct rss_setup *s, const struct rss_tuple *t)
{
	enum rss_part part = rss_part(s->hf, t);
	unsigned len = t->version == 6 ? 16 : 4, n;
	const uint8_t *src = t->src, *dst = t->dst;
	uint16_t sport = t->sport, dport = t->dport;
	uint32_t word[RSS_WORDS];

	if (part == RSS_PART_NONE)
		return 0;
	if (s->function == RSS_FUNCTION_SORT && memcmp(src, dst, len) > 0) {
		src = t->dst;
		dst = t->src;
	}
	if (s->function == RSS_FUNCTION_SORT && sport > dport) {
		sport = t->dport;
		dport = t->sport;
	}
	n = put_address(word, src, len);
	n += put_address(word + n, dst, len);
	if (part == RSS_PART_L4)
		word[n++] = (uint32_t)sport << 16 | dport;
	return rte_softrss(word, n, s->key);
}

uint16_t rss_queue(const struct rss_setup *s, const struct rss_tuple *t, uint32_t *hash)
{
	uint32_t h = rss_hash(s, t);

	if (hash != NULL)
		*hash = h;
	/* The hash of a frame that is not hashed is 0, and such a setup may have no table. */
	return s->entries != 0 ? s->table[h % s->entries] : 0;
}

void rss_fill_table(struct rss_setup *s, const uint16_t *queue, unsigned n)
{
	for (unsigned i = 0; i < s->entries; i++)
		s->table[i] = queue[i % n];
}

void rss_fill_key(struct rss_setup *s)
{
	memset(s->key, 0, sizeof(s->key));
	for (unsigned i = 0; i < s->key_len; i++)
		s->key[i] = i % 2 == 0 ? 0x6d : 0x5a;
}

bool rss_is_symmetric(const struct rss_setup *s)
{
	if (s->function != RSS_FUNCTION_TOEPLITZ || s->key_len == 0)
		return s->function == RSS_FUNCTION_SORT;
	for (unsigned i = 2; i < s->key_len; i++)
		if (s->key[i] != s->key[i - 2])
			return false;
	return true;
}
