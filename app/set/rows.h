/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to app/set: the tables of its files, and what their checks and echoes share. */
#pragma once
#include "set.h"
#include "ctl.h"

/* Each ends with a row without a name. */
extern const struct setting set_view_rows[], set_tester_rows[], set_trial_rows[], set_port_rows[],
	set_rss_rows[], set_stream_rows[], set_arrival_rows[];
extern const struct setting set_nest_rows[], set_payload_rows[], set_habit_rows[];

/* Says whether the row is one of set_view_rows. */
bool set_of_view(const struct setting *row);

/* Control of the program that the object belongs to. NULL: it belongs to no program, or the program
 * has no ports. */
struct ctl *set_ctl(const struct set_obj *obj);

/* Returns true when a row about the payload or random bits says nothing about this stream, so that
 * `show settings` leaves it out. */
bool set_payload_idle(const struct setting *row, const struct set_obj *obj);
/* The rows rnd.0 to rnd.31, which are made at the first call. */
const struct setting *set_rnd_table(unsigned *n);
/* appends pointers to them to an array */
void set_rnd_rows(const struct setting ***rows, unsigned *n);

/* Appends the rows of fields ("udp.dst") to an array. They are made at the first call. */
void set_field_rows(const struct setting ***rows, unsigned *n);
/* The row of a field in the first header of its protocol. */
const struct setting *set_field_row(const struct proto *p, const struct field *f);
/* The rows that set_row_named() and set_rows_for() have made. Returns their number. *rows is valid
 * until the next row is made. */
unsigned set_more_rows(const struct setting *const **rows);

/* Appends a row to an array. */
void set_add_row(const struct setting ***rows, unsigned *n, const struct setting *row);

/* Checks of rows (setting.check). They return true, or false with a warning. */

/* The frame of this stream, or of each stream of this port, can be built. The warning is what
 * `start` would say. */
bool set_check_stream(const struct setting *row, const struct set_obj *obj, struct err *warn);
bool set_check_port(const struct setting *row, const struct set_obj *obj, struct err *warn);
/* The port does not send. For settings that have an effect at the next start only. */
bool set_check_per_start(const struct setting *row, const struct set_obj *obj, struct err *warn);
/* The port has a rate other than max, if arrival is not constant: frames that leave as fast as
 * possible have no deadlines. */
bool set_check_arrival(const struct setting *row, const struct set_obj *obj, struct err *warn);
/* The device can do what is set. */
bool set_check_timestamps(const struct setting *row, const struct set_obj *obj, struct err *warn);
bool set_check_pacing(const struct setting *row, const struct set_obj *obj, struct err *warn);

/* Echoes of rows (setting.echo): they tell a person what the new value comes to, "port 0: 1.488Mpps
 * = 10% = ...". */

void set_echo_load(const struct setting *row, const struct set_obj *obj, struct sbuf *note);
/* arrival, catchup, lag, pacing */
void set_echo_pacing(const struct setting *row, const struct set_obj *obj, struct sbuf *note);
void set_echo_stream_load(const struct setting *row, const struct set_obj *obj, struct sbuf *note);
/* The frame that a stream would send now, NULL: none can be built. Valid until the next call. */
const struct frame *set_frame_now(const struct set_obj *stream);

/* app/set/rows_work.c: the store of rows whose values are in the part of a port's settings that
 * belongs to a work. */
void set_work_put(const struct setting *row, const struct set_obj *obj, const void *val);
bool set_work_get(const struct setting *row, const struct set_obj *obj, void *val);
void set_work_unset(const struct setting *row, const struct set_obj *obj);
extern const struct setting_store set_work_store;
