/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's clocks, and the calibration of its cycle counter: see clock.h. */
#include "clock.h"
#include "clock_cal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define RECENT_NS 60000000000ull

static struct clock_cal cal;

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

uint64_t clock_waited(struct clock_wait *w, uint64_t now_ns)
{
	if (w->looked_ns != 0 && now_ns > w->looked_ns) {
		uint64_t since = now_ns - w->looked_ns;
		w->waited_ns += since < CLOCK_LOOK_MAX_NS ? since : CLOCK_LOOK_MAX_NS;
	}
	w->looked_ns = now_ns;
	return w->waited_ns;
}

uint64_t clock_wall_ns(void)
{
	return ts_ns(CLOCK_REALTIME);
}

static uint64_t clock_counter(void)
{
	return clock_tsc();
}

/* Reads a clock between two readings of the cycle counter: the cycle count that belongs to it is
 * known to half the distance of these two. Preemption makes some of these brackets wide, so the
 * narrowest of nine is used. */
static struct clock_reading clock_bracket(clockid_t id)
{
	struct clock_reading best = {.width = UINT64_MAX};

	for (int i = 0; i < 9; i++) {
		uint64_t a = clock_tsc(), ns = ts_ns(id), b = clock_tsc();
		if (b - a < best.width)
			best = (struct clock_reading){.tsc = a + (b - a) / 2,
						      .ns = ns,
						      .width = b - a};
	}
	return best;
}

void clock_wall_at(uint64_t *tsc, uint64_t *ns)
{
	struct clock_reading r = clock_bracket(CLOCK_REALTIME);

	*tsc = r.tsc;
	*ns = r.ns;
}

/* Takes one reading for the calibration. It is exact to half a step of the counter at best. */
static struct clock_reading clock_take(void)
{
	uint64_t step = clock_cal_step(clock_counter);
	struct clock_reading best = clock_bracket(CLOCK_MONOTONIC_RAW);

	if (best.width < step - 1)
		best.width = step - 1;
	return best;
}

void clock_init(void)
{
	clock_cal_begin(&cal, clock_take());
}

void clock_refine(void)
{
	clock_cal_add(&cal, clock_take());
}

double clock_hz(void)
{
	while (cal.hz == 0) {
		struct timespec t = {.tv_nsec = 1000000};

		clock_refine();
		if (cal.hz == 0)
			nanosleep(&t, NULL);
	}
	return cal.hz;
}

double clock_moved_ppm(uint64_t since_ns)
{
	clock_refine();
	return clock_cal_moved(&cal, since_ns);
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

static void clock_source(char *out, size_t size)
{
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");

	out[0] = '\0';
	if (f == NULL)
		return;
	if (fgets(out, (int)size, f) == NULL)
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	fclose(f);
}

void clock_info(struct clock_info *out)
{
	uint64_t now = clock_raw_ns();

	*out = (struct clock_info){.hz = clock_hz(),
				   .readings = cal.readings,
				   .rejected = cal.rejected,
				   .restarts = cal.restarts,
				   .span_ns = cal.last.ns - cal.first.ns,
				   .uncertainty_ppm = cal.uncertainty_ppm};
	out->moved_ppm = clock_cal_moved(&cal, now > RECENT_NS ? now - RECENT_NS : 0);
	clock_source(out->source, sizeof(out->source));
#if defined(__x86_64__)
	out->constant = cpu_flag("constant_tsc");
	out->nonstop = cpu_flag("nonstop_tsc");
	out->reliable = cpu_flag("tsc_reliable");
#else
	/* the generic timer of arm64 is all of that by architecture */
	out->constant = out->nonstop = out->reliable = true;
	(void)cpu_flag;
#endif
}

uint64_t clock_ns(uint64_t cycles)
{
	return clock_ns_at(clock_hz(), cycles);
}

uint64_t clock_cycles(uint64_t ns)
{
	return clock_cycles_at(clock_hz(), ns);
}
