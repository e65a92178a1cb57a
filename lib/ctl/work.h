/* SPDX-License-Identifier: BSD-3-Clause */
/* The door of lib/ctl for works and trials; ctl.h is that for programs. A work (send, count, ...)
 * is a record of functions, struct work. Control loops over the list of all works and names none of
 * them. docs/adding-work.md leads through a small one. Below the record stand the functions that
 * works and trials may call; they read the state of control (ctl_state.h) and write none of it. */
#pragma once
#include "calls.h"
#include "ctl.h"
#include "ctl_state.h"
#include "dp.h"
#include "dp_fault.h"
#include "pages.h"
#include "filter_load.h"
#include "plan_write.h"
#include "run.h"
#include "witness.h"
#include "writer.h"

struct cnt_claimed {
	uint64_t frames, group;
};

/* All functions run on the control thread. One that is NULL has nothing to do. c and cp are control
 * and one of its ports. Those that return int return 0, or -errno with the reason in *e. */
struct work {
	const char *name; /* the name of its folder in lib/work */
	/* Bytes of memory that control allocates for the work: for each port (work_port()), and
	 * once (work_ctl()). They begin zeroed. */
	size_t port_bytes, ctl_bytes;

	/* Size of the work's settings of a port, which are plain bytes; see work_cfg(). 0: it has
	 * none. */
	size_t cfg_bytes;
	void (*cfg_init)(void *cfg); /* turns zeroed bytes into the defaults */
	/* The same of a stream; see work_stream_cfg(). */
	size_t stream_cfg_bytes;
	void (*stream_cfg_init)(void *cfg);

	/* ---- opening and closing ---- */

	/* Is called before anything else; there are no ports yet. */
	void (*ctl_open)(struct ctl *c);
	/* A port was opened: its queues have their objects, and no worker runs yet. */
	int (*port_open)(struct ctl *c, struct ctl_port *cp, struct err *e);
	/* No worker runs any more; devices and ports are still there. */
	void (*ctl_close)(struct ctl *c);
	/* The devices are closed. Is called for every port, also where port_open() failed or was
	 * never called. */
	void (*port_close)(struct ctl *c, struct ctl_port *cp);
	/* Is called after everything else: ports and plans are gone. */
	void (*ctl_end)(struct ctl *c);
	/* The device of cp is about to be set up anew, and no worker uses any port of the -p that
	 * made cp. The work gives back what it keeps on these devices. */
	void (*let_go)(struct ctl *c, struct ctl_port *cp);

	/* ---- from settings to plans ---- */

	/* true: by its settings the work carries this stream itself, so the stream is in no
	 * schedule of frames. */
	bool (*carries)(const struct stream_cfg *cfg);
	/* true: of a stream that it carries, the work sends nothing but answers, to whoever
	 * asks. */
	bool (*answers)(const struct stream_cfg *cfg);
	/* The first address of this family that the port has by the work: 16 bytes, or 4 of them.
	 * false: it has none. */
	bool (*own_address)(const struct ctl_port *cp, bool is6, uint8_t *ip);
	/* The frame of a stream that the work carries, if nobody has set it. NULL: as of all
	 * others. */
	const char *carried_frame;

	/* Before a start: is all there that the work has to find for these ports, such as values of
	 * fields that are `auto`? 1: it is. 0: not yet, and the caller asks again in each turn.
	 * -errno with *e: the start is refused. again: this start has asked before. */
	int (*ready)(struct ctl *c, const struct portset *ports, bool again, struct err *e);
	/* true: the work finds those fields of the stream that can be found (struct field, found)
	 * and that nobody has set. */
	bool (*finds)(const struct ctl_port *cp, const struct stream *s);
	/* true: the stream carries a program's protocol on the port. It is not the user's, who is
	 * told nothing of it. */
	bool (*of_program)(const struct ctl_port *cp, const struct stream *s);
	/* At a start, of frames to a MAC address that nobody has set: adds to a sentence what else
	 * would help, beginning with a comma. */
	void (*reach)(struct ctl *c, struct ctl_port *cp, struct sbuf *out);
	/* At a start: can the work do what the port's settings ask of it? */
	int (*check)(struct ctl *c, struct ctl_port *cp, struct err *e);
	/* true: changed settings of the port cannot go into plans yet, and control asks again
	 * before it next makes plans. */
	bool (*waits)(struct ctl *c, struct ctl_port *cp);
	/* Settings of the port have changed (why), and the work must prepare something before
	 * starts of this turn get their time. It is called only for the reasons that the work names
	 * in prepares (bits of WHY_*). All that depends on other reasons is done in fill(). */
	uint32_t prepares;
	void (*prepare)(struct ctl *c, struct ctl_port *cp, uint32_t why);
	/* Is called once prepare() has been called for all ports whose settings have changed, and
	 * runs that may start have got their start time. */
	void (*prepared)(struct ctl *c);
	/* true: ports that are to start have to wait until the work is ready. */
	bool (*holds_starts)(const struct ctl *c);
	/* Adds what the work does on a running port to the plan of one worker, by the settings of
	 * now. It is called for each running port in each plan that is made: the worker may serve
	 * none of its queues, and nothing may have changed. The last work of the list is asked
	 * first, so that the first one sees what the others claim. */
	void (*fill)(struct ctl *c, struct ctl_port *cp, struct plan_writer *p);
	/* true: some of its tasks write into buffers of the pools that senders take theirs from.
	 * Senders fill a buffer once and send it many times, so they have to look at its mark
	 * then: where the answer changes, all ports get new plans. */
	bool (*writes)(const struct ctl *c);
	/* true: workers that receive must not sleep. */
	bool (*awake)(const struct ctl *c);

	/* ---- in each turn of control ---- */

	/* true: step() waits for something that comes within a fraction of a millisecond. */
	bool (*stepping)(const struct ctl *c);
	/* Is called before plans are made, sometimes twice in a turn, and may ask for new plans. */
	void (*step)(struct ctl *c);
	/* Is called once in each turn of control, after plans were made. */
	void (*turn)(struct ctl *c);
	/* Returns the ns until step() or turn() have something to do. UINT64_MAX: they have nothing
	 * to do that is known now. */
	uint64_t (*next_ns)(const struct ctl *c);

	/* ---- what is known ---- */

	/* `clear`: the work takes new baselines for its numbers of these ports. */
	void (*clear)(struct ctl *c, const struct portset *ports);
	/* true: the work still holds frames of a sender whose run is over. */
	bool (*holds)(const struct ctl *c);
	/* Returns about how many frames of these senders the work holds. A 0 is exact when nobody
	 * sends. */
	uint64_t (*inside)(const struct ctl *c, const struct portset *from);
	/* Adds the frames of each stream, by its cell (0 .. n - 1), that the work has sent on a Tx
	 * queue since open. false: a worker is just taking over a plan; sum is as it was, and the
	 * caller asks again in a moment. */
	bool (*streams)(const struct ctl_port *cp, unsigned queue, struct cnt_stream *sum,
			unsigned n);
	/* Adds what the work has sent of the stream with this cell, on all queues of the port since
	 * open. It is called only while no worker sends such a stream. */
	void (*old_stream)(const struct ctl_port *cp, unsigned cell, struct cnt_stream *sum);
	/* Adds the frames of each size that the work has sent on a Tx queue since open. false: as
	 * with streams(). */
	bool (*sizes)(const struct ctl_port *cp, unsigned queue, struct cnt_sizes *sum);
	/* Adds the received frames that the work has claimed for itself since open, and those of
	 * them that came to group addresses: they are no frames of a stream. */
	void (*claimed)(const struct ctl *c, const struct ctl_port *cp, struct cnt_claimed *sum);
	/* Returns what the bursts cost that the work sends on this Tx queue. */
	const struct dp_times *(*times)(const struct ctl_port *cp, unsigned queue);
	/* Adds to a snapshot what only this work knows of the port. The queues are in the snapshot
	 * already. */
	void (*snap)(const struct ctl_port *cp, struct snap_port *s);
	/* Adds the ICMP errors about frames of the stream with this cell, since open, if the work
	 * counts them; sum->known says so. */
	void (*icmp)(const struct ctl_port *cp, unsigned cell, struct stream_icmp *sum);
	/* Returns how many frames of the stream with this cell were sent with a probe since open.
	 * The number may be slightly too high. */
	uint64_t (*told)(const struct ctl_port *cp, unsigned cell);
	/* true: some frames that the work sends in this run carry probes, and so say which frames
	 * they are. */
	bool (*tells)(const struct ctl_port *cp);
	/* Faults of frames that come in on an Rx queue are told to this watcher from now on
	 * (dp_fault.h); NULL: to nobody. ctl_faults_to() calls it. */
	void (*faults_to)(struct ctl *c, unsigned port, unsigned queue, const struct dp_watcher *w);
	/* true: by the settings of now, the work would tell faults of frames that come in
	 * somewhere. */
	bool (*faults_told)(const struct ctl *c);
	/* Returns the name of the way in which the work makes the stream's frames; static. NULL: it
	 * does not make them. */
	const char *(*engine)(const struct ctl_port *cp, const struct stream *s);
	/* Returns the task as JSON for `show plan`; about is what plan_task() was given. NULL: the
	 * task is of another work. */
	json_t *(*task_json)(const struct ctl *c, const struct dp_task *task, const void *about);
	/* Adds to the document of `show plan` what the work has to say beside its tasks. */
	void (*plan_json)(const struct ctl *c, json_t *doc);

	/* NULL: the work has no runs; it is active whenever settings say so. */
	const struct work_run *run;
	/* NULL: the work cannot tell what became of each frame. */
	const struct work_witness *witness;
	/* NULL: the work makes no calls. */
	const struct work_calls *calls;
};

extern const struct work *const works[]; /* ends with NULL; made of the list in lib/work */

/* These return the memory that a work keeps for a port, which is freed with the port, and for
 * control, which is freed with control. */
void *work_port(const struct ctl_port *cp, const struct work *of);
void *work_ctl(const struct ctl *c, const struct work *of);

/* Loops over the works of the list that have this function; w is the work. */
#define EACH_WORK(w, function) \
	for (const struct work *const *w##_at = works, *w; (w = *w##_at) != NULL; w##_at++) \
		if (w->function != NULL)

/* ---- streams ---- */

struct stream *stream_at(const struct ctl_port *cp, unsigned id); /* NULL: a hole */
/* The stream that has this cell; NULL: none. id: where to look first, because it was there last. */
struct stream *stream_of_cell(const struct ctl_port *cp, uint32_t cell, unsigned id);
struct stream *stream_first(const struct ctl_port *cp); /* lowest id; there always is one */
/* Whether the stream exists, is enabled, and is sent frame by frame: no work carries it. */
bool stream_scheduled(const struct stream *s);
/* Whether a work carries the stream and only answers: it goes nowhere by itself. */
bool stream_answers(const struct stream *s);
/* The port's own first address of a family; see struct work. */
bool port_own_address(const struct ctl_port *cp, bool is6, uint8_t *ip);
/* Whether a work carries some enabled stream of the port. */
bool streams_carried(const struct ctl_port *cp);
/* Takes the set of cells that have got a stream since the last call. */
void stream_cells_new(struct ctl_port *cp, uint64_t cells[CTL_CELLS / 64]);
/* on: each frame of the port carries a probe from the next start on, whatever its stream says. */
void streams_tell_all(struct ctl_port *cp, bool on);
/* Brings s->frames up to date with the settings. After a failure, s->frames is NULL. */
int stream_recipes(struct ctl *c, struct ctl_port *cp, struct stream *s, struct err *e);
/* What a work has found for a field: one value, or one for each value of another field. */
struct stream_found {
	uint8_t v[VT_FIELD_BYTES];
	const struct vary *each; /* NULL: it is v */
	struct frame_lead lead;  /* the other field */
};
/* Whether it is a program's (struct work, of_program). */
bool stream_of_program(const struct ctl_port *cp, const struct stream *s);
/* Gives the stream what was found for a field of its first header of this protocol: where the user
 * has set it to `auto`, in its place, else as its default, unless the user has set it. NULL:
 * nothing is found, and the port's default holds. */
void stream_found(struct ctl_port *cp, struct stream *s, const struct proto *p,
		  const struct field *f, const struct stream_found *found);
/* The length of the sequence of sizes that the stream goes through. */
unsigned stream_nsizes(const struct stream *s);
/* -EINVAL, with the setting's name, if a value is set for a field that the frame does not have. */
int stream_stray(const struct ctl_port *cp, const struct stream *s, struct err *e);
/* A further reference, and giving one back; NULL is allowed there. */
struct stream_frames *frames_ref(struct stream_frames *f);
void frames_unref(struct stream_frames *f);

/* ---- what settings ask of the wire ---- */

/* Frames/s of a rate at its begin, for frames of this mean size with FCS. *max: the rate is as fast
 * as possible, and 0 is returned. */
double load_pps(const struct rate *r, uint64_t speed_bps, double size, bool *max);
/* Adds to *l what the rate asks of the wire for frames of this mean size, with FCS. */
void load_rate(struct ctl_load *l, const struct rate *r, uint64_t speed_bps, double size);
/* Widens the range of sizes in *l so that it includes those of f. */
void load_sizes(struct ctl_load *l, const struct stream_frames *f);

/* The mtu in force; while the port does not send, the one that its next start brings into force. */
uint64_t ctl_mtu(const struct ctl_port *cp);

/* ---- ports, workers, works ---- */

/* Adds an event, which ctl_event_next() gives to the program. */
void ctl_note(struct ctl *c, unsigned port, const char *fmt, ...) WR_PRINTF(3, 4);
/* Reads the state of the link, and notes and counts a change. */
void link_look(struct ctl *c, struct ctl_port *cp);

/* Fills in the sums of the port's cells and the device's own numbers, both since open. */
void stat_dev(struct ctl_port *cp, struct snap_port *out);
/* The same, but tx of the shares of streams alone, and rx without *claimed, what works have claimed
 * for themselves. Their frames to groups are taken off rx.multicast, which may wrap: its sum with
 * rx.broadcast is right. */
void stat_streams(struct ctl *c, unsigned port, struct snap_port *out, uint64_t *claimed);
/* Reads the counters of queue q, both directions, since open. */
void stat_queue(const struct ctl_port *cp, unsigned q, struct cnt_queue *out);
/* The time for which the worker's thread has been ready to run and has had no CPU, since it began.
 * It is exact while the thread runs or sleeps. false: the system does not tell it. */
bool worker_waited(const struct ctl_worker *cw, uint64_t *ns);
/* Sets a mark: from now on, the worker's longest stall under it is that of later turns (dp.h). */
void worker_mark(struct ctl_worker *cw, enum dp_mark m);
/* Whether the worker serves an Rx queue of a port in rx or a Tx queue of a port in tx. A set that
 * is NULL is empty. */
bool worker_serves(const struct ctl *c, unsigned worker, const struct portset *rx,
		   const struct portset *tx);

/* While somebody (`of`, a trial) watches: workers that receive on these ports do not sleep, and
 * turns that are longer than stall_ns count as stalls even if the setting `stall` allows longer
 * ones. Only one may watch at a time. */
void ctl_watch(struct ctl *c, const void *of, const struct portset *ports, uint64_t stall_ns);
void ctl_unwatch(struct ctl *c);
const void *ctl_watched(const struct ctl *c); /* who watches; NULL: nobody */
/* The worker (index into c->worker) is to get a new plan. */
void ctl_replan(struct ctl *c, unsigned worker);
/* Whoever can tell which frame is which tells faults of those that come in on an Rx queue to this
 * watcher, from the next burst on; NULL: to nobody. Only one may watch a queue. The watcher that
 * was set before must live until no worker uses a plan that was made before now. */
void ctl_faults_to(struct ctl *c, struct ctl_port *cp, unsigned queue, const struct dp_watcher *w);
/* Who watches the queue; NULL: nobody. */
const struct dp_watcher *ctl_faults_watcher(const struct ctl_port *cp, unsigned queue);
/* Whether, by the settings of now, somebody tells faults of frames at all. */
bool ctl_faults_told(const struct ctl *c);
/* The witness of the work that has one; NULL: none has. */
const struct work_witness *work_witness(void);
/* The calls of the work that makes some; NULL: none does. */
const struct work_calls *work_calls(void);
/* Whether tasks of works write into buffers that senders have filled. */
bool works_write(const struct ctl *c);
/* About how many frames of these senders works hold. While nobody sends, 0 is exact. */
uint64_t works_inside(const struct ctl *c, const struct portset *from);
