/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's state of Lua: its chunks find what those before left, and nobody else's. */
#include "rpc_in.h"

#include <errno.h>

#include "out.h"
#include "lua_host.h"

static int open_state(struct client *c, struct err *e)
{
	struct rpc *r = c->rpc;
	bool sandbox = !(r->opts.allow & RPC_ALLOW_LUA);
	struct script_host host;
	struct script_opts opts;

	app_script_host(r->app, &host, &opts);
	host.cmd = (sandbox ? &r->strict : &r->open)->cmd;
	opts.jit &= !sandbox;
	opts.sandbox = sandbox;
	opts.max_bytes = r->opts.limits.lua_bytes;
	opts.max_ns = r->opts.limits.lua_ns;
	opts.out_mode = OUT_TEXT;
	c->script = script_new(&host, &opts, e);
	return c->script != NULL ? 0 : -ENOTSUP;
}

int lua_begin(struct client *c, const char *chunk, const char *const *args, unsigned nargs, struct sbuf *out, struct sbuf *note, struct err *e)
{
	int rc = c->script == NULL ? open_state(c, e) : 0;

	return rc == 0 ? script_start(c->script, chunk, "=remote", args, nargs, out, note, e) : rc;
}
