/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of a load balancer, or of any other device, between a port with clients and ports
 * with servers. lb_plan.c says in commands what the streams do for a figure, lb_run.c makes the
 * trials and judges them, lb_doc.c and lb_page.c say what has come of it. Control thread only.
 * docs/lb.md. */
#pragma once
#include "app.h"
#include "capacity.h"
#include "lb_cpu.h"
#include "lb_device.h"
#include "lb_tuples.h"
#include "out.h"
#include "trial.h"

/* In the order in which they are measured: later ones are tried at loads that follow from what
 * earlier ones have found. */
enum lb_figure {
	LB_PPS,
	LB_BPS,
	LB_ELEPHANT_PPS,
	LB_ELEPHANT_BPS,
	LB_TWO_WAY,
	LB_CPS,
	LB_CC,
	LB_FIGURES
};

/* What is known of each before any trial. */
struct lb_about {
	const char *name, *title;
	const char *unit; /* of its value */
	bool frames;      /* of trials of frames; else of connections or transactions */
	bool udp;         /* nothing but UDP can tell it */
	bool bits;        /* the value is in bit/s, and the rates of trials are in frames/s */
	bool climbs;      /* as fast as possible is only as fast as answers come */
	double per;       /* value of a rate of 1 */
};
extern const struct lb_about lb_about[LB_FIGURES];

#define LB_REPEATS 16
#define LB_ELEPHANT_SIZE 1518
#define LB_LOOK_NS 16000000000ull /* about what a look at the servers takes */
#define LB_CONNECTIONS 2000       /* held for the two-way figure */

struct lb_ask {
	struct portset client, servers; /* one port; others */
	unsigned port;                  /* that of the clients */
	bool figure[LB_FIGURES];
	bool look;              /* at what the device makes of its servers */
	bool tcp;               /* the device carries TCP alone */
	uint64_t duration_ns;   /* of each trial */
	uint64_t timeout_ns;    /* the device may know a tuple for so long; 0: nobody cares */
	uint64_t held_most;     /* connections that are tried */
	unsigned repeats, size; /* size: of the frames of LB_BPS */
	double max_loss;
	struct lb_cpu_of device;
	const char *device_cps; /* command that tells what the device has counted; NULL: none */
	struct trial_cfg cfg;
};

/* ---- lb_plan.c ---- */

/* A load: what a figure asks of the streams. */
struct lb_load {
	enum lb_figure figure;
	bool tcp;             /* connections are of TCP */
	unsigned size;        /* of frames */
	uint64_t connections; /* 0: as many as there are tuples */
	double cps, tps;
	uint64_t timeout_ns;
	uint64_t from; /* the first source port; 0: that of the settings */
	double room;   /* tuples of frames that the device has room for; NAN: nobody knows */
};
/* Reads what the settings say of stream 0 of a port. -EINVAL and *e: lb cannot measure with it. */
int lb_side_read(struct app *app, unsigned port, bool client, struct lb_side *out, struct err *e);
/* The commands that make the streams of this side do it, a line each. */
void lb_plan(const struct lb_side *s, bool client, const struct lb_load *l, struct sbuf *out);
/* ---- lb_run.c ---- */

enum lb_what { LB_SEARCH, LB_HALF, LB_FULL };

/* Connections so far: since the begin of the trial. */
struct lb_count {
	uint64_t ns; /* since the begin */
	uint64_t opened, device;
	double held, room; /* of the device: now, and at most. NAN: it has not said so */
};

/* What a trial has come to. Numbers that are not known are NAN. */
struct lb_trial {
	enum lb_what what;
	unsigned repeat; /* of LB_SEARCH, from 0 */
	enum rate_told told;
	double asked;   /* INFINITY: as fast as possible */
	double carried; /* in the unit of `asked` */
	double loss, pps, l1_bps;
	double p50_ns, p99_ns, max_ns;
	double client_cpu, server_cpu; /* busy share of the busiest worker */
	struct lb_cpu cpu;
	/* What the device has counted beside what was opened: at the begin, each second, and at the
	 * end. None: nobody reads it. */
	unsigned ncounts;
	struct lb_count *count;
	double opened; /* connections; NAN: it was of frames */
	char why[512]; /* what went wrong, or why it tells nothing; "" */
};

struct lb_point {
	enum lb_figure figure;
	enum capacity_state state; /* CAPACITY_OPEN: it is being measured, or is not applicable */
	bool skipped;              /* `why` says why */
	unsigned nvalues;
	double value[LB_REPEATS]; /* each search: the highest rate that passed */
	enum capacity_state found[LB_REPEATS];
	double median, least, most; /* of rates; 0: none */
	bool device;                /* what held it back was the device */
	char why[640];
	char note[1024]; /* what else is to be known of the number; "" */
	unsigned ntrials;
	struct lb_trial *trial;
};

struct lb_run;
/* Begins. It refuses what cannot be measured; then nothing has changed. *out is freed with
 * lb_run_free(). */
int lb_run_start(struct cmd_run *r, const struct lb_ask *ask, struct lb_run **out, struct err *e);
/* To be called in each turn: 1 when all is measured, 0: it goes on, -errno. */
int lb_run_poll(struct cmd_run *r, struct lb_run *b, struct err *e);
/* It will go no further: what the figure that is measured has come to so far counts. */
void lb_run_end(struct lb_run *b);
const struct lb_ask *lb_run_ask(const struct lb_run *b);
/* Figures in the order in which they are measured; *n of them. */
const struct lb_point *lb_run_points(const struct lb_run *b, unsigned *n);
/* Whether anything is known of the servers. */
bool lb_run_looked(const struct lb_run *b);
void lb_run_tells(const struct lb_run *b, struct cmd_progress *out);
/* How long its trials last at most, but for what connections take that fail. */
uint64_t lb_run_most_ns(const struct lb_ask *ask);
/* Stops what it still sends, and puts the settings back. NULL is allowed. */
void lb_run_free(struct cmd_run *r, struct lb_run *b);

/* ---- lb_doc.c ---- */

/* {"lb": ...}, app/schema.json. `ended`: early. New reference. */
json_t *lb_json(const struct lb_run *b, bool ended);
const struct out_view *lb_view(const json_t *doc);
/* The columns of the table: the title and what is carried, how it was at half and full load, and
 * what the device counts, for who reads that. */
enum { LB_COL_LOAD = 7, LB_COL_COUNTS = 16, LB_COLS = 21 };
extern const struct out_col lb_figure_cols[LB_COLS];
/* What held each figure back, in sentences; servers: and what was seen of them. */
void lb_words(const json_t *doc, bool servers, struct sbuf *out);

/* ---- lb_servers_doc.c ---- */

extern const struct out_view lb_servers_view, lb_clients_view;
/* Distribution, stickiness, a server that dies: a sentence each. */
void lb_servers_words(const json_t *doc, struct sbuf *out);

/* ---- lb_page.c ---- */

/* One page of HTML with its charts. */
void lb_page(const json_t *doc, struct sbuf *out);
