/* SPDX-License-Identifier: BSD-3-Clause */
/* What a user may say of receive side scaling (RSS): of which headers a device hashes frames, by
 * which key, and which queue each result stands for. Plain values and their types; what follows
 * from them is in lib/rss. Any thread. */
#pragma once
#include "value.h"

/* Headers that are hashed, as bits. RSS_AUTO stands alone: all of them that the device offers, and
 * on a wire none. RSS_OFF stands alone, too. */
enum rss_fields { RSS_AUTO = 0, RSS_OFF = 1, RSS_IP = 2, RSS_TCP = 4, RSS_UDP = 8, RSS_SCTP = 16 };

/* How both directions of a flow come to the same queue: not at all; by a key that repeats every 16
 * bits; or by a hash that sorts the two addresses, and the two ports, before it begins. */
enum rss_symmetric { RSS_SYMMETRIC_OFF, RSS_SYMMETRIC_KEY, RSS_SYMMETRIC_SORT };

#define RSS_KEY_MAX 255
struct rss_key {
	uint16_t n; /* bytes; 0: the key that the device came with */
	uint8_t b[RSS_KEY_MAX];
};

#define RSS_LIST_MAX 512
/* Queues, which are repeated until the device's table is full. */
struct rss_list {
	uint16_t n; /* 0: the table that the device came with */
	uint16_t queue[RSS_LIST_MAX];
};

/* All that is set of RSS for one port; zero is what the device does by itself. */
struct rss_cfg {
	uint32_t fields; /* enum rss_fields */
	int symmetric;   /* enum rss_symmetric */
	struct rss_key key;
	struct rss_list table;
};

/* uint32_t: auto, off, or words of ip, tcp, udp and sctp joined by commas */
extern const struct vtype vt_rss_fields;
/* struct rss_key: default, or bytes as vt_hex takes them */
extern const struct vtype vt_rss_key;
/* struct rss_list: default, or queues: 0,1,5 or 0-3 or 0*7 (seven times 0), joined by commas */
extern const struct vtype vt_rss_table;
/* Appends numbers in the form that vt_rss_table takes. */
void rss_list_print(const uint16_t *queue, unsigned n, struct sbuf *out);
