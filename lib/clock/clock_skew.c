/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparison of the cycle counters of two CPUs: see clock_skew.h. */
#include "clock_skew.h"

#include <errno.h>
#include <inttypes.h>

#define OVER UINT64_MAX

/* Reads this CPU's counter, after everything above the call has happened and before anything
 * below it. */
static uint64_t tsc_here(void)
{
#if defined(__x86_64__)
	_mm_lfence();
	uint64_t v = clock_tsc();
	_mm_lfence();
#else
	__asm__ volatile("isb" ::: "memory");
	uint64_t v = clock_tsc();
	__asm__ volatile("isb" ::: "memory");
#endif
	return v;
}

void clock_pong(struct clock_pingpong *p)
{
	uint64_t seen = 0, now;

	for (;;) {
		while ((now = __atomic_load_n(&p->ping, __ATOMIC_ACQUIRE)) == seen)
			;
		if (now == OVER) {
			__atomic_store_n(&p->pong, OVER, __ATOMIC_RELEASE);
			return;
		}
		seen = now;
		p->tsc = tsc_here() + (uint64_t)p->ahead;
		__atomic_store_n(&p->pong, seen, __ATOMIC_RELEASE);
	}
}

void clock_pong_wait(const struct clock_pingpong *p)
{
	while (__atomic_load_n(&p->pong, __ATOMIC_ACQUIRE) != OVER)
		;
}

bool clock_ping(struct clock_pingpong *p, unsigned rounds, uint64_t end_tsc, struct clock_skew *out)
{
	*out = (struct clock_skew){.lo = INT64_MIN, .hi = INT64_MAX};
	for (unsigned k = 1; k <= rounds; k++) {
		uint64_t asked = tsc_here(), got;
		__atomic_store_n(&p->ping, k, __ATOMIC_RELEASE);
		while (__atomic_load_n(&p->pong, __ATOMIC_ACQUIRE) != k)
			if ((int64_t)(clock_tsc() - end_tsc) >= 0)
				goto over;
		got = tsc_here();
		int64_t lo = (int64_t)(p->tsc - got), hi = (int64_t)(p->tsc - asked);
		out->lo = lo > out->lo ? lo : out->lo;
		out->hi = hi < out->hi ? hi : out->hi;
		out->rounds++;
	}
over:
	__atomic_store_n(&p->ping, OVER, __ATOMIC_RELEASE);
	return out->rounds > 0;
}

int64_t clock_skew_proven(const struct clock_skew *s)
{
	if (s->rounds == 0)
		return 0;
	/* The skew was lo or more at one moment, and hi or less at another. */
	int64_t ahead = s->lo > 0 ? s->lo : 0, behind = s->hi < 0 ? s->hi : 0;
	return ahead > -behind ? ahead : behind;
}

static double off_ns(const struct clock_cpu *c, double hz)
{
	return (double)clock_skew_proven(&c->skew) * 1e9 / hz;
}

static bool clock_skew_off(const struct clock_cpu *c, double hz)
{
	double ns = off_ns(c, hz);

	return c->unchecked == NULL && (ns > CLOCK_SKEW_MAX_NS || ns < -CLOCK_SKEW_MAX_NS);
}

int clock_skew_judge(const struct clock_cpu *cpus, unsigned n, int reference, double hz,
		     struct err *e)
{
	struct sbuf agree = {0};
	const struct clock_cpu *worst = NULL;
	int rc = 0;

	sbuf_addf(&agree, "%d", reference);
	for (unsigned i = 0; i < n; i++) {
		double ns = off_ns(&cpus[i], hz), most = worst != NULL ? off_ns(worst, hz) : 0;
		if (!clock_skew_off(&cpus[i], hz)) {
			if (cpus[i].unchecked == NULL && cpus[i].cpu != reference)
				sbuf_addf(&agree, ",%d", cpus[i].cpu);
		} else if ((ns < 0 ? -ns : ns) > (most < 0 ? -most : most)) {
			worst = &cpus[i];
		}
	}
	if (worst != NULL) {
		double ns = off_ns(worst, hz);
		rc = err_set(
			e, ENODEV,
			"the time stamp counter of CPU %d (lcore %u) is at least %.0f ns %s that of CPU %d (control); %d are allowed: frames "
			"would leave and be stamped by clocks that disagree. Take CPUs that agree (of those looked at: %s) with `-l LIST --` "
			"before the options, or have the firmware or the hypervisor synchronise the counters; `dmesg | grep -i tsc` tells what "
			"the kernel found",
			worst->cpu, worst->lcore, ns < 0 ? -ns : ns, ns < 0 ? "behind" : "ahead of",
			reference, CLOCK_SKEW_MAX_NS, sbuf_str(&agree));
	}
	sbuf_free(&agree);
	return rc;
}
