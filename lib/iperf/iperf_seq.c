/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and times in datagrams: loss, order, and the jitter of RFC 1889 6.3.1. */
#include "iperf_proto.h"

static void put_be32(uint8_t *p, uint32_t v)
{
	put_be16(p, v >> 16);
	put_be16(p + 2, v & 0xffff);
}

static uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)get_be16(p) << 16 | get_be16(p + 2);
}

void iperf_udp_put(uint8_t *p, uint64_t time_us, uint64_t number, bool wide)
{
	put_be32(p, (uint32_t)(time_us / 1000000));
	put_be32(p + 4, (uint32_t)(time_us % 1000000));
	if (wide) {
		put_be32(p + 8, (uint32_t)(number >> 32));
		p += 4;
	}
	put_be32(p + 8, (uint32_t)number);
}

/* Jitter: the difference of transit times, a sixteenth of it at a time. The clocks of both ends
 * need not agree, as what they differ by is in all transit times. */
static void seq_jitter(struct iperf_seq *s, const uint8_t *p, uint64_t now_us)
{
	double sent = get_be32(p) + get_be32(p + 4) / 1e6;
	double transit = (double)now_us / 1e6 - sent;
	double d = transit - s->transit_s;

	if (s->any)
		s->jitter_s += ((d < 0 ? -d : d) - s->jitter_s) / 16;
	s->transit_s = transit;
	s->any = true;
}

bool iperf_seq_seen(struct iperf_seq *s, const uint8_t *p, size_t n, bool wide, uint64_t now_us)
{
	uint64_t number;

	if (n < (wide ? IPERF_UDP_HEAD64 : IPERF_UDP_HEAD))
		return false;
	number = wide ? (uint64_t)get_be32(p + 8) << 32 | get_be32(p + 12) : get_be32(p + 8);
	if (number > s->packets) {
		/* numbers without end would make the count of lost ones negative */
		if (number - s->packets - 1 <= INT64_MAX / 2 && s->lost <= INT64_MAX / 2)
			s->lost += (int64_t)(number - s->packets - 1);
		s->packets = number;
	} else {
		s->unordered++;
		s->lost--;
	}
	seq_jitter(s, p, now_us);
	return true;
}
