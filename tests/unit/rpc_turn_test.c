/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests whose turn it is at the socket: an answer that takes no time is with its client before
 * another client's next step. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc_world.h"

enum { STEPS = 3, OTHERS = 6 };

static struct app app;
static int other_end;  /* of the client that asks */
static unsigned steps; /* how many were done when its answer had come; 0: it has not come */
static unsigned done;
static size_t ngot; /* bytes that have come for it */

/* Reads what has come for the client that asks. Returns true when its answer has. */
static bool answered(void)
{
	static char got[4096];
	ssize_t more = recv(other_end, got + ngot, sizeof(got) - 1 - ngot, MSG_DONTWAIT);

	ngot += more > 0 ? (size_t)more : 0;
	got[ngot] = '\0';
	return strstr(got, "\"id\":7") != NULL;
}

/* Is a step of somebody else's long request. */
static int run_step(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)r;
	(void)args;
	(void)e;
	done++;
	if (steps == 0 && answered())
		steps = done;
	return VERB_DONE;
}

static const struct arg_spec no_args[] = {{ARG_END}};
static const struct verb step = {.name = "step", .args = no_args, .help = "step", .run = run_step};
static const struct verb *const verbs[] = {&step};

static struct client *client_of(struct rpc *r, const char *name, int *end)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair),
			 0);
	*end = pair[1];
	return client_new(r, pair[0], false, name);
}

static void say(struct client *c, const char *line)
{
	client_input(c, line, strlen(line));
}

static struct rpc *open_rpc(void)
{
	steps = done = 0;
	ngot = 0;
	return rpc_world_open(&app, verbs, ARRAY_SIZE(verbs));
}

static void close_rpc(struct rpc *r)
{
	rpc_world_close(r);
	close(other_end);
}

static void test_an_answer_does_not_wait_for_the_next_step(void **state)
{
	struct rpc *r = open_rpc();
	int long_end;
	struct client *asks = client_of(r, "asks", &other_end),
		      *runs = client_of(r, "runs", &long_end);

	(void)state;
	/* One client has begun with something long when the other one asks. */
	say(runs, "{\"id\":1,\"cmd\":\"step; step; step\"}\n");
	for (unsigned i = 0; i < 2 && done == 0; i++)
		assert_true(client_work(runs, true));
	assert_int_equal(done, 1);
	assert_true(client_busy(runs));
	say(asks, "{\"id\":7,\"ping\":true}\n");
	for (unsigned i = 0; i < 100 && done < STEPS; i++)
		rpc_turn(r);
	assert_int_equal(done, STEPS);
	assert_int_equal(steps, 2); /* the second step found the answer there */

	close_rpc(r);
	close(long_end);
}

/* Many clients ask for something long, and one for something that takes no time, all at once. What
 * is long begins after that answer, whoever connected first. */
static void test_an_answer_does_not_wait_for_what_others_begin(void **state)
{
	(void)state;
	for (unsigned place = 0; place <= OTHERS; place++) {
		struct rpc *r = open_rpc();
		struct client *asks = NULL;
		int ends[OTHERS];

		for (unsigned i = 0, n = 0; i <= OTHERS; i++) {
			if (i == place)
				asks = client_of(r, "asks", &other_end);
			else
				say(client_of(r, "begins", &ends[n++]),
				    "{\"id\":1,\"cmd\":\"step; step\"}\n");
		}
		say(asks, "{\"id\":7,\"ping\":true}\n");
		for (unsigned i = 0; i < 100 && done < 2 * OTHERS; i++)
			rpc_turn(r);
		assert_int_equal(done, 2 * OTHERS);
		assert_int_equal(steps, 1); /* the first step found the answer there */
		close_rpc(r);
		for (unsigned i = 0; i < OTHERS; i++)
			close(ends[i]);
	}
}

/* A client that has its answer is listened to at once, and not after the next step of somebody
 * else, even if its next line has only begun. */
static void test_who_has_its_answer_is_read_again(void **state)
{
	static const char *const lines[] = {"{\"id\":7,\"ping\":true}\n",
					    "{\"id\":7,\"ping\":true}\n{\"id\":"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		struct rpc *r = open_rpc();
		struct client *asks = client_of(r, "asks", &other_end);

		say(asks, lines[i]);
		assert_true(client_work(asks, false));
		client_flush(asks);
		assert_true(answered());
		assert_true(asks->polled & POLLIN);
		close_rpc(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_answer_does_not_wait_for_the_next_step),
		cmocka_unit_test(test_an_answer_does_not_wait_for_what_others_begin),
		cmocka_unit_test(test_who_has_its_answer_is_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
