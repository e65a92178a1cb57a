/* SPDX-License-Identifier: BSD-3-Clause */
/* One end of a workload on the kernel's sockets: a record of lib/workload on lib/sock. */
#pragma once
#include <jansson.h>
#include "sock.h"
#include "stacks_words.h"
#include "workload.h"

struct stacks_order {
	const struct stacks_kind *kind;
	bool client, down, verify;
	bool skip;     /* what comes by TCP is thrown away in the kernel */
	char host[64]; /* of a client: whom it asks */
	unsigned port, flows, mss;
	int cpu; /* -1: any */
};
/* As JSON and back. new reference; -EINVAL with *e for what is no order. */
json_t *stacks_order_json(const struct stacks_order *);
int stacks_order_read(const json_t *, struct stacks_order *, struct err *e);

struct stacks_role {
	struct stacks_order order;
	struct wl_content content;
	struct wl_bytes_conf bytes;
	struct wl_stream_conf stream;
	struct sock_spec spec;
	struct sock_arm *arm;
	cell_t gone_tx, gone_rx, gone_done, gone_bad; /* of lines that are no more */
	uint64_t retransmitted;                       /* in this namespace, at the beginning */
};
/* What a record on any stack is told of a workload, the same in all arms. */
void stacks_bytes(const struct stacks_kind *, struct wl_bytes_conf *);

/* 0, or -errno with *e. */
int stacks_role_begin(struct stacks_role *, const struct stacks_order *, struct err *e);
/* All so far. New reference. */
json_t *stacks_role_totals(struct stacks_role *);
void stacks_role_end(struct stacks_role *);
