/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define MIN_SPAN_NS 10000000ull

struct reading {
	uint64_t tsc, ns, width; /* tsc in the middle of a bracket of `width` cycles */
};

static struct reading first, last;
static double hz;

static uint64_t ts_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

uint64_t clock_raw_ns(void)
{
	return ts_ns(CLOCK_MONOTONIC_RAW);
}

uint64_t clock_wall_ns(void)
{
	return ts_ns(CLOCK_REALTIME);
}

/* A clock reading between two TSC readings is known to half their distance; preemption widens some, so the narrowest of a few counts. */
static struct reading take(void)
{
	struct reading best = {.width = UINT64_MAX};

	for (int i = 0; i < 9; i++) {
		uint64_t a = clock_tsc(), ns = clock_raw_ns(), b = clock_tsc();
		if (b - a < best.width)
			best = (struct reading){.tsc = a + (b - a) / 2, .ns = ns, .width = b - a};
	}
	return best;
}

void clock_init(void)
{
	first = take();
	last = first;
	hz = 0;
}

void clock_refine(void)
{
	struct reading r = take();

	if (r.ns - first.ns < MIN_SPAN_NS)
		return;
	last = r;
	hz = (double)(last.tsc - first.tsc) * 1e9 / (double)(last.ns - first.ns);
}

double clock_hz(void)
{
	while (hz == 0) {
		struct timespec t = {.tv_nsec = 1000000};

		clock_refine();
		if (hz == 0)
			nanosleep(&t, NULL);
	}
	return hz;
}

static bool cpu_flag(const char *flag)
{
	char line[8192];
	bool found = false;
	FILE *f = fopen("/proc/cpuinfo", "r");

	if (f == NULL)
		return false;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "flags", 5) == 0) {
			char *p = strstr(line, flag);
			found = p != NULL && p[-1] == ' ';
			break;
		}
	}
	fclose(f);
	return found;
}

void clock_info(struct clock_info *out)
{
	out->hz = clock_hz();
	out->span_ns = last.ns - first.ns;
	out->uncertainty_ppm = (double)(first.width + last.width) / 2 / (double)(last.tsc - first.tsc) * 1e6;
#if defined(__x86_64__)
	out->constant = cpu_flag("constant_tsc");
	out->nonstop = cpu_flag("nonstop_tsc");
#else
	out->constant = out->nonstop = true; /* the generic timer of arm64 is both by architecture */
	(void)cpu_flag;
#endif
}

uint64_t clock_ns(uint64_t cycles)
{
	return (uint64_t)((long double)cycles * 1e9L / (long double)clock_hz() + 0.5L);
}

uint64_t clock_cycles(uint64_t ns)
{
	return (uint64_t)((long double)ns * (long double)clock_hz() / 1e9L + 0.5L);
}
