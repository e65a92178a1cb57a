/* SPDX-License-Identifier: BSD-3-Clause */
/* The half of lib/neigh for workers: which frames are for a host, what is to be sent back, and what
 * they say about neighbours. ARP is that of RFC 826, neighbour discovery that of RFC 4861, echoes
 * are those of RFC 792 and RFC 4443. All functions are pure: they remember nothing, and look at
 * nothing but their arguments. They read no byte beyond a frame's end. */
#pragma once
#include <endian.h>
#include <string.h>

#include "base.h"

#define NEIGH_OWN_MAX 33   /* addresses of a host, its link-local one included */
#define NEIGH_PROXY_MAX 16 /* prefixes that it answers for */

/* Addresses have 16 bytes; IPv4 is written as ::ffff:a.b.c.d (RFC 4291 section 2.5.5.2). */
#define NEIGH_IP 16

enum neigh_answers {
	NEIGH_ANSWER_ARP = 1,
	NEIGH_ANSWER_ND = 2,
	NEIGH_ANSWER_PING = 4,
	NEIGH_ANSWER_UNREACHABLE = 8, /* UDP: nobody listens */
	NEIGH_ANSWER_RESET = 16       /* TCP: there is no such connection, and nobody listens */
};

/* The VLAN tags of a link's frames, the outer one first (IEEE 802.1Q 9.6). */
#define NEIGH_TAGS_MAX 4
struct neigh_tags {
	uint8_t n; /* 0: frames have none */
	struct neigh_tag {
		uint16_t tpid, vid;
	} at[NEIGH_TAGS_MAX];
};
static inline bool neigh_same_tags(const struct neigh_tags *a, const struct neigh_tags *b)
{
	return a->n == b->n && __builtin_memcmp(a->at, b->at, a->n * sizeof(a->at[0])) == 0;
}

/* What a host is, for those who answer in its name. It is constant while they use it. */
struct neigh_self {
	uint8_t mac[6];
	struct neigh_tags tags;
	uint8_t answer; /* what it answers: bits of enum neigh_answers */
	uint8_t nown, nproxy;
	struct neigh_own {
		uint8_t ip[NEIGH_IP];
		uint8_t bits; /* length of its prefix; IPv4: 96 more than is written */
		bool usable;  /* it has been found to be nobody else's */
	} own[NEIGH_OWN_MAX];
	struct neigh_prefix {
		uint8_t ip[NEIGH_IP];
		uint8_t bits; /* as above */
	} proxy[NEIGH_PROXY_MAX];
};

/* What became of a frame that a host has claimed. The first five were answered; those from
 * NEIGH_TRUNCATED on were refused, and nothing was learned from them. */
enum neigh_fate {
	NEIGH_DID_ARP,         /* a request of ARP, answered */
	NEIGH_DID_ND,          /* a neighbour solicitation, answered */
	NEIGH_DID_PING,        /* an echo request, answered */
	NEIGH_DID_UNREACHABLE, /* UDP, answered by an ICMP error */
	NEIGH_DID_RESET,       /* TCP, answered by a RST */
	NEIGH_HEARD,           /* it is no question to us, or `answer` says that we are silent */
	NEIGH_CLAIM,           /* it is from somebody else who has or tries one of our addresses */
	NEIGH_TRUNCATED, /* it ends before its headers do, or its lengths say more than there is */
	NEIGH_MALFORMED, /* a field has a value that its RFC forbids */
	NEIGH_CHECKSUM,
	NEIGH_SENDER,    /* it is from a group, from all, or from nobody */
	NEIGH_ECHOED,    /* it carries our own MAC address as its sender */
	NEIGH_HOP_LIMIT, /* neighbour discovery that a router has forwarded (RFC 4861 7.1) */
	NEIGH_FRAGMENT,
	NEIGH_OPTIONS, /* an echo request with IPv4 options */
	NEIGH_NO_ROOM, /* its buffer has no room for the answer, or others read it too */
	NEIGH_RATE,    /* UDP, while errors were sent as fast as they may be */
	NEIGH_FATES
};
#define NEIGH_ANSWERED 5 /* fates below this one */

/* What a frame says about a neighbour. */
enum neigh_said {
	NEIGH_NOTHING,
	NEIGH_ASKS,    /* it asks for us, and says where it is */
	NEIGH_SAYS,    /* it says where it is, to whom it may concern */
	NEIGH_ANSWERS, /* it answers a question of ours */
	NEIGH_TRIES,   /* it wants to know whether anybody uses the address */
	NEIGH_QUERIES /* it wants to know which groups we listen to (MLD): ip, or ::, all of them */
};

struct neigh_heard {
	uint8_t said;  /* enum neigh_said */
	bool override; /* of an advertisement: what was known of it is wrong (RFC 4861 4.4) */
	bool has_mac;  /* else the frame does not say where it is */
	bool old;      /* a query of MLDv1 */
	/* A query is to be answered within this time, at a moment by chance. */
	uint32_t delay_ms;
	/* Where it is; if the frame does not say that, whom the frame is from, which only people
	 * are to be told. */
	uint8_t mac[6];
	uint8_t ip[NEIGH_IP];
};

struct neigh_verdict {
	enum neigh_fate fate;
	/* Bytes of the answer, which stands in the place of the frame; 0: there is none. */
	unsigned answer;
	struct neigh_heard heard;
};

/* Whether a frame of len bytes, without FCS, is one for neigh_judge(): ARP that came for all or for
 * us, neighbour discovery, what is said of groups (MLD), and echo requests for one of our
 * addresses. Frames that are damaged are taken as long as they can be told to be one of these. UDP:
 * see neigh_unreach_wants(), TCP: see neigh_reset_wants(). */
bool neigh_wants(const struct neigh_self *s, const uint8_t *f, unsigned len);
/* Judges a frame that is wanted, and turns it into the answer. room >= len: the bytes that may be
 * written; 0: the frame must stay as it is, and no answer is made. */
void neigh_judge(const struct neigh_self *s, uint8_t *f, unsigned len, unsigned room,
		 struct neigh_verdict *v);

/* neigh_unreach.c: UDP for one of the host's addresses, which neigh_wants() claims too and
 * neigh_judge() answers, where the host says that nobody listens. Whether a frame is such a
 * one: */
bool neigh_unreach_wants(const struct neigh_self *s, const uint8_t *f, unsigned len);
/* The judge of those alone. */
void neigh_unreach_judge(const struct neigh_self *s, uint8_t *f, unsigned len, unsigned room,
			 struct neigh_verdict *v);
/* neigh_reset.c: TCP for one of the host's addresses, or for one that it answers for, which
 * neigh_wants() claims and neigh_judge() answers by a RST where the host says so. A RST is none of
 * it. So it is for whoever has taken the segments of connections before. */
bool neigh_reset_wants(const struct neigh_self *s, const uint8_t *f, unsigned len);
/* The judge of those alone. */
void neigh_reset_judge(const struct neigh_self *s, uint8_t *f, unsigned len, unsigned room,
		       struct neigh_verdict *v);

#define NEIGH_UNREACH_PER_S 1000
#define NEIGH_UNREACH_BURST 50
/* Whether what is bounded, as errors are (RFC 4443 section 2.4 f), may happen now: a bucket that
 * holds `burst` tokens, and gets one in each `each` of the clock of `now`. *full, 0 at first: when
 * it will be full again. */
bool neigh_rate_may(uint64_t *full, uint64_t now, uint64_t each, unsigned burst);

/* Compare addresses by words: where compilers expect a branch to be taken seldom, they make a call
 * of memcmp(). */
static inline bool neigh_same_ip(const uint8_t a[NEIGH_IP], const uint8_t b[NEIGH_IP])
{
	uint64_t x[2], y[2];

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
}
static inline bool neigh_same_mac(const uint8_t a[6], const uint8_t b[6])
{
	uint32_t x, y;
	uint16_t v, w;

	memcpy(&x, a, 4);
	memcpy(&y, b, 4);
	memcpy(&v, a + 4, 2);
	memcpy(&w, b + 4, 2);
	return ((x ^ y) | (uint32_t)(v ^ w)) == 0;
}
/* The address among those of a host, NULL: it is none of them. */
const struct neigh_own *neigh_own_find(const struct neigh_self *s, const uint8_t ip[NEIGH_IP]);
/* Whether the first `bits` bits of both are the same. */
bool neigh_within(const uint8_t ip[NEIGH_IP], const uint8_t prefix[NEIGH_IP], unsigned bits);
static inline bool neigh_is_ip4(const uint8_t ip[NEIGH_IP])
{
	uint64_t high;
	uint32_t low;

	memcpy(&high, ip, 8);
	memcpy(&low, ip + 8, 4);
	return (high | (low ^ htobe32(0xffff))) == 0;
}
/* Writes an address of IPv4, whose bytes are in the order of the network, as it is written here. It
 * writes two words and no smaller pieces: a CPU that is to read a word which it has just written
 * piece by piece waits until all of them have left its store buffer. */
static inline void neigh_ip_from4(uint8_t ip[NEIGH_IP], const uint8_t ip4[4])
{
	uint32_t four;

	memcpy(&four, ip4, sizeof(four));
	uint64_t low = htobe64(0x0000ffff00000000ull | be32toh(four));

	memset(ip, 0, 8);
	memcpy(ip + 8, &low, sizeof(low));
}
/* Where the payload of a frame begins, and its type in *type. 0: it has not the host's tags. */
unsigned neigh_payload(const struct neigh_self *s, const uint8_t *f, unsigned len, unsigned *type);
/* Puts the Internet checksum (RFC 1071) of n bytes, added to a first sum, in the order of the
 * network. */
uint16_t neigh_sum(const uint8_t *p, unsigned n, uint64_t first);
/* The first sum for ICMPv6: that of its pseudo header (RFC 8200 section 8.1), of the addresses in
 * an IPv6 header and of a length. */
uint64_t neigh_sum_ip6(const uint8_t *ip6, unsigned len);

/* What the frames are made of, for those who build some. */
#define NEIGH_ETH 14
#define NEIGH_TAG 4
#define NEIGH_ARP 28
#define NEIGH_IP4 20
#define NEIGH_IP6 40
#define NEIGH_ND 24 /* a solicitation or an advertisement without options */
#define NEIGH_FRAME_MIN 60
#define NEIGH_FRAME_MAX 112 /* longest frame that a host sends of its own accord */
enum { ND_SOLICIT = 135, ND_ADVERT = 136 };
/* Writes the IPv6 and ICMPv6 headers of a solicitation or advertisement (type, flags) with the link
 * address option, whose addresses (src, dst) are in the IPv6 header already, and its checksum.
 * Returns its length from the IPv6 header on. */
unsigned neigh_put_nd(uint8_t *ip6, unsigned type, unsigned flags, const uint8_t target[NEIGH_IP],
		      const uint8_t *mac);
