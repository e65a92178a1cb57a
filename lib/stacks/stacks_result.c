/* SPDX-License-Identifier: BSD-3-Clause */
#include "stacks_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "out.h"

#define SIGNIFICANT 0.05
#define CONFIDENCE 0.95

struct stacks_results {
	const struct stacks_opts *o;
	json_t *runs;
};

struct stacks_results *stacks_results_new(const struct stacks_opts *o)
{
	struct stacks_results *r = xcalloc(1, sizeof(*r));

	r->o = o;
	r->runs = json_array();
	return r;
}

void stacks_results_free(struct stacks_results *r)
{
	json_decref(r->runs);
	free(r);
}

bool stacks_results_any(const struct stacks_results *r)
{
	return json_array_size(r->runs) > 0;
}

static json_t *real_or_null(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *whole_or_null(double v)
{
	return isfinite(v) ? json_integer((json_int_t)llround(v)) : json_null();
}

static const char *result_unit(const struct stacks_kind *k)
{
	return k->stream ? "bit/s" : "transactions/s";
}

static const char *result_per(const struct stacks_kind *k)
{
	return k->stream ? "GB" : "million transactions";
}

/* Whether the CPU reads or writes each byte of payload at both ends: sockets and devices of the
 * kernel copy it, unless it is thrown away where it comes; and between two ports of a wire it is
 * filling that lies in the buffers already, unless it is compared. A memif copies it. */
static bool result_touched(const struct stacks_opts *o, const struct stacks_kind *k,
			   enum stacks_arm arm)
{
	if (arm == STACKS_PP)
		return o->verify || (k->iperf && o->spec == NULL);
	return stacks_udp(o, k) || !o->skip;
}

/* ---- a run ---- */

/* By how much a number has grown; NAN: nobody knows. */
#define GROWN(end, member) (last->end.known ? last->end.member - first->end.member : (double)NAN)

static double known_or(double v, double other)
{
	return isfinite(v) ? v : other;
}

void stacks_result_put(struct stacks_results *r, const struct stacks_kind *k, enum stacks_arm arm,
		       unsigned run, const char *device, const struct stacks_found *f)
{
	double s = f->ns / 1e9, amount = k->stream ? f->moved / 1e9 : f->done / 1e6;
	json_t *o = json_pack("{s:s,s:s,s:I,s:s,s:I,s:s}", "workload", k->name, "arm",
			      stacks_arm_name[arm], "run", (json_int_t)run, "device", device,
			      "interval_ns", (json_int_t)llround(f->ns), "unit", result_unit(k));

	json_object_set_new(o, "value", real_or_null(k->stream ? 8 * f->moved / s : f->done / s));
	json_object_set_new(o, "transfer_bytes", whole_or_null(f->moved));
	json_object_set_new(o, "bandwidth_bps", whole_or_null(8 * f->moved / s));
	json_object_set_new(o, "retransmits",
			    stacks_udp(r->o, k) ? json_null() : whole_or_null(f->resent));
	json_object_set_new(o, "sender_bps", whole_or_null(f->sent_bps));
	json_object_set_new(o, "receiver_bps", whole_or_null(f->came_bps));
	json_object_set_new(o, "transactions", whole_or_null(f->done));
	json_object_set_new(o, "mismatched_bytes", whole_or_null(f->bad));
	json_object_set_new(o, "cpu_s", real_or_null(f->cpu_ns / 1e9));
	json_object_set_new(o, "cpu_s_per", real_or_null(f->cpu_ns / 1e9 / amount));
	json_object_set_new(o, "busy_cycles", whole_or_null(f->cycles));
	json_object_set_new(o, "cycles_per", real_or_null(f->cycles / amount));
	json_object_set_new(o, "per", json_string(result_per(k)));
	json_object_set_new(o, "datagrams", whole_or_null(f->datagrams));
	json_object_set_new(o, "lost_share", real_or_null(f->lost / f->datagrams));
	json_object_set_new(o, "jitter_ns", whole_or_null(f->jitter_ns));
	json_array_append_new(r->runs, o);
}

void stacks_result_add(struct stacks_results *r, const struct stacks_kind *k, enum stacks_arm arm,
		       unsigned run, const char *device, const struct stacks_reading *first,
		       const struct stacks_reading *last)
{
	bool down = r->o->down && k->stream, wire = arm == STACKS_PP && r->o->spec == NULL;
	double ns = last->asks.at_ns - first->asks.at_ns, bits_ns = 8e9 / ns;
	double sent = down ? GROWN(serves, tx) : GROWN(asks, tx);
	double came = down ? GROWN(asks, rx) : GROWN(serves, rx);
	double resent = GROWN(asks, resent) + known_or(GROWN(serves, resent), 0);
	struct stacks_found f = {.ns = ns,
				 .moved = known_or(came, sent),
				 .sent_bps = sent * bits_ns,
				 .came_bps = came * bits_ns,
				 .done = k->stream ? (double)NAN : GROWN(asks, done),
				 .bad = GROWN(asks, bad) + known_or(GROWN(serves, bad), 0),
				 .datagrams = (double)NAN,
				 .lost = (double)NAN,
				 .jitter_ns = (double)NAN};

	/* both ports of a wire are one process */
	f.cpu_ns = GROWN(asks, cpu_ns) + (wire ? 0 : GROWN(serves, cpu_ns));
	f.cycles = GROWN(asks, cycles) + (wire ? 0 : GROWN(serves, cycles));
	/* both ends count those of one network namespace */
	f.resent = arm == STACKS_KK && r->o->loopback ? GROWN(asks, resent) : resent;
	stacks_result_put(r, k, arm, run, device, &f);
}

/* ---- what they say together ---- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* A number of all runs of a workload and an arm, in order. */
static unsigned values_of(const struct stacks_results *r, const struct stacks_kind *k,
			  enum stacks_arm arm, const char *key, double out[STACKS_RUNS_MOST])
{
	unsigned n = 0;
	const json_t *run;
	size_t i;

	json_array_foreach(r->runs, i, run) {
		const json_t *v = json_object_get(run, key);
		if (strcmp(json_string_value(json_object_get(run, "workload")), k->name) == 0 &&
		    strcmp(json_string_value(json_object_get(run, "arm")), stacks_arm_name[arm]) ==
			    0 &&
		    json_is_number(v) && n < STACKS_RUNS_MOST)
			out[n++] = json_number_value(v);
	}
	qsort(out, n, sizeof(*out), by_size);
	return n;
}

static double median_of(const double *v, unsigned n)
{
	return n == 0 ? (double)NAN : (v[(n - 1) / 2] + v[n / 2]) / 2;
}

static double median_at(const struct stacks_results *r, const struct stacks_kind *k,
			enum stacks_arm arm, const char *key)
{
	double v[STACKS_RUNS_MOST];

	return median_of(v, values_of(r, k, arm, key, v));
}

/* Whether this arm's runs are others than those of the first one. */
static void result_compare(const double *v, unsigned n, const double *base, unsigned nbase,
			   json_t *o)
{
	double least[STACKS_RUNS_MOST], most[STACKS_RUNS_MOST], p;

	for (unsigned i = 0; i < STACKS_RUNS_MOST; i++) {
		least[i] = i;
		most[i] = 1000 + i;
	}
	p = chance_ranks(v, n, base, nbase);
	/* even runs that have nothing in common could be by chance */
	bool few = chance_ranks(least, n, most, nbase) >= SIGNIFICANT;
	json_object_set_new(o, "ratio", real_or_null(median_of(v, n) / median_of(base, nbase)));
	json_object_set_new(o, "p", json_real(p));
	json_object_set_new(o, "different",
			    json_string(few               ? "too few runs"
					: p < SIGNIFICANT ? "yes"
							  : "no"));
}

static const char *device_of(const struct stacks_results *r, const struct stacks_kind *k,
			     enum stacks_arm arm)
{
	const json_t *run;
	size_t i;

	json_array_foreach(r->runs, i, run)
		if (strcmp(json_string_value(json_object_get(run, "workload")), k->name) == 0 &&
		    strcmp(json_string_value(json_object_get(run, "arm")), stacks_arm_name[arm]) ==
			    0)
			return json_string_value(json_object_get(run, "device"));
	return "";
}

static const char *result_congestion(const struct stacks_opts *o, const struct stacks_kind *k)
{
	return k->iperf ? o->iperf.congestion : k->udp ? "none" : STACKS_CONGESTION;
}

static json_t *result_json(const struct stacks_results *r, const struct stacks_kind *k,
			   enum stacks_arm arm, enum stacks_arm base)
{
	double v[STACKS_RUNS_MOST], b[STACKS_RUNS_MOST], chance;
	unsigned n = values_of(r, k, arm, "value", v), nb = values_of(r, k, base, "value", b);
	unsigned out = chance_median(n, CONFIDENCE, &chance);
	json_t *o;

	if (n == 0)
		return NULL;
	o = json_pack("{s:s,s:s,s:s,s:I,s:s,s:f,s:f,s:f,s:f,s:s,s:b,s:b,s:s,s:I}", "workload",
		      k->name, "arm", stacks_arm_name[arm], "device", device_of(r, k, arm), "runs",
		      (json_int_t)n, "unit", result_unit(k), "median", median_of(v, n), "low",
		      v[out], "high", v[n - 1 - out], "confidence", chance, "per", result_per(k),
		      "payload_touched", result_touched(r->o, k, arm), "payload_compared",
		      r->o->verify, "congestion", result_congestion(r->o, k), "rto_floor_ns",
		      (json_int_t)(stacks_udp(r->o, k) ? 0 : STACKS_RTO_MS * 1000000));
	json_object_set_new(o, "retransmits", real_or_null(median_at(r, k, arm, "retransmits")));
	json_object_set_new(o, "cpu_s_per", real_or_null(median_at(r, k, arm, "cpu_s_per")));
	json_object_set_new(o, "cycles_per", real_or_null(median_at(r, k, arm, "cycles_per")));
	json_object_set_new(o, "lost_share", real_or_null(median_at(r, k, arm, "lost_share")));
	json_object_set_new(o, "jitter_ns", real_or_null(median_at(r, k, arm, "jitter_ns")));
	if (arm != base && nb > 0)
		result_compare(v, n, b, nb, o);
	return o;
}

json_t *stacks_results_json(const struct stacks_results *r, bool complete)
{
	const struct stacks_opts *o = r->o;
	json_t *results = json_array(), *doc;
	enum stacks_arm base = STACKS_KK;
	const struct stacks_kind *last = o->kind[o->kinds - 1]; /* where iperf3 stands */
	bool alone = o->kinds == 1 && last->iperf && !o->iperf.udp;

	while (base < STACKS_PP && !o->arm[base])
		base++;
	for (unsigned k = 0; k < o->kinds; k++)
		for (unsigned a = 0; a < STACKS_ARMS; a++) {
			json_t *one = result_json(r, o->kind[k], (enum stacks_arm)a, base);
			if (one != NULL)
				json_array_append_new(results, one);
		}
	doc = json_pack("{s:b,s:s,s:I,s:I,s:[ii],s:s,s:s,s:I,s:b,s:o,s:O}", "complete", complete,
			"where", o->peer != NULL ? "two machines" : "namespaces", "runs_of_each",
			(json_int_t)o->runs, "duration_ns", (json_int_t)o->duration_ns, "cpus",
			o->cpu[0], o->cpu[1], "against", stacks_arm_name[base], "congestion",
			alone ? o->iperf.congestion : STACKS_CONGESTION, "rto_floor_ns",
			(json_int_t)(STACKS_RTO_MS * 1000000), "down", o->down, "results", results,
			"runs", r->runs);
	if (last->iperf) {
		struct sbuf words = {0};
		stacks_iperf_options(o, &words);
		json_object_set_new(doc, "iperf3", out_json_text(sbuf_str(&words)));
		sbuf_free(&words);
	}
	return json_pack("{s:o}", "stacks", doc);
}
