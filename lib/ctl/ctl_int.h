/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl: the state of control. Control thread only, except where a member says otherwise. */
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

/* A start of a port, or the last one. */
struct run {
	uint64_t id;           /* 0: never started */
	uint64_t group;        /* ports of one start share it */
	bool armed;            /* start_tsc is set when the plan is built */
	bool active;           /* not all queues have reported the end */
	bool stop;
	bool rate_changed;     /* the frame count of a bounded time no longer follows from one rate */
	uint64_t start_tsc, duration_ns, end_tsc;
	uint64_t grace_ns;     /* after the end of its time; what was not sent by then is unsent */
	uint64_t count;        /* of the settings at the start, 0: no bound */
	bool asked_max;
	bool has_rate;         /* this one, whatever the port's setting is */
	struct rate rate;
	uint64_t changed_ns;   /* when the rate or the frame last changed, CLOCK_MONOTONIC_RAW */
	uint64_t end_ns;       /* when the last queue reported, CLOCK_MONOTONIC_RAW */
};

/* Streams keep a number of their own while ids change: of their counters, and of their ordinals while the port sends. */
#define CTL_CELLS (2 * CTL_MAX_STREAMS)

/* The plans of a stream's frames, shared by it and by works that send them. */
struct stream_frames {
	unsigned refs, nplans, nitems;
	struct frame_plan *plan;   /* one for each different size */
	uint16_t *item;            /* number of the size in the sequence -> plan */
	double mean_size;          /* with FCS */
};
void frames_unref(struct stream_frames *f);

struct stream {
	struct stream_cfg cfg;
	uint32_t cell;
	bool dirty;            /* settings changed since plans were made */
	uint64_t version;      /* of the plans; 0: never made */
	unsigned for_max, for_room; /* they depend on the port's mtu and buffers, */
	bool for_tell;         /* and on its tell_all */
	int rc;                /* they could not be made: */
	char *why;
	struct stream_frames *frames; /* NULL: not made */
	struct stream_count { uint64_t packets, bytes; } base, prev; /* at `clear`, at the tick before */
	double pps;
};

/* Counters of a queue or port as plain numbers at one moment: baselines and the tick before. */
struct q_raw {
	struct cnt_tx tx;
	struct cnt_rx rx;
	struct cnt_sizes rx_sizes;
	struct dp_times tx_times, rx_times;
	uint64_t retries;
};
struct ctl_base {
	struct q_raw *q;           /* nqueues */
	struct snap_port dev;      /* the device's numbers: tx_errors, rx_missed, ..., nic */
	struct cnt_sizes tx_sizes;
};

/* The last full interval of a queue. */
struct q_rate {
	struct snap_rate tx, rx;
	double dropped_pps, stalls_per_s, nombuf_per_s, tx_cycles, rx_cycles; /* cycles of a burst, NAN: none was sampled */
};

struct plan_writer;

/* What time stamps of frames are by: a clock of the device's own; the system's, which the driver reads; the system's in us, which we read. */
enum stamp_clock { STAMPS_NONE, STAMPS_DEVICE, STAMPS_SYSTEM, STAMPS_SYSTEM_US };
#define STAMPS_MISSES 8
struct port_stamps {
	uint64_t rx_capa, tx_capa; /* that the device offers */
	enum stamp_clock clock;
	bool rx_offered;
	bool rx_on, tx_on;         /* it was set up with them */
	const char *why;           /* not used, static; NULL: as the others say */
	int rc;                    /* of the last reading, or of the set-up */
	bool lost;                 /* it could not be read, and is not known again yet */
	uint64_t retry_tsc;        /* rc < 0: when it is read again */
	struct clock_dev cal;
	unsigned nmisses;          /* the device's own counters of frames that it did not send at their times */
	struct { uint64_t id, base; char name[64]; } miss[STAMPS_MISSES];
	struct dp_clock rx, tx;    /* for workers */
};

struct ctl_port {
	struct port p;
	struct port_need need;
	unsigned group;            /* first port of the spec that made it */
	bool used, opened, started, restart;
	uint32_t touched;          /* WHY_*: of these, plans do not know yet; 0: they know all */
	bool paused;               /* started, and taken from the workers while a device of its group is restarted */
	bool promiscuous;          /* last asked of the device */
	char restart_note[160];
	unsigned nqueues;          /* max(nrxq, ntxq) */
	struct rte_mempool **rx_pool; /* per Rx queue of the device, dev_nrxq of them */
	uint16_t dev_nrxq, dev_ntxq; /* as configured: a paired driver has as many of both */
	struct tx_queue { unsigned n; struct dp_txq *share[WORK_MAX]; } *tx; /* per Tx queue: of each task that sends there */
	struct dp_txq **txq;       /* per Tx queue: the first share, of who sends streams */
	struct dp_rxq **rxq;
	struct cnt_stream **seen;    /* per Tx queue: frames of each stream, by its cell, as they were last read; NULL: never */
	int *tx_worker, *rx_worker; /* index into ctl.worker, -1 none */
	struct stream **stream;    /* by id; NULL: a hole */
	unsigned nstreams, cap_streams, total;
	uint64_t cell_used[CTL_CELLS / 64], cell_kept[CTL_CELLS / 64];
	uint64_t cell_new[CTL_CELLS / 64]; /* given to another stream since probes were last looked at */
	struct frame_vals dflt;    /* what each stream gets as its dflt */
	struct port_cfg applied;   /* values the device runs with: mtu, txd, rxd, mbufs */
	struct { int kind; uint64_t mbps; int rc; } pacing; /* last asked of the device: PACING_*, of each queue, what it said */
	struct port_stamps stamps;
	uint64_t tx_offloads;      /* that the device was set up with */
	struct run run;
	struct ctl_base base;
	struct cnt_sizes *seen_sizes; /* per Tx queue, when last read */
	struct q_raw *prev;        /* at the tick before, */
	uint64_t prev_ns;          /* and when that was */
	uint64_t streams_ns;       /* likewise of streams */
	struct q_rate *last;       /* per queue */
	struct snap_interval max, history[SNAP_HISTORY]; /* a ring: the next one goes to history[nhistory % SNAP_HISTORY] */
	uint64_t nhistory;
	bool cleared;              /* within this interval: it is not a full one since then */
	struct { uint64_t tsc, packets, bytes; } rx_since; /* shortly before the first of the runs that go on, or at the last clear */
	uint64_t clear_tsc;
	unsigned stuck_ticks;      /* seconds in which frames were offered and none was taken */
	enum snap_link link;
	uint64_t link_mbps;
	uint64_t link_seq;         /* counts changes of both that were seen */
	bool awake;                /* a measurement goes on: its workers do not sleep */
	bool tell_all;             /* each frame says which one it is, whatever its streams say */
	uint64_t memory_bytes;
	char rss[96], fc[64], offloads[256];
	void *work[WORK_MAX];      /* what each work keeps of it, in the order of works[] */
};

struct ctl_worker {
	struct dp_worker *w;
	cell_t tid;                /* of its thread, which writes it; 0: not yet */
	unsigned lcore;
	int cpu, node;
	bool launched;
	struct dp_plan *posted;    /* the newest */
	uint64_t prev_busy, prev_tsc, prev_loops, prev_waited_ns;
	bool waited_known;
	uint64_t base_stalls, base_stall_cycles, base_waited_ns; /* at `clear` */
	uint64_t moved, stalls;    /* in this interval: frames, bursts not taken whole */
	uint64_t quiet_barren, quiet_loops; /* turns at the last move of an Rx counter */
	double busy, wait, loops_per_s, pps, cycles_per_packet, stalls_per_s; /* last full interval, see snap_worker */
	bool dirty;
};

struct old_plan { struct dp_plan *plan; struct ctl_worker *w; };

struct ctl {
	struct ctl_opts opts;
	struct place_port pport[CTL_MAX_PORTS];
	struct place_lcore *plcore;
	struct place_in pin;
	struct placement place;
	struct ctl_port *port[CTL_MAX_PORTS];
	unsigned nports;
	uint64_t runs_tsc;         /* when the first of the runs that go on begins */
	struct ctl_worker *worker;
	unsigned nworkers;
	int wake_fd;               /* eventfd that workers write to, -1: there are none yet */
	struct clock_cpu *cpus;    /* [nworkers]: their cycle counters beside control's */
	int ref_cpu;               /* control's, -1: it has several */
	struct old_plan *old;      /* posted plans that a later one has replaced */
	unsigned nold, cap_old;
	uint64_t plan_seq, run_seq, group_seq;
	uint64_t version_seq;
	uint64_t prev_tick_ns;
	uint64_t stall_ns;
	struct trial *trial;       /* that goes on, NULL: none */
	uint64_t trial_stall_ns;   /* it must know of longer turns than these, whatever counts as a stall otherwise; 0: none goes on */
	/* settling */
	uint64_t rx_sum, rx_moved_ns, inside_ns; /* when frames were last seen inside a device */
	struct ctl_event ev[CTL_EVENTS];
	unsigned ev_head, ev_n;
	uint64_t eal_memory;
	void *work[WORK_MAX];      /* what each work keeps, in the order of works[] */
};

/* eal.c */
/* Whether descriptors and threads are enough for EAL with so many queues of ports, and hugepages. */
int eal_room(const struct ctl *c, unsigned queues, uint64_t pages, struct err *e);
int eal_start(struct ctl *c, struct err *e);       /* needs parsed specs: c->opts, need of each port */
void eal_memory_taken(void);                       /* the ports have their buffers: the next instance may start */
void eal_stop(void);
void eal_log_drain(void);                          /* EAL's text so far -> log */
unsigned eal_data_room(uint64_t mtu);
bool eal_by_page(const struct port_need *need);
unsigned eal_rx_room(uint64_t mtu, const struct port_need *need);
unsigned eal_tx_frames(const struct port_cfg *cfg, const struct port_need *need);
unsigned eal_rx_frames(const struct port_cfg *cfg, const struct port_need *need);

/* work.c: with what works keep, zeroed */
struct ctl *ctl_new(void);
void ctl_free(struct ctl *c);
struct ctl_port *ctl_port_new(void);
void ctl_port_free(struct ctl_port *cp);
bool works_write(const struct ctl *c);  /* works write into buffers that senders have filled */
uint64_t works_inside(const struct ctl *c, const struct portset *from); /* frames of these senders, about; 0: none, when nobody sends */
void ctl_map_error(const struct ctl *c, unsigned which, struct err *e); /* the map's text and a caret under the column */

/* ctl.c */
/* Of a task or a queue: zeroed, on that NUMA node (-1: any) if there is room there, else anywhere; rte_free() it. NULL: no memory. */
void *state_new(size_t size, int node);

/* workers.c */
int workers_lcore_cpu(unsigned lcore);
int workers_make(struct ctl *c, struct err *e);       /* of the placement's lcores */
int workers_index(const struct ctl *c, unsigned lcore); /* into c->worker, -1: none */
int workers_launch(struct ctl *c, struct err *e);     /* with the plans of all ports */
bool workers_stop(struct ctl *c);                     /* false: some worker does not answer and may use anything that it knows */

/* Time for which its thread was ready and had no CPU, so far; exact while the thread runs or sleeps. false: the system does not tell. */
bool worker_waited(const struct ctl_worker *cw, uint64_t *ns);
void worker_mark(struct ctl_worker *cw, enum dp_mark m); /* the longest stall is one from now on */
void worker_clear(struct ctl_worker *cw);
/* Some Rx queue of rx or Tx queue of tx; NULL: none of them. */
bool worker_serves(const struct ctl *c, unsigned worker, const struct portset *rx, const struct portset *tx);

/* tsc.c */
int tsc_check(struct ctl *c, struct err *e);          /* before workers run; -ENODEV: their counters disagree */

/* share.c */
/* A share of a Tx queue for one task more, when a port is opened; it goes with the port. foreign: its task sends buffers of other pools too.
 * NULL: there is no memory. */
struct dp_txq *tx_share(struct ctl_port *cp, unsigned queue, int node, bool foreign);
void tx_shares_pool(struct ctl_port *cp, unsigned queue, struct rte_mempool *pool, enum dp_edits edits); /* the device was set up with it */
bool tx_foreign(const struct ctl_port *cp);         /* some task sends buffers of other pools */
void tx_shares_dev(struct ctl_port *cp);           /* the device became another one */

/* dev.c */
int dev_setup(struct ctl *c, struct ctl_port *cp, struct err *e);  /* configure, queues, start */
void dev_bus(struct ctl_port *cp);     /* p.pci, where its spec did not say */
void dev_close(struct ctl_port *cp);
int dev_restart(struct ctl *c, struct ctl_port *cp, struct err *e); /* workers must not use it */
void dev_link(struct ctl_port *cp);
/* What DPDK refuses to a device on its way out changes nothing for us; the log says it. rc: 0 or -errno of what was done ("closing the device"). */
void dev_leave(const struct ctl_port *cp, int rc, const char *what);
int dev_dummy_pool(struct err *e);

void dev_promiscuous(struct ctl *c, struct ctl_port *cp); /* follows the setting, also while sending */

bool dev_mtu_set(const struct ctl_port *cp);  /* the user asked for an mtu, or had asked for one */
uint64_t dev_mtu(const struct ctl_port *cp);  /* the mtu in force */

/* stream.c */
struct stream *stream_at(const struct ctl_port *cp, unsigned id); /* NULL: a hole */
struct stream *stream_of_cell(const struct ctl_port *cp, uint32_t cell, unsigned id); /* id: where it was last */
struct stream *stream_first(const struct ctl_port *cp);           /* the lowest id: a port has one at least */
void streams_free(struct ctl_port *cp);
void streams_default(struct ctl_port *cp); /* one stream 0 as it comes */
void streams_dflt(struct ctl_port *cp);    /* cp->dflt is known */

/* stream_plan.c */
unsigned plan_max_size(const struct ctl_port *cp, const struct frame_stack *stack);
void stream_plans_free(struct stream *s);
/* The plans of its frames as its settings are now: s->frames. */
int stream_plans(struct ctl *c, struct ctl_port *cp, struct stream *s, struct err *e);
unsigned stream_nsizes(const struct stream *s);
int stream_stray(const struct ctl_port *cp, const struct stream *s, struct err *e);
int stream_frame(const struct ctl_port *cp, const struct stream *s, struct frame *out, struct err *e);
/* The frames of spec, for a buffer of the port. */
int stream_compile(const struct ctl_port *cp, const struct stream_cfg *cfg, const struct frame_spec *spec, struct frame_plan *out,
		   struct err *e);
void stream_name(const struct ctl_port *cp, const struct stream *s, char *out, size_t size); /* "port 0", "stream 0/3" */

/* load.c */
double plan_pps(const struct rate *r, uint64_t speed_bps, double size, bool *max); /* size: mean, with FCS */
uint64_t plan_speed(const struct ctl_port *cp);
uint64_t plan_speed_mbps(const struct ctl_port *cp); /* as it is shown: rounded */
void load_rate(struct ctl_load *l, const struct rate *r, uint64_t speed_bps, double size); /* adds what it asks of frames of that mean size */
void load_sizes(struct ctl_load *l, const struct stream_frames *f); /* the least and the most of them and of those before */

/* stamps.c */
/* edits.c: what a device of that driver, which offers these Tx offloads, may do to the buffers of frames that it sends. */
enum dp_edits dev_edits(const char *driver, uint64_t tx_offload_capa);
/* The offloads that settings and the device's offers ask for go into conf and cp->tx_offloads. */
void stamps_ask(struct ctl_port *cp, const struct rte_eth_dev_info *info, struct rte_eth_conf *conf);
bool stamps_without(struct ctl_port *cp, int rc, struct rte_eth_conf *conf); /* the device refused: once more without; false: there were none */
void stamps_started(struct ctl *c, struct ctl_port *cp);
bool stamps_pending(const struct ctl_port *cp);    /* settings ask for others than the device was set up with */
void stamps_turn(struct ctl *c);
uint64_t stamps_next_ns(const struct ctl *c);
void stamps_ready(struct ctl *c);                  /* clocks that are to be used are known, if they can be within some ms */
void stamps_clear(struct ctl_port *cp);
const struct dp_clock *stamps_rx(const struct ctl_port *cp); /* NULL: they are not used */
const struct dp_clock *stamps_tx(const struct ctl_port *cp); /* NULL: the device was not set up to send at time stamps */
int stamps_tx_state(const struct ctl_port *cp);    /* -ENOTSUP: none is offered; -EAGAIN: after a start; others: its clock */
void stamps_missed(const struct ctl_port *cp, struct sbuf *out); /* what the device counts as not sent at its time, since the last clear */
double stamps_error_ns(const struct ctl_port *cp); /* INFINITY: not known */
void stamps_text(const struct ctl_port *cp, struct sbuf *out); /* who times arrivals, and why not the device */
json_t *stamps_clocks_json(const struct ctl *c);

/* pacing.c */
void pacing_follow(struct ctl *c, struct ctl_port *cp); /* asks the device where settings or rates changed; says what it refuses now */
json_t *value_json(const struct vtype *type, const void *value); /* info.c: as the prompt prints it */
json_t *pacing_json(const struct ctl *c);            /* of `show plan`: when frames of each port are to leave, and who sees to it */
void pacing_text(const struct ctl_port *cp, struct sbuf *out); /* "software", or who and why not another */

/* plan.c */
struct dp_plan *plan_build(struct ctl *c, unsigned worker, bool without_ports);
bool plan_post(struct ctl *c, struct ctl_worker *cw, struct dp_plan *p); /* takes p; false: the ring is full, p is still the caller's */
void plan_post_all(struct ctl *c);                 /* for dirty workers */
bool plan_waits(const struct ctl *c);              /* some port has a change that is in no plan yet */
void plan_reap(struct ctl *c);
bool plan_wait_acks(struct ctl *c, uint64_t max_ns); /* all plans are posted, and in use */
const struct ctl_worker *plan_behind(const struct ctl *c); /* one that does not use its newest plan; NULL: all do */

/* run.c, beside run.h */
static inline uint64_t grown(uint64_t now, uint64_t before) { return now > before ? now - before : 0; }
const struct work_witness *work_witness(void);     /* the one of the works that is; NULL: none */
void ctl_note(struct ctl *c, unsigned port, const char *fmt, ...) WR_PRINTF(3, 4);
void ctl_note_link(struct ctl *c, unsigned port, const char *fmt, ...) WR_PRINTF(3, 4); /* a change of its link */

/* stat.c */
int stat_init(struct ctl_port *cp);
void stat_free(struct ctl_port *cp);
/* Sums of our cells and the device's numbers since open, no baseline. */
void stat_dev(struct ctl_port *cp, struct snap_port *out);
void stat_queue(const struct ctl_port *cp, unsigned q, struct q_raw *out);
/* Counters as rows of uint64_t: a -= b. */
void cells_sub(void *a, const void *b, size_t bytes);
void link_look(struct ctl *c, struct ctl_port *cp);
/* The highest rates are those of full intervals and of whole runs, which may be shorter. */
void most_since(struct ctl_port *cp);                 /* what is received counts from now on */
void most_before(struct ctl *c);                      /* each turn: what comes before the runs begin is none of theirs */
void most_of_run(struct ctl *c, struct ctl_port *cp, const struct run_result *r); /* a run has ended */

/* stream_stat.c */
/* Frames of each cell that all queues have sent since open, [CTL_CELLS]; the caller frees. Exact when nothing is sending; of a queue that takes over
 * a plan for long, it is what was read last. */
struct cnt_stream *stream_cells(struct ctl_port *cp);
void stream_begins(struct ctl_port *cp, struct stream *s); /* its counters are 0 */
void streams_clear(struct ctl_port *cp);
void streams_tick(struct ctl_port *cp);
