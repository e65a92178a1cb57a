/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs read of a run: lines of JSON while it goes on (--json-stream) and a document at its end (--report FILE). app/schema.json
 * says what is in them. Control thread.
 *
 * Lines, each an object with "event", "time_ns" (CLOCK_MONOTONIC_RAW) and "wall_ns":
 * start     "version", "pid", "ports": [{"port", "name", "speed_mbps"}]: the ports are up, nothing has run yet
 * interval  "stats": as `show stats`; each second of control's timer
 * state     "port", "state": sending or idle
 * link      "port", "text"
 * trial     "trial": as `trial` prints it; also of trials in scripts and of clients
 * check     "passed", "text": a check of a script
 * output    "cmd", "text": lines that a command printed and that are not in its results; also documents that a script printed, unless
 *           they stand between the lines (--json)
 * note      "text"; "cmd" when it belongs to a command, "level" when it is one of the log
 * error     "text"; likewise
 * result    "cmd", "ok", "exit_code", "results": [documents]: the last line of each command; "cancelled": true when it was ended early
 * dropped   "count": so many lines `interval` were left out here, because lines before them wait for their reader; no other line ever is
 * end       "exit_code", "signal" (null: none), "run": the document of the end; the last line */
#pragma once
#include "log.h"
#include "sess.h"

struct app;
struct report;

struct report_opts {
	bool lines;       /* --json-stream */
	bool documents;   /* --json beside it: documents stand as lines of their own too, as without the stream */
	const char *file; /* of the document at the end, NULL: none */
	/* One line with its newline, for stdout: 0 or -errno. */
	int (*print)(void *arg, const char *line);
	size_t (*waiting)(void *arg); /* bytes of such lines that their reader has not taken */
	void *arg;
};

/* NULL: neither lines nor file are wanted. */
struct report *report_new(struct app *, const struct report_opts *);
void report_free(struct report *);
void report_session(struct report *, const struct sess_event *);
void report_log(struct report *, const struct log_entry *);
/* The run is over, its traffic too. signo 0: it was no signal. -errno with *e: the file could not be written. */
int report_end(struct report *, int exit_code, int signo, struct err *e);
