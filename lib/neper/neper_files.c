/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a run: samples.csv and the times of transactions. */
#include "neper_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userfile.h"

struct csv_row {
	unsigned thread;
	const struct neper_sample *s;
};

static int csv_order(const void *a, const void *b)
{
	const struct csv_row *x = a, *y = b;

	if (x->s->at_ns != y->s->at_ns)
		return x->s->at_ns < y->s->at_ns ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->s->flow < y->s->flow ? -1 : x->s->flow > y->s->flow;
}

static void csv_head(const struct neper *n, FILE *f)
{
	const char *what = n->opts->kind->rr ? "transactions" : "bytes_read";

	fprintf(f, "tid,flow_id,time,%s,%s/s,utime,stime,maxrss,minflt,majflt,nvcsw,nivcsw", what,
		what);
	if (n->opts->kind->rr) {
		fputs(",latency_min,latency_mean,latency_max,latency_stddev", f);
		for (unsigned i = 0; i < n->opts->npercentiles; i++)
			fprintf(f, ",latency_p%g", n->opts->percentile[i]);
	}
	fputc('\n', f);
}

static void csv_row(const struct neper *n, FILE *f, const struct csv_row *r, double rate)
{
	const struct neper_sample *s = r->s;

	fprintf(f, "%u,%u,%llu.%09llu,%llu,%.2f,%.6f,%.6f,%ld,%ld,%ld,%ld,%ld", r->thread, s->flow,
		(unsigned long long)(s->at_ns / 1000000000),
		(unsigned long long)(s->at_ns % 1000000000), (unsigned long long)s->count, rate,
		neper_seconds(&s->used.ru_utime), neper_seconds(&s->used.ru_stime),
		s->used.ru_maxrss, s->used.ru_minflt, s->used.ru_majflt, s->used.ru_nvcsw,
		s->used.ru_nivcsw);
	if (n->opts->kind->rr) {
		const struct neper_epoch *e = &s->epoch;
		fprintf(f, ",%.6f,%.6f,%.6f,%.6f", (double)e->min / 1e9,
			e->n == 0 ? 0.0 : (double)e->sum / (double)e->n / 1e9, (double)e->max / 1e9,
			neper_deviation(e) / 1e9);
		for (unsigned i = 0; i < n->opts->npercentiles; i++)
			fprintf(f, ",%.6f", (double)s->percentile[i] / 1e9);
	}
	fputc('\n', f);
}

/* The rate of a row is that of all flows in the interval that it ends. */
static double csv_rate(const struct neper *n, const struct neper_tick *tick, uint32_t nt,
		       uint32_t i)
{
	uint64_t t0 = i == 0 ? n->begin_ns : tick[i - 1].at_ns;
	uint64_t c0 = i == 0 ? 0 : tick[i - 1].count;

	if (i >= nt || tick[i].at_ns <= t0)
		return 0;
	return (double)(tick[i].count - c0) * 1e9 / (double)(tick[i].at_ns - t0);
}

static int file_end(FILE *f, const char *name, struct err *e)
{
	bool bad = ferror(f) != 0;

	if (fclose(f) == 0 && !bad)
		return 0;
	return err_set(e, EIO, "'%s' cannot be written: %s", name, strerror(errno));
}

static FILE *file_begin(const char *name, struct err *e)
{
	const char *why = NULL;
	int fd = userfile_open(name, O_WRONLY | O_CREAT, 0666, &why);
	FILE *f = fd < 0 || ftruncate(fd, 0) != 0 ? NULL : fdopen(fd, "w");

	if (f != NULL)
		return f;
	err_set(e, fd < 0 ? -fd : errno, "'%s' cannot be written: %s", name,
		fd < 0 && why != NULL ? why : strerror(errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* A file that is not there is made and removed again. */
static int file_check(const char *name, struct err *e)
{
	bool there = access(name, F_OK) == 0;
	const char *why = NULL;
	int fd = userfile_open(name, O_WRONLY | O_CREAT, 0666, &why);

	if (fd < 0)
		return err_set(e, -fd, "'%s' cannot be written: %s", name,
			       why != NULL ? why : strerror(-fd));
	close(fd);
	if (!there)
		unlink(name);
	return 0;
}

static int write_csv(struct neper *n, const struct neper_tick *tick, uint32_t nt, struct err *e)
{
	FILE *f = file_begin(n->opts->all_samples, e);
	struct csv_row *row;
	size_t rows = 0;

	if (f == NULL)
		return -EIO;
	for (int64_t i = 0; i < n->threads; i++)
		rows += n->thread[i].nsamples;
	row = xcalloc(rows + 1, sizeof(*row));
	rows = 0;
	for (int64_t i = 0; i < n->threads; i++)
		for (uint32_t s = 0; s < n->thread[i].nsamples; s++)
			row[rows++] = (struct csv_row){(unsigned)i, &n->thread[i].sample[s]};
	qsort(row, rows, sizeof(*row), csv_order);
	csv_head(n, f);
	for (size_t i = 0; i < rows; i++) {
		const struct neper_thread *t = &n->thread[row[i].thread];
		csv_row(n, f, &row[i], csv_rate(n, tick, nt, nt - t->nticks + row[i].s->tick));
	}
	free(row);
	return file_end(f, n->opts->all_samples, e);
}

struct rtt_file {
	FILE *f;
	const struct neper *n;
	bool csv;
	/* When the run began, on the clock of the log. Workers of a port have one of their own:
	 * there it is the begin of the first transaction. */
	uint64_t zero;
};

static void rtt_zero(void *arg, struct sock_line *l)
{
	struct rtt_file *r = arg;
	const struct neper_times *k = l->flow.own;

	for (uint64_t i = 0; i < k->nlog; i++)
		r->zero = k->log[i].at < r->zero ? k->log[i].at : r->zero;
}

static void write_rtt_line(void *arg, struct sock_line *l)
{
	const struct rtt_file *r = arg;
	const struct neper_times *k = l->flow.own;

	for (uint64_t i = 0; i < k->nlog; i++) {
		double at = ((double)k->log[i].at - (double)r->zero) / 1e9;
		fprintf(r->f, r->csv ? "%15.9f,%10u,%10u,%12.9f\n" : "%15.9f %10u %10u %12.9f\n",
			at, neper_thread_of(r->n, l),
			k->flow_log != NULL ? k->log[i].flow : l->number,
			(double)k->log[i].ns / 1e9);
	}
}

static int write_rtt(struct neper *n, struct err *e)
{
	const char *name = n->opts->log_rtt;
	size_t len = strlen(name);
	struct rtt_file r = {.n = n, .csv = len >= 4 && strcmp(name + len - 4, ".csv") == 0};

	r.f = file_begin(name, e);
	if (r.f == NULL)
		return -EIO;
	fprintf(r.f, r.csv ? "%15s,%10s,%10s,%12s\n" : "%15s %10s %10s %12s\n", "timestamp",
		"thread_id", "flow_id", "rtt");
	r.zero = n->arm->ops->together ? UINT64_MAX : n->begin_ns;
	if (n->arm->ops->together)
		n->arm->ops->each(n->data, rtt_zero, &r);
	n->arm->ops->each(n->data, write_rtt_line, &r);
	return file_end(r.f, name, e);
}

int neper_files(struct neper *n, const struct neper_tick *tick, uint32_t nt, struct err *e)
{
	int rc = 0;

	if (*n->opts->all_samples != '\0')
		rc = write_csv(n, tick, nt, e);
	if (rc == 0 && n->opts->kind->rr && n->opts->client && *n->opts->log_rtt != '\0')
		rc = write_rtt(n, e);
	return rc;
}

int neper_files_check(const struct neper *n, struct err *e)
{
	const struct neper_opts *o = n->opts;
	int rc = *o->all_samples != '\0' ? file_check(o->all_samples, e) : 0;

	return rc == 0 && o->kind->rr && o->client && *o->log_rtt != '\0'
		       ? file_check(o->log_rtt, e)
		       : rc;
}
