/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends frames with probes through the fake NIC, and checks the latencies that are told. */
#pragma once
#include "fake_nic.h"
#include "probe.h"

#define COUNT 20000

static inline struct port_cfg *probing(double pps)
{
	struct port_cfg *cfg = fresh(0, 1);

	cfg->rate = (struct rate){.kind = RATE_PPS, .value = pps};
	cfg->count = COUNT;
	stream(0, 0)->frame.probe = 1;
	return cfg;
}

static inline void run_all(void)
{
	start(0, 0);
	settle(0);
	for (unsigned i = 0; i < 10000 && now(1).rx.packets < COUNT; i++)
		pause_ms(1);
}

static inline json_t *latency(void)
{
	struct portset one = only(1);
	json_t *doc = probe_latency_json(c, &one, 0),
	       *p = json_incref(json_array_get(json_object_get(doc, "ports"), 0));

	json_decref(doc);
	return p;
}

static inline json_int_t stamp_count(const json_t *p, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(p, "timestamps"), key));
}

static inline void source_is(const json_t *p, const char *source)
{
	assert_string_equal(json_string_value(
				    json_object_get(json_object_get(p, "timestamps"), "source")),
			    source);
}

static inline double value(const json_t *p, const char *of, const char *kind, const char *key)
{
	const json_t *o = json_object_get(p, of);

	return json_number_value(json_object_get(kind != NULL ? json_object_get(o, kind) : o, key));
}

/* Checks that all latencies are the NIC's delay, within the error that the document states and the
 * width of a histogram's bin. */
static inline void latency_is_delay(const json_t *p)
{
	double delay = (double)fake.delay / clock_hz() * 1e9;
	double error =
		json_number_value(json_object_get(json_object_get(p, "timestamps"), "error_ns"));

	assert_true(error > 0 && error < 1e6);
	double near = error + delay / 1024 + 1;
	if (fabs(value(p, "latency", "actual", "min_ns") - delay) > near ||
	    fabs(value(p, "latency", "actual", "max_ns") - delay) > near ||
	    fabs(value(p, "latency", "actual", "mean_ns") - delay) > near)
		fail_msg("%.0f .. %.0f ns, mean %.0f, for %.0f within %.0f",
			 value(p, "latency", "actual", "min_ns"),
			 value(p, "latency", "actual", "max_ns"),
			 value(p, "latency", "actual", "mean_ns"), delay, near);
}
