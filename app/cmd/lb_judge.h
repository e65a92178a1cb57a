/* SPDX-License-Identifier: BSD-3-Clause */
/* What counters of a trial say of the device. Pure. */
#pragma once
#include "trial.h"

/* Connections at one moment of a trial. */
struct lb_open {
	uint64_t begun, open; /* so far; and of these now */
	uint64_t ns;          /* since the begin of the trial */
};

/* What was seen of them while the trial sent: in the middle of its time, and last. Behind its time
 * connections come to their end and none begins, so what is open then says nothing of the load. */
struct lb_watch {
	struct lb_open mid, end;
};
/* Takes a look at a trial that sends. One that took long is none: its numbers are of different
 * times. */
void lb_watch_look(struct lb_watch *w, const struct lb_open *now, uint64_t took_ns,
		   uint64_t asked_ns);
/* Whether nearly all of the second half was seen. Else control had no CPU in it, and what is open
 * may have grown without that anybody saw it. */
bool lb_watched(const struct lb_watch *w, uint64_t asked_ns);

/* A device that takes more connections than it serves lets them wait, and fails none of them as
 * long as it has room: in the second half of a trial what is open grows. It must not by more than
 * a share of what was opened, a few that are on their way in any case, and `late`, which our own
 * workers left lying while they had no CPU. Nobody looked in the middle: it does not. */
bool lb_falls_behind(const struct lb_open *mid, const struct lb_open *end, double late);

/* The most that a worker may have been busy, as a share of the time in which the trial sent. It was
 * read when control looked; where that was late, the worker had nothing to open for a while. */
double lb_busy_most(double busy, uint64_t span_ns, uint64_t asked_ns);
/* For how long a worker of ours may have left lying what had come, at the most. */
uint64_t lb_late_ns(const struct trial_result *res);
/* The worker of ours that stood still for so long that what failed in the trial may be its fault,
 * however much trial.max-stall permits; NULL: none did. */
const struct trial_worker *lb_stood_still(const struct trial_result *res);

/* What a device has said of its connections. NAN: it has not. */
struct lb_said {
	double counted; /* new ones in the trial */
	double held;    /* most at any moment of it */
	double room;    /* that it can hold */
};
/* Whether its table was full. */
bool lb_full(const struct lb_said *said);
/* Whether it can have held so many connections as were open. FULL: it says itself that it has no
 * room for them. FORGETS: it has counted some twice, so it had forgotten them while they were
 * open. */
enum lb_hold { LB_HOLDS, LB_IS_FULL, LB_FORGETS };
enum lb_hold lb_holds(double open, const struct lb_said *said);
