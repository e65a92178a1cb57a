/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports with random streams, for tests of the frames that workers write. Every frame of a queue is
 * judged against one that is made in the plain way. */
#pragma once
#include <stdint.h>

#include "frame.h"
#include "frame_run.h"

#define MAX_STREAMS 8
#define MAX_RECIPES 64
#define MAX_CYCLE 96
#define MAX_TIMES 3
#define MAX_QUEUES 8
#define DATA 128
#define ROOM 2304
#define NOBJ (FRUN_MAX_BURST + 8)

/* ---- a port: streams, recipes, a cycle ---- */

struct port {
	unsigned nstreams, nrecipes, ncycle, nqueues;
	/* After this many slots the order of streams begins again. The cycle repeats it as often as
	 * its sizes need. */
	unsigned norder;
	struct frame_recipe recipe[MAX_RECIPES];
	const struct frame_recipe *recipe_at[MAX_RECIPES];
	unsigned owner[MAX_RECIPES]; /* stream of each recipe */
	struct frun_slot cycle[MAX_TIMES * MAX_CYCLE];
	uint32_t id[MAX_STREAMS];
	uint64_t o0[MAX_STREAMS];
	uint64_t sched_id;
	bool offload;
	bool apart; /* the two lengths of an object do not lie side by side */
	/* Where the variations of streams begin, found by the stream's and the variation's id. */
	struct {
		uint32_t stream_id;
		uint64_t var_id, base;
	} base[1024];
	unsigned nbases;
};

/* ---- one queue ---- */

struct object {
	uint32_t wide;
	uint16_t narrow, spare;
	uint16_t apart; /* takes the place of narrow if the port's lengths are apart */
	int class;      /* the class whose image it holds; -1: none */
	uint8_t data[DATA + ROOM];
};

struct queue {
	unsigned number;
	struct frun *f;
	void *state;
	struct object *obj;
};

/* Sets where the random numbers below begin, as seed.h says. */
void port_seed(void);
uint64_t pick(uint64_t n); /* 0..n-1 */
uint64_t pick_wide(void);
/* Returns the name of an instruction set, or NULL. */
const char *pick_isa(void);
unsigned pick_burst(void);

struct port *random_port(void);
void free_port(struct port *p);
/* Returns the ordinal at which that variation of a stream begins. NULL: it begins at ordinal 0. */
uint64_t *base_of(struct port *p, unsigned stream, uint64_t id);
/* Returns the ordinal of the stream's next frame when the port has sent k frames. */
uint64_t ordinal(const struct port *p, unsigned stream, uint64_t k);
/* Makes frame k as it must be. Returns its recipe. */
const struct frame_recipe *expect(struct port *p, uint64_t k, uint8_t *out);
void compile(const struct frame_spec *spec, struct frame_recipe *out);

struct frun *new_frun(struct port *p, unsigned queue, const char *isa);
void *state_of(const struct frun *f);
void open_queue(struct queue *q, struct port *p, unsigned number, const char *isa);
void close_queue(struct queue *q);
/* Gives the queue another frun with a state of its own. The queue keeps its buffers, none of which
 * holds an image of the new frun. */
void next_queue(struct queue *q, struct frun *f, void *state);
/* Writes and judges the next n own frames of the queue. */
void burst(struct port *p, struct queue *q, unsigned n);
