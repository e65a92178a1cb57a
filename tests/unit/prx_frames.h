/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes frames with probes, and receivers of probes, for tests. */
#pragma once
#include "dp_fake.h"
#include "prx.h"
#include "prx_fields.h"

#define PRX_AT 42 /* the probe stands behind eth/ipv4/udp */
#define PRX_LEN 60
#define NS_MULT (1ull << 31) /* a ns has 2 cycles */

static inline void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void put_probe(uint8_t *p, uint32_t seq, unsigned port, unsigned queue,
			     unsigned stream, uint64_t sent, uint64_t delay)
{
	uint64_t code = probe_delay_code(delay), lo = probe_lo(stream, code, sent),
		 hi = probe_hi(seq, port, queue, code, lo);

	for (unsigned i = 0; i < 8; i++) {
		p[i] = (uint8_t)(hi >> (56 - 8 * i));
		p[8 + i] = (uint8_t)(lo >> (56 - 8 * i));
	}
}

/* Returns the checksum of RFC 1071, made in the plain way. */
static inline unsigned plain_sum(const uint8_t *p, unsigned n, uint32_t sum)
{
	for (unsigned i = 0; i < n; i++)
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

static inline void put_frame(uint8_t *p, uint32_t seq, unsigned port, unsigned queue,
			     unsigned stream, uint64_t sent, uint64_t delay)
{
	static const uint8_t head[34] = {2,  0, 0, 0, 0, 1,  2,  0, 0, 0,  0, 2, 8, 0,  0x45, 0, 0,
					 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0,    0, 2};

	memcpy(p, head, sizeof(head));
	memset(p + sizeof(head), 0, PRX_LEN - sizeof(head));
	put16(p + 24, plain_sum(p + 14, 20, 0));
	put16(p + 34, 1234);
	put16(p + 36, 5678);
	put16(p + 38, 26);
	put_probe(p + PRX_AT, seq, port, queue, stream, sent, delay);
	put16(p + 58, 0x1234);
	put16(p + 40, plain_sum(p + 34, 26, 17 + 26 + (10 << 8) * 2 + 1 + 2));
}

/* Hands a burst to the receiver as a worker does. */
static inline void prx_burst(struct prx *x, struct rte_mbuf *const *m, unsigned n, uint64_t now)
{
	struct dp_burst b = dp_look(m, n);

	prx_rx(x, &b, m, n, now);
	prx_flush(x);
}

static inline struct prx *prx_new(const struct prx_spec *s)
{
	size_t n = prx_size(s);

	assert_true(n > 0 && n % CACHE_LINE == 0);
	void *mem = zeroed(n);
	prx_init(mem, s);
	return mem;
}

/* Returns in turn the code for each instruction set that this CPU has. All must find the same. */
static inline const struct prx_ops *ops_of(unsigned turn)
{
#if defined(__x86_64__)
	if (turn % 3 == 1 && __builtin_cpu_supports("avx2"))
		return &prx_ops_avx2;
#endif
	return turn % 3 == 0 ? &prx_ops_plain : prx_ops_best();
}
