/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the bench: memory and failure, and the jobs that its rows send. */
#pragma once
#include "dp.h"

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
