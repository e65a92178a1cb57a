/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the files of this folder. */
#pragma once
#include "dperf.h"

#define DPERF_CPS_DEFAULT 1000 /* of a client with `cc` alone */

/* Where errors go. Behind DPERF_WRONG_MOST of them nothing more is told. */
struct dperf_wrong {
	const char *name;
	struct sbuf *out;
	unsigned n;
};
void dperf_fail(struct dperf_wrong *w, unsigned line, unsigned col, const char *fmt, ...)
	WR_PRINTF(4, 5);

/* Reads the text of v as that argument says. False: it is none. */
bool dperf_value(const struct dperf_arg *a, struct dperf_value *v);
/* Looks at the file as a whole. */
void dperf_check(const struct dperf_conf *c, struct dperf_wrong *w);
/* Looks at what a file says that the one of its other end does not go with. w is of c. */
void dperf_check_pair(const struct dperf_conf *c, const struct dperf_conf *peer,
		      struct dperf_wrong *w);

/* One port of one file, while it is said in commands. */
struct dperf_say {
	const struct dperf_conf *c, *peer; /* peer: the file of the other role; NULL: none */
	struct dperf_plan *plan;
	struct sbuf *out; /* the plan's settings */
	struct dperf_wrong *wrong;
	unsigned i, port; /* which line of the file; which port of the program */
	unsigned stream;  /* settings are of that one of its streams, from 1 on; 0: of the port */
	unsigned queues;
};
/* Appends `set PORT ...` or `set PORT/STREAM ...`, which follows from that directive, and the end
 * of the line. */
void dperf_set(const struct dperf_say *s, enum dperf_id id, const char *fmt, ...) WR_PRINTF(3, 4);
/* Appends a whole command, which follows from that line. */
void dperf_command(const struct dperf_say *s, const struct dperf_line *l, const char *fmt, ...)
	WR_PRINTF(3, 4);
/* The same of a text that the file has as it stands there: it becomes one word, whatever it has in
 * it that commands have a meaning for. */
void dperf_set_word(const struct dperf_say *s, enum dperf_id id, const char *setting,
		    const char *text);
/* Each appends the settings that its name says. */
void dperf_say_host(const struct dperf_say *s);
void dperf_say_frame(const struct dperf_say *s);
void dperf_say_tuples(const struct dperf_say *s);
void dperf_say_payload(const struct dperf_say *s);
/* dperf_payload.c: whether a file's messages are of HTTP, by its payload_file or payload_size. */
bool dperf_is_http(const struct dperf_conf *c);
/* What of payload_file cannot be done; http: both ends are of HTTP. */
void dperf_payload_check(const struct dperf_conf *c, bool http, struct dperf_wrong *w);
/* Whether the file of a client asks the server to close, so that nobody else has to. */
bool dperf_payload_closes(const struct dperf_conf *c);
/* Appends the settings that files are: one that this end sends, and one that it gets. */
void dperf_say_files(const struct dperf_say *s);
/* The bytes that one frame has room for behind IP and TCP or UDP. */
unsigned dperf_room(const struct dperf_conf *c);
void dperf_say_load(const struct dperf_say *s);
/* The share of a number for all CPUs that one of them has, counted from 0 over all ports, and that
 * the CPUs of this port have; and that of a directive, which is never nothing: a port without
 * connections is no client. */
uint64_t dperf_worker_share(const struct dperf_conf *c, unsigned worker, uint64_t all);
uint64_t dperf_share(const struct dperf_say *s, uint64_t all);
uint64_t dperf_least(const struct dperf_say *s, enum dperf_id id, uint64_t otherwise);
/* A number without an exponent, which commands do not know. */
void dperf_plain(double n, const char *unit, struct sbuf *out);
/* A rate that begins with the slow start, whose first steps pass during the wait. */
void dperf_ramp(const struct dperf_say *s, double rate, const char *unit, struct sbuf *out);
/* n addresses of a line, from number `first` on, as a value of a field. */
void dperf_range(const struct dperf_line *l, uint64_t first, uint64_t n, struct sbuf *out);
/* Numbers as a value of a field. */
struct dperf_span {
	uint64_t first, n, step;
};
void dperf_span_print(const struct dperf_span *v, struct sbuf *out);
/* The tuples of a port as a number counts: digits, the fastest first, which is dperf's order.
 * Addresses are numbers within their lines. */
enum { DPERF_DST, DPERF_DPORT, DPERF_SPORT, DPERF_SRC, DPERF_DIGITS };
void dperf_table(const struct dperf_say *s, struct dperf_span out[DPERF_DIGITS]);
/* The settings of a client whose digits have these values. */
void dperf_say_block(const struct dperf_say *s, const struct dperf_span d[DPERF_DIGITS]);
/* The names of the fields that make a tuple: addresses of IP, ports of what follows. */
struct dperf_fields {
	const char *ip, *l4;
};
struct dperf_fields dperf_fields(const struct dperf_conf *c);
/* What a line `jumbo` says, 0: there is none. */
unsigned dperf_jumbo(const struct dperf_conf *c);
/* Seconds of the wait and of the slow start of a client. */
uint64_t dperf_wait(const struct dperf_conf *c);
uint64_t dperf_slow_start(const struct dperf_conf *c);
/* What a client sends without waiting for answers: a stream of frames, or several, each of which
 * goes over a part of the tuples. */
void dperf_say_flood(const struct dperf_say *s);
/* Tuples of which each digit has all values of its span with all others of the others. */
struct dperf_block {
	struct dperf_span d[DPERF_DIGITS];
	uint64_t tuples;
};
/* What a flood of dperf goes over: exactly the tuples of the connections that its CPUs open. */
struct dperf_held {
	struct dperf_block *block;
	unsigned n;
	uint64_t tuples;  /* of all blocks */
	uint64_t seconds; /* from the start on, until all are open */
};
#define DPERF_BLOCKS_MOST 4096 /* streams of a port */
/* False: they are no more than DPERF_BLOCKS_MOST blocks, which has been told. Free the blocks. */
bool dperf_held(const struct dperf_say *s, struct dperf_held *out);
