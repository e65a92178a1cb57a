/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl and the control halves of works: the state of control, and the functions that its
 * files have for each other. Control thread only, except where a member says otherwise. */
#pragma once
#include "clock.h"
#include "clock_dev.h"
#include "ctl.h"
#include "dp.h"
#include "dp_clock.h"
#include "log.h"
#include "port.h"
#include "run.h"
#include "witness.h"
#include "work.h"

#define CTL_MAX_PORTS RTE_MAX_ETHPORTS
#define CTL_EVENTS 64
#define SAID_MAX (sizeof(struct err) + 64)
#define DEFAULT_SPEED_BPS 10000000000ull
#define TICK_NS 1000000000ull

/* The run of a port: the one that goes on, or else the last one. */
struct run {
	uint64_t id; /* 0: never started */
	bool armed;  /* asked for, but run_arm() has not set start_tsc yet */
	bool active; /* some queue has not reported the end yet */
	bool stop;
	bool rate_changed; /* a rate changed while it sent: none holds for all its frames */
	uint64_t start_tsc, duration_ns, end_tsc;
	/* How long after the end of its time a frame that was due may still leave. What has not
	 * left by then is counted as unsent. */
	uint64_t grace_ns;
	uint64_t count; /* after so many frames the port's schedule ends; 0: no bound */
	bool asked_max; /* some frames are asked for as fast as possible */
	bool has_rate;  /* it has a rate of its own, and the port's setting does not count */
	struct rate rate;
	uint64_t changed_ns; /* when rates or frames last changed, CLOCK_MONOTONIC_RAW; or 0 */
	uint64_t end_ns;     /* when the last queue reported, CLOCK_MONOTONIC_RAW */
};

/* A stream has a cell: a number that stays when its id changes. Its counters are kept by this
 * number, and so are its ordinals while the port sends. There are more cells than ids, because the
 * cell of a deleted stream stays taken while the port sends. */
#define CTL_CELLS (2 * CTL_MAX_STREAMS)

/* The plans of a stream's frames. The stream and the works that send them share them, and whoever
 * lets go of them last frees them. */
struct stream_frames {
	unsigned refs, nplans, nitems;
	struct frame_plan *plan; /* one for each different size */
	uint16_t *item;          /* [nitems]: which plan each size of the sequence has */
	double mean_size;        /* with FCS */
};
/* Gives back one reference; NULL is allowed. */
void frames_unref(struct stream_frames *f);

struct stream {
	struct stream_cfg cfg;
	uint32_t cell;
	bool dirty;       /* settings changed since plans were made */
	uint64_t version; /* of the plans; 0: never made */
	/* What the plans were made for: the largest frame and the room of a buffer, which follow
	 * from the port's mtu and pools, and the port's tell_all. Where these differ now, plans are
	 * made anew. */
	unsigned for_max, for_room;
	bool for_tell;
	int rc; /* < 0: plans could not be made, and `why` says why */
	char *why;
	struct stream_frames *frames; /* NULL: not made */
	/* at `clear`, at the tick before */
	struct stream_count {
		uint64_t packets, bytes;
	} base, prev;
	double pps;
};

/* The counters of a queue at one moment, as plain numbers: a baseline, or those of the tick
 * before. */
struct q_raw {
	struct cnt_tx tx;
	struct cnt_rx rx;
	struct cnt_sizes rx_sizes;
	struct dp_times tx_times, rx_times;
	uint64_t retries;
};
/* The baselines of a port. */
struct ctl_base {
	struct q_raw *q;      /* [nqueues] */
	struct snap_port dev; /* the device's numbers: tx_errors, rx_missed, ..., nic */
	struct cnt_sizes tx_sizes;
};

/* What a queue did in its last full interval of the 1 s timer. tx_cycles and rx_cycles are those of
 * a burst; NAN: none was sampled. */
struct q_rate {
	struct snap_rate tx, rx;
	double dropped_pps, stalls_per_s, nombuf_per_s, tx_cycles, rx_cycles;
};

struct plan_writer;

/* Which clock the time stamps of frames are by.
 * DEVICE: the device has one of its own.
 * SYSTEM: the system's clock, which the driver reads for us.
 * SYSTEM_US: the system's clock in us, which we read ourselves. */
enum stamp_clock { STAMPS_NONE, STAMPS_DEVICE, STAMPS_SYSTEM, STAMPS_SYSTEM_US };
#define STAMPS_MISSES 8
/* The time stamps of a port's frames, and the device's clock that they are by. */
struct port_stamps {
	uint64_t rx_capa, tx_capa; /* offloads that the device offers */
	enum stamp_clock clock;
	bool rx_offered;    /* the device can stamp the frames that it receives */
	bool rx_on, tx_on;  /* the device was set up with stamps */
	const char *why;    /* why stamps are not used, static; NULL: other members say it */
	int rc;             /* of the last reading of the clock, or of the set-up */
	bool lost;          /* the clock could not be read, and is not known again yet */
	uint64_t retry_tsc; /* rc < 0: when the clock is read again */
	struct clock_dev cal;
	/* The device's own counters of frames not sent at their times; base: at `clear`. */
	unsigned nmisses;
	struct {
		uint64_t id, base;
		char name[64];
	} miss[STAMPS_MISSES];
	struct dp_clock rx, tx; /* for workers */
};

struct ctl_port {
	struct port p;
	struct port_need need;
	unsigned group; /* number of the first port of the -p that made it */
	/* used: a map gives it queues. opened: its device is there. started: its device runs, and
	 * plans may use it. restart: changed settings wait for a restart of the device. */
	bool used, opened, started, restart;
	uint32_t touched; /* WHY_*: changes that are in no plan yet; 0: there are none */
	bool paused;      /* no plan has it while a device of its group is restarted */
	bool promiscuous; /* last asked of the device */
	unsigned nqueues; /* max(nrxq, ntxq) */
	struct rte_mempool **rx_pool; /* [dev_nrxq] */
	/* Queues that the device was configured with: a paired driver gets as many of both. */
	uint16_t dev_nrxq, dev_ntxq;
	/* The shares of each Tx queue, one of each task that sends there; see share.c. */
	struct tx_queue {
		unsigned n;
		struct dp_txq *share[WORK_MAX];
	} * tx;
	struct dp_txq **txq; /* of each Tx queue the first share, which sends streams */
	struct dp_rxq **rxq;
	/* Of each Tx queue, the frames of each cell as they were last read; NULL: never. */
	struct cnt_stream **seen;
	int *tx_worker, *rx_worker;            /* of each queue: index into ctl.worker */
	struct stream **stream;                /* by id; NULL: a hole */
	unsigned nstreams, cap_streams, total; /* highest id + 1; room; without holes */
	/* Sets of cells: of the streams, and of streams that were deleted while the port sends. */
	uint64_t cell_used[CTL_CELLS / 64], cell_kept[CTL_CELLS / 64];
	uint64_t cell_new[CTL_CELLS / 64]; /* got a stream since the probes were last looked at */
	struct frame_vals dflt;  /* the port's own defaults, which each stream gets as its dflt */
	struct port_cfg applied; /* values the device runs with: mtu, txd, rxd, mbufs */
	/* Last asked of the device: PACING_*, the limit of each queue (0: none); its answer. */
	struct {
		int kind;
		uint64_t mbps;
		int rc;
	} pacing;
	struct port_stamps stamps;
	uint64_t tx_offloads; /* that the device was set up with */
	struct run run;
	struct ctl_base base;
	struct cnt_sizes *seen_sizes; /* of each Tx queue, as they were last read */
	struct q_raw *prev;           /* [nqueues]: counters at the tick before */
	uint64_t prev_ns;             /* when the tick before read the queues */
	uint64_t streams_ns;          /* when the tick before read the streams */
	struct q_rate *last;          /* [nqueues] */
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
	enum snap_link link;
	uint64_t link_mbps;
	uint64_t link_seq;     /* counts the changes of link and link_mbps that were seen */
	bool awake;            /* a trial goes on: workers that receive here do not sleep */
	bool tell_all;         /* each frame carries a probe, whatever its stream says */
	uint64_t memory_bytes; /* of its pools */
	char rss[96], fc[64], offloads[256]; /* as `show ports` says them */
	void *work[WORK_MAX]; /* what each work keeps for the port, in the order of works[] */
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
	/* For ctl_settled(): its cells barren and loops when an Rx counter last moved. */
	uint64_t quiet_barren, quiet_loops;
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
	struct trial *trial; /* the trial that goes on, NULL: none */
	/* A trial must know of turns that are longer than this, even if the setting `stall` allows
	 * longer ones; 0: no trial goes on. */
	uint64_t trial_stall_ns;
	/* For ctl_settled(): the sum of all Rx counters, when it last moved (0: it begins anew),
	 * and when some work last held frames. CLOCK_MONOTONIC_RAW. */
	uint64_t rx_sum, rx_moved_ns, inside_ns;
	struct ctl_event ev[CTL_EVENTS];
	unsigned ev_head, ev_n;
	uint64_t eal_memory;  /* bytes that the ports need, computed before EAL starts */
	void *work[WORK_MAX]; /* what each work keeps, in the order of works[] */
};

/* eal.c */
/* Checks that there are enough descriptors and threads for EAL and the ports. queues: of all ports
 * together. pages: hugepages that EAL will use. 0, or -ENODEV with *e. */
int eal_room(const struct ctl *c, unsigned queues, uint64_t pages, struct err *e);
/* Starts EAL, once in a process. The specs are parsed already, since the ports' `need` decides how
 * much memory is asked for. */
int eal_start(struct ctl *c, struct err *e);
/* The ports have their buffers: another instance of the program may count hugepages now. */
void eal_memory_taken(void);
void eal_stop(void);
/* Writes to the log what EAL and drivers have said since the last call. */
void eal_log_drain(void);
/* Bytes of a buffer for frames up to this mtu, headroom included. */
unsigned eal_data_room(uint64_t mtu);
/* Whether buffers of the port's Rx pools may not cross a page, because its driver maps page by
 * page. */
bool eal_by_page(const struct port_need *need);
/* Bytes of a buffer of an Rx pool, headroom included. */
unsigned eal_rx_room(uint64_t mtu, const struct port_need *need);
/* How many buffers the pool of a Tx queue has, and that of an Rx queue (0: it needs no pool). */
unsigned eal_tx_frames(const struct port_cfg *cfg, const struct port_need *need);
unsigned eal_rx_frames(const struct port_cfg *cfg, const struct port_need *need);

/* work.c */
/* Zeroed memory for control and for a port, together with what each work keeps there. */
struct ctl *ctl_new(void);
void ctl_free(struct ctl *c);
struct ctl_port *ctl_port_new(void);
void ctl_port_free(struct ctl_port *cp);
/* Whether tasks of works write into buffers that senders have filled. */
bool works_write(const struct ctl *c);
/* About how many frames of these senders works hold. While nobody sends, 0 is exact. */
uint64_t works_inside(const struct ctl *c, const struct portset *from);

/* ctl.c */
/* Rewrites *e, an error in map number `which`, so that it shows the map and a caret below the
 * column. */
void ctl_map_error(const struct ctl *c, unsigned which, struct err *e);
/* Zeroed memory for a state or for a queue's object, on this NUMA node if there is room there, else
 * anywhere (node -1: anywhere). NULL: there is no memory. Free it with rte_free(). */
void *state_new(size_t size, int node);

/* workers.c */
/* The CPU that an lcore is pinned to; -1: it has several. */
int workers_lcore_cpu(unsigned lcore);
/* Makes the workers of all lcores that the placement names; their threads do not run them yet. */
int workers_make(struct ctl *c, struct err *e);
int workers_index(const struct ctl *c, unsigned lcore); /* into c->worker, -1: none */
/* Starts the workers, with the plans of all ports. */
int workers_launch(struct ctl *c, struct err *e);
/* Tells all workers to end, and waits until they have: up to 5 s to tell them and 5 s for their
 * answer. false: some worker has not answered, and may still use all that it has been given. */
bool workers_stop(struct ctl *c);

/* The time for which the worker's thread has been ready to run and has had no CPU, since it began.
 * It is exact while the thread runs or sleeps. false: the system does not tell it. */
bool worker_waited(const struct ctl_worker *cw, uint64_t *ns);
/* Sets a mark: from now on, the worker's longest stall under it is that of later turns (dp.h). */
void worker_mark(struct ctl_worker *cw, enum dp_mark m);
void worker_clear(struct ctl_worker *cw);
/* Whether the worker serves an Rx queue of a port in rx or a Tx queue of a port in tx. A set that
 * is NULL is empty. */
bool worker_serves(const struct ctl *c, unsigned worker, const struct portset *rx,
		   const struct portset *tx);

/* tsc.c */
/* Compares the cycle counters of the workers' CPUs, before workers run. -ENODEV: they disagree. */
int tsc_check(struct ctl *c, struct err *e);

/* share.c */
/* A new share of a Tx queue for one task, made when the port is opened; it stays as long as the
 * port. foreign: the task sends buffers of other pools, too. NULL: there is no memory. */
struct dp_txq *tx_share(struct ctl_port *cp, unsigned queue, int node, bool foreign);
/* The device was set up: all shares of this queue send from this pool from now on. */
void tx_shares_pool(struct ctl_port *cp, unsigned queue, struct rte_mempool *pool,
		    enum dp_edits edits);
bool tx_foreign(const struct ctl_port *cp); /* some task sends buffers of other pools */
/* The port has got another device, and its shares send there from now on. */
void tx_shares_dev(struct ctl_port *cp);

/* dev.c */
/* Makes the pools, configures the device with its queues, and starts it. */
int dev_setup(struct ctl *c, struct ctl_port *cp, struct err *e);
/* Fills p.pci if the spec has not done so and the device is on a PCI bus. */
void dev_bus(struct ctl_port *cp);
void dev_close(struct ctl_port *cp);
/* Sets the device up anew with the settings of now; no worker may use it meanwhile. After a failure
 * it runs with its former values, if it still starts with them. */
int dev_restart(struct ctl *c, struct ctl_port *cp, struct err *e);
/* Reads link and link_mbps from the device. */
void dev_link(struct ctl_port *cp);
/* For a device that is stopped or closed: what DPDK refuses then changes nothing for us, so it
 * is only written to the log. rc: 0 or -errno of what was done. what: its name, "closing the
 * device". */
void dev_leave(const struct ctl_port *cp, int rc, const char *what);
/* DPDK wants a pool for each Rx queue. This makes the one that is named for devices which receive
 * into no pool of ours. Returns 0 or -ENODEV with *e. */
int dev_dummy_pool(struct err *e);

/* Turns the device's promiscuous mode on or off if the setting has changed, also while it sends. */
void dev_promiscuous(struct ctl *c, struct ctl_port *cp);

bool dev_mtu_set(const struct ctl_port *cp); /* the user asked for an mtu, or had asked for one */
/* The mtu in force; while the port does not send, the one that its next start brings into force. */
uint64_t dev_mtu(const struct ctl_port *cp);

/* stream.c */
struct stream *stream_at(const struct ctl_port *cp, unsigned id); /* NULL: a hole */
/* The stream that has this cell; NULL: none. id: where to look first, because it was there last. */
struct stream *stream_of_cell(const struct ctl_port *cp, uint32_t cell, unsigned id);
struct stream *stream_first(const struct ctl_port *cp); /* lowest id; there always is one */
void streams_free(struct ctl_port *cp);
/* Leaves only stream 0, with default settings. */
void streams_default(struct ctl_port *cp);
/* Gives cp->dflt, which has become known, to all streams. */
void streams_dflt(struct ctl_port *cp);

/* stream_plan.c */
/* Bytes of the largest frame that the port may send with these headers: its mtu, the Ethernet
 * header, the FCS and VLAN tags. */
unsigned plan_max_size(const struct ctl_port *cp, const struct frame_stack *stack);
void stream_plans_free(struct stream *s);
/* Brings s->frames up to date with the settings. After a failure, s->frames is NULL. */
int stream_plans(struct ctl *c, struct ctl_port *cp, struct stream *s, struct err *e);
/* The length of the sequence of sizes that the stream goes through. */
unsigned stream_nsizes(const struct stream *s);
/* -EINVAL, with the setting's name, if a value is set for a field that the frame does not have. */
int stream_stray(const struct ctl_port *cp, const struct stream *s, struct err *e);
/* The first frame of the stream, without FCS; see ctl_frame(). */
int stream_frame(const struct ctl_port *cp, const struct stream *s, struct frame *out,
		 struct err *e);
/* The plan of the frames of spec, which must fit into a buffer of the port. */
int stream_compile(const struct ctl_port *cp, const struct stream_cfg *cfg,
		   const struct frame_spec *spec, struct frame_plan *out, struct err *e);
/* "port 0", "stream 0/3" */
void stream_name(const struct ctl_port *cp, const struct stream *s, char *out, size_t size);

/* load.c */
/* Frames/s of a rate at its begin, for frames of this mean size with FCS. *max: the rate is as fast
 * as possible, and 0 is returned. */
double plan_pps(const struct rate *r, uint64_t speed_bps, double size, bool *max);
/* Bits/s that percent is of: the setting, else what the device says, else DEFAULT_SPEED_BPS. */
uint64_t plan_speed(const struct ctl_port *cp);
uint64_t plan_speed_mbps(const struct ctl_port *cp); /* as it is shown: rounded */
/* Adds to *l what the rate asks of the wire for frames of this mean size, with FCS. */
void load_rate(struct ctl_load *l, const struct rate *r, uint64_t speed_bps, double size);
/* Widens the range of sizes in *l so that it includes those of f. */
void load_sizes(struct ctl_load *l, const struct stream_frames *f);

/* edits.c */
/* What a device of this driver that offers these Tx offloads may do to the buffers of frames that
 * it sends. */
enum dp_edits dev_edits(const char *driver, uint64_t tx_offload_capa);

/* stamps.c: the time stamps of frames, and the clocks of devices. */
/* Before the device is configured: puts the offloads for time stamps that settings ask for and the
 * device offers into conf and cp->tx_offloads. */
void stamps_ask(struct ctl_port *cp, const struct rte_eth_dev_info *info,
		struct rte_eth_conf *conf);
/* The device refused conf with rc: takes the offloads for time stamps out again, so that the caller
 * can try once more. false: there were none in it. */
bool stamps_without(struct ctl_port *cp, int rc, struct rte_eth_conf *conf);
void stamps_started(struct ctl *c, struct ctl_port *cp);
/* Whether settings ask for other stamps than the device was set up with. */
bool stamps_pending(const struct ctl_port *cp);
/* Reads the clocks whose next reading is due, and tells the workers. */
void stamps_turn(struct ctl *c);
uint64_t stamps_next_ns(const struct ctl *c); /* until the next reading is due */
/* Before a start: waits until all clocks that are to be used are known, but only for some ms. */
void stamps_ready(struct ctl *c);
void stamps_clear(struct ctl_port *cp);
/* The clock by which arrivals are timed; NULL: the device's stamps are not used. */
const struct dp_clock *stamps_rx(const struct ctl_port *cp);
/* The clock by which the device sends; NULL: it was not set up to send at time stamps. */
const struct dp_clock *stamps_tx(const struct ctl_port *cp);
/* Sending at time stamps: 0: the device does it. -ENOTSUP: it does not offer it. -EAGAIN: it does
 * it from its next start on. Others: the device refused, or its clock cannot be read. */
int stamps_tx_state(const struct ctl_port *cp);
/* Adds a text: what the device has counted, since the last clear, as not sent at its time. */
void stamps_missed(const struct ctl_port *cp, struct sbuf *out);
double stamps_error_ns(const struct ctl_port *cp); /* of a stamp's time; INFINITY: not known */
/* Adds a text: who times arrivals, and why the device does not. */
void stamps_text(const struct ctl_port *cp, struct sbuf *out);
json_t *stamps_clocks_json(const struct ctl *c); /* "devices" of ctl_clock_json() */

/* pacing.c */
/* Asks the device anew if settings or rates have changed, and adds a note if it begins to
 * refuse. */
void pacing_follow(struct ctl *c, struct ctl_port *cp);
/* info.c: as the prompt prints it */
json_t *value_json(const struct vtype *type, const void *value);
/* For `show plan`: when the frames of each port are to leave, and who sees to it. */
json_t *pacing_json(const struct ctl *c);
/* Adds a text: who paces the port, and why nobody else does. */
void pacing_text(const struct ctl_port *cp, struct sbuf *out);

/* plan.c */
/* A new plan of a worker (index into c->worker). without_ports: it has no queue and no task. */
struct dp_plan *plan_build(struct ctl *c, unsigned worker, bool without_ports);
/* Posts a plan and owns it from then on. false: the ring is full, and p is still the caller's. */
bool plan_post(struct ctl *c, struct ctl_worker *cw, struct dp_plan *p);
/* Tells works what has changed of which port, and posts new plans to all dirty workers. */
void plan_post_all(struct ctl *c);
/* Whether some port has a change that is in no plan yet, or some work is about to have one. */
bool plan_waits(const struct ctl *c);
/* Frees the old plans whose workers have acknowledged a later one. */
void plan_reap(struct ctl *c);
/* Waits until all plans are posted and in use. false: max_ns passed before. */
bool plan_wait_acks(struct ctl *c, uint64_t max_ns);
/* A worker that does not use its newest plan yet, or is to get one; NULL: there is none. */
const struct ctl_worker *plan_behind(const struct ctl *c);

/* run.c, beside run.h */
static inline uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}
const struct work_witness *work_witness(void); /* that of the work that has one; NULL: none */
/* Adds an event, which ctl_event_next() gives to the program. */
void ctl_note(struct ctl *c, unsigned port, const char *fmt, ...) WR_PRINTF(3, 4);
/* a change of its link */
void ctl_note_link(struct ctl *c, unsigned port, const char *fmt, ...) WR_PRINTF(3, 4);

/* stat.c */
int stat_init(struct ctl_port *cp);
void stat_free(struct ctl_port *cp);
/* Fills in the sums of the port's cells and the device's own numbers, both since open. */
void stat_dev(struct ctl_port *cp, struct snap_port *out);
/* Reads the counters of queue q, both directions, since open. */
void stat_queue(const struct ctl_port *cp, unsigned q, struct q_raw *out);
/* a -= b, for counters that are rows of uint64_t. */
void cells_sub(void *a, const void *b, size_t bytes);
/* Reads the state of the link, and notes and counts a change. */
void link_look(struct ctl *c, struct ctl_port *cp);

/* stat_tick.c: the highest rates since open or clear. They are those of full intervals, and the
 * means of whole runs, which may be shorter than an interval. */
/* For the mean of what is received, the port counts from now on. */
void most_since(struct ctl_port *cp);
/* In each turn: calls most_since() for all ports until the runs begin, because what has come before
 * is not theirs. */
void most_before(struct ctl *c);
/* A run has ended: its mean rates may be the highest ones. */
void most_of_run(struct ctl *c, struct ctl_port *cp, const struct run_result *r);

/* stream_stat.c */
/* The frames of each cell that all queues have sent since open: [CTL_CELLS], which the caller
 * frees. Exact when nothing is sending. Of a queue whose worker takes over a plan just then, and
 * has no CPU to get done with it, it has what was read the last time. */
struct cnt_stream *stream_cells(struct ctl_port *cp);
void stream_begins(struct ctl_port *cp, struct stream *s); /* its counters count from now on */
void streams_clear(struct ctl_port *cp);
void streams_tick(struct ctl_port *cp);
