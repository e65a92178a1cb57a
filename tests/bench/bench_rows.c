/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes what the rows of the bench send: streams with values and variations, which are compiled and
 * made into fruns as control does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "frame.h"
#include "pktperf.h"

#define MAX_STREAMS 4096
#define MAX_CYCLE 4096

struct schedule {
	struct frame_recipe *recipe;
	const struct frame_recipe *ptr[MAX_STREAMS];
	struct frun_slot cycle[MAX_CYCLE];
	uint32_t id[MAX_STREAMS];
	unsigned nrecipes, nstreams, ncycle;
	struct frame_spec *spec; /* the stream that is being made */
};

/* ---- streams ---- */

static bool stack(struct schedule *s, const char *text)
{
	struct err e;

	frame_spec_free(s->spec);
	memset(s->spec, 0, sizeof(*s->spec));
	if (frame_stack_parse(text, &s->spec->stack, &e) < 0) {
		fprintf(stderr, "bench: %s\n", e.text);
		return false;
	}
	return true;
}

static void value(struct schedule *s, const char *field, const char *text)
{
	struct err e;

	if (frame_vals_parse(&s->spec->vals, field, text, &e) < 0)
		die(e.text);
}

static void vary(struct schedule *s, const char *name, struct vary v)
{
	const struct proto *p;
	const struct field *f;
	unsigned nth;
	struct err e;

	if (frame_field_parse(name, &p, &nth, &f, &e) < 0)
		die(e.text);
	v.bits = (uint8_t)f->bits;
	v.div = 1;
	frame_vals_vary(&s->spec->vals, p, nth, f, &v);
}

static void range(struct schedule *s, const char *name, vary_u lo, vary_u hi, vary_u first)
{
	vary(s, name,
	     (struct vary){.kind = VARY_RANGE, .first = first, .lo = lo, .hi = hi, .step = 1});
}

/* Compiles the frame of the stream as it is now, with that size. Returns the number of its
 * recipe. */
static unsigned compile(struct schedule *s, unsigned size)
{
	struct err e;

	if (s->nrecipes == MAX_STREAMS)
		die("too many frames");
	s->spec->size = (uint16_t)size;
	if (frame_compile(s->spec, NULL, 1522, &s->recipe[s->nrecipes], &e) < 0)
		die(e.text);
	s->ptr[s->nrecipes] = &s->recipe[s->nrecipes];
	return s->nrecipes++;
}

static void turn(struct schedule *s, unsigned stream, unsigned recipe)
{
	s->cycle[s->ncycle++] =
		(struct frun_slot){.stream = (uint16_t)stream, .recipe = (uint16_t)recipe};
}

static unsigned stream(struct schedule *s)
{
	s->id[s->nstreams] = s->nstreams;
	return s->nstreams++;
}

/* Makes the stream the only one of the schedule. */
static bool only(struct schedule *s, unsigned size)
{
	turn(s, stream(s), compile(s, size));
	return true;
}

/* ---- rows ---- */

static bool make_fixed(struct schedule *s)
{
	return stack(s, "eth/ipv4/udp") && only(s, 64);
}

static bool make_one(struct schedule *s)
{
	if (!stack(s, "eth/ipv4/udp"))
		return false;
	range(s, "udp.src", 1024, 65535, 1024);
	return only(s, 64);
}

static bool make_two(struct schedule *s)
{
	if (!stack(s, "eth/ipv4/udp"))
		return false;
	range(s, "ipv4.dst", 0x0a000000, 0x0a00ffff, 0x0a000000);
	range(s, "udp.src", 1024, 65535, 1024);
	return only(s, 64);
}

static bool make_five(struct schedule *s)
{
	vary_u net = (vary_u)0x20010db800000000ull << 64;

	if (!stack(s, "eth/ipv6/udp"))
		return false;
	range(s, "ipv6.flow", 0, 0xfffff, 0);
	range(s, "ipv6.src", net, net + 0xffff, net);
	range(s, "ipv6.dst", net + 0x10000, net + 0x1ffff, net + 0x10000);
	range(s, "udp.src", 1024, 65535, 1024);
	range(s, "udp.dst", 1024, 65535, 1024);
	return only(s, 74);
}

static bool make_random(struct schedule *s)
{
	if (!stack(s, "eth/ipv4/udp"))
		return false;
	vary(s, "ipv4.dst",
	     (struct vary){.kind = VARY_RANDOM, .lo = 0, .hi = 0xffffffff, .seed = 1});
	return only(s, 64);
}

static bool make_list(struct schedule *s)
{
	vary_u list[100];

	if (!stack(s, "eth/ipv4/udp"))
		return false;
	for (unsigned i = 0; i < 100; i++)
		list[i] = 0x0a000000 + i * 7919;
	vary(s, "ipv4.dst", (struct vary){.kind = VARY_LIST, .n = 100, .list = list});
	return only(s, 64);
}

/* Makes n streams with different addresses and ports, and with sizes from min to max. running:
 * their source ports vary. probe: one frame in so many has a probe; 0: none. */
static bool many_probed(struct schedule *s, unsigned n, unsigned min, unsigned max, bool running,
			unsigned probe)
{
	for (unsigned i = 0; i < n; i++) {
		char text[32];
		if (!stack(s, "eth/ipv4/udp"))
			return false;
		s->spec->probe = probe;
		snprintf(text, sizeof(text), "10.1.%u.%u", i / 256, i % 256);
		value(s, "ipv4.dst", text);
		snprintf(text, sizeof(text), "%u", 1024 + i);
		value(s, "udp.dst", text);
		if (running)
			range(s, "udp.src", 1024, 65535, 1024 + 13 * i % 60000);
		turn(s, stream(s), compile(s, min + (max - min) * i / (n > 1 ? n - 1 : 1)));
	}
	return true;
}

static bool many(struct schedule *s, unsigned n, unsigned min, unsigned max, bool running)
{
	return many_probed(s, n, min, max, running, 0);
}

static bool make_seq16(struct schedule *s)
{
	return many(s, 16, 64, 64, false);
}
static bool make_seq16_mixed(struct schedule *s)
{
	return many(s, 16, 64, 1518, false);
}
static bool make_s4096(struct schedule *s)
{
	return many(s, 4096, 64, 64, false);
}
static bool make_s4096_probe(struct schedule *s)
{
	return many_probed(s, 4096, 64, 64, false, 1);
}
static bool make_s4096_run(struct schedule *s)
{
	return many(s, 4096, 64, 64, true);
}

/* Makes one stream of three sizes in the ratio 7:4:1, in weighted round robin. */
static bool imix(struct schedule *s, unsigned probe)
{
	static const unsigned size[] = {64, 570, 1518}, weight[] = {7, 4, 1};
	unsigned recipe[3], id = stream(s);

	if (!stack(s, "eth/ipv4/udp"))
		return false;
	s->spec->probe = probe;
	for (unsigned i = 0; i < 3; i++)
		recipe[i] = compile(s, size[i]);
	for (unsigned round = 0; round < 7; round++)
		for (unsigned i = 0; i < 3; i++)
			if (weight[i] > round)
				turn(s, id, recipe[i]);
	return true;
}

static bool make_imix_probe(struct schedule *s)
{
	return imix(s, 1);
}

static bool make_probe(struct schedule *s)
{
	if (!stack(s, "eth/ipv4/udp"))
		return false;
	s->spec->probe = 1;
	return only(s, 64);
}

static bool make_imix(struct schedule *s)
{
	return imix(s, 0);
}

/* What examples/pktperf sends: one stream for each queue. */
#define PERF_QUEUES 4
static bool make_pktperf(struct schedule *s)
{
	struct err e;

	for (unsigned q = 0; q < PERF_QUEUES; q++) {
		frame_spec_free(s->spec);
		memset(s->spec, 0, sizeof(*s->spec));
		if (perf_frame(s->spec, q, &e) < 0)
			die(e.text);
		turn(s, stream(s), compile(s, 64));
	}
	return true;
}

static bool make_random_payload(struct schedule *s)
{
	if (!stack(s, "eth/ipv4/udp"))
		return false;
	s->spec->fill = FILL_RANDOM;
	s->spec->fill_seed = 1;
	return only(s, 1518);
}

const struct row rows[] = {
	{.name = "gen_32", .base = "bare_tx_32", .make = make_fixed},
	{.name = "gen_64", .base = "bare_tx_64", .make = make_fixed},
	{.name = "gen_32_flight", .base = "bare_tx_flight", .make = make_fixed},
	{.name = "one", .base = "bare_tx_32", .make = make_one},
	{.name = "one_flight", .base = "bare_tx_flight", .make = make_one},
	{.name = "two", .base = "bare_tx_32", .make = make_two},
	{.name = "pktperf", .base = "bare_tx_32", .make = make_pktperf, .queues = PERF_QUEUES},
	{.name = "five_ipv6", .base = "bare_tx_32", .make = make_five},
	{.name = "random", .base = "bare_tx_32", .make = make_random},
	{.name = "list", .base = "bare_tx_32", .make = make_list},
	{.name = "seq16", .base = "bare_tx_32", .make = make_seq16},
	{.name = "seq16_mixed", .base = "bare_tx_32", .make = make_seq16_mixed},
	{.name = "s4096", .base = "bare_tx_32", .make = make_s4096},
	{.name = "s4096_running", .base = "bare_tx_32", .make = make_s4096_run},
	{.name = "imix", .base = "bare_tx_32", .make = make_imix},
	{.name = "random_1518", .base = "bare_tx_64", .make = make_random_payload},
	{.name = "probe", .base = "bare_tx_32", .make = make_probe},
	{.name = "probe_imix", .base = "bare_tx_32", .make = make_imix_probe},
	{.name = "probe_4096", .base = "bare_tx_32", .make = make_s4096_probe},
	{.name = "gen_1", .base = "bare_tx_32", .make = make_fixed, .burst = 1},
	{.name = "own_16", .base = "bare_tx_32", .make = make_seq16, .own_rates = true},
	{.name = "own_4096", .base = "bare_tx_32", .make = make_s4096, .own_rates = true},
	{.name = "own_16_single",
	 .base = "bare_tx_32",
	 .make = make_seq16,
	 .own_rates = true,
	 .burst = 1},
	{.name = "own_4096_single",
	 .base = "bare_tx_32",
	 .make = make_s4096,
	 .own_rates = true,
	 .burst = 1},
};
const unsigned nrows = ARRAY_SIZE(rows);

const struct row *row_named(const char *name)
{
	unsigned i = 0;

	while (i + 1 < nrows && strcmp(rows[i].name, name) != 0)
		i++;
	return &rows[i];
}

/* ---- plans ---- */

/* The last mark that was given to an image. Each image has a new one: gen_32_marks relies on the
 * mark that the last row to use a pool leaves there. */
static uint32_t marks;

static void phase(struct gen_phase *ph, const struct frun_spec *spec, uint32_t *mark)
{
	struct err e;
	struct frun *f = frun_new(spec, &e);

	if (f == NULL)
		die(e.text);
	for (unsigned c = 0; c < frun_nclasses(f); c++)
		mark[c] = ++marks;
	*ph = (struct gen_phase){.end = UINT64_MAX,
				 .frun = f,
				 .state = zeroed(frun_state_size(f)),
				 .mark = mark};
}

struct gen_job *row_job(const struct row *r, struct dp_txq *q, unsigned burst, const char *isa,
			const char **engine)
{
	static uint64_t sched;
	struct schedule *s = zeroed(sizeof(*s));
	struct gen_job *j = zeroed(sizeof(*j));

	s->recipe = zeroed(MAX_STREAMS * sizeof(*s->recipe));
	s->spec = zeroed(sizeof(*s->spec));
	if (!r->make(s))
		return NULL;
	struct frun_spec spec = {
		.cycle = s->cycle,
		.ncycle = s->ncycle,
		.recipe = s->ptr,
		.nrecipes = s->nrecipes,
		.stream_id = s->id,
		.nstreams = s->nstreams,
		.nqueues = r->queues != 0 ? r->queues : 1,
		.sched_id = ++sched,
		.data_off = GEN_DATA_OFF,
		.len16_off = GEN_LEN16_OFF,
		.len32_off = GEN_LEN32_OFF,
		.isa = isa,
	};
	unsigned n = r->own_rates ? s->nstreams : 1;
	struct gen_group *g = zeroed(n * sizeof(*g));
	struct gen_phase *ph = zeroed(n * sizeof(*ph));
	for (unsigned i = 0; i < n; i++) {
		if (r->own_rates) {
			spec.cycle = &s->cycle[i];
			spec.ncycle = 1;
		}
		phase(&ph[i], &spec, zeroed((s->nrecipes + 1) * sizeof(uint32_t)));
		g[i] = (struct gen_group){.stream = r->own_rates ? (int32_t)i : -1,
					  .nphases = 1,
					  .phase = &ph[i],
					  .limit = UINT64_MAX};
		if (r->own_rates)
			g[i].period = pace_period(clock_hz(), 1e10);
	}
	*engine = frun_engine(ph->frun);
	*j = (struct gen_job){.txq = q,
			      .ngroups = (uint16_t)n,
			      .group = g,
			      .mem = zeroed(gen_mem_size(n)),
			      .burst = (uint16_t)burst,
			      .nqueues = (uint16_t)spec.nqueues,
			      .run = 1,
			      .start_tsc = clock_tsc(),
			      .end_tsc = UINT64_MAX};
	for (unsigned i = 0; i < s->nrecipes; i++)
		frame_recipe_free(&s->recipe[i]);
	frame_spec_free(s->spec);
	free(s->recipe);
	free(s->spec);
	free(s);
	return j;
}
