/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames that workers write, against the plain way: frame k of a port is slot k of its cycle,
 * with the values of its stream's ordinal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "count.h"
#include "frame_port.h"

/* Count what own frames before i were, one by one. */
static void judge_counts(struct port *p, struct queue *q, uint64_t i)
{
	uint64_t frames[MAX_STREAMS] = {0}, bytes[MAX_STREAMS] = {0}, got[MAX_STREAMS],
		 got_bytes[MAX_STREAMS];

	for (uint64_t j = 0; j < i; j++) {
		const struct frun_slot *slot = &p->cycle[(q->number + j * p->nqueues) % p->ncycle];
		frames[slot->stream]++;
		bytes[slot->stream] += p->plan[slot->plan].len + 4u;
	}
	frun_count(q->f, i, got, got_bytes);
	assert_int_equal(frun_nstreams(q->f), p->nstreams);
	for (unsigned s = 0; s < p->nstreams; s++) {
		assert_int_equal(frun_stream_id(q->f, s), p->id[s]);
		assert_int_equal(got[s], frames[s]);
		assert_int_equal(got_bytes[s], bytes[s]);
	}
	uint64_t from = pick(i + 1), most = pick_wide() >> 8, sizes[CNT_NSIZES] = {0},
		 some[CNT_NSIZES] = {0}, all = 0;
	for (uint64_t j = from; j < i; j++) {
		unsigned size =
			p->plan[p->cycle[(q->number + j * p->nqueues) % p->ncycle].plan].len + 4u;
		static const unsigned above[] = {63, 64, 127, 255, 511, 1023, 1522};
		unsigned c = 0;
		while (c < ARRAY_SIZE(above) && size > above[c])
			c++;
		sizes[c]++;
	}
	frun_sizes(q->f, from, i - from, some);
	assert_memory_equal(some, sizes, sizeof(sizes));
	frun_sizes(q->f, from, most, some); /* they are added, however many */
	for (unsigned c = 0; c < CNT_NSIZES; c++)
		all += some[c];
	assert_int_equal(all, i - from + most);
	uint64_t k = pick(1000), l2 = 0;
	for (uint64_t j = 0; j < k; j++)
		l2 += p->plan[p->cycle[j % p->ncycle].plan].len + 4u;
	assert_int_equal(frun_l2(q->f, k), l2);
	assert_int_equal(frun_wire(q->f, k), l2 + 20 * k);
}

static void any_frames(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		struct port *p = random_port();
		struct queue q;
		open_queue(&q, p, (unsigned)pick(p->nqueues), pick_isa());
		for (unsigned b = 0; b < 12; b++) {
			burst(p, &q, pick_burst());
			if (pick(4) == 0)
				frun_seek(q.f, q.state,
					  pick(2) ? frun_pos(q.f, q.state) -
							    pick(frun_pos(q.f, q.state))
						  : pick_wide() >> 8);
		}
		judge_counts(p, &q, pick(500));
		close_queue(&q);
		free_port(p);
	}
}

/* The plain way of the test and that of the library are one. */
static void plan_at(void **state)
{
	uint8_t want[FRAME_MAX_LEN + 4], got[FRAME_MAX_LEN + 4];

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct port *p = random_port();
		p->offload = false;
		memset(p->o0, 0, sizeof(p->o0));
		for (unsigned n = 0; n < 20; n++) {
			uint64_t k = n == 0 ? 0 : pick(2) ? pick(100000) : pick_wide() >> 4;
			const struct frame_plan *plan = expect(p, k, want);
			frame_plan_at(plan, ordinal(p, p->cycle[k % p->ncycle].stream, k), got);
			assert_memory_equal(got, want, plan->len);
		}
		frame_plan_at(&p->plan[0], 0, got);
		assert_memory_equal(got, p->plan[0].bytes, p->plan[0].len);
		free_port(p);
	}
}

/* Instruction sets that this machine has, by the name that engines carry; asking for one gets
 * it. */
static unsigned have_isas(const char **out)
{
	unsigned n = 0;

#if defined(__ARM_NEON)
	out[n++] = "neon";
#else
	out[n++] = "scalar";
#endif
#if defined(__x86_64__)
	if (__builtin_cpu_supports("ssse3"))
		out[n++] = "ssse3";
	if (__builtin_cpu_supports("avx2"))
		out[n++] = "avx2";
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl"))
		out[n++] = "avx512";
#endif
	return n;
}

/* A port whose program has that engine; its frames are judged, in bursts that begin anywhere. */
static void reach(const char *engine, const char *isa)
{
	for (unsigned tries = 0; tries < 4000; tries++) {
		struct port *p = random_port();
		struct queue q;
		open_queue(&q, p, (unsigned)pick(p->nqueues), isa);
		bool found = strcmp(frun_engine(q.f), engine) == 0;
		for (unsigned b = 0; found && b < 12; b++) {
			burst(p, &q, b < 4 ? 32 : pick_burst());
			if (b % 4 == 3)
				frun_seek(q.f, q.state, frun_pos(q.f, q.state) - pick(40));
		}
		close_queue(&q);
		free_port(p);
		if (found)
			return;
	}
	fail_msg("no random port led to engine \"%s\"", engine);
}

/* Every engine in every variant that this machine can run. */
static void all_engines(void **state)
{
	static const char *const plain[] = {"fixed", "frames"}, *const vector[] = {"copy", "affine",
										   "columns"};
	const char *isa[8];
	unsigned n = have_isas(isa);
	char name[32];

	(void)state;
	for (unsigned e = 0; e < ARRAY_SIZE(plain); e++)
		reach(plain[e], NULL);
	for (unsigned e = 0; e < ARRAY_SIZE(vector); e++)
		for (unsigned i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "%s/%s", vector[e], isa[i]);
			for (unsigned times = 0; times < 4; times++)
				reach(name, isa[i]);
		}
}

/* Random bytes are large: programs share those of one seed, in whatever order they go. */
static void random_payload_is_shared(void **state)
{
	struct queue q[4];
	struct port *p = calloc(1, sizeof(*p));

	(void)state;
	*p = (struct port){.nstreams = 1, .nplans = 2, .ncycle = 2, .nqueues = 4, .sched_id = 1};
	for (unsigned i = 0; i < 2; i++) {
		struct frame_spec spec = {.fill = FILL_RANDOM,
					  .fill_seed = 7 * i,
					  .size = (uint16_t)(900 + i)};
		assert_int_equal(frame_stack_parse("eth/ipv4/udp", &spec.stack, NULL), 0);
		compile(&spec, &p->plan[i]);
		p->planp[i] = &p->plan[i];
		p->cycle[i].plan = (uint16_t)i;
		frame_spec_free(&spec);
	}
	for (unsigned i = 0; i < 4; i++) {
		open_queue(&q[i], p, i, NULL);
		assert_true(frun_size(q[i].f) < FRAME_RANDOM_BLOCK / 2);
	}
	for (unsigned i = 0; i < 4; i++) {
		unsigned n = (i + 2) % 4; /* the first of them is neither the first nor the last */
		burst(p, &q[n], FRUN_MAX_BURST);
		close_queue(&q[n]);
	}
	free_port(p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_at),
		cmocka_unit_test(any_frames),
		cmocka_unit_test(all_engines),
		cmocka_unit_test(random_payload_is_shared),
	};

	port_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
