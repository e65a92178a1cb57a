/* SPDX-License-Identifier: BSD-3-Clause */
/* pktperf on wirerate's libraries: prints what each queue does, until a signal ends it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "clock.h"
#include "pktperf.h"
#include "visible.h"

#define SECOND_NS 1000000000ull

/* One turn of control, then a wait of at most most_ns for a signal. True: one has come. */
static bool perf_turn(struct perf *p, const sigset_t *ends, uint64_t most_ns)
{
	struct ctl_event ev;

	ctl_turn(p->ctl);
	while (ctl_event_next(p->ctl, &ev))
		visible_print(stderr, "pktperf: %s\n", ev.text);
	uint64_t ns = ctl_next_ns(p->ctl) < most_ns ? ctl_next_ns(p->ctl) : most_ns;
	const struct timespec wait = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
	return sigtimedwait(ends, NULL, &wait) > 0;
}

/* Prints what happened since *since, which becomes now. -EINTR: nobody reads. */
static int perf_print(struct perf *p, struct snap **since, bool totals, const sigset_t *ends)
{
	struct pollfd fd[] = {{STDOUT_FILENO, POLLOUT, 0}, {signalfd(-1, ends, 0), POLLIN, 0}};
	struct snap *now = ctl_snapshot(p->ctl);
	struct sbuf out = {0};
	int rc = 0;

	sbuf_add(&out, !totals && isatty(STDOUT_FILENO) ? "\033[2J\033[1;1H" : "");
	perf_text(p, *since, now, totals, &out);
	for (size_t at = 0, n; rc == 0 && at < out.len; at += n) {
		n = out.len - at < 512 ? out.len - at : 512; /* for which a pipe has room */
		poll(fd, 2, totals ? 5000 : -1);
		if (fd[0].revents == 0 || write(STDOUT_FILENO, out.s + at, n) < 0)
			rc = fd[0].revents == 0 ? -EINTR : -errno;
	}
	close(fd[1].fd);
	sbuf_free(&out);
	snap_free(*since);
	free(*since);
	*since = now;
	return rc;
}

/* Sends and prints until a signal comes. */
static int perf_run(struct perf *p, const sigset_t *ends, struct err *e)
{
	struct snap *first = ctl_snapshot(p->ctl), *last = ctl_snapshot(p->ctl);
	uint64_t now = first->time_ns, tick = now + SECOND_NS, print = now + p->every_ns, end;
	int rc = portset_empty(&p->senders) ? 0 : ctl_start(p->ctl, &p->senders, 0, e), out = rc;

	while (out == 0 && !perf_turn(p, ends, (tick < print ? tick : print) - now)) {
		if ((now = clock_raw_ns()) >= tick) {
			ctl_tick(p->ctl);
			tick = now + SECOND_NS;
		}
		if (now >= print) {
			out = perf_print(p, &last, false, ends);
			print += (1 + (now - print) / p->every_ns) * p->every_ns;
		}
	}
	ctl_stop(p->ctl, &p->senders); /* totals wait until nothing moves, but not for ever */
	for (end = clock_raw_ns() + 5 * SECOND_NS; out == 0 && clock_raw_ns() < end;)
		if (ctl_settled(p->ctl, &p->senders) != 0 || perf_turn(p, ends, SECOND_NS / 1000))
			break;
	out = out == 0 ? perf_print(p, &first, true, ends) : out;
	for (struct snap **s = (struct snap *[]){first, last, NULL}; *s != NULL; free(*s++))
		snap_free(*s);
	if (rc == 0 && out != 0 && out != -EPIPE) /* a reader that has enough may go */
		rc = err_set(e, EIO, "standard output takes no more: %s", strerror(-out));
	return rc;
}

int main(int argc, char **argv)
{
	struct err e = {.text = ""};
	struct perf p;
	sigset_t ends;
	int rc = perf_args(&p, argc, argv, &e);

	sigemptyset(&ends);
	for (const int *sig = (int[]){SIGINT, SIGTERM, SIGHUP, 0}; *sig != 0; sig++)
		sigaddset(&ends, *sig);
	sigprocmask(SIG_BLOCK, &ends, NULL); /* before there are more threads */
	signal(SIGPIPE, SIG_IGN);
	if (rc == 0 && p.help)
		printf("%s", perf_help);
	else if (rc == 0 && (rc = perf_open(&p, &e)) == 0)
		rc = perf_run(&p, &ends, &e);
	if (rc < 0)
		visible_print(stderr, "pktperf: %s\n", e.text);
	ctl_close(p.ctl);
	free(p.map);
	return rc == 0 ? 0 : rc == -EINVAL || rc == -ENOTSUP ? 2 : 3;
}
