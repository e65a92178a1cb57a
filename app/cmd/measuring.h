/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs that measure for minutes: what they have found has taken its time, so it is told however
 * they end, and a page of it is written. The memory of such a verb begins with a struct measuring.
 * Control thread only. */
#pragma once
#include "cmd.h"
#include "out.h"

#define MEASURING_DFLT_NS 1000000000ull /* of a trial */
#define MEASURING_MOST_NS (24 * 3600 * 1000000000ull)

/* One that goes on. */
struct measuring {
	void *run;  /* the verb's own; NULL: none */
	char *file; /* of the page; NULL: none is written */
};

/* What is different from one verb to the next. */
struct measuring_kind {
	const char *name;
	/* In each turn: 1: all is measured, 0: it goes on, -errno with *e. */
	int (*poll)(struct cmd_run *r, void *run, struct err *e);
	/* Whether anything was found that is worth to be told. */
	bool (*any)(const void *run);
	/* What was found; complete: nothing is missing. New reference. */
	json_t *(*doc)(struct cmd_run *r, void *run, bool complete);
	/* Prints it and sets the exit code. */
	void (*print)(struct cmd_run *r, void *run, json_t *doc);
	void (*page)(const json_t *doc, struct sbuf *out);
	void (*free)(struct cmd_run *r, void *run);
};

/* The end of the verb's run(): its measurement has begun. file: an argument that may be missing. */
int measuring_begin(struct cmd_run *r, void *run, const struct arg_val *file);
/* The verb's poll(). */
int measuring_poll(struct cmd_run *r, const struct measuring_kind *of, struct err *e);
/* The verb's cancel(): what is found so far is told, or is not. */
void measuring_cancel(struct cmd_run *r, const struct measuring_kind *of);
void measuring_drop(struct cmd_run *r, const struct measuring_kind *of);
/* Says how long it will take, before it begins: "NAME: WHAT, likely 3 s, at most about 1 min; ..."
 */
void measuring_announce(struct cmd_run *r, const struct measuring_kind *of, const char *what,
			uint64_t likely_ns, uint64_t most_ns, const char *then);
/* The duration of a trial, up to a day; *out stays as it is if there is none. -errno with *e. */
int measuring_time(const struct arg_val *a, uint64_t *out, struct err *e);
