/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/neigh: the frames that a host sends of its own accord. Each function writes one, and
 * returns its length without FCS. */
#pragma once
#include "neigh.h"

#define NEIGH_QUEUE 64

/* Frames that wait to be sent. */
struct neigh_queue {
	unsigned head, n;
	struct {
		uint8_t len, frame[NEIGH_FRAME_MAX];
	} at[NEIGH_QUEUE];
};
/* Room for one more, whose length is to be put into *len. NULL: too many wait. */
uint8_t *neigh_queue_room(struct neigh_queue *q, uint8_t **len);
/* Takes the oldest. Returns its length; 0: there is none. */
unsigned neigh_queue_take(struct neigh_queue *q, uint8_t frame[NEIGH_FRAME_MAX]);

/* Asks for a neighbour. from NULL: asks whether anybody has this address (RFC 5227 section 2.1.1,
 * RFC 4862 section 5.4.2). mac: where the neighbour was last; NULL: all are asked. */
unsigned neigh_frame_ask(const struct neigh_self *s, const uint8_t *from,
			 const uint8_t ip[NEIGH_IP], const uint8_t *mac,
			 uint8_t f[NEIGH_FRAME_MAX]);
/* Tells all that an address is ours. */
unsigned neigh_frame_announce(const struct neigh_self *s, const uint8_t ip[NEIGH_IP],
			      uint8_t f[NEIGH_FRAME_MAX]);
/* Writes the Ethernet header of a frame of the host, its tag included. Returns where the payload
 * begins. */
unsigned neigh_frame_eth(const struct neigh_self *s, const uint8_t dst[6], unsigned type,
			 uint8_t *f);
