/* SPDX-License-Identifier: BSD-3-Clause */
/* Super-frames of a connection, one behind the other, are given to the kernel as one: what a frame
 * costs there beside the copy of its bytes is paid once. It is longer than the 64 KB that an IPv4
 * header can say, and has the length 0 there, as Linux has it in its own ("BIG TCP", iph_totlen() in
 * include/linux/ip.h). Any thread. */
#pragma once
#include <rte_ip.h>
#include <rte_tcp.h>

#include "dp.h"

#define JOIN_FRAMES 4 /* 64 KB each */
#define JOIN_BULK 8   /* by the second way: see bulk_open() of tun.c */
#define JOIN_HEAD (RTE_ETHER_HDR_LEN + 60 + 60)

static inline unsigned join_head(const struct rte_mbuf *m)
{
	return m->l2_len + m->l3_len + m->l4_len;
}

/* Whether frames can follow this one: TCP by IPv4 with no other header around, cut into whole
 * segments, and nothing but ACK among its flags. */
static inline bool join_first(const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	return (m->ol_flags & (RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4)) ==
		       (RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4) &&
	       m->l2_len == RTE_ETHER_HDR_LEN && p[12] == 0x08 && p[13] == 0x00 &&
	       m->data_len >= join_head(m) && join_head(m) <= JOIN_HEAD &&
	       p[m->l2_len + m->l3_len + 13] == RTE_TCP_ACK_FLAG &&
	       (m->pkt_len - join_head(m)) % m->tso_segsz == 0;
}

/* Whether `b` has the headers of `a`, and the bytes from seq on. */
static inline bool join_next(const struct rte_mbuf *a, const struct rte_mbuf *b, uint32_t seq)
{
	const uint8_t *x = rte_pktmbuf_mtod(a, const uint8_t *),
		      *y = rte_pktmbuf_mtod(b, const uint8_t *);
	unsigned ip = RTE_ETHER_HDR_LEN, tcp = ip + a->l3_len;
	rte_be32_t at = rte_cpu_to_be_32(seq);

	return a->ol_flags == b->ol_flags && a->tx_offload == b->tx_offload &&
	       b->data_len >= join_head(b) && memcmp(x, y, ip + 2) == 0 && /* length, number */
	       memcmp(x + ip + 6, y + ip + 6, 4) == 0 &&                   /* checksum */
	       memcmp(x + ip + 12, y + ip + 12, tcp + 4 - (ip + 12)) == 0 &&
	       memcmp(y + tcp + 4, &at, sizeof(at)) == 0 &&
	       memcmp(x + tcp + 8, y + tcp + 8, 5) == 0 &&
	       (y[tcp + 13] & ~RTE_TCP_PSH_FLAG) == RTE_TCP_ACK_FLAG &&
	       memcmp(x + tcp + 14, y + tcp + 14, 2) == 0 && /* checksum */
	       memcmp(x + tcp + 18, y + tcp + 18, a->l4_len - 18) == 0;
}

/* Whether Linux finds room for a frame of so much payload: it takes up to 17 pieces of whole pages,
 * 1, 2, 4 or 8 each (alloc_skb_with_frags() in net/core/skbuff.c). */
static inline bool join_fits(uint32_t payload)
{
	uint32_t pages = (payload + 4095) / 4096;

	return pages / 8 + (unsigned)__builtin_popcount(pages % 8) <= 17;
}

/* How many of these n frames are to go as one, at most `most`: at least 1. */
static inline unsigned join_count(struct rte_mbuf *const *m, unsigned n, unsigned most)
{
	const struct rte_mbuf *a = m[0];
	uint32_t seq, payload = 0;
	unsigned k = 1, head;
	rte_be32_t from;

	if (n == 1 || likely((a->ol_flags & RTE_MBUF_F_TX_TCP_SEG) == 0) || !join_first(a))
		return 1;
	head = join_head(a);
	memcpy(&from, rte_pktmbuf_mtod(a, const uint8_t *) + a->l2_len + a->l3_len + 4,
	       sizeof(from));
	seq = rte_be_to_cpu_32(from);
	do
		payload += m[k - 1]->pkt_len - head;
	while (join_next(a, m[k], seq + payload) && join_fits(payload + m[k]->pkt_len - head) &&
	       ++k < RTE_MIN(n, most) && join_first(m[k - 1]));
	return k;
}

/* The headers of k frames as one. Returns their length. */
static inline unsigned join_heads(struct rte_mbuf *const *m, unsigned k, uint8_t head[JOIN_HEAD])
{
	const struct rte_mbuf *a = m[0], *last = m[k - 1];
	unsigned n = join_head(a), tcp = a->l2_len + a->l3_len;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(head + a->l2_len);
	uint32_t more = 0, sum, whole;
	rte_be16_t check;

	memcpy(head, rte_pktmbuf_mtod(a, const void *), n);
	for (unsigned i = 1; i < k; i++)
		more += m[i]->pkt_len - n;
	whole = a->pkt_len - a->l2_len + more;
	ip->total_length = whole > UINT16_MAX ? 0 : rte_cpu_to_be_16((uint16_t)whole);
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	head[tcp + 13] = rte_pktmbuf_mtod(last, const uint8_t *)[tcp + 13];
	/* the sum of the pseudo header, of which the length is one of the numbers */
	memcpy(&check, head + tcp + 16, sizeof(check));
	sum = rte_be_to_cpu_16(check) + more;
	sum = (sum & 0xffff) + (sum >> 16);
	check = rte_cpu_to_be_16((uint16_t)((sum & 0xffff) + (sum >> 16)));
	memcpy(head + tcp + 16, &check, sizeof(check));
	return n;
}
