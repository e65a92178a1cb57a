/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses a line into a request and checks it. Nothing here knows clients. */
#pragma once
#include <jansson.h>
#include "base.h"

enum rpc_kind {
	RPC_CMD,
	RPC_LUA,
	RPC_COMPLETE,
	RPC_SNAPSHOT,
	RPC_PROGRESS,
	RPC_SUBSCRIBE,
	RPC_CANCEL,
	RPC_AUTH,
	RPC_PING,
	RPC_KINDS
};
#define RPC_ID_BYTES 1024 /* most bytes of an id as JSON, because each answer repeats it */
#define RPC_MAX_ARGS 256

struct request {
	struct request *next; /* in a client's queue */
	enum rpc_kind kind;
	size_t bytes;     /* length of its line */
	json_t *doc;      /* the line as JSON; it owns id, text and the strings of args */
	json_t *id;       /* borrowed from doc; NULL: none was given */
	const char *text; /* value of the member that names the kind, where that is a string */
	int mode;         /* enum out_mode */
	int cursor;       /* COMPLETE: byte of text */
	bool all;         /* CANCEL: requests that wait are cancelled too */
	uint32_t events;  /* SUBSCRIBE: bits of enum app_event_kind */
	const char **args;
	unsigned nargs; /* LUA */
};

/* Returns a request, or NULL with *e. In both cases *id becomes a new reference to the line's id,
 * so that an error can be answered; NULL: it has none, or could not be read so far. */
struct request *request_parse(const char *line, size_t len, json_t **id, struct err *e);
void request_free(struct request *); /* NULL: does nothing */
