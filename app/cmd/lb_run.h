/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of lb: a measurement that goes on. lb_run.c leads it, lb_read.c reads what its trials tell
 * and what they come to. */
#pragma once
#include "clock.h"
#include "lb.h"
#include "lb_judge.h"
#include "verb_lines.h"

/* What is waited for. */
enum lb_stage {
	LB_TUPLES, /* until the device has forgotten those of the next trial */
	LB_BEFORE, /* what the device has counted before the trial */
	LB_TRIES,  /* the trial */
	LB_AFTER,  /* what the device has counted behind it */
};

/* What is looked at of the servers behind the device. */
enum lb_look_what {
	LB_LOOK_SPREAD,
	LB_LOOK_STICKY,
	/* In trials of these a server dies. */
	LB_LOOK_DEATH, /* new connections */
	LB_LOOK_OPEN,  /* those that are open */
};
struct lb_look {
	json_t *doc; /* what it has come to; NULL: it has not begun */
	bool goes_on;
	enum lb_look_what what;
	unsigned at;        /* the client of STICKY */
	unsigned again;     /* how often this trial was repeated, since it told nothing */
	struct sbuf client; /* its address */
	double nclients;    /* addresses of clients */
	json_t *before;     /* what the servers had counted before this trial */
	/* of DEATH and OPEN */
	json_t *victim, *samples;
	uint64_t died_ns, returned_ns; /* since the begin; 0: not yet */
};

struct lb_run {
	struct app *app;
	struct lb_ask ask;
	struct lb_side client, *server;
	unsigned nservers;
	uint64_t tuples;
	struct lb_ring ring[2];  /* of UDP, of TCP */
	struct ctl_saved *saved; /* the settings as they were */
	unsigned npoints, now;
	struct lb_point point[LB_FIGURES];
	/* What is measured now: at which rate, in which search, and how often it was repeated. */
	enum lb_what what;
	struct rate_search search;
	unsigned repeat, again;
	double x;
	struct trial *trial;
	enum lb_stage stage;
	bool begun, sent;         /* the trial; sent: its time is over, and it waits for the last */
	struct lb_watch watch;    /* of its connections */
	bool taken, counted;      /* its tuples are chosen; the device's first count is there */
	bool tcp;                 /* what it is of; of connections */
	uint64_t from;            /* its first source port */
	struct lb_device *reader; /* NULL: nobody reads what the device counts */
	bool asked_last;          /* reader: for what is behind the trial */
	unsigned ncounts;
	struct lb_count *count; /* of this trial; then it is that of its struct lb_trial */
	double room;            /* connections, as the device says; NAN: it has not */
	uint64_t crowded_ns;    /* since when its table is too full for a trial; 0: it is not */
	uint64_t count_ns;      /* when the last count before a trial came */
	struct lb_cpu_mark mark, mark_end;
	uint64_t asked_ns, began_ns, begun_ns, ended_ns, gone_ns;
	unsigned ntrials;
	struct lb_look look;
};

/* ---- lb_run.c ---- */

/* Sets the streams of both sides for a load. */
int lb_set_streams(struct cmd_run *r, const struct lb_run *b, const struct lb_load *l,
		   struct err *e);

/* ---- lb_servers.c: what the device makes of its servers ---- */

/* Both return 1 when it is over, and 0 as long as it goes on. What is wrong is in the document. */
int lb_look_start(struct cmd_run *r, struct lb_run *b);
int lb_look_poll(struct cmd_run *r, struct lb_run *b);
/* What it does now, for people. */
void lb_look_tells(const struct lb_run *b, char *out, size_t size);
void lb_look_free(struct lb_look *k);

/* What each server has counted, of all ports. New reference; NULL with *e. */
json_t *lb_servers_now(struct cmd_run *r, const struct lb_run *b, struct err *e);
/* A number of a server, a sample or the like; 0: there is none. */
double lb_server_number(const json_t *s, const char *key);
bool lb_server_same(const json_t *a, const json_t *b);
/* Puts into o, from samples: when connections began and ceased to fail, since `died`; and when the
 * server had more of `key` again, since `back`, which it returns, too. NAN: never. */
double lb_death_times(json_t *o, const json_t *samples, const char *key, double died, double back);

/* ---- lb_servers_open.c: a server that dies, and the connections that are open then ---- */

/* How long it lasts. */
uint64_t lb_open_ns(const struct lb_run *b);
/* Transactions per second that are asked for. */
double lb_open_tps(const struct lb_run *b);
/* What the streams do; opens: connections per second. Returns how many tuples that may use. */
double lb_open_load(const struct lb_run *b, double opens, struct lb_load *l);
int lb_open_sample(struct cmd_run *r, struct lb_run *b, struct err *e);
/* Whether any was open when it died. */
bool lb_open_told(const struct lb_run *b);
/* What it has told: an object of b->look.doc, which keeps it. */
json_t *lb_open_read(struct lb_run *b, const json_t *now);

/* ---- lb_counts.c: what the device counts, beside ours ---- */

/* Asks for the count before a trial. 0 or -errno with *e, as of all of these. */
int lb_counts_begin(struct lb_run *b, struct err *e);
/* 1: the count before the trial is there. 0: not yet. */
int lb_counts_before(struct lb_run *b, struct err *e);
/* In each turn of the trial: asks each second. */
int lb_counts_each(struct lb_run *b, struct err *e);
/* 1: the count behind the trial is there. 0: not yet. */
int lb_counts_after(struct lb_run *b, struct err *e);
/* What the device has said of its connections in a trial. */
void lb_counts_said(const struct lb_trial *t, struct lb_said *out);
/* Whether the table of the device still has so many connections of trials before that the next one,
 * which opens `opens`, finds no room in it, and may yet forget some of them: there is patience for
 * `most_ns`. */
bool lb_counts_crowded(struct lb_run *b, double opens, uint64_t most_ns);

/* A rate that is no load for the device: half of what the first n points have found for a figure,
 * at most `most`; `unknown`: they have found none. */
double lb_easy(const struct lb_run *b, unsigned n, enum lb_figure figure, double most,
	       double unknown);
/* The most opens per second that meet no tuple a second time; INFINITY: any may. */
double lb_cps_most(const struct lb_run *b);
/* What a trial has told; *passed: the rate at which calls or frames came through. */
void lb_read(const struct lb_run *b, const struct trial_result *res, struct lb_trial *out,
	     double *passed);
/* A search is over: its value, its state, and what held it back. */
void lb_search_over(const struct lb_run *b, struct lb_point *p);
/* All of its searches are: the median, the range and the state of the figure. */
void lb_point_over(const struct lb_run *b, struct lb_point *p);
