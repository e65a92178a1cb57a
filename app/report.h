/* SPDX-License-Identifier: BSD-3-Clause */
/* The course of a run of the program, for other programs to read: lines of JSON while it goes on
 * (--json-stream), and a document at its end (--report FILE). app/schema.json says what is in them.
 * Control thread.
 *
 * Each line is an object with "event" (the first word below), "time_ns" (CLOCK_MONOTONIC_RAW) and
 * "wall_ns":
 * start     "version", "pid", "ports": [{"port", "name", "speed_mbps"}]: the ports are up, nothing
 *           has run yet
 * interval "stats": as `show stats`; once a second
 * state     "port", "state": sending or idle
 * link      "port", "text"
 * trial     "trial": as `trial` prints it; trials that scripts and clients ran are told as well
 * check     "passed", "text": a script has called expect()
 * output    "cmd", "text": what a command printed beside its results. Documents that a script
 * printed are here too, unless --json asks for them as lines of their own
 * note      "text"; "cmd" when it belongs to a command, "level" when it is a message of the log
 * error     "text"; likewise
 * result    "cmd", "ok", "exit_code", "results": [documents]: the last line of each command;
 * "cancelled": true when it was ended early
 * dropped   "count": the number of lines `interval` that were left out here, because the reader has
 * not yet taken the lines before them. Lines of other kinds are never left out
 * end       "exit_code", "signal" (null: none), "run": the document of --report; the last line */
#pragma once
#include "log.h"
#include "sess.h"

struct app;
struct report;

struct report_opts {
	bool lines; /* --json-stream */
	/* --json: documents are printed as lines of their own too, as without --json-stream */
	bool documents;
	const char *file; /* --report; NULL: no document is written */
	/* Prints lines, each with its newline, to stdout. Returns 0 or -errno. */
	int (*print)(void *arg, const char *line);
	size_t (*waiting)(void *arg); /* bytes of printed lines that the reader has not taken yet */
	void *arg;
};

/* Prints the line `start`. *opts is copied. NULL when neither lines nor a file are wanted;
 * report_free(), report_session() and report_log() accept it and do nothing. */
struct report *report_new(struct app *, const struct report_opts *);
void report_free(struct report *);
/* Call these for each event of the session and each message of the log. */
void report_session(struct report *, const struct sess_event *);
void report_log(struct report *, const struct log_entry *);
/* Writes the file and prints the line `end`. Call it when the traffic has ended. signo: the signal
 * that ended the program, 0: none. Returns 0, or -errno with *e when the file could not be
 * written. */
int report_end(struct report *, int exit_code, int signo, struct err *e);
