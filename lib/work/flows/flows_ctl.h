/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the work flows that belong to control share. */
#pragma once
#include "flow.h"
#include "flows_face.h"
#include "flows_run.h"
#include "work.h"
#include "workload.h"

/* Different outer headers of a flow, and different ways back that a server learns. */
#define FLOWS_PATHS 65535

/* ---- what settings come to ---- */

/* The workload of a flow, and the contents of its messages. */
struct flows_load {
	const struct workload *wl;
	const void *conf; /* one of those below */
	const struct wl_content *content;
	uint16_t ncontent;
	/* Of all that have no heads: filling, and the files of requests and responses, where there
	 * are some. */
	struct wl_content plain[3];
	struct filebytes *request_file, *response_file; /* held; NULL: none */
	struct wl_bytes_conf bytes;
	struct wl_stream_conf stream;
	struct wl_dialog_conf dialog;
	struct wl_http *http;  /* NULL: it is none */
	struct flows_arm *arm; /* a reference; NULL: the flow is of no program's protocol */
	void *own;             /* of an arm's */
	void *const *owns;     /* the same, of each queue; NULL: own */
	bool buffered;
};

/* All that a version of a flow is made of: a function of the settings of its stream and its port,
 * and of nothing else. */
struct flows_design {
	bool client, udp, is6, verify, on_call, by_dst;
	bool endless; /* connections do not end by themselves */
	struct flow_path *path;
	uint16_t npath;
	/* The different layouts of the frames that come back on its paths, and the networks and
	 * tunnels of these; path_ident: which one each path has. */
	struct flows_shape *shape; /* [nshapes] */
	unsigned nshapes;
	struct flows_idents *idents;
	uint16_t *path_ident;
	/* On the port, when it has a place there: each one's number; and of a server with several
	 * paths which of them each number has, and 1. */
	uint16_t *ident, *path_of;
	uint32_t nidents;      /* of path_of */
	struct flow_back back; /* of a server's answers; none: MAC addresses alone */
	/* Of a client whose destinations have different MAC addresses: the kinds of destinations,
	 * which each client has paths to; to_mac: of each kind one for each of neach VLANs, by
	 * which clients differ. to NULL: there is one. */
	struct flow_servers *to;
	uint16_t *to_path, nto;
	uint64_t *to_mac;
	unsigned neach;
	struct flow_values remote, remote_port, local, local_port; /* with lists of their own */
	uint8_t local6[12], remote6[12];
	uint8_t nest[4];
	uint64_t start, ntuples;
	uint64_t most; /* open at once, all queues together */
	uint16_t mss;
	uint32_t window, window_most;
	enum flow_congestion congestion;
	uint64_t rto_ns, timewait_ns;
	uint8_t retries;
	bool sack;
	struct flows_load load;
	json_t *about;            /* of its headers, for people: flows_about() */
	uint64_t key, tuples_key; /* hashes of all but that, and of the tuples alone */
};
/* -EINVAL with *e: no flow can be made of the stream, and what would help. */
int flows_design_new(struct ctl *c, struct ctl_port *cp, const struct stream *s,
		     struct flows_design **out, struct err *e);
void flows_design_free(struct flows_design *d);

/* flows_tuple.c: the values of one field of tuples. */
struct flows_field {
	const struct proto *proto;
	const struct field *field;
	uint8_t nth;
};
/* flows_outer.c: headers before header `at` of a frame that was built, which is the innermost IP
 * header. What of them is different from frame to frame; -EINVAL with *e: flows cannot. */
int flows_outer_fixes(const struct frame *f, unsigned at, struct flow_fix fix[FLOW_FIXES],
		      unsigned *n, struct err *e);
/* By what frames like these bytes, which are laid out as f, are known. value: of the shape's bits
 * that tell networks apart. */
void flows_outer_shape(const struct frame *f, const uint8_t *bytes, unsigned at,
		       struct flows_shape *out, uint64_t value[FLOWS_SHAPE_WORDS]);
/* What answers like `sent` take over from frames like `came`. */
void flows_outer_back(const struct frame *came, const struct frame *sent, unsigned at,
		      struct flow_back *out);
/* Puts the values of answers in the place of the others, or takes them away. */
void flows_outer_turn(struct frame_vals *a, bool answers);
/* How a stream is named in a command that names its setting: "0" or "0/3". */
void flows_where(const struct ctl_port *cp, const struct stream *s, char out[24]);
/* Fills in tuples and their number. ip, l4: of the innermost headers. */
int flows_design_tuples(struct flows_design *d, const struct ctl_port *cp, const struct stream *s,
			const struct frame_spec *spec, const struct flows_field of[4],
			struct err *e);
/* flows_hops.c: fills in d->to and its like, and takes their MAC addresses out of the spec. remote:
 * the field of destinations. -EINVAL with *e: not all of them are known. */
int flows_design_hops(struct flows_design *d, const struct ctl_port *cp, const struct stream *s,
		      struct frame_spec *spec, const struct flows_field *remote, struct err *e);
/* Puts the MAC address of a client's next hop to a kind of destinations into a frame. */
void flows_hops_at(const struct flows_design *d, unsigned client, unsigned kind, uint8_t *frame);
uint64_t flows_values_hash(uint64_t h, const struct flow_values *v); /* adds them to a hash */
void flows_values_free(struct flow_values *v);                       /* its lists */
/* Of servers with weights: how many sources so many connections at once need. */
uint64_t flows_weights_need(const struct flows_design *d, uint64_t connections);
/* flows_load.c: fills in d->load. */
int flows_design_load(struct flows_design *d, struct ctl *c, const struct ctl_port *cp,
		      const struct stream *s, struct err *e);
void flows_load_free(struct flows_load *l);
/* Adds to a hash what the workload is made of. */
uint64_t flows_load_hash(uint64_t h, const struct stream_cfg *cfg);
/* How many cells the workloads of its connections have on each of so many queues, if as many are
 * open as may be. */
uint64_t flows_records(const struct flows_design *d, unsigned nqueues);

/* ---- what lives on workers ---- */

/* A set of tuples, one for each queue's machine; versions with the same tuples share it. */
struct flows_set {
	struct flows_set *next;
	unsigned refs;
	uint64_t key;
	struct flow_tuples **tuples; /* [nqueues] */
};

/* To which of several queues the answers of a client's tuples come, and so whose they are.
 * hand: nobody can tell, or a queue would have none: why says why, the worker of the queue that
 * flows_owner() says has them, and those who receive them hand them over to it. Else steer says it,
 * and NULL: each queue has those of what it sends itself. All zero for servers. */
struct flows_steering {
	struct flows_steer *steer;
	bool hand;
	char why[320];
};

/* Counters of the servers of a flow, one by one, for those of its versions that have the same ones.
 * It lives as long as its flow, which has the newest first. */
struct flows_tally {
	struct flows_tally *next;
	unsigned refs; /* of versions */
	unsigned nqueues;
	uint64_t key;
	struct flow_servers *servers;
	uint32_t n;
	bool is6;
	uint8_t prefix6[12];
	uint32_t *weight;                   /* [n] */
	struct flow_server_counts **counts; /* [nqueues]: of each n + 1 */
	struct flow_server_counts *base;    /* [n + 1], at the last clear; NULL: there was none */
};

struct flows_one;
/* A version, and what it is made of. */
struct flows_ver {
	struct flows_version v; /* v.refs: of the flow, and of plans */
	struct flows_ver *next;
	struct flows_engine *engine;
	struct flows_one *one;
	struct flows_design *design;
	struct flows_set *set;
	struct flows_tally *tally; /* NULL: it does not count by servers */
	struct flows_wl {
		WR_ALIGNED(CACHE_LINE) struct wl_flow wl; /* its worker writes, too */
	} * wl;                                           /* [nqueues] */
	struct flows_steering how;
	struct flows_mine {
		uint16_t queue, nqueues;
		const struct flows_steer *steer;
	} * mine; /* [nqueues] */
};

/* The machines of a port. A start that needs larger ones makes new ones. */
struct flows_engine {
	struct flows_engine *older; /* of flows_port.old */
	struct flows_port *of;
	unsigned refs; /* of the port, and of plans */
	unsigned nqueues;
	uint32_t capacity; /* connections of each machine */
	uint64_t sure;     /* connections that were asked for */
	uint64_t records;  /* cells of workloads of each machine */
	bool is6;
	bool buffers; /* there can be buffered connections */
	struct flows_queue {
		struct flows_state *state;
		struct flow_machine *machine;
		int node; /* of its worker */
	} * queue;
	struct flows_errors **errors; /* [nqueues]; NULL: there is one queue */
	struct flows_hand **hand;     /* [nqueues]; NULL: no version hands over */
	WR_ALIGNED(CACHE_LINE) uint64_t base_tsc, ns_mult, cycles_mult;
	struct flows_shape shape[FLOWS_SHAPES];
	unsigned nshapes;
	struct flows_idents *idents;
	struct flows_ver *ver; /* all that live */
	struct flows_set *set;
};

/* A rate as it is followed. */
struct flows_rate {
	struct rate set;
	struct arrival arrival;
	bool off, max, shaped;
	uint64_t epoch, start_tsc;
	double per_s; /* of the end of a ramp */
	struct pace_period period;
	struct pace_shape shape;
};

/* Counters of a flow: sums over queues. */
struct flows_sum {
	struct flow_counts flow;
	struct wl_counts wl;
	struct wl_http_counts http;
	struct wl_numbers numbers;
};
enum { FLOWS_CONNECT, FLOWS_FIRST, FLOWS_WHOLE, FLOWS_DUE, FLOWS_CLOSE, FLOWS_HISTS };
#define FLOWS_HIST ((struct hist_shape){.bits = 7, .top = 40})

/* Counters of workloads. Those of http begin its own memory, whose rest follows: only the worker
 * knows of it. */
struct flows_own_counts {
	struct wl_numbers numbers;
	WR_ALIGNED(CACHE_LINE) struct wl_http_counts http;
};

/* A flow: it begins at its stream's first start, and lives as long as the port is open or a part of
 * it is in use. */
struct flows_one {
	struct flows_one *next;
	unsigned refs; /* of plans, and of versions */
	uint32_t cell;
	uint64_t serial; /* of its stream: a cell may be another's a moment later */
	unsigned id;
	bool client, gone; /* gone: the stream was deleted */
	unsigned nqueues;
	struct flows_state_of **state; /* [nqueues] */
	struct flows_own_counts **own; /* [nqueues] */
	int *node;                     /* [nqueues]: of their workers */
	struct flows_tally *tally;
	struct flow_server_counts
		earlier;            /* of tallies that are kept no more, since the last clear */
	struct flows_ver *ver;      /* the newest; NULL: none since the machines were made */
	struct flows_ver *next_ver; /* of a start that is not certain yet */
	bool in_run;                /* of the port's run */
	bool stopping;              /* no more opens, or nobody is answered any more */
	uint64_t opens;             /* UINT64_MAX: no bound */
	uint64_t end_tsc, drain_ns, grace_ns;
	struct flows_dead_value dead; /* of a client: none */
	bool trusts;                  /* `flow.sums trust` */
	struct flows_rate cps, tps;
	/* Of a run that has a rate of its own (flows_calls.c): what it is of, this flow's share of
	 * it, and how connections were to end when it began. hold: transactions have not begun
	 * yet, since connections are being opened for them: the most that were open at once, and
	 * since when there have been so many (0: not looked yet). */
	bool on_call, hold;
	uint64_t hold_open, hold_tsc;
	double share;
	struct flows_close_value close;
	uint64_t run; /* the last one that it was in */
	char *said;   /* why the newest settings are not in use; NULL: they are */
	/* at the last clear, at the last second */
	struct flows_sum base, prev;
	struct hist *hist_base[FLOWS_HISTS]; /* NULL: never cleared */
	double cps_now, tps_now, tx_bps, rx_bps;
	/* when such a run began */
	struct flows_sum run_base;
	struct hist *run_hist[FLOWS_HISTS];
};

/* Frames for flows that belong to none of their connections, and what came of them. */
struct flows_strays {
	uint64_t fragments; /* first ones, which flows have claimed */
	uint64_t pieces;    /* further ones, which they have not */
	uint64_t malformed, bad_checksum, no_match, rst_sent;
	uint64_t other_queue; /* of connections of other queues, by what the device says */
	uint64_t dead;        /* to servers that are dead */
	uint64_t dead_sent;   /* and those that they would have sent */
};

struct flows_port {
	struct ctl *c;
	unsigned nqueues; /* whose Rx and Tx are one worker's; 0: flows are not possible */
	struct dp_txq **share;
	/* Frames of each size that machines of before had sent, and what they had claimed. */
	struct cnt_sizes *sizes_before;
	struct cnt_claimed claimed_before;
	struct flows_strays strays_before, strays_base; /* base: at the last clear */
	/* Frames that the device has dealt in another way than it says, in runs that have ended:
	 * nothing is chosen by its hash until that is set again. seen: those that have been noticed
	 * so far; rss_set: how often it had been set. */
	uint64_t other_queue, other_queue_seen;
	unsigned rss_set;
	struct flows_hand_counts *handed, *handed_base; /* [nqueues]; base: at the last clear */
	struct flows_engine *engine;                    /* NULL: nothing was started yet */
	struct flows_engine *next;                      /* of a start that is not certain yet */
	struct flows_engine *old; /* not in use by the port any more, but maybe by plans */
	struct flows_one *first;
	uint64_t listens; /* how often another version of a flow has come into use */
	uint64_t base_sent, base_bytes, base_dropped; /* of the shares when the run began */
	uint64_t began_ns;                            /* when it was asked for, of clock_raw_ns() */
	uint64_t prev_ns;
	struct flows_request *request; /* the newest; NULL: nobody has asked */
	struct flows_arm *arm;         /* NULL: no program's protocol runs on the port */
};

/* Samples that somebody has asked for. */
struct flows_request {
	unsigned refs; /* of the port, and of plans */
	unsigned nqueues, wanted;
	struct flows_samples *queue; /* [nqueues] */
};

extern const struct work work_flows;
extern const struct work_run flows_run;
/* Of struct work. */
bool flows_holds(const struct ctl *c);
extern const struct work_calls flows_calls;

static inline const struct flows_cfg *flows_cfg_of(const struct stream_cfg *cfg)
{
	return work_stream_cfg(cfg, &work_flows);
}
static inline struct flows_port *flows_of(const struct ctl_port *cp)
{
	return work_port(cp, &work_flows);
}
static inline bool flows_is_on(const struct stream *s)
{
	return s != NULL && s->cfg.enabled && flows_cfg_of(&s->cfg)->role != FLOWS_OFF;
}
/* What one of n queues gets of a number that is dealt to all. */
static inline uint64_t flows_dealt(uint64_t number, unsigned queue, unsigned n)
{
	return number == UINT64_MAX ? number : number / n + (queue < number % n);
}

/* flows_ctl.c: what a queue has handed over since the port was opened. */
struct flows_hand_counts flows_handed(const struct flows_port *p, unsigned queue);

/* flows_counts.c: adds what the machines of an engine have of them; of all of a port. */
void flows_strays_add(const struct flows_engine *x, struct flows_strays *sum);
struct flows_strays flows_strays(const struct flows_port *p);

/* ---- flows_engine.c ---- */

/* What the machines of a port are to have room for: connections of all ports, and flows_records()
 * of this one's flows. `sure` of the connections have been asked for: their memory is there from
 * the start, and of a port that `serves` that by which they are found. */
struct flows_room {
	uint64_t most, sure, records;
	bool serves, is6;
};
struct flows_engine *flows_engine_new(struct ctl *c, const struct ctl_port *cp,
				      const struct flows_room *room, struct err *e);
/* Gives back a reference; NULL is allowed. */
void flows_engine_unref(struct flows_port *p, struct flows_engine *x);
/* Takes d and what *how has; after a failure they are still the caller's. */
struct flows_ver *flows_ver_new(struct flows_engine *x, struct flows_one *one,
				struct flows_design *d, const struct flows_steering *how,
				struct err *e);
/* Frees versions, sets and flows that nobody uses any more. */
void flows_reap(struct flows_port *p);

/* ---- flows_idents.c ---- */

/* The place of a key, which gets one if it has none. FLOWS_IDENTS: there is no room. */
unsigned flows_idents_add(struct flows_idents *t, unsigned shape, const uint64_t *value,
			  unsigned nids);
/* Whether the engine has room for the networks of n designs, of which some may be NULL. It keeps
 * all that it ever had. */
bool flows_engine_fits(const struct flows_engine *x, struct flows_design *const *d, unsigned n);
/* Gives the networks of a design, and with them its paths, their numbers. -EINVAL with *e: there is
 * no room. */
int flows_engine_idents(struct flows_engine *x, struct flows_design *d, const struct flows_one *f,
			struct err *e);

/* ---- flows_steer.c ---- */

/* Before a start: a hash that has been set since the last one is believed again. */
void flows_steer_begin(struct ctl_port *cp);
/* free() out->steer. */
void flows_steer_new(struct ctl *c, struct ctl_port *cp, const struct flows_design *d,
		     struct flows_steering *out);
/* The same by what is known of the device that steers: that of port `by`, which is `port` or the
 * other end of its wire. */
struct rss_to;
void flows_steer_by(const struct flows_design *d, const struct rss_to *to, unsigned port,
		    unsigned nqueues, unsigned by, struct flows_steering *out);
bool flows_steer_same(const struct flows_steering *a, const struct flows_steering *b);
/* A pure function; any thread. */
unsigned flows_steer_queue(const struct flows_steer *s, const struct flow_tuple *t);

/* ---- flows_one.c ---- */

struct flows_one *flows_one_of(struct flows_port *p, const struct stream *s);
struct flows_one *flows_one_new(struct ctl *c, const struct ctl_port *cp, const struct stream *s);
void flows_one_free(struct flows_one *f);
/* A client that comes to an end by its count: all connections end by themselves, and none is opened
 * or used for transactions that others start. */
bool flows_one_ends(const struct flows_one *f);
void flows_one_sum(const struct flows_one *f, struct flows_sum *sum);
/* On how many queues its run has come so far; DONE if it is in none. */
enum flows_stage flows_one_stage(const struct flows_one *f, uint64_t run);
struct hist *flows_one_hist(const struct flows_one *f, unsigned which); /* since the last clear */
/* Sets the rates that the settings ask for. */
void flows_rates(const struct ctl_port *cp, struct flows_one *f, const struct stream *s);
void flows_rates_arm(const struct ctl_port *cp, struct flows_one *f);
/* Whether a rate of the port's run is on its way to another one. */
bool flows_ramps(const struct ctl_port *cp, const struct flows_rate *r);
void flows_one_clear(struct flows_one *f);
/* A run with a rate of its own begins, and what such a run has counted so far. Histograms that are
 * NULL are made. */
void flows_one_run_begin(struct flows_one *f);
void flows_one_run_sum(const struct flows_one *f, struct flows_sum *sum);
void flows_one_run_add(const struct flows_one *f, struct flows_sum *sum,
		       struct hist *h[FLOWS_HISTS]);
/* Transactions that were on hold begin at start_tsc. */
void flows_unhold(const struct ctl_port *cp, struct flows_one *f, uint64_t start_tsc);
void flows_one_tick(struct flows_one *f, double seconds);

/* Lets go of the version. */
void flows_one_drop(struct flows_one *f);

/* ---- flows_tally.c ---- */

/* -EINVAL with *e: the flow has more servers than are counted one by one. */
int flows_tally_check(const struct flows_design *d, const struct ctl_port *cp,
		      const struct stream *s, struct err *e);
/* That of the servers of a design, with a reference; NULL: there is no memory. */
struct flows_tally *flows_tally_of(struct flows_one *f, const struct flows_design *d);
void flows_tally_clear(struct flows_one *f);
void flows_tally_free(struct flows_one *f);
/* What server i has counted since the last clear, n: what is none of them. */
void flows_tally_sum(const struct flows_tally *t, uint32_t i, struct flow_server_counts *out);
void flows_tally_add(struct flow_server_counts *to, const struct flow_server_counts *from);
/* Where the server i of `of` is in t; t->n: nowhere. */
uint32_t flows_tally_find(const struct flows_tally *t, const struct flows_tally *of, uint32_t i);

/* ---- flows_live.c ---- */

/* Settings may have changed: flows in runs follow. */
void flows_follow(struct ctl *c, struct ctl_port *cp);
/* Servers end when the clients that were started with them have ended. */
void flows_follow_ends(struct ctl *c);
/* Whether clients were started together with this port; and whether some go on; and whether these
 * all end by themselves. */
struct flows_clients {
	bool any, on, ending, bounded;
};
void flows_clients(const struct ctl *c, const struct ctl_port *cp, struct flows_clients *out);

/* ---- flows_calls.c ---- */

/* The client's part of what all enabled clients of the port begin per second. */
double flows_share(const struct ctl_port *cp, const struct flows_cfg *cfg);
/* Transactions that hold begin as soon as their connections are there. */
void flows_hold_follow(struct ctl *c);

/* ---- flows_arm_ctl.c ---- */

/* Whether a stream is that of an arm. */
bool flows_arm_has(const struct ctl_port *cp, const struct stream *s);
/* The load of a stream that is an arm's. false: it is none's. */
bool flows_arm_load(struct flows_design *d, const struct ctl_port *cp, const struct stream *s);
void flows_arm_unref(struct flows_arm *a);
uint64_t flows_arm_hash(uint64_t h, const struct flows_arm *a);
/* For the plan of the port's queue, with a reference; NULL: there is none, or it has not begun. */
struct flows_arm_job *flows_arm_job(const struct flows_port *p, unsigned q, struct plan_writer *w);

/* ---- flows_about.c ---- */

/* The stack, what varies in it and what is another value in answers. spec: without the values that
 * tuples have. */
json_t *flows_about(const struct frame_spec *spec);
/* Adds the headers of all flows that have been started. */
void flows_plan_json(const struct ctl *c, json_t *doc);

/* ---- flows_json.c ---- */

/* Of a flow that counts by its servers, what `show flows by dst` tells of it, but for servers
 * beyond so many; null of others. */
#define FLOWS_SERVERS_SHOWN 64
json_t *flows_one_by_dst_json(const struct ctl_port *cp, const struct flows_one *f);
/* What became of the connections of a server, as it is told of those of a flow. */
json_t *flows_server_fates_json(const struct flow_server_counts *of);
/* Adds the counters, and the latencies of histograms. */
void flows_numbers_json(json_t *o, const struct flows_sum *k, struct hist *const h[FLOWS_HISTS]);

/* ---- flows_fill.c ---- */

void flows_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *w);
/* The port's workers get new plans. */
void flows_replan(struct ctl *c, const struct ctl_port *cp);
/* Whether plans have tasks for the port. */
bool flows_has_tasks(const struct ctl_port *cp);
json_t *flows_task_json(const struct ctl *c, const struct dp_task *task, const void *about);

/* ---- flows_samples.c ---- */

void flows_request_unref(struct flows_request *r);
json_t *flows_address_json(const struct flow_addr *a, bool is6);
