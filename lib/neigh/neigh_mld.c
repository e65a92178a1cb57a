/* SPDX-License-Identifier: BSD-3-Clause */
#include "neigh_mld.h"

#include <string.h>

#include "neigh_mld_run.h"

#define S 1000000000ull
#define MS 1000000ull
#define UNSOLICITED (1 * S) /* RFC 3810 section 9.11 */
/* Without a query of MLDv1 for this long, MLDv2 is spoken again: section 9.12, of intervals of
 * 125 s and delays of 10 s. */
#define OLD_QUERIER (260 * S)
/* A group is told no more often than this, however often somebody asks. */
#define ANSWERS_APART (S / 10)

enum { TYPE_IP6 = 0x86dd };
enum { IS_EXCLUDE = 2, TO_INCLUDE = 3, TO_EXCLUDE = 4 }; /* types of records */

static struct neigh_mld_group *mld_find(struct neigh_mld *m, const uint8_t last[3])
{
	for (unsigned i = 0; i < m->n; i++)
		if (memcmp(m->group[i].last, last, 3) == 0)
			return &m->group[i];
	return NULL;
}

static void group_tell(struct neigh_mld_group *g, uint64_t now)
{
	g->left = NEIGH_MLD_TIMES;
	g->due = now;
}

static void mld_drop(struct neigh_mld *m, struct neigh_mld_group *g)
{
	*g = m->group[--m->n];
}

static void mld_join(struct neigh_mld *m, const uint8_t last[3], uint64_t now)
{
	struct neigh_mld_group *g = mld_find(m, last);

	if (g != NULL && g->joined)
		return;
	/* There is room for all addresses and as many that were left. Who changes them faster than
	 * that can be told has left the oldest without a word. */
	for (unsigned i = 0; g == NULL && m->n == ARRAY_SIZE(m->group); i++)
		if (!m->group[i].joined)
			mld_drop(m, &m->group[i]);
	if (g == NULL) {
		g = &m->group[m->n++];
		*g = (struct neigh_mld_group){.answer = NEIGH_NEVER};
		memcpy(g->last, last, 3);
	}
	g->joined = true;
	group_tell(g, now);
}

static bool is_own(const struct neigh_prefix *own, unsigned nown, const uint8_t last[3])
{
	for (unsigned i = 0; i < nown; i++)
		if (!neigh_is_ip4(own[i].ip) && memcmp(own[i].ip + 13, last, 3) == 0)
			return true;
	return false;
}

void neigh_mld_follow(struct neigh_mld *m, const struct neigh_prefix *own, unsigned nown,
		      uint64_t now)
{
	for (unsigned i = 0; i < m->n; i++) {
		struct neigh_mld_group *g = &m->group[i];
		if (!g->joined || is_own(own, nown, g->last))
			continue;
		g->joined = false;
		g->answer = NEIGH_NEVER;
		group_tell(g, now);
	}
	for (unsigned i = 0; i < nown; i++)
		if (!neigh_is_ip4(own[i].ip))
			mld_join(m, own[i].ip + 13, now);
}

void neigh_mld_again(struct neigh_mld *m, uint64_t now)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->group[i].joined)
			group_tell(&m->group[i], now);
}

void neigh_mld_hear(struct neigh_mld *m, const struct neigh_heard *h, uint64_t random, uint64_t now)
{
	static const uint8_t zero[NEIGH_IP], group[13] = {0xff, 2, [11] = 1, [12] = 0xff};
	bool all = memcmp(h->ip, zero, NEIGH_IP) == 0;

	if (h->old)
		m->old_until = now + OLD_QUERIER;
	if (!all && memcmp(h->ip, group, sizeof(group)) != 0)
		return;
	for (unsigned i = 0; i < m->n; i++) {
		struct neigh_mld_group *g = &m->group[i];
		if (!g->joined || (!all && memcmp(h->ip + 13, g->last, 3) != 0))
			continue;
		uint64_t at = now + fnv1a(random, g->last, 3) % (h->delay_ms * MS + 1);
		if (at < g->told)
			at = g->told;
		if (at < g->answer)
			g->answer = at;
	}
}

/* The address that reports are from: the link-local one. NULL: none is used yet. */
static const uint8_t *mld_source(const struct neigh_self *s)
{
	for (unsigned i = 0; i < s->nown; i++)
		if (s->own[i].usable && s->own[i].ip[0] == 0xfe && (s->own[i].ip[1] & 0xc0) == 0x80)
			return s->own[i].ip;
	return NULL;
}

/* Writes a report. record: of MLDv2, 0: it is one of MLDv1. */
static unsigned mld_frame(const struct neigh_self *s, const uint8_t last[3], bool joined,
			  unsigned record, uint8_t f[NEIGH_FRAME_MAX])
{
	const uint8_t group[NEIGH_IP] = {0xff, 2, [11] = 1, 0xff, last[0], last[1], last[2]};
	uint8_t to[NEIGH_IP] = {0xff, 2};
	const uint8_t *from = mld_source(s);
	unsigned n = record != 0 ? 28 : 24;

	if (record == 0 && joined)
		memcpy(to, group, NEIGH_IP);
	else
		to[15] = record != 0 ? 0x16 : 2;
	memset(f, 0, NEIGH_FRAME_MAX);
	const uint8_t mac[6] = {0x33, 0x33, to[12], to[13], to[14], to[15]};
	unsigned at = neigh_frame_eth(s, mac, TYPE_IP6, f);
	uint8_t *ip = f + at, *icmp = ip + NEIGH_IP6 + NEIGH_HBH;
	memcpy(ip, (const uint8_t[8]){0x60, 0, 0, 0, 0, (uint8_t)(NEIGH_HBH + n), 0, 1}, 8);
	if (from != NULL)
		memcpy(ip + 8, from, NEIGH_IP);
	memcpy(ip + 24, to, NEIGH_IP);
	/* ICMPv6 follows; a router alert for MLD (RFC 2711), and two bytes of padding */
	memcpy(ip + NEIGH_IP6, (const uint8_t[NEIGH_HBH]){58, 0, 5, 2, 0, 0, 1, 0}, NEIGH_HBH);
	if (record != 0) {
		icmp[0] = MLD_REPORT2;
		icmp[7] = 1; /* one record */
		icmp[8] = (uint8_t)record;
		memcpy(icmp + 12, group, NEIGH_IP);
	} else {
		icmp[0] = joined ? MLD_REPORT1 : MLD_DONE1;
		memcpy(icmp + 8, group, NEIGH_IP);
	}
	uint16_t sum = neigh_sum(icmp, n, neigh_sum_ip6(ip, n));
	memcpy(icmp + 2, &sum, 2);
	return at + NEIGH_IP6 + NEIGH_HBH + n;
}

/* Tells what is due of a group. false: there is no room. */
static bool group_report(struct neigh_mld *m, struct neigh_mld_group *g, const struct neigh_self *s,
			 uint64_t random, uint64_t now, struct neigh_queue *out)
{
	bool changed = g->left > 0 && g->due <= now, old = now < m->old_until;
	unsigned record = !changed ? IS_EXCLUDE : g->joined ? TO_EXCLUDE : TO_INCLUDE;
	uint8_t *len, *f = neigh_queue_room(out, &len);

	if (f == NULL)
		return false;
	*len = (uint8_t)mld_frame(s, g->last, g->joined, old ? 0 : record, f);
	if (changed) {
		g->left = old && !g->joined ? 0 : (uint8_t)(g->left - 1);
		g->due = now + 1 + fnv1a(random, g->last, 3) % UNSOLICITED;
	} else {
		g->answer = NEIGH_NEVER;
	}
	g->told = now + ANSWERS_APART;
	return true;
}

void neigh_mld_tell(struct neigh_mld *m, const struct neigh_self *s, uint64_t random, uint64_t now,
		    struct neigh_queue *out)
{
	for (unsigned i = 0; i < m->n;) {
		struct neigh_mld_group *g = &m->group[i];
		bool due = (g->left > 0 && g->due <= now) || g->answer <= now;
		if (due && !group_report(m, g, s, random, now, out))
			return;
		if (!g->joined && g->left == 0)
			mld_drop(m, g);
		else
			i += !due;
	}
}

uint64_t neigh_mld_due(const struct neigh_mld *m)
{
	uint64_t due = NEIGH_NEVER;

	for (unsigned i = 0; i < m->n; i++) {
		const struct neigh_mld_group *g = &m->group[i];
		if (g->left > 0 && g->due < due)
			due = g->due;
		if (g->answer < due)
			due = g->answer;
	}
	return due;
}
