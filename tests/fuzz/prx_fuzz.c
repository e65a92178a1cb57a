/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives bursts of arbitrary frames, some with whole probes in them, to a receiver of probes. It
 * must read nothing outside of them, and count each frame once. */
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "prx.h"
#include "prx_parse.h"

#define BURST 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_probe(uint8_t *p, struct input *in)
{
	uint64_t lo = probe_lo(byte(in) % 10, probe_delay_code(number(in, 2)), number(in, 3)),
		 hi = 0;

	hi = probe_hi((uint32_t)number(in, 1), byte(in) % 3, byte(in) % 3, 0, lo);
	hi = __builtin_bswap64(hi);
	lo = __builtin_bswap64(lo);
	memcpy(p, &hi, 8);
	memcpy(p + 8, &lo, 8);
}

/* Makes a frame of exactly as many bytes as it has, so that the sanitizer sees a byte too many. */
static struct rte_mbuf *frame(struct input *in)
{
	unsigned how = byte(in), len = (unsigned)number(in, 2) % 600 + 1,
		 have = (unsigned)(in->end - in->at);
	struct rte_mbuf *m = aligned_alloc(_Alignof(struct rte_mbuf), sizeof(*m));
	uint8_t *bytes = calloc(1, len);

	memset(m, 0, sizeof(*m));
	memcpy(bytes, in->at, have < len ? have : len);
	in->at += have < len ? have : len;
	if ((how & 1) != 0 && len >= PROBE_LEN)
		put_probe(bytes + (unsigned)number(in, 2) % (len - PROBE_LEN + 1), in);
	m->buf_addr = bytes;
	m->nb_segs = 1;
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	m->ol_flags = (how & 6) == 6 ? RTE_MBUF_F_RX_L4_CKSUM_BAD : 0;
	return m;
}

static void walk(const struct rte_mbuf *m)
{
	struct prx_walk w;
	const uint8_t *p = m->buf_addr;

	prx_walk(p, m->data_len, &w);
	CHECK(w.nplaces <= PRX_MAX_PLACES && w.nsums <= PRX_MAX_SUMS && w.payload <= m->data_len);
	for (unsigned i = 0; i < w.nplaces; i++)
		CHECK(w.place[i] <= m->data_len && (i == 0 || w.place[i] > w.place[i - 1]));
	for (unsigned i = 0; i < w.nsums; i++)
		CHECK(w.sum[i].from < w.sum[i].to && w.sum[i].to <= m->data_len);
	prx_damaged(p, &w, m->data_len);
}

static void check(const struct prx *x, uint64_t frames)
{
	const struct prx_port *p = prx_port(x);
	uint64_t probes = 0, received = 0;

	CHECK(p->probes + p->plain + p->damaged + p->foreign == frames);
	for (unsigned stream = 0; stream < 8; stream++)
		for (unsigned queue = 0; queue < 2; queue++) {
			const struct prx_flow *f = prx_flow(x, 1, stream, queue);
			probes += f->received + f->late + f->corrupted;
			received += f->received + f->late;
			CHECK(f->duplicate + f->reordered <= f->received);
		}
	CHECK(probes == p->probes);
	uint64_t timed = hist_count(prx_port_hist(x, PRX_ACTUAL));
	/* Probes of corrupted frames are not timed, be they late or copies. */
	CHECK(timed <= received);
	CHECK(hist_count(prx_port_hist(x, PRX_INTENDED)) == timed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t latency[8] = {1, 0, 0, 1};
	struct input in = {data, data + size};
	struct prx_spec spec = {.nports = 2,
				.of = {{0, 0}, {8, 2}},
				.latency = latency,
				.window_blocks = 2,
				.holes = 2,
				.hz = 1000000000,
				.ns_mult = 1ull << 32,
				.verify = byte(&in) & 1,
				.target_gap_cycles = 100};
	size_t n = prx_size(&spec);
	void *mem = aligned_alloc(64, n);
	uint64_t now = 1 << 20, frames = 0;

	memset(mem, 0, n);
	prx_init(mem, &spec);
	while (in.at < in.end) {
		struct rte_mbuf *m[BURST];
		unsigned count = byte(&in) % BURST + 1;
		for (unsigned i = 0; i < count; i++) {
			m[i] = frame(&in);
			walk(m[i]);
		}
		now += number(&in, 2);
		struct dp_burst b = dp_look(m, count);
		prx_rx(mem, &b, m, count, now);
		prx_flush(mem);
		frames += count;
		for (unsigned i = 0; i < count; i++) {
			free(m[i]->buf_addr);
			free(m[i]);
		}
	}
	check(mem, frames);
	free(mem);
	return 0;
}
