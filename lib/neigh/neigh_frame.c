/* SPDX-License-Identifier: BSD-3-Clause */
#include "neigh_frame.h"

#include <string.h>

enum { TYPE_ARP = 0x0806, TYPE_IP6 = 0x86dd };
enum { ARP_REQUEST = 1, ND_OVERRIDE = 0x20 };

uint8_t *neigh_queue_room(struct neigh_queue *q, uint8_t **len)
{
	unsigned i = (q->head + q->n) % NEIGH_QUEUE;

	if (q->n == NEIGH_QUEUE)
		return NULL;
	q->n++;
	*len = &q->at[i].len;
	return q->at[i].frame;
}

unsigned neigh_queue_take(struct neigh_queue *q, uint8_t frame[NEIGH_FRAME_MAX])
{
	if (q->n == 0)
		return 0;
	unsigned len = q->at[q->head].len;
	memcpy(frame, q->at[q->head].frame, len);
	q->head = (q->head + 1) % NEIGH_QUEUE;
	q->n--;
	return len;
}

void neigh_group_mac(const uint8_t ip[NEIGH_IP], uint8_t mac[6])
{
	memcpy(mac, (const uint8_t[6]){0x33, 0x33, 0xff, ip[13], ip[14], ip[15]}, 6);
}

unsigned neigh_frame_eth(const struct neigh_self *s, const uint8_t dst[6], unsigned type,
			 uint8_t *f)
{
	unsigned at = NEIGH_ETH;

	memcpy(f, dst, 6);
	memcpy(f + 6, s->mac, 6);
	for (unsigned i = 0; i < s->tags.n; i++, at += NEIGH_TAG) {
		put_be16(f + at - 2, s->tags.at[i].tpid);
		put_be16(f + at, s->tags.at[i].vid);
	}
	put_be16(f + at - 2, type);
	return at;
}

static unsigned put_eth(const struct neigh_self *s, const uint8_t dst[6], unsigned type,
			uint8_t f[NEIGH_FRAME_MAX])
{
	memset(f, 0, NEIGH_FRAME_MAX);
	return neigh_frame_eth(s, dst, type, f);
}

static unsigned put_arp(const struct neigh_self *s, const uint8_t dst[6], const uint8_t *from,
			const uint8_t ip[NEIGH_IP], uint8_t f[NEIGH_FRAME_MAX])
{
	unsigned at = put_eth(s, dst, TYPE_ARP, f);
	uint8_t *arp = f + at;

	memcpy(arp, (const uint8_t[8]){0, 1, 8, 0, 6, 4, 0, ARP_REQUEST}, 8);
	memcpy(arp + 8, s->mac, 6);
	if (from != NULL)
		memcpy(arp + 14, from + 12, 4);
	memcpy(arp + 24, ip + 12, 4);
	return NEIGH_FRAME_MIN;
}

unsigned neigh_frame_ask(const struct neigh_self *s, const uint8_t *from,
			 const uint8_t ip[NEIGH_IP], const uint8_t *mac, uint8_t f[NEIGH_FRAME_MAX])
{
	static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint8_t group[6];

	if (neigh_is_ip4(ip))
		return put_arp(s, mac != NULL ? mac : all, from, ip, f);
	neigh_group_mac(ip, group);
	unsigned at = put_eth(s, mac != NULL ? mac : group, TYPE_IP6, f);
	uint8_t *ip6 = f + at;
	if (from != NULL)
		memcpy(ip6 + 8, from, NEIGH_IP);
	if (mac != NULL)
		memcpy(ip6 + 24, ip, NEIGH_IP);
	else
		memcpy(ip6 + 24,
		       (const uint8_t[NEIGH_IP]){0xff, 2, [11] = 1, [12] = 0xff, ip[13], ip[14],
						 ip[15]},
		       NEIGH_IP);
	return at + neigh_put_nd(ip6, ND_SOLICIT, 0, ip, from != NULL ? s->mac : NULL);
}

unsigned neigh_frame_announce(const struct neigh_self *s, const uint8_t ip[NEIGH_IP],
			      uint8_t f[NEIGH_FRAME_MAX])
{
	static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
			     nodes_mac[6] = {0x33, 0x33, 0, 0, 0, 1},
			     nodes[NEIGH_IP] = {0xff, 2, [15] = 1};

	if (neigh_is_ip4(ip))
		return put_arp(s, all, ip, ip, f);
	unsigned at = put_eth(s, nodes_mac, TYPE_IP6, f);
	memcpy(f + at + 8, ip, NEIGH_IP);
	memcpy(f + at + 24, nodes, NEIGH_IP);
	return at + neigh_put_nd(f + at, ND_ADVERT, ND_OVERRIDE, ip, s->mac);
}

void neigh_link_local(const uint8_t mac[6], uint8_t ip[NEIGH_IP])
{
	uint64_t id = fnv1a(FNV_BASIS, mac, 6);

	memset(ip, 0, NEIGH_IP);
	ip[0] = 0xfe;
	ip[1] = 0x80;
	memcpy(ip + 8, &id, 8);
	ip[8] &= 0xfd;  /* no identifier that is said to be unique in the world */
	ip[11] &= 0x7f; /* and so never the ff:fe of one made of a MAC address */
}

const char *neigh_state_name(enum neigh_state s)
{
	static const char *const names[NEIGH_STATES] = {"incomplete", "reachable", "stale", "delay",
							"probe",      "failed",    "static"};

	return names[s];
}
