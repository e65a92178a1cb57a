/* SPDX-License-Identifier: BSD-3-Clause */
/* A host: its addresses, from the time that nobody else is known to use them, and its neighbours
 * with the states of RFC 4861 section 7.3, for IPv4 as for IPv6. It is a plain machine: it is told
 * what frames have said (neigh_run.h) and what time it is, and gives frames to be sent. Times are
 * ns of any clock that never runs backwards. One thread; it allocates when it is made. */
#pragma once
#include "neigh_run.h"

#define NEIGH_MAX 8192      /* neighbours that are remembered */
#define NEIGH_STATIC_MAX 16 /* of them by the user */
#define NEIGH_WANTED_MAX 4  /* that are kept resolved */
#define NEIGH_NEVER UINT64_MAX

enum neigh_state {
	NEIGH_INCOMPLETE, /* asked, no answer yet */
	NEIGH_REACHABLE,
	NEIGH_STALE, /* it was somewhere once, or says so itself */
	NEIGH_DELAY, /* stale and in use: it is asked soon */
	NEIGH_PROBE, /* asked whether it is still there */
	NEIGH_FAILED,
	NEIGH_STATIC,
	NEIGH_STATES
};

enum neigh_own_state {
	NEIGH_TENTATIVE, /* we ask whether somebody has it */
	NEIGH_USED,
	NEIGH_DUPLICATE /* somebody has it: it is not used */
};

/* What a host is made of. Lengths of prefixes are as in struct neigh_own. */
struct neigh_setup {
	uint8_t mac[6];
	struct neigh_tags tags;
	uint8_t answer; /* bits of enum neigh_answers */
	unsigned nown, nproxy, nwanted, nstatic;
	struct neigh_prefix own[NEIGH_OWN_MAX], proxy[NEIGH_PROXY_MAX];
	uint8_t wanted[NEIGH_WANTED_MAX][NEIGH_IP]; /* neighbours that are kept resolved */
	struct neigh_static {
		uint8_t ip[NEIGH_IP], mac[6];
	} fixed[NEIGH_STATIC_MAX];
};

struct neigh;

/* seed: of the times that are spread by chance. */
struct neigh *neigh_new(uint64_t seed);
void neigh_free(struct neigh *n);
/* Makes it what *s says. Addresses, neighbours and their states stay where they are in both; with
 * another MAC address or other tags all begins anew. */
void neigh_set(struct neigh *n, const struct neigh_setup *s, uint64_t now);
/* For those who answer in its name. *version grows when it changes. */
const struct neigh_self *neigh_self(const struct neigh *n, uint64_t *version);
enum neigh_own_state neigh_own_state(const struct neigh *n, unsigned own);

/* What a frame has said. */
void neigh_hear(struct neigh *n, const struct neigh_heard *h, uint64_t now);
/* Tells all where its addresses are: gratuitous ARP, unsolicited advertisements. */
void neigh_announce(struct neigh *n);
/* The link was away, and another one may be at its other end: each address is tried before it is
 * used again (RFC 4862 section 5.4, RFC 5227 section 2.1). */
void neigh_relink(struct neigh *n, uint64_t now);
/* Forgets all neighbours but static ones. Returns how many. */
unsigned neigh_forget(struct neigh *n, uint64_t now);
/* Does what is due. */
void neigh_turn(struct neigh *n, uint64_t now);
/* When neigh_turn() is to be called next; NEIGH_NEVER: not before something else happens. */
uint64_t neigh_due(const struct neigh *n);
/* Takes the next frame that is to be sent, without FCS and no shorter than the least frame. Returns
 * its length; 0: there is none. */
unsigned neigh_take(struct neigh *n, uint8_t frame[NEIGH_FRAME_MAX]);

struct neigh_entry {
	uint8_t ip[NEIGH_IP], mac[6];
	bool has_mac; /* the MAC address is known */
	bool wanted;
	enum neigh_state state;
	uint64_t since; /* when the state began */
};
/* Neighbour i (0 .. NEIGH_MAX - 1), in no order. false: there is none of this number. */
bool neigh_entry(const struct neigh *n, unsigned i, struct neigh_entry *out);
/* Finds the neighbour with this address. false: there is none. */
bool neigh_find(const struct neigh *n, const uint8_t ip[NEIGH_IP], struct neigh_entry *out);
/* Something is to be sent to the neighbour: it is asked where it is, or soon whether it is still
 * there, if that is not known. One that was asked in vain is asked anew. false: the table has no
 * room for it. */
bool neigh_wake(struct neigh *n, const uint8_t ip[NEIGH_IP], uint64_t now);
/* Finds out anew where a neighbour is: it becomes INCOMPLETE, and then has a MAC address, or is
 * FAILED after three questions without an answer. One that is REACHABLE or STATIC stays so. false:
 * there is no room for one more. */
bool neigh_seek(struct neigh *n, const uint8_t ip[NEIGH_IP], uint64_t now);
/* Frames go to this neighbour from now on, and it is kept resolved like those of the setup, until
 * neigh_release(), which is for all of them. One that is not remembered is passed over. */
void neigh_use(struct neigh *n, const uint8_t ip[NEIGH_IP], uint64_t now);
void neigh_release(struct neigh *n);

/* Grows with each MAC address that becomes known or another one, and each neighbour that is
 * forgotten: until then nobody has moved. */
uint64_t neigh_moves(const struct neigh *n);

/* What is to be told to people. */
enum neigh_news_kind {
	NEIGH_NEWS_DUPLICATE, /* an address that was tried is somebody else's */
	NEIGH_NEWS_CLAIM,     /* somebody else says that he has an address of ours */
	NEIGH_NEWS_MOVED,     /* a neighbour that is kept resolved has another MAC address */
	NEIGH_NEWS_FAILED,    /* it does not answer */
	NEIGH_NEWS_REACHED    /* it answers now */
};
struct neigh_news {
	enum neigh_news_kind kind;
	uint8_t ip[NEIGH_IP], mac[6];
};
/* Takes the oldest. false: there are none. Of those that come too fast to be taken the newest are
 * lost. */
bool neigh_news(struct neigh *n, struct neigh_news *out);
/* How many were lost since this was asked last. */
unsigned neigh_untold(struct neigh *n);

struct neigh_counts {
	uint64_t probes; /* questions that were sent: of ARP and neighbour solicitations */
	/* Neighbours that were forgotten because there was no room for others, and others for whom
	 * there was none. */
	uint64_t evicted, no_room;
	uint64_t claims;    /* frames that said that an address of ours is somebody else's */
	uint64_t unasked;   /* answers to what was not asked, of which nothing was learned */
	uint64_t overtaken; /* frames that there was no room to keep until they are sent */
};
const struct neigh_counts *neigh_counts(const struct neigh *n);

/* The link-local address of a host with this MAC address. Its interface identifier is not the one
 * that a kernel makes of the MAC address (RFC 4291 appendix A), so both may live on one link. */
void neigh_link_local(const uint8_t mac[6], uint8_t ip[NEIGH_IP]);
/* The Ethernet address of the group in which an IPv6 address is asked for (RFC 4291 2.7.1). */
void neigh_group_mac(const uint8_t ip[NEIGH_IP], uint8_t mac[6]);
const char *neigh_state_name(enum neigh_state s);
