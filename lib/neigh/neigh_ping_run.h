/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of a ping: the number of a request goes into a frame that control has built,
 * and what comes back is told from all other frames. Echoes are those of RFC 792 and RFC 4443,
 * whose errors quote the request. All functions are pure and read no byte beyond a frame's end. */
#pragma once
#include "neigh_run.h"

/* Behind so many bytes of a frame, at most, an answer begins that is searched for. */
#define NEIGH_PONG_SEARCH 512

/* An echo request carries its whole number behind its header, whose own has 16 bits. */
#define NEIGH_PING_NUMBER 8

/* Who asks whom. It is constant while somebody uses it. */
struct neigh_ping {
	uint8_t from[NEIGH_IP], to[NEIGH_IP];
	uint16_t id; /* of its echo requests */
	bool link;   /* it asks by ARP or neighbour solicitation, whose frames have no number */
	/* Its requests lie behind further headers, as those of a tunnel, and its answers behind
	 * whatever the way back puts there: they are searched for. */
	bool inside;
};

enum neigh_pong_kind {
	NEIGH_PONG_ANSWER,
	NEIGH_PONG_ERROR,   /* ICMP says why a request was not answered */
	NEIGH_PONG_FOREIGN, /* it answers with our identifier, but is from somebody else */
	NEIGH_PONG_DAMAGED, /* a length, the checksum or the number is wrong */
};

/* What came back. */
struct neigh_pong {
	uint8_t kind;       /* enum neigh_pong_kind */
	uint8_t type, code; /* of an ICMP error */
	uint8_t hops;       /* time to live or hop limit that is left; 0: the frame has none */
	bool whole;         /* number is that of the request, not only its last 16 bits */
	uint64_t number;
	uint32_t mtu;         /* that a "too big" names */
	uint8_t ip[NEIGH_IP]; /* whom the frame is from */
	uint8_t mac[6];       /* the same; of ARP and neighbour discovery what the frame says */
};

/* Whether a frame of len bytes, without FCS, may have come for the ping. */
bool neigh_pong_wants(const struct neigh_self *s, const struct neigh_ping *p, const uint8_t *f,
		      unsigned len);
/* Judges a frame that is wanted. */
struct neigh_pong neigh_pong_judge(const struct neigh_self *s, const struct neigh_ping *p,
				   const uint8_t *f, unsigned len);
/* Writes a request's number into its ICMP header and behind it, and the checksum. first: what
 * neigh_ping_frame() has given. */
void neigh_ping_number(uint8_t *icmp, uint16_t first, uint64_t number);
/* Writes the time to live or hop limit (1 .. 255) into an IP header. The checksum of IPv4
 * follows. */
void neigh_ping_hops(uint8_t *ip, unsigned hops);
