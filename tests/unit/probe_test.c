/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests probes in frames: their room behind any stack, checksums that do not change with them, and
 * the writers of many probes at once, which are compared with the formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "frame_probe.h"
#include "frame_run.h"

static uint64_t seed = 1;

static uint64_t any64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static unsigned any(unsigned below)
{
	return (unsigned)(any64() >> 20) % below;
}

static uint64_t be64(const uint8_t *p)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

static void put64(uint8_t *p, uint64_t v)
{
	for (unsigned i = 8; i-- > 0; v >>= 8)
		p[i] = (uint8_t)v;
}

static int spec_of(struct frame_spec *s, const char *stack, const char *vals, unsigned size,
		   uint32_t every, struct err *e)
{
	char text[256], *save = NULL;

	memset(s, 0, sizeof(*s));
	assert_int_equal(frame_stack_parse(stack, &s->stack, e), 0);
	snprintf(text, sizeof(text), "%s", vals);
	for (char *w = strtok_r(text, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
		char *eq = strchr(w, '=');
		*eq = '\0';
		assert_int_equal(frame_vals_parse(&s->vals, w, eq + 1, e), 0);
	}
	s->size = (uint16_t)size;
	s->probe = every;
	return 0;
}

static struct frame_recipe *recipe_of(const char *stack, const char *vals, unsigned size,
				      uint32_t every)
{
	struct frame_spec *s = calloc(1, sizeof(*s));
	struct frame_recipe *p = calloc(1, sizeof(*p));
	struct err e = {.text = ""};

	spec_of(s, stack, vals, size, every, &e);
	if (frame_compile(s, NULL, 9000, p, &e) != 0)
		fail_msg("%s: %s", stack, e.text);
	frame_spec_free(s);
	free(s);
	return p;
}

static void recipe_free(struct frame_recipe *p)
{
	frame_recipe_free(p);
	free(p);
}

/* ---- room ---- */

static void refused(const char *stack, const char *vals, unsigned size, const char *why)
{
	struct frame_spec *s = calloc(1, sizeof(*s));
	struct frame_recipe p;
	struct err e = {.text = ""};

	spec_of(s, stack, vals, size, 1, &e);
	assert_true(frame_compile(s, NULL, 9000, &p, &e) < 0);
	if (strstr(e.text, why) == NULL)
		fail_msg("%s %u: \"%s\" does not say \"%s\"", stack, size, e.text, why);
	frame_spec_free(s);
	free(s);
}

static void the_smallest_size_that_fits(void **state)
{
	static const struct {
		const char *stack, *vals;
		unsigned smallest;
		const char *named;
	} cases[] = {
		{"eth/ipv4/udp", "", 64, NULL},
		{"eth/vlan/ipv4/udp", "", 66, "is 66 "},
		{"eth/ipv4/tcp", "", 74, "is 74 "},
		{"eth/ipv6/udp", "", 82, "is 82 "},
		{"eth", "", 64, NULL},
		{"eth/ipv4/icmp", "", 64, NULL},
		{"eth/qinq/vlan/ipv4/udp", "", 70, "is 70 "},
		{"eth/ipv4/udp/vxlan/eth/ipv6/udp", "", 132, "is 132 "},
		{"eth/ipv4/tcp", "tcp.mss=1460", 78, "is 78 "},
		{"eth/mpls/ipv4/udp", "", 66, "is 66 "},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned n = cases[i].smallest;
		struct frame_recipe *p = recipe_of(cases[i].stack, cases[i].vals, n, 1),
				    *less = recipe_of(cases[i].stack, cases[i].vals, 0, 1);
		struct frame_recipe *without = recipe_of(cases[i].stack, cases[i].vals, n, 0);
		assert_int_equal(p->len, n - FRAME_FCS);
		assert_int_equal(less->len, n - FRAME_FCS);
		assert_int_equal(p->hdr_len, p->probe_off + PROBE_LEN);
		assert_int_equal(p->probe_off, without->hdr_len);
		assert_int_equal(without->probe_off, 0);
		if (cases[i].named != NULL)
			refused(cases[i].stack, cases[i].vals, n - 1, cases[i].named);
		recipe_free(p);
		recipe_free(less);
		recipe_free(without);
	}
	refused("eth/vlan/ipv4/udp", "", 64,
		"eth/vlan/ipv4/udp with a probe: the smallest is 66 (62 bytes of headers and probe and 4 of FCS)");
}

static void no_room(void **state)
{
	struct frame_spec *s = calloc(1, sizeof(*s));
	struct frame_stack stack;
	struct frame_recipe p;
	struct err e = {.text = ""};

	(void)state;
	refused("eth/arp", "", 0, "arp carries no payload");
	refused("eth/ipv4/igmp", "", 0, "igmp carries no payload");
	refused("eth/ipv6/icmpv6", "icmpv6.type=135", 0, "icmpv6 carries no payload");
	spec_of(s, "eth/ipv4/udp", "", 100, 1, &e);
	s->rnd_on = true;
	for (unsigned off = 36; off < 64; off++) {
		s->rnd[3] = (struct frame_rnd){.on = true,
					       .off = (uint16_t)off,
					       .nbits = 32,
					       .rnd = UINT32_MAX};
		int rc = frame_compile(s, NULL, 9000, &p, &e);
		assert_int_equal(rc<0, off + 4> 42 && off < 58);
		if (rc < 0)
			assert_non_null(
				strstr(e.text, "random bits 3 lie in the probe, bytes 42 to 57"));
		else
			frame_recipe_free(&p);
	}
	frame_spec_free(s);
	free(s);
	assert_true(frame_stack_parse("eth/ipv4/udp/probe", &stack, &e) < 0);
	assert_non_null(strstr(e.text, "probe on"));
	s = calloc(1, sizeof(*s));
	assert_int_equal(frame_stack_parse("eth/ipv4/udp", &s->stack, &e), 0);
	while (s->stack.n < FRAME_MAX_HDRS)
		s->stack.hdr[s->stack.n++] = proto_find("udp");
	s->probe = 1;
	assert_true(frame_compile(s, NULL, 9000, &p, &e) < 0);
	assert_non_null(strstr(e.text, "leave one out"));
	free(s);
}

/* ---- sums ---- */

/* Checks that the dissector finds every checksum of the frame right. Returns how many there are. */
static unsigned sums_right(const char *stack, const uint8_t *bytes, unsigned len, json_t **probe)
{
	json_t *j = frame_dissect(bytes, len), *h, *v;
	const char *key;
	unsigned n = 0;
	size_t i;

	*probe = NULL;
	json_array_foreach(json_object_get(j, "headers"), i, h) {
		json_object_foreach(json_object_get(h, "fields"), key, v) {
			size_t k = strlen(key);
			if (k > 3 && strcmp(key + k - 3, "_ok") == 0) {
				if (!json_is_true(v))
					fail_msg("%s: %s.%s", stack,
						 json_string_value(json_object_get(h, "name")),
						 key);
				n++;
			}
		}
		if (strcmp(json_string_value(json_object_get(h, "name")), "probe") == 0)
			*probe = json_incref(json_object_get(h, "fields"));
	}
	json_decref(j);
	return n;
}

static json_int_t num(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

/* Any probe may be in any frame. What was right stays right, and the dissector finds the probe and
 * tells what it says. */
static void no_sum_sees_a_probe(void **state)
{
	static const char *const stacks[] = {
		"eth/ipv4/udp",
		"eth/ipv4/tcp",
		"eth/ipv6/udp",
		"eth/ipv6/tcp",
		"eth/ipv4/icmp",
		"eth/ipv6/icmpv6",
		"eth/vlan/ipv4/udp",
		"eth/qinq/vlan/ipv4/udp",
		"eth/mpls/ipv4/udp",
		"eth/mpls",
		"eth/ipv4/gre/ipv4/udp",
		"eth/ipv4/udp/vxlan/eth/ipv6/udp",
		"eth/ipv4/udp/geneve/eth/vlan/ipv4/tcp",
		"eth/ipv4/udp/gtpu",
		"eth/ipv4/udp/gtpu/ipv4/udp",
		"eth/ipv4/esp",
		"eth/ipv4/sctp",
		"eth/ipv4/udp/vxlan/eth/ipv4/sctp",
		"eth/ipv6/ipv6hbh/ipv6rt/udp",
		"eth/pppoe/ipv4/udp",
		"eth/ipv4/ah/udp",
		"eth",
		"eth/llc/snap",
		"eth/ipv4",
		"eth/ipv6",
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++)
		for (unsigned round = 0; round < 60; round++) {
			struct frame_recipe *p =
				recipe_of(stacks[i], "", round % 2 ? 200 + any(60) : 0, 1 + any(3));
			uint8_t bytes[FRAME_MAX_LEN];
			bool crc = strstr(stacks[i], "sctp") != NULL;
			json_t *f;

			frame_recipe_at(p, any(100), bytes);
			unsigned n = sums_right(stacks[i], bytes, p->len, &f);
			if (f == NULL)
				fail_msg("%s: no probe found", stacks[i]);
			assert_int_equal(num(f, "stream"), PROBE_NONE);
			json_decref(f);
			uint32_t seq = (uint32_t)any64();
			unsigned port = any(32), queue = any(64), stream = any(PROBE_STREAMS);
			uint64_t delay = any64() >> any(64) >> 18, sent = any64() & PROBE_SENT_MASK,
				 code = probe_delay_code(delay);
			uint64_t lo = probe_lo(stream, code, sent),
				 hi = probe_hi(seq, port, queue, code, lo);
			put64(bytes + p->probe_off, hi);
			put64(bytes + p->probe_off + 8, lo);
			/* A worker makes these with a frun, see below. */
			for (unsigned c = 0; crc && c < p->nsums; c++) {
				struct frun_slot slot = {0};
				const struct frame_recipe *recipes[] = {p};
				struct frun_spec spec = {.cycle = &slot,
							 .ncycle = 1,
							 .recipe = recipes,
							 .nrecipes = 1,
							 .stream_id = &(uint32_t){1},
							 .nstreams = 1,
							 .nqueues = 1,
							 .sched_id = 1};
				struct frun *r = frun_new(&spec, NULL);
				assert_true(frun_probe_sums(r, any(9), bytes));
				frun_free(r);
			}
			assert_int_equal(sums_right(stacks[i], bytes, p->len, &f), n);
			assert_non_null(f);
			struct probe got = probe_of(hi, lo);
			assert_int_equal(num(f, "seq"), seq);
			assert_int_equal(num(f, "port"), port);
			assert_int_equal(num(f, "queue"), queue);
			assert_int_equal(num(f, "stream"), stream);
			assert_int_equal(num(f, "sent"), sent);
			assert_int_equal((uint64_t)num(f, "mant") << num(f, "exp"), got.delay);
			assert_true(got.delay <= delay && delay - got.delay <= delay >> 14);
			assert_true(got.seq == seq && got.port == port && got.queue == queue &&
				    got.stream == stream && got.sent == sent);
			json_decref(f);
			bytes[p->probe_off + any(PROBE_LEN)] ^= (uint8_t)(1 + any(255));
			assert_false(probe_right(be64(bytes + p->probe_off),
						 be64(bytes + p->probe_off + 8)));
			recipe_free(p);
		}
}

/* ---- many at once ---- */

#define MOST 100
#define ROOM 256

struct cycle {
	unsigned n, nstreams, nrecipes;
	struct frun_slot slot[64];
	uint32_t id[64];
	const struct frame_recipe *recipe[64];
};

/* Makes a cycle in which streams and places follow each other in one of some ways: one stream, ids
 * one after the other, or anything. */
static void some_cycle(struct cycle *c, struct frame_recipe *const *recipe, unsigned kind)
{
	*c = (struct cycle){.n = kind == 0 ? 1 : 1 + any(40),
			    .nrecipes = 2,
			    .recipe = {recipe[0], recipe[1]}};
	c->nstreams = kind == 0 ? 1 : c->n;
	for (unsigned i = 0; i < c->nstreams; i++)
		c->id[i] = kind == 1 ? 100 + i : kind == 0 ? 77 : i;
	for (unsigned i = 0; i < c->n; i++)
		c->slot[i] = (struct frun_slot){.stream = (uint16_t)(kind == 2 ? any(c->n) : i),
						.recipe = (uint16_t)(kind == 2 && any(4) == 0)};
}

static void many_at_once(void **state)
{
	static const char *const isa[] = {"scalar", "ssse3", "avx2", "avx512"};
	static uint64_t seq[8192], model[8192];
	struct frame_recipe *recipe[] = {recipe_of("eth/ipv4/udp", "", 100, 1),
					 recipe_of("eth/vlan/ipv4/udp", "", 100, 1)};
	unsigned kinds = 0;

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		static uint8_t obj[MOST][ROOM];
		void *ptr[MOST];
		uint64_t code[MOST];
		struct cycle c;
		unsigned n = 1 + any(MOST);

		some_cycle(&c, recipe, round % 3);
		struct frun_spec spec = {.cycle = c.slot,
					 .ncycle = c.n,
					 .recipe = c.recipe,
					 .nrecipes = c.nrecipes,
					 .stream_id = c.id,
					 .nstreams = c.nstreams,
					 .nqueues = 1,
					 .sched_id = 1,
					 .data_off = 64,
					 .isa = isa[any(4)]};
		struct frun *f = frun_new(&spec, NULL);
		assert_non_null(f);
		assert_true(frun_probes_kind(f) != FRUN_PROBES_SOME);
		kinds |= 1u << frun_probes_kind(f);
		unsigned own = frun_probes_own(f), at = any(own);
		struct frun_probing b = {.hi = any(32) << 11 | any(64) << 5,
					 .lo = any64() & PROBE_SENT_MASK,
					 .seq = seq,
					 .code = any(2) ? code : NULL};
		for (unsigned i = 0; i < ARRAY_SIZE(seq); i++)
			model[i] = seq[i] = any(2) ? any64() >> any(40) : UINT32_MAX - any(60);
		for (unsigned i = 0; i < MOST; i++) {
			ptr[i] = memset(obj[i], 0x5a, ROOM);
			code[i] = probe_delay_code(any64() >> any(64));
		}
		frun_probe(f, at, &b, ptr, n);
		for (unsigned i = 0; i < MOST; i++) {
			uint8_t want[ROOM];
			const struct frun_probe *p = &frun_probes(f)[(at + i) % own];
			uint64_t with = b.code != NULL ? code[i] : 0,
				 lo = b.lo | probe_lo(p->stream, with, 0);
			memset(want, 0x5a, ROOM);
			if (i < n) {
				put64(want + 64 + p->off,
				      probe_hi((uint32_t)model[p->stream]++, b.hi >> 11 & 31,
					       b.hi >> 5 & 63, with, lo));
				put64(want + 72 + p->off, lo);
			}
			assert_memory_equal(obj[i], want, ROOM);
		}
		assert_memory_equal(seq, model, sizeof(seq));
		frun_free(f);
	}
	assert_int_equal(kinds,
			 1u << FRUN_PROBES_ALL | 1u << FRUN_PROBES_ROW | 1u << FRUN_PROBES_ONE);
	recipe_free(recipe[0]);
	recipe_free(recipe[1]);
}

/* Compares frames of different streams that are filled and given probes in one pass with those of
 * two passes. */
static unsigned one_pass(unsigned n, const char *stack, unsigned size)
{
	static struct frame_recipe *recipe[300];
	static struct frun_slot slot[300];
	static uint32_t id[300];
	static uint64_t seq[2][1024];
	static uint8_t obj[2][MOST][ROOM];
	void *ptr[2][MOST], *st[2];
	uint64_t code[MOST], next = 0;
	char vals[64];

	for (unsigned i = 0; i < n; i++) {
		snprintf(vals, sizeof(vals), "ipv4.dst=10.0.%u.%u udp.src=%u", i >> 8, i & 255,
			 1000 + i);
		recipe[i] = recipe_of(stack, vals, size, 1);
		slot[i] = (struct frun_slot){.stream = (uint16_t)i, .recipe = (uint16_t)i};
		id[i] = 500 + i;
	}
	struct frun_spec spec = {.cycle = slot,
				 .ncycle = n,
				 .recipe = (const struct frame_recipe *const *)recipe,
				 .nrecipes = n,
				 .stream_id = id,
				 .nstreams = n,
				 .nqueues = 1,
				 .sched_id = 1,
				 .data_off = 64};
	struct frun *f = frun_new(&spec, NULL);
	assert_non_null(f);
	bool fuses = frun_fuses(f);
	for (unsigned w = 0; w < 2; w++) {
		st[w] = aligned_alloc(64, (frun_state_size(f) + 63) / 64 * 64);
		memset(st[w], 0, frun_state_size(f));
		frun_begin(f, st[w]);
		for (unsigned i = 0; i < ARRAY_SIZE(seq[0]); i++)
			seq[w][i] = UINT32_MAX - i % 7;
		for (unsigned i = 0; i < MOST; i++)
			ptr[w][i] = memset(obj[w][i], 0x5a, ROOM);
	}
	for (unsigned round = 0; fuses && round < 300; round++) {
		unsigned m = any(4) == 0 ? 32 : 1 + any(MOST), at = (unsigned)(next % n);
		struct frun_probing b = {.hi = any(32) << 11 | any(64) << 5,
					 .lo = any64() & PROBE_SENT_MASK,
					 .seq = seq[0],
					 .code = any(2) ? code : NULL};
		for (unsigned i = 0; i < m; i++)
			code[i] = probe_delay_code(any64() >> any(64));
		frun_fill(f, st[0], ptr[0], m);
		frun_probe(f, at, &b, ptr[0], m);
		b.seq = seq[1];
		frun_fill_probe(f, st[1], at, &b, ptr[1], m);
		assert_memory_equal(obj[0], obj[1], sizeof(obj[0]));
		assert_memory_equal(seq[0], seq[1], sizeof(seq[0]));
		next += m;
		if (any(20) == 0) {
			next = any(5 * n);
			frun_seek(f, st[0], next);
			frun_seek(f, st[1], next);
		}
	}
	free(st[0]);
	free(st[1]);
	frun_free(f);
	for (unsigned i = 0; i < n; i++)
		recipe_free(recipe[i]);
	return fuses;
}

static void in_one_pass(void **state)
{
	unsigned fused = 0;

	(void)state;
	for (unsigned n = 2; n <= 300; n = n * 3 / 2 + any(3))
		fused += one_pass(n, "eth/ipv4/udp", 100) + one_pass(n, "eth/vlan/ipv4/udp", 66);
	fused += one_pass(16, "eth/ipv4/udp", 64) + one_pass(256, "eth/ipv4/udp", 64);
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vl"))
		assert_true(fused > 2);
#endif
	/* The probe goes on in the next cache line. */
	assert_int_equal(one_pass(8, "eth/qinq/vlan/ipv4/udp", 100), 0);
}

/* Where some streams have no probes, probes in some frames or a CRC, frames are looked at one by
 * one. Programs without probes have nothing to look at. */
static void who_is_looked_at(void **state)
{
	struct frame_recipe *recipe[] = {recipe_of("eth/ipv4/udp", "", 0, 0),
					 recipe_of("eth/ipv4/udp", "", 0, 1),
					 recipe_of("eth/ipv4/udp", "", 0, 7),
					 recipe_of("eth/ipv4/sctp", "", 0, 1)};
	const struct frame_recipe *recipes[] = {recipe[0], recipe[1], recipe[2], recipe[3]};
	uint32_t id[] = {3, 4, 5, 6};

	(void)state;
	for (unsigned mask = 1; mask < 16; mask++) {
		struct frun_slot slot[4];
		unsigned n = 0;
		for (uint16_t i = 0; i < 4; i++)
			if (mask >> i & 1)
				slot[n++] = (struct frun_slot){.stream = i, .recipe = i};
		struct frun_spec spec = {.cycle = slot,
					 .ncycle = n,
					 .recipe = recipes,
					 .nrecipes = 4,
					 .stream_id = id,
					 .nstreams = 4,
					 .nqueues = 1,
					 .sched_id = 1};
		struct frun *f = frun_new(&spec, NULL);
		assert_non_null(f);
		assert_int_equal(frun_probes(f) == NULL, mask == 1);
		if (mask > 1)
			assert_int_equal(frun_probes_kind(f),
					 mask == 2 ? FRUN_PROBES_ONE : FRUN_PROBES_SOME);
		for (unsigned i = 0; mask > 1 && i < n; i++) {
			const struct frun_probe *p = &frun_probes(f)[i];
			uint8_t bytes[FRAME_MAX_LEN] = {0};
			assert_int_equal(p->stream, id[slot[i].recipe]);
			assert_int_equal(p->off, recipe[slot[i].recipe]->probe_off);
			assert_int_equal(p->every, recipe[slot[i].recipe]->probe_every);
			assert_int_equal(frun_probe_sums(f, i + n * any(5), bytes),
					 slot[i].recipe == 3);
		}
		frun_free(f);
	}
	for (unsigned i = 0; i < 4; i++)
		recipe_free(recipe[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smallest_size_that_fits),
		cmocka_unit_test(no_room),
		cmocka_unit_test(no_sum_sees_a_probe),
		cmocka_unit_test(many_at_once),
		cmocka_unit_test(in_one_pass),
		cmocka_unit_test(who_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
