/* SPDX-License-Identifier: BSD-3-Clause */
/* The bench of lib/flow: pairs of machines, a client and a server, that exchange frames over rings
 * of DPDK on one worker. */
#pragma once
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include "bench_common.h"
#include "flow.h"
#include "workload.h"

#define PAIR_BURST 64
#define PAIR_OUT 1024
#define PAIR_AHEAD 8 /* buffers whose headers are fetched before their turn */

enum pair_work {
	PAIR_GET,    /* a GET and its response per connection; the server closes */
	PAIR_HTTP,   /* GETs without end */
	PAIR_BYTES,  /* a byte there and a byte back, without end */
	PAIR_STREAM, /* bytes without end from the client to the server */
};

/* The headers of its frames. */
enum pair_frame {
	PAIR_IP4,   /* Ethernet, IPv4 */
	PAIR_IP6,   /* Ethernet, IPv6 */
	PAIR_VXLAN, /* the first in VXLAN over IPv4, with a checksum of the outer UDP */
};

struct pair_conf {
	enum pair_work work;
	enum pair_frame frame;
	uint32_t live;    /* connections that are open while nothing is asked of them; 0: none */
	uint32_t flight;  /* connections that are opening, asking or closing at once */
	bool sums;        /* the machines make and verify checksums; else it is a device's work */
	bool timings;     /* three histograms per connection */
	bool mixed;       /* the live ones are asked in another order than that of their memory */
	unsigned servers; /* addresses that connections go to in turn; 0: one */
	bool by_dst;      /* connections are counted by them at both ends */
	bool handed;      /* all that the client's end receives is handed over to its worker */
	bool through;     /* the record is reached by way of one more: bench_flow_record.c */
};

/* One of the two. */
struct pair_end {
	struct flow_machine *m;
	struct flow_sink sink;
	struct flow_room room[FLOW_ROOMS][PAIR_BURST];
	struct flow_out out[PAIR_OUT + PAIR_AHEAD];
	struct flow_in in[PAIR_BURST];
	struct rte_mempool *pool[FLOW_ROOMS];
	uint16_t dev;
	int version;
	struct flow_counts counts;
	struct wl_counts transactions;
	struct wl_flow wl;
	struct wl_http *http;
	struct wl_content content;
	struct flow_tuples *tuples;
	struct flow_servers *servers;
	struct flow_server_counts *server_counts;
	struct pair_hand *hand; /* NULL: frames are not handed over */
	struct flow_path path;
	struct flow_spec spec;
} WR_ALIGNED(64);

struct pair {
	struct pair_end end[2]; /* client, server */
	struct pair_conf conf;
	/* The clock of both. It runs while the pair works; it stands still while others do, also
	 * those who take the CPU away in the middle of a turn. */
	uint64_t now_ns, then_tsc;
	bool stopped; /* nothing is begun any more */
	bool ending;
};

/* pools: of headers, and of buffers that hold WL_X everywhere. */
struct pair *pair_new(const struct pair_conf *conf, struct rte_mempool *const pools[FLOW_ROOMS]);
void pair_free(struct pair *p);
/* From now on its clock runs. */
void pair_begin(struct pair *p);
void pair_turn(struct pair *p);
/* The same for a worker that sleeps: its clock is given. */
void pair_turn_at(struct pair *p, uint64_t now_ns);
/* When it has to run next. */
uint64_t pair_next_ns(const struct pair *p);
uint64_t pair_events(const struct pair *p); /* frames received and sent, of both */
/* Opens n connections, however many turns that takes. */
void pair_open(struct pair *p, uint32_t n);
/* Opens the live ones, and asks them until the first of them have gone. */
void pair_settle(struct pair *p);
/* Ends all connections, and the process if one did not end as it should, or if a sum does not
 * close. */
void pair_finish(struct pair *p, const char *name);

/* Hand-over, bench_flow_hand.c. l3: where the IP header of frames is. */
struct pair_hand *pair_hand_new(unsigned l3);
/* Hands n frames over, and takes as many as come, at most `most`: pair_hand_free() frees them. */
unsigned pair_hand_over(struct pair_hand *h, struct rte_mbuf **m, unsigned n, unsigned most);
void pair_hand_free(struct pair_hand *h, struct rte_mbuf **m, unsigned n);
/* Of struct flow_spec: whether a tuple is that worker's. */
bool pair_hand_mine(const void *arg, const struct flow_tuple *t);
/* Frees it. All that was handed over has been taken, or the process ends; returns how many frames
 * those were. */
uint64_t pair_hand_end(struct pair_hand *h);

/* The same record, each function of which calls that of another one. */
const struct workload *pair_through(const struct workload *wl);

/* bench_flow_stray.c: cycles for a frame of a flow until it is known as one, for one with such
 * headers that is none's, and for one of another type. */
struct stray_cycles {
	double taken, stray, other;
};
void stray_measure(struct rte_mempool *mp, struct stray_cycles *out);

/* Two devices, each of which receives what the other one sends. */
void pair_devices(uint16_t dev[2], struct rte_mempool *mp);
