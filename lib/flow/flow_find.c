/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections by their tuple: slots of dense sets, and buckets of a hash for all others. */
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "flow_find.h"

/* Of a set of 8 tags, a bit pair for each that equals. */
static inline unsigned find_tags(const struct flow_bucket *b, uint16_t tag)
{
#ifdef __SSE2__
	__m128i have = _mm_load_si128((const __m128i *)b->tag);

	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi16(have, _mm_set1_epi16((short)tag)));
#else
	unsigned found = 0;

	for (unsigned i = 0; i < 8; i++)
		found |= b->tag[i] == tag ? 3u << (2 * i) : 0;
	return found;
#endif
}

static inline uint16_t find_tag(uint32_t hash)
{
	return (uint16_t)(hash | 1);
}
static inline uint32_t find_bucket(const struct flow_machine *m, uint32_t hash)
{
	return hash >> 8 & m->bucket_mask;
}

/* Whether a cell is the connection of a segment. */
bool flow_is_of(const struct flow_machine *m, uint32_t at, const struct flow_seg *g)
{
	const struct flow_conn *c = &m->conn[at];
	uint64_t addresses, wanted;
	uint32_t ports;

	memcpy(&addresses, &c->remote, 8);
	memcpy(&wanted, &g->remote, 8);
	ports = c->ports;
	if (FLOW_UNLIKELY(addresses != wanted || ports != g->ports || c->state == FLOW_FREE ||
			  (c->state == FLOW_UDP) != g->udp))
		return false;
	/* who is given no IPv6 flow takes no frame of it */
	return FLOW_LIKELY(!m->any6 && !m->any_ident && g->in->ident == 0) ||
	       flow_is_rest(m, conn_live(m, c), c, g->in, g->is6);
}

static FLOW_INLINE uint32_t find_hashed(const struct flow_machine *m, const struct flow_seg *g)
{
	uint32_t at = find_bucket(m, g->key);

	for (;;) {
		const struct flow_bucket *b = &m->bucket[at];
		unsigned same = find_tags(b, find_tag(g->key));

		while (same != 0) {
			unsigned i = (unsigned)__builtin_ctz(same) / 2;

			if (flow_is_of(m, b->at[i], g))
				return b->at[i];
			same &= ~(3u << (2 * i));
		}
		if (FLOW_LIKELY(b->spill == 0))
			return 0;
		at = (at + 1) & m->bucket_mask;
	}
}

/* The cell that the segment's tag names first: probably its own. To fetch it early. */
FLOW_INLINE uint32_t flow_find_early(const struct flow_machine *m, uint32_t key)
{
	const struct flow_bucket *b = &m->bucket[find_bucket(m, key)];
	unsigned same = find_tags(b, find_tag(key));

	return same == 0 ? 0 : b->at[__builtin_ctz(same) / 2];
}

FLOW_INLINE void flow_fetch_bucket(const struct flow_machine *m, uint32_t key)
{
	__builtin_prefetch(&m->bucket[find_bucket(m, key)]);
}

uint32_t flow_find(struct flow_machine *m, const struct flow_seg *g)
{
	for (unsigned i = 0; i < m->nset; i++) {
		uint32_t *slot = flow_tuples_slot(m->set[i], g->remote, g->local, g->ports);

		if (slot != NULL && *slot != 0 && flow_is_of(m, *slot, g))
			return *slot;
	}
	return m->hashed == 0 ? 0 : find_hashed(m, g);
}

/* Whether it is seen at once that a segment has no connection. */
FLOW_INLINE bool flow_find_is_new(const struct flow_machine *m, const struct flow_seg *g)
{
	const struct flow_bucket *b = &m->bucket[find_bucket(m, g->key)];

	return FLOW_LIKELY(m->nset == 0) && FLOW_LIKELY(find_tags(b, find_tag(g->key)) == 0) &&
	       FLOW_LIKELY(b->spill == 0);
}

static FLOW_INLINE void find_put_hashed(struct flow_machine *m, uint32_t hash, uint32_t index)
{
	uint32_t at = find_bucket(m, hash);

	for (;;) {
		struct flow_bucket *b = &m->bucket[at];
		unsigned unused = find_tags(b, 0);

		if (unused != 0) {
			unsigned i = (unsigned)__builtin_ctz(unused) / 2;

			b->tag[i] = find_tag(hash);
			b->at[i] = index;
			break;
		}
		b->spill++;
		at = (at + 1) & m->bucket_mask;
	}
	m->hashed++;
}

static FLOW_INLINE void find_cut_hashed(struct flow_machine *m, uint32_t hash, uint32_t index)
{
	uint32_t first = find_bucket(m, hash);

	for (uint32_t at = first;; at = (at + 1) & m->bucket_mask) {
		struct flow_bucket *b = &m->bucket[at];

		for (unsigned i = 0; i < 8; i++) {
			if (b->at[i] != index || b->tag[i] == 0)
				continue;
			b->tag[i] = 0;
			for (; at != first; first = (first + 1) & m->bucket_mask)
				m->bucket[first].spill--;
			m->hashed--;
			return;
		}
	}
}

static uint32_t find_conn_hash(const struct flow_machine *m, const struct flow_conn *c)
{
	uint32_t ports = c->ports, remote = c->remote;

	if (FLOW_UNLIKELY(m->any6))
		remote = flow_fold6(m, c);
	return flow_hash(m, remote, c->local, ports);
}

/* The remote address in hashes: of IPv6 all 16 bytes count. */
uint32_t flow_fold6(const struct flow_machine *m, const struct flow_conn *c)
{
	const struct flow_ver *f = conn_live(m, c);
	uint8_t a[16];

	if (!f->spec->is6)
		return c->remote;
	if (f->spec->role == FLOW_SERVER)
		return flow_fold16(m->peer6[conn_index(m, c)]);
	memcpy(a, f->spec->tuples->remote6, 12);
	memcpy(a + 12, &c->remote, 4);
	return flow_fold16(a);
}

FLOW_INLINE void flow_find_put_key(struct flow_machine *m, const struct flow_conn *c, uint32_t key)
{
	find_put_hashed(m, key, conn_index(m, c));
}

FLOW_INLINE void flow_find_put(struct flow_machine *m, struct flow_conn *c,
			       const struct flow_tuples *t)
{
	if (FLOW_LIKELY(t->slot != NULL))
		*flow_tuples_slot(t, c->remote, c->local, c->ports) = conn_index(m, c);
	else
		flow_find_put_key(m, c, find_conn_hash(m, c));
}

FLOW_INLINE void flow_find_cut(struct flow_machine *m, struct flow_conn *c,
			       const struct flow_tuples *t)
{
	if (t->slot != NULL)
		*flow_tuples_slot(t, c->remote, c->local, c->ports) = 0;
	else
		find_cut_hashed(m, find_conn_hash(m, c), conn_index(m, c));
}
