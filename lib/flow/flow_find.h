/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections by their tuple (flow_find.c, flow_tuple.c): what is asked for each segment is here,
 * inline. */
#pragma once
#include "flow_int.h"

/* The slot of a tuple, NULL: it is none of the set, or the set has no slots. */
uint32_t *flow_tuples_slot_of_all(const struct flow_tuples *t, uint32_t remote, uint32_t local,
				  uint32_t ports);
static FLOW_INLINE uint32_t *flow_tuples_slot(const struct flow_tuples *t, uint32_t remote,
					      uint32_t local, uint32_t ports)
{
	const struct flow_field *address = &t->f[FLOW_LOCAL - 1],
				*port = &t->f[FLOW_LOCAL_PORT - 1];
	uint32_t i = __builtin_bswap32(local) - address->base;
	uint32_t k = (uint16_t)__builtin_bswap16((uint16_t)ports) - port->base;

	if (FLOW_UNLIKELY(!t->one_remote))
		return flow_tuples_slot_of_all(t, remote, local, ports);
	if (FLOW_UNLIKELY(remote != t->one_addr) || FLOW_UNLIKELY(ports >> 16 != t->one_port) ||
	    FLOW_UNLIKELY(i >= address->count) || FLOW_UNLIKELY(k >= port->count))
		return NULL;
	return &t->slot[i * address->stride + k * port->stride];
}

void flow_find_put(struct flow_machine *m, struct flow_conn *c, const struct flow_tuples *t);
/* The same of a server's, whose key is known. */
void flow_find_put_key(struct flow_machine *m, const struct flow_conn *c, uint32_t key);
void flow_find_cut(struct flow_machine *m, struct flow_conn *c, const struct flow_tuples *t);

static inline bool early_is6(const struct flow_early *e, const struct flow_in *in)
{
	return e->l4 != in->data + in->l3 + 20;
}

/* Two multiplications mix all bits; the secret keeps others from choosing who collides. */
static FLOW_INLINE uint32_t flow_hash(const struct flow_machine *m, uint32_t remote, uint32_t local,
				      uint32_t ports)
{
	/* both addresses are one word where they lie side by side */
	uint64_t a = ((uint64_t)local << 32 | remote) ^ m->secret[0];
	uint64_t b = (a ^ a >> 29) * 0x9e3779b97f4a7c15ull;

	b = (b ^ b >> 32 ^ ports ^ m->secret[1]) * 0xd6e8feb86659fd93ull;
	return (uint32_t)(b >> 32);
}

uint32_t flow_find(struct flow_machine *m, const struct flow_seg *g);
bool flow_find_is_new(const struct flow_machine *m, const struct flow_seg *g);
uint32_t flow_find_early(const struct flow_machine *m, uint32_t key);
void flow_fetch_bucket(const struct flow_machine *m, uint32_t key);
bool flow_is_of(const struct flow_machine *m, uint32_t at, const struct flow_seg *g);

/* The first 12 bytes of an address of IPv6; the others have been compared. */
static FLOW_INLINE bool find_prefix6(const uint8_t *a, const uint8_t *b)
{
	uint64_t x, y;
	uint32_t v, w;

	memcpy(&x, a, 8);
	memcpy(&y, b, 8);
	memcpy(&v, a + 8, 4);
	memcpy(&w, b + 8, 4);
	return ((x ^ y) | (v ^ w)) == 0;
}
/* The type of service, or traffic class, of a header of IP. */
static inline unsigned find_tos(const uint8_t *ip)
{
	return ip[0] >> 4 == 4 ? ip[1] : (ip[0] << 4 | ip[1] >> 4) & 0xff;
}
/* Counts a segment that came with the one that ours have. Of those without any nothing is asked:
 * what came to a flow that has one goes the ways on which frames are looked at. */
static inline void flow_count_tos(const struct flow_machine *m, const struct flow_ver *f,
				  const struct flow_conn *c, const struct flow_in *in, unsigned n)
{
	const struct flow_path *p = conn_path(m, f, c);
	unsigned tos = find_tos(p->bytes + p->l3);

	if (tos != 0 && tos == find_tos(in->data + in->l3))
		cell_add(&f->k->same_tos, n);
}
/* Whether a connection whose ports and addresses are those of a frame, of which 4 bytes each were
 * compared, is also of its IP version, and of its network. */
static FLOW_INLINE bool flow_is_rest(const struct flow_machine *m, const struct flow_ver *f,
				     const struct flow_conn *c, const struct flow_in *in, bool is6)
{
	const struct flow_tuples *t = f->spec->tuples;
	const uint8_t *ip = in->data + in->l3;

	if (f->spec->is6 != is6)
		return false;
	if (is6 &&
	    (!find_prefix6(f->spec->role == FLOW_SERVER ? m->peer6[conn_index(m, c)] : t->remote6,
			   ip + 8) ||
	     !find_prefix6(t->local6, ip + 24)))
		return false;
	return FLOW_LIKELY(!m->any_ident && in->ident == 0) ||
	       conn_path(m, f, c)->ident == in->ident;
}
/* What stands for an IPv6 address in hashes. */
static inline uint32_t flow_fold16(const uint8_t *a)
{
	uint64_t half[2];

	memcpy(half, a, 16);
	half[0] = (half[0] ^ half[1] * 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull;
	return (uint32_t)(half[0] >> 32);
}
uint32_t flow_fold6(const struct flow_machine *m, const struct flow_conn *c);
