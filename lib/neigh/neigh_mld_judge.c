/* SPDX-License-Identifier: BSD-3-Clause */
#include "neigh_mld_run.h"

#include <string.h>

enum { PROTO_HBH = 0, PROTO_ICMP6 = 58, OPT_PAD1 = 0, OPT_ALERT = 5 };
#define QUERY1 24u /* length of a query of MLDv1, and of its reports */
#define QUERY2 28u /* least length of one of MLDv2 */

bool neigh_mld_wants(const uint8_t *ip6, unsigned len)
{
	const uint8_t *hbh = ip6 + NEIGH_IP6;

	if (len < NEIGH_IP6 + NEIGH_HBH || ip6[6] != PROTO_HBH || hbh[0] != PROTO_ICMP6)
		return false;
	unsigned at = NEIGH_IP6 + NEIGH_HBH + hbh[1] * 8u;
	return len > at &&
	       ((ip6[at] >= MLD_QUERY && ip6[at] <= MLD_DONE1) || ip6[at] == MLD_REPORT2);
}

/* Whether one of the options is a router alert with the value of MLD (RFC 2711). */
static bool mld_has_alert(const uint8_t *hbh)
{
	unsigned end = NEIGH_HBH + hbh[1] * 8u;

	for (unsigned at = 2; at + 2 <= end;) {
		if (hbh[at] == OPT_PAD1) {
			at++;
			continue;
		}
		if (hbh[at] == OPT_ALERT)
			return hbh[at + 1] == 2 && at + 4 <= end && get_be16(hbh + at + 2) == 0;
		at += 2u + hbh[at + 1];
	}
	return false;
}

/* The maximum response delay of MLDv2 in ms (RFC 3810 section 5.1.3). */
static uint32_t mld_delay(unsigned code)
{
	return code < 0x8000 ? code : (uint32_t)((code & 0xfff) | 0x1000) << ((code >> 12 & 7) + 3);
}

static enum neigh_fate mld_query(const uint8_t *ip6, const uint8_t *icmp, unsigned n,
				 struct neigh_heard *h)
{
	static const uint8_t zero[NEIGH_IP];
	const uint8_t *group = icmp + 8;

	if (ip6[8] != 0xfe || (ip6[9] & 0xc0) != 0x80)
		return NEIGH_SENDER; /* RFC 3810 section 5.1.14 */
	if (n != QUERY1 && n < QUERY2)
		return NEIGH_MALFORMED;
	if (group[0] != 0xff && memcmp(group, zero, NEIGH_IP) != 0)
		return NEIGH_MALFORMED;
	h->said = NEIGH_QUERIES;
	h->old = n == QUERY1;
	h->delay_ms = h->old ? get_be16(icmp + 4) : mld_delay(get_be16(icmp + 4));
	memcpy(h->ip, group, NEIGH_IP);
	return NEIGH_HEARD;
}

enum neigh_fate neigh_mld_judge(const uint8_t *ip6, unsigned len, struct neigh_heard *h)
{
	unsigned at = NEIGH_IP6 + NEIGH_HBH + ip6[NEIGH_IP6 + 1] * 8u;
	unsigned whole = NEIGH_IP6 + get_be16(ip6 + 4);
	const uint8_t *icmp = ip6 + at;

	if (ip6[0] >> 4 != 6)
		return NEIGH_MALFORMED;
	if (whole > len || whole < at + QUERY1 - (icmp[0] == MLD_REPORT2 ? NEIGH_IP : 0))
		return NEIGH_TRUNCATED;
	unsigned n = whole - at;
	if (neigh_sum(icmp, n, neigh_sum_ip6(ip6, n)) != 0)
		return NEIGH_CHECKSUM;
	if (ip6[7] != 1)
		return NEIGH_HOP_LIMIT;
	if (!mld_has_alert(ip6 + NEIGH_IP6))
		return NEIGH_MALFORMED;
	return icmp[0] == MLD_QUERY ? mld_query(ip6, icmp, n, h) : NEIGH_HEARD;
}
