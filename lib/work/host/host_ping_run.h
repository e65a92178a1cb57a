/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of `ping`, `arping` and `traceroute`. Each worker that serves queues of the
 * port has a task while one goes on: the one that speaks for the host sends the requests, all of
 * them look for what comes back. Control is told when requests were sent and when frames came, by
 * this worker's clock. */
#pragma once
#include "host_run.h"
#include "neigh_ping_run.h"

#define HOST_PING_SENT 512 /* requests that control has not yet read of */
#define HOST_PING_HEARD 1024
#define HOST_PING_FRAME_MAX 16384

struct host_ping_sent {
	uint64_t tsc;
	uint32_t run;
	bool taken; /* false: the device has not taken the last one */
};

struct host_ping_heard {
	uint64_t tsc;
	uint32_t run;
	struct neigh_pong pong;
};

struct host_ping_state {
	struct dp_state base;
	cell_t back;   /* frames that have come back, since open */
	cell_t unread; /* of them, those for which control had no room */
	cell_t newest; /* one more than the highest number that was answered; 0: none was */
	/* of the worker that sends */
	uint32_t run;    /* whose requests these are */
	uint64_t number; /* of the next request */
	cell_t due;      /* when it is to be sent, at the earliest */
	cell_t sent_at;  /* when the last one was sent */
	uint64_t first;  /* frames that had come back on all workers before the first request */
	uint64_t last;   /* the same, before the last one */
	struct host_ring sent_ring;
	struct host_ping_sent sent[HOST_PING_SENT];
	struct host_ring heard_ring;
	struct host_ping_heard heard[HOST_PING_HEARD];
};

struct host_ping_job {
	struct neigh_self self;
	struct neigh_ping ping;
	uint32_t run; /* a number for each command */
	bool speaks;
	bool flood;      /* the next request follows the answer, or comes after `period` */
	bool awake;      /* requests follow each other so fast that the worker does not sleep */
	unsigned probes; /* the hop limit is one more after so many requests; 0: it stays */
	uint64_t count;  /* a traceroute changes it, even to less than were sent */
	uint64_t period, wait; /* cycles; wait: so long it does not sleep for an answer */
	struct host_state *host;
	struct host_ping_state *state, *speaker; /* of this worker, and of the one that sends */
	struct dp_txq *q;
	uint16_t len, ip, icmp, first; /* of the frame; see neigh_ping_frame() */
	const uint8_t *frame;
	unsigned nstates; /* of all workers of the port */
	struct host_ping_state *states[];
};

extern const struct dp_kind dp_kind_host_ping;
dp_sort_fn host_ping_claims; /* arg: struct host_ping_job; echoes and errors */
/* A tap, for answers of ARP and neighbour discovery, which the host learns from as well. state:
 * struct host_ping_job. */
void host_ping_look(void *state, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		    uint64_t now);
