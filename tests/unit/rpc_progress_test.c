/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a client of the socket is told of work that goes on. */
#include <math.h>
#include <string.h>

#include "rpc_world.h"

#define ASKS "{\"id\":7,\"progress\":true}\n"
#define NOTHING "{\"id\":7,\"ok\":true,\"progress\":null}\n"
#define OF_PORTS \
	"{\"id\":7,\"ok\":true,\"progress\":{\"share\":0.25,\"left_ns\":3,\"text\":\"sending\"}}\n"
#define OF_VERB \
	"{\"id\":7,\"ok\":true,\"progress\":{\"share\":0.5,\"left_ns\":8,\"text\":\"holds\"}}\n"

static struct app app;
static bool sending, releases;
static struct cmd_progress of_verb;

static bool ports(const void *host, struct cmd_progress *out)
{
	assert_ptr_equal(host, &app);
	*out = (struct cmd_progress){.text = "sending", .share = 0.25, .left_ns = 3};
	return sending;
}

static int run_hold(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)r;
	(void)args;
	(void)e;
	return VERB_PENDING;
}

static int poll_hold(struct cmd_run *r, struct err *e)
{
	(void)r;
	(void)e;
	return releases ? VERB_DONE : VERB_PENDING;
}

static void cancel_hold(struct cmd_run *r)
{
	(void)r;
}

static bool progress_hold(const struct cmd_run *r, struct cmd_progress *out)
{
	(void)r;
	*out = of_verb;
	return true;
}

static const struct arg_spec no_args[] = {{ARG_END}};
static const struct verb hold = {.name = "hold",
				 .args = no_args,
				 .help = "hold",
				 .run = run_hold,
				 .poll = poll_hold,
				 .cancel = cancel_hold,
				 .progress = progress_hold};
static const struct verb mute = {.name = "mute",
				 .args = no_args,
				 .help = "mute",
				 .run = run_hold,
				 .poll = poll_hold,
				 .cancel = cancel_hold};
static const struct verb *const verbs[] = {&hold, &mute};

static struct rpc *open_rpc(void)
{
	struct rpc *r = rpc_world_open(&app, verbs, ARRAY_SIZE(verbs));

	r->progress = ports;
	sending = releases = false;
	of_verb = (struct cmd_progress){.text = "holds", .share = 0.5, .left_ns = 8};
	return r;
}

/* Gives the client's bytes to the server, and checks what the client has been answered when they
 * are done with. */
static void says(struct client *c, const char *line, const char *answer)
{
	c->out.len = 0;
	client_input(c, line, strlen(line));
	for (unsigned i = 0; i < 10; i++)
		rpc_turn(c->rpc);
	assert_string_equal(c->out.len > 0 ? c->out.s : "", answer);
}

static void test_of_ports_and_of_nothing(void **state)
{
	struct rpc *r = open_rpc();
	struct client *c = client_new(r, -1, false, "one");

	(void)state;
	says(c, ASKS, NOTHING);
	sending = true;
	says(c, ASKS, OF_PORTS);
	says(c, "{\"progress\":true}\n",
	     "{\"id\":null,\"ok\":true,\"progress\":{\"share\":0.25,\"left_ns\":3,\"text\":\"sending\"}}\n");
	rpc_world_close(r);
}

static void test_of_the_command_that_runs_for_this_client(void **state)
{
	struct rpc *r = open_rpc();
	struct client *c = client_new(r, -1, false, "one"),
		      *other = client_new(r, -1, false, "two");

	(void)state;
	sending = true;
	/* The question comes in one portion with the command, and the answer is about that command
	 * already. */
	says(c, "{\"id\":1,\"cmd\":\"hold; hold\"}\n" ASKS ASKS, OF_VERB OF_VERB);
	says(other, ASKS, OF_PORTS);
	releases = true;
	says(c, "", "{\"id\":1,\"ok\":true,\"exit_code\":0,\"results\":[]}\n");
	says(c, ASKS, OF_PORTS);
	/* This verb has nothing to say of itself. */
	releases = false;
	says(c, "{\"id\":1,\"cmd\":\"mute\"}\n" ASKS, OF_PORTS);
	sending = false;
	says(c, ASKS, NOTHING);
	rpc_world_close(r);
}

static void test_what_is_not_known_is_absent(void **state)
{
	struct rpc *r = open_rpc();
	struct client *c = client_new(r, -1, false, "one");

	(void)state;
	of_verb = (struct cmd_progress){.text = "",
					.share = (double)NAN,
					.left_ns = CMD_LEFT_UNKNOWN};
	says(c, "{\"id\":1,\"cmd\":\"hold\"}\n" ASKS, "{\"id\":7,\"ok\":true,\"progress\":{}}\n");
	of_verb.left_ns = 1ull << 63; /* more than JSON's integers can hold */
	says(c, ASKS, "{\"id\":7,\"ok\":true,\"progress\":{}}\n");
	of_verb.left_ns = INT64_MAX;
	says(c, ASKS, "{\"id\":7,\"ok\":true,\"progress\":{\"left_ns\":9223372036854775807}}\n");
	strcpy(of_verb.text, "a\x1b\xc3");
	says(c, ASKS,
	     "{\"id\":7,\"ok\":true,\"progress\":{\"left_ns\":9223372036854775807,\"text\":\"a\\u001B?\"}}\n");
	rpc_world_close(r);
}

static void test_what_it_refuses(void **state)
{
	static const char *const lines[] = {"{\"progress\":false}\n",
					    "{\"progress\":1}\n",
					    "{\"progress\":null}\n",
					    "{\"progress\":\"all\"}\n",
					    "{\"progress\":true,\"mode\":\"text\"}\n",
					    "{\"progress\":true,\"ping\":true}\n"};
	struct rpc *r = open_rpc();
	struct client *c = client_new(r, -1, false, "one"), *tcp = client_new(r, -1, true, "two");

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		c->out.len = 0;
		client_input(c, lines[i], strlen(lines[i]));
		rpc_turn(r);
		assert_non_null(strstr(c->out.s, "\"ok\":false"));
	}
	/* Without a token nothing is told. */
	tcp->out.len = 0;
	client_input(tcp, ASKS, strlen(ASKS));
	rpc_turn(r);
	assert_null(strstr(tcp->out.s, "\"ok\":true"));
	rpc_world_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_ports_and_of_nothing),
		cmocka_unit_test(test_of_the_command_that_runs_for_this_client),
		cmocka_unit_test(test_what_is_not_known_is_absent),
		cmocka_unit_test(test_what_it_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
