/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "gen": probes into frames that are about to be handed to the device. What a frame of a buffer held before is not looked at: each frame with
 * room for a probe gets one or PROBE_NONE each time, so that no old one leaves twice. */
#include "frame_probe.h"
#include "gen_own.h"

static inline void store(struct rte_mbuf *m, unsigned off, uint64_t hi, uint64_t lo)
{
	uint8_t *p = (uint8_t *)m + GEN_DATA_OFF + off;
	uint64_t be[2] = {rte_cpu_to_be_64(hi), rte_cpu_to_be_64(lo)};

	memcpy(p, be, sizeof(be));
}

/* The word that makes the sum right. */
static inline uint64_t with_check(uint64_t hi, uint64_t lo)
{
	uint32_t s = probe_sum64(hi) + probe_sum64(lo) + (0xffffu - PROBE_SUM); /* never 0 */

	s = (s & 0xffff) + (s >> 16);
	s = (s & 0xffff) + (s >> 16);
	return hi | (uint64_t)(s ^ 0xffff) << 48;
}

static inline void put(struct gen_state *g, const struct frun_probing *b, unsigned stream, unsigned off, uint64_t code, struct rte_mbuf *m)
{
	cell_t *c = &g->probes->seq[stream];
	uint64_t seq = cell_get(c), hi = b->hi | (uint64_t)(uint32_t)seq << 16 | code >> 15;
	uint64_t lo = b->lo | (uint64_t)stream << 51 | (code & 0x7fff) << 36;

	cell_set(c, seq + 1);
	store(m, off, with_check(hi, lo), lo);
}

static void put_none(struct rte_mbuf *m, unsigned off)
{
	uint64_t lo = probe_lo(PROBE_NONE, 0, 0);

	store(m, off, with_check(0, lo), lo);
}

/* Has this frame of a stream a probe, when one of so many has? */
static inline bool takes_turn(uint32_t *left, uint32_t every)
{
	bool now = *left == 0 || *left >= every;

	*left = now ? every - 1 : *left - 1;
	return now;
}

static void encode_each(uint64_t *delay, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		delay[k] = probe_delay_code((int64_t)delay[k] > 0 ? delay[k] : 0);
}

/* How long after its time each frame leaves, as probe_delay_code() says it; 0 where it is early. */
static inline void delay_codes(const struct gen_job *j, const struct gen_grp *gr, uint64_t i, unsigned n, uint64_t tsc, uint64_t *delay)
{
	if (unlikely(gr->step == 0 || gr->chases)) {
		for (unsigned k = 0; k < n; k++)
			delay[k] = tsc - gen_due_at(j, gr, i + k);
		encode_each(delay, n);
		return;
	}
	struct pace_period step = pace_times(&gr->pace.period, gr->step);
	uint64_t units = gen_unit(j, gr, i) - gr->pace.k0, frac = (uint64_t)((unsigned __int128)units * gr->pace.period.frac);
	uint64_t left = tsc - pace_due(&gr->pace, gr->pace.k0 + units);
	for (unsigned k = 0; k < n; k++) {
		delay[k] = left;
		left -= step.cycles + __builtin_add_overflow(frac, step.frac, &frac);
	}
	/* from the first to the last they shrink: as a rule all of one exponent, or none above 0 */
	uint64_t most = delay[0], least = delay[n - 1];
	unsigned exp = 49 - (unsigned)__builtin_clzll(most | 1);
	if (likely(most >> 15 == 0 && least >> 15 == 0))
		return;
	if ((int64_t)least <= 0 || exp > 31 || least >> (exp + 14) == 0) {
		encode_each(delay, n);
		return;
	}
	for (unsigned k = 0; k < n; k++)
		delay[k] = (uint64_t)exp << 15 | delay[k] >> exp;
}

/* Of a program in which not every frame has a probe, or some have sums that follow it. */
static __rte_noinline void put_each(struct gen_state *g, const struct gen_grp *gr, const struct frun_probing *b, const uint64_t *sent, uint32_t at,
				    uint64_t i, struct rte_mbuf *const *m, unsigned n)
{
	struct frun_probing own_b = *b; /* sent: of each frame, NULL: all leave at once */

	const struct frun_probe *probe = frun_probes(gr->prog);
	uint32_t own = frun_probes_own(gr->prog);

	for (unsigned k = 0; k < n; k++, at = at + 1 < own ? at + 1 : 0) {
		const struct frun_probe *p = &probe[at];
		if (p->off == 0)
			continue;
		if (sent != NULL)
			own_b.lo = sent[k] & PROBE_SENT_MASK;
		if (p->every == 1 || takes_turn(&g->probes->left[p->stream], p->every))
			put(g, &own_b, p->stream, p->off, b->code != NULL ? b->code[k] : 0, m[k]);
		else
			put_none(m[k], p->off);
		frun_probe_sums(gr->prog, i - gr->prog_i + k, rte_pktmbuf_mtod(m[k], uint8_t *));
	}
}

/* Index of the group's own frame i; without a division where bursts of one program follow each other. */
static inline uint32_t probe_index(struct gen_own *o, const struct gen_grp *gr, uint64_t i, unsigned n)
{
	uint32_t own = frun_probes_own(gr->prog), at;

	if (own == 1)
		return 0;
	i -= gr->prog_i;
	at = likely(o->probe_prog == gr->prog && o->probe_i == i) ? o->probe_at : (uint32_t)(i % own);
	o->probe_prog = gr->prog;
	o->probe_i = i + n;
	o->probe_at = at + n < own ? at + n : (at + n) % own;
	return at;
}

/* Frames that the device holds back until their times. */
static __rte_noinline void put_stamped(const struct gen_job *j, struct gen_state *g, const struct gen_grp *gr, uint32_t at, uint64_t i,
				       struct rte_mbuf *const *m, unsigned n)
{
	uint64_t code[DP_BURST_MAX], sent[DP_BURST_MAX], tsc = rte_rdtsc();
	struct frun_probing b = {.hi = (uint64_t)j->txq->port << 11 | (uint64_t)j->queue << 5, .code = code, .seq = g->probes->seq};

	for (unsigned k = 0; k < n; k++) {
		sent[k] = gen_stamp_sent(j, g, m[k], tsc);
		uint64_t due = pace_is_max(&gr->pace) ? sent[k] : gen_due_at(j, gr, i + k);
		code[k] = probe_delay_code((int64_t)(sent[k] - due) > 0 ? sent[k] - due : 0);
	}
	put_each(g, gr, &b, sent, at, i, m, n);
}

void gen_probe_put(const struct gen_job *j, struct gen_state *g, const struct gen_grp *gr, uint64_t i, struct rte_mbuf *const *m, unsigned n,
		   bool fill)
{
	uint64_t code[DP_BURST_MAX], tsc;
	enum frun_probes_kind kind = frun_probes_kind(gr->prog);

	if (unlikely(g->probes == NULL))
		return;
	uint32_t at = probe_index(gen_own(g), gr, i, n);
	if (unlikely(j->stamp != NULL)) {
		put_stamped(j, g, gr, at, i, m, n);
		return;
	}
	tsc = rte_rdtsc();
	struct frun_probing b = {.hi = (uint64_t)j->txq->port << 11 | (uint64_t)j->queue << 5, .lo = tsc & PROBE_SENT_MASK, .seq = g->probes->seq};
	if (!pace_is_max(&gr->pace)) {
		delay_codes(j, gr, i, n, tsc, code);
		b.code = code;
	}
	if (fill)
		frun_fill_probe(gr->prog, gr->state, at, &b, (void *const *)m, n);
	else if (likely(kind != FRUN_PROBES_SOME))
		frun_probe(gr->prog, at, &b, (void *const *)m, n);
	else
		put_each(g, gr, &b, NULL, at, i, m, n);
}

void gen_probe_back(struct gen_state *g, const struct gen_grp *gr, uint64_t i, unsigned n)
{
	const struct frun_probe *probe = frun_probes(gr->prog);
	uint32_t own = frun_probes_own(gr->prog), at = (uint32_t)((i - gr->prog_i + n) % own);

	for (unsigned k = n; k-- > 0 && g->probes != NULL;) {
		at = at > 0 ? at - 1 : own - 1;
		const struct frun_probe *p = &probe[at];
		uint32_t *left = &g->probes->left[p->stream];
		if (p->off == 0)
			continue;
		if (p->every > 1 && *left != p->every - 1) {
			++*left;
			continue;
		}
		if (p->every > 1)
			*left = 0;
		cell_add(&g->probes->seq[p->stream], UINT64_MAX);
	}
}
