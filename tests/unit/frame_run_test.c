/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the frames that workers write with those made in the plain way: frame k of a port is
 * slot k of its cycle, with the values of its stream's ordinal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "count.h"
#include "frame_port.h"

/* Checks the counts of own frames before i, by counting them one by one. */
static void judge_counts(struct port *p, struct queue *q, uint64_t i)
{
	uint64_t frames[MAX_STREAMS] = {0}, bytes[MAX_STREAMS] = {0}, got[MAX_STREAMS],
		 got_bytes[MAX_STREAMS];

	for (uint64_t j = 0; j < i; j++) {
		const struct frun_slot *slot = &p->cycle[(q->number + j * p->nqueues) % p->ncycle];
		frames[slot->stream]++;
		bytes[slot->stream] += p->recipe[slot->recipe].len + 4u;
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
			p->recipe[p->cycle[(q->number + j * p->nqueues) % p->ncycle].recipe].len +
			4u;
		static const unsigned above[] = {63, 64, 127, 255, 511, 1023, 1522};
		unsigned c = 0;
		while (c < ARRAY_SIZE(above) && size > above[c])
			c++;
		sizes[c]++;
	}
	frun_sizes(q->f, from, i - from, some);
	assert_memory_equal(some, sizes, sizeof(sizes));
	frun_sizes(q->f, from, most, some); /* sizes are added up, however many there are */
	for (unsigned c = 0; c < CNT_NSIZES; c++)
		all += some[c];
	assert_int_equal(all, i - from + most);
	uint64_t k = pick(1000), l2 = 0;
	for (uint64_t j = 0; j < k; j++)
		l2 += p->recipe[p->cycle[j % p->ncycle].recipe].len + 4u;
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

/* The plain way of the test and that of the library make the same frames. */
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
			const struct frame_recipe *recipe = expect(p, k, want);
			frame_recipe_at(recipe, ordinal(p, p->cycle[k % p->ncycle].stream, k), got);
			assert_memory_equal(got, want, recipe->len);
		}
		frame_recipe_at(&p->recipe[0], 0, got);
		assert_memory_equal(got, p->recipe[0].bytes, p->recipe[0].len);
		free_port(p);
	}
}

/* Finds the instruction sets that this machine has, by the names that engines carry. Who asks for
 * one gets it. */
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

/* Finds a port whose frun has that engine, and judges its frames, in bursts that begin
 * anywhere. */
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

/* Every engine makes right frames, in every variant that this machine can run. */
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

/* Random bytes take much memory, so fruns share those of one seed, in whatever order the
 * fruns are freed. */
static void random_payload_is_shared(void **state)
{
	struct queue q[4];
	struct port *p = calloc(1, sizeof(*p));

	(void)state;
	*p = (struct port){.nstreams = 1, .nrecipes = 2, .ncycle = 2, .nqueues = 4, .sched_id = 1};
	for (unsigned i = 0; i < 2; i++) {
		struct frame_spec spec = {.fill = FILL_RANDOM,
					  .fill_seed = 7 * i,
					  .size = (uint16_t)(900 + i)};
		assert_int_equal(frame_stack_parse("eth/ipv4/udp", &spec.stack, NULL), 0);
		compile(&spec, &p->recipe[i]);
		p->recipe_at[i] = &p->recipe[i];
		p->cycle[i].recipe = (uint16_t)i;
		frame_spec_free(&spec);
	}
	for (unsigned i = 0; i < 4; i++) {
		open_queue(&q[i], p, i, NULL);
		assert_true(frun_size(q[i].f) < FRAME_RANDOM_BLOCK / 2);
	}
	for (unsigned i = 0; i < 4; i++) {
		/* the first one to go is neither the first frun nor the last */
		unsigned n = (i + 2) % 4;
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
