/* SPDX-License-Identifier: BSD-3-Clause */
/* Core maps -> placement: which worker serves which queues. A pure function: no DPDK, no state; the same input gives the same
 * output. The grammar of maps is that of Pktgen's option -m, and "*N" for the number of queues; docs/ports.md describes it. */
#pragma once
#include "base.h"

#define PLACE_MAX_LCORES 1024
#define PLACE_MAX_QUEUES 256

struct place_lcore { unsigned lcore; int cpu; int node; };  /* lcore number, its CPU (-1: several), NUMA node (-1 unknown) */
/* max_*: 0, the side does not exist. needs_*: a map that names the port must give this side a core. */
struct place_port { unsigned max_rxq, max_txq; int node; bool needs_rx, needs_tx; };

struct place_in {
	const struct place_lcore *lcore; unsigned nlcores; /* workers only, ascending */
	unsigned control;                                  /* lcore of control */
	const struct place_port *port; unsigned nports;
	int control_cpu;                                   /* -1: several; not looked at here */
};

struct place_queue { uint16_t port, queue; bool tx; unsigned lcore; };
struct placement {
	unsigned n;
	struct place_queue *q;       /* sorted by port, rx before tx, queue; numbering dense per port and side */
	unsigned nports;
	struct { uint16_t nrxq, ntxq; } *port; /* both 0: unused, no map names it */
};

/* Read maps ("1.0, 2.1", "2-5:6-9.0", "[1/3-4].0", "{1:3}.0", "[1:2].[0-1]", "1:2.0*4", "1.[0:1]" (receives on port 0, sends on
 * port 1), each a comma list; spaces allowed). Errors (-EINVAL): column, reason and what is allowed, in e; out is then empty. *which (may
 * be NULL) tells the text: maps[*which]. Caller frees with placement_free(). */
int place_maps(const char *const *maps, unsigned nmaps, const struct place_in *in, struct placement *out,
	       unsigned *which, struct err *e);
/* No maps: choose one queue per side. NUMA-near lcores first; a worker per side per port while there are enough, else a port's Rx
 * and Tx share one, else ports share. -EINVAL without a worker. */
int place_auto(const struct place_in *in, struct placement *out, struct err *e);
void placement_free(struct placement *);
/* Queues per side that a map asks of each port, without knowing the devices (memory is computed from it before EAL starts).
 * nq[port][0]=rx, [1]=tx for port < nports. */
int place_count(const char *const *maps, unsigned nmaps, unsigned nports, uint16_t (*nq)[2], unsigned *which, struct err *e);
/* The picture of `show map`: ports, queues and cores. name(arg, port) gives the port's name; NULL: numbers only. */
void place_draw(const struct placement *, const struct place_in *in, const char *(*name)(void *arg, unsigned port),
		void *arg, struct sbuf *out);
