/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind "gen" puts probes into frames right before they are offered to the device. A frame with
 * room for a probe always gets one or PROBE_NONE, whatever its buffer held before, so that no old
 * probe leaves twice. */
#include "frame_probe.h"
#include "gen_own.h"

/* Where the probe of a frame is written. */
static inline uint8_t *gen_probe_place(struct rte_mbuf *m, unsigned off)
{
	return (uint8_t *)m + GEN_DATA_OFF + off;
}

/* Returns whether this frame of a stream gets a probe, if one of `every` frames does. */
static inline bool takes_turn(uint32_t *left, uint32_t every)
{
	bool now = *left == 0 || *left >= every;

	*left = now ? every - 1 : *left - 1;
	return now;
}

/* Replaces n delays in cycles by their codes. */
static void encode_each(uint64_t *delay, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		delay[k] = probe_late_code(delay[k]);
}

/* Sets delay[0..n): how long after its deadline each frame leaves at tsc, by probe_delay_code(); 0
 * for a frame that is early. */
static inline void delay_codes(const struct gen_job *j, const struct gen_grp *gr, uint64_t i,
			       unsigned n, uint64_t tsc, uint64_t *delay)
{
	if (unlikely(gr->step == 0 || gr->chases)) {
		for (unsigned k = 0; k < n; k++)
			delay[k] = tsc - gen_due_at(j, gr, i + k);
		encode_each(delay, n);
		return;
	}
	struct pace_period step = pace_times(&gr->pace.period, gr->step);
	uint64_t units = gen_unit(j, gr, i) - gr->pace.k0,
		 frac = (uint64_t)((unsigned __int128)units * gr->pace.period.frac);
	uint64_t left = tsc - pace_due(&gr->pace, gr->pace.k0 + units);
	for (unsigned k = 0; k < n; k++) {
		delay[k] = left;
		left -= step.cycles + __builtin_add_overflow(frac, step.frac, &frac);
	}
	/* The delays fall from the first to the last. As a rule all have the same exponent. */
	uint64_t most = delay[0], least = delay[n - 1];
	/* probe_exp() without its branch, for a delay that does not fit into mant as it is. */
	unsigned exp = 64 - PROBE_MANT_BITS - (unsigned)__builtin_clzll(most | 1);
	if (likely(most >> PROBE_MANT_BITS == 0 && least >> PROBE_MANT_BITS == 0))
		return;
	if ((int64_t)least <= 0 || exp > PROBE_EXP_MAX ||
	    least >> (exp + PROBE_MANT_BITS - 1) == 0) {
		encode_each(delay, n);
		return;
	}
	for (unsigned k = 0; k < n; k++)
		delay[k] = probe_code_of(exp, delay[k]);
}

/* Puts probes into the frames of a frun of FRUN_PROBES_SOME: not every frame has one, or
 * checksums depend on it. sent: when each frame leaves; NULL: all leave at once, as b says. at:
 * index of the first frame's probe. */
static __rte_noinline void put_each(struct gen_state *g, const struct gen_grp *gr,
				    const struct frun_probing *b, const uint64_t *sent, uint32_t at,
				    uint64_t i, struct rte_mbuf *const *m, unsigned n)
{
	struct frun_probing own_b = *b;

	const struct frun_probe *probe = frun_probes(gr->frun);
	uint32_t own = frun_probes_own(gr->frun);

	for (unsigned k = 0; k < n; k++, at = at + 1 < own ? at + 1 : 0) {
		const struct frun_probe *p = &probe[at];
		if (p->off == 0)
			continue;
		if (sent != NULL)
			own_b.lo = sent[k] & PROBE_SENT_MASK;
		if (p->every == 1 || takes_turn(&g->probes->left[p->stream], p->every))
			probe_put_next(gen_probe_place(m[k], p->off), own_b.hi, own_b.lo, p->stream,
				       b->code != NULL ? b->code[k] : 0,
				       &g->probes->seq[p->stream]);
		else
			probe_put(gen_probe_place(m[k], p->off), 0, probe_lo(PROBE_NONE, 0, 0));
		frun_probe_sums(gr->frun, i - gr->frun_i + k, rte_pktmbuf_mtod(m[k], uint8_t *));
	}
}

/* Returns the index of own frame i among the probes of its frun. The answer is kept for the n
 * frames that follow, to save the division in the next burst. */
static inline uint32_t probe_index(struct gen_own *o, const struct gen_grp *gr, uint64_t i,
				   unsigned n)
{
	uint32_t own = frun_probes_own(gr->frun), at;

	if (own == 1)
		return 0;
	i -= gr->frun_i;
	at = likely(o->probe_frun == gr->frun && o->probe_i == i) ? o->probe_at
								  : (uint32_t)(i % own);
	o->probe_frun = gr->frun;
	o->probe_i = i + n;
	o->probe_at = at + n < own ? at + n : (at + n) % own;
	return at;
}

/* gen_probe_put() for frames that the device holds back until their times. */
static __rte_noinline void put_stamped(const struct gen_job *j, struct gen_state *g,
				       const struct gen_grp *gr, uint32_t at, uint64_t i,
				       struct rte_mbuf *const *m, unsigned n)
{
	uint64_t code[DP_BURST_MAX], sent[DP_BURST_MAX], tsc = rte_rdtsc();
	struct frun_probing b = {.hi = probe_from(j->txq->port, j->queue),
				 .code = code,
				 .seq = g->probes->seq};

	for (unsigned k = 0; k < n; k++) {
		sent[k] = gen_stamp_sent(j, g, m[k], tsc);
		uint64_t due = pace_is_max(&gr->pace) ? sent[k] : gen_due_at(j, gr, i + k);
		code[k] = probe_late_code(sent[k] - due);
	}
	put_each(g, gr, &b, sent, at, i, m, n);
}

void gen_probe_put(const struct gen_job *j, struct gen_state *g, const struct gen_grp *gr,
		   uint64_t i, struct rte_mbuf *const *m, unsigned n, bool fill)
{
	uint64_t code[DP_BURST_MAX], tsc;
	enum frun_probes_kind kind = frun_probes_kind(gr->frun);

	if (unlikely(g->probes == NULL))
		return;
	uint32_t at = probe_index(gen_own(g), gr, i, n);
	if (unlikely(j->stamp != NULL)) {
		put_stamped(j, g, gr, at, i, m, n);
		return;
	}
	tsc = rte_rdtsc();
	struct frun_probing b = {.hi = probe_from(j->txq->port, j->queue),
				 .lo = tsc & PROBE_SENT_MASK,
				 .seq = g->probes->seq};
	if (!pace_is_max(&gr->pace)) {
		delay_codes(j, gr, i, n, tsc, code);
		b.code = code;
	}
	if (fill)
		frun_fill_probe(gr->frun, gr->state, at, &b, (void *const *)m, n);
	else if (likely(kind != FRUN_PROBES_SOME))
		frun_probe(gr->frun, at, &b, (void *const *)m, n);
	else
		put_each(g, gr, &b, NULL, at, i, m, n);
}

void gen_probe_back(struct gen_state *g, const struct gen_grp *gr, uint64_t i, unsigned n)
{
	const struct frun_probe *probe = frun_probes(gr->frun);
	uint32_t own = frun_probes_own(gr->frun), at = (uint32_t)((i - gr->frun_i + n) % own);

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
