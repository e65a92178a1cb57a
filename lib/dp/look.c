/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out what the frames of a burst have in common, in one pass over the first cache lines of
 * their mbufs. The first byte of each frame is read as well if the mbufs do not say what frames are
 * addressed to. Each line is compared with that of the first frame: in what none differs, the first
 * frame speaks for all. */
#include "dp.h"

#define LINE 64
_Static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "order of what lies in the words of an mbuf");
/* The words of 8 bytes in the first line of an mbuf. 2: data_off, refcnt, nb_segs, port; 3:
 * ol_flags; 4: packet_type, pkt_len; 5: data_len and others; 7: pool. */
_Static_assert(offsetof(struct rte_mbuf, rearm_data) == 16 &&
		       offsetof(struct rte_mbuf, ol_flags) == 24 &&
		       offsetof(struct rte_mbuf, packet_type) == 32 &&
		       offsetof(struct rte_mbuf, pkt_len) == 36 &&
		       offsetof(struct rte_mbuf, data_len) == 40 &&
		       offsetof(struct rte_mbuf, pool) == 56,
	       "places in an mbuf");

/* Makes the answer. one: the first frame. odd: the bits in which some frame's words differ from
 * those of the first one. known: the mbufs say what frames are addressed to. first: else the first
 * bytes of all frames, combined by "or". */
static __rte_always_inline struct dp_burst seen(const struct rte_mbuf *one,
						const uint64_t odd[LINE / 8], bool known,
						uint8_t first)
{
	uint64_t rearm;

	memcpy(&rearm, &one->rearm_data, sizeof(rearm));
	bool same_len = odd[4] >> 32 == 0,
	     same_at = known ? (uint32_t)odd[4] == 0 : (odd[2] & 0xffff) == 0;
	bool single = (((rearm ^ 0x0000000100010000ull) | odd[2]) & 0x0000ffffffff0000ull) == 0;
	bool own = ((one->ol_flags | odd[3]) & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)) == 0;

	return (struct dp_burst){
		.len = same_len ? one->pkt_len : 0,
		.dst = known && same_at ? one->packet_type & DP_DST_ALL : 0,
		.group = (first & 1) != 0 || !same_at,
		.plain = single && own && odd[7] == 0,
		.alike = ((odd[2] & 0xffff) | odd[3] | (odd[5] & 0xffff)) == 0,
	};
}

/* The variants: the same code for vectors of different lengths. */
#define LOOK look_plain
#define LOOK_VB 16
#define LOOK_TARGET
#include "look.inc"

#if defined(__x86_64__)
#define LOOK look_avx2
#define LOOK_VB 32
#define LOOK_TARGET __attribute__((target("avx2")))
#include "look.inc"

#define LOOK look_avx512
#define LOOK_VB 64
#define LOOK_TARGET __attribute__((target("avx512f")))
#include "look.inc"
#endif

dp_look_fn *dp_look_nth(unsigned i)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && i-- == 0)
		return look_avx512;
	if (__builtin_cpu_supports("avx2") && i-- == 0)
		return look_avx2;
#endif
	return i == 0 ? look_plain : NULL;
}

dp_look_fn *dp_look = look_plain;

static __attribute__((constructor)) void choose(void)
{
	dp_look = dp_look_nth(0);
}
