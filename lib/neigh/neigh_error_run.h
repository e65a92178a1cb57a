/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP errors about what a host has sent (RFC 792, RFC 4443), judged on workers: what they say, and
 * the frame that they quote. All functions are pure and read no byte beyond a frame's end. */
#pragma once
#include "neigh_run.h"

/* What an error says, in the order of struct cnt_icmp (count.h). */
enum neigh_error_kind {
	NEIGH_ERROR_NET,
	NEIGH_ERROR_HOST,
	NEIGH_ERROR_PROTOCOL,
	NEIGH_ERROR_PORT,
	NEIGH_ERROR_PROHIBITED,
	NEIGH_ERROR_UNREACHABLE, /* for another reason */
	NEIGH_ERROR_TOO_BIG,
	NEIGH_ERROR_HOP_LIMIT,
	NEIGH_ERROR_REASSEMBLY,
	NEIGH_ERROR_OTHER, /* a parameter problem, a redirect of IPv4, a source quench */
	NEIGH_ERROR_KINDS
};

/* What tells an IP packet from others. */
union neigh_packet {
	struct {
		uint8_t src[NEIGH_IP], dst[NEIGH_IP];
		uint8_t ports[4]; /* of UDP, TCP and SCTP */
		uint8_t proto, version, none[2];
	};
	uint64_t word[5];
};

/* The packets that somebody sends: those that are `is` in all bits that are set in `fixed`. */
struct neigh_sent {
	union neigh_packet is, fixed;
	uint32_t of; /* whose they are, for its maker */
};

struct neigh_error {
	enum neigh_error_kind kind;
	uint8_t from[NEIGH_IP];           /* who says it */
	uint32_t mtu;                     /* that a "too big" names */
	union neigh_packet quoted, known; /* bits of quoted that the error tells */
	/* The quoted packet as it stands in the frame, from its IP header on. */
	const uint8_t *quote;
	unsigned quote_len;
};

/* Whether a frame of len bytes, without FCS, is an ICMP error for an address of ours, or for one of
 * those that the host answers for. */
bool neigh_error_wants(const struct neigh_self *s, const uint8_t *f, unsigned len);
/* Judges a frame that is wanted. NEIGH_HEARD: *out is what it says; else a reason to refuse it,
 * which is one of those from NEIGH_TRUNCATED on, or NEIGH_CLAIM: it quotes what its receiver has
 * not sent. */
enum neigh_fate neigh_error_judge(const struct neigh_self *s, const uint8_t *f, unsigned len,
				  struct neigh_error *out);
/* Whether the quoted packet may be one of these. */
static inline bool neigh_error_about(const struct neigh_error *e, const struct neigh_sent *sent)
{
	uint64_t differs = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(sent->is.word); i++)
		differs |= (e->quoted.word[i] ^ sent->is.word[i]) & e->known.word[i] &
			   sent->fixed.word[i];
	return differs == 0;
}
/* Reads what is sent from a frame and from the bits in it that vary (1: it does), both of len
 * bytes. false: no IP follows the Ethernet header and its tags, so that no error can be told. */
bool neigh_sent_read(const uint8_t *f, const uint8_t *varies, unsigned len, struct neigh_sent *out);
