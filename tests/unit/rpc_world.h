/* SPDX-License-Identifier: BSD-3-Clause */
/* A server without a socket, for tests. Its language has only a few verbs of the test. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "../cmd_objects.h"
#include "rpc/rpc_in.h"

/* Makes the server. app is the test's own and gets a new loop. */
static inline struct rpc *rpc_world_open(struct app *app, const struct verb *const *verbs,
					 size_t nverbs)
{
	static struct cmd_objects nothing;
	const struct cmd_host host = objects_host(&nothing);
	struct rpc_opts opts = {.version = "0"};

	app->loop = loop_new();
	assert_non_null(app->loop);
	view_init(&app->view);
	rpc_limits_init(&opts.limits);
	struct rpc *r = rpc_new(app, &opts);
	cmd_free(r->open.cmd);
	r->open.cmd = cmd_new(NULL, 0, verbs, nverbs, &host);
	return r;
}

static inline void rpc_world_close(struct rpc *r)
{
	struct loop *loop = r->app->loop;

	rpc_close(r);
	loop_free(loop);
}
