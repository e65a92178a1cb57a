/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the cycle counters of the CPUs that workers use with that of control's CPU, once, before
 * workers run. This file also makes the document of `show clock`. */
#include <stdlib.h>

#include "clock_skew.h"
#include "ctl_int.h"

#define ROUNDS 200
#define BUDGET_NS 5000000ull /* for all CPUs together */
#define ANSWER_NS 1000000ull /* for all rounds with one CPU */
#define FINE_PPM 1.0
#define MOVED_PPM 20.0

static int tsc_answer(void *arg)
{
	clock_pong(arg);
	return 0;
}

/* Returns why worker w is not compared; NULL: it is. Each CPU is compared by way of the first
 * worker that is on it. */
static const char *not_asked(const struct ctl *c, unsigned w)
{
	if (c->cpus[w].cpu < 0)
		return "its thread may run on several CPUs";
	if (c->ref_cpu < 0)
		return "control may run on several CPUs";
	for (unsigned i = 0; i < w; i++)
		if (c->cpus[i].cpu == c->cpus[w].cpu)
			return "as the worker before on this CPU";
	return NULL;
}

/* Gives each worker the result of the first worker on the same CPU. */
static void same_cpu(struct ctl *c)
{
	for (unsigned w = 0; w < c->nworkers; w++)
		for (unsigned i = 0; i < w && c->cpus[w].cpu >= 0; i++)
			if (c->cpus[i].cpu == c->cpus[w].cpu) {
				c->cpus[w].skew = c->cpus[i].skew;
				c->cpus[w].unchecked = c->cpus[i].unchecked;
				break;
			}
}

int tsc_check(struct ctl *c, struct err *e)
{
	struct clock_pingpong *p = aligned_alloc(CACHE_LINE, (c->nworkers + 1) * sizeof(*p));
	uint64_t end = clock_tsc() + clock_cycles(BUDGET_NS);
	bool *asked = xcalloc(c->nworkers + 1, sizeof(*asked));

	c->cpus = xcalloc(c->nworkers + 1, sizeof(*c->cpus));
	c->ref_cpu = workers_lcore_cpu(rte_get_main_lcore());
	for (unsigned w = 0; w < c->nworkers; w++) {
		struct clock_cpu *u = &c->cpus[w];
		*u = (struct clock_cpu){.cpu = c->worker[w].cpu, .lcore = c->worker[w].lcore};
		u->unchecked = p == NULL ? "no memory" : not_asked(c, w);
		if (u->unchecked != NULL || u->cpu == c->ref_cpu)
			continue;
		p[w] = (struct clock_pingpong){0};
		asked[w] = rte_eal_remote_launch(tsc_answer, &p[w], u->lcore) == 0;
		if (!asked[w])
			u->unchecked = "its thread did not start";
	}
	for (unsigned w = 0; w < c->nworkers; w++) {
		uint64_t first = clock_tsc() + clock_cycles(ANSWER_NS);
		if (asked[w] &&
		    !clock_ping(&p[w], ROUNDS, first < end ? first : end, &c->cpus[w].skew))
			c->cpus[w].unchecked = "its CPU was busy with something else";
	}
	for (unsigned w = 0; w < c->nworkers; w++)
		if (asked[w]) {
			rte_eal_wait_lcore(c->cpus[w].lcore);
			clock_pong_wait(&p[w]);
		}
	same_cpu(c);
	free(asked);
	free(p);
	return clock_skew_judge(c->cpus, c->nworkers, c->ref_cpu, clock_hz(), e);
}

static json_t *cpu_json(const struct ctl *c, const struct clock_cpu *u, double hz)
{
	json_t *o = json_pack("{s:i, s:i}", "lcore", (int)u->lcore, "cpu", u->cpu);

	if (u->unchecked != NULL) {
		json_object_set_new(o, "state", json_string("not checked"));
		json_object_set_new(o, "why", json_string(u->unchecked));
	} else if (u->cpu == c->ref_cpu) {
		json_object_set_new(o, "state", json_string("reference"));
	} else {
		double lo = (double)u->skew.lo * 1e9 / hz, hi = (double)u->skew.hi * 1e9 / hz;
		json_object_set_new(o, "state",
				    json_string(clock_skew_proven(&u->skew) == 0 ? "in step"
										 : "off"));
		json_object_set_new(o, "skew_ns", json_real((lo + hi) / 2));
		json_object_set_new(o, "uncertainty_ns",
				    json_real((hi > lo ? hi - lo : lo - hi) / 2));
		json_object_set_new(o, "rounds", json_integer(u->skew.rounds));
	}
	return o;
}

static void tsc_doubt(json_t *reasons, bool is, const char *text)
{
	if (is)
		json_array_append_new(reasons, json_string(text));
}

/* Lists why the clock may be worse than its figures say. */
static json_t *tsc_doubts(const struct ctl *c, const struct clock_info *i)
{
	json_t *a = json_array();
	char text[80];
	bool unchecked = false, skewed = false;

	for (unsigned w = 0; w < c->nworkers; w++) {
		unchecked |= c->cpus[w].unchecked != NULL;
		skewed |= c->cpus[w].unchecked == NULL && clock_skew_proven(&c->cpus[w].skew) != 0;
	}
	snprintf(text, sizeof(text), "the counter ticks every %.3g ns, and no time is known better",
		 1e9 / i->hz);
	tsc_doubt(a, 1e9 / i->hz > CLOCK_COARSE_NS, text);
	tsc_doubt(a, i->uncertainty_ppm > FINE_PPM, "the frequency is not yet known to 1 ppm");
	tsc_doubt(a, i->moved_ppm > MOVED_PPM,
		  "the frequency moved by more than 20 ppm in the last minute");
	tsc_doubt(a, !i->constant,
		  "the CPU does not promise a constant frequency of its counter (constant_tsc)");
	tsc_doubt(a, !i->nonstop, "the counter may stop when a CPU sleeps (nonstop_tsc)");
	tsc_doubt(a, unchecked, "the counters of some CPUs were not compared");
	tsc_doubt(a, skewed, "the counters of some CPUs are not quite in step");
	return a;
}

static json_t *device_clocks_json(const struct ctl *c)
{
	json_t *list = json_array(), *one;

	for (unsigned i = 0; i < c->nports; i++)
		if ((one = stamps_clock_json(&c->port[i]->p)) != NULL)
			json_array_append_new(list, one);
	return list;
}

json_t *ctl_clock_json(struct ctl *c)
{
	struct clock_info i;
	double dpdk = (double)rte_get_tsc_hz();
	json_t *cpus = json_array(), *reasons;

	clock_refine();
	clock_info(&i);
	for (unsigned w = 0; w < c->nworkers; w++)
		json_array_append_new(cpus, cpu_json(c, &c->cpus[w], i.hz));
	reasons = tsc_doubts(c, &i);
	json_t *o = json_pack("{s:s, s:f, s:f, s:f, s:I, s:s, s:f, s:I, s:I, s:I}", "show", "clock",
			      "hz", i.hz, "tick_ns", 1e9 / i.hz, "uncertainty_ppm",
			      i.uncertainty_ppm, "span_ns", (json_int_t)i.span_ns, "confidence",
			      json_array_size(reasons) == 0 ? "high" : "limited", "moved_ppm",
			      i.moved_ppm, "readings", (json_int_t)i.readings, "rejected",
			      (json_int_t)i.rejected, "restarts", (json_int_t)i.restarts);
	json_t *more = json_pack("{s:b, s:b, s:b, s:s, s:f, s:f, s:i, s:i}", "constant_tsc",
				 (int)i.constant, "nonstop_tsc", (int)i.nonstop, "tsc_reliable",
				 (int)i.reliable, "clocksource", i.source, "dpdk_hz", dpdk,
				 "dpdk_off_ppm", (dpdk - i.hz) / i.hz * 1e6, "control_cpu",
				 c->ref_cpu, "skew_limit_ns", CLOCK_SKEW_MAX_NS);
	json_object_update(o, more);
	json_decref(more);
	json_object_set_new(o, "devices", device_clocks_json(c));
	json_object_set_new(o, "cpus", cpus);
	json_object_set_new(o, "reasons", reasons);
	return o;
}
