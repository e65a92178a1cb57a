/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "probe" inside control: receivers of probes. An arm is a set of taps, one for each Rx
 * queue of the process, with tables for the streams that send probes. Plans hold references to it.
 * An arm that has become too small is replaced while it works, and what it has counted is kept.
 * A stream is named here by its cell, the number that it keeps when its id changes; cell -1 means
 * all streams of a port. tx is the number of a port that sends probes, rx that of a port on which
 * they come in. Control thread only. */
#pragma once
#include "work.h"
#include "probe.h"
#include "probe_cfg.h"
#include "prx.h"
#include "prx_extra.h"
#include "prx_merge.h"

struct probe_tap {
	uint16_t port, queue;
	struct prx *prx;              /* memory aligned to a page */
	uint64_t target_cycles;       /* the gap that its frames are to have; 0: none */
	double target_ns;             /* the same gap as the rate says it, not in whole cycles */
	const struct dp_clock *clock; /* for the device's time stamps; NULL: they are not used */
};

struct probe_arm {
	unsigned refs; /* one for each plan, and one for struct probes */
	struct prx_spec spec;
	uint8_t *latency;            /* spec.latency */
	uint8_t *quotes;             /* spec.quotes */
	uint64_t *quoted;            /* spec.quoted */
	uint32_t first[PROBE_PORTS]; /* index of a port's first stream in these */
	unsigned ntaps;
	struct probe_tap *tap; /* in the order of their ports */
	size_t tap_bytes;      /* memory of each tap */
	/* `bytes` is the most memory that the arm may take; `merge_most` is the part of it that
	 * finding copies on several queues may take. */
	size_t bytes, merge_most;
	uint64_t seq;              /* plans with a higher number have this arm */
	struct probe_merge *merge; /* finds copies on several queues; NULL: there is one queue */
};

/* Counts of the flows of one stream, or of all flows of a port. They may be sums or differences,
 * mod 2^64. */
struct flow_sum {
	uint64_t received; /* probes, copies included, but no late or corrupted ones */
	uint64_t duplicate, late, reordered, corrupted;
	uint64_t extent_sum, extent_unknown;
	uint64_t crossed; /* copies among `received` that came in on two queues */
	uint64_t missed;  /* how often windows of several queues were not merged in time */
};
#define FLOW_SUM_ROWS (sizeof(struct flow_sum) / sizeof(uint64_t))

/* What has to be added to what the arms say now: the counts of arms that are gone, less what there
 * was at the last clear. */
struct flow_off {
	struct flow_sum sum;
	/* extent_was: the highest extent before the last clear, which still stands in an arm.
	 * extent_past: the highest extent since then, in arms that are gone. */
	uint64_t extent_was;
	uint64_t extent_past;
	double jitter_cycles; /* of arms that are gone; 0: none */
	unsigned nrxq;        /* of arms that are gone, see struct flow_live */
	/* Histograms of one stream, PRX_ACTUAL and PRX_INTENDED. past: what arms that are gone
	 * held. base: what there was at the last clear. NULL: nothing. */
	struct hist *past[2], *base[2];
};

/* What came in on a port, whoever sent it. */
struct rx_sum {
	uint64_t probes, plain, damaged, foreign, early, stamped, unstamped, odd;
	/* gaps: all of them. near_of: those since the target last changed; near counts these. */
	uint64_t gaps, near_of, near[PRX_NEARS];
	struct {
		uint64_t windows, sum, sum_sq;
	} scale[PRX_SCALES];
};
#define RX_SUM_ROWS (sizeof(struct rx_sum) / sizeof(uint64_t))

/* What has to be added to what the arms say now of one receiving port: for all that came in
 * (`off`, and histograms as in struct flow_off), and for the flows of each sending port. */
struct probe_rx {
	struct rx_sum off;
	struct hist *past[3], *base[3]; /* by enum prx_hist; NULL: nothing */
	struct {
		struct flow_off port; /* for all streams of the port together */
		uint32_t ncells;
		struct flow_off *cell; /* for each stream, by its cell */
	} from[PROBE_PORTS];
};

/* The index in probes.rx[] of what belongs to no single receiving port: copies that came in on two
 * ports. */
#define PROBE_RX_ALL CTL_MAX_PORTS

struct probe_sampler {
	bool on;
	uint64_t *ns, n, num;     /* the n latencies taken so far, of num that are asked for */
	uint64_t over, lost_base; /* latencies beyond num; lost ones before the sampler began */
	char file[VT_TEXT_MAX];
};

struct probes {
	struct probe_arm *now;  /* NULL: disarmed */
	struct probe_arm **old; /* arms that were replaced and that plans still use */
	unsigned nold, cap_old;
	struct probe_rx *rx[PROBE_RX_ALL + 1]; /* NULL: nothing has to be added */
	/* Probes sent up to the last clear: by all streams of a port, and by the stream of each
	 * cell, [CTL_CELLS]; NULL: all are 0. */
	uint64_t sent_base[PROBE_PORTS];
	uint64_t *cell_base[PROBE_PORTS];
	uint64_t limit_bytes;    /* the setting `probes.memory` */
	uint64_t since_ns;       /* wall clock at the first arming or the last clear */
	uint64_t awake_until_ns; /* workers that receive do not sleep before */
	bool awake;              /* plans say that workers do not sleep */
	bool merging;            /* windows of several queues were moving in the last turn */
	bool sampling;
	/* Of each sender: what is not exact since its last clear, NULL: all is exact; how often
	 * probe_inexact() was called for it since open. */
	struct probe_doubt {
		const char *text;
		uint64_t times;
	} doubt[CTL_MAX_PORTS];
	char said[sizeof(struct err)]; /* the last note about a lack of memory, not to repeat it */
	struct prx_extra *extra[CTL_MAX_PORTS]; /* [port][Rx queue]; NULL: was never asked for */
	struct probe_sampler sampler[CTL_MAX_PORTS];
	struct {
		uint64_t compared, above;
	} jitter_base[CTL_MAX_PORTS];                                     /* at the last clear */
	struct probe_bias bias[PROBE_PORTS][CTL_MAX_PORTS][PROBE_CLOCKS]; /* [tx][rx][clock] */
};

extern const struct work work_probe;
static inline const struct probe_cfg *probe_cfg_of(const struct ctl_port *cp)
{
	return work_cfg(&cp->cfg, &work_probe);
}
static inline struct probes *probes_of(const struct ctl *ctl)
{
	return work_ctl(ctl, &work_probe);
}

/* probe_arm.c has the functions that the record in probe_ctl.c names; work.h says when each of them
 * is called. */
void probes_open(struct ctl *c);
void probes_close(struct ctl *c);
/* At a start, before anything is changed: gives receivers tables for the probes of these ports and
 * of those that send already. If no port has probes the receivers are disarmed. Returns 0 or
 * -errno, and *e says why; -ENOMEM: *e says how much memory it takes. */
int probes_arm(struct ctl *c, const struct portset *starting, struct err *e);
/* While a port sends: if its settings now have probes for which the receivers have no tables, they
 * get some. Returns true if what the port sends has to wait, because not all receivers use them
 * yet. If there is no memory for them, a note says so and nothing has to wait. */
bool probes_wait(struct ctl *c, struct ctl_port *cp);
/* Do runs that are to start have to wait, because not all receivers look yet for the probes of one
 * of them? Then all of them wait. */
bool probes_hold(const struct ctl *c);
/* The gaps that the rates of senders ask for may have changed: receivers compare with the new
 * ones. */
void probes_targets(struct ctl *c);
bool probes_awake(const struct ctl *c);
void probes_turn(struct ctl *c);
uint64_t probes_next_ns(const struct ctl *c);
void probes_clear(struct ctl *c, const struct portset *ports);
void probes_faults_to(struct ctl *c, unsigned port, unsigned queue, const struct dp_watcher *w);
bool probes_faults_told(const struct ctl *c);
struct probe_arm *probe_arm_ref(struct probe_arm *a);
void probe_arm_unref(struct probe_arm *a);
/* Something of what port tx has sent is not exact from here to its next clear, nor in a trial that
 * goes on now. `why` says what, in words; static. */
void probe_inexact(struct probes *p, unsigned tx, const char *why);
/* Does some enabled stream of the port have probes, or does the port send some? */
bool probes_wanted(const struct ctl_port *cp);

/* probe_read.c */
/* From now on, everything that is known of the probes of this sender, or of what came in on this
 * receiver, counts from 0. */
void probe_sender_begins(struct ctl *c, unsigned tx);
void probe_receiver_begins(struct ctl *c, unsigned rx);
struct flow_live {
	struct flow_sum sum;
	uint64_t extent_max;  /* UINT64_MAX: not known */
	double jitter_cycles; /* the largest; NAN: none */
	unsigned nrxq;        /* the most Rx queues on which one flow came in */
	/* Where several receivers are asked for: a frame may have come in on two of them. Such
	 * copies are counted only among all ports together, and within each single port.
	 * all_crossed: copies among all ports. out_crossed: copies within ports that were not
	 * asked for. outside: probes received on those ports. */
	uint64_t all_crossed, out_crossed, outside;
	bool unsure; /* sum.crossed may lack some copies on two of the receivers */
};
/* The counts of a stream, or of a port (cell -1), since the last clear: what all arms say, with
 * what has to be added. receivers: only what came in there; NULL: anywhere. Returns false if
 * nothing came in and no arm has tables for it. */
bool probe_total(struct ctl *c, unsigned tx, int cell, const struct portset *receivers,
		 struct flow_live *out);
/* Adds or subtracts the counts, and no other members. */
void probe_live_add(struct flow_live *to, const struct flow_live *from, bool subtract);
/* Do more than one of these ports have Rx queues? */
bool probe_several(const struct ctl *c, const struct portset *receivers);
/* Works out sum.crossed and `unsure` for several receivers, from the other counts of a total or of
 * the difference of two totals. */
void probe_cross(struct flow_live *l);
/* What came in on the port since the last clear. */
void probe_rx_total(struct ctl *c, unsigned rx, struct rx_sum *out);
/* How many probes were sent since the last clear. */
uint64_t probe_sent(struct ctl *c, unsigned tx, int cell);
/* Histograms since the last clear. They are new, the caller frees them with free(). NULL: there is
 * none. */
struct hist *probe_port_hist(struct ctl *c, unsigned rx, enum prx_hist which);
struct hist *probe_cell_hist(struct ctl *c, unsigned tx, uint32_t cell, enum prx_hist which,
			     const struct portset *receivers);
/* From now on, gaps of this receiver are compared with a new target. */
void probe_target_begins(struct ctl *c, unsigned rx);
/* An arm is about to go: what it holds is kept in what has to be added. */
void probe_fold(struct ctl *c, struct probe_arm *a);
void probe_past_free(struct probes *p);
/* Streams that the port got since the last call count from here on, whatever was counted in their
 * cells for other streams before. */
void probe_cells_begin(struct ctl *c, struct ctl_port *cp);

extern const struct work_witness probe_witness; /* probe_witness.c */

/* probe_json.c */
/* What these counts lack, in words; static. NULL: nothing. */
const char *probe_why(const struct flow_live *l);

/* probe_extra.c */
/* Makes taps do what the settings and the samplers of ports ask for. */
void probe_extras_follow(struct ctl *c);
void probe_extras_free(struct probes *p);
/* Takes samples out of the rings. Returns false if no sampler is on. */
bool probes_sample(struct ctl *c);
/* How many latencies were compared with the one before since the last clear, and how many of them
 * differed by more than the setting `jitter`. */
void probe_jitter(const struct ctl *c, unsigned port, uint64_t *compared, uint64_t *above);
void probe_jitter_begins(struct ctl *c, unsigned port); /* they count from now on */

/* probe_merge.c */
struct probe_merge;
struct probe_merge *probe_merge_new(const struct probe_arm *a, unsigned nports);
/* The most bytes that merging may come to take, and the bytes that it has taken. */
size_t probe_merge_most(const struct ctl *c, const struct prx_spec *s);
size_t probe_merge_bytes(const struct probe_merge *m);
void probe_merge_free(struct probe_merge *m);
/* Merges windows for a while. Returns false if nothing came in on several queues since the last
 * turn. */
bool probe_merge_turn(struct probe_arm *a);
/* Adds to sum.crossed and sum.missed the copies on the queues of one port, or of all ports
 * (rx -1), as of now. */
void probe_crossed(struct probe_arm *a, int rx, unsigned tx, int cell, struct flow_live *io);
