/* SPDX-License-Identifier: BSD-3-Clause */
/* A model of the probes of a Tx queue, for tests. It follows them frame by frame: which probe of
 * each stream comes next, and what it says. */
#pragma once
#include "dp_fake.h"
#include "frame.h"
#include "frame_probe.h"
#include "send_run.h"

/* Bounds of a world, see dp_model.h. */
#define MAX_IDS 64
#define MAX_GROUPS 40
#define MAX_CYCLE 64

/* In about half of the worlds, some of the streams have probes. */
static bool probing;

struct probe_model {
	unsigned port, queue;
	uint64_t sent[MAX_IDS]; /* probes accepted of each stream */
	uint32_t left[MAX_IDS]; /* frames until the next probe, where not all frames have one */
	const struct frame_recipe *seen[MAX_IDS]; /* the recipe of each stream's newest frame */
	uint64_t last_sent;
};

static inline void probe_open(struct probe_model *p, struct gen_state *g, struct dp_txq *txq,
			      unsigned queue)
{
	probing = queue == 0 ? any(2) == 0 : probing;
	p->port = txq->port = 5;
	p->queue = queue;
	/* The model made this block with room for the probes behind the counters of streams. */
	g->probes = (struct gen_probes *)(void *)(g->cell + GEN_MAX_STREAMS);
	for (unsigned s = 0; probing && s < MAX_IDS; s++) /* some numbers will pass 2^32 */
		g->probes->seq[s] = p->sent[s] = s % 2 ? UINT32_MAX - any(100) : 0;
}

/* Returns of how many frames of a stream one has a probe; 0: none has. All frames that a stream has
 * in a schedule get the same answer. */
static inline uint32_t probe_every(unsigned id, uint64_t sched)
{
	return probing ? (const uint32_t[]){0, 1, 1, 1, 1, 2, 5}[(3 * id + sched) % 7] : 0;
}

static inline void probe_counts_right(const struct probe_model *p, const struct gen_state *g)
{
	for (unsigned s = 0; s < MAX_IDS; s++)
		assert_int_equal(gen_probes_sent(g, s), p->sent[s]);
}

/* Returns true when the bytes are those of the frame, apart from what its probe says. */
static inline bool probe_aside(const uint8_t *got, unsigned got_len, const uint8_t *want,
			       const struct frame_recipe *recipe)
{
	unsigned from = recipe->probe_off != 0 ? recipe->probe_off : recipe->len,
		 to = recipe->probe_off != 0 ? from + PROBE_LEN : from;

	return got_len == recipe->len && memcmp(got, want, from) == 0 &&
	       memcmp(got + to, want + to, recipe->len - to) == 0;
}

/* Checks a probe, which must have the next number of its stream, or the empty room for a probe.
 * max: frames have no deadlines. due points to the frame's deadline; NULL: it is not known here. */
static inline void probe_check(struct probe_model *m, const struct frame_recipe *recipe,
			       unsigned id, const uint8_t *at, bool max, const uint64_t *due)
{
	uint32_t *left = &m->left[id];
	uint64_t hi, lo, now = rte_rdtsc();

	memcpy(&hi, at, 8);
	memcpy(&lo, at + 8, 8);
	hi = rte_be_to_cpu_64(hi);
	lo = rte_be_to_cpu_64(lo);
	struct probe p = probe_of(hi, lo);
	assert_true(probe_right(hi, lo));
	assert_int_equal(hi, probe_hi(p.seq, p.port, p.queue, (hi & 31) << 15 | (lo >> 36 & 0x7fff),
				      lo));
	/* The device may have refused all frames of a schedule in between that has more probes. All
	 * that shows then is that the turn of the next probe may come sooner. */
	bool sooner = m->seen[id] != recipe && lo != probe_lo(PROBE_NONE, 0, 0);
	m->seen[id] = recipe;
	if (recipe->probe_every > 1 && *left > 0 && *left < recipe->probe_every && !sooner) {
		assert_int_equal(lo, probe_lo(PROBE_NONE, 0, 0));
		assert_int_equal(hi, probe_hi(0, 0, 0, 0, lo));
		--*left;
		return;
	}
	if (recipe->probe_every > 1)
		*left = recipe->probe_every - 1;
	assert_int_equal(p.stream, id);
	assert_int_equal(p.port, m->port);
	assert_int_equal(p.queue, m->queue);
	assert_int_equal(p.seq, (uint32_t)m->sent[id]);
	m->sent[id]++;
	uint64_t sent = now - ((now - p.sent) & PROBE_SENT_MASK);
	assert_true(sent >= m->last_sent);
	m->last_sent = sent;
	if (max)
		assert_int_equal(p.delay, 0);
	if (due != NULL) {
		uint64_t code = probe_delay_code((int64_t)(sent - *due) > 0 ? sent - *due : 0);
		assert_int_equal(p.delay, (code & 0x7fff) << (code >> 15));
	}
}

/* Checks the probe in a frame that the device took, and puts the bytes of the wanted frame in its
 * place, for frames that were refused too. A probe keeps all checksums right, so the rest of the
 * frame is the same with or without it. */
static inline void probe_through(struct probe_model *m, const struct frame_recipe *recipe,
				 unsigned id, uint8_t *got, const uint8_t *want, bool accepted,
				 bool max, const uint64_t *due)
{
	if (recipe->probe_off == 0)
		return;
	if (accepted)
		probe_check(m, recipe, id, got + recipe->probe_off, max, due);
	memcpy(got + recipe->probe_off, want + recipe->probe_off, PROBE_LEN);
}
