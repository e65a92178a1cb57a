/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside `show`: what its files share. One function per kind of result; each makes one JSON tree and lays it out by lib/out. */
#pragma once
#include "out.h"
#include "verbs.h"

struct show_sel {
	struct portset ports;        /* those named, or all */
	bool given;                  /* the user named some */
	const struct target *target; /* when given: with streams */
	int col;
};

typedef int show_fn(struct cmd_run *r, const struct show_sel *sel, struct err *e);

/* A word of `show`. */
struct show_row {
	struct verb_word is;
	show_fn *fn;
	enum show_takes { TAKES_NONE, TAKES_PORTS, TAKES_STREAMS } takes;
};

show_fn show_stats, show_rates, show_queues;                          /* show_stats.c */
show_fn show_ports, show_xstats, show_map, show_plan, show_clock;     /* show_ports.c */
show_fn show_frame, show_settings;                                    /* show_settings.c */
show_fn show_trial;                                                    /* show_trial.c */
show_fn show_log;                                                     /* show_log.c */

/* {"show":what} and now's times. */
json_t *show_doc(const char *what);
/* Keep the elements of doc's array "ports" whose "port" is selected. */
void show_filter(json_t *doc, const struct show_sel *sel);
/* Write doc in the session's mode and release it. */
int show_out(struct cmd_run *r, json_t *doc, const struct out_view *view);
/* Call fn for each selected stream; without a target, for the first stream of each port (all: for every stream). Stops at the first error. */
int show_streams(struct cmd_run *r, const struct show_sel *sel, bool all,
		 int (*fn)(struct cmd_run *r, unsigned port, unsigned stream, void *arg, struct err *e), void *arg, struct err *e);
