/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's state of Lua: its chunks find what those before left, and nobody else's. */
#include "rpc_in.h"

#include <errno.h>

#include "out.h"

static int open_state(struct client *c, struct err *e)
{
	struct rpc *r = c->rpc;
	bool sandbox = !(r->opts.allow & RPC_ALLOW_LUA);
	const struct script_host host = {
		.arg = c,
		.cmd = (sandbox ? &r->strict : &r->open)->cmd,
		.cmd_host = r->app,
		.snapshot = r->snapshot,
	};
	const struct script_opts opts = {
		.jit = r->opts.lua_jit && !sandbox,
		.sandbox = sandbox,
		.max_bytes = r->opts.limits.lua_bytes,
		.max_ns = r->opts.limits.lua_ns,
		.out_mode = OUT_TEXT,
		.lua_dir = r->opts.lua_dir,
	};

	c->script = script_new(&host, &opts, e);
	return c->script != NULL ? 0 : -ENOTSUP;
}

int lua_begin(struct client *c, const char *chunk, const char *const *args, unsigned nargs, struct sbuf *out, struct sbuf *note, struct err *e)
{
	int rc = c->script == NULL ? open_state(c, e) : 0;

	return rc == 0 ? script_start(c->script, chunk, "=remote", args, nargs, out, note, e) : rc;
}
