/* SPDX-License-Identifier: BSD-3-Clause */
/* The search of the limit, the loads up to it and the place of the knee, against made devices whose
 * limits and latencies are known. */
#include "cmocka_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "knee.h"

struct made {
	double carries; /* each second; what is more is lost */
	double sends;   /* as fast as possible */
	double bend;    /* from this rate on it takes ten times as long */
	unsigned samples;
	double connect_ns;                   /* 0: no such time */
	double disturbed_from, disturbed_to; /* trials at these rates are not valid */
	unsigned disturb;                    /* so many trials more are not valid */
	double loses_below;                  /* a share of 0.1 is lost at lower rates */
	double resends_from; /* of segments a share of 0.1 is sent again; 0: never */
};

static struct made fine(void)
{
	return (struct made){.carries = 1000000,
			     .sends = 3000000,
			     .bend = 500000,
			     .samples = 1000000,
			     .disturbed_from = INFINITY};
}

static void times(struct knee_times *t, double ns, unsigned samples)
{
	t->samples = samples;
	for (unsigned i = 0; i < KNEE_RANKS; i++)
		t->ns[i] = samples >= knee_ranks[i].samples ? ns : (double)NAN;
	t->max_ns = ns;
}

static void try_at(struct made *m, struct rate rate, struct knee_reading *r)
{
	double want = rate.kind == RATE_MAX ? m->sends : rate.value, sent = fmin(want, m->sends);

	*r = (struct knee_reading){.valid = true, .intended = want, .offered = sent, .each = sent};
	for (unsigned i = 0; i < KNEE_TIMES; i++)
		times(&r->time[i], NAN, 0);
	times(&r->time[KNEE_DUE], sent < m->bend ? 1000 : 10000, m->samples);
	if (m->connect_ns > 0)
		times(&r->time[KNEE_CONNECT],
		      sent < m->bend / 2 ? m->connect_ns : 3 * m->connect_ns, m->samples);
	r->passed = fmin(sent, m->carries);
	r->loss = 1 - r->passed / sent;
	if (sent < m->loses_below)
		r->loss = 0.1;
	r->resent = m->resends_from > 0 && sent >= m->resends_from ? 0.1 : 0;
	if (rate.kind != RATE_MAX && sent < want) {
		r->valid = false;
		r->is_short = true;
	}
	bool disturbed = want >= m->disturbed_from && want <= m->disturbed_to;
	if (disturbed || m->disturb > 0) {
		m->disturb -= m->disturb > 0;
		r->valid = r->is_short = false;
		snprintf(r->why, sizeof(r->why), "other work");
	}
}

static struct knee k;

static unsigned measure(struct made *m, const struct knee_ask *ask)
{
	struct knee_reading r;
	struct rate rate;
	unsigned n = 0;

	knee_begin(&k, ask);
	while (knee_next(&k, &rate)) {
		assert_true(knee_rest(&k) > 0);
		try_at(m, rate, &r);
		knee_feed(&k, &r);
		assert_true(++n < 400);
	}
	assert_int_equal(knee_rest(&k), 0);
	return n;
}

static const struct knee_ask searched = {.max = {.kind = RATE_MAX}, .nloads = 10};

static void test_limit(void **state)
{
	struct made m = fine();

	(void)state;
	measure(&m, &searched);
	assert_int_equal(k.limit_by, KNEE_EXACT);
	assert_int_equal(k.limit.kind, RATE_EACH);
	assert_true(k.limit.value <= m.carries && k.limit.value > 0.96 * m.carries);
	assert_string_equal(k.why, "");
	assert_int_equal(knee_measured(&k), 10);
	for (unsigned i = 0; i < 10; i++) {
		assert_true(fabs(k.load[i].share - (i + 1) / 10.0) < 1e-9);
		assert_true(fabs(k.load[i].rate.value - k.limit.value * (i + 1) / 10) < 1);
		assert_true(k.load[i].at.valid && k.load[i].trials == 1);
	}
}

/* What the tester sends as fast as it can arrives: the limit leaves room for deadlines. */
static void test_tester_is_the_limit(void **state)
{
	struct made m = fine();

	(void)state;
	m.carries = 1e9;
	measure(&m, &searched);
	assert_int_equal(k.limit_by, KNEE_LEAST);
	assert_true(k.limit.value < (1 - KNEE_SPARE) * m.sends && k.limit.value > 0.9 * m.sends);
	assert_true(k.limit.value < 0.951 * k.search.low);
	assert_true(k.load[9].at.valid);
}

static void test_given(void **state)
{
	const struct knee_ask ask = {.max = {.kind = RATE_PERCENT, .value = 50}, .nloads = 4};
	struct made m = fine();

	(void)state;
	assert_int_equal(measure(&m, &ask), 4);
	assert_int_equal(k.limit_by, KNEE_GIVEN);
	assert_int_equal(k.search.trials, 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(k.load[i].rate.kind, RATE_PERCENT);
		assert_true(k.load[i].rate.value == 12.5 * (i + 1));
	}
}

static void test_no_limit(void **state)
{
	struct made m = fine();

	(void)state;
	m.carries = 0;
	measure(&m, &searched);
	assert_int_equal(k.limit_by, KNEE_NOTHING);
	assert_int_equal(knee_measured(&k), 0);
	m = fine();
	m.disturb = 1000;
	measure(&m, &searched);
	assert_int_equal(k.limit_by, KNEE_INVALID);
	assert_string_equal(k.why, "other work");
	assert_int_equal(knee_measured(&k), 0);
}

static void test_allowed_loss(void **state)
{
	struct knee_ask ask = searched;
	struct made m = fine();

	(void)state;
	ask.max_loss = 0.5;
	measure(&m, &ask);
	assert_true(k.limit.value > 1.9 * m.carries && k.limit.value <= 2 * m.carries);
}

/* TCP mends what is lost: nothing fails, and from a rate on segments are sent again. */
static void test_sent_again(void **state)
{
	struct knee_ask ask = searched;
	struct made m = fine();
	struct knee_place at;

	(void)state;
	m.carries = 1e9;
	m.resends_from = 200000;
	m.bend = INFINITY;
	measure(&m, &ask);
	assert_true(k.limit.value > 0.9 * m.sends);
	ask.by_resent = true;
	measure(&m, &ask);
	assert_int_equal(k.limit_by, KNEE_EXACT);
	assert_true(k.limit.value <= 200000 && k.limit.value > 0.96 * 200000);
	knee_find(&k, TRIAL_CONNECTIONS, &at);
	assert_int_equal(at.found, KNEE_BEYOND);
	/* a share of 0.1 is sent again from there on */
	ask.max_resent = 0.1;
	measure(&m, &ask);
	assert_true(k.limit.value > 0.9 * m.sends);
	ask.max_resent = 0.09;
	ask.max = (struct rate){.kind = RATE_CPS, .value = 400000};
	ask.nloads = 4;
	measure(&m, &ask);
	knee_find(&k, TRIAL_CONNECTIONS, &at);
	assert_true(at.found == KNEE_FOUND && at.at == 0 && at.above == 1);
	assert_string_equal(at.why, "10% of segments are sent again");
}

/* A load gets three trials; the one that counts is the last. */
static void test_not_valid(void **state)
{
	const struct knee_ask ask = {.max = {.kind = RATE_PPS, .value = 1000000}, .nloads = 10};
	struct made m = fine();
	struct knee_place at;

	(void)state;
	m.disturb = 2;
	m.disturbed_from = 299000;
	m.disturbed_to = 301000;
	assert_int_equal(measure(&m, &ask), 14);
	assert_true(k.load[0].at.valid && k.load[0].trials == 3);
	assert_true(!k.load[2].at.valid && k.load[2].trials == 3);
	knee_find(&k, TRIAL_FRAMES, &at);
	assert_int_equal(at.found, KNEE_FOUND);
	assert_int_equal(at.base, 0);
	assert_int_equal(at.at, 3);
	assert_int_equal(at.above, 4);
	assert_non_null(strstr(at.why, "since due 99% is 10 times"));

	/* the last one before the knee is not valid */
	m.disturbed_from = 399000;
	m.disturbed_to = 401000;
	measure(&m, &ask);
	knee_find(&k, TRIAL_FRAMES, &at);
	assert_int_equal(at.at, 2);
	assert_int_equal(at.above, 4);

	/* the lowest one is not valid: the next one takes its place */
	m.disturbed_from = 0;
	m.disturbed_to = 101000;
	measure(&m, &ask);
	knee_find(&k, TRIAL_FRAMES, &at);
	assert_int_equal(at.base, 1);
	assert_int_equal(at.at, 3);

	m.disturbed_to = 901000;
	measure(&m, &ask);
	knee_find(&k, TRIAL_FRAMES, &at);
	assert_int_equal(at.found, KNEE_UNKNOWN);
	assert_non_null(strstr(at.why, "only one load"));
	m.disturbed_to = 2e6;
	measure(&m, &ask);
	knee_find(&k, TRIAL_FRAMES, &at);
	assert_int_equal(at.found, KNEE_UNKNOWN);
	assert_non_null(strstr(at.why, "no load"));
}

static void test_samples(void **state)
{
	const struct knee_ask ask = {.max = {.kind = RATE_PPS, .value = 1000000}, .nloads = 5};
	struct made m = fine();
	struct knee_place at;

	(void)state;
	m.samples = 99;
	measure(&m, &ask);
	knee_find(&k, TRIAL_FRAMES, &at);
	assert_int_equal(at.found, KNEE_UNKNOWN);
	m.samples = 100;
	measure(&m, &ask);
	knee_find(&k, TRIAL_FRAMES, &at);
	assert_int_equal(at.found, KNEE_FOUND);
	assert_int_equal(at.at, 1);
}

static void test_beyond(void **state)
{
	const struct knee_ask ask = {.max = {.kind = RATE_PPS, .value = 1000000}, .nloads = 10};
	struct made m = fine();
	struct knee_place at;

	(void)state;
	m.bend = 1e9;
	measure(&m, &ask);
	knee_find(&k, TRIAL_FRAMES, &at);
	assert_int_equal(at.found, KNEE_BEYOND);
	assert_int_equal(at.at, 9);

	/* who ends it early does not know what comes */
	k.load[9].trials = 0;
	knee_find(&k, TRIAL_FRAMES, &at);
	assert_int_equal(at.found, KNEE_UNKNOWN);
	assert_non_null(strstr(at.why, "no load up to 90% is worse"));

	/* loss is worse than any latency, where the user gave a limit that is none */
	m.carries = 650000;
	measure(&m, &ask);
	knee_find(&k, TRIAL_FRAMES, &at);
	assert_int_equal(at.found, KNEE_FOUND);
	assert_int_equal(at.at, 5);
	assert_non_null(strstr(at.why, "is lost"));

	/* a load at which something is lost is nothing to compare with */
	m = fine();
	m.bend = 1e9;
	m.loses_below = 150000;
	measure(&m, &ask);
	knee_find(&k, TRIAL_FRAMES, &at);
	assert_int_equal(at.base, 1);
}

/* Of connections the handshake counts as well, of others it does not. */
static void test_connect_decides(void **state)
{
	const struct knee_ask ask = {.max = {.kind = RATE_CPS, .value = 1000000}, .nloads = 10};
	struct made m = fine();
	struct knee_place at;

	(void)state;
	m.connect_ns = 500;
	measure(&m, &ask);
	knee_find(&k, TRIAL_CONNECTIONS, &at);
	assert_int_equal(at.found, KNEE_FOUND);
	assert_int_equal(at.at, 1);
	assert_non_null(strstr(at.why, "connect 99% is 3 times"));
	knee_find(&k, TRIAL_TRANSACTIONS, &at);
	assert_int_equal(at.at, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),        cmocka_unit_test(test_tester_is_the_limit),
		cmocka_unit_test(test_given),        cmocka_unit_test(test_no_limit),
		cmocka_unit_test(test_allowed_loss), cmocka_unit_test(test_sent_again),
		cmocka_unit_test(test_not_valid),    cmocka_unit_test(test_samples),
		cmocka_unit_test(test_beyond),       cmocka_unit_test(test_connect_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
