/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers what a language asks of its host, from arrays: ports and streams are only their settings.
 * This is for tests without control. */
#pragma once
#include "cmd.h"

/* The objects of a host. All zero stands for a host without ports. */
struct cmd_objects {
	unsigned nports, nstreams;       /* streams of each port */
	void *global, *port, *stream;    /* port[nports], stream[nports][nstreams] */
	size_t port_bytes, stream_bytes; /* of each */
};

static unsigned objects_nports(void *arg)
{
	return ((const struct cmd_objects *)arg)->nports;
}

static unsigned objects_count(void *arg, const struct cmd_scope *scope, unsigned port)
{
	(void)scope;
	(void)port;
	return ((const struct cmd_objects *)arg)->nstreams;
}

static void *objects_at(void *arg, const struct cmd_scope *scope, unsigned port, unsigned stream)
{
	const struct cmd_objects *o = arg;

	return scope->level == LEVEL_PROGRAM ? o->global
	       : scope->level == LEVEL_PORT
		       ? (char *)o->port + port * o->port_bytes
		       : (char *)o->stream + (port * o->nstreams + stream) * o->stream_bytes;
}

/* Makes a host of the objects, which must live as long as the language. The caller may add other
 * functions to the host. */
static inline struct cmd_host objects_host(struct cmd_objects *o)
{
	return (struct cmd_host){.arg = o,
				 .nports = objects_nports,
				 .count = objects_count,
				 .object = objects_at};
}
