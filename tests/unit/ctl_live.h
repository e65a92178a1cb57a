/* SPDX-License-Identifier: BSD-3-Clause */
/* Control with real workers, for tests. Ports 0 and 1 are a wire, and port 2 is null. */
#pragma once
#include <sched.h>

#include "ctl_wait.h"

static inline void start(unsigned port, uint64_t ns)
{
	struct portset s = only(port);
	struct err e = {.text = ""};

	if (ctl_start(c, &s, ns, &e) < 0)
		fail_msg("%s", e.text);
	ctl_turn(c);
}

static inline void stop(unsigned port)
{
	struct portset s = only(port);

	ctl_stop(c, &s);
	settle(port);
}

/* Checks that control refuses to start the port, with a message that has both texts in it. */
static inline void refused(unsigned port, const char *word, const char *help)
{
	struct portset s = only(port);
	struct err e = {.text = ""};
	int rc = ctl_start(c, &s, 0, &e);

	if (rc >= 0 || strstr(e.text, word) == NULL || strstr(e.text, help) == NULL)
		fail_msg("%d '%s'; wanted '%s' and '%s'", rc, e.text, word, help);
	assert_false(ctl_sending(c, port));
}

/* Resets the port to so many streams, at full rate, and clears counters. Returns its settings. */
static inline struct port_cfg *fresh(unsigned port, unsigned streams)
{
	struct portset all = only(0);

	portset_add(&all, 1);
	portset_add(&all, 2);
	ctl_reset(c, port);
	if (streams > 1)
		assert_int_equal(ctl_stream_add(c, port, -1, streams - 1, -1, NULL), 1);
	ctl_turn(c);
	ctl_clear(c, &all);
	ctl_port_cfg(c, port)->rate = (struct rate){.kind = RATE_MAX};
	/* This machine may stand still for any time, and tests count all frames that were due. */
	ctl_port_cfg(c, port)->catchup = (struct catchup){.kind = CATCHUP_KEEP};
	return ctl_port_cfg(c, port);
}

static inline struct stream_cfg *stream(unsigned port, unsigned id)
{
	ctl_touch_stream(c, port, (int)id, WHY_ALL);
	return ctl_stream_cfg(c, port, id);
}

static inline void own_pps(unsigned port, unsigned id, double pps)
{
	stream(port, id)->rate =
		(struct own_rate){.set = true, .rate = {.kind = RATE_PPS, .value = pps}};
}

static inline void fixed_size(unsigned port, unsigned id, unsigned size)
{
	stream(port, id)->sizes =
		(struct sizes){.kind = SIZES_FIXED, .n = 1, .item = {{(uint16_t)size, 1}}};
}

/* Returns a port of a new snapshot, without its queues. */
static inline struct snap_port now(unsigned port)
{
	struct snap *s = ctl_snapshot(c);
	struct snap_port p = s->port[port];

	p.queue = NULL;
	snap_free(s);
	free(s);
	return p;
}

static inline json_t *streams_of(unsigned port)
{
	struct portset s = only(port);

	return ctl_streams_json(c, &s);
}

/* Returns a counter of what a stream has sent; -1: there is no such stream. */
static inline json_int_t sent(unsigned port, unsigned id, const char *what)
{
	json_t *all = streams_of(port), *row;
	json_int_t n = -1;
	size_t i;

	json_array_foreach(json_object_get(all, "streams"), i, row)
		if (json_integer_value(json_object_get(row, "stream")) == (json_int_t)id)
			n = json_integer_value(json_object_get(json_object_get(row, "tx"), what));
	json_decref(all);
	return n;
}

static inline void no_events(void)
{
	struct ctl_event ev;

	while (ctl_event_next(c, &ev))
		;
}

/* Turns control until all workers have acknowledged their newest plans. */
static inline void taken_up(void)
{
	ctl_turn(c);
	for (unsigned i = 0; i < 10000 && (plan_waits(c) || plan_behind(c) != NULL); i++) {
		pause_ms(1);
		ctl_turn(c);
	}
	assert_false(plan_waits(c));
	assert_null(plan_behind(c));
}

/* Opens control. Returns false if it cannot start here; then the test is skipped. */
static inline bool live_open_with(const struct ctl_opts *o)
{
	struct err e = {.text = ""};

	if (ctl_open(&c, o, &e) == 0)
		return true;
	fprintf(stderr, "skipped: %s\n", e.text);
	return false;
}

/* The same with ports 0 to 2 as said above. */
static inline bool live_open(const char *prog)
{
	static const char *const specs[] = {"wire", "null"};
	struct ctl_opts o = {.prog = prog, .ports = specs, .nports = 2};

	return live_open_with(&o);
}

/* The same on the first and the last CPU of this process: `lcores` is the text of EAL's option, in
 * which %d stands for each of the two in turn. */
static inline bool live_open_on(struct ctl_opts o, const char *lcores)
{
	static char option[] = "--lcores", text[64];
	char *args[] = {option, text};
	int first = -1, last = 0;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return false;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &cpus)) {
			first = first < 0 ? i : first;
			last = i;
		}
	snprintf(text, sizeof(text), lcores, first, last);
	o.eal_args = args;
	o.neal_args = 2;
	return live_open_with(&o);
}
