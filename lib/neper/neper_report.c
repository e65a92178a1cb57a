/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of a run, and what is printed and written of it. */
#include "neper_int.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- samples, on the threads ---- */

static uint64_t line_count(const struct neper *n, const struct sock_line *l)
{
	return n->opts->kind->rr ? cell_get(&l->counts.done) : cell_get(&l->n.rx_bytes);
}

static void sample_percentiles(const struct neper *n, struct sock_line *l, struct neper_sample *s)
{
	struct neper_times *k = l->flow.own;
	struct hist *now, *rest;

	if (k->hist == NULL)
		return;
	now = hist_copy(k->hist);
	rest = hist_copy(now);
	if (l->user != NULL)
		hist_subtract(rest, l->user);
	for (unsigned i = 0; i < n->opts->npercentiles; i++)
		s->percentile[i] = hist_percentile(rest, n->opts->percentile[i]) * NEPER_TICK;
	free(rest);
	free(l->user);
	l->user = now;
}

/* What was added since the last sample. Of connections that are counted together a worker goes on
 * to add meanwhile, in the other one of two places: what it has added in the first of them is read
 * at the next sample, when it has long been away from there. */
static void sample_epoch(const struct neper *n, const struct neper_thread *t, struct neper_times *k,
			 struct neper_sample *s, bool last)
{
	uint64_t at = cell_get(&k->at), before = at ^ 1;

	if (!n->arm->ops->together) {
		s->epoch = k->now[0];
		k->now[0] = (struct neper_epoch){0};
		return;
	}
	if (t->nsamples > 1)
		s[-1].epoch = k->now[before];
	k->now[before] = (struct neper_epoch){0};
	if (last)
		s->epoch = k->now[at];
	else
		__atomic_store_n(&k->at, before, __ATOMIC_RELEASE);
}

static void sample_line(struct neper *n, struct neper_thread *t, struct sock_line *l, uint64_t now,
			bool last)
{
	struct neper_sample *s;

	if ((t->nsamples & (t->nsamples - 1)) == 0)
		t->sample = xrealloc(t->sample,
				     (t->nsamples == 0 ? 1 : 2 * t->nsamples) * sizeof(*t->sample));
	s = &t->sample[t->nsamples++];
	*s = (struct neper_sample){.flow = n->arm->ops->together ? 0 : l->number,
				   .tick = t->nticks,
				   .at_ns = now,
				   .count = line_count(n, l)};
	getrusage(n->arm->ops->together ? RUSAGE_SELF : RUSAGE_THREAD, &s->used);
	if (!n->opts->kind->rr)
		return;
	sample_epoch(n, t, l->flow.own, s, last);
	sample_percentiles(n, l, s);
}

void neper_tick_fn(void *arg, const struct arm_thread *thread, uint64_t now, bool last)
{
	struct neper *n = arg;
	struct neper_thread *t = &n->thread[thread->number];
	struct neper_tick tick = {.at_ns = now};

	if (t->first_ns == 0)
		return;
	for (struct sock_line *l = NULL; (l = thread->next(thread->of, l)) != NULL;) {
		tick.count += line_count(n, l);
		tick.flows++;
		if (*n->opts->all_samples != '\0')
			sample_line(n, t, l, now, last);
	}
	if (!last)
		t->as_neper_count = tick.count;
	if ((t->nticks & (t->nticks - 1)) == 0)
		t->tick =
			xrealloc(t->tick, (t->nticks == 0 ? 1 : 2 * t->nticks) * sizeof(*t->tick));
	t->tick[t->nticks++] = tick;
}

/* ---- moments ---- */

/* The system time of the whole machine, in seconds: system, irq and softirq of all CPUs. */
static double machine_stime(void)
{
	unsigned long long v[7] = {0};
	FILE *f = fopen("/proc/stat", "re");
	double s = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4],
		   &v[5], &v[6]) == 7)
		s = (double)(v[2] + v[5] + v[6]) / (double)sysconf(_SC_CLK_TCK);
	fclose(f);
	return s;
}

double neper_seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

void neper_moment_now(const struct neper *n, struct neper_moment *m)
{
	getrusage(RUSAGE_SELF, &m->used);
	m->stime = n->opts->stime_use_proc ? machine_stime() - n->machine_stime
					   : neper_seconds(&m->used.ru_stime);
}

/* ---- results ---- */

struct report_sums {
	struct neper_epoch all;
	struct hist *hist;
	uint64_t count, logged, lost, mapped, lines, excess, retransmits;
	bool some; /* of which the arm knows that */
	const struct neper *n;
};

static void sum_line(void *arg, struct sock_line *l)
{
	struct report_sums *s = arg;
	struct neper_times *k = l->flow.own;
	struct sock_info info;

	s->lines++;
	s->count += line_count(s->n, l);
	s->mapped += s->n->arm->ops->mapped(s->n->data, l);
	if (s->n->arm->ops->info(s->n->data, l, &info)) {
		s->retransmits += info.retransmits;
		s->some = true;
	}
	if (!s->n->opts->kind->rr)
		return;
	s->logged += k->nlog;
	s->lost += k->lost;
	s->excess += k->excess;
	if (k->all.n == 0)
		return;
	if (s->all.n == 0 || k->all.min < s->all.min)
		s->all.min = k->all.min;
	if (k->all.max > s->all.max)
		s->all.max = k->all.max;
	s->all.n += k->all.n;
	s->all.sum += k->all.sum;
	s->all.squares += k->all.squares;
	if (s->hist != NULL && k->hist != NULL)
		hist_merge(s->hist, k->hist);
}

static void report_emit(struct neper *n, const char *key, const char *fmt, ...) WR_PRINTF(3, 4);
static void report_emit(struct neper *n, const char *key, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n->out.emit(n->out.arg, key, text, true);
}

static void report_text(struct neper *n, const char *key, const char *text)
{
	n->out.emit(n->out.arg, key, text, false);
}

static void report_ns(struct neper *n, const char *key, uint64_t ns)
{
	report_emit(n, key, "%llu.%09llu", (unsigned long long)(ns / 1000000000),
		    (unsigned long long)(ns % 1000000000));
}

static void report_usage(struct neper *n)
{
	const struct neper_moment *a = &n->before, *b = &n->after;

	report_emit(n, "invalid_secret_count", "%u", n->invalid_secrets);
	report_ns(n, "time_start", n->begin_ns);
	report_emit(n, "utime_start", "%.6f", neper_seconds(&a->used.ru_utime));
	report_emit(n, "utime_end", "%.6f", neper_seconds(&b->used.ru_utime));
	report_emit(n, "stime_start", "%.6f", a->stime);
	report_emit(n, "stime_end", "%.6f", b->stime);
	report_emit(n, "maxrss_start", "%ld", a->used.ru_maxrss);
	report_emit(n, "maxrss_end", "%ld", b->used.ru_maxrss);
	report_emit(n, "minflt_start", "%ld", a->used.ru_minflt);
	report_emit(n, "minflt_end", "%ld", b->used.ru_minflt);
	report_emit(n, "majflt_start", "%ld", a->used.ru_majflt);
	report_emit(n, "majflt_end", "%ld", b->used.ru_majflt);
	report_emit(n, "nvcsw_start", "%ld", a->used.ru_nvcsw);
	report_emit(n, "nvcsw_end", "%ld", b->used.ru_nvcsw);
	report_emit(n, "nivcsw_start", "%ld", a->used.ru_nivcsw);
	report_emit(n, "nivcsw_end", "%ld", b->used.ru_nivcsw);
}

double neper_deviation(const struct neper_epoch *e)
{
	double mean, v;

	if (e->n == 0)
		return 0;
	mean = (double)e->sum / (double)e->n;
	v = e->squares / (double)e->n - mean * mean;
	return v > 0 ? sqrt(v) : 0;
}

static void report_latency(struct neper *n, const struct report_sums *s)
{
	char key[64];

	report_ns(n, "latency_min", s->all.min);
	report_ns(n, "latency_max", s->all.max);
	report_ns(n, "latency_mean", s->all.n == 0 ? 0 : s->all.sum / s->all.n);
	report_ns(n, "latency_stddev", (uint64_t)neper_deviation(&s->all));
	for (unsigned i = 0; i < n->opts->npercentiles; i++) {
		snprintf(key, sizeof(key), "latency_p%g", n->opts->percentile[i]);
		report_ns(n, key,
			  s->hist == NULL
				  ? 0
				  : hist_percentile(s->hist, n->opts->percentile[i]) * NEPER_TICK);
	}
}

/* All threads at their common times: how many there are in *out, which the caller frees. */
static uint32_t report_ticks(const struct neper *n, struct neper_tick **out)
{
	uint32_t most = 0;

	for (int64_t i = 0; i < n->threads; i++)
		if (n->thread[i].nticks > most)
			most = n->thread[i].nticks;
	*out = xcalloc(most + 1, sizeof(**out));
	for (uint32_t k = 0; k < most; k++)
		for (int64_t i = 0; i < n->threads; i++) {
			const struct neper_thread *t = &n->thread[i];
			/* counted from the end: at a server threads begin at different times */
			if (t->nticks < most - k)
				continue;
			const struct neper_tick *tick = &t->tick[t->nticks - (most - k)];
			(*out)[k].count += tick->count;
			(*out)[k].flows += tick->flows;
			if (tick->at_ns > (*out)[k].at_ns)
				(*out)[k].at_ns = tick->at_ns;
		}
	return most;
}

/* Pearson's r of time and count, and neper's: the cosine through the first sample. */
static double report_correlation(const struct neper *n, const struct neper_tick *tick, uint32_t nt,
				 bool as_neper)
{
	double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0, m = as_neper ? 0 : 1;
	uint64_t t0 = as_neper && nt > 0 ? tick[0].at_ns : n->begin_ns;
	uint64_t c0 = as_neper && nt > 0 ? tick[0].count : 0;

	for (uint32_t i = as_neper ? 1 : 0; i < nt; i++) {
		if (tick[i].at_ns <= n->begin_ns)
			continue;
		double x = ((double)tick[i].at_ns - (double)t0) / 1e9;
		double y = (double)(tick[i].count - c0);
		sx += x;
		sy += y;
		sxx += x * x;
		syy += y * y;
		sxy += x * y;
		m++;
	}
	if (as_neper)
		return sxx * syy > 0 ? sxy / sqrt(sxx * syy) : 0;
	double dx = sxx - sx * sx / m, dy = syy - sy * sy / m;
	return dx > 0 && dy > 0 ? (sxy - sx * sy / m) / sqrt(dx * dy) : 0;
}

static const struct report_unit {
	const char *opt, *name;
	double bits;
} units[] = {
	{"b", "bits/s", 1},
	{"k", "10^3bits/s", 1e3},
	{"m", "10^6bits/s", 1e6},
	{"g", "10^9bits/s", 1e9},
	{"B", "B/s", 8},
	{"K", "KBytes/s", 8 * 1024.0},
	{"M", "MBytes/s", 8 * 1048576.0},
	{"G", "GBytes/s", 8 * 1073741824.0},
	{"Kb", "Kbit/s", 1e3},
	{"Mb", "Mbit/s", 1e6},
	{"Gb", "Gbit/s", 1e9},
	{"KB", "KB/s", 8e3},
	{"MB", "MB/s", 8e6},
	{"GB", "GB/s", 8e9},
	{"Kib", "Kibit/s", 1024},
	{"Mib", "Mibit/s", 1048576},
	{"Gib", "Gibit/s", 1073741824},
	{"KiB", "KiB/s", 8 * 1024.0},
	{"MiB", "MiB/s", 8 * 1048576.0},
	{"GiB", "GiB/s", 8 * 1073741824.0},
};

static const struct report_unit *report_unit_find(const char *opt, double bits)
{
	static const char *const autos[][4] = {{"auto-b", "Kb", "Mb", "Gb"},
					       {"auto-ib", "Kib", "Mib", "Gib"},
					       {"auto-B", "KB", "MB", "GB"},
					       {"auto-iB", "KiB", "MiB", "GiB"}};

	for (unsigned a = 0; a < ARRAY_SIZE(autos); a++)
		for (unsigned i = 3; strcmp(opt, autos[a][0]) == 0 && i > 0; i--) {
			const struct report_unit *u = report_unit_find(autos[a][i], bits);
			if (i == 1 || bits >= u->bits)
				return u;
		}
	for (unsigned i = 0; i < ARRAY_SIZE(units); i++)
		if (strcmp(units[i].opt, opt) == 0)
			return &units[i];
	return NULL;
}

bool neper_unit_known(const char *name)
{
	return report_unit_find(name, 0) != NULL;
}

static void report_as_neper(struct neper *n, const struct neper_tick *tick, uint32_t nt)
{
	uint64_t count = 0;

	if (!n->opts->as_neper)
		return;
	for (int64_t i = 0; i < n->threads; i++)
		count += n->thread[i].as_neper_count;
	if (n->opts->kind->rr)
		report_emit(n, "as_neper_num_transactions", "%llu", (unsigned long long)count);
	report_emit(n, "as_neper_correlation_coefficient", "%.2f",
		    report_correlation(n, tick, nt, true));
	if (n->opts->as_neper_pacing_rate != n->opts->max_pacing_rate)
		report_emit(n, "as_neper_max_pacing_rate", "%llu",
			    (unsigned long long)n->opts->as_neper_pacing_rate);
}

/* ---- all of it ---- */

static bool report_measures(const struct neper *n)
{
	const struct neper_opts *o = n->opts;

	if (o->kind == &neper_kind[NEPER_TCP_CRR])
		return o->client;
	if (o->kind->rr)
		return true;
	return o->kind->tcp ? o->enable_read : !o->client;
}

static void report_sums(struct neper *n, struct report_sums *s)
{
	*s = (struct report_sums){.n = n};
	if (n->opts->npercentiles > 0)
		s->hist = hist_new(NEPER_SHAPE);
	n->arm->ops->each(n->data, sum_line, s);
}

static uint64_t report_samples(const struct neper *n)
{
	uint64_t samples = 0;

	for (int64_t i = 0; i < n->threads; i++)
		for (uint32_t k = 0; k < n->thread[i].nticks; k++)
			samples += n->thread[i].tick[k].flows;
	return samples;
}

static void report_throughput(struct neper *n, const struct report_sums *s, uint64_t *rate)
{
	double span = (double)(n->end_ns - n->begin_ns) / 1e9;
	double per_s = span > 0 ? (double)s->count / span : 0;

	if (n->opts->kind->rr) {
		*rate = (uint64_t)per_s;
		report_emit(n, "throughput", "%.2f", per_s);
		return;
	}
	const struct report_unit *u = report_unit_find(n->opts->throughput_opt, per_s * 8);
	*rate = (uint64_t)(per_s * 8);
	report_emit(n, "throughput", "%.2f", per_s * 8 / u->bits);
	report_text(n, "throughput_units", u->name);
}

int neper_report(struct neper *n, uint64_t *rate, struct err *e)
{
	struct neper_tick *tick;
	uint32_t nt = report_ticks(n, &tick);
	struct report_sums s;
	int rc = 0;

	report_sums(n, &s);
	report_usage(n);
	*rate = 0;
	if (report_measures(n)) {
		if (n->opts->kind->rr) {
			report_emit(n, "num_transactions", "%llu", (unsigned long long)s.count);
			if (n->opts->client && *n->opts->log_rtt != '\0')
				report_emit(n, "rtt_transactions_logged", "%llu",
					    (unsigned long long)s.logged);
			report_latency(n, &s);
		}
		report_emit(n, "num_samples", "%llu", (unsigned long long)report_samples(n));
		report_ns(n, "time_end", n->end_ns);
		report_emit(n, "correlation_coefficient", "%.2f",
			    report_correlation(n, tick, nt, false));
		report_throughput(n, &s, rate);
		rc = neper_files(n, tick, nt, e);
	}
	if (n->opts->rx_zerocopy) {
		report_emit(n, "bytes_mmaped", "%llu", (unsigned long long)s.mapped);
		report_emit(n, "percent_mmaped", "%llu",
			    s.count == 0 ? 0ull : (unsigned long long)(100 * s.mapped / s.count));
	}
	free(s.hist);
	free(tick);
	return rc;
}

uint64_t neper_excess(struct neper *n)
{
	struct report_sums s = {.n = n};

	n->arm->ops->each(n->data, sum_line, &s);
	return s.excess;
}

static void report_stack(struct neper *n, const struct report_sums *s)
{
	n->arm->ops->say(n->data, n->out.emit, n->out.arg);
	if (n->arm->ops->together)
		report_emit(n, "workers", "%u", (unsigned)n->threads);
	if (s->some)
		report_emit(n, "retransmits", "%llu", (unsigned long long)s->retransmits);
}

void neper_report_end(struct neper *n, uint64_t rate)
{
	struct neper_tick *tick;
	struct report_sums s = {.n = n};
	uint32_t nt = report_ticks(n, &tick);

	n->arm->ops->each(n->data, sum_line, &s);
	report_emit(n, "local_throughput", "%llu", (unsigned long long)rate);
	report_emit(n, "remote_throughput", "%llu", (unsigned long long)n->remote_rate);
	if (report_measures(n))
		report_as_neper(n, tick, nt);
	if ((double)n->tick_ns / 1e9 != n->opts->interval)
		report_emit(n, "effective_interval", "%.6f", (double)n->tick_ns / 1e9);
	if (n->opts->kind->rr && !n->opts->kind->tcp && n->opts->client)
		report_emit(n, "lost_requests", "%llu", (unsigned long long)s.lost);
	report_stack(n, &s);
	free(tick);
}
