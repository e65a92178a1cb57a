/* SPDX-License-Identifier: BSD-3-Clause */
/* Which queue owns a tuple: for all that a device may say of its hash, that to which it gives the
 * frame. The frames are read as a device reads them; the device is one of this file's. */
#include "cmocka_names.h"
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"
#include "rss_to.h"
#include "seed.h"

#define TUPLES 300
#define QUEUES 4

static unsigned any_state;
static unsigned any(unsigned below)
{
	any_state = any_state * 1103515245u + 12345u;
	return (any_state >> 8) % below;
}

static struct flow_path path;
static struct flows_design design = {.client = true, .path = &path, .npath = 1};

static unsigned put(uint8_t *h, const char *hex)
{
	unsigned n = 0, byte;

	for (; sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
		h[n] = (uint8_t)byte;
	return n;
}

/* Ethernet, perhaps a tag, IPv4 or IPv6. */
static void headers(bool six, bool udp, bool vlan)
{
	uint8_t h[128] = {0};
	struct err e;
	unsigned l3, l4;

	l3 = 12 + put(h + 12, vlan ? "81000007" : "");
	l3 += put(h + l3, six ? "86dd" : "0800");
	l4 = l3 + put(h + l3, six ? "6000000000000040" : "4500000000004000400000");
	l4 = l3 + (six ? 40 : 20);
	h[l3 + (six ? 6 : 9)] = udp ? IPPROTO_UDP : IPPROTO_TCP;
	if (flow_path_init(&path, h, l3, l4, 0, NULL, 0, &e) < 0)
		fail_msg("%s", e.text);
	design.is6 = six;
	design.udp = udp;
}

/* Ranges from which the flow has its tuples. */
static void ranges(unsigned addresses, unsigned ports)
{
	design.local = (struct flow_values){.count = addresses, .base = 0x0a000001, .step = 1};
	design.local_port = (struct flow_values){.count = ports, .base = 1024, .step = 1};
	design.remote = (struct flow_values){.count = 2, .base = 0x0a630001, .step = 3};
	design.remote_port = (struct flow_values){.count = 1, .base = 80, .step = 1};
}

static void random_tuple(struct flow_tuple *t)
{
	*t = (struct flow_tuple){.is6 = design.is6,
				 .local.v4 = any(UINT32_MAX),
				 .remote.v4 = any(UINT32_MAX),
				 .local_port = (uint16_t)any(65536),
				 .remote_port = (uint16_t)any(65536)};
	for (unsigned i = 0; i < 16; i++) {
		t->local.v6[i] = (uint8_t)any(256);
		t->remote.v6[i] = (uint8_t)any(256);
	}
}

/* The frame that the device gets: what was sent, or its answer. */
static unsigned frame_of(const struct flow_tuple *t, bool sent, uint8_t *frame)
{
	uint8_t *ip = frame + path.l3, *l4 = frame + path.l4;
	uint8_t *local = ip + (path.is6 ? 8 : 12), *remote = ip + (path.is6 ? 24 : 16);
	uint32_t a = htonl(t->local.v4), b = htonl(t->remote.v4);
	uint16_t p[2] = {htons(t->local_port), htons(t->remote_port)};

	memset(frame, 0, 256);
	memcpy(frame, path.bytes, path.l4);
	if (!sent) {
		uint8_t *was = local;
		uint16_t port = p[0];

		local = remote;
		remote = was;
		p[0] = p[1];
		p[1] = port;
	}
	memcpy(local, path.is6 ? t->local.v6 : (uint8_t *)&a, path.is6 ? 16 : 4);
	memcpy(remote, path.is6 ? t->remote.v6 : (uint8_t *)&b, path.is6 ? 16 : 4);
	memcpy(l4, p, 4);
	return path.l4 + 20u;
}

/* A device of any kind that can be computed. */
static void random_device(struct rss_to *to)
{
	static const uint64_t kinds[] = {RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6,
					 RTE_ETH_RSS_NONFRAG_IPV4_TCP |
						 RTE_ETH_RSS_NONFRAG_IPV6_TCP,
					 RTE_ETH_RSS_NONFRAG_IPV4_UDP |
						 RTE_ETH_RSS_NONFRAG_IPV6_UDP};
	struct rss_setup *s = &to->setup;

	*to = (struct rss_to){.way = RSS_WAY_HASH, .known = true, .ours = any(2) != 0};
	for (unsigned i = 0; i < 3; i++)
		s->hf |= any(3) != 0 ? kinds[i] : 0;
	s->function = any(4) == 0 ? RSS_FUNCTION_SORT : RSS_FUNCTION_TOEPLITZ;
	s->key_len = any(2) != 0 ? 40 : 52;
	for (unsigned i = 0; i < s->key_len; i++)
		s->key[i] = (uint8_t)any(256);
	if (any(4) == 0)
		rss_fill_key(s);
	s->entries = 16u << any(7);
	for (unsigned i = 0; i < s->entries; i++)
		s->table[i] = (uint16_t)(any(5) == 0 ? any(QUEUES) : i % QUEUES);
}

static void test_the_queue_is_the_devices(void **state)
{
	static struct rss_to to;
	unsigned steered = 0, handed = 0, seen[2][3] = {{0}};

	(void)state;
	any_state = (unsigned)test_seed();
	for (unsigned n = 0; n < 400; n++) {
		unsigned by = any(2), kind = any(8), addresses = 1 + any(300);
		struct flows_steering how;

		headers((kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0);
		ranges(addresses, 1 + any(5000));
		random_device(&to);
		flows_steer_by(&design, &to, 0, QUEUES, by, &how);
		if (how.hand) {
			assert_null(how.steer);
			assert_true(how.why[0] != '\0');
			handed++;
			continue;
		}
		assert_non_null(how.steer);
		for (unsigned i = 0; i < TUPLES; i++) {
			struct flow_tuple t;
			struct rss_tuple r;
			uint8_t frame[256];

			random_tuple(&t);
			rss_tuple_read(frame, frame_of(&t, by != 0, frame), &r, NULL);
			assert_int_equal(r.version, path.is6 ? 6 : 4);
			assert_int_equal(flows_steer_queue(how.steer, &t),
					 rss_queue(&to.setup, &r, NULL));
			seen[path.is6][rss_part(to.setup.hf, &r)]++;
		}
		steered++;
		free(how.steer);
	}
	/* both happen, and what is hashed by ports and by addresses alone */
	printf("%u steered, %u handed over\n", steered, handed);
	assert_true(steered > 10 && handed > 10);
	for (unsigned i = 0; i < 2; i++)
		assert_true(seen[i][RSS_PART_L3] > 0 && seen[i][RSS_PART_L4] > 0);
}

static void handed(const struct rss_to *to, const char *word)
{
	struct flows_steering how;

	flows_steer_by(&design, to, 0, QUEUES, 0, &how);
	if (!how.hand || how.steer != NULL || strstr(how.why, word) == NULL)
		fail_msg("%d '%s'; wanted '%s'", how.hand, how.why, word);
}

static void test_what_nobody_can_tell_is_handed_over(void **state)
{
	static struct rss_to to;
	struct flows_steering how, other;

	(void)state;
	headers(false, false, false);
	ranges(1, 60000);
	to = (struct rss_to){.way = RSS_WAY_UNKNOWN, .why = "its key is a secret"};
	handed(&to, "its key is a secret");
	/* only one queue is in its table */
	random_device(&to);
	to.setup.hf = RTE_ETH_RSS_NONFRAG_IPV4_TCP;
	for (unsigned i = 0; i < to.setup.entries; i++)
		to.setup.table[i] = 1;
	handed(&to, "come to queue 0");
	/* by addresses, of which there are two */
	random_device(&to);
	to.setup.hf = RTE_ETH_RSS_IPV4;
	handed(&to, "none of 4096 tuples");
	handed(&to, "set 0 rss.fields ip,tcp,udp");
	/* not hashed at all */
	to.setup.hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP;
	to.ours = true;
	handed(&to, "come to queue");
	/* two tags: devices differ, but for our own wire */
	random_device(&to);
	to.setup.hf = RTE_ETH_RSS_NONFRAG_IPV4_TCP;
	rss_fill_table(&to.setup, (const uint16_t[]){0, 1, 2, 3}, QUEUES);
	to.ours = false;
	memmove(path.bytes + 20, path.bytes + 12, 60);
	memcpy(path.bytes + 12, (const uint8_t[]){0x88, 0xa8, 0, 1, 0x81, 0, 0, 2}, 8);
	path.l3 += 8;
	path.l4 += 8;
	flows_steer_by(&design, &to, 0, QUEUES, 0, &other);
	assert_true(other.hand && other.steer == NULL && other.why[0] != '\0');
	to.ours = true;
	flows_steer_by(&design, &to, 0, QUEUES, 0, &how);
	assert_true(!how.hand && how.steer != NULL);
	assert_true(flows_steer_same(&how, &how) && !flows_steer_same(&how, &other));
	free(how.steer);
	/* who sends decides */
	to.way = RSS_WAY_TXQ;
	flows_steer_by(&design, &to, 0, QUEUES, 0, &how);
	assert_true(!how.hand && how.steer == NULL);
	assert_true(flows_steer_same(&how, &how) && !flows_steer_same(&how, &other));
}

/* Each queue has about as many tuples of those that are handed over as any other one. */
static void test_owners_are_dealt(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= 64; n = n * 2 + n % 3) {
		for (unsigned kind = 0; kind < 4; kind++) {
			uint64_t seen[64] = {0};

			for (unsigned i = 0; i < 64000; i++) {
				/* ports, or addresses, one by one, or in steps */
				struct flow_tuple t = {.is6 = kind == 3,
						       .local.v4 = 0x0a000001 + (kind == 1 ? i : 0),
						       .remote.v4 = 0x0a630001,
						       .local_port = (uint16_t)(kind == 0 ? 1024 + i
											  : 5000),
						       .remote_port = 80};
				if (kind == 2)
					t.local_port = (uint16_t)(i * 256 + i / 256);
				t.local.v6[15] = (uint8_t)i;
				t.local.v6[14] = (uint8_t)(i >> 8);
				seen[flows_owner(&t, n)]++;
			}
			for (unsigned q = 0; q < n; q++)
				assert_in_range(seen[q], 64000 / n * 3 / 4, 64000 / n * 5 / 4);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_queue_is_the_devices),
		cmocka_unit_test(test_what_nobody_can_tell_is_handed_over),
		cmocka_unit_test(test_owners_are_dealt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
