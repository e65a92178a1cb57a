/* SPDX-License-Identifier: BSD-3-Clause */
/* A line -> a request, checked. Knows no client. */
#pragma once
#include <jansson.h>
#include "base.h"

enum rpc_kind { RPC_CMD, RPC_LUA, RPC_COMPLETE, RPC_SNAPSHOT, RPC_PROGRESS, RPC_SUBSCRIBE, RPC_CANCEL, RPC_AUTH, RPC_PING, RPC_KINDS };
#define RPC_ID_BYTES 1024 /* of an id as JSON: it is repeated in each answer */
#define RPC_MAX_ARGS 256

struct request {
	struct request *next;
	enum rpc_kind kind;
	size_t bytes;     /* of its line */
	json_t *doc;      /* owns what is pointed to */
	json_t *id;       /* borrowed from doc; NULL: none was given */
	const char *text; /* of the kind's member */
	int mode;         /* enum out_mode */
	int cursor;       /* COMPLETE */
	bool all;         /* CANCEL */
	uint32_t events;  /* SUBSCRIBE: bits of enum app_event_kind */
	const char **args;
	unsigned nargs;   /* LUA */
};

/* NULL with *e. *id: its id as far as one could be read, else NULL; new reference. */
struct request *request_parse(const char *line, size_t len, json_t **id, struct err *e);
void request_free(struct request *); /* NULL: nothing */
