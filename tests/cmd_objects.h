/* SPDX-License-Identifier: BSD-3-Clause */
/* What a language asks of its host, answered from arrays: ports and streams that are only their
 * settings. For tests that bring no control. */
#pragma once
#include "cmd.h"

/* Of nothing, all zero: a language without ports. */
struct cmd_objects {
	unsigned nports, nstreams;       /* streams of each port */
	void *global, *port, *stream;    /* port[nports], stream[nports][nstreams] */
	size_t port_bytes, stream_bytes; /* of each */
};

static unsigned objects_nports(void *arg)
{
	return ((const struct cmd_objects *)arg)->nports;
}

static unsigned objects_nstreams(void *arg, unsigned port)
{
	(void)port;
	return ((const struct cmd_objects *)arg)->nstreams;
}

static void *objects_at(void *arg, enum cmd_scope scope, unsigned port, unsigned stream)
{
	const struct cmd_objects *o = arg;

	return scope == SCOPE_GLOBAL ? o->global
	       : scope == SCOPE_PORT
		       ? (char *)o->port + port * o->port_bytes
		       : (char *)o->stream + (port * o->nstreams + stream) * o->stream_bytes;
}

/* *o lives as long as the language. The caller may give the host more to answer. */
static inline struct cmd_host objects_host(struct cmd_objects *o)
{
	return (struct cmd_host){.arg = o,
				 .nports = objects_nports,
				 .nstreams = objects_nstreams,
				 .object = objects_at};
}
