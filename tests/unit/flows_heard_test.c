/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP errors that reach a task of flows: what becomes of the connections that they are about, also
 * where the error came to another queue than theirs. */
/* before the world, whose name is short */
#include "neigh_error_run.h"

#include "flows_world.h"

static struct rte_mempool *pool;
static uint8_t quoted[64]; /* the frame that left last, from its Ethernet header on */

static void heard_seen(const struct rte_mbuf *m)
{
	memcpy(quoted, rte_pktmbuf_mtod(m, const uint8_t *), sizeof(quoted));
}

/* Tells an end what somebody says of a frame. Returns what flows_heard() does. */
static int heard_say(unsigned end, enum neigh_error_kind kind, const uint8_t *frame, unsigned len)
{
	/* The headers of the error: only those before its IP header are looked at. */
	static const uint8_t outer[60] = {2, [12] = 8, [14] = 0x45};
	const struct neigh_error e = {.kind = kind, .quote = frame + 14, .quote_len = len};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	int cell;

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, sizeof(outer)), outer, sizeof(outer));
	cell = flows_heard(&x.end[end].claim, m, &e, x.now);
	rte_pktmbuf_free(m);
	return cell;
}

/* One connection is opened, and its SYN is lost. */
static void heard_world(void)
{
	world_new(1, 2047, 100);
	pool = x.end[1].pipe.cut_pool;
	x.end[0].flow[0].opens = 1;
	x.end[0].f[0]->state.cell = 41;
	x.end[0].pipe.seen = heard_seen;
	x.end[0].pipe.loses = 1;
	memset(quoted, 0, sizeof(quoted));
	world_start(1);
	while (quoted[0] == 0)
		world_turn();
}

static const struct flow_counts *heard_counts(void)
{
	return &x.end[0].f[0]->state.counts;
}

static void test_own(void **state)
{
	(void)state;
	heard_world();
	assert_int_equal(heard_counts()->opening, 1);
	assert_int_equal(heard_say(0, NEIGH_ERROR_PROHIBITED, quoted, 28), 41);
	assert_int_equal(heard_counts()->unreachable, 1);
	assert_int_equal(heard_counts()->icmp_prohibited, 1);
	assert_int_equal(heard_say(0, NEIGH_ERROR_PROHIBITED, quoted, 28), -1); /* it has gone */
	world_turn();
	assert_int_equal(world_stage(0, 0), FLOWS_DONE);
	world_stop(1);
	world_free();
}

static void test_none(void **state)
{
	uint8_t other[64];

	(void)state;
	heard_world();
	memcpy(other, quoted, sizeof(other));
	other[34] ^= 1; /* another source port */
	assert_int_equal(heard_say(0, NEIGH_ERROR_HOST, other, 28), -1);
	assert_int_equal(heard_say(0, NEIGH_ERROR_HOST, quoted, 27), -1); /* too short to tell */
	memcpy(other, quoted, sizeof(other));
	other[14 + 7] = 1; /* a fragment: what stands there are no ports */
	assert_int_equal(heard_say(0, NEIGH_ERROR_HOST, other, 28), -1);
	assert_int_equal(heard_say(0, NEIGH_ERROR_HOP_LIMIT, quoted, 28), 41);
	assert_int_equal(heard_counts()->opening, 1);
	assert_int_equal(heard_counts()->icmp_other, 1);
	assert_int_equal(heard_say(0, NEIGH_ERROR_NET, quoted, 28), 41);
	assert_int_equal(heard_counts()->unreachable, 1);
	assert_int_equal(heard_counts()->icmp_host, 1);
	world_turn();
	world_stop(1);
	world_free();
}

/* Both ends are told what came to the other one, as if they were queues of one port. */
static void test_other_queue(void **state)
{
	struct flows_errors *errors[2];
	uint8_t other[64];

	(void)state;
	heard_world();
	for (unsigned i = 0; i < 2; i++)
		errors[i] = xcalloc_lines(sizeof(*errors[i]));
	x.end[0].job.nqueues = 2;
	x.end[0].job.errors = errors;
	world_plan(0);
	/* The versions of this world have one queue, which their tasks have when they adopt one. */
	struct flows_job *job = (void *)(uintptr_t)x.end[1].task.job;
	job->nqueues = 2;
	job->queue = 1;
	job->errors = errors;
	memcpy(other, quoted, sizeof(other));
	other[34] ^= 1;
	for (unsigned i = 0; i < 3; i++) /* about nobody */
		assert_int_equal(heard_say(1, NEIGH_ERROR_HOST, other, 28), -1);
	assert_int_equal(heard_say(1, NEIGH_ERROR_HOST, quoted, 28), -1);
	assert_int_equal(heard_counts()->unreachable, 0);
	assert_int_equal(errors[1]->put, 4);
	assert_int_equal(errors[0]->put, 0);
	/* at its next turn, for which nobody wakes it */
	assert_true(x.end[0].state->base.next <= x.now + 11 * MS);
	world_run(x.now + 12 * MS);
	assert_int_equal(heard_counts()->unreachable, 1);
	assert_int_equal(heard_counts()->icmp_host, 1);
	/* more than are kept: the oldest are lost, the newest is not */
	x.end[0].flow[0].opens = 2;
	x.end[0].flow[0].run = 2;
	memset(quoted, 0, sizeof(quoted));
	world_plan(0);
	while (quoted[0] == 0)
		world_turn();
	for (unsigned i = 0; i < 2 * FLOWS_ERRORS; i++)
		heard_say(1, NEIGH_ERROR_HOST, other, 28);
	heard_say(1, NEIGH_ERROR_PORT, quoted, 28);
	world_run(x.now + 12 * MS);
	assert_int_equal(heard_counts()->icmp_port, 1);
	job->queue = 0;
	x.end[0].job.errors = NULL;
	world_plan(0);
	world_stop(0);
	world_stop(1);
	world_free();
	free(errors[0]);
	free(errors[1]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_other_queue),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
