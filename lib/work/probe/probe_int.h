/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "probe" inside control: receivers of probes. An arm is the taps of all Rx queues of the process with their tables, made for the
 * streams that send probes; plans hold references. One that has become too small is replaced while it works, and what it has counted is kept. */
#pragma once
#include "ctl_int.h"
#include "probe.h"
#include "probe_cfg.h"
#include "prx.h"
#include "prx_extra.h"
#include "prx_merge.h"

struct probe_tap {
	uint16_t port, queue;
	struct prx *prx;           /* aligned memory */
	uint64_t target_cycles;    /* gap that its frames are to have, 0: none */
	double target_ns;          /* the same as the rate says it, which is no whole number of cycles */
	const struct dp_clock *clock; /* of the device's stamps that count, NULL: none do */
};

struct probe_arm {
	unsigned refs;             /* of plans, and one of struct probes */
	struct prx_spec spec;
	uint8_t *latency;          /* spec.latency */
	uint32_t first[PROBE_PORTS]; /* of a port in it */
	unsigned ntaps;
	struct probe_tap *tap;
	size_t tap_bytes;          /* of each */
	size_t bytes, merge_most;  /* all that it may take; of that, what merging the flows of several queues does */
	uint64_t seq;              /* plans with a higher number have it */
	struct probe_merge *merge; /* of the flows that come in on several queues; NULL: there is one queue */
};

/* Counts of the flows of one stream, or of all of a port; they may be sums or differences, mod 2^64. */
struct flow_sum {
	uint64_t received;         /* with copies, without late and corrupted ones */
	uint64_t duplicate, late, reordered, corrupted;
	uint64_t extent_sum, extent_unknown;
	uint64_t crossed;          /* of received: copies that came in on another queue than the first one */
	uint64_t missed;           /* times that windows of several queues were not merged in time */
};
#define FLOW_SUM_ROWS (sizeof(struct flow_sum) / sizeof(uint64_t))

/* What is added to what the arms say now. */
struct flow_off {
	struct flow_sum sum;
	uint64_t extent_was;       /* the highest that was before the last clear, and still stands in an arm */
	uint64_t extent_past;      /* the highest since then, of arms that are gone */
	double jitter_cycles;      /* of arms that are gone, 0: none */
	unsigned nrxq;
	struct hist *past[2], *base[2]; /* of a stream, PRX_ACTUAL and PRX_INTENDED: what arms that are gone held; what there was at the last clear.
					 * NULL: nothing */
};

/* What came in on a port, whoever sent it. */
struct rx_sum {
	uint64_t probes, plain, damaged, foreign, early, stamped, unstamped, odd;
	uint64_t gaps, near_of, near[PRX_NEARS]; /* near_of: gaps since the target is what it is */
	struct { uint64_t windows, sum, sum_sq; } scale[PRX_SCALES];
};
#define RX_SUM_ROWS (sizeof(struct rx_sum) / sizeof(uint64_t))

struct probe_rx {
	struct rx_sum off;
	struct hist *past[3], *base[3]; /* by enum prx_hist; NULL: nothing */
	struct {
		struct flow_off port;  /* all cells together */
		uint32_t ncells;
		struct flow_off *cell;
	} from[PROBE_PORTS];
};

#define PROBE_RX_ALL CTL_MAX_PORTS /* what is of no single receiver: copies that came in on two ports */

struct probe_sampler {
	bool on;
	uint64_t *ns, n, num;      /* taken out so far, of so many */
	uint64_t over, lost_base;  /* beyond num; lost before it began */
	char file[VT_TEXT_MAX];
};

struct probes {
	struct probe_arm *now;     /* NULL: disarmed */
	struct probe_arm **old;    /* replaced ones that plans still use */
	unsigned nold, cap_old;
	struct probe_rx *rx[PROBE_RX_ALL + 1]; /* NULL: nothing is to be added */
	uint64_t sent_base[PROBE_PORTS]; /* of all cells */
	uint64_t *cell_base[PROBE_PORTS]; /* [CTL_CELLS] probes sent at the last clear; NULL: all 0 */
	uint64_t limit_bytes;
	uint64_t since_ns;         /* wall clock: of the first arming or the last clear */
	uint64_t awake_until_ns;   /* workers poll until then */
	bool awake;                /* as plans say */
	bool merging;              /* windows of several queues move */
	bool sampling;
	const char *why;           /* something is not exact since the last clear, NULL: everything is */
	uint64_t whys;             /* times that it was said since open */
	char said[sizeof(struct err)];
	struct prx_extra *extra[CTL_MAX_PORTS]; /* of each Rx queue; NULL: never asked for */
	struct probe_sampler sampler[CTL_MAX_PORTS];
	struct { uint64_t compared, above; } jitter_base[CTL_MAX_PORTS];
	struct probe_bias bias[PROBE_PORTS][CTL_MAX_PORTS][PROBE_CLOCKS];
};

extern const struct work work_probe;
static inline const struct probe_cfg *probe_cfg_of(const struct ctl_port *cp) { return work_cfg(&cp->p.cfg, &work_probe); }
static inline struct probes *probes_of(const struct ctl *ctl) { return work_ctl(ctl, &work_probe); }

/* probe.c: what its record in probe_work.c names; see work.h */
void probes_open(struct ctl *c);
void probes_close(struct ctl *c);
/* At a start, nothing is changed yet: tables for what these ports and those that send already will send. -ENOMEM: e says what it takes. */
int probes_arm(struct ctl *c, const struct portset *starting, struct err *e);
/* The port's settings have probes that the receivers have no tables for: they get some, and what the port sends changes when all have them. */
bool probes_wait(struct ctl *c, struct ctl_port *cp);
/* A run that is to start waits, and those that start with it: not all receivers look for its probes yet. */
bool probes_hold(const struct ctl *c);
void probes_targets(struct ctl *c);                /* gaps that senders' rates ask for may have changed */
bool probes_awake(const struct ctl *c);
void probes_turn(struct ctl *c);
uint64_t probes_next_ns(const struct ctl *c);
void probes_clear(struct ctl *c, const struct portset *ports);
struct probe_arm *probe_arm_ref(struct probe_arm *a);
void probe_arm_unref(struct probe_arm *a);
void probe_inexact(struct probes *p, const char *why); /* from here to the next clear; of a trial that goes on, too */
bool probes_wanted(const struct ctl_port *cp);       /* some enabled stream of its has probes */

/* probe_read.c */
/* From now on all that is known of it counts from 0. */
void probe_sender_begins(struct ctl *c, unsigned tx);
void probe_receiver_begins(struct ctl *c, unsigned rx);
struct flow_live {
	struct flow_sum sum;
	uint64_t extent_max;       /* UINT64_MAX: not known */
	double jitter_cycles;      /* the largest, NAN: none */
	unsigned nrxq;             /* Rx queues that have heard the same flow, at most */
	/* with several receivers: copies may lie on two of them, and only those among all ports or within one are counted */
	uint64_t all_crossed, out_crossed, outside; /* copies among all; within ports that are not asked; received there */
	bool unsure;               /* sum.crossed may lack some of them */
};
/* Arms and what is to be added. cell: -1: all of the port's. receivers: NULL: all. false: no table knows them. */
bool probe_total(struct ctl *c, unsigned tx, int cell, const struct portset *receivers, struct flow_live *out);
/* Counts alone. */
void probe_live_add(struct flow_live *to, const struct flow_live *from, bool subtract);
/* More than one of them can receive. */
bool probe_several(const struct ctl *c, const struct portset *receivers);
/* From the parts of a total, or of what it grew by: sum.crossed and unsure. */
void probe_cross(struct flow_live *l);
void probe_rx_total(struct ctl *c, unsigned rx, struct rx_sum *out);
uint64_t probe_sent(struct ctl *c, unsigned tx, int cell);
/* New, NULL: nothing is armed. */
struct hist *probe_port_hist(struct ctl *c, unsigned rx, enum prx_hist which);
struct hist *probe_cell_hist(struct ctl *c, unsigned tx, uint32_t cell, enum prx_hist which, const struct portset *receivers);
void probe_target_begins(struct ctl *c, unsigned rx);
/* What an arm holds is kept from here on, because it goes. */
void probe_fold(struct ctl *c, struct probe_arm *a);
void probe_past_free(struct probes *p);
/* Streams that came since the last look count from here on, whatever their cells had counted for others. */
void probe_cells_begin(struct ctl *c, struct ctl_port *cp);

extern const struct work_witness probe_witness;    /* probe_witness.c */

/* probe_json.c */
const char *probe_why(const struct flow_live *l); /* what its counts lack; NULL: nothing. Static */

/* probe_extra.c */
void probe_extras_follow(struct ctl *c);           /* taps do what settings and samplers ask for */
void probe_extras_free(struct probes *p);
bool probes_sample(struct ctl *c);                 /* take samples out of the rings; false: no sampler is on */
void probe_jitter(const struct ctl *c, unsigned port, uint64_t *compared, uint64_t *above);
void probe_jitter_begins(struct ctl *c, unsigned port);

/* probe_merge.c */
struct probe_merge;
struct probe_merge *probe_merge_new(const struct probe_arm *a, unsigned nports);
size_t probe_merge_most(const struct ctl *c, const struct prx_spec *s); /* bytes that merging may come to take */
size_t probe_merge_bytes(const struct probe_merge *m); /* that it has taken */
void probe_merge_free(struct probe_merge *m);
bool probe_merge_turn(struct probe_arm *a); /* false: nothing came on several queues since the last turn */
/* Adds sum.crossed and sum.missed, as it is now: of the queues of one port, or of all (rx -1). */
void probe_crossed(struct probe_arm *a, int rx, unsigned tx, int cell, struct flow_live *io);
