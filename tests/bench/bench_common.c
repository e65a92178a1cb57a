/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_common.h>
#include <rte_lcore.h>

#include "bench_common.h"
#include "clock.h"

void die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, rte_strerror(rte_errno));
	exit(3);
}

void *zeroed(size_t n)
{
	void *p = aligned_alloc(CACHE_LINE, RTE_ALIGN_CEIL(n, CACHE_LINE));

	memset(p, 0, n);
	return p;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(double *v, unsigned n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

void start_eal(char *program, char *lcore, bool huge)
{
	char *args[12] = {program, "--no-pci", "--no-telemetry", "--log-level", "3", "-l", lcore};
	int n = 7;

	if (huge) {
		args[n++] = "--in-memory";
	} else {
		args[n++] = "--no-shconf";
		args[n++] = "--no-huge";
		args[n++] = "-m";
		args[n++] = "256";
	}
	clock_init();
	if (rte_eal_init(n, args) < 0)
		die("EAL");
}

static void *run_thread(void *arg)
{
	void (*fn)(void) = *(void (**)(void))arg;

	if (rte_thread_register() < 0)
		die("thread");
	fn();
	return NULL;
}

void on_own_thread(void (*fn)(void))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_thread, &fn) != 0 || pthread_join(thread, NULL) != 0)
		die("thread");
}
