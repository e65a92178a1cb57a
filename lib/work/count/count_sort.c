/* SPDX-License-Identifier: BSD-3-Clause */
/* What received frames are that nobody takes. */
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_net.h>

#include "count_run.h"
#include "proto_run.h"

/* What its sender or the device says of a frame's checksum of TCP or UDP. */
static bool sort_is_judged(uint64_t flags)
{
	uint64_t l4 = flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;

	/* one that the sender has left to a device is not filled in */
	return (flags & (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_TCP_SEG)) != 0 ||
	       l4 == RTE_MBUF_F_RX_L4_CKSUM_GOOD || l4 == RTE_MBUF_F_RX_L4_CKSUM_NONE;
}

static bool sort_is_told_bad(uint64_t flags)
{
	return (flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD ||
	       (flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD;
}

/* The header of IPv4, whose checksum is over itself (RFC 791 3.1). */
static bool sort_header_is_bad(const struct rte_mbuf *m, const uint8_t *ip, unsigned len)
{
	if ((m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM) != 0 ||
	    (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) != RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN)
		return false;
	return rte_raw_cksum(ip, len) != 0xffff;
}

/* The sum of len bytes from `at` on, which are there. rte_raw_cksum_mbuf() of DPDK 22.11 loses
 * carries where a segment ends at an odd byte. */
static uint32_t sort_sum(const struct rte_mbuf *m, uint32_t at, uint32_t len)
{
	uint32_t sum = 0;

	for (uint32_t done = 0; m != NULL && done < len; m = m->next) {
		uint32_t n = at < m->data_len ? RTE_MIN(m->data_len - at, len - done) : 0;
		uint16_t part = rte_raw_cksum(rte_pktmbuf_mtod_offset(m, const void *, at), n);
		sum += (done & 1) != 0 && n > 0 ? rte_bswap16(part) : part;
		at -= n > 0 ? at : m->data_len;
		done += n;
	}
	return sum;
}

/* TCP (RFC 9293 3.1) or UDP (RFC 768) behind IP headers of l3 bytes: its length and its sum. */
static bool sort_l4_is_bad(const struct rte_mbuf *m, const uint8_t *ip, unsigned l3, bool udp)
{
	bool six = ip[0] >> 4 == 6;
	uint32_t at = (uint32_t)(ip - rte_pktmbuf_mtod(m, const uint8_t *)) + l3;
	uint32_t said = six ? LEN_IP6 + get_be16(ip + 4) : get_be16(ip + 2);

	if (said < l3 || at + (said - l3) > m->pkt_len)
		return true;
	if (sort_is_judged(m->ol_flags))
		return false;
	const uint8_t *l4 = ip + l3; /* its header is there */
	if (udp && !six && get_be16(l4 + 6) == 0)
		return false; /* the sender has computed none */
	/* the pseudo header has the length of TCP or UDP, without headers of IP */
	uint32_t all = sort_sum(m, at, said - l3) +
		       (udp ? rte_cpu_to_be_16(IP_UDP) : rte_cpu_to_be_16(IP_TCP)) +
		       rte_cpu_to_be_16((uint16_t)(said - l3));
	all += rte_raw_cksum(ip + (six ? 8 : 12), six ? 32 : 8);
	all = (all & 0xffff) + (all >> 16);
	all = (all & 0xffff) + (all >> 16);
	return all != 0xffff;
}

/* The protocol behind the headers of IP, which is neither TCP nor UDP. */
static unsigned sort_protocol(const struct rte_mbuf *m, const uint8_t *ip, unsigned l2)
{
	uint32_t at = l2 + LEN_IP6;
	int fragment, next;

	if (ip[0] >> 4 == 4)
		return ip[9];
	next = ip[6];
	if (next == IP_HOPOPT || next == IP_ROUTE || next == IP_DSTOPT)
		next = rte_net_skip_ip6_ext((uint16_t)next, m, &at, &fragment);
	return next < 0 ? UINT32_MAX : (unsigned)next;
}

static enum count_sort sort_of(const struct rte_mbuf *m)
{
	struct rte_net_hdr_lens len = {0};
	uint32_t type =
		rte_net_get_ptype(m, &len,
				  RTE_PTYPE_L2_MASK | RTE_PTYPE_L3_MASK | RTE_PTYPE_L4_MASK);
	uint32_t l4 = type & RTE_PTYPE_L4_MASK;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *), *ip = frame + len.l2_len;

	if (sort_is_told_bad(m->ol_flags))
		return COUNT_BAD;
	if (!RTE_ETH_IS_IPV4_HDR(type) && !RTE_ETH_IS_IPV6_HDR(type))
		return len.l2_len >= 2 && m->data_len >= len.l2_len &&
				       get_be16(ip - 2) == RTE_ETHER_TYPE_ARP
			       ? COUNT_ARP
			       : COUNT_OTHER;
	unsigned least = l4 == RTE_PTYPE_L4_TCP ? LEN_TCP : l4 == RTE_PTYPE_L4_UDP ? LEN_UDP : 0;
	/* headers in further segments are nobody's usual frames */
	if (m->data_len < len.l2_len + len.l3_len + least)
		return COUNT_OTHER;
	if (RTE_ETH_IS_IPV4_HDR(type) && sort_header_is_bad(m, ip, len.l3_len))
		return COUNT_BAD;
	if (l4 == RTE_PTYPE_L4_FRAG)
		return COUNT_FRAGMENT;
	if (l4 == RTE_PTYPE_L4_TCP || l4 == RTE_PTYPE_L4_UDP) {
		bool udp = l4 == RTE_PTYPE_L4_UDP;
		return sort_l4_is_bad(m, ip, len.l3_len, udp) ? COUNT_BAD
							      : (udp ? COUNT_UDP : COUNT_TCP);
	}
	unsigned protocol = sort_protocol(m, ip, len.l2_len);
	return protocol == (ip[0] >> 4 == 6 ? IP_ICMP6 : IP_ICMP) ? COUNT_ICMP : COUNT_OTHER;
}

void count_sorts(struct count_state *s, struct rte_mbuf *const *m, unsigned n)
{
	unsigned sum[COUNT_SORTS] = {0};

	for (unsigned i = 0; i < n; i++) {
		if (i + 4 < n)
			rte_prefetch0(rte_pktmbuf_mtod(m[i + 4], const void *));
		sum[sort_of(m[i])]++;
	}
	for (unsigned k = 0; k < COUNT_SORTS; k++)
		if (sum[k] > 0)
			cell_add(&s->sort[k], sum[k]);
}
