/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl: a kind of work as control sees it, a record of functions. Control loops over the list of all works and names none of them.
 * docs/adding-work.md leads through a small one. */
#pragma once
#include "count.h"
#include "ctl.h"
#include "dp.h"

struct ctl_port;
struct plan_writer;
struct stream;
struct work_run;
struct work_witness;

/* Functions run on the control thread; NULL: there is nothing to do. c, cp: control and one of its ports. Errors: 0 or -errno, and *e says why. */
struct work {
	const char *name;          /* of its folder */
	size_t port_bytes, ctl_bytes; /* what it keeps for each port, and once: zeroed, see work_port() and work_ctl() */

	size_t cfg_bytes;          /* its settings of a port: plain bytes, see work_cfg(); 0: none */
	void (*cfg_init)(void *cfg); /* zeroed bytes become the defaults */

	/* Life. */
	void (*ctl_open)(struct ctl *c);       /* first of all: there are no ports yet */
	int (*port_open)(struct ctl *c, struct ctl_port *cp, struct err *e); /* its queues have their objects; no worker runs */
	void (*ctl_close)(struct ctl *c);      /* no worker runs any more; devices and ports are still there */
	void (*port_close)(struct ctl *c, struct ctl_port *cp); /* devices are closed; also where port_open() was never called, or failed */
	void (*ctl_end)(struct ctl *c);        /* last of all: ports and plans are gone */
	void (*let_go)(struct ctl *c, struct ctl_port *cp); /* no worker uses the ports that its spec made: the device is set up anew */

	/* From settings to plans. */
	int (*check)(struct ctl *c, struct ctl_port *cp, struct err *e); /* at a start: can what settings ask of this work be done? */
	bool (*waits)(struct ctl *c, struct ctl_port *cp); /* changed settings of the port cannot be in plans yet: it is asked again */
	void (*touched)(struct ctl *c, struct ctl_port *cp, uint32_t why); /* WHY_* of the port has changed; its plans are made next */
	void (*all_touched)(struct ctl *c);    /* those of some ports have, and all of them have been told so */
	bool (*holds_starts)(const struct ctl *c); /* ports that are to start have to wait for it */
	/* What it has on a started port into the plan of a worker. The last work of the list is asked first: the first sees what others claim. */
	void (*fill)(struct ctl *c, struct ctl_port *cp, struct plan_writer *p);
	bool (*writes)(const struct ctl *c);   /* some of its tasks write into buffers of pools that senders fill their frames into once */
	bool (*awake)(const struct ctl *c);    /* workers that receive must not sleep */

	/* As time goes by. */
	bool (*stepping)(const struct ctl *c); /* step() waits for something that comes within a fraction of a ms */
	void (*step)(struct ctl *c);           /* before plans are made, which it may want */
	void (*turn)(struct ctl *c);           /* behind them, once per turn of control */
	uint64_t (*next_ns)(const struct ctl *c); /* until step() or turn() have something to do; UINT64_MAX: nothing that is known */

	/* What is known. */
	void (*clear)(struct ctl *c, const struct portset *ports); /* numbers of these ports count from now on */
	bool (*holds)(const struct ctl *c);    /* frames are on their way in it whose sender has ended */
	uint64_t (*inside)(const struct ctl *c, const struct portset *from); /* frames of these senders in it, about; 0: none, when nobody sends */
	/* Add what the work has sent on a Tx queue since open: of streams by their cells, 0 .. n - 1, and of frames by their sizes. false: a worker
	 * is just taking over a plan, sum is as it was, ask again in a moment. */
	bool (*streams)(const struct ctl_port *cp, unsigned queue, struct cnt_stream *sum, unsigned n);
	void (*old_stream)(const struct ctl_port *cp, unsigned cell, struct cnt_stream *sum); /* on all queues, of a cell that nobody sends */
	bool (*sizes)(const struct ctl_port *cp, unsigned queue, struct cnt_sizes *sum);
	const struct dp_times *(*times)(const struct ctl_port *cp, unsigned queue); /* what the bursts that it sends there cost */
	void (*snap)(const struct ctl_port *cp, struct snap_port *s); /* of a snapshot what it alone knows; queues are there */
	uint64_t (*told)(const struct ctl_port *cp, unsigned cell); /* frames of a cell sent with a probe since open; at worst some too many */
	bool (*tells)(const struct ctl_port *cp); /* some frames that it sends in this run say which they are: they carry probes */
	const char *(*engine)(const struct ctl_port *cp, const struct stream *s); /* how it makes its frames, static; NULL: it does not */
	json_t *(*task_json)(const struct ctl *c, const struct dp_task *task, const void *about); /* of `show plan`; NULL: the task is not its own */
	void (*plan_json)(const struct ctl *c, json_t *doc); /* what `show plan` says beside tasks */

	const struct work_run *run;            /* NULL: it has no begin and no end, it is there while settings say so */
	const struct work_witness *witness;    /* NULL: it cannot tell of each frame what became of it */
};

extern const struct work *const works[];   /* ends with NULL; made of the list in lib/work */

#define WORK_MAX 8
/* What a work keeps: of a port, which goes with the port, and of control, which goes with control. */
void *work_port(const struct ctl_port *cp, const struct work *of);
void *work_ctl(const struct ctl *c, const struct work *of);

/* For each work w of the list that has that function */
#define EACH_WORK(w, function) for (const struct work *const *w##_at = works, *w; (w = *w##_at) != NULL; w##_at++) if (w->function != NULL)
