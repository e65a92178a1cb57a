/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the bench: memory and failure, and the jobs that its rows send. */
#pragma once
#include "count_run.h"
#include "dp.h"
#include "send_run.h"

/* Ends the process. */
void die(const char *what) __attribute__((noreturn));
/* Memory of its own cache lines; small things live as long as the process. */
void *zeroed(size_t n);

struct schedule;

/* What one row sends. */
struct row {
	const char *name, *base;              /* base: the bare loop that it is divided by */
	bool (*make)(struct schedule *s);     /* adds the streams; false: this build lacks a protocol */
	unsigned burst;                       /* 0: that of its base */
	bool own_rates;                       /* each stream has a rate of its own, far above reach */
};
extern const struct row rows[];
extern const unsigned nrows;
const struct row *row_named(const char *name);

/* The job of that row on the queue, made as control makes it, or NULL where the build lacks a protocol. *engine: how its frames are written. */
struct gen_job *row_job(const struct row *r, struct dp_txq *q, unsigned burst, const char *isa, const char **engine);

#define ROUNDS 31
struct variant {
	const char *name, *base; /* base: the variant whose slices of the same round it is divided by */
	double (*slice)(struct variant *v); /* cycles per frame of one slice */
	unsigned burst;
	uint16_t dev;
	/* wirerate */
	struct dp_worker *w;
	struct dp_txq *txq, *beside; /* beside: a second share of the same queue, or NULL */
	struct dp_rxq *rxq;
	bool without_taps;       /* turned by off_turns() */
	/* bare */
	struct rte_mempool *pool;
	const char *engine;
	void *own;
	double cyc[ROUNDS], ratio[ROUNDS];
};

/* Is the row among those that are asked for? */
bool wanted(const char *name);
struct variant *add(const char *name, const char *base, double (*slice)(struct variant *v));
struct rte_mempool *new_pool(void);
/* What it sends, it receives. */
uint16_t loop_dev(const char *name, struct rte_mempool *mp);
struct dp_worker *new_worker(const char *name);
struct dp_plan *new_plan(unsigned ntasks, unsigned nrx);
/* Task `at` of the plan counts what comes in on the device. */
void add_sink(struct variant *v, struct dp_plan *p, uint16_t at, uint16_t dev, unsigned burst);

/* bench_off.c: dp_turns() without the code that looks for taps and sorts. */
bool off_turns(struct dp_worker *w, unsigned turns);
/* bench_off_tx.c: kind gen without the code that looks for rates, probes, values that vary and other groups. */
extern const struct dp_kind off_kind_gen;
/* bench_probe.c: what receivers of probes take of frames that wait. */
void add_probe_rows(void);
