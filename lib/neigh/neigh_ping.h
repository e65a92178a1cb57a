/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of a ping: its way, its frames, and what became of each request. The last is a
 * plain machine: it is told which requests were sent and what came back, each with its time, which
 * is that of any clock (ticks). One thread. */
#pragma once
#include "hist.h"
#include "neigh_ping_run.h"

/* How a ping goes: the own address that it comes from, and the neighbour that it is sent to. */
struct neigh_way {
	uint8_t from[NEIGH_IP], next[NEIGH_IP];
};
enum neigh_way_found {
	NEIGH_WAY,
	NEIGH_WAY_SELF,   /* it is an address of ours */
	NEIGH_WAY_ALL,    /* it is that of all on a link of ours */
	NEIGH_WAY_FAMILY, /* none of ours is of its family */
	NEIGH_WAY_NONE,   /* it is on no link of ours, and there is no gateway of its family */
};
/* link: only neighbours are asked. */
enum neigh_way_found neigh_way_find(const struct neigh_own *own, unsigned nown,
				    const uint8_t (*gateway)[NEIGH_IP], unsigned ngateways,
				    const uint8_t to[NEIGH_IP], bool link, struct neigh_way *out);

/* The shortest frame of an echo request, without FCS. */
unsigned neigh_ping_least(const struct neigh_self *s, const uint8_t to[NEIGH_IP]);
/* Writes an echo request of len bytes, without its number and checksum, for the neighbour at mac.
 * Returns where its ICMP header begins. *first: for neigh_ping_number(). */
unsigned neigh_ping_frame(const struct neigh_self *s, const struct neigh_ping *p,
			  const uint8_t mac[6], unsigned hops, uint8_t *f, unsigned len,
			  uint16_t *first);
/* Makes an echo request, as above, of the ICMP message at f + at, which goes to the end of a frame
 * of len bytes and whose IP header is at f + ip. With neigh_ping_number() the sum of its bytes is
 * that of any message whose checksum is right, so checksums of headers before it stay right. */
void neigh_ping_echo(const struct neigh_ping *p, uint8_t *f, unsigned ip, unsigned at, unsigned len,
		     uint16_t *first);
/* Writes the question of ARP or neighbour discovery of a ping of the link. Returns its length. */
unsigned neigh_ping_ask(const struct neigh_self *s, const struct neigh_ping *p, uint8_t *f);
/* An ICMP error as people call it: "host unreachable". */
const char *neigh_pong_error(const struct neigh_pong *p);

/* What became of requests. The first members add up to sent. */
struct neigh_pings_counts {
	uint64_t sent;
	uint64_t received; /* answered in time */
	uint64_t late;     /* answered, but only after the wait for it was over */
	uint64_t errors;   /* of which ICMP said why not */
	uint64_t lost;
	uint64_t open; /* still waited for */
	/* Frames that are nobody's first answer: to a request that has one, not for any request, of
	 * somebody else, or damaged. */
	uint64_t duplicates, foreign, damaged;
	uint64_t min_ns, max_ns; /* of received; exact */
};

enum neigh_pings_kind {
	NEIGH_PINGS_ANSWERED,
	NEIGH_PINGS_LATE,
	NEIGH_PINGS_ERROR,
	NEIGH_PINGS_LOST,
	NEIGH_PINGS_DUPLICATE,
};
/* What is told of a request, as soon as it is known. */
struct neigh_pings_news {
	enum neigh_pings_kind kind;
	uint64_t number; /* from 0 */
	uint64_t rtt_ns;
	const struct neigh_pong *pong; /* NULL: LOST */
};
typedef void neigh_pings_fn(void *arg, const struct neigh_pings_news *news);

struct neigh_pings;
/* wait: ticks after which an unanswered request is lost. ns turns a span of ticks into ns. tell may
 * be NULL. */
struct neigh_pings *neigh_pings_new(uint64_t wait, uint64_t (*ns)(uint64_t ticks),
				    neigh_pings_fn *tell, void *arg);
void neigh_pings_free(struct neigh_pings *p);
/* The next request was sent. Numbers begin at 0, and none is left out. */
void neigh_pings_sent(struct neigh_pings *p, uint64_t at);
/* The device has not taken the last one; it will be sent again. */
void neigh_pings_unsent(struct neigh_pings *p);
/* A frame came back. One without a number answers the newest request that was sent before it. */
void neigh_pings_heard(struct neigh_pings *p, const struct neigh_pong *pong, bool numbered,
		       uint64_t at);
/* Gives up the requests that were waited for long enough. */
void neigh_pings_turn(struct neigh_pings *p, uint64_t now);
const struct neigh_pings_counts *neigh_pings_counts(const struct neigh_pings *p);
/* Round trip times in ns of what was received. */
const struct hist *neigh_pings_rtt(const struct neigh_pings *p);
