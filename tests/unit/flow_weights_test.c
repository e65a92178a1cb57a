/* SPDX-License-Identifier: BSD-3-Clause */
/* Tuples of a client whose servers have weights: no tuple comes twice, each round has each server
 * as often as it weighs, and so have the opens of several machines together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
/* before the one that has a variable `c` for all */
#include "flow_servers.h"

#include "cmocka_names.h"

/* 1, 2, 5 in a round; ports 1, 3. */
static const uint32_t addresses[] = {0x0a000001, 0x0a000007, 0x0a000003}, ports[] = {80, 8080};
static const uint16_t address_turn[] = {0, 1, 2, 2, 2, 1, 2, 2}, port_turn[] = {0, 1, 1, 1};
static const uint32_t address_weight[] = {1, 2, 5}, port_weight[] = {1, 3};
static const struct flow_values remote = {.count = 3,
					  .base = 0x0a000001,
					  .step = 1,
					  .list = addresses,
					  .turn = address_turn,
					  .turns = 8},
				remote_port = {.count = 2,
					       .base = 80,
					       .step = 1,
					       .list = ports,
					       .turn = port_turn,
					       .turns = 4},
				local = {.count = 3, .base = 0x0a010000, .step = 4},
				local_port = {.count = 50, .base = 2000, .step = 1};
#define ROUND 32
#define SOURCES 150
#define ROUNDS (SOURCES / 15) /* the heaviest server: 5 by 3 */

static struct flow_tuples *made(uint32_t queue, uint32_t queues, uint64_t start)
{
	const struct flow_tuples_conf conf = {.remote = &remote,
					      .remote_port = &remote_port,
					      .local = &local,
					      .local_port = &local_port,
					      .dense = true,
					      .queue = queue,
					      .queues = queues,
					      .start = start};
	struct flow_tuples *t;
	struct err e = {.text = ""};

	if (flow_tuples_new(&t, &conf, &e) < 0)
		fail_msg("%s", e.text);
	return t;
}

static unsigned server_of_tuple(const struct flow_tuple *t)
{
	unsigned a = 0, p = 0;

	while (addresses[a] != t->remote.v4)
		a++;
	while (ports[p] != t->remote_port)
		p++;
	return a + 3 * p;
}

/* A number of the source. */
static unsigned source_of(uint32_t address, uint16_t port)
{
	unsigned a = (address - local.base) / 4, p = port - local_port.base;

	assert_true(a < 3 && p < 50);
	return p * 3 + a;
}

static void test_no_tuple_twice(void **state)
{
	static uint8_t seen[6][SOURCES];
	struct flow_tuples *t = made(0, 1, 0);
	unsigned n[6] = {0};

	(void)state;
	assert_int_equal(flow_tuples_count(t), ROUND * ROUNDS);
	assert_int_equal(flow_tuples_bytes(t), 0);
	for (uint64_t i = 0; i < ROUND * ROUNDS; i++) {
		struct flow_tuple x;
		flow_tuples_at(t, i, &x);
		assert_true(flow_tuples_have(t, &x));
		unsigned s = server_of_tuple(&x), from = source_of(x.local.v4, x.local_port);
		assert_int_equal(seen[s][from]++, 0);
		assert_int_equal(from, n[s]); /* each server's sources follow one another */
		n[s]++;
		for (unsigned k = 0; (i + 1) % ROUND == 0 && k < 6; k++)
			assert_int_equal(n[k], (i + 1) / ROUND * address_weight[k % 3] *
						       port_weight[k / 3]);
	}
	flow_tuples_free(t);
}

/* What a machine opens is number 0, 1, ..., as long as no tuple is in use. */
static void test_as_it_goes(void **state)
{
	(void)state;
	for (uint64_t start = 0; start < SOURCES; start += 70) {
		struct flow_tuples *t = made(0, 1, start);
		for (uint64_t i = 0; i < 2 * ROUND * ROUNDS; i++) {
			struct flow_tuple x;
			flow_tuples_at(t, i % (ROUND * ROUNDS), &x);
			flow_weights_next(t, flow_weights_turn(t));
			assert_int_equal(t->value[FLOW_REMOTE - 1], x.remote.v4);
			assert_int_equal(t->value[FLOW_REMOTE_PORT - 1], x.remote_port);
			assert_int_equal(t->value[FLOW_LOCAL - 1], x.local.v4);
			assert_int_equal(t->value[FLOW_LOCAL_PORT - 1], x.local_port);
			if (i == 0)
				assert_int_equal(source_of(x.local.v4, x.local_port), start);
		}
		flow_tuples_free(t);
	}
}

/* Opens k, k + queues, ... are a machine's. Together they are whole rounds, and none of them goes
 * without a server. */
static void test_several_machines(void **state)
{
	(void)state;
	for (uint32_t queues = 2; queues <= 8; queues++) {
		struct flow_tuples *t[8];
		unsigned n[6] = {0}, own[8][6] = {{0}};
		for (uint32_t q = 0; q < queues; q++)
			t[q] = made(q, queues, 0);
		for (uint64_t k = 0; k < 64 * ROUND; k++) {
			uint32_t server = flow_weights_turn(t[k % queues]);
			assert_true(server < 6);
			n[server]++;
			own[k % queues][server]++;
			for (unsigned s = 0; (k + 1) % ROUND == 0 && s < 6; s++)
				assert_int_equal(n[s], (k + 1) / ROUND * address_weight[s % 3] *
							       port_weight[s / 3]);
		}
		for (uint32_t q = 0; q < queues; q++) {
			for (unsigned s = 0; s < 6; s++)
				assert_true(own[q][s] > 0);
			flow_tuples_free(t[q]);
		}
	}
}

static void test_too_few(void **state)
{
	const struct flow_values one = {.count = 14, .base = 2000, .step = 1},
				 alone = {.count = 1, .base = 0x0a010000, .step = 1};
	const struct flow_tuples_conf conf = {.remote = &remote,
					      .remote_port = &remote_port,
					      .local = &alone,
					      .local_port = &one};
	uint64_t need, have;
	struct flow_tuples *t;
	struct err e;

	(void)state;
	assert_int_equal(flow_weights_count(&conf, &need, &have), 0);
	assert_int_equal(need, 15);
	assert_int_equal(have, 14);
	assert_int_equal(flow_tuples_new(&t, &conf, &e), -EINVAL);
	assert_non_null(strstr(e.text, "a round of the servers needs 15"));
}

/* The index of servers: each is found, nobody else is. */
static void test_index(void **state)
{
	const struct flow_values many = {.count = 64, .base = 0xffffffe0, .step = 1},
				 wide = {.count = 64, .base = 1, .step = 1000},
				 more = {.count = 65, .base = 1, .step = 1};
	struct flow_servers *s = flow_servers_new(&many, &wide, true);
	uint32_t address;
	uint16_t port;

	(void)state;
	assert_int_equal(flow_servers_count(s), 4096);
	for (uint32_t i = 0; i < 4096; i++) {
		flow_servers_at(s, i, &address, &port);
		assert_int_equal(address, 0xffffffe0 + i / 64);
		assert_int_equal(port, 1 + i % 64 * 1000);
		assert_int_equal(flow_servers_find(s, address, port), i);
		assert_int_equal(flow_servers_find(s, address, port + 1), 4096);
	}
	free(s);
	assert_null(flow_servers_new(&many, &more, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_tuple_twice),
		cmocka_unit_test(test_as_it_goes),
		cmocka_unit_test(test_several_machines),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
