/* SPDX-License-Identifier: BSD-3-Clause */
/* The bench compares our code with bare loops. This header is private to it: rows and variants. A
 * row says what is sent; a variant is one line of the result, a row or a bare loop with its device
 * and buffers. */
#pragma once
#include "bench_common.h"
#include "count_run.h"
#include "dp.h"
#include "send_run.h"

struct schedule;

/* What one row sends. */
struct row {
	const char *name, *base; /* base: the bare loop with which it is compared */
	/* adds the streams; false: this build lacks a protocol */
	bool (*make)(struct schedule *s);
	unsigned burst;  /* 0: as large as that of its base */
	unsigned queues; /* of the port, of which the row is the first; 0: one */
	bool own_rates;  /* each stream has its own rate, far above reach */
};
extern const struct row rows[];
extern const unsigned nrows;
const struct row *row_named(const char *name);

/* Makes the job that sends the row through the share q, as control makes it. Returns NULL if the
 * build lacks a protocol. *engine gets the name of the way in which its frames are written. */
struct gen_job *row_job(const struct row *r, struct dp_txq *q, unsigned burst, const char *isa,
			const char **engine);

#define ROUNDS 31
struct variant {
	const char *name, *base; /* base: the variant with which it is compared; NULL: none */
	double (*slice)(struct variant *v); /* runs one slice, and returns cycles per frame */
	unsigned burst;
	uint16_t dev;
	/* For variants of our code. */
	struct dp_worker *w;
	struct dp_txq *txq, *beside; /* beside: a second share of the same queue, or NULL */
	struct dp_rxq *rxq;
	bool without_taps; /* off_turns() turns the worker */
	/* It is built for the bench alone, so that others have something to be compared with. */
	bool reference;
	/* For bare loops. */
	struct rte_mempool *pool;
	const char *engine;
	void *own;
	double cyc[ROUNDS], ratio[ROUNDS];
};

/* Returns true when the row is among those that --only asks for. */
bool wanted(const char *name);
/* Adds a variant, which the caller then fills in. base NULL: it is a bare loop. */
struct variant *add(const char *name, const char *base, double (*slice)(struct variant *v));
struct rte_mempool *new_pool(void);
/* Makes a device that receives what it sends. */
uint16_t loop_dev(const char *name, struct rte_mempool *mp);
struct dp_worker *new_worker(const char *name);
struct dp_plan *new_plan(unsigned ntasks, unsigned nrx);
/* Makes task `at` of the plan one that counts the frames which the device receives. */
void add_sink(struct variant *v, struct dp_plan *p, uint16_t at, uint16_t dev, unsigned burst);

/* bench_off.c: dp_turns() without the code that looks for taps and sorts. */
bool off_turns(struct dp_worker *w, unsigned turns);
/* bench_off_tx.c: kind gen without the code that looks for rates, for probes, for values that vary
 * and for other groups. */
extern const struct dp_kind off_kind_gen;
/* bench_host.c: the worker also receives pings from the device `dev`, one in each turn. answers:
 * the share through which a host answers them; NULL: there is none, and they are only counted. */
void add_questions(struct variant *v, uint16_t dev, struct dp_txq *answers);
/* bench_probe.c: adds the rows that receive probes. */
void add_probe_rows(void);
