/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast listener discovery on workers: what queries ask (RFC 2710, RFC 3810). */
#pragma once
#include "neigh_run.h"

#define NEIGH_HBH 8 /* the hop-by-hop header with the router alert */
enum { MLD_QUERY = 130, MLD_REPORT1 = 131, MLD_DONE1 = 132, MLD_REPORT2 = 143 };

/* Whether an IPv6 packet, of which len bytes are there, is a query or a report. */
bool neigh_mld_wants(const uint8_t *ip6, unsigned len);
/* Judges one that is wanted. NEIGH_HEARD: *h is what it says. */
enum neigh_fate neigh_mld_judge(const uint8_t *ip6, unsigned len, struct neigh_heard *h);
