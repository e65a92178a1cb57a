/* SPDX-License-Identifier: BSD-3-Clause */
#include "neigh_ping.h"

#include <stdlib.h>
#include <string.h>

#include "neigh.h"
#include "neigh_frame.h"

enum { TYPE_IP4 = 0x0800, TYPE_IP6 = 0x86dd, PROTO_ICMP = 1, PROTO_ICMP6 = 58 };
enum { ECHO4 = 8, ECHO6 = 128, DONT_FRAGMENT = 0x40 };
#define ICMP_HEAD 8u

/* ---- the way ---- */

static bool is_link_local(const uint8_t ip[NEIGH_IP])
{
	return ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
}

/* The address of ours whose prefix holds ip; NULL: none. */
static const struct neigh_own *way_own(const struct neigh_own *own, unsigned nown,
				       const uint8_t ip[NEIGH_IP])
{
	for (unsigned i = 0; i < nown; i++)
		if (neigh_is_ip4(own[i].ip) == neigh_is_ip4(ip) &&
		    neigh_within(ip, own[i].ip, own[i].bits))
			return &own[i];
	return NULL;
}

/* Whether the address is that of all on the link (RFC 922 section 7). */
static bool way_all(const struct neigh_own *own, const uint8_t to[NEIGH_IP])
{
	bool all = neigh_is_ip4(own->ip) && own->bits <= 96 + 30 &&
		   neigh_within(to, own->ip, own->bits);

	for (unsigned i = own->bits; i < 128 && all; i++)
		all = (to[i / 8] & 0x80 >> i % 8) != 0;
	return all;
}

enum neigh_way_found neigh_way_find(const struct neigh_own *own, unsigned nown,
				    const uint8_t (*gateway)[NEIGH_IP], unsigned ngateways,
				    const uint8_t to[NEIGH_IP], bool link, struct neigh_way *out)
{
	const struct neigh_own *from = NULL;
	bool family = false;

	for (unsigned i = 0; i < nown; i++) {
		if (memcmp(own[i].ip, to, NEIGH_IP) == 0)
			return NEIGH_WAY_SELF;
		if (way_all(&own[i], to))
			return NEIGH_WAY_ALL;
		family = family || neigh_is_ip4(own[i].ip) == neigh_is_ip4(to);
	}
	if (!family)
		return NEIGH_WAY_FAMILY;
	memcpy(out->next, to, NEIGH_IP);
	from = way_own(own, nown, to);
	for (unsigned g = 0; from == NULL && !link && g < ngateways; g++) {
		if (neigh_is_ip4(gateway[g]) != neigh_is_ip4(to) || is_link_local(to))
			continue;
		memcpy(out->next, gateway[g], NEIGH_IP);
		from = way_own(own, nown, gateway[g]);
		/* A link-local address of ours would not be answered from beyond the link. */
		for (unsigned i = 0; (from == NULL || is_link_local(from->ip)) && i < nown; i++)
			if (neigh_is_ip4(own[i].ip) == neigh_is_ip4(to) &&
			    !is_link_local(own[i].ip))
				from = &own[i];
	}
	if (from == NULL)
		return NEIGH_WAY_NONE;
	memcpy(out->from, from->ip, NEIGH_IP);
	return NEIGH_WAY;
}

/* ---- frames ---- */

unsigned neigh_ping_least(const struct neigh_self *s, const uint8_t to[NEIGH_IP])
{
	unsigned len = NEIGH_ETH + s->tags.n * NEIGH_TAG +
		       (neigh_is_ip4(to) ? NEIGH_IP4 : NEIGH_IP6) + ICMP_HEAD + NEIGH_PING_NUMBER;

	return len > NEIGH_FRAME_MIN ? len : NEIGH_FRAME_MIN;
}

static unsigned put_ip4(const struct neigh_ping *p, unsigned hops, uint8_t *ip, unsigned len)
{
	memcpy(ip,
	       (const uint8_t[12]){0x45, 0, (uint8_t)(len >> 8), (uint8_t)len, 0, 0, DONT_FRAGMENT,
				   0, (uint8_t)hops, PROTO_ICMP},
	       12);
	memcpy(ip + 12, p->from + 12, 4);
	memcpy(ip + 16, p->to + 12, 4);
	uint16_t sum = neigh_sum(ip, NEIGH_IP4, 0);
	memcpy(ip + 10, &sum, 2);
	return NEIGH_IP4;
}

static unsigned put_ip6(const struct neigh_ping *p, unsigned hops, uint8_t *ip, unsigned len)
{
	unsigned n = len - NEIGH_IP6;

	memcpy(ip,
	       (const uint8_t[8]){0x60, 0, 0, 0, (uint8_t)(n >> 8), (uint8_t)n, PROTO_ICMP6,
				  (uint8_t)hops},
	       8);
	memcpy(ip + 8, p->from, NEIGH_IP);
	memcpy(ip + 24, p->to, NEIGH_IP);
	return NEIGH_IP6;
}

void neigh_ping_echo(const struct neigh_ping *p, uint8_t *f, unsigned ip, unsigned at, unsigned len,
		     uint16_t *first)
{
	bool four = neigh_is_ip4(p->to);
	uint8_t *icmp = f + at;

	memset(icmp, 0, ICMP_HEAD + NEIGH_PING_NUMBER);
	icmp[0] = four ? ECHO4 : ECHO6;
	put_be16(icmp + 4, p->id);
	*first = (uint16_t)~neigh_sum(icmp, len - at, four ? 0 : neigh_sum_ip6(f + ip, len - at));
}

unsigned neigh_ping_frame(const struct neigh_self *s, const struct neigh_ping *p,
			  const uint8_t mac[6], unsigned hops, uint8_t *f, unsigned len,
			  uint16_t *first)
{
	bool four = neigh_is_ip4(p->to);

	memset(f, 0, len);
	unsigned at = neigh_frame_eth(s, mac, four ? TYPE_IP4 : TYPE_IP6, f);
	uint8_t *ip = f + at;
	at += four ? put_ip4(p, hops, ip, len - at) : put_ip6(p, hops, ip, len - at);
	for (unsigned i = ICMP_HEAD + NEIGH_PING_NUMBER; at + i < len; i++)
		f[at + i] = (uint8_t)i;
	neigh_ping_echo(p, f, (unsigned)(ip - f), at, len, first);
	return at;
}

unsigned neigh_ping_ask(const struct neigh_self *s, const struct neigh_ping *p, uint8_t *f)
{
	return neigh_frame_ask(s, p->from, p->to, NULL, f);
}

const char *neigh_pong_error(const struct neigh_pong *p)
{
	static const char *const unreachable4[] = {"network unreachable",
						   "host unreachable",
						   "protocol unreachable",
						   "port unreachable",
						   "too big",
						   "source route failed",
						   "network unknown",
						   "host unknown",
						   "source isolated",
						   "network prohibited",
						   "host prohibited",
						   "network unreachable for this TOS",
						   "host unreachable for this TOS",
						   "prohibited"};
	static const char *const unreachable6[] = {
		"no route",         "prohibited",       "beyond the scope of the source",
		"host unreachable", "port unreachable", "source prohibited",
		"route rejected"};
	const char *const *name = neigh_is_ip4(p->ip) ? unreachable4 : unreachable6;
	unsigned n = neigh_is_ip4(p->ip) ? 14 : 7;
	unsigned unreachable = neigh_is_ip4(p->ip) ? 3 : 1;

	if (p->type == unreachable)
		return p->code < n ? name[p->code] : "unreachable";
	if (p->type == 2)
		return "too big";
	return p->type == 11 || p->type == 3 ? "time exceeded" : "parameter problem";
}

/* ---- what became of requests ---- */

/* So many requests are remembered: those that the 16 bits of a header tell apart. */
#define WINDOW 65536u

static const struct hist_shape shape = {10, 36}; /* to 1 / 1024, up to 68 s */

enum request_state { REQUEST_OPEN, REQUEST_ANSWERED, REQUEST_LOST };
struct request {
	uint64_t at;
	uint8_t state; /* enum request_state */
};

struct neigh_pings {
	uint64_t wait, oldest; /* requests before this one are not open */
	uint64_t (*ns)(uint64_t ticks);
	neigh_pings_fn *tell;
	void *arg;
	struct neigh_pings_counts counts;
	struct hist *rtt;
	struct request request[WINDOW];
};

struct neigh_pings *neigh_pings_new(uint64_t wait, uint64_t (*ns)(uint64_t ticks),
				    neigh_pings_fn *tell, void *arg)
{
	struct neigh_pings *p = xcalloc(1, sizeof(*p));

	p->wait = wait;
	p->ns = ns;
	p->tell = tell;
	p->arg = arg;
	p->rtt = hist_new(shape);
	return p;
}

void neigh_pings_free(struct neigh_pings *p)
{
	if (p != NULL)
		free(p->rtt);
	free(p);
}

const struct neigh_pings_counts *neigh_pings_counts(const struct neigh_pings *p)
{
	return &p->counts;
}

const struct hist *neigh_pings_rtt(const struct neigh_pings *p)
{
	return p->rtt;
}

static void pings_tell(struct neigh_pings *p, enum neigh_pings_kind kind, uint64_t number,
		       uint64_t rtt_ns, const struct neigh_pong *pong)
{
	if (p->tell != NULL)
		p->tell(p->arg, &(struct neigh_pings_news){kind, number, rtt_ns, pong});
}

static struct request *pings_request(struct neigh_pings *p, uint64_t number)
{
	return &p->request[number % WINDOW];
}

static void pings_lose(struct neigh_pings *p, uint64_t number)
{
	pings_request(p, number)->state = REQUEST_LOST;
	p->counts.open--;
	p->counts.lost++;
	pings_tell(p, NEIGH_PINGS_LOST, number, 0, NULL);
}

/* Gives up open requests before this one. */
static void pings_pass(struct neigh_pings *p, uint64_t before)
{
	for (; p->oldest < before; p->oldest++)
		if (pings_request(p, p->oldest)->state == REQUEST_OPEN)
			pings_lose(p, p->oldest);
}

void neigh_pings_sent(struct neigh_pings *p, uint64_t at)
{
	uint64_t number = p->counts.sent++;

	if (number >= WINDOW) /* the number of an older one is used again */
		pings_pass(p, number - WINDOW + 1);
	p->counts.open++;
	*pings_request(p, number) = (struct request){.at = at};
}

void neigh_pings_unsent(struct neigh_pings *p)
{
	if (p->counts.sent == 0 || pings_request(p, p->counts.sent - 1)->state != REQUEST_OPEN)
		return;
	p->counts.sent--;
	p->counts.open--;
}

void neigh_pings_turn(struct neigh_pings *p, uint64_t now)
{
	for (; p->oldest < p->counts.sent; p->oldest++) {
		struct request *q = pings_request(p, p->oldest);
		if (q->state != REQUEST_OPEN)
			continue;
		if ((int64_t)(now - q->at) < (int64_t)p->wait)
			return;
		pings_lose(p, p->oldest);
	}
}

/* The request that a frame is about. false: there is none. */
static bool pings_find(const struct neigh_pings *p, const struct neigh_pong *pong, bool numbered,
		       uint64_t at, uint64_t *number)
{
	uint64_t sent = p->counts.sent;

	if (sent == 0)
		return false;
	if (numbered) { /* the newest one with these 16 bits, if there is no more */
		*number =
			pong->whole ? pong->number : sent - 1 - (uint16_t)(sent - 1 - pong->number);
		return *number < sent && sent - *number <= WINDOW;
	}
	for (*number = sent; (*number)-- > 0 && sent - *number <= WINDOW;)
		if ((int64_t)(at - p->request[*number % WINDOW].at) >= 0)
			return true;
	return false;
}

static void pings_answer(struct neigh_pings *p, uint64_t number, const struct neigh_pong *pong,
			 uint64_t ticks)
{
	uint64_t rtt = p->ns(ticks);

	if (p->counts.received == 0 || rtt < p->counts.min_ns)
		p->counts.min_ns = rtt;
	if (rtt > p->counts.max_ns)
		p->counts.max_ns = rtt;
	p->counts.received++;
	hist_add(p->rtt, rtt, 1);
	if (rtt >> shape.top == 0)
		hist_add_sum(p->rtt, rtt);
	pings_tell(p, NEIGH_PINGS_ANSWERED, number, rtt, pong);
}

void neigh_pings_heard(struct neigh_pings *p, const struct neigh_pong *pong, bool numbered,
		       uint64_t at)
{
	uint64_t number;

	if (pong->kind == NEIGH_PONG_DAMAGED) {
		p->counts.damaged++;
		return;
	}
	if (pong->kind == NEIGH_PONG_FOREIGN || !pings_find(p, pong, numbered, at, &number) ||
	    (int64_t)(at - pings_request(p, number)->at) < 0) { /* before it was asked */
		p->counts.foreign++;
		return;
	}
	struct request *q = pings_request(p, number);
	uint64_t ticks = at - q->at;
	if (q->state == REQUEST_ANSWERED) {
		p->counts.duplicates++;
		pings_tell(p, NEIGH_PINGS_DUPLICATE, number, p->ns(ticks), pong);
		return;
	}
	*(q->state == REQUEST_OPEN ? &p->counts.open : &p->counts.lost) -= 1;
	bool late = ticks >= p->wait;
	q->state = REQUEST_ANSWERED;
	if (pong->kind == NEIGH_PONG_ERROR) {
		p->counts.errors++;
		pings_tell(p, NEIGH_PINGS_ERROR, number, p->ns(ticks), pong);
	} else if (late) {
		p->counts.late++;
		pings_tell(p, NEIGH_PINGS_LATE, number, p->ns(ticks), pong);
	} else {
		pings_answer(p, number, pong, ticks);
	}
}
