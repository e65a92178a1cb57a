/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/neigh: a host tells switches and routers which groups it listens to (RFC 3810, and RFC
 * 2710 while somebody asks by that). These are the groups in which its IPv6 addresses are asked
 * for. The machine is told times, as that of neigh.h. Zeroed bytes listen to none. */
#pragma once
#include "neigh_frame.h"

#define NEIGH_MLD_TIMES 2 /* so often a change is told: the robustness variable, RFC 3810 9.1 */

struct neigh_mld {
	unsigned n;
	uint64_t old_until; /* until then it speaks MLDv1 */
	struct neigh_mld_group {
		uint8_t last[3]; /* of ff02::1:ff00:0/104 */
		bool joined;     /* false: it was left, and is forgotten when that is told */
		uint8_t left;    /* so often the change is to be told yet */
		uint64_t due;    /* when that is */
		uint64_t answer; /* when a query is to be answered; NEIGH_NEVER: none was heard */
		uint64_t told;   /* no answer before this */
	} group[2 * NEIGH_OWN_MAX];
};

/* It listens to the groups of these addresses, and no others. */
void neigh_mld_follow(struct neigh_mld *m, const struct neigh_prefix *own, unsigned nown,
		      uint64_t now);
/* Somebody may not know its groups yet: they are told as when they were joined. */
void neigh_mld_again(struct neigh_mld *m, uint64_t now);
/* A query was heard. random: a number by chance. */
void neigh_mld_hear(struct neigh_mld *m, const struct neigh_heard *h, uint64_t random,
		    uint64_t now);
/* Gives the reports that are due, as far as there is room for them. */
void neigh_mld_tell(struct neigh_mld *m, const struct neigh_self *s, uint64_t random, uint64_t now,
		    struct neigh_queue *out);
/* When the next one is due. */
uint64_t neigh_mld_due(const struct neigh_mld *m);
