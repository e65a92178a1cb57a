/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of `show` share. Each word of `show` has a function, which makes one JSON document
 * and lets lib/out print it as JSON, a table or CSV. */
#pragma once
#include "out.h"
#include "verbs.h"

/* The ports or streams that were given to `show`. */
struct show_sel {
	struct portset ports;        /* the ports that were named, or all ports */
	bool given;                  /* there was a list of them */
	const struct target *target; /* if given: the list as it was named, with its objects */
	int col;                     /* column of the list in the line */
};

/* Prints what the word stands for. Returns 0, or -errno with *e. */
typedef int show_fn(struct cmd_run *r, const struct show_sel *sel, struct err *e);

/* A word of `show`, as a piece of the list of words (app/pieces.h). */
struct show_row {
	int at;
	const char *word, *about; /* about: a line for lists and completion */
	show_fn *fn;
	/* what may follow the word */
	enum show_takes {
		TAKES_NONE,
		TAKES_PORTS,
		TAKES_STREAMS,
		TAKES_OBJECTS /* of all scopes */
	} takes;
};

show_fn show_stats, show_rates, show_queues;                      /* show_stats.c */
show_fn show_ports, show_xstats, show_map, show_plan, show_clock; /* show_ports.c */
show_fn show_frame, show_settings;                                /* show_settings.c */
show_fn show_trial;                                               /* show_trial.c */
show_fn show_rss;                                                 /* show_rss.c */
show_fn show_log;                                                 /* show_log.c */

/* Returns a new document: {"show": what}. */
json_t *show_doc(const char *what);
/* Removes the elements of doc's array "ports" whose "port" is not selected. */
void show_filter(json_t *doc, const struct show_sel *sel);
/* Returns whether a list has this stream, by its number or by its port alone. */
bool show_names(const struct target *t, uint64_t port, uint64_t stream);
/* Prints doc in the session's mode, makes it a result of the command, and releases it. Returns
 * 0. */
int show_out(struct cmd_run *r, json_t *doc, const struct out_view *view);
/* Calls fn for each selected stream, until one call fails; arg goes to fn. For ports that are named
 * without streams, `all` says whether a port stands for all of its streams or only for stream 0. If
 * nothing is named, all ports are meant; then a port stands for all of its streams or for its
 * lowest one. Returns 0, or -errno with *e. */
int show_streams(struct cmd_run *r, const struct show_sel *sel, bool all,
		 int (*fn)(struct cmd_run *r, unsigned port, unsigned stream, void *arg,
			   struct err *e),
		 void *arg, struct err *e);
