/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of recorders. A recorder keeps the last frames of each queue and direction of
 * its ports in rings of memory, all the time. When somebody tells of a fault of a frame
 * (dp_fault.h), the recorder goes on until some frames have come behind it. Then each queue hands
 * its ring over to control, and goes on in a spare one. Nobody waits: a fault that comes while the
 * rings of the one before are being written is counted as unwritten.
 *
 * Where the recorder is stands in one word. It is even while nothing has happened. The queue that
 * is told of a fault makes it odd, if control has opened the recorder for this number; the queue
 * that finds enough frames behind the fault makes it even again, and each queue that sees a higher
 * even number than it knows hands its ring over. */
#pragma once
#include "dp.h"
#include "dp_fault.h"

#define RECORDER_FRAMES_MIN 1024u /* more than a burst, so that an eighth of the ring is too */
#define RECORDER_FAULTS 1024      /* that are noted in one ring */
#define RECORDER_GAPS 64          /* that wait for their missing numbers, of one queue */
/* At the end of a recording, a number is lost if so many frames have come since it was missed. */
#define RECORDER_SETTLED 64
#define RECORDER_LINE 64u /* bytes of slots are a multiple of it */

/* Frames that came at one time and are equally long: those from number `first` on, up to the first
 * one of the next run. */
struct recorder_run {
	uint64_t tsc, first;
	uint32_t len, caplen; /* of each frame, and of what is kept of it */
};

/* A fault as it was told. */
struct recorder_fault {
	uint8_t kind; /* enum dp_fault_kind */
	bool known;
	uint8_t port, txq;
	uint16_t stream;
	uint32_t seq, expected, missing;
	uint64_t at; /* number of its frame in the ring; UINT64_MAX: it is not there */
	uint64_t tsc, since, transit;
};

struct recorder_ring {
	/* control's */
	uint32_t frames, snap, stride; /* slots; bytes kept of a frame; bytes from slot to slot */
	struct recorder_run *run;      /* [frames]: run i is in place i mod frames */
	uint8_t *data;                 /* [frames][stride], aligned to a line */
	/* Whoever holds the ring, a worker or control, is alone with it. Frame i, of `count` that
	 * were written since the ring was begun, is in slot i mod frames. Slots up to that of frame
	 * `most` - 1 were written, some of them with frames that were not sent then. As each run
	 * has a frame, the runs of all frames that are there are there too. */
	uint64_t count, most, nruns;
	uint64_t epoch; /* the recorder's word when it was handed over */
	unsigned nfaults;
	struct recorder_fault fault[RECORDER_FAULTS];
};

/* Why a fault is in no file. */
enum recorder_why {
	RECORDER_BUSY,   /* rings of an earlier fault were being written */
	RECORDER_RATE,   /* a file a second is enough */
	RECORDER_LIMIT,  /* so many files were written that no more are */
	RECORDER_FAILED, /* the file could not be written */
	RECORDER_FULL,   /* there were too many faults for one file */
	RECORDER_WHYS
};

/* What all queues of a recorder share. */
struct recorder_group {
	WR_ALIGNED(CACHE_LINE) uint64_t word; /* see above */
	/* Control: a fault may be recorded while `word` is this number. why: enum recorder_why, of
	 * faults that come at any other. */
	WR_ALIGNED(CACHE_LINE) uint64_t open;
	cell_t why;
	/* Constant while workers use it. */
	uint32_t kinds; /* DP_FAULT_BIT(), what is to be recorded */
	uint64_t quiet_cycles, look_cycles;
};

/* Numbers of a flow that have not come yet. */
struct recorder_gap {
	struct recorder_fault fault;
	uint64_t from; /* frames behind it are counted from this number on */
	uint32_t came; /* so many of them have come meanwhile */
};

struct recorder_queue {
	/* Control sets these before a worker has the queue. */
	struct recorder_group *group;
	uint16_t port, queue;
	bool tx;
	/* The port has several Rx queues: a flow that is spread over them has gaps on each. */
	bool several;
	struct dp_watcher watcher; /* rx */
	struct dp_tx_tap tap;      /* tx: in the shares of its queue */

	/* The worker alone uses these. */
	WR_ALIGNED(CACHE_LINE) struct recorder_ring *ring;
	uint64_t seen;        /* the word as this queue knows it */
	bool attend;          /* something is to be looked at with each burst */
	uint32_t slot, place; /* where the next frame goes, and the next run */
	uint32_t offered;     /* tx: frames that are written and not taken yet */
	uint32_t noffered;    /* tx: runs of them */
	/* The burst that was written last, and the number of its first frame. */
	struct rte_mbuf *const *m;
	unsigned n, hint;
	uint64_t base;
	uint64_t last_tsc;   /* when the last frame came */
	uint64_t trigger_at; /* word odd: number of the frame from which on frames are counted */
	unsigned ngaps;
	struct recorder_gap gap[RECORDER_GAPS];

	/* Cells of the worker. */
	WR_ALIGNED(CACHE_LINE) cell_t seen_frames;
	cell_t told[DP_FAULTS]; /* faults of the kinds that are to be recorded */
	cell_t unwritten[RECORDER_WHYS];
	cell_t spread; /* gaps and disorder of flows that are spread over several queues */
	cell_t held;   /* 1: a worker has the queue */
	/* Ways of rings. spare: control puts one in, the worker takes it. frozen: the other way. */
	WR_ALIGNED(CACHE_LINE) struct recorder_ring *spare;
	struct recorder_ring *frozen;
} WR_ALIGNED(CACHE_LINE);

/* The task of a worker that records: it looks at what frames do not show. */
struct recorder_state {
	struct dp_state base;
};
struct recorder_job {
	struct recorder_group *group;
	unsigned nqueues;
	struct recorder_job_queue {
		struct recorder_queue *q;
		/* The shares of the Tx queue, for queues of sent frames. */
		unsigned nshares;
		struct dp_txq *const *share;
	} queue[];
};
extern const struct dp_kind dp_kind_recorder;

/* Copies the first bytes of n frames, whole lines of 64 bytes, to slots that follow each other. All
 * frames begin at the same place in their buffers. recorder_copy is the fastest variant that this
 * CPU can run, chosen before main(). */
typedef void recorder_copy_fn(uint8_t *slot, uint32_t stride, struct rte_mbuf *const *m, unsigned n,
			      uint32_t bytes);
extern recorder_copy_fn *recorder_copy;
/* Variant i of recorder_copy, as of dp_look_nth(). */
recorder_copy_fn *recorder_copy_nth(unsigned i);

/* Empties a ring, which is the caller's. */
static inline void recorder_ring_begin(struct recorder_ring *r)
{
	r->count = r->most = r->nruns = 0;
	r->nfaults = 0;
}

/* The number of the oldest frame that the ring still has. */
static inline uint64_t recorder_ring_first(const struct recorder_ring *r)
{
	return r->most > r->frames ? r->most - r->frames : 0;
}

/* Run i of the ring, if it is there still. */
static inline const struct recorder_run *recorder_ring_run(const struct recorder_ring *r,
							   uint64_t i)
{
	return &r->run[i % r->frames];
}

/* The number of the run that a frame is in, which is there. It is looked for from the end: where
 * older runs were, there may be some that were taken back. */
static inline uint64_t recorder_ring_run_of(const struct recorder_ring *r, uint64_t frame)
{
	uint64_t i = r->nruns - 1;

	while (recorder_ring_run(r, i)->first > frame)
		i--;
	return i;
}

/* The tap of an Rx queue (struct dp_tap). It stands before that of whoever tells of faults. */
void recorder_rx(void *queue, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		 uint64_t now);
/* The tap of a Tx queue (struct dp_tx_tap). */
void recorder_offered(void *queue, struct rte_mbuf *const *m, unsigned n);
void recorder_taken(void *queue, unsigned n);
/* The watcher's function (struct dp_watcher), during recorder_rx()'s burst. */
void recorder_fault(void *queue, const struct dp_fault *f);
/* What the task does for one queue: it looks whether frames have ceased to come, and what other
 * queues want. */
void recorder_look(struct recorder_queue *q, uint64_t now);
