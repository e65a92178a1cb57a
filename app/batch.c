/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch.h"
#include "visible.h"

#include <stdio.h>
#include <unistd.h>

#include "clock.h"
#include "ui/feed.h"

#define SETTLE_POLL_NS 1000000ull

static void batch_wake(void *arg)
{
	(void)arg;
}

/* Stops all ports whose runs have no end, and puts the other sending ports into *bounded. */
static void stop_unbounded(struct app *app, struct portset *bounded)
{
	struct portset rest = {0};

	*bounded = (struct portset){0};
	for (unsigned p = 0; p < ctl_nports(app->ctl); p++)
		if (ctl_sending(app->ctl, p))
			portset_add(ctl_bounded(app->ctl, p) ? bounded : &rest, p);
	ctl_stop(app->ctl, &rest);
}

/* What batch_run() does when all input is done, and its result. */
static int end_of_input(struct app *app, const struct batch_opts *opts)
{
	struct portset bounded;
	struct sbuf note = {0};
	int rc = 0;

	stop_unbounded(app, &bounded);
	if (portset_empty(&bounded))
		return 0;
	int timer = loop_timer(app->loop, SETTLE_POLL_NS, SETTLE_POLL_NS, batch_wake, NULL);
	while (!loop_stopped(app->loop) && (rc = ctl_settled(app->ctl, &bounded)) == 0)
		opts->turn(opts->arg);
	loop_timer_del(app->loop, timer);
	if (rc >= 0)
		return 0;
	app_tell_stuck(app, &bounded, &note);
	visible_print(stderr, "%s", sbuf_str(&note));
	sbuf_free(&note);
	return 1;
}

void batch_settle(struct app *app, uint64_t most_ns)
{
	struct clock_wait wait = {0};
	struct portset all;

	app_all_ports(app, &all);
	ctl_stop(app->ctl, &all);
	while (ctl_settled(app->ctl, &all) == 0 && clock_waited(&wait, clock_raw_ns()) < most_ns)
		loop_turn(app->loop, SETTLE_POLL_NS);
}

int batch_run(struct app *app, struct sess *sess, const struct batch_opts *opts)
{
	struct feed *feed =
		opts->read_stdin ? feed_new(app->loop, sess, STDIN_FILENO, "stdin") : NULL;

	if (opts->command != NULL)
		sess_exec(sess, opts->command, NULL);
	while (!loop_stopped(app->loop) && !sess_failed(sess)) {
		if (feed != NULL)
			feed_turn(feed);
		if (!sess_busy(sess) && (feed == NULL || feed_ended(feed)))
			break;
		opts->turn(opts->arg);
	}
	feed_free(feed);
	/* No port is waited for if a refused command, a signal or `quit` has stopped the input. */
	if (!loop_stopped(app->loop) && !sess_failed(sess))
		return end_of_input(app, opts);
	return 0;
}
