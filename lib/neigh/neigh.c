/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine of a host. Neighbours lie in a table with chains by a hash of their addresses. */
#include <stdlib.h>
#include <string.h>

#include "neigh.h"
#include "neigh_frame.h"
#include "neigh_mld.h"
#include "neigh_news.h"

#define S 1000000000ull
/* RFC 4861 section 10 */
#define RETRANS (1 * S)
#define REACHABLE_TIME (30 * S)
#define DELAY_FIRST (5 * S)
#define SOLICITS 3
/* RFC 4862 section 5.1 and RFC 4861: one question, and so long for an answer. For IPv4 the same
 * holds; RFC 5227 would have a port wait for 7 s. */
#define DAD_TIME (1 * S)
/* Until a question is tried again that had no address to come from, or no room to wait in. */
#define NO_SOURCE (S / 10)
#define NO_ROOM (S / 1000)
#define DEFEND_INTERVAL (10 * S) /* RFC 5227 section 1.1 */
#define CHAINS 4096

struct own {
	enum neigh_own_state state;
	uint64_t due;     /* TENTATIVE: when it is found to be ours, or to be asked for */
	bool asked;       /* TENTATIVE: the question is on its way */
	uint64_t told_at; /* when a claim to it was told last */
	bool told;
};

struct entry {
	struct neigh_entry e;
	bool taken;
	bool asked;     /* a question is open: an answer confirms it */
	bool used;      /* frames go to it (neigh_use()) */
	bool lost;      /* people were told that it does not answer */
	unsigned tries; /* questions in this state */
	uint64_t due;   /* when it does something by itself */
	uint16_t next;  /* in its chain, + 1; 0: the last one */
};

struct neigh {
	struct neigh_self self;
	uint64_t version, random, moves;
	struct own own[NEIGH_OWN_MAX];
	unsigned nwanted;
	uint8_t wanted[NEIGH_WANTED_MAX][NEIGH_IP];
	struct entry entry[NEIGH_MAX];
	uint16_t chain[CHAINS]; /* + 1 */
	unsigned nentries, hand;
	uint64_t due; /* no later than the first of all times at which something is due */
	struct neigh_mld mld;
	struct neigh_counts counts;
	struct neigh_queue queue;
	struct neigh_news_queue news;
};

/* ---- small things ---- */

/* splitmix64 */
static uint64_t random_next(struct neigh *n)
{
	uint64_t z = n->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void due_earlier(struct neigh *n, uint64_t due)
{
	if (due < n->due)
		n->due = due;
}

static void news_add(struct neigh *n, enum neigh_news_kind kind, const uint8_t *ip,
		     const uint8_t *mac)
{
	neigh_news_add(&n->news, kind, ip, mac);
}

bool neigh_news(struct neigh *n, struct neigh_news *out)
{
	return neigh_news_take(&n->news, out);
}

unsigned neigh_untold(struct neigh *n)
{
	unsigned lost = n->news.lost;

	n->news.lost = 0;
	return lost;
}

/* Room for a frame that is to be sent. NULL: too many wait. */
static uint8_t *queue_room(struct neigh *n, uint8_t **len)
{
	uint8_t *f = neigh_queue_room(&n->queue, len);

	n->counts.overtaken += f == NULL;
	return f;
}

unsigned neigh_take(struct neigh *n, uint8_t frame[NEIGH_FRAME_MAX])
{
	return neigh_queue_take(&n->queue, frame);
}

/* ---- frames ---- */

/* The address from which a neighbour is asked: one of its prefix if there is one, else any of its
 * family. NULL: there is none that may be used. */
static const uint8_t *source_for(const struct neigh *n, const uint8_t ip[NEIGH_IP])
{
	const uint8_t *found = NULL;

	for (unsigned i = 0; i < n->self.nown; i++) {
		const struct neigh_own *o = &n->self.own[i];
		if (!o->usable || neigh_is_ip4(o->ip) != neigh_is_ip4(ip))
			continue;
		if (neigh_within(ip, o->ip, o->bits))
			return o->ip;
		if (found == NULL)
			found = o->ip;
	}
	return found;
}

/* Returns how long it takes until it is asked again; *sent: it was asked now. */
static uint64_t entry_ask(struct neigh *n, const uint8_t ip[NEIGH_IP], const uint8_t *mac,
			  bool *sent)
{
	const uint8_t *from = source_for(n, ip);
	uint8_t *len, *f;

	*sent = false;
	if (from == NULL)
		return NO_SOURCE;
	if (n->queue.n == NEIGH_QUEUE) /* many are asked at once: it waits for its turn */
		return NO_ROOM;
	f = queue_room(n, &len);
	*len = (uint8_t)neigh_frame_ask(&n->self, from, ip, mac, f);
	n->counts.probes++;
	*sent = true;
	return RETRANS;
}

static void own_announce(struct neigh *n, const struct neigh_own *o)
{
	uint8_t *len, *f = queue_room(n, &len);

	if (f != NULL)
		*len = (uint8_t)neigh_frame_announce(&n->self, o->ip, f);
}

void neigh_announce(struct neigh *n)
{
	for (unsigned i = 0; i < n->self.nown; i++)
		if (n->self.own[i].usable)
			own_announce(n, &n->self.own[i]);
}

/* Tells which groups it listens to, as far as that is due. */
static void groups_tell(struct neigh *n, uint64_t now)
{
	neigh_mld_tell(&n->mld, &n->self, random_next(n), now, &n->queue);
	uint64_t due = neigh_mld_due(&n->mld);
	due_earlier(n, due > now ? due : now + NO_SOURCE);
}

/* ---- the table ---- */

static uint16_t *chain_of(struct neigh *n, const uint8_t ip[NEIGH_IP])
{
	return &n->chain[fnv1a(FNV_BASIS ^ n->self.mac[5], ip, NEIGH_IP) % CHAINS];
}

static struct entry *entry_find(struct neigh *n, const uint8_t ip[NEIGH_IP])
{
	for (unsigned at = *chain_of(n, ip); at != 0; at = n->entry[at - 1].next)
		if (memcmp(n->entry[at - 1].e.ip, ip, NEIGH_IP) == 0)
			return &n->entry[at - 1];
	return NULL;
}

static void entry_drop(struct neigh *n, struct entry *x)
{
	uint16_t *at = chain_of(n, x->e.ip), me = (uint16_t)(x - n->entry + 1);

	while (*at != me)
		at = &n->entry[*at - 1].next;
	*at = x->next;
	*x = (struct entry){.due = NEIGH_NEVER};
	n->nentries--;
	n->moves++;
}

/* Whether somebody relies on it, so that it is kept resolved. */
static bool entry_kept(const struct entry *x)
{
	return x->e.wanted || x->used;
}

/* Finds room for one more. Those that go for it are neither kept nor static; the hand goes round,
 * so that each has been there for about as long as all others. */
static struct entry *entry_room(struct neigh *n)
{
	for (unsigned i = 0; i < NEIGH_MAX; i++) {
		struct entry *x = &n->entry[n->hand];
		n->hand = (n->hand + 1) % NEIGH_MAX;
		if (!x->taken)
			return x;
		if (n->nentries == NEIGH_MAX && !entry_kept(x) && x->e.state != NEIGH_STATIC) {
			entry_drop(n, x);
			n->counts.evicted++;
			return x;
		}
	}
	n->counts.no_room++;
	return NULL;
}

static struct entry *entry_add(struct neigh *n, const uint8_t ip[NEIGH_IP], enum neigh_state state,
			       uint64_t now)
{
	struct entry *x = entry_room(n);

	if (x == NULL)
		return NULL;
	uint16_t *at = chain_of(n, ip);
	*x = (struct entry){.taken = true, .due = NEIGH_NEVER, .next = *at};
	memcpy(x->e.ip, ip, NEIGH_IP);
	x->e.state = state;
	x->e.since = now;
	*at = (uint16_t)(x - n->entry + 1);
	n->nentries++;
	return x;
}

bool neigh_entry(const struct neigh *n, unsigned i, struct neigh_entry *out)
{
	if (i >= NEIGH_MAX || !n->entry[i].taken)
		return false;
	*out = n->entry[i].e;
	return true;
}

/* ---- states of a neighbour ---- */

static void entry_enter(struct neigh *n, struct entry *x, enum neigh_state state, uint64_t due,
			uint64_t now)
{
	x->e.state = state;
	x->e.since = now;
	x->tries = 0;
	x->due = due;
	due_earlier(n, due);
}

/* Its MAC address is confirmed. REACHABLE_TIME is spread by chance from half to one and a half, so
 * that hosts do not fall into step (RFC 4861 6.3.2). */
static void entry_reach(struct neigh *n, struct entry *x, uint64_t now)
{
	if (entry_kept(x) && x->lost)
		news_add(n, NEIGH_NEWS_REACHED, x->e.ip, x->e.mac);
	x->asked = x->lost = false;
	entry_enter(n, x, NEIGH_REACHABLE,
		    now + REACHABLE_TIME / 2 + random_next(n) % REACHABLE_TIME, now);
}

/* It may have gone. One that is kept resolved is in use, so it will be asked. */
static void entry_stale(struct neigh *n, struct entry *x, uint64_t now)
{
	if (entry_kept(x))
		entry_enter(n, x, NEIGH_DELAY, now + DELAY_FIRST, now);
	else
		entry_enter(n, x, NEIGH_STALE, NEIGH_NEVER, now);
}

/* Asks once more, if it was not asked too often already. One that is kept resolved is asked once a
 * second for as long as it does not answer. */
static void ask_again(struct neigh *n, struct entry *x, uint64_t now)
{
	if (x->e.state == NEIGH_FAILED && !entry_kept(x)) { /* it was kept until now */
		x->due = NEIGH_NEVER;
		x->asked = x->lost = false;
		return;
	}
	if (x->tries == SOLICITS && x->e.state != NEIGH_FAILED) {
		bool kept = entry_kept(x);
		if (kept && !x->lost)
			news_add(n, NEIGH_NEWS_FAILED, x->e.ip, NULL);
		x->lost = kept;
		x->asked = x->e.has_mac = false;
		entry_enter(n, x, NEIGH_FAILED, kept ? now : NEIGH_NEVER, now);
		if (!kept)
			return;
	}
	bool sent;
	x->due = now + entry_ask(n, x->e.ip, x->e.state == NEIGH_PROBE ? x->e.mac : NULL, &sent);
	if (sent) {
		x->asked = true;
		x->tries += x->tries < SOLICITS;
	}
	due_earlier(n, x->due);
}

static void entry_due(struct neigh *n, struct entry *x, uint64_t now)
{
	switch (x->e.state) {
	case NEIGH_REACHABLE:
		entry_stale(n, x, now);
		break;
	case NEIGH_DELAY:
		entry_enter(n, x, NEIGH_PROBE, now, now);
		ask_again(n, x, now);
		break;
	case NEIGH_INCOMPLETE:
	case NEIGH_PROBE:
	case NEIGH_FAILED:
		ask_again(n, x, now);
		break;
	default:
		x->due = NEIGH_NEVER;
		break;
	}
}

static void entry_want(struct neigh *n, const uint8_t ip[NEIGH_IP], uint64_t now)
{
	struct entry *x = entry_find(n, ip);

	if (x == NULL && (x = entry_add(n, ip, NEIGH_INCOMPLETE, now)) == NULL)
		return;
	if (x->e.wanted)
		return;
	x->e.wanted = true;
	if (x->e.state == NEIGH_INCOMPLETE || x->e.state == NEIGH_FAILED)
		entry_enter(n, x, NEIGH_INCOMPLETE, now, now);
	else if (x->e.state == NEIGH_STALE)
		entry_stale(n, x, now);
}

bool neigh_find(const struct neigh *n, const uint8_t ip[NEIGH_IP], struct neigh_entry *out)
{
	const struct entry *x = entry_find((struct neigh *)(uintptr_t)n, ip);

	if (x != NULL)
		*out = x->e;
	return x != NULL;
}

bool neigh_wake(struct neigh *n, const uint8_t ip[NEIGH_IP], uint64_t now)
{
	struct entry *x = entry_find(n, ip);

	if (x == NULL && (x = entry_add(n, ip, NEIGH_INCOMPLETE, now)) == NULL)
		return false;
	if (x->e.state == NEIGH_FAILED || (x->e.state == NEIGH_INCOMPLETE && x->due == NEIGH_NEVER))
		entry_enter(n, x, NEIGH_INCOMPLETE, now, now);
	else if (x->e.state == NEIGH_STALE)
		entry_enter(n, x, NEIGH_DELAY, now + DELAY_FIRST, now);
	return true;
}

bool neigh_seek(struct neigh *n, const uint8_t ip[NEIGH_IP], uint64_t now)
{
	struct entry *x = entry_find(n, ip);

	if (x == NULL && (x = entry_add(n, ip, NEIGH_INCOMPLETE, now)) == NULL)
		return false;
	if (x->e.state == NEIGH_STATIC || x->e.state == NEIGH_REACHABLE)
		return true;
	x->asked = x->e.has_mac = false;
	entry_enter(n, x, NEIGH_INCOMPLETE, now, now);
	return true;
}

void neigh_use(struct neigh *n, const uint8_t ip[NEIGH_IP], uint64_t now)
{
	struct entry *x = entry_find(n, ip);

	if (x == NULL || x->used)
		return;
	x->used = true;
	if (x->e.state == NEIGH_STALE)
		entry_stale(n, x, now);
	else if (x->e.state == NEIGH_FAILED)
		entry_enter(n, x, NEIGH_INCOMPLETE, now, now);
}

uint64_t neigh_moves(const struct neigh *n)
{
	return n->moves;
}

void neigh_release(struct neigh *n)
{
	for (unsigned i = 0; i < NEIGH_MAX; i++)
		n->entry[i].used = false;
}

/* The neighbour is at this MAC address now. Returns whether it was elsewhere. */
static bool entry_place(struct neigh *n, struct entry *x, const struct neigh_heard *h)
{
	bool moved = x->e.has_mac && memcmp(x->e.mac, h->mac, 6) != 0;

	if (moved && entry_kept(x))
		news_add(n, NEIGH_NEWS_MOVED, x->e.ip, h->mac);
	n->moves += moved || !x->e.has_mac;
	memcpy(x->e.mac, h->mac, 6);
	x->e.has_mac = true;
	return moved;
}

/* An answer (RFC 4861 section 7.2.5 and appendix C; ARP's answers override). */
static void hear_answer(struct neigh *n, struct entry *x, const struct neigh_heard *h,
			bool confirms, uint64_t now)
{
	if (x->e.state == NEIGH_INCOMPLETE || x->e.state == NEIGH_FAILED) {
		if (!h->has_mac)
			return;
		entry_place(n, x, h);
		if (confirms)
			entry_reach(n, x, now);
		else
			entry_stale(n, x, now);
		return;
	}
	bool differs = h->has_mac && memcmp(x->e.mac, h->mac, 6) != 0;
	if (differs && !h->override) {
		if (x->e.state == NEIGH_REACHABLE)
			entry_stale(n, x, now);
		return;
	}
	if (differs)
		entry_place(n, x, h);
	if (confirms)
		entry_reach(n, x, now);
	else if (differs)
		entry_stale(n, x, now);
}

/* It says where it is, and nobody has asked (RFC 4861 7.2.3, RFC 826). */
static void hear_place(struct neigh *n, struct entry *x, const struct neigh_heard *h, uint64_t now)
{
	bool new = !x->e.has_mac;

	if (entry_place(n, x, h) || new)
		entry_stale(n, x, now);
}

static bool on_link(const struct neigh *n, const uint8_t ip[NEIGH_IP])
{
	for (unsigned i = 0; i < n->self.nown; i++)
		if (neigh_within(ip, n->self.own[i].ip, n->self.own[i].bits))
			return true;
	return false;
}

/* ---- our addresses ---- */

static void own_use(struct neigh *n, unsigned i, uint64_t now)
{
	n->own[i].state = NEIGH_USED;
	n->own[i].due = NEIGH_NEVER;
	n->self.own[i].usable = true;
	n->version++;
	own_announce(n, &n->self.own[i]);
	/* Routers take no report that is from nobody, as all were until now (RFC 3590). */
	if (n->self.own[i].ip[0] == 0xfe && !neigh_is_ip4(n->self.own[i].ip))
		neigh_mld_again(&n->mld, now);
}

static void try_own(struct neigh *n, unsigned i, uint64_t now)
{
	uint8_t *len, *f = queue_room(n, &len);

	n->own[i] = (struct own){.state = NEIGH_TENTATIVE, .asked = f != NULL};
	n->own[i].due = now + (f != NULL ? DAD_TIME : NO_SOURCE);
	due_earlier(n, n->own[i].due);
	if (f == NULL)
		return;
	*len = (uint8_t)neigh_frame_ask(&n->self, NULL, n->self.own[i].ip, NULL, f);
	n->counts.probes++;
}

/* Whether whoever tries the address is answered that it is ours. */
static bool is_defended(const struct neigh *n, const uint8_t ip[NEIGH_IP])
{
	return (n->self.answer & (neigh_is_ip4(ip) ? NEIGH_ANSWER_ARP : NEIGH_ANSWER_ND)) != 0;
}

void neigh_relink(struct neigh *n, uint64_t now)
{
	neigh_mld_again(&n->mld, now);
	groups_tell(n, now);
	for (unsigned i = 0; i < n->self.nown; i++) {
		n->self.own[i].usable = false;
		try_own(n, i, now);
	}
	n->version++;
}

/* Somebody else has one of our addresses, or tries it. */
static void hear_claim(struct neigh *n, unsigned i, const struct neigh_heard *h, uint64_t now)
{
	struct own *o = &n->own[i];

	if (o->state == NEIGH_TENTATIVE) {
		o->state = NEIGH_DUPLICATE;
		o->due = NEIGH_NEVER;
		n->counts.claims++;
		news_add(n, NEIGH_NEWS_DUPLICATE, h->ip, h->mac);
		return;
	}
	if (o->state == NEIGH_DUPLICATE)
		return;
	if (h->said == NEIGH_TRIES && is_defended(n, h->ip))
		return; /* he has got the answer that it is ours */
	n->counts.claims++;
	if (o->told && now - o->told_at < DEFEND_INTERVAL)
		return;
	o->told = true;
	o->told_at = now;
	news_add(n, NEIGH_NEWS_CLAIM, h->ip, h->mac);
	own_announce(n, &n->self.own[i]); /* RFC 5227 2.4 (b) */
}

void neigh_hear(struct neigh *n, const struct neigh_heard *h, uint64_t now)
{
	const struct neigh_own *own = neigh_own_find(&n->self, h->ip);
	struct entry *x;

	if (h->said == NEIGH_QUERIES) {
		neigh_mld_hear(&n->mld, h, random_next(n), now);
		due_earlier(n, neigh_mld_due(&n->mld));
		return;
	}
	if (own != NULL) {
		hear_claim(n, (unsigned)(own - n->self.own), h, now);
		return;
	}
	if (h->said == NEIGH_NOTHING || h->said == NEIGH_TRIES)
		return;
	x = entry_find(n, h->ip);
	if (x != NULL && x->e.state == NEIGH_STATIC)
		return;
	if (h->said == NEIGH_ANSWERS) {
		if (x != NULL)
			hear_answer(n, x, h, x->asked, now);
		else
			n->counts.unasked++;
		return;
	}
	if (h->said == NEIGH_SAYS) {
		if (x != NULL)
			hear_answer(n, x, h, false, now);
		return;
	}
	if (!h->has_mac || !on_link(n, h->ip))
		return;
	if (x == NULL && (x = entry_add(n, h->ip, NEIGH_STALE, now)) == NULL)
		return;
	hear_place(n, x, h, now);
}

/* ---- time ---- */

void neigh_turn(struct neigh *n, uint64_t now)
{
	if (now < n->due)
		return;
	for (unsigned i = 0; i < n->self.nown; i++) {
		if (n->own[i].due <= now && n->own[i].asked)
			own_use(n, i, now);
		else if (n->own[i].due <= now)
			try_own(n, i, now);
	}
	for (unsigned i = 0; i < NEIGH_MAX; i++)
		if (n->entry[i].taken && n->entry[i].due <= now)
			entry_due(n, &n->entry[i], now);
	/* What was due on the way does not count any more. */
	n->due = NEIGH_NEVER;
	for (unsigned i = 0; i < n->self.nown; i++)
		due_earlier(n, n->own[i].due);
	for (unsigned i = 0; i < NEIGH_MAX; i++)
		if (n->entry[i].taken)
			due_earlier(n, n->entry[i].due);
	groups_tell(n, now);
}

uint64_t neigh_due(const struct neigh *n)
{
	return n->due;
}

/* ---- what it is ---- */

struct neigh *neigh_new(uint64_t seed)
{
	struct neigh *n = xcalloc(1, sizeof(*n));

	n->random = seed;
	n->due = NEIGH_NEVER;
	return n;
}

void neigh_free(struct neigh *n)
{
	free(n);
}

const struct neigh_self *neigh_self(const struct neigh *n, uint64_t *version)
{
	*version = n->version;
	return &n->self;
}

enum neigh_own_state neigh_own_state(const struct neigh *n, unsigned own)
{
	return n->own[own].state;
}

const struct neigh_counts *neigh_counts(const struct neigh *n)
{
	return &n->counts;
}

unsigned neigh_forget(struct neigh *n, uint64_t now)
{
	unsigned forgotten = 0;

	for (unsigned i = 0; i < NEIGH_MAX; i++)
		if (n->entry[i].taken && n->entry[i].e.state != NEIGH_STATIC) {
			entry_drop(n, &n->entry[i]);
			forgotten++;
		}
	for (unsigned i = 0; i < n->nwanted; i++)
		entry_want(n, n->wanted[i], now);
	return forgotten;
}

/* Takes over the addresses: those that were there keep their state, new ones are tried. */
static void set_own(struct neigh *n, const struct neigh_setup *s, uint64_t now)
{
	struct neigh_self was = n->self;
	struct own own[NEIGH_OWN_MAX];

	memcpy(own, n->own, sizeof(own));
	neigh_mld_follow(&n->mld, s->own, s->nown, now);
	groups_tell(n, now); /* before anybody is asked, so that the answers find the way */
	n->self.nown = (uint8_t)s->nown;
	for (unsigned i = 0; i < s->nown; i++) {
		const struct neigh_own *old = neigh_own_find(&was, s->own[i].ip);
		memcpy(n->self.own[i].ip, s->own[i].ip, NEIGH_IP);
		n->self.own[i].bits = s->own[i].bits;
		n->self.own[i].usable = old != NULL && old->usable;
		if (old != NULL)
			n->own[i] = own[old - was.own];
		else
			try_own(n, i, now);
	}
}

static void set_entries(struct neigh *n, const struct neigh_setup *s, uint64_t now)
{
	for (unsigned i = 0; i < NEIGH_MAX; i++) {
		struct entry *x = &n->entry[i];
		if (x->taken && (x->e.state == NEIGH_STATIC || neigh_own_find(&n->self, x->e.ip)))
			entry_drop(n, x);
		x->e.wanted = false;
	}
	for (unsigned i = 0; i < s->nstatic; i++) {
		struct entry *x = entry_find(n, s->fixed[i].ip);
		if (x != NULL)
			entry_drop(n, x);
		x = entry_add(n, s->fixed[i].ip, NEIGH_STATIC, now);
		if (x == NULL)
			continue;
		memcpy(x->e.mac, s->fixed[i].mac, 6);
		x->e.has_mac = true;
		n->moves++;
	}
	n->nwanted = s->nwanted;
	memcpy(n->wanted, s->wanted, sizeof(n->wanted));
	for (unsigned i = 0; i < s->nwanted; i++)
		entry_want(n, s->wanted[i], now);
}

void neigh_set(struct neigh *n, const struct neigh_setup *s, uint64_t now)
{
	if (memcmp(n->self.mac, s->mac, 6) != 0 || !neigh_same_tags(&n->self.tags, &s->tags)) {
		for (unsigned i = 0; i < NEIGH_MAX; i++)
			if (n->entry[i].taken)
				entry_drop(n, &n->entry[i]);
		n->self.nown = 0;
		n->queue.n = 0;
		n->mld = (struct neigh_mld){0};
		memcpy(n->self.mac, s->mac, 6);
		n->self.tags = s->tags;
	}
	set_own(n, s, now);
	n->self.answer = s->answer;
	n->self.nproxy = (uint8_t)s->nproxy;
	memcpy(n->self.proxy, s->proxy, sizeof(n->self.proxy));
	set_entries(n, s, now);
	n->version++;
}
