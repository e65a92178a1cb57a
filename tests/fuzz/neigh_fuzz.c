/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives arbitrary frames of ARP, neighbour discovery, MLD, ICMP, UDP and TCP to a host, and lets
 * time go by. It must read and write nothing outside of them, and refuse or answer each. */
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "neigh.h"
#include "neigh_error_run.h"
#include "neigh_mld_run.h"
#include "neigh_ping.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define S 1000000000ull

static const struct neigh_setup setup = {
	.mac = {2, 0, 0, 0, 0, 1},
	.answer = NEIGH_ANSWER_ARP | NEIGH_ANSWER_ND | NEIGH_ANSWER_PING |
		  NEIGH_ANSWER_UNREACHABLE | NEIGH_ANSWER_RESET,
	.nown = 2,
	.own = {{{[10] = 255, 255, 10, 0, 0, 1}, 96 + 24}, {{0xfd, [15] = 1}, 64}},
	.nproxy = 1,
	.proxy = {{{[10] = 255, 255, 10, 0, 0, 128}, 96 + 25}},
	.nwanted = 1,
	.wanted = {{[10] = 255, 255, 10, 0, 0, 2}},
};

/* The checksums of a frame that may be TCP over IPv4. */
static void mend_tcp(uint8_t *f, unsigned len)
{
	unsigned head = (f[14] & 15u) * 4, n = (unsigned)f[16] << 8 | f[17];
	uint8_t pseudo[12] = {[9] = 6};
	uint16_t sum = 0;

	if (head < 20 || n < head + 20 || n > len - 14)
		return;
	n -= head;
	memcpy(f + 24, &sum, 2);
	sum = neigh_sum(f + 14, head, 0);
	memcpy(f + 24, &sum, 2);
	memcpy(pseudo, f + 26, 8);
	pseudo[10] = (uint8_t)(n >> 8);
	pseudo[11] = (uint8_t)n;
	memset(f + 14 + head + 16, 0, 2);
	sum = neigh_sum(f + 14 + head, n, (uint16_t)~neigh_sum(pseudo, sizeof(pseudo), 0));
	memcpy(f + 14 + head + 16, &sum, 2);
}

/* What a fuzzer would take long to find: the checksums of a frame that may be ICMP. */
static void mend(uint8_t *f, unsigned len)
{
	uint16_t sum = 0;
	unsigned n = len > 54 ? (unsigned)f[18] << 8 | f[19] : 0;
	unsigned hbh = f[12] == 0x86 && len > 62 && f[20] == 0 ? NEIGH_HBH : 0;

	if (f[12] == 8 && f[13] == 0 && len >= 54 && f[23] == 6) {
		mend_tcp(f, len);
	} else if (n >= 20 && n <= len - 54 && f[12] == 0x86 && f[20] == 6) {
		/* The first sum has ICMPv6 in the place of TCP. */
		uint64_t first = neigh_sum_ip6(f + 14, n) - ((uint64_t)(58 - 6) << 24);
		memcpy(f + 70, &sum, 2);
		sum = neigh_sum(f + 54, n, first);
		memcpy(f + 70, &sum, 2);
	} else if (n >= 8 && n <= len - 54 && f[12] == 0x86 && f[20] == 17) {
		/* The first sum has ICMPv6 in the place of UDP. */
		uint64_t first = neigh_sum_ip6(f + 14, n) - ((uint64_t)(58 - 17) << 24);
		f[58] = (uint8_t)(n >> 8);
		f[59] = (uint8_t)n;
		memcpy(f + 60, &sum, 2);
		sum = neigh_sum(f + 54, n, first);
		memcpy(f + 60, &sum, 2);
	} else if (hbh != 0 && n >= hbh + 4 && n <= len - 54) {
		f[54] = 58;
		f[55] = 0;
		memcpy(f + 64, &sum, 2);
		sum = neigh_sum(f + 62, n - hbh, neigh_sum_ip6(f + 14, n - hbh));
		memcpy(f + 64, &sum, 2);
	} else if (f[12] == 0x86 && n >= 4 && n <= len - 54) {
		memcpy(f + 56, &sum, 2);
		sum = neigh_sum(f + 54, n, neigh_sum_ip6(f + 14, n));
		memcpy(f + 56, &sum, 2);
	} else if (f[12] == 8 && len >= 42) {
		memcpy(f + 24, &sum, 2);
		sum = neigh_sum(f + 14, 20, 0);
		memcpy(f + 24, &sum, 2);
		n = (unsigned)f[16] << 8 | f[17];
		if (n < 28 || n > len - 14)
			return;
		sum = 0;
		memcpy(f + 36, &sum, 2);
		sum = neigh_sum(f + 34, n - 20, 0);
		memcpy(f + 36, &sum, 2);
	}
}

/* What a fuzzer would take long to find: a segment of TCP to one of the host's addresses. Ports,
 * numbers, flags, options and payload stay the fuzzer's. */
static void make_tcp(uint8_t *f, unsigned len, unsigned how)
{
	static const uint8_t own6[16] = {0xfd, [15] = 1}, peer6[16] = {0xfd, [15] = 2};
	unsigned ip = how & 2 ? 40 : 20 + (how >> 2 & 1) * 4, n = len - 14;

	if (len < 14 + ip + 20)
		return;
	memcpy(f + 12, how & 2 ? "\x86\xdd" : "\x08\x00", 2);
	if (how & 2) {
		memcpy(f + 14, "\x60\0\0\0", 4);
		f[18] = (uint8_t)((n - ip) >> 8);
		f[19] = (uint8_t)(n - ip);
		f[20] = 6;
		memcpy(f + 22, peer6, 16);
		memcpy(f + 38, own6, 16);
	} else {
		f[14] = (uint8_t)(0x40 | ip / 4);
		f[16] = (uint8_t)(n >> 8);
		f[17] = (uint8_t)n;
		memset(f + 20, 0, 2);
		f[23] = 6;
		memcpy(f + 26, "\x0a\0\0\x02\x0a\0\0\x01", 8);
		f[33] = how & 8 ? 129 : 1; /* answered for another one */
	}
	if (how & 16)
		f[14 + ip + 12] = 0x50;
}

/* A reset has all checksums right, and does not answer another one. */
static void check_reset(const uint8_t *was, const uint8_t *f, unsigned len)
{
	unsigned ip = f[12] == 0x86 ? 40 : 20;
	unsigned at = 14 + (f[12] == 0x86 ? 40 : (was[14] & 15u) * 4);
	uint8_t pseudo[40] = {0};

	CHECK(len >= 14 + ip + 20 && (was[at + 13] & 4) == 0 && (f[14 + ip + 13] & 4) != 0);
	memcpy(pseudo, f + (ip == 40 ? 22 : 26), ip == 40 ? 32 : 8);
	pseudo[35] = 20;
	pseudo[39] = 6;
	CHECK(ip == 40 || neigh_sum(f + 14, 20, 0) == 0);
	CHECK(neigh_sum(f + 14 + ip, 20, (uint16_t)~neigh_sum(pseudo, 40, 0)) == 0);
	CHECK(memcmp(f + 14 + ip, was + at + 2, 2) == 0 && memcmp(f + 16 + ip, was + at, 2) == 0);
}

static uint64_t as_it_is(uint64_t ticks)
{
	return ticks;
}

/* The frame as what comes back for pings of both families and all kinds. */
static void ask(const struct neigh_self *self, struct neigh_pings **fates, const uint8_t *f,
		unsigned len, uint64_t now)
{
	static const struct neigh_ping pings[] = {
		{.from = {[10] = 255, 255, 10, 0, 0, 1}, .to = {[10] = 255, 255, 10, 0, 0, 2}},
		{.from = {[10] = 255, 255, 10, 0, 0, 1},
		 .to = {[10] = 255, 255, 10, 0, 0, 2},
		 .link = true},
		{.from = {0xfd, [15] = 1}, .to = {0xfd, [15] = 2}},
		{.from = {0xfd, [15] = 1}, .to = {0xfd, [15] = 2}, .link = true},
		{.from = {[10] = 255, 255, 10, 0, 0, 1},
		 .to = {[10] = 255, 255, 10, 0, 0, 2},
		 .inside = true},
		{.from = {0xfd, [15] = 1}, .to = {0xfd, [15] = 2}, .inside = true}};

	for (unsigned i = 0; i < ARRAY_SIZE(pings); i++) {
		if (!neigh_pong_wants(self, &pings[i], f, len))
			continue;
		if (*fates == NULL)
			*fates = neigh_pings_new(S, as_it_is, NULL, NULL);
		struct neigh_pong pong = neigh_pong_judge(self, &pings[i], f, len);
		CHECK(pong.kind <= NEIGH_PONG_DAMAGED && neigh_pong_error(&pong) != NULL);
		neigh_pings_heard(*fates, &pong, !pings[i].link, now);
		neigh_pings_sent(*fates, now);
		neigh_pings_turn(*fates, now);
	}
	if (*fates == NULL)
		return;
	const struct neigh_pings_counts *k = neigh_pings_counts(*fates);
	CHECK(k->sent == k->received + k->late + k->errors + k->lost + k->open);
}

/* The frame as an error about what was sent, and as what is sent. */
static void blame(const struct neigh_self *self, const uint8_t *f, unsigned len)
{
	struct neigh_sent sent = {0};
	struct neigh_error e;
	uint8_t *varies = calloc(1, len);

	if (neigh_sent_read(f, varies, len, &sent))
		CHECK(sent.is.version == 4 || sent.is.version == 6);
	if (neigh_error_wants(self, f, len)) {
		enum neigh_fate fate = neigh_error_judge(self, f, len, &e);
		CHECK(fate >= NEIGH_HEARD && fate < NEIGH_FATES && e.kind < NEIGH_ERROR_KINDS);
		neigh_error_about(&e, &sent);
	}
	free(varies);
}

static void one(struct neigh *host, struct neigh_pings **fates, struct input *in, uint64_t now)
{
	static const uint8_t type[3][2] = {{8, 6}, {0x86, 0xdd}, {8, 0}};
	unsigned how = byte(in), len = 18 + (unsigned)number(in, 1) % 120, room = len + how % 64;
	uint8_t *f = calloc(1, room);
	uint64_t version;
	const struct neigh_self *self = neigh_self(host, &version);

	memcpy(f, setup.mac, 6);
	f[6] = 2;
	f[11] = 9;
	memcpy(f + 12, type[how % 3], 2);
	unsigned tcp = byte(in);
	for (unsigned i = how & 64 ? 0 : 14; i < len; i++)
		f[i] = (uint8_t)byte(in);
	if (tcp & 1)
		make_tcp(f, len, tcp);
	if ((how & 128) == 0 && len > 14)
		mend(f, len);
	ask(self, fates, f, len, now);
	blame(self, f, len);
	if (neigh_wants(self, f, len)) {
		struct neigh_verdict v;
		uint8_t was[18 + 120];

		memcpy(was, f, len);
		neigh_judge(self, f, len, room, &v);
		CHECK(v.fate < NEIGH_FATES && v.answer <= room);
		CHECK((v.answer > 0) == (v.fate < NEIGH_ANSWERED));
		if (v.fate == NEIGH_DID_RESET)
			check_reset(was, f, v.answer);
		neigh_hear(host, &v.heard, now);
	}
	free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct neigh *host = neigh_new(1);
	struct neigh_pings *fates = NULL; /* it is large: made when a frame wants it */
	uint8_t f[NEIGH_FRAME_MAX];
	uint64_t now = S, version;

	neigh_set(host, &setup, now);
	now += 2 * S;
	neigh_turn(host, now);
	CHECK(neigh_self(host, &version)->own[0].usable);
	while (in.at < in.end) {
		one(host, &fates, &in, now);
		now += byte(&in) * (S / 16);
		neigh_turn(host, now);
		CHECK(neigh_due(host) > now);
		for (unsigned len; (len = neigh_take(host, f)) > 0;)
			CHECK(len >= NEIGH_FRAME_MIN && len <= NEIGH_FRAME_MAX);
	}
	neigh_pings_free(fates);
	neigh_free(host);
	return 0;
}
