/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of control: its ports with their streams and runs, its workers and their plans. Files
 * of lib/ctl write it. Works and trials see it by work.h and only read it; what they want changed
 * they ask for by the functions there. Control thread, except where a member says otherwise. */
#pragma once
#include "clock.h"
#include "ctl.h"
#include "place.h"
#include "port.h"

#define WORK_MAX 12 /* works in the list */
_Static_assert(WORK_MAX <= PORT_MAX_SHARES, "each work may have a share of a Tx queue");

#define CTL_MAX_PORTS RTE_MAX_ETHPORTS
#define CTL_EVENTS 64
#define SAID_MAX (sizeof(struct err) + 64)

/* The run of a port: the one that goes on, or else the last one. */
struct run {
	uint64_t id; /* 0: never started */
	bool armed;  /* asked for, but run_arm() has not set start_tsc yet */
	bool active; /* some queue has not reported the end yet */
	bool stop;
	bool hurry; /* it was stopped once more: what it would still wait for is given up */
	uint64_t start_tsc, duration_ns;
	/* How long after the end of its time a frame that was due may still leave. What has not
	 * left by then is counted as unsent. */
	uint64_t grace_ns;
	bool has_rate; /* it has a rate of its own, and the port's setting does not count */
	struct rate rate;
};

/* A stream has a cell: a number that stays when its id changes. Its counters are kept by this
 * number, and so are its ordinals while the port sends. There are more cells than ids, because the
 * cell of a deleted stream stays taken while the port sends. */
#define CTL_CELLS (2 * CTL_MAX_STREAMS)

/* The recipes of a stream's frames. The stream and the works that send them share them, and whoever
 * lets go of them last frees them. */
struct stream_frames {
	unsigned refs, nrecipes, nitems;
	struct frame_recipe *recipe; /* one for each different size */
	uint16_t *item;              /* [nitems]: which recipe each size of the sequence has */
	double mean_size;            /* with FCS */
};

/* ICMP errors about frames of a stream. */
struct stream_icmp {
	uint64_t unreachable, too_big, time_exceeded, other;
	/* About frames that are those of other streams, too. Numbers above are right as long as
	 * there are none. */
	uint64_t shared;
	bool known; /* somebody counts them */
};

struct stream {
	struct stream_cfg cfg;
	uint32_t cell;
	uint64_t serial;  /* of the streams of its port: another one may get its cell, not this */
	bool dirty;       /* settings changed since recipes were made */
	uint64_t version; /* of the recipes; 0: never made */
	/* What the recipes were made for: the largest frame and the room of a buffer, which follow
	 * from the port's mtu and pools, and the port's tell_all. Where these differ now, recipes
	 * are made anew. */
	unsigned for_max, for_room;
	bool for_tell;
	int rc; /* < 0: recipes could not be made, and `why` says why */
	char *why;
	struct stream_frames *frames; /* NULL: not made */
	/* at `clear`, at the tick before */
	struct stream_count {
		uint64_t packets, bytes;
	} base, prev;
	struct stream_icmp icmp_base;
	double pps;
};

/* The baselines of a port. */
struct ctl_base {
	struct cnt_queue *q;  /* [nqueues] */
	struct snap_port dev; /* the device's numbers: tx_errors, rx_missed, ..., nic */
	struct cnt_sizes tx_sizes;
};

struct ctl_port {
	struct port p; /* the device; lib/port alone writes it */
	struct port_cfg cfg;
	bool restart;     /* changed settings wait for a restart of the device */
	uint32_t touched; /* WHY_*: changes that are in no plan yet; 0: there are none */
	bool paused;      /* no plan has it while a device of the same -p is restarted */
	/* Of each Tx queue, the frames of each cell as they were last read; NULL: never. */
	struct cnt_stream **seen;
	/* Who is told faults of frames that come in on each Rx queue: [nrxq], NULL: nobody. The
	 * array is NULL until somebody asks. */
	const struct dp_watcher **faults_to;
	int *tx_worker, *rx_worker;            /* of each queue: index into ctl.worker */
	struct stream **stream;                /* by id; NULL: a hole */
	unsigned nstreams, cap_streams, total; /* highest id + 1; room; without holes */
	uint64_t stream_seq;                   /* the serial of the newest stream */
	/* Sets of cells: of the streams, and of streams that were deleted while the port sends. */
	uint64_t cell_used[CTL_CELLS / 64], cell_kept[CTL_CELLS / 64];
	uint64_t cell_new[CTL_CELLS / 64]; /* got a stream since stream_cells_new() was called */
	struct frame_vals dflt; /* the port's own defaults, which each stream gets as its dflt */
	struct run run;
	struct ctl_base base;
	struct cnt_sizes *seen_sizes;  /* of each Tx queue, as they were last read */
	struct cnt_queue *prev;        /* [nqueues]: counters at the tick before */
	uint64_t prev_ns;              /* when the tick before read the queues */
	uint64_t streams_ns;           /* when the tick before read the streams */
	struct snap_queue_rates *last; /* [nqueues] */
	/* history is a ring: the next interval goes to history[nhistory % SNAP_HISTORY]. */
	struct snap_interval max, history[SNAP_HISTORY];
	uint64_t nhistory;
	bool cleared; /* in this interval was a clear: it does not count for max */
	/* What had been received shortly before the first of the runs that go on, or at the last
	 * clear if that was later: see most_of_run(). */
	struct {
		uint64_t tsc, packets, bytes;
	} rx_since;
	uint64_t clear_tsc;
	unsigned stuck_ticks; /* seconds in which frames were offered and none was taken */
	bool awake;           /* somebody watches: workers that receive here do not sleep */
	bool tell_all;        /* each frame carries a probe, whatever its stream says */
	void *work[WORK_MAX]; /* what each work keeps for the port, in the order of works[] */
};

/* The cells barren and loops of a worker at some moment. */
struct turns {
	uint64_t barren, loops;
};

struct ctl_worker {
	struct dp_worker *w;
	cell_t tid; /* number of its thread, which writes it; 0: not started yet */
	unsigned lcore;
	int cpu, node;
	bool launched;
	struct dp_plan *posted;                                   /* the newest */
	uint64_t prev_busy, prev_tsc, prev_loops, prev_waited_ns; /* at the tick before */
	bool waited_known;                                        /* prev_waited_ns was known */
	uint64_t base_stalls, base_stall_cycles, base_waited_ns;  /* at `clear` */
	uint64_t moved, stalls; /* in this interval: frames; bursts not accepted whole */
	/* For ctl_settled(): its turns when an Rx counter last moved, and at ctl.ended_ns. */
	struct turns quiet, ended;
	/* Of the last full interval, as in struct snap_worker. */
	double busy, wait, loops_per_s, pps, cycles_per_packet, stalls_per_s;
	bool dirty; /* it is to get a new plan */
};

struct old_plan {
	struct dp_plan *plan;
	struct ctl_worker *w;
};

struct ctl {
	struct ctl_opts opts;
	struct err hint_lacks; /* why opts.hint is not used */
	struct place_port pport[CTL_MAX_PORTS];
	struct place_lcore *plcore;
	struct place_in pin;
	struct placement place;
	struct ctl_port *port[CTL_MAX_PORTS];
	unsigned nports;
	uint64_t runs_tsc; /* when the first of the runs that go on began, or is to begin */
	struct ctl_worker *worker;
	unsigned nworkers;
	int wake_fd;            /* eventfd that workers write to, -1: there are none yet */
	struct clock_cpu *cpus; /* [nworkers]: their cycle counters against that of control */
	int ref_cpu;            /* the CPU of control, -1: it has several */
	struct old_plan *old;   /* plans that were replaced by later ones and not freed yet */
	unsigned nold, cap_old;
	uint64_t plan_seq, run_seq;
	bool writes; /* what works_write() said when plans were made last */
	uint64_t version_seq;
	uint64_t prev_tick_ns;
	uint64_t stall_ns;
	const void *watch_of;    /* who watches, see ctl_watch(); NULL: nobody */
	uint64_t watch_stall_ns; /* the longest turn that he allows; 0: nobody watches */
	/* For ctl_settled(): the sum of all Rx counters, when it last moved (0: it begins anew),
	 * and when a run last ended or some work last held frames. CLOCK_MONOTONIC_RAW. */
	uint64_t rx_sum, rx_moved_ns, ended_ns;
	struct ctl_event ev[CTL_EVENTS];
	unsigned ev_head, ev_n;
	struct writer *writer; /* NULL: nobody has needed it yet */
	uint64_t eal_memory;   /* bytes that the ports need, computed before EAL starts */
	void *work[WORK_MAX];  /* what each work keeps, in the order of works[] */
};

/* Whether plans may use the port: its device runs, and it is not paused. */
static inline bool ctl_port_runs(const struct ctl_port *cp)
{
	return cp->p.started && !cp->paused;
}
