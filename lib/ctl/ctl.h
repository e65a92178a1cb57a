/* SPDX-License-Identifier: BSD-3-Clause */
/* Control: owns ports, settings, placement, plans and run life. The only face that commands, pages and scripts see of the
 * packet world; no DPDK in it. Everything here is called on the control thread. */
#pragma once
#include <jansson.h>
#include "cfg.h"
#include "place.h"
#include "snap.h"

struct ctl;
struct loop;

struct ctl_opts {
	const char *prog;
	const char *const *ports; unsigned nports;      /* -p specs; none and no EAL device option: one "wire" */
	const char *const *maps; unsigned nmaps;        /* -m */
	char *const *eal_args; unsigned neal_args;      /* user's EAL options, without program name */
	bool promiscuous;                               /* -P */
	bool take;                                      /* --take: xdp: on an interface with an address */
	uint64_t mbufs, txd, rxd, mtu;                  /* start values that memory depends on; 0: default */
};

/* Failure classes of ctl_open: -EINVAL usage (exit 2), -ENODEV environment lacks something (exit 3). */
int ctl_open(struct ctl **out, const struct ctl_opts *opts, struct err *e);
/* Stop all ports, workers, devices; remove what we attached to kernel interfaces; free. Bounded: well under 1 s. */
void ctl_close(struct ctl *);
/* Once per turn of the loop: build and post plans for touched ports, take events, free acknowledged plans. */
void ctl_turn(struct ctl *);
/* ns until ctl_turn has something to do by itself (UINT64_MAX: nothing), for the loop's timeout. */
uint64_t ctl_next_ns(const struct ctl *);
/* The 1 s statistics timer (rates, links). */
void ctl_tick(struct ctl *);

/* Descriptor that turns readable when workers have said something (a run has ended): then call ctl_events(). Who does not look at it learns of
 * it in a ctl_turn() of every ctl_next_ns(). */
int ctl_wake_fd(const struct ctl *);
void ctl_events(struct ctl *);

/* Descriptor that turns readable when an interface of the host changed (-1: none); then call ctl_links(). */
int ctl_link_fd(struct ctl *);
void ctl_links(struct ctl *);

unsigned ctl_nports(const struct ctl *);
const char *ctl_port_name(const struct ctl *, unsigned port);
/* PCI address of its device, with domain, NULL: none; *node: its NUMA node, -1 unknown. */
const char *ctl_port_bus(const struct ctl *, unsigned port, int *node);
/* Streams have ids 0 .. CTL_MAX_STREAMS - 1 that stay; a deleted one leaves a hole. ctl_nstreams: highest id + 1. ctl_stream_cfg: NULL for a hole. */
unsigned ctl_nstreams(const struct ctl *, unsigned port);
unsigned ctl_stream_total(const struct ctl *, unsigned port); /* without holes */
/* New streams with the settings of `like` (-1: the defaults, enabled) at ids id .. id + n - 1; id -1: the lowest free ones above the
 * highest. Returns the first id; refuses ids that are taken and more than there can be, with nothing changed. */
int ctl_stream_add(struct ctl *, unsigned port, int id, unsigned n, int like, struct err *e);
/* Remove; the last stream of a port cannot go. */
int ctl_stream_delete(struct ctl *, unsigned port, unsigned id, struct err *e);
/* Give a stream another, free id. */
int ctl_stream_move(struct ctl *, unsigned port, unsigned from, unsigned to, struct err *e);
/* Everything that settings say of all ports, to go back to: for a `load` that fails half-way. The caller frees. */
struct ctl_saved *ctl_save(struct ctl *);
void ctl_restore(struct ctl *, const struct ctl_saved *);
void ctl_saved_free(struct ctl_saved *);
struct port_cfg *ctl_port_cfg(struct ctl *, unsigned port);
struct stream_cfg *ctl_stream_cfg(struct ctl *, unsigned port, unsigned stream);
/* What of a port has changed: who does not depend on that does nothing. */
enum why {
	WHY_RATE = 1,      /* when frames leave */
	WHY_FRAMES = 2,    /* what is in them */
	WHY_ORDER = 4,     /* which streams are sent, and who of them how often */
	WHY_RUN = 8,       /* a run begins or ends */
	WHY_PORT = 16,     /* how it receives, and what only a start asks for */
	WHY_WORK = 32,     /* what a kind of work does beside */
	WHY_LINK = 64,     /* the speed of its link */
	WHY_ALL = 127,
	WHY_RESTART = 128, /* the device must be restarted with the new values (mtu, descriptors, pools) before the next start */
};
/* A setting of the port was written: plans are built at the end of this turn where they depend on it. */
void ctl_touch(struct ctl *, unsigned port, uint32_t why);
/* A setting of that stream (-1: of any) was written: with WHY_FRAMES its frames are made anew. */
void ctl_touch_stream(struct ctl *, unsigned port, int stream, uint32_t why);
/* A turn of a worker that takes longer is a stall (dp.h). */
void ctl_set_stall(struct ctl *, uint64_t ns);
/* Ask the device for the pacing that the port's settings say; what it refuses is in e (-ENOTSUP and others), and frames are paced by software. */
int ctl_pacing(struct ctl *, unsigned port, struct err *e);
/* 0: arrivals on the port are timed as its setting says; -ENOTSUP: it says nic, and e why our clock does it. */
int ctl_timestamps(struct ctl *, unsigned port, struct err *e);
void ctl_pacing_text(const struct ctl *, unsigned port, struct sbuf *out); /* who paces, and why nobody else does */
/* Apply a pending device restart now; names the failure. Refused (-EBUSY) while sending. */
int ctl_apply(struct ctl *, unsigned port, struct err *e);
void ctl_reset(struct ctl *, unsigned port); /* all settings back to defaults: one stream, 0 */
void ctl_port_defaults(const struct ctl *, struct port_cfg *out); /* what a reset gives: options like -P are in it */
bool ctl_sending(const struct ctl *, unsigned port);

/* Start all or none; one start time. duration_ns 0: by count or without bound. Refuses: sending ports, ports without Tx queue, frames that
 * cannot be built; e names port and the smallest change that helps. */
int ctl_start(struct ctl *, const struct portset *ports, uint64_t duration_ns, struct err *e);
void ctl_stop(struct ctl *, const struct portset *ports);
/* What will keep the port's frames from arriving although nothing refuses them: lines that name the port and what helps; often none. */
void ctl_reach_text(struct ctl *, unsigned port, struct sbuf *out);
bool ctl_bounded(const struct ctl *, unsigned port); /* the running start has a count or duration */
/* How far the ports have come with what they were started for. */
struct ctl_progress {
	bool sending;          /* some of them; else all others mean nothing */
	bool bounded;          /* each of those by a time or a count */
	double share;          /* of the one that is least far, 0 to 1 */
	uint64_t gone_ns;      /* since the first of them began */
	uint64_t left_ns;      /* until the last one ends, at the rate that it had so far; UINT64_MAX: not known */
	uint64_t all_ns;       /* the longest time for which one was started; 0: none was for a time */
	uint64_t sent, count;  /* frames of those that end by count; count 0: none does */
};
void ctl_progress(const struct ctl *, const struct portset *ports, struct ctl_progress *out);
/* `wait`: 1 when the ports stopped sending, their frames are accepted and no Rx counter of any port moved for 20 ms (at most 2 s after the last
 * frame), 0 not yet; -ETIMEDOUT when one of them has frames to send and its device took none for 10 s. Poll it each turn. */
int ctl_settled(struct ctl *, const struct portset *ports);
bool ctl_stuck(const struct ctl *, unsigned port); /* the port for which it gave up */
void ctl_clear(struct ctl *, const struct portset *ports); /* baselines of counters */

/* New snapshot, read now. Caller frees with snap_free() and free(). Exact when nothing is sending. */
struct snap *ctl_snapshot(struct ctl *);

/* Facts for show, as JSON trees (new references). */
const char *ctl_dpdk_version(void); /* "DPDK 22.11.11" */
json_t *ctl_ports_json(struct ctl *);   /* {"show":"ports","ports":[{"port","name","spec","driver","pci","link","speed_mbps","mac","mtu","node",
					 * "used","rx_queues","tx_queues","rxd","txd","mbufs","memory_bytes","offloads","rss","flow_control",
					 * "promiscuous","pacing": who paces, and why not another,"timestamps": who times arrivals,
					 * likewise,"notes":[..]}]} */
json_t *ctl_plan_json(struct ctl *);    /* what each worker runs now */
json_t *ctl_xstats_json(struct ctl *, const struct portset *ports);
/* {"show":"clock","hz","uncertainty_ppm","span_ns","confidence":"high|limited","moved_ppm" (last minute),"readings","rejected","restarts",
 * "constant_tsc","nonstop_tsc","tsc_reliable","clocksource","dpdk_hz","dpdk_off_ppm","control_cpu","skew_limit_ns",
 * "cpus":[{"lcore","cpu","state":"in step|off|reference|not checked","why" | "skew_ns","uncertainty_ns","rounds"}],"reasons":[..],
 * "devices": clocks of devices that are used,[{"port","name","hz","uncertainty_ppm","error_ns": since the last clear,"span_ns","readings","rejected",
 * "steps": it was set,"failed": times that it could not be read,"trouble": why it is not known now, or null,"rx","tx": stamps by it are used}]} */
json_t *ctl_clock_json(struct ctl *);
/* Some device whose sender has ended holds frames that are still to come out, or that it has not looked at. */
bool ctl_frames_inside(const struct ctl *);
const struct placement *ctl_placement(const struct ctl *);
const struct place_in *ctl_place_in(const struct ctl *);
/* {"show":"streams","streams":[{"port","stream","enabled","frame","size","weight","rate","count","varies":[names],"probe",
 * "tx":{"packets","bytes"},"pps","share","engine"}]}; counters since open or clear, exact when nothing is sending. */
json_t *ctl_streams_json(struct ctl *, const struct portset *ports);
/* The same of one port, at most n streams from id `first` on: {"streams":[..],"total":all of the port,"before":those with lower ids}. */
json_t *ctl_streams_part_json(struct ctl *, unsigned port, unsigned first, unsigned n);
/* What a stream says of its frames and their sizes, with Pktgen's ranges in it where they are in use. Deep copy: frame_spec_free(), after a
 * failure too (ranges that cannot be used; e says why). */
int ctl_stream_spec(struct ctl *, unsigned port, unsigned stream, struct frame_spec *spec, struct sizes *sizes, struct err *e);
/* The first frame that stream would send after a start (ordinal 0 at its first size), without FCS. */
int ctl_frame(struct ctl *, unsigned port, unsigned stream, struct frame *out, struct err *e);
/* The same as frame_dissect() gives it, and "port", "stream", "varies" and "follows": names of fields that change from frame to frame as they
 * were told to ("size" when sizes differ), and of checksums and lengths that change with them; "bytes" (of varies) and "follows_bytes": where
 * something of that changes, [[offset,length],..] in this frame. NULL with *e where no frame can be built. */
json_t *ctl_frame_json(struct ctl *, unsigned port, unsigned stream, struct err *e);
/* What the rates of the port and of its streams ask of the wire. min, max, mean: sizes of the frames, with FCS, the mean by what the rates give
 * each; is_max: as fast as possible, pps is then of the other streams; rates that
 * change with time count with their highest, in low_pps with their lowest; link_bps: what percent is of; nqueues: Tx queues that share it. -EINVAL
 * with text: no frame can be built. */
struct ctl_load { double pps, l1_bps, l2_bps, mean_size, low_pps; unsigned min_size, max_size, nqueues; bool is_max; double link_bps; };
int ctl_load(struct ctl *, unsigned port, struct ctl_load *out, struct err *e);
/* The same of one stream alone that exists, enabled or not: by its own rate, else by its turns in the port's (0 pps: it takes none). */
int ctl_stream_load(struct ctl *, unsigned port, unsigned stream, struct ctl_load *out, struct err *e);

/* Things that happened (link up/down, interface gone), in words for people. */
enum ctl_event_kind { CTL_EVENT_NOTE, CTL_EVENT_LINK };
struct ctl_event { enum ctl_event_kind kind; unsigned port; char text[512]; };
uint64_t ctl_run_id(const struct ctl *, unsigned port); /* of the port's last run, counted from 1 over all ports; 0: it never had one */
bool ctl_event_next(struct ctl *, struct ctl_event *out);
