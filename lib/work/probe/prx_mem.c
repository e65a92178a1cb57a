/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a receiver of probes: control lays it out, and any thread may read it. */
#include "prx_own.h"

struct parts {
	size_t flow, more, window, hole, hist[3], stream_hist, stream_hist_size, scratch, end;
	uint32_t nflows;
};

static size_t prx_mem_lines(size_t n)
{
	return (n + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}
static bool power_of_two(uint32_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

/* How many streams get histograms of their own. */
static uint32_t count_latency(const struct prx_spec *s)
{
	uint32_t n = 0, all = 0;

	for (unsigned p = 0; p < s->nports; p++)
		all += s->of[p].nstreams;
	for (uint32_t i = 0; s->latency != NULL && i < all; i++)
		n += s->latency[i] != 0;
	return n;
}

/* The flows of a stream lie together, in a number of places that is a power of two, 1 << bits. */
static unsigned queue_bits(unsigned nqueues)
{
	unsigned bits = 0;

	while (1u << bits < nqueues)
		bits++;
	return bits;
}

/* Says at which offsets the parts of a receiver lie. Returns false if the spec is wrong, or if it
 * takes more than 2^40 bytes. */
static bool lay_out(const struct prx_spec *s, struct parts *p)
{
	struct hist_shape port = {PRX_PORT_BITS, PRX_TOP}, stream = {PRX_STREAM_BITS, PRX_TOP};
	size_t nflows = 0, at = prx_mem_lines(sizeof(struct prx));

	if (s->nports > PROBE_PORTS || !power_of_two(s->window_blocks) || s->window_blocks < 2 ||
	    s->window_blocks > 1u << 24 || !power_of_two(s->holes) ||
	    s->ns_mult >> PRX_MULT_BITS != 0)
		return false;
	for (unsigned i = 0; i < s->nports; i++) {
		if (s->of[i].nstreams > PROBE_STREAMS || s->of[i].nqueues > PROBE_QUEUES)
			return false;
		nflows += (size_t)s->of[i].nstreams << queue_bits(s->of[i].nqueues);
	}
	p->nflows = (uint32_t)nflows;
	p->flow = at;
	at += nflows * sizeof(struct prx_flow);
	p->more = at;
	at += prx_mem_lines(nflows * sizeof(struct prx_more));
	p->window = at;
	at += prx_mem_lines(nflows * s->window_blocks * sizeof(struct prx_block));
	p->hole = at;
	at += prx_mem_lines(nflows * s->holes * sizeof(struct prx_hole));
	for (unsigned i = 0; i < 3; i++) {
		p->hist[i] = at;
		at += hist_size(port);
	}
	p->stream_hist = at;
	p->stream_hist_size = hist_size(stream);
	at += count_latency(s) * 2 * p->stream_hist_size;
	p->scratch = at;
	p->end = at + PRX_SCRATCH;
	return p->end <= 1ull << 40;
}

size_t prx_size(const struct prx_spec *s)
{
	struct parts p;

	return lay_out(s, &p) ? p.end : 0;
}

static void init_flows(struct prx *x, const struct prx_spec *s)
{
	uint32_t base = 0, stream = 0, nhists = 0;

	for (unsigned p = 0; p < s->nports; p++) {
		x->of[p].base = base;
		x->of[p].nstreams = s->of[p].nqueues > 0 ? s->of[p].nstreams : 0;
		x->of[p].nqueues = (uint8_t)s->of[p].nqueues;
		x->of[p].queue_bits = (uint8_t)queue_bits(s->of[p].nqueues);
		for (unsigned i = 0; i < s->of[p].nstreams; i++, stream++) {
			uint32_t hist =
				s->latency != NULL && s->latency[stream] != 0 ? ++nhists : 0;
			for (unsigned q = 0; q < 1u << x->of[p].queue_bits; q++, base++) {
				x->more[base].hist = hist;
				x->more[base].quotes = s->quotes != NULL && s->quotes[stream] != 0;
			}
			for (unsigned w = PRX_ACTUAL; hist != 0 && w <= PRX_INTENDED; w++)
				hist_init(prx_own_hist(x, hist, (enum prx_hist)w),
					  (struct hist_shape){PRX_STREAM_BITS, PRX_TOP});
		}
	}
	x->streams_have_hists = nhists > 0;
}

void prx_init(void *mem, const struct prx_spec *s)
{
	struct prx *x = mem;
	uint8_t *at = mem;
	struct parts p;
	/* the shortest windows for dispersion last 1 us in whole cycles, those of each further
	 * scale ten times as long */
	uint64_t cycles = (s->hz + 500000) / 1000000;

	if (!lay_out(s, &p))
		return;
	x->nports = s->nports;
	x->window_mask = s->window_blocks - 1;
	x->window_shift = (uint32_t)__builtin_ctz(s->window_blocks);
	x->late_blocks = s->window_blocks / 2 - 1;
	x->verify = s->verify;
	x->many_flows = p.nflows * sizeof(struct prx_flow) > PRX_NEAR_FLOWS;
	x->ns_mult = s->ns_mult << (64 - PRX_MULT_BITS);
	x->ns = (double)s->ns_mult / 4294967296.0;
	_Static_assert(PRX_TOP + 32 == 63 + 5, "the shift below");
	/* 2^PRX_TOP ns are 2^(PRX_TOP + 32) / ns_mult cycles. That does not fit 64 bits before the
	 * division, so a 2^5th of it is computed, rounded down. */
	x->limit = (1ull << 63) / (s->ns_mult + 1);
	x->limit = x->limit >= PRX_LATEST >> 5 ? PRX_LATEST : x->limit << 5;
	x->ops = prx_ops_best();
	if (s->quoted != NULL)
		memcpy(x->quoted, s->quoted, sizeof(x->quoted));
	x->flow = (void *)(at + p.flow);
	x->more = (void *)(at + p.more);
	x->window = (void *)(at + p.window);
	x->hole = (void *)(at + p.hole);
	x->holes = s->holes;
	for (unsigned i = 0; i < 3; i++) {
		x->hist[i] = (void *)(at + p.hist[i]);
		hist_init(x->hist[i], (struct hist_shape){PRX_PORT_BITS, PRX_TOP});
	}
	x->stream_hist = at + p.stream_hist;
	x->stream_hist_size = p.stream_hist_size;
	x->scratch = at + p.scratch;
	prx_set_target(x, s->target_gap_cycles);
	for (unsigned i = 0; i < PRX_SCALES; i++, cycles *= 10)
		x->port.scale[i].cycles = cycles > 0 ? cycles : 1;
	init_flows(x, s);
}

void prx_set_clock(struct prx *x, const struct dp_clock *clock)
{
	__atomic_store_n(&x->clock, clock, __ATOMIC_RELEASE);
}

/* ---- readers ---- */

bool prx_block_now(const struct prx_flow *f, struct prx_block *out)
{
	for (unsigned tries = 0; tries < 16; tries++) {
		out->no = prx_block_no(__atomic_load_n(&f->next, __ATOMIC_ACQUIRE));
		out->bits = __atomic_load_n(&f->bits, __ATOMIC_ACQUIRE);
		if (out->no != 0 &&
		    prx_block_no(__atomic_load_n(&f->next, __ATOMIC_RELAXED)) == out->no)
			return true;
	}
	return false;
}

static uint32_t flow_of(const struct prx *x, unsigned port, unsigned stream, unsigned queue)
{
	if (port >= x->nports || stream >= x->of[port].nstreams || queue >= x->of[port].nqueues)
		return PRX_NO_FLOW;
	return x->of[port].base + (stream << x->of[port].queue_bits) + queue;
}

const struct prx_flow *prx_flow(const struct prx *x, unsigned port, unsigned stream, unsigned queue)
{
	uint32_t i = flow_of(x, port, stream, queue);

	return i != PRX_NO_FLOW ? &x->flow[i] : NULL;
}

const struct prx_block *prx_window(const struct prx *x, unsigned port, unsigned stream,
				   unsigned queue, uint32_t *nblocks)
{
	uint32_t i = flow_of(x, port, stream, queue);

	*nblocks = x->window_mask + 1;
	return i != PRX_NO_FLOW ? &x->window[(uint64_t)i << x->window_shift] : NULL;
}

const struct prx_port *prx_port(const struct prx *x)
{
	return &x->port;
}

const struct hist *prx_port_hist(const struct prx *x, enum prx_hist which)
{
	return x->hist[which];
}

const struct hist *prx_stream_hist(const struct prx *x, unsigned port, unsigned stream,
				   enum prx_hist which)
{
	uint32_t flow = flow_of(x, port, stream, 0),
		 hist = flow != PRX_NO_FLOW ? x->more[flow].hist : 0;

	return hist != 0 ? prx_own_hist(x, hist, which) : NULL;
}
