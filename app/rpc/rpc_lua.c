/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's state of Lua. A chunk finds the variables that earlier chunks of this client have
 * left, and none of other clients. */
#include "rpc_in.h"

#include <errno.h>

#include "lua_host.h"

void lua_guest(struct client *c)
{
	struct rpc *r = c->rpc;
	bool sandbox = !(r->opts.allow & RPC_ALLOW_LUA);

	c->guest = (struct app_guest){
		.cmd = (sandbox ? &r->strict : &r->open)->cmd,
		.sandbox = sandbox,
		.max_bytes = r->opts.limits.lua_bytes,
		.max_out_bytes = r->opts.limits.out_bytes,
		.max_ns = r->opts.limits.lua_ns,
		.script = &c->script,
	};
}

int lua_begin(struct client *c, const char *chunk, const char *const *args, unsigned nargs,
	      struct sbuf *out, struct sbuf *note, struct err *e)
{
	struct script *s = app_guest_script(c->rpc->app, e);

	return s != NULL ? script_start(s, chunk, "=remote", args, nargs, out, note, e) : -ENOMEM;
}
