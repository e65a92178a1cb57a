/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the trials that lib/trial/knee.h asks for, one after the other, and tells it what came of
 * them. No setting is changed. Control thread only. */
#pragma once
#include "knee.h"

/* A trial takes about so much longer than it sends. */
#define KNEE_NS_AROUND 150000000ull

struct knee_run_spec {
	/* Of each trial; its rate does not count. */
	struct trial_spec trial;
	struct knee_ask ask;
	/* Is called for each trial that is over; NULL: nobody wants to know. */
	void (*told)(void *arg, const struct trial_result *);
	void *arg;
};

struct knee_run;
/* Begins. It refuses what trial_start() refuses: -errno, e says why, and nothing has started. *out
 * is to be freed with knee_run_free(). */
int knee_run_start(struct ctl *c, const struct knee_run_spec *spec, struct knee_run **out,
		   struct err *e);
/* Takes it further; to be called in each turn of control. 1: all is measured. 0: it goes on.
 * -errno: it could not go on, and e says why. */
int knee_run_poll(struct knee_run *r, struct err *e);
const struct knee *knee_run_result(const struct knee_run *r);
enum trial_of knee_run_of(const struct knee_run *r);
/* How much time has gone, and how much all will take as far as can be known. */
void knee_run_progress(const struct knee_run *r, uint64_t *gone_ns, uint64_t *all_ns);
/* Stops what it still sends. NULL is allowed. */
void knee_run_free(struct knee_run *r);
