/* SPDX-License-Identifier: BSD-3-Clause */
/* The placement: which worker serves which queues, from core maps or without them. A pure function:
 * no DPDK, no state, and the same input gives the same output. Maps have the grammar of Pktgen's
 * option -m, and besides it "*N" for the number of queues; docs/ports.md describes it. */
#pragma once
#include "base.h"

#define PLACE_MAX_LCORES 1024
#define PLACE_MAX_QUEUES 256

/* The number of an lcore, its CPU (-1: it has several) and its NUMA node (-1: not known). */
struct place_lcore {
	unsigned lcore;
	int cpu;
	int node;
};
/* What a port can have. max_*: the most queues of a side; 0: it has no such side. needs_*: if a map
 * names the port, maps must give this side a core. */
struct place_port {
	unsigned max_rxq, max_txq;
	int node;
	bool needs_rx, needs_tx;
};

/* Without EAL options about lcores, lcore n is on the n-th CPU that the process may run on, counted
 * from 0, and a single CPU is shared by lcores 0 and 1. out[n] gets the CPU of lcore n. Returns how
 * many lcores there are; 0: there is no CPU. */
#define PLACE_USUAL_LCORES 128 /* EAL takes no more */
unsigned place_usual(const int *cpu, unsigned ncpus, int out[PLACE_USUAL_LCORES]);
/* Finds the CPUs that this process may run on, as many as EAL may use, and returns their number; 0:
 * errno says why they cannot be read. */
unsigned place_cpus(int cpu[PLACE_USUAL_LCORES]);

/* Is it an option of EAL that says which lcores there are: -l, -c, -s or --lcores? Its value may be
 * in the same word. */
bool place_is_lcore_option(const char *arg);

struct place_in {
	const struct place_lcore *lcore;
	unsigned nlcores; /* workers only, ascending */
	unsigned control; /* lcore of control */
	const struct place_port *port;
	unsigned nports;
	int control_cpu; /* -1: several; not used here */
};

struct place_queue {
	uint16_t port, queue;
	bool tx;
	unsigned lcore;
};
struct placement {
	unsigned n;
	/* Sorted by port, then Rx before Tx, then queue. The queues of a side of a port are
	 * numbered from 0 without gaps. */
	struct place_queue *q;
	unsigned nports;
	struct {
		uint16_t nrxq, ntxq;
	} * port; /* both 0: the port is unused, no map names it */
};

/* Makes the placement that maps ask for. Each text is a comma list of maps, in which spaces are
 * allowed: "1.0, 2.1", "2-5:6-9.0", "[1/3-4].0", "{1:3}.0", "[1:2].[0-1]", "1:2.0*4", "1.[0:1]"
 * (receives on port 0, sends on port 1). On an error, -EINVAL, e has the column, the reason and
 * what is allowed, *which (may be NULL) says that it is in maps[*which], and out is empty. The
 * caller frees out with placement_free(). */
int place_maps(const char *const *maps, unsigned nmaps, const struct place_in *in,
	       struct placement *out, unsigned *which, struct err *e);
/* Makes a placement without maps, with one queue for each side of each port. Rx and Tx of a port
 * are always on one worker: whoever answers what comes has both then. Each port has a worker of its
 * own while there are enough, and then ports share them. Workers near the port's NUMA node come
 * first. -EINVAL if there is no worker. The caller frees out with placement_free(). */
int place_auto(const struct place_in *in, struct placement *out, struct err *e);
void placement_free(struct placement *);
/* Counts the queues that maps ask of each port, nq[port][0] for Rx and [1] for Tx. It needs neither
 * devices nor lcores, because the memory that EAL is started with is computed from its result.
 * Errors are those of place_maps(). */
int place_count(const char *const *maps, unsigned nmaps, unsigned nports, uint16_t (*nq)[2],
		unsigned *which, struct err *e);
/* Draws the picture of `show map`: ports, queues and cores. name(arg, port) gives the name of a
 * port; name NULL: ports have only numbers. */
void place_draw(const struct placement *, const struct place_in *in,
		const char *(*name)(void *arg, unsigned port), void *arg, struct sbuf *out);
