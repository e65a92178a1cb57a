/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of the monitor: see monitor_run.h. */
#include "monitor_run.h"
#include "txq.h"

/* Copies at most `most` bytes of a frame, and what is known of it. */
static void monitor_copy(struct monitor_frame *to, uint8_t *bytes, uint32_t most,
			 const struct rte_mbuf *m, uint64_t now)
{
	uint32_t have = RTE_MIN(m->pkt_len, most);
	const void *from = rte_pktmbuf_read(m, 0, have, bytes);

	if (from != bytes && have > 0)
		memcpy(bytes, from, have);
	*to = (struct monitor_frame){.tsc = now, .len = m->pkt_len, .have = have};
	if (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) {
		to->tci = m->vlan_tci;
		to->ntags = 1;
	}
	if (m->ol_flags & RTE_MBUF_F_RX_QINQ_STRIPPED) {
		to->tci_outer = m->vlan_tci_outer;
		to->ntags = 2;
	}
}

/* ---- sources ---- */

static inline bool source_lets(const struct monitor_source *s, unsigned i)
{
	return s->all || (s->match[i / 64] >> i % 64 & 1) != 0;
}

/* How many of the first n frames of the burst were let through. */
static unsigned source_matched(const struct monitor_source *s, unsigned n)
{
	unsigned sum = 0;

	if (s->all)
		return n;
	for (unsigned i = 0; i < n; i++)
		sum += source_lets(s, i);
	return sum;
}

/* Copies the first of those that were let through, behind the frames that control can read. */
static __rte_noinline void source_copy(struct monitor_source *s, struct rte_mbuf *const *m,
				       unsigned n, uint64_t now)
{
	uint32_t room = s->nslots - (s->put - __atomic_load_n(&s->got, __ATOMIC_ACQUIRE));
	uint32_t most = RTE_MIN(room, s->may);

	for (unsigned i = 0; i < n && s->stored < most; i++) {
		if (!source_lets(s, i))
			continue;
		struct monitor_slot *slot = &s->slot[(s->put + s->stored) & (s->nslots - 1)];
		monitor_copy(&slot->is, slot->bytes, sizeof(slot->bytes), m[i], now);
		s->stored++;
		slot->is.number = cell_get(&s->matched) + s->stored;
	}
}

void monitor_see(struct monitor_source *s, struct rte_mbuf *const *m, unsigned n, uint64_t now)
{
	s->offered = s->stored = 0;
	s->all = s->filter == NULL;
	if (unlikely(now >= s->end_tsc))
		return;
	for (unsigned i = 0; i < n && !s->all; i += 64)
		s->match[i / 64] = filter_match_burst(s->filter, m + i, RTE_MIN(64u, n - i));
	s->offered = n;
	s->now = now;
	s->may = monitor_limit_left(&s->limit, now);
	if (unlikely(s->may > 0))
		source_copy(s, m, n, now);
}

void monitor_settle(struct monitor_source *s, unsigned n)
{
	unsigned matched = source_matched(s, RTE_MIN(n, s->offered));
	unsigned may = RTE_MIN(matched, s->may), keep = RTE_MIN(s->stored, may);

	cell_add(&s->matched, matched);
	if (unlikely(may > 0)) {
		monitor_limit_take(&s->limit, s->now, may);
		cell_add(&s->full, may - keep);
		__atomic_store_n(&s->put, s->put + keep, __ATOMIC_RELEASE);
	}
	s->offered = s->stored = s->may = 0;
}

const struct monitor_slot *monitor_next(const struct monitor_source *s)
{
	if (__atomic_load_n(&s->put, __ATOMIC_ACQUIRE) == s->got)
		return NULL;
	return &s->slot[s->got & (s->nslots - 1)];
}

void monitor_read(struct monitor_source *s)
{
	__atomic_store_n(&s->got, s->got + 1, __ATOMIC_RELEASE);
}

/* ---- the newest frame ---- */

void monitor_keep(struct monitor_keeper *k, const struct rte_mbuf *m, uint64_t now)
{
	struct monitor_kept *to = &k->place[k->back];

	monitor_copy(&to->is, to->bytes, sizeof(to->bytes), m, now);
	k->back = __atomic_exchange_n(&k->middle, k->back | MONITOR_NEW, __ATOMIC_ACQ_REL) &
		  ~MONITOR_NEW;
}

const struct monitor_kept *monitor_newest(struct monitor_keeper *k)
{
	if (__atomic_load_n(&k->middle, __ATOMIC_RELAXED) & MONITOR_NEW)
		k->front =
			__atomic_exchange_n(&k->middle, k->front, __ATOMIC_ACQ_REL) & ~MONITOR_NEW;
	return k->place[k->front].is.tsc != 0 ? &k->place[k->front] : NULL;
}

/* ---- taps ---- */

void monitor_rx(void *look, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		uint64_t now)
{
	const struct monitor_look *l = look;

	(void)b;
	if (l->keeper != NULL)
		monitor_keep(l->keeper, m[n - 1], now);
	if (l->source == NULL)
		return;
	monitor_see(l->source, m, n, now);
	monitor_settle(l->source, n);
}

void monitor_offered(void *source, struct rte_mbuf *const *m, unsigned n)
{
	monitor_see(source, m, n, rte_rdtsc());
}

void monitor_taken(void *source, unsigned n)
{
	monitor_settle(source, n);
}

static void monitor_untap(const struct monitor_job *j)
{
	for (unsigned i = 0; i < j->nsources; i++)
		for (unsigned k = 0; k < j->source[i].nshares; k++)
			txq_untap(j->source[i].share[k], &j->source[i].source->tap);
}

static void monitor_adopt(struct dp_worker *w, const struct dp_task *t, const void *old,
			  uint64_t now)
{
	const struct monitor_job *j = t->job;

	(void)w, (void)now;
	if (old != NULL)
		monitor_untap(old);
	for (unsigned i = 0; i < j->nsources; i++)
		for (unsigned k = 0; k < j->source[i].nshares; k++)
			txq_tap(j->source[i].share[k], &j->source[i].source->tap);
}

static void monitor_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	(void)w, (void)now;
	monitor_untap(t->job);
}

const struct dp_kind dp_kind_monitor = {.name = "monitor",
					.adopt = monitor_adopt,
					.drop = monitor_drop};
