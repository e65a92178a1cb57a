/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksums of outer headers of received frames. Payload is not read for them: with its pseudo
 * header TCP or UDP adds up to nothing if its own checksum is right, which is another's to judge,
 * or will be when a device has completed it. */
#include "flows_own.h"
#include "proto_run.h"

#define SUM_NOTHING 0xffff /* what bytes add up to whose checksum is among them */

static uint32_t sums_fold(uint64_t s)
{
	while (s >> 16 != 0)
		s = (s & 0xffff) + (s >> 16);
	return (uint32_t)s;
}

static uint64_t sums_16(unsigned v)
{
	return rte_cpu_to_be_16((uint16_t)v);
}

/* The packet in the innermost IP header. */
struct sums_inner {
	unsigned end; /* where it ends in the frame */
	/* It must be read: an IPv4 packet of UDP without a checksum. */
	bool read;
	uint64_t sum; /* of all its bytes, if it need not be read */
};

static void sums_inner(const struct flows_shape *s, const struct flow_in *in,
		       struct sums_inner *out)
{
	const uint8_t *ip = in->data + s->l3, *l4;
	unsigned protocol, length;
	uint64_t pseudo;

	if (s->is6) {
		unsigned at = in->l4 != 0 ? in->l4 : s->l3 + LEN_IP6;
		protocol = in->l4 == 0 ? ip[6] : in->l4_udp ? IP_UDP : IP_TCP;
		out->end = s->l3 + LEN_IP6 + get_be16(ip + 4);
		l4 = in->data + at;
		length = out->end - at;
		out->sum = wl_sum(ip, at - s->l3);
		pseudo = wl_sum(ip + 8, 32);
	} else {
		unsigned header = (ip[0] & 15u) * 4;
		protocol = ip[9];
		out->end = s->l3 + get_be16(ip + 2);
		l4 = ip + header;
		length = out->end - s->l3 - header;
		out->sum = wl_sum(ip, header);
		pseudo = wl_sum(ip + 12, 8);
	}
	pseudo += sums_16(protocol) + sums_16(length);
	out->sum += (uint16_t)~sums_fold(pseudo);
	out->read = protocol == IP_UDP && l4 + 8 <= in->data + in->len && get_be16(l4 + 6) == 0;
}

/* What `length` bytes from `from` on add up to. false: they are not there. */
static bool sums_region(const struct flows_shape *s, const struct flow_in *in,
			const struct sums_inner *inner, unsigned from, unsigned length,
			uint64_t *sum)
{
	if (from + length == inner->end && !inner->read) {
		*sum = wl_sum(in->data + from, s->l3 - from) + inner->sum;
		return true;
	}
	if (from + length > in->len)
		return false;
	*sum = wl_sum(in->data + from, length);
	return true;
}

/* A checksum of UDP, or one without a pseudo header. */
static enum flow_verdict sums_judge(const struct flows_shape *s, const struct flow_in *in,
				    const struct sums_inner *inner, const struct flows_check *x,
				    bool kernel_peer)
{
	const uint8_t *ip = in->data + x->ip;
	unsigned end = x->ip + (ip[0] >> 4 == 4 ? get_be16(ip + 2) : LEN_IP6 + get_be16(ip + 4));
	unsigned length = x->kind == FLOW_FIX_UDP ? get_be16(in->data + x->at - 2) : end - x->from;
	uint64_t sum, pseudo = 0;
	uint16_t field;

	memcpy(&field, in->data + x->at, 2);
	if (x->kind == FLOW_FIX_UDP) {
		if (field == 0) /* RFC 768; over IPv6 RFC 6935 */
			return FLOW_SUM_GOOD;
		pseudo = ip[0] >> 4 == 4 ? wl_sum(ip + 12, 8) : wl_sum(ip + 8, 32);
		pseudo += sums_16(IP_UDP) + sums_16(length);
		if (kernel_peer && field == sums_fold(pseudo))
			return FLOW_SUM_PARTIAL;
	}
	if (end < x->from || x->from + length > end)
		return FLOW_SUM_BAD;
	if (!sums_region(s, in, inner, x->from, length, &sum))
		return in->rest != NULL ? FLOW_SUM_PARTIAL : FLOW_SUM_BAD;
	return sums_fold(sum + pseudo) == SUM_NOTHING ? FLOW_SUM_GOOD : FLOW_SUM_BAD;
}

enum flow_verdict flows_outer_judge(const struct flows_shape *s, const struct flow_in *in,
				    bool kernel_peer)
{
	enum flow_verdict all = FLOW_SUM_GOOD;
	struct sums_inner inner;

	sums_inner(s, in, &inner);
	for (unsigned i = 0; i < s->nchecks && all != FLOW_SUM_BAD; i++) {
		const struct flows_check *x = &s->check[i];
		const uint8_t *ip = in->data + x->from;
		enum flow_verdict one;

		if (x->kind == FLOW_FIX_IP4)
			one = sums_fold(wl_sum(ip, (ip[0] & 15u) * 4)) == SUM_NOTHING
				      ? FLOW_SUM_GOOD
				      : FLOW_SUM_BAD;
		else
			one = sums_judge(s, in, &inner, x, kernel_peer);
		if (one != FLOW_SUM_GOOD)
			all = one;
	}
	return all;
}
