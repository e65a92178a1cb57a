/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter_match.h"

#include <rte_ether.h>

#define TAG_AT 12 /* behind the two addresses */
#define TAG_BYTES 4

/* Bytes that lie in several segments. */
static const uint8_t *match_segments(const struct filter_view *v, uint32_t offset, uint32_t n,
				     uint8_t *buf)
{
	return rte_pktmbuf_read(v->of, offset, n, buf);
}

static unsigned match_tags(const struct rte_mbuf *m)
{
	return (m->ol_flags & RTE_MBUF_F_RX_QINQ_STRIPPED) != 0 ? 2 : 1;
}

/* One byte of the tags that the device took out. The mbuf has no types of them: with two the outer
 * one is an S-tag. */
static uint8_t match_tag_byte(const struct rte_mbuf *m, uint32_t at)
{
	bool outer = match_tags(m) == 2 && at < TAG_BYTES;
	uint32_t tag = (uint32_t)(outer ? RTE_ETHER_TYPE_QINQ : RTE_ETHER_TYPE_VLAN) << 16 |
		       (outer ? m->vlan_tci_outer : m->vlan_tci);

	return (uint8_t)(tag >> (24 - 8 * (at % TAG_BYTES)));
}

/* Bytes behind the addresses of a frame with its tags put back. */
static const uint8_t *match_tagged(const struct filter_view *v, uint32_t offset, uint32_t n,
				   uint8_t *buf)
{
	const struct rte_mbuf *m = v->of;
	uint32_t tags = match_tags(m) * TAG_BYTES;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = offset + i;
		uint8_t one;
		const uint8_t *p = &one;

		if (at >= TAG_AT && at < TAG_AT + tags)
			one = match_tag_byte(m, at - TAG_AT);
		else
			p = rte_pktmbuf_read(m, at < TAG_AT ? at : at - tags, 1, &one);
		if (p == NULL)
			return NULL;
		buf[i] = *p;
	}
	return buf;
}

bool filter_match_plain(const struct filter_exec *x, const struct rte_mbuf *m)
{
	struct filter_view v = {
		.data = rte_pktmbuf_mtod(m, const uint8_t *),
		.data_bytes = rte_pktmbuf_data_len(m),
		.frame_bytes = rte_pktmbuf_pkt_len(m),
		.more = m->nb_segs > 1 ? match_segments : NULL,
		.of = m,
	};

	if ((m->ol_flags & FILTER_TAKEN_OUT) != 0 && v.frame_bytes >= TAG_AT) {
		v.data_bytes = RTE_MIN(v.data_bytes, (uint32_t)TAG_AT);
		v.frame_bytes += match_tags(m) * TAG_BYTES;
		v.more = match_tagged;
	}
	return filter_run(x->insns, &v) != 0;
}
