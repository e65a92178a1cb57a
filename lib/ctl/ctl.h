/* SPDX-License-Identifier: BSD-3-Clause */
/* Control owns the ports, their settings, the placement, the plans of the workers and the life of
 * runs. This header is all that commands, pages and scripts see of the packet world: there is no
 * DPDK in it. Everything here is called on the control thread. */
#pragma once
#include <jansson.h>
#include "cfg.h"
#include "place.h"
#include "snap.h"

struct ctl;
struct work;

struct ctl_opts {
	const char *prog;
	/* What errors advise, as the program calls its options: what makes ports take less memory
	 * ("smaller --mbufs or --txd"), and what keeps all that EAL says ("-l FILE"). NULL: it has
	 * no such option. */
	const char *less, *log;
	const char *const *ports;
	unsigned nports; /* -p, or none, see ctl_open() */
	const char *const *maps;
	unsigned nmaps; /* -m */
	/* Without maps: the map that somebody would like, NULL: nobody. It is used if it names Rx
	 * and Tx of all ports, and if its lcores and queues are there. */
	const char *hint;
	/* user's EAL options, without program name */
	char *const *eal_args;
	unsigned neal_args;
	bool promiscuous; /* -P */
	bool take;        /* --take: xdp: with an address, too */
	bool small_pages; /* no hugepages, unless the EAL options say so: see ctl_open() */
	/* start values that memory depends on; 0: default */
	uint64_t mbufs, txd, rxd, mtu;
};

/* Opens the devices and starts the workers. Devices of EAL's options come behind those of
 * opts->ports; without either one wire is opened. Failures are of two classes, and e says why:
 * -EINVAL for a mistake in the options (exit status 2), -ENODEV where the environment lacks
 * something (exit status 3). A third one, -EAGAIN, comes only without small_pages: hugepages that
 * were free could not be used. EAL cannot be started twice in a process; a new process with
 * small_pages does without them. After a failure *out is not set. */
int ctl_open(struct ctl **out, const struct ctl_opts *opts, struct err *e);
/* Stops all ports, workers and devices, removes what we attached to kernel interfaces, and frees
 * control; NULL is allowed. Its wait for workers is bounded (workers_stop()). If a worker does not
 * answer, devices and memory are left as they are, and only what we attached to the kernel goes. */
void ctl_close(struct ctl *);
/* To be called once per turn of the loop: takes events, builds and posts plans for ports that were
 * touched, and frees plans that workers no longer use. */
void ctl_turn(struct ctl *);
/* The time in ns after which ctl_turn() has something to do even if nothing happens, for the loop's
 * timeout. UINT64_MAX: it has nothing of the kind. */
uint64_t ctl_next_ns(const struct ctl *);
/* To be called by a timer once a second: measures rates and looks at links. */
void ctl_tick(struct ctl *);

/* A descriptor that turns readable when workers have said something, for example that a run has
 * ended; then call ctl_events(). A caller who does not watch it learns the same a little later,
 * from ctl_turn(), if he calls that as often as ctl_next_ns() says. */
int ctl_wake_fd(const struct ctl *);
void ctl_events(struct ctl *);

/* A descriptor that turns readable when an interface of the host has changed; then call
 * ctl_links(). -1: there is none. */
int ctl_link_fd(struct ctl *);
void ctl_links(struct ctl *);

unsigned ctl_nports(const struct ctl *);
/* Why the map of opts->hint is not used; NULL: it is, or there was none. */
const char *ctl_hint_lacks(const struct ctl *);
const char *ctl_port_name(const struct ctl *, unsigned port);
/* The PCI address of the port's device, with its domain; NULL: it has none. *node becomes the NUMA
 * node of the device, -1 if that is not known. */
const char *ctl_port_bus(const struct ctl *, unsigned port, int *node);
/* A stream has an id from 0 to CTL_MAX_STREAMS - 1, which stays the same when another stream is
 * deleted: a deleted one leaves a hole. ctl_nstreams() gives the highest id + 1, holes included,
 * and ctl_stream_cfg() NULL for a hole. */
unsigned ctl_nstreams(const struct ctl *, unsigned port);
unsigned ctl_stream_total(const struct ctl *, unsigned port); /* without holes */
/* Adds n streams with the settings of stream `like` (-1: the defaults, enabled). They get the
 * ids from id to id + n - 1; id -1 stands for the first id above all that are in use. Returns
 * the first id, or -errno when an id is taken or there can be no more streams; nothing is changed
 * then. */
int ctl_stream_add(struct ctl *, unsigned port, int id, unsigned n, int like, struct err *e);
/* Removes a stream. The last stream of a port cannot be removed. */
int ctl_stream_delete(struct ctl *, unsigned port, unsigned id, struct err *e);
/* Gives a stream another id, which must be free. */
int ctl_stream_move(struct ctl *, unsigned port, unsigned from, unsigned to, struct err *e);
/* A copy of all settings of all ports and streams. ctl_restore() goes back to it, for example when
 * a `load` fails half-way. The caller frees it with ctl_saved_free(). */
struct ctl_saved *ctl_save(struct ctl *);
void ctl_restore(struct ctl *, const struct ctl_saved *);
void ctl_saved_free(struct ctl_saved *);
/* The settings themselves, for reading and writing. Whoever writes them calls ctl_touch() or
 * ctl_touch_stream() afterwards. */
struct port_cfg *ctl_port_cfg(struct ctl *, unsigned port);
struct stream_cfg *ctl_stream_cfg(struct ctl *, unsigned port, unsigned stream);
/* What has changed about a port. A work that does not depend on any of it does nothing. */
enum why {
	WHY_RATE = 1,   /* when frames leave */
	WHY_FRAMES = 2, /* what is in them */
	WHY_ORDER = 4,  /* which streams are sent, and how often each */
	WHY_RUN = 8,    /* a run begins or ends */
	WHY_PORT = 16,  /* how the port receives, and settings that only a start reads */
	WHY_WORK = 32,  /* what works do besides sending streams */
	WHY_LINK = 64,  /* the speed of its link */
	WHY_ALL = 127,
	/* the device must be restarted with the new values (mtu, descriptors, pools) before the
	 * next start */
	WHY_RESTART = 128,
};
/* To be called after a setting of the port was written. The plans that depend on it are built at
 * the end of this turn. */
void ctl_touch(struct ctl *, unsigned port, uint32_t why);
/* To be called after a setting of a stream was written (-1: of any stream of the port). WHY_FRAMES
 * means that its frames are to be made anew. */
void ctl_touch_stream(struct ctl *, unsigned port, int stream, uint32_t why);
/* Sets the length of a stall: a turn of a worker that takes longer is counted as one (dp.h). */
void ctl_set_stall(struct ctl *, uint64_t ns);
/* Asks the device for the pacing that the port's settings say. Returns 0 also if the device can do
 * it only after its next start. If it refuses, e says why (-ENOTSUP and others), and software paces
 * the frames. */
int ctl_pacing(struct ctl *, unsigned port, struct err *e);
/* Asks the port's device for these settings of RSS, before they are written. If it refuses it goes
 * on as before, and e says why. */
int ctl_rss(struct ctl *, unsigned port, const struct rss_cfg *want, struct err *e);
/* 0: arrivals on the port are timed as its setting says. -ENOTSUP: the setting says nic, and e says
 * why our clock times them all the same. */
int ctl_timestamps(struct ctl *, unsigned port, struct err *e);
/* Adds a text that says who paces the port, and why nobody else does. */
void ctl_pacing_text(const struct ctl *, unsigned port, struct sbuf *out);
/* Restarts the device now if changed settings wait for that. Returns 0 or -errno, and e says why:
 * -EBUSY while the port, or another one that the same -p made, is sending, or when a worker does
 * not let go of it; -EINVAL if its driver cannot be set up twice. */
int ctl_apply(struct ctl *, unsigned port, struct err *e);
/* Sets all settings of the port back to their defaults; of its streams only stream 0 is left. */
void ctl_reset(struct ctl *, unsigned port);
/* Gives all settings of a port their defaults, those of works too. */
void ctl_cfg_init(struct port_cfg *out);
/* The settings of one work within those of a port. */
void *work_cfg(const struct port_cfg *, const struct work *of);
/* The settings of one work within those of a stream: to read, and to write. What is to be written
 * stands on its own from then on, even if it is never written. */
const void *work_stream_cfg(const struct stream_cfg *, const struct work *of);
void *work_stream_cfg_own(struct stream_cfg *, const struct work *of);
/* Gives the stream its default frame unless somebody has set the frame: what the work that carries
 * it asks for, else STREAM_DFLT_FRAME. To be called when one of both has changed. */
void ctl_stream_frame_follow(struct stream_cfg *);
bool ctl_stream_frame_usual(const struct stream_cfg *); /* whether its frame is that default */
/* The settings that a reset gives. Options of the command line, such as -P, are in them. */
void ctl_port_defaults(const struct ctl *, struct port_cfg *out);
/* Whether a work carries the stream by these settings, so that its frames are in no schedule, and
 * the name of that work, which counts them, or NULL. */
bool ctl_stream_carried(const struct stream_cfg *);
const char *ctl_stream_carrier(const struct stream_cfg *);
bool ctl_sending(const struct ctl *, unsigned port);

/* Is all found that a start of these ports needs, such as where its frames go? 1: start them now.
 * 0: not yet, ask again (again is true then) after the next ctl_turn(); whoever gives up need not
 * say so. -errno: a start is refused, and e says why. */
int ctl_start_ready(struct ctl *, const struct portset *ports, bool again, struct err *e);
/* true: fields of the stream that can be `auto` are so unless they are set. */
bool ctl_stream_finds(struct ctl *, unsigned port, unsigned stream);
/* Starts all of these ports at the same time, or none. duration_ns 0: they end by their counts, or
 * send until they are stopped. It refuses ports that are sending already, ports without a Tx queue
 * and frames that cannot be built; e names the port and the smallest change that helps. */
int ctl_start(struct ctl *, const struct portset *ports, uint64_t duration_ns, struct err *e);
/* Asks these ports to stop, and does not wait for it. Ports that are not sending stay as they are.
 * Of those that were asked before, works give up what they would still wait for. */
void ctl_stop(struct ctl *, const struct portset *ports);
/* Nobody wants to wait any more for those of these ports that have stopped: works give up what they
 * would still wait for. Ports that send go on. */
void ctl_hurry(struct ctl *, const struct portset *ports);
/* Adds a line for each thing that will keep the port's frames from arriving although nothing
 * refuses to send them. A line names the port and what helps. Often there is none. */
void ctl_reach_text(struct ctl *, unsigned port, struct sbuf *out);
bool ctl_bounded(const struct ctl *, unsigned port); /* the running start has a count or duration */
/* How far those of the ports that are sending have come. */
struct ctl_progress {
	bool sending;     /* false: none of them is, and the other members mean nothing */
	bool bounded;     /* each of them ends by a time or a count */
	double share;     /* of the port that is least far: how much is done, 0 to 1 */
	uint64_t gone_ns; /* since the first of them began */
	uint64_t left_ns; /* until the last one ends at its rate so far; UINT64_MAX: unknown */
	/* the longest time for which one was started; 0: none was for a time */
	uint64_t all_ns;
	uint64_t sent, count; /* frames of those that end by count; count 0: none does */
};
void ctl_progress(const struct ctl *, const struct portset *ports, struct ctl_progress *out);
/* For the verb `wait`, which calls it in each turn. Returns 1 when these ports have stopped
 * sending, their devices have accepted their frames, no work holds frames on their way, and then no
 * Rx counter of any port has moved for 20 ms in which all workers have looked at their queues, or
 * 2 s have passed since the last run ended and since a work held frames; 0 when it is not so far
 * yet; -ETIMEDOUT when one of the ports has frames to send and its device has accepted none for
 * 10 s. */
int ctl_settled(struct ctl *, const struct portset *ports);
bool ctl_stuck(const struct ctl *, unsigned port); /* ctl_settled() gives up because of this port */
/* All counters of these ports count from now on: it takes new baselines. */
void ctl_clear(struct ctl *, const struct portset *ports);

/* A new snapshot of this moment, exact when nothing is sending. The caller frees it with
 * snap_free() and free(). */
struct snap *ctl_snapshot(struct ctl *);

/* The numbers of ports as a JSON list. New reference. */
json_t *ctl_portset_json(const struct portset *ports);

/* Facts for `show`, as JSON trees (new references). */
const char *ctl_dpdk_version(void); /* "DPDK 22.11.11" */
bool ctl_dpdk_static(void);         /* whether it is inside the program */
/* {"show":"ports","ports":[{"port","name","spec","driver","pci","link","speed_mbps","mac","mtu",
 * "node","used","rx_queues","tx_queues","rxd","txd","mbufs","memory_bytes","offloads","rss",
 * "flow_control","promiscuous","pacing": who paces, and why nobody else does,"timestamps": who
 * times arrivals, and why the device does not,"notes":[..]}]} */
json_t *ctl_ports_json(struct ctl *);
json_t *ctl_plan_json(struct ctl *); /* what each worker runs now */
json_t *ctl_xstats_json(struct ctl *, const struct portset *ports);
/* {"show":"clock","hz","tick_ns","uncertainty_ppm","span_ns","confidence":"high|limited",
 * "moved_ppm" (last minute),"readings","rejected","restarts",
 * "constant_tsc","nonstop_tsc","tsc_reliable","clocksource","dpdk_hz","dpdk_off_ppm","control_cpu","skew_limit_ns",
 * "cpus":[{"lcore","cpu","state":"in step|off|reference|not checked","why" |
 * "skew_ns","uncertainty_ns","rounds"}],"reasons":[..], "devices": the clocks of devices that are
 * used,
 *   [{"port","name","hz","uncertainty_ppm","error_ns": since the last clear,"span_ns","readings",
 *   "rejected","steps": how often somebody has set it,"failed": how often it could not be read,
 *   "trouble": why it is not known now, or null,"rx","tx": whether stamps by it are used}]} */
json_t *ctl_clock_json(struct ctl *);
/* Whether some work still holds frames on their way although their sender has ended. */
bool ctl_frames_inside(const struct ctl *);
const struct placement *ctl_placement(const struct ctl *);
const struct place_in *ctl_place_in(const struct ctl *);
/* {"show":"streams","streams":[{"port","stream","enabled","frame","size","weight","rate","count","varies":[names],"probe",
 * "tx":{"packets","bytes"},"pps","share","engine"}]}. Counters are since open or clear, exact when
 * nothing is sending. */
json_t *ctl_streams_json(struct ctl *, const struct portset *ports);
/* The same of one port, at most n streams from id `first` on: {"streams":[..],"total": streams of
 * the port,"before": those of them with lower ids}. */
json_t *ctl_streams_part_json(struct ctl *, unsigned port, unsigned first, unsigned n);
/* What the settings of a stream say of its frames and their sizes. An overlay (cfg.h) is put
 * into them where it is in use; if it cannot be used, that is an error, and e says why. *spec is a
 * deep copy: call frame_spec_free(), after a failure too. */
int ctl_stream_spec(struct ctl *, unsigned port, unsigned stream, struct frame_spec *spec,
		    struct sizes *sizes, struct err *e);
/* The first frame that stream would send after a start (ordinal 0 at its first size), without FCS.
 * -EINVAL, and e says why, if no frame can be built. */
int ctl_frame(struct ctl *, unsigned port, unsigned stream, struct frame *out, struct err *e);
/* The same frame as frame_dissect() gives it, with these keys beside: "port" and "stream";
 * "varies", the names of fields that change from frame to frame because a setting says so, and
 * "size" if sizes differ; "follows", the names of checksums and lengths that change with them;
 * "bytes" and "follows_bytes", where the bytes of "varies" and of "follows" lie in this frame,
 * [[offset,length],..]. NULL, and e says why, if no frame can be built. */
json_t *ctl_frame_json(struct ctl *, unsigned port, unsigned stream, struct err *e);
/* What the rates of a port and of its streams ask of the wire. If a rate changes with time, its
 * highest value counts, and its lowest in low_pps. Sizes are those of frames with FCS, and
 * mean_size weighs streams by their rates. is_max: as fast as possible; then pps is only that of
 * the other streams. link_bps is what percent is of, and nqueues the number of Tx queues that share
 * the load. */
struct ctl_load {
	double pps, l1_bps, l2_bps, mean_size, low_pps;
	unsigned min_size, max_size, nqueues;
	bool is_max;
	double link_bps;
};
/* While a run does not follow the settings because they wait for the next start, this is what the
 * run asks. -EINVAL, and e says why: no frame can be built, or no stream is enabled. */
int ctl_load(struct ctl *, unsigned port, struct ctl_load *out, struct err *e);
/* The same of one stream, which must exist, enabled or not: by its own rate, else by the turns that
 * it takes in the port's rate. pps 0: it takes no turns. */
int ctl_stream_load(struct ctl *, unsigned port, unsigned stream, struct ctl_load *out,
		    struct err *e);

/* Things that have happened (a link went up or down, an interface is gone), in words for people. */
enum ctl_event_kind { CTL_EVENT_NOTE, CTL_EVENT_LINK };
struct ctl_event {
	enum ctl_event_kind kind;
	unsigned port;
	char text[512];
};
/* The number of the port's last run; runs are counted from 1 over all ports. 0: it never had
 * one. */
uint64_t ctl_run_id(const struct ctl *, unsigned port);
/* Takes the oldest event that was not taken yet. false: there is none. */
bool ctl_event_next(struct ctl *, struct ctl_event *out);

/* {"show":"rss","ports":[{"port","name","queues","way": how received frames come to queues,"why",
 * "function","fields","key","key_bytes","symmetric","table_entries","table": queues that are repeated,
 * "from": the port whose streams come here,"from_why","streams":[{"port","stream","frame","hashed",
 * "looked": at so many frames,"all": the others are like them,"queue": where all of them come to,
 * "shares": of each queue,"doubt","tx_packets"}],"counted_why": why no share of what was counted
 * is told,"rx_queues":[{"queue","entries","predicted": its share,"counted","packets"}]}]}. What is
 * not known is null. Streams are those that are enabled. */
json_t *ctl_rss_json(struct ctl *, const struct portset *ports);
/* The queues of tuples, which are separated by commas, at each of these ports:
 * {"show":"rss_queue","tuples":[{"port","tuple","hashed","hash","queue","doubt": why the queue is not
 * certain, and so null}]}. NULL, and e says why: they are no tuples, or the queues of a port do not
 * follow from tuples. */
json_t *ctl_rss_queues_json(struct ctl *, const struct portset *ports, const char *tuples,
			    struct err *e);
/* Values of a field that spread a stream evenly over the queues of the port that it comes to. */
struct ctl_rss_choice {
	char field[32]; /* "udp.src" */
	unsigned to, queues, flows;
	struct sbuf values; /* "1024,1027,...", which the caller frees */
};
/* Chooses them; flows 0: as many as four for each queue. 0, or -EINVAL or -ENOTSUP with *e. */
int ctl_rss_choose(struct ctl *, unsigned port, unsigned stream, uint64_t flows,
		   struct ctl_rss_choice *out, struct err *e);
/* Says whether the frames of the stream come to all these queues evenly. */
bool ctl_rss_even(struct ctl *, unsigned port, unsigned stream, struct err *e);
