/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts on a link of the test, with made time: two of ours who speak with each other, and frames
 * that a test builds byte by byte. Each test begins with begin() and ends with end(). */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "neigh.h"

#define S 1000000000ull
#define ROOM 1600

static const uint8_t mac_a[6] = {2, 0, 0, 0, 0, 1}, mac_b[6] = {2, 0, 0, 0, 0, 2},
		     mac_c[6] = {2, 0, 0, 0, 0, 3}, everybody[6] = {255, 255, 255, 255, 255, 255};

struct world {
	uint64_t now;
	struct neigh *a, *b;
	uint64_t fate[2][NEIGH_FATES]; /* of frames that a and b have got */
	bool cut;                      /* the link between them */
	uint64_t from_a, from_b;       /* frames */
};
static struct world w;

static inline void ip4(uint8_t ip[NEIGH_IP], unsigned last)
{
	memcpy(ip, (const uint8_t[NEIGH_IP]){[10] = 255, 255, 10, 0, 0, (uint8_t)last}, NEIGH_IP);
}

static inline void ip6(uint8_t ip[NEIGH_IP], unsigned last)
{
	memcpy(ip, (const uint8_t[NEIGH_IP]){0xfd, [15] = (uint8_t)last}, NEIGH_IP);
}

/* A host with one address of each family, which end with this number. */
static inline struct neigh_setup setup_of(const uint8_t mac[6], unsigned last)
{
	struct neigh_setup s = {.answer = NEIGH_ANSWER_ARP | NEIGH_ANSWER_ND | NEIGH_ANSWER_PING,
				.nown = 2,
				.own = {{.bits = 96 + 24}, {.bits = 64}}};

	memcpy(s.mac, mac, 6);
	ip4(s.own[0].ip, last);
	ip6(s.own[1].ip, last);
	return s;
}

static inline const struct neigh_self *self_of(const struct neigh *n)
{
	uint64_t version;

	return neigh_self(n, &version);
}

/* Gives a frame to a host, as a worker does. Returns the length of the answer in f. */
static inline unsigned give(struct neigh *to, uint8_t *f, unsigned len)
{
	if (!neigh_wants(self_of(to), f, len))
		return 0;
	struct neigh_verdict v;

	neigh_judge(self_of(to), f, len, ROOM, &v);
	w.fate[to == w.b][v.fate]++;
	if (v.heard.said != NEIGH_NOTHING)
		neigh_hear(to, &v.heard, w.now);
	return v.answer;
}

/* Brings what one says to the other, and the answers back. */
static inline bool speak(struct neigh *from, struct neigh *to)
{
	uint8_t f[ROOM];
	unsigned len = neigh_take(from, f);

	if (len == 0)
		return false;
	assert_true(len >= NEIGH_FRAME_MIN && len <= NEIGH_FRAME_MAX);
	*(from == w.a ? &w.from_a : &w.from_b) += 1;
	if (w.cut || to == NULL)
		return true;
	len = give(to, f, len);
	if (len > 0)
		assert_int_equal(give(from, f, len), 0);
	return true;
}

static inline void speak_all(void)
{
	while (speak(w.a, w.b) || (w.b != NULL && speak(w.b, w.a)))
		;
}

/* Lets time go by, in steps to what is due next. */
static inline void pass(uint64_t ns)
{
	uint64_t until = w.now + ns;

	speak_all();
	while (w.now < until) {
		uint64_t due = neigh_due(w.a);
		if (w.b != NULL && neigh_due(w.b) < due)
			due = neigh_due(w.b);
		w.now = due < until ? (due > w.now ? due : w.now + 1) : until;
		neigh_turn(w.a, w.now);
		if (w.b != NULL)
			neigh_turn(w.b, w.now);
		speak_all();
	}
}

static inline int begin(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1), b = setup_of(mac_b, 2);

	(void)state;
	w = (struct world){.now = 5 * S};
	w.a = neigh_new(1);
	w.b = neigh_new(2);
	neigh_set(w.a, &a, w.now);
	neigh_set(w.b, &b, w.now);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	neigh_free(w.a);
	neigh_free(w.b);
	return 0;
}

/* a is alone on the link. */
static inline void alone(void)
{
	neigh_free(w.b);
	w.b = NULL;
}

static inline bool find(const struct neigh *n, const uint8_t ip[NEIGH_IP], struct neigh_entry *out)
{
	for (unsigned i = 0; i < NEIGH_MAX; i++)
		if (neigh_entry(n, i, out) && memcmp(out->ip, ip, NEIGH_IP) == 0)
			return true;
	return false;
}

static inline unsigned count(const struct neigh *n)
{
	struct neigh_entry e;
	unsigned found = 0;

	for (unsigned i = 0; i < NEIGH_MAX; i++)
		found += neigh_entry(n, i, &e);
	return found;
}

static inline enum neigh_state state_of(const struct neigh *n, const uint8_t ip[NEIGH_IP])
{
	struct neigh_entry e;

	assert_true(find(n, ip, &e));
	return e.state;
}

/* ---- frames of the test ---- */

static inline unsigned put_arp(uint8_t *f, const uint8_t *dst, unsigned op, const uint8_t *from_mac,
			       unsigned from, unsigned to)
{
	memset(f, 0, NEIGH_FRAME_MIN);
	memcpy(f, dst, 6);
	memcpy(f + 6, from_mac, 6);
	memcpy(f + 12, (const uint8_t[10]){8, 6, 0, 1, 8, 0, 6, 4, 0, (uint8_t)op}, 10);
	memcpy(f + 22, from_mac, 6);
	if (from != 0)
		memcpy(f + 28, (const uint8_t[4]){10, 0, 0, (uint8_t)from}, 4);
	memcpy(f + 38, (const uint8_t[4]){10, 0, 0, (uint8_t)to}, 4);
	return NEIGH_FRAME_MIN;
}

/* mac NULL: it is from mac_c and has no option. */
static inline unsigned put_nd(uint8_t *f, unsigned type, unsigned flags, const uint8_t *mac,
			      unsigned from, unsigned to, unsigned target)
{
	uint8_t ip[NEIGH_IP];

	memcpy(f, mac_a, 6);
	memcpy(f + 6, mac != NULL ? mac : mac_c, 6);
	memcpy(f + 12, "\x86\xdd", 2);
	ip6(f + 22, from);
	ip6(f + 38, to);
	ip6(ip, target);
	return 14 + neigh_put_nd(f + 14, type, flags, ip, mac);
}

/* An echo request with so many bytes behind its header. */
static inline unsigned put_ping(uint8_t *f, bool six, unsigned n)
{
	uint8_t *ip = f + 14, *icmp = ip + (six ? 40 : 20);
	uint16_t sum;

	memcpy(f, mac_a, 6);
	memcpy(f + 6, mac_b, 6);
	memcpy(f + 12, six ? "\x86\xdd" : "\x08\0", 2);
	memcpy(icmp, (const uint8_t[8]){six ? 128 : 8, 0, 0, 0, 0x12, 0x34, 0, 7}, 8);
	for (unsigned i = 0; i < n; i++)
		icmp[8 + i] = (uint8_t)(i * 7);
	if (six) {
		memcpy(ip,
		       (const uint8_t[8]){0x60, 0, 0, 0, (uint8_t)((8 + n) >> 8), (uint8_t)(8 + n),
					  58, 3},
		       8);
		ip6(ip + 8, 2);
		ip6(ip + 24, 1);
		sum = neigh_sum(icmp, 8 + n, neigh_sum_ip6(ip, 8 + n));
	} else {
		memcpy(ip,
		       (const uint8_t[20]){0x45,
					   0,
					   (uint8_t)((28 + n) >> 8),
					   (uint8_t)(28 + n),
					   0xab,
					   0xcd,
					   0x40,
					   0,
					   3,
					   1,
					   0,
					   0,
					   10,
					   0,
					   0,
					   2,
					   10,
					   0,
					   0,
					   1},
		       20);
		sum = neigh_sum(ip, 20, 0);
		memcpy(ip + 10, &sum, 2);
		sum = neigh_sum(icmp, 8 + n, 0);
	}
	memcpy(icmp + 2, &sum, 2);
	return (unsigned)(icmp - f) + 8 + n;
}

/* The Internet checksum once more, word by word, so that the one of the library is not its own
 * judge. 0: it is right. */
static inline unsigned sum_slow(const uint8_t *p, unsigned n, unsigned first)
{
	unsigned sum = first;

	for (unsigned i = 0; i < n; i++)
		sum += i % 2 == 0 ? (unsigned)p[i] << 8 : p[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum ^ 0xffff;
}

static inline unsigned sum6_slow(const uint8_t *ip)
{
	unsigned len = (unsigned)ip[4] << 8 | ip[5];

	return sum_slow(ip + 40, len, (sum_slow(ip + 8, 32, 0) ^ 0xffff) + len + 58);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)
