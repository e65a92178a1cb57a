/* SPDX-License-Identifier: BSD-3-Clause */
/* The header that Linux has in front of a frame where a program and the kernel leave work on it to
 * each other (linux/virtio_net.h), and what an mbuf says of the same. Any thread. */
#pragma once
#include <linux/virtio_net.h>

#include "dp.h"

/* What a port whose queues send such headers can do with what works leave undone. */
#define VIRTIO_TX_OFFLOADS \
	(RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM | \
	 RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS)

/* Fills in the header of a frame that is to be sent, by ol_flags, l2_len, l3_len, l4_len and
 * tso_segsz as DPDK has them; l2_len counts all that comes before the innermost IP header. The
 * field of a checksum that is to be completed has the sum of the pseudo header with the length of
 * this frame, also in a super-frame, and an IPv4 header is complete: a super-frame that nobody cuts
 * is delivered as it is. Nothing is written into the frame, so that it may be offered again. */
static inline void virtio_hdr_of(struct virtio_net_hdr *h, const struct rte_mbuf *m)
{
	uint64_t flags = m->ol_flags, l4 = flags & RTE_MBUF_F_TX_L4_MASK;

	*h = (struct virtio_net_hdr){0};
	if (likely((flags & (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_TCP_SEG)) == 0))
		return;
	h->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	h->csum_start = (uint16_t)(m->l2_len + m->l3_len);
	h->csum_offset = l4 == RTE_MBUF_F_TX_UDP_CKSUM ? 6 : 16;
	if ((flags & RTE_MBUF_F_TX_TCP_SEG) != 0) {
		h->gso_type = (flags & RTE_MBUF_F_TX_IPV6) != 0 ? VIRTIO_NET_HDR_GSO_TCPV6
								: VIRTIO_NET_HDR_GSO_TCPV4;
		h->hdr_len = (uint16_t)(h->csum_start + m->l4_len);
		h->gso_size = m->tso_segsz;
	}
}

/* Notes in a received frame what the kernel has left undone: a checksum of TCP or UDP that is only
 * begun (RTE_MBUF_F_RX_L4_CKSUM_NONE), several segments of TCP or datagrams of UDP in one frame
 * (RTE_MBUF_F_RX_LRO, tso_segsz). One datagram that is still to be made fragments of is one. */
static inline void virtio_hdr_undone(struct rte_mbuf *m, const struct virtio_net_hdr *h)
{
	if (likely((h->flags | h->gso_type) == 0))
		return;
	if ((h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) != 0)
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_NONE;
	if (h->gso_type != VIRTIO_NET_HDR_GSO_NONE &&
	    (h->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) != VIRTIO_NET_HDR_GSO_UDP) {
		m->ol_flags |= RTE_MBUF_F_RX_LRO;
		m->tso_segsz = h->gso_size;
	}
}
