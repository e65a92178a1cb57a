/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the order of streams with the loops that define it, for random weights, counts, sizes
 * and limits. Orders that do not repeat are refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schedule.h"
#include "seed.h"

#define MAX_STREAMS 4096
#define MAX_FRAMES 300000

struct one {
	uint32_t id, item;
	uint64_t o;
};

/* Makes the order as schedule.h defines it. Returns the number of frames before the end, at most
 * max. */
static uint64_t naive(const struct sched_in *in, unsigned n, uint64_t limit, struct one *out,
		      uint64_t max)
{
	static uint64_t o[MAX_STREAMS];
	uint64_t k = 0;
	uint32_t rounds = 0;
	bool some = true;

	memset(o, 0, sizeof(o));
	for (unsigned s = 0; s < n; s++)
		rounds = in[s].weight > rounds ? in[s].weight : rounds;
	while (some) {
		some = false;
		for (uint32_t r = 0; r < rounds; r++)
			for (unsigned s = 0; s < n; s++) {
				if (in[s].weight <= r || (in[s].count != 0 && o[s] >= in[s].count))
					continue;
				if (k == max || k == limit)
					return k;
				out[k++] = (struct one){in[s].id, (uint32_t)(o[s] % in[s].nsizes),
							o[s]};
				o[s]++;
				some = true;
			}
	}
	return k;
}

/* Finds the frames k = first, first + step, ... of a schedule, each from k alone. */
static void walk(const struct sched *s, const struct sched_in *in, unsigned first, unsigned step,
		 const struct one *want, uint64_t n)
{
	static uint64_t o[MAX_STREAMS];
	unsigned p = 0;
	uint64_t k = 0;

	for (; k < n; k++) {
		const struct sched_phase *ph;
		while (k >= s->phase[p].end)
			p++;
		ph = &s->phase[p];
		if (k == ph->k0)
			memcpy(o, ph->o0, ph->nstreams * sizeof(*o));
		const struct sched_slot *slot = &ph->slot[(k - ph->k0) % ph->ncycle];
		uint64_t ordinal = o[slot->stream]++;
		if (k % step != first)
			continue;
		if (in[ph->stream[slot->stream]].id != want[k].id || slot->item != want[k].item ||
		    ordinal != want[k].o)
			fail_msg("frame %llu: stream %u size %u ordinal %llu, not %u %u %llu",
				 (unsigned long long)k, in[ph->stream[slot->stream]].id, slot->item,
				 (unsigned long long)ordinal, want[k].id, want[k].item,
				 (unsigned long long)want[k].o);
	}
}

static void judge(const struct sched_in *in, unsigned n, uint64_t limit, unsigned queues)
{
	static struct one want[MAX_FRAMES];
	struct sched s;
	struct err e = {.text = ""};
	uint64_t frames = naive(in, n, limit, want, MAX_FRAMES);

	if (sched_make(in, n, limit, 3, &s, &e) < 0)
		fail_msg("%s", e.text);
	if (frames < MAX_FRAMES)
		assert_int_equal(s.total, frames);
	assert_int_equal(s.phase[0].k0, 0);
	assert_true(s.phase[s.nphases - 1].end == UINT64_MAX);
	for (unsigned p = 0; p < s.nphases; p++) {
		assert_true(s.phase[p].ncycle >= 1 && s.phase[p].ncycle <= SCHED_MAX_CYCLE);
		assert_true(p == 0 || s.phase[p].k0 == s.phase[p - 1].end);
	}
	for (unsigned q = 0; q < queues; q++)
		walk(&s, in, q, queues, want, frames);
	assert_true(sched_equal(&s, in, &s, in));
	sched_free(&s);
}

static uint64_t seed;

static unsigned rnd(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 20) % n;
}

static void test_any(void **state)
{
	static const uint32_t sizes[] = {1, 1, 1, 2, 3, 4, 6, 12, 40};
	struct sched_in in[12];

	(void)state;
	seed = test_seed_not_0();
	for (unsigned i = 0; i < 400; i++) {
		unsigned n = 1 + rnd(i % 3 == 0 ? 12 : 4), equal = rnd(3) == 0 ? 1 + rnd(9) : 0,
			 counts = rnd(3);
		for (unsigned s = 0; s < n; s++) {
			in[s] = (struct sched_in){.id = s * 3 + rnd(3),
						  .weight = equal ? equal : 1 + rnd(7),
						  .nsizes = sizes[rnd(ARRAY_SIZE(sizes))]};
			if (counts == 2 || (counts == 1 && rnd(2) == 0))
				in[s].count = 1 + rnd(rnd(2) ? 20 : 900);
		}
		judge(in, n, rnd(2) == 0 ? UINT64_MAX : 1 + rnd(1500), 1 + rnd(5));
	}
}

/* Sizes decide how long cycles are, but not which stream sends frame k nor where a phase ends. */
static void test_other_sizes(void **state)
{
	static const uint32_t sizes[] = {1, 2, 3, 4, 6, 12};
	struct sched_in in[6];
	struct sched s[2];
	unsigned lengths = 0;

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		unsigned n = 1 + rnd(ARRAY_SIZE(in));
		uint64_t limit = rnd(2) == 0 ? UINT64_MAX : 1 + rnd(1500);
		for (unsigned m = 0; m < n; m++)
			in[m] = (struct sched_in){.id = m,
						  .weight = 1 + rnd(7),
						  .count = rnd(3) == 0 ? 0 : 1 + rnd(900)};
		for (unsigned a = 0; a < 2; a++) {
			for (unsigned m = 0; m < n; m++)
				in[m].nsizes = sizes[rnd(ARRAY_SIZE(sizes))];
			assert_int_equal(sched_make(in, n, limit, 0, &s[a], NULL), 0);
		}
		assert_int_equal(s[0].nphases, s[1].nphases);
		assert_true(s[0].total == s[1].total);
		for (unsigned p = 0; p < s[0].nphases; p++) {
			const struct sched_phase *a = &s[0].phase[p], *b = &s[1].phase[p];
			assert_true(a->k0 == b->k0 && a->end == b->end &&
				    a->nstreams == b->nstreams);
			lengths += a->ncycle != b->ncycle;
			for (unsigned k = 0; k < a->ncycle || k < b->ncycle; k++)
				assert_int_equal(a->stream[a->slot[k % a->ncycle].stream],
						 b->stream[b->slot[k % b->ncycle].stream]);
		}
		sched_free(&s[0]);
		sched_free(&s[1]);
	}
	assert_true(lengths > 100);
}

static void test_words(void **state)
{
	struct sched_in in[3] = {{.id = 0, .weight = 2, .nsizes = 1},
				 {.id = 1, .weight = 1, .nsizes = 1}};
	struct sched s;
	static const uint16_t order[] = {0, 1, 0};

	(void)state;
	assert_int_equal(sched_make(in, 2, UINT64_MAX, 0, &s, NULL), 0);
	assert_int_equal(s.nphases, 1);
	assert_int_equal(s.phase[0].ncycle, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(s.phase[0].slot[i].stream, order[i]);
	assert_true(s.total == UINT64_MAX);
	sched_free(&s);
	/* One stream alone is one slot, whatever its weight and count. */
	in[0] = (struct sched_in){.weight = 60000, .nsizes = 1, .count = 1ull << 60};
	assert_int_equal(sched_make(in, 1, UINT64_MAX, 0, &s, NULL), 0);
	assert_int_equal(s.nphases, 1);
	assert_int_equal(s.phase[0].ncycle, 1);
	assert_true(s.total == 1ull << 60);
	sched_free(&s);
	/* The sum of these counts does not fit 64 bits. */
	in[0].count = in[1].count = UINT64_MAX;
	in[1].weight = 60000;
	assert_int_equal(sched_make(in, 2, UINT64_MAX, 0, &s, NULL), 0);
	assert_true(s.total == UINT64_MAX);
	sched_free(&s);
}

static void test_many(void **state)
{
	static struct sched_in in[MAX_STREAMS];
	struct sched s;

	(void)state;
	for (unsigned i = 0; i < MAX_STREAMS; i++)
		in[i] = (struct sched_in){.id = i, .key = i, .weight = 1 + i % 16, .nsizes = 1};
	judge(in, MAX_STREAMS, UINT64_MAX, 2);
	for (unsigned i = 0; i < MAX_STREAMS; i++)
		in[i].weight = 1;
	for (unsigned i = 0; i < MAX_STREAMS; i++)
		in[i].count = 70; /* all end in the same pass, which is one phase */
	judge(in, MAX_STREAMS, UINT64_MAX, 3);
	assert_int_equal(sched_make(in, MAX_STREAMS, UINT64_MAX, 0, &s, NULL), 0);
	assert_int_equal(s.nphases, 1);
	sched_free(&s);
	in[7].count = 60;
	judge(in, MAX_STREAMS, UINT64_MAX, 3);
}

static void refused(const struct sched_in *in, unsigned n, uint64_t limit, const char *word,
		    const char *help)
{
	struct err e = {.text = ""};
	struct sched s;
	int rc = sched_make(in, n, limit, 2, &s, &e);

	if (rc != -EINVAL || strstr(e.text, word) == NULL || strstr(e.text, help) == NULL ||
	    strstr(e.text, "port 2") == NULL)
		fail_msg("%d '%s'; wanted '%s' and '%s'", rc, e.text, word, help);
	assert_int_equal(s.nphases, 0);
}

static void test_refused(void **state)
{
	static struct sched_in in[MAX_STREAMS];
	struct sched s;

	(void)state;
	in[0] = (struct sched_in){.id = 4, .weight = 65535, .nsizes = 1};
	in[1] = (struct sched_in){.id = 6, .weight = 65534, .nsizes = 1};
	refused(in, 2, UINT64_MAX, "131069", "set 2/4 weight ");
	in[0] = (struct sched_in){.id = 4, .weight = 1, .nsizes = 1455};
	in[1] = (struct sched_in){.id = 6, .weight = 1, .nsizes = 1454};
	refused(in, 2, UINT64_MAX, "2/4", "2/6");
	/* Up to this length the order is written down as a whole. */
	assert_int_equal(sched_make(in, 2, 60000, 2, &s, NULL), 0);
	assert_int_equal(s.phase[0].ncycle, 60000);
	sched_free(&s);
	for (unsigned i = 0; i < 100; i++)
		in[i] = (struct sched_in){.id = i, .weight = 1, .nsizes = i == 50 ? 1455 : 1};
	refused(in, 100, UINT64_MAX, "2/50", "set 2/50 rate");
	for (unsigned i = 0; i < MAX_STREAMS; i++)
		in[i] = (struct sched_in){.id = i, .weight = 1, .nsizes = 1, .count = 1000 + i};
	refused(in, MAX_STREAMS, UINT64_MAX, "4096 streams end", "rate");
	for (unsigned i = 0; i < MAX_STREAMS; i++)
		in[i] = (struct sched_in){.id = i, .weight = 1 + i % 3, .nsizes = 65521 + i % 2};
	refused(in, MAX_STREAMS, UINT64_MAX, "only after", "rate");
}

static void test_equal(void **state)
{
	struct sched_in a[2] = {{.id = 0, .weight = 2, .nsizes = 1, .key = 0},
				{.id = 1, .weight = 1, .nsizes = 2, .key = 1}},
			b[2];
	struct sched x, y;

	(void)state;
	assert_int_equal(sched_make(a, 2, UINT64_MAX, 0, &x, NULL), 0);
	for (unsigned i = 0; i < 5; i++) {
		memcpy(b, a, sizeof(b));
		if (i == 1)
			b[1].id = 9;
		if (i == 2)
			b[1].key = 9;
		if (i == 3)
			b[0].weight = 3;
		if (i == 4)
			b[1].count = 5;
		assert_int_equal(sched_make(b, 2, UINT64_MAX, 0, &y, NULL), 0);
		assert_int_equal(sched_equal(&x, a, &y, b), i < 2);
		sched_free(&y);
	}
	sched_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any),     cmocka_unit_test(test_other_sizes),
		cmocka_unit_test(test_words),   cmocka_unit_test(test_many),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
