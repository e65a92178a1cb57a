/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside app/set: the tables of each file, and what their checks share. */
#pragma once
#include "set.h"
#include "ctl.h"

/* Each ends with a row without a name. */
extern const struct setting set_view_rows[], set_tester_rows[], set_trial_rows[], set_port_rows[], set_stream_rows[], set_arrival_rows[];
extern const struct setting set_nest_rows[], set_payload_rows[], set_pktgen_rows[], set_habit_rows[], set_later_rows[];

/* Is it one of set_view_rows? */
bool set_of_view(const struct setting *row);

/* Control of the program that the object is of; NULL: the object is of none, or the program has no ports. */
struct ctl *set_ctl(const struct set_obj *obj);

/* A row of the payload that says nothing about this stream as it is: `show settings` leaves it out. */
bool set_payload_idle(const struct setting *row, const struct set_obj *obj);
/* rnd.0 .. rnd.31, made at the first call. */
const struct setting *set_rnd_table(unsigned *n);
void set_rnd_rows(const struct setting ***rows, unsigned *n); /* append them */

/* Append field rows "udp.dst" and word rows "dport" to an array; made once. */
void set_field_rows(const struct setting ***rows, unsigned *n);
/* The rows that set_row_named() has made; their number. Valid until the next is made. */
unsigned set_more_rows(const struct setting *const **rows);

/* Append a row to an array. */
void set_add_row(const struct setting ***rows, unsigned *n, const struct setting *row);

/* Can the frame of a stream be built now? The same answer as `start` gives, as a warning. */
bool set_check_stream(const struct setting *row, const struct set_obj *obj, struct err *warn);
bool set_check_port(const struct setting *row, const struct set_obj *obj, struct err *warn);
/* What counts from the next start only is told while the port sends. */
bool set_check_per_start(const struct setting *row, const struct set_obj *obj, struct err *warn);
/* Arrivals need deadlines, and frames "as fast as possible" have none. */
bool set_check_arrival(const struct setting *row, const struct set_obj *obj, struct err *warn);
/* What the device says to it. */
bool set_check_timestamps(const struct setting *row, const struct set_obj *obj, struct err *warn);
bool set_check_pacing(const struct setting *row, const struct set_obj *obj, struct err *warn);
/* "port 0: 1.488Mpps = 10% = ..." */
void set_echo_load(const struct setting *row, const struct set_obj *obj, struct sbuf *note);
void set_echo_pacing(const struct setting *row, const struct set_obj *obj, struct sbuf *note); /* arrival, catchup, lag, pacing */
void set_echo_stream_load(const struct setting *row, const struct set_obj *obj, struct sbuf *note);
/* The bytes that a stream would send now, or NULL. Valid until the next call. */
const struct frame *set_frame_now(const struct set_obj *stream);

/* app/set/work.c: the store of rows whose values are a work's own. */
void set_work_put(const struct setting *row, const struct set_obj *obj, const void *val);
bool set_work_get(const struct setting *row, const struct set_obj *obj, void *val);
void set_work_unset(const struct setting *row, const struct set_obj *obj);
extern const struct setting_store set_work_store;
