/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the work recorder that belong to control share. */
#pragma once
#include "recorder_face.h"
#include "recorder_run.h"
#include "work.h"

/* ON: plans have its tasks. ENDING: they no longer shall, and what was noted is written. OFF: it is
 * over; its numbers can still be shown. */
enum recorder_stage { RECORDER_ON, RECORDER_ENDING, RECORDER_OFF };

/* ---- one file ---- */

/* What is told of a port, and what probes of frames from it say. */
struct recorder_port_about {
	unsigned port;
	char name[64], description[160];
	uint8_t mac[6];
	uint64_t speed_bps; /* 0: not known */
};
/* A ring that goes into a file. */
struct recorder_feed {
	struct recorder_ring *ring;
	unsigned iface;
	uint16_t port, queue;
	bool tx;
};
/* The streams of a port by their cells. */
struct recorder_names {
	unsigned nqueues, ncells; /* 0: frames of this port have no probes */
	uint16_t *id;             /* [ncells]; UINT16_MAX: no stream has the cell */
};

/* Rings on their way to a file. Control fills it in, the writer's thread works on it, and control
 * reads what came of it. */
struct recorder_file {
	struct writer_client client;
	int dir;              /* the folder that the file goes to; it belongs to the recorder */
	const char *dir_text; /* as the user wrote it; "" the current one */
	const char *program;
	bool dump; /* no fault, but a command asked for it */
	unsigned nfeeds, nifaces, nnames;
	struct recorder_feed *feed;
	struct recorder_port_about *iface;
	struct recorder_names *names; /* [nnames], by port */
	/* A stamp is ns_at + (tsc - tsc_at) * ns_of_cycle. */
	uint64_t tsc_at, ns_at;
	double ns_of_cycle;
	uint32_t snap;
	/* what came of it */
	char path[512];
	int error; /* 0, or the errno of what failed */
	uint64_t frames, bytes;
	struct recorder_writing *own; /* the thread's */
};
/* A new file for n rings, without any of them yet. */
struct recorder_file *recorder_file_new(unsigned nfeeds, unsigned nifaces, unsigned nnames);
void recorder_file_free(struct recorder_file *f); /* NULL is allowed */
uint64_t recorder_file_faults(const struct recorder_file *f);
/* The port that the file is named by: of the first fault, or the first one. */
unsigned recorder_file_port(const struct recorder_file *f);
/* A turn of the client. Nothing but this runs on the thread. */
enum writer_turn recorder_file_turn(struct writer_client *);

/* recorder_text.c: comments. before: how long before its frame the one with the number before came,
 * in cycles; 0: in the same burst; RECORDER_UNKNOWN: it is not in the ring. */
#define RECORDER_UNKNOWN UINT64_MAX
void recorder_comment_rx(const struct recorder_file *f, const struct recorder_fault *fault,
			 uint64_t before, struct sbuf *out);
void recorder_comment_tx(const struct recorder_file *f, const struct recorder_fault *fault,
			 uint32_t seq, struct sbuf *out);
/* What the file is about. */
void recorder_comment_file(const struct recorder_file *f, struct sbuf *out);

/* ---- recorders ---- */

struct recorder {
	struct recorder *next;
	struct recorder_spec spec; /* dir is its own copy */
	enum recorder_stage stage;
	unsigned refs; /* of plans */
	bool alone;    /* no worker runs any more */
	int dir;       /* where files go; -1: not open */
	struct recorder_group *group;
	unsigned nqueues, nports, nworkers;
	struct recorder_queue **queue;
	/* The tasks of each port and worker: [place of the port * nworkers + worker]. */
	struct recorder_state **state;
	size_t memory_bytes;
	uint64_t done;     /* the word whose rings have been taken */
	uint64_t since_ns; /* when the rings of a higher one were first looked for; 0: not yet */
	bool dump;         /* a command asked for these rings */
	struct recorder_file *file; /* is being written; NULL: none */
	/* What came of its files. */
	uint64_t nfiles, nfailed, in_files, unwritten[RECORDER_WHYS];
	char last[512];
	char why[160]; /* why the last file that failed did */
	/* When it is off: what its queues had counted. */
	struct recorder_count *kept;
	unsigned nkept;
};
/* What a queue has counted. */
struct recorder_count {
	uint64_t kept, spread, told[DP_FAULTS], unwritten[RECORDER_WHYS];
};

struct recorders {
	struct recorder *first;
	uint64_t files;   /* that were begun */
	uint64_t last_ns; /* when the last one was; CLOCK_MONOTONIC_RAW */
};
struct recorder_port {
	struct recorder *now; /* the newest of the port; NULL: none */
};

extern const struct work work_recorder;
static inline struct recorders *recorders_of(const struct ctl *c)
{
	return work_ctl(c, &work_recorder);
}
static inline struct recorder_port *recorder_of_port(const struct ctl_port *cp)
{
	return work_port(cp, &work_recorder);
}

/* recorder_mem.c: a queue with its two rings, on this NUMA node. NULL: there is no memory. */
struct recorder_queue *recorder_queue_new(uint32_t frames, uint32_t snap, int node);
void recorder_queue_free(struct recorder_queue *q);
size_t recorder_queue_bytes(uint32_t frames, uint32_t snap);
/* The same for one of its rings. */
struct recorder_ring *recorder_ring_new(uint32_t frames, uint32_t snap, int node);
void recorder_ring_free(struct recorder_ring *r);

/* recorder_turn.c: takes rings that were handed over, has them written, and opens the recorder
 * again. */
void recorders_turn(struct ctl *c);
uint64_t recorders_next_ns(const struct ctl *c);
void recorders_close(struct ctl *c);

/* recorder_ctl.c */
void recorder_free(struct recorder *r);
void recorder_free_queues(struct recorder *r);
/* recorder_json.c: what one of its queues has counted. */
void recorder_count_of(const struct recorder *r, unsigned queue, struct recorder_count *out);
