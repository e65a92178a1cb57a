/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames whose probe does not lie where the last one was found: this looks for the probe, and says
 * what the frame is if it has none. */
#include "prx_own.h"

/* Puts a place to the front of the known ones; the oldest goes if there are too many. */
static void prx_find_remember(struct prx *x, uint32_t place)
{
	uint32_t i = 0;

	while (i < x->nplaces && x->place[i] != place)
		i++;
	if (i == x->nplaces) {
		if (i == PRX_KNOWN_PLACES)
			i--;
		else
			x->nplaces++;
	}
	for (; i > 0; i--)
		x->place[i] = x->place[i - 1];
	x->place[0] = place;
	x->guarded = place >= PRX_PLACES || (x->quoted[place / 64] >> place % 64 & 1) != 0;
}

struct frame {
	const uint8_t *p;
	uint32_t len;
	uint64_t now;
	struct prx_walk walk;
	bool walked;
};

/* Do the 16 bytes at this place have the sum of a probe? *hi and *lo are their words. */
static bool is_right_at(const struct frame *f, uint32_t at, uint64_t *hi, uint64_t *lo)
{
	if (at + PROBE_LEN > f->len)
		return false;
	prx_load(f->p + at, hi, lo);
	return probe_right(*hi, *lo);
}

/* Is this room for a probe that holds none, in the frames between those of `every N`? */
static bool is_none(uint64_t lo)
{
	return PROBE_STREAM(lo) == PROBE_NONE;
}

static const struct prx_walk *prx_find_walk(struct frame *f)
{
	if (!f->walked)
		prx_walk(f->p, f->len, &f->walk);
	f->walked = true;
	return &f->walk;
}

/* Is the probe of a flow at this place in a packet that an ICMP error quotes? Not where the flow's
 * own frames are such errors. */
static bool is_quoted(const struct prx *x, struct frame *f, uint32_t at, uint64_t hi, uint64_t lo)
{
	return at >= PRX_QUOTED_MIN && !x->more[prx_flow_index(x, hi, lo)].quotes &&
	       prx_quoted(f->p, prx_find_walk(f), at);
}

/* Looks for a probe at every even place: the sum of the 8 words there is computed from the sum at
 * the place before. Returns the place, or UINT32_MAX. */
static uint32_t prx_find_search(const struct prx *x, const struct frame *f, uint64_t *hi,
				uint64_t *lo)
{
	uint32_t end = f->len < PRX_SEARCH ? f->len : PRX_SEARCH, sum = 0;

	for (uint32_t at = 0; at + 2 <= end; at += 2) {
		sum += (uint32_t)f->p[at] << 8 | f->p[at + 1];
		if (at >= PROBE_LEN)
			sum -= (uint32_t)f->p[at - PROBE_LEN] << 8 | f->p[at - PROBE_LEN + 1];
		if (at < PROBE_LEN - 2 || sum % 65535 != PROBE_SUM)
			continue;
		prx_load(f->p + at + 2 - PROBE_LEN, hi, lo);
		if (prx_plausible(x, *hi, *lo, f->now))
			return at + 2 - PROBE_LEN;
	}
	return UINT32_MAX;
}

/* Would the bytes at this place be the probe of a known flow, or room for a probe, if one bit were
 * turned? By how much their sum is wrong says which bit of a word that must be; each of the 8 words
 * is tried. */
static bool one_bit_off(const struct prx *x, const struct frame *f, uint32_t at)
{
	uint64_t w[2];

	if (at + PROBE_LEN > f->len)
		return false;
	prx_load(f->p + at, &w[0], &w[1]);
	uint32_t sum = (probe_sum64(w[0]) + probe_sum64(w[1])) % 65535;
	for (unsigned bit = 0; bit < 16; bit++) {
		bool set = (sum + 65535 - (1u << bit)) % 65535 == PROBE_SUM,
		     clear = (sum + (1u << bit)) % 65535 == PROBE_SUM;
		for (unsigned word = 0; (set || clear) && word < 8; word++) {
			uint64_t mask = 1ull << (bit + 16 * (word & 3)), fixed[2] = {w[0], w[1]};
			if ((w[word / 4] & mask) != 0 ? !set : !clear)
				continue;
			fixed[word / 4] ^= mask;
			if (prx_plausible(x, fixed[0], fixed[1], f->now) || is_none(fixed[1]))
				return true;
		}
	}
	return false;
}

/* Does a frame in which no probe was found seem to have held one? Either there is one but for one
 * bit, or a header or checksum is wrong and probes have been found at this place before. */
static bool is_damaged(const struct prx *x, struct frame *f)
{
	const struct prx_walk *w = prx_find_walk(f);

	/* what is quoted may be cut off anywhere */
	if (x->nplaces == 0 || prx_quoted(f->p, w, f->len))
		return false;
	bool bad = prx_damaged(f->p, w, f->len);
	for (uint32_t i = 0; i < x->nplaces; i++)
		if (x->place[i] + PROBE_LEN <= f->len &&
		    (one_bit_off(x, f, x->place[i]) ||
		     (bad && (w->payload == x->place[i] || w->bad < x->place[i]))))
			return true;
	return w->nplaces > 0 && one_bit_off(x, f, w->payload);
}

/* A probe of a known flow lies at this place. Returns the place; UINT32_MAX if the probe is quoted,
 * and then *class is set. */
static uint32_t take_at(const struct prx *x, struct frame *f, uint32_t at, uint64_t hi, uint64_t lo,
			enum prx_class *class)
{
	if (!is_quoted(x, f, at, hi, lo))
		return at;
	*class = PRX_PLAIN;
	return UINT32_MAX;
}

/* Returns the place of the frame's probe, or UINT32_MAX, and then *class says what the frame is. */
static uint32_t prx_find_find(struct prx *x, struct frame *f, uint64_t *hi, uint64_t *lo,
			      enum prx_class *class)
{
	bool foreign = false;
	uint32_t at;

	for (uint32_t i = 0; i < x->nplaces; i++) {
		if (!is_right_at(f, x->place[i], hi, lo))
			continue;
		if (prx_plausible(x, *hi, *lo, f->now))
			return take_at(x, f, x->place[i], *hi, *lo, class);
		if (is_none(*lo)) {
			*class = PRX_PLAIN;
			return UINT32_MAX;
		}
	}
	const struct prx_walk *w = prx_find_walk(f);
	for (unsigned i = w->nplaces; i-- > 0;) {
		if (!is_right_at(f, w->place[i], hi, lo))
			continue;
		if (prx_plausible(x, *hi, *lo, f->now))
			return take_at(x, f, w->place[i], *hi, *lo, class);
		if (is_none(*lo)) {
			*class = PRX_PLAIN;
			return UINT32_MAX;
		}
		foreign |= i == w->nplaces - 1;
	}
	*class = PRX_IS_FOREIGN;
	if (foreign)
		return UINT32_MAX;
	/* In a frame that is broken no probe is searched: with so many places, one of them may have
	 * the sum of a probe by chance. */
	at = x->verify && x->nplaces > 0 && prx_damaged(f->p, w, f->len)
		     ? UINT32_MAX
		     : prx_find_search(x, f, hi, lo);
	if (at != UINT32_MAX) {
		at = take_at(x, f, at, *hi, *lo, class);
		cell_add(&x->port.searched, at != UINT32_MAX);
	} else {
		*class = is_damaged(x, f) ? PRX_DAMAGED : PRX_PLAIN;
	}
	return at;
}

/* Does the device say that the checksums are good? It has looked at one IP and one L4 header only,
 * so the caller does not rely on it where there are more. */
static bool device_says_good(const struct rte_mbuf *m)
{
	return (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_GOOD &&
	       (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_GOOD;
}

static bool device_says_bad(const struct rte_mbuf *m)
{
	return (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD ||
	       (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD;
}

enum prx_class prx_classify(struct prx *x, const struct rte_mbuf *m, uint64_t now, uint64_t *hi,
			    uint64_t *lo)
{
	struct frame f = {.p = rte_pktmbuf_mtod(m, const uint8_t *),
			  .len = m->data_len,
			  .now = now};
	enum prx_class class = PRX_PLAIN;

	if (unlikely(m->nb_segs > 1)) {
		f.len = m->pkt_len < PRX_SCRATCH ? m->pkt_len : PRX_SCRATCH;
		f.p = rte_pktmbuf_read(m, 0, f.len, x->scratch);
		if (f.p == NULL)
			return PRX_PLAIN;
	}
	uint32_t at = prx_find_find(x, &f, hi, lo, &class);
	if (at == UINT32_MAX)
		return class;
	prx_find_remember(x, at);
	if (device_says_bad(m))
		return PRX_CORRUPTED;
	if (!x->verify)
		return PRX_PROBE;
	const struct prx_walk *w = prx_find_walk(&f);
	if (device_says_good(m) && w->nsums <= 2 && w->bad == UINT32_MAX)
		return PRX_PROBE;
	return prx_damaged(f.p, w, at) ? PRX_CORRUPTED : PRX_PROBE;
}
