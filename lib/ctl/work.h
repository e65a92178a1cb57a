/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl: a work (send, count, ...) as control sees it, which is a record of functions.
 * Control loops over the list of all works and names none of them. docs/adding-work.md leads
 * through a small one. */
#pragma once
#include "count.h"
#include "ctl.h"
#include "dp.h"

struct ctl_port;
struct plan_writer;
struct stream;
struct work_run;
struct work_witness;

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

	/* At a start: can the work do what the port's settings ask of it? */
	int (*check)(struct ctl *c, struct ctl_port *cp, struct err *e);
	/* true: changed settings of the port cannot go into plans yet, and control asks again
	 * before it next makes plans. */
	bool (*waits)(struct ctl *c, struct ctl_port *cp);
	/* Settings of the port have changed (why: bits of WHY_*). Its plans are made after this
	 * call. */
	void (*touched)(struct ctl *c, struct ctl_port *cp, uint32_t why);
	/* Is called once touched() has been called for all ports whose settings have changed, and
	 * runs that may start have got their start time. */
	void (*all_touched)(struct ctl *c);
	/* true: ports that are to start have to wait until the work is ready. */
	bool (*holds_starts)(const struct ctl *c);
	/* Adds what the work does on a started port to the plan of one worker. The last work of the
	 * list is asked first, so that the first one sees what the others claim. */
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
	/* Returns what the bursts cost that the work sends on this Tx queue. */
	const struct dp_times *(*times)(const struct ctl_port *cp, unsigned queue);
	/* Adds to a snapshot what only this work knows of the port. The queues are in the snapshot
	 * already. */
	void (*snap)(const struct ctl_port *cp, struct snap_port *s);
	/* Returns how many frames of the stream with this cell were sent with a probe since open.
	 * The number may be slightly too high. */
	uint64_t (*told)(const struct ctl_port *cp, unsigned cell);
	/* true: some frames that the work sends in this run carry probes, and so say which frames
	 * they are. */
	bool (*tells)(const struct ctl_port *cp);
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
};

extern const struct work *const works[]; /* ends with NULL; made of the list in lib/work */

#define WORK_MAX 8
/* These return the memory that a work keeps for a port, which is freed with the port, and for
 * control, which is freed with control. */
void *work_port(const struct ctl_port *cp, const struct work *of);
void *work_ctl(const struct ctl *c, const struct work *of);

/* Loops over the works of the list that have this function; w is the work. */
#define EACH_WORK(w, function) \
	for (const struct work *const *w##_at = works, *w; (w = *w##_at) != NULL; w##_at++) \
		if (w->function != NULL)
