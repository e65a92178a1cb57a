/* SPDX-License-Identifier: BSD-3-Clause */
/* A state of Lua with the small program of cmd_world.h, for tests of scripts. */
#pragma once
#include "cmd_world.h"
#include "script.h"

#include <jansson.h>
#include <time.h>

static struct script *sc;

static json_t *snapshot(void *host, const char *parts, struct err *e)
{
	(void)host;
	if (strcmp(parts, "none") == 0) {
		err_set(e, EINVAL, "there is no part none");
		return NULL;
	}
	return json_pack("{s:[{s:i, s:I, s:[{s:i}, {s:i}]}], s:I, s:n}", "ports", "port", 1,
			 "packets", (json_int_t)9007199254740993, "queues", "queue", 0, "queue", 2,
			 "wall_ns", (json_int_t)1700000000000000001, "none");
}

static void open_state(const struct script_opts *opts)
{
	static const char *const events[] = {"link", "end", NULL};
	struct script_host host = {.cmd = lang,
				   .snapshot = snapshot,
				   .events = events,
				   .version = "9.9"};
	struct err e = {.text = ""};

	script_free(sc);
	sc = script_new(&host, opts, &e);
	assert_string_equal(e.text, "");
	assert_non_null(sc);
}

static int each_setup(void **state)
{
	setup(state);
	open_state(&(struct script_opts){.batch = true});
	return 0;
}

static int each_teardown(void **state)
{
	script_free(sc);
	sc = NULL;
	return teardown(state);
}

/* Runs a chunk to its end, or for so many polls. Returns VERB_DONE, VERB_PENDING or an error. */
static int run_polls(const char *text, unsigned most, struct err *e)
{
	sbuf_reset(&out);
	sbuf_reset(&note);
	int rc = script_start(sc, text, "@t.lua", NULL, 0, &out, &note, e);
	if (rc < 0)
		return rc;
	while ((rc = script_poll(sc, e)) == VERB_PENDING && most-- > 0)
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	return rc;
}

/* Checks that the chunk prints this. */
static void prints(const char *text, const char *want)
{
	struct err e = {.text = ""};
	int rc = run_polls(text, 20000, &e);

	assert_string_equal(e.text, "");
	assert_int_equal(rc, VERB_DONE);
	assert_string_equal(sbuf_str(&out), want);
}

/* Checks that the chunk fails, with a message that has this text in it. */
static void fails(const char *text, const char *why)
{
	struct err e = {.text = ""};
	int rc = run_polls(text, 20000, &e);

	assert_true(rc < 0);
	if (strstr(e.text, why) == NULL)
		fail_msg("%s: %s, not %s", text, e.text, why);
	assert_false(script_running(sc));
}
