/* SPDX-License-Identifier: BSD-3-Clause */
/* The arm `port`: two streams of a port carry a program's connections, one those of control and one
 * its data. This is its begin, its turns, and its end. */
#include "flows_arm_port.h"

#include <errno.h>
#include <stdlib.h>

#define TURN_NS 1000000
/* So long what connections of control have put may take to go out. */
#define FINISH_NS 200000000ull
/* So long connections of data may take to close. */
#define CLOSE_NS 2000000000ull

static void port_fail(struct port_arm *a, const struct err *e)
{
	if (a->stage == PORT_FAILED || a->stage == PORT_ENDS)
		return;
	a->stage = PORT_FAILED;
	a->error = *e;
}

void flows_arm_free(struct port_arm *a)
{
	for (unsigned i = 0; i < FLOWS_SERVED; i++)
		sbuf_free(&a->tuned[i]);
	free(a);
}

static bool dropped_turn(struct port_arm *a);

static void port_starts(struct port_arm *a)
{
	struct err e;
	int rc = ctl_start_ready(a->ctl, &a->ports, a->again, &e);

	a->again = true;
	if (rc > 0)
		rc = ctl_start(a->ctl, &a->ports, 0, &e);
	else if (rc == 0)
		return;
	if (rc < 0)
		port_fail(a, &e);
	else
		a->stage = PORT_RUNS;
}

static void port_turn(void *arg)
{
	struct port_arm *a = arg;
	struct err e;

	if (a->stage == PORT_ASKED) {
		port_starts(a);
	} else if (a->stage == PORT_RUNS && !ctl_sending(a->ctl, a->ask.port)) {
		err_set(&e, ECANCELED, "port %u was stopped", a->ask.port);
		port_fail(a, &e);
	}
	if (a->stage == PORT_RUNS)
		flows_chans_accept(a);
	flows_chans_turn(a);
	if (dropped_turn(a))
		return;
	if (a->data != NULL && a->stage != PORT_NEW && a->stage != PORT_ENDS)
		flows_data_events(a->data);
}

static struct arm *arm_flows_make(struct cmd_run *r, const struct arm_port_ask *ask)
{
	struct port_arm *a = xcalloc(1, sizeof(*a));
	struct app *app = app_of(r);

	*a = (struct port_arm){
		.base = {&flows_arm_ops}, .r = r, .ctl = app->ctl, .loop = app->loop, .ask = *ask};
	portset_add(&a->ports, ask->port);
	a->timer = loop_timer(a->loop, TURN_NS, TURN_NS, port_turn, a);
	return &a->base;
}

/* The second time what is open is reset. */
static void port_resets(struct port_arm *a)
{
	a->reset_at = 0;
	ctl_stop(a->ctl, &a->ports);
}

static void port_stops(struct port_arm *a)
{
	a->stops = true;
	a->reset_at = sock_now_ns() + CLOSE_NS;
	ctl_stop(a->ctl, &a->ports);
}

/* Connections of data close beside those of control, which may still have something to acknowledge.
 * Where they are to be reset, they are when those have gone. */
static void arm_flows_end(struct arm *arm)
{
	struct port_arm *a = port_of(arm);

	a->stage = PORT_ENDS;
	if (!a->resets || a->chans == NULL)
		port_stops(a);
}

static void arm_is_over(struct port_arm *a)
{
	flows_chans_free(a);
	loop_timer_del(a->loop, a->timer);
	flows_arm_give_streams(a);
	if (a->arm != NULL)
		flows_arm_end(a->arm); /* which frees it, now or later */
	else
		flows_arm_free(a);
}

static bool arm_flows_over(struct arm *arm)
{
	struct port_arm *a = port_of(arm);
	bool sending = ctl_sending(a->ctl, a->ask.port);

	if (!a->stops && !(sending && a->chans != NULL))
		port_stops(a);
	if (sending && a->reset_at != 0 && (a->resets || sock_now_ns() >= a->reset_at))
		port_resets(a);
	if (sending)
		return false;
	arm_is_over(a);
	return true;
}

/* Those that nobody asks any more: their own timers see to their ends. */
static struct port_arm *dropped; /* control is one thread */

static bool dropped_turn(struct port_arm *a)
{
	struct port_arm **at = &dropped;

	while (*at != NULL && *at != a)
		at = &(*at)->next_dropped;
	if (*at == NULL)
		return false;
	*at = a->next_dropped;
	if (arm_flows_over(&a->base))
		return true;
	a->next_dropped = dropped;
	dropped = a;
	return false;
}

/* What its connections of control have put still goes out, as a socket's would: now, as the program
 * may be about to end. */
static void arm_flows_drop(struct arm *arm)
{
	struct port_arm *a = port_of(arm);

	arm_flows_end(arm);
	flows_chans_finish(a, FINISH_NS);
	a->next_dropped = dropped;
	dropped = a;
	dropped_turn(a);
}

const struct arm_port flows_arm_port = {
	.make = arm_flows_make,
	.end = arm_flows_end,
	.over = arm_flows_over,
	.drop = arm_flows_drop,
};
