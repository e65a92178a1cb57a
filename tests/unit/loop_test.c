/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the event loop: descriptors, timers and signals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "loop.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull

static struct loop *l;

static int open_loop(void **state)
{
	(void)state;
	l = loop_new();
	return l == NULL;
}

static int close_loop(void **state)
{
	(void)state;
	loop_free(l);
	return 0;
}

static void count(void *arg)
{
	++*(int *)arg;
}

static void read_byte(void *arg, short revents)
{
	char c;

	assert_true(revents & (POLLIN | POLLHUP));
	if (read(*(int *)arg, &c, 1) == 0)
		loop_fd(l, *(int *)arg, 0, NULL, NULL);
}

static void test_fd(void **state)
{
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(loop_fd(l, p[0], POLLIN, read_byte, &p[0]), 0);
	assert_int_equal(write(p[1], "ab", 2), 2);
	loop_turn(l, UINT64_MAX); /* this would hang if the descriptor were not seen */
	loop_turn(l, UINT64_MAX);
	close(p[1]);
	loop_turn(l, UINT64_MAX); /* at the end of the file the callback removes itself */
	loop_turn(l, MS);
	assert_int_equal(loop_fd(l, -1, POLLIN, read_byte, NULL), -EBADF);
	close(p[0]);
}

struct pair {
	int fd[2][2];
	int calls;
};

static void remove_other(void *arg, short revents)
{
	struct pair *p = arg;

	(void)revents;
	p->calls++;
	loop_fd(l, p->fd[0][0], 0, NULL, NULL);
	loop_fd(l, p->fd[1][0], 0, NULL, NULL);
}

static void test_removed_fd_is_not_called(void **state)
{
	struct pair p = {0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(p.fd[i]), 0);
		assert_int_equal(write(p.fd[i][1], "x", 1), 1);
		loop_fd(l, p.fd[i][0], POLLIN, remove_other, &p);
	}
	loop_turn(l, 0);
	loop_turn(l, 0);
	assert_int_equal(p.calls, 1);
	for (int i = 0; i < 2; i++) {
		close(p.fd[i][0]);
		close(p.fd[i][1]);
	}
}

static void test_timers(void **state)
{
	int periodic = 0, once = 0, deleted = 0;
	struct timespec a, b;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &a);
	loop_timer(l, 10 * MS, 10 * MS, count, &periodic);
	loop_timer(l, 5 * MS, 0, count, &once);
	int id = loop_timer(l, 5 * MS, 5 * MS, count, &deleted);
	loop_timer_del(l, id);
	while (periodic < 5)
		loop_turn(l, UINT64_MAX);
	clock_gettime(CLOCK_MONOTONIC, &b);
	int64_t took = (b.tv_sec - a.tv_sec) * 1000000000ll + b.tv_nsec - a.tv_nsec;
	assert_true(took >= (int64_t)(50 * MS)); /* these are five periods, none of them early */
	assert_int_equal(once, 1);
	assert_int_equal(deleted, 0);
}

/* Of several missed periods one is made up for. The machine may stand still until the next one,
 * which then comes in time. */
static void test_missed_periods_are_skipped(void **state)
{
	int n = 0;

	(void)state;
	uint64_t made = loop_now_ns();
	loop_timer(l, MS, 20 * MS, count, &n);
	uint64_t late = loop_now_ns() - made;
	usleep(90000);
	uint64_t first = (loop_now_ns() - made - MS - late) / (20 * MS);
	loop_turn(l, 0);
	assert_int_equal(n, 1);
	for (unsigned i = 0; i < 5; i++)
		loop_turn(l, 0);
	uint64_t last = (loop_now_ns() - made - MS) / (20 * MS);
	assert_in_range(n, 1, 1 + last - first);
}

static void add_another(void *arg)
{
	for (int i = 0; i < 20; i++)
		loop_timer(l, 0, 0, count, arg);
}

static void test_callback_may_add_timers(void **state)
{
	int n = 0;

	(void)state;
	loop_timer(l, 0, 0, add_another, &n);
	for (int i = 0; i < 100 && n < 20; i++)
		loop_turn(l, MS);
	assert_int_equal(n, 20);
}

static int got_signal;

static void on_signal(void *arg, int signo)
{
	(void)arg;
	got_signal = signo;
	loop_stop(l);
}

static void test_signal_and_run(void **state)
{
	int turns = 0;

	(void)state;
	assert_int_equal(loop_signal(l, SIGTERM, on_signal, NULL), 0);
	assert_int_equal(loop_signal(l, SIGUSR1, on_signal, NULL), -EINVAL);
	loop_each_turn(l, count, &turns);
	assert_false(loop_stopped(l));
	kill(getpid(), SIGTERM);
	loop_run(l);
	assert_int_equal(got_signal, SIGTERM);
	assert_true(loop_stopped(l));
	assert_int_equal(turns, 1); /* the turn in which the loop was stopped is finished */
}

#define T(f) cmocka_unit_test_setup_teardown(f, open_loop, close_loop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_fd),
		T(test_removed_fd_is_not_called),
		T(test_timers),
		T(test_missed_periods_are_skipped),
		T(test_callback_may_add_timers),
		T(test_signal_and_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
