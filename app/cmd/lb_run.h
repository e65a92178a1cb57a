/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of lb: a measurement that goes on. lb_run.c leads it, lb_read.c reads what its trials tell
 * and what they come to. */
#pragma once
#include "clock.h"
#include "lb.h"

struct lb_run {
	struct app *app;
	struct lb_ask ask;
	struct lb_side client, *server;
	unsigned nservers;
	uint64_t tuples;
	struct ctl_saved *saved; /* the settings as they were */
	unsigned npoints, now;
	struct lb_point point[LB_FIGURES];
	/* What is measured now: at which rate, in which search, and how often it was repeated. */
	enum lb_what what;
	struct rate_search search;
	unsigned repeat, again;
	double x;
	struct trial *trial;
	bool begun, waits; /* waits: for the device to forget tuples */
	struct lb_cpu_mark mark;
	uint64_t asked_ns, began_ns, begun_ns, ended_ns, gone_ns;
	unsigned ntrials;
};

/* The most opens per second that meet no tuple a second time; INFINITY: any may. */
double lb_cps_most(const struct lb_run *b);
/* What a trial has told; *passed: the rate at which calls or frames came through. */
void lb_read(const struct lb_run *b, const struct trial_result *res, struct lb_trial *out,
	     double *passed);
/* A search is over: its value, its state, and what held it back. */
void lb_search_over(const struct lb_run *b, struct lb_point *p);
/* All of its searches are: the median, the range and the state of the figure. */
void lb_point_over(const struct lb_run *b, struct lb_point *p);
