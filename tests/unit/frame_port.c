/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame_plain.h"
#include "frame_port.h"
#include "seed.h"

uint64_t pick(uint64_t n)
{
	return below(n);
}
uint64_t pick_wide(void)
{
	return rnd();
}

void port_seed(void)
{
	seed = test_seed();
}

const char *pick_isa(void)
{
	static const char *const isas[] = {NULL, "scalar", "ssse3", "avx2", "avx512", "neon"};

	return isas[below(ARRAY_SIZE(isas))];
}

uint64_t *base_of(struct port *p, unsigned stream, uint64_t id)
{
	for (unsigned i = 0; i < p->nbases; i++)
		if (p->base[i].stream_id == p->id[stream] && p->base[i].var_id == id)
			return &p->base[i].base;
	return NULL;
}

uint64_t ordinal(const struct port *p, unsigned stream, uint64_t k)
{
	uint64_t per = 0, in = 0;

	for (unsigned c = 0; c < p->ncycle; c++)
		if (p->cycle[c].stream == stream) {
			per++;
			in += c < k % p->ncycle;
		}
	return p->o0[stream] + k / p->ncycle * per + in;
}

const struct frame_recipe *expect(struct port *p, uint64_t k, uint8_t *out)
{
	static uint8_t block[FRAME_RANDOM_BLOCK];
	static uint64_t block_seed;
	static bool have;
	const struct frun_slot *slot = &p->cycle[k % p->ncycle];
	const struct frame_recipe *recipe = &p->recipe[slot->recipe];
	uint64_t o = ordinal(p, slot->stream, k);

	memcpy(out, recipe->bytes, recipe->len);
	if (recipe->random_payload) {
		if (!have || block_seed != recipe->fill_seed)
			frame_random_block(recipe->fill_seed, block);
		have = true;
		block_seed = recipe->fill_seed;
		memcpy(out + recipe->hdr_len, block + o * FRAME_RANDOM_STEP % FRAME_RANDOM_WINDOWS,
		       recipe->len - recipe->hdr_len);
	}
	for (unsigned i = 0; i < recipe->nvars; i++) {
		const struct frame_var *v = &recipe->var[i];
		const uint64_t *base = base_of(p, slot->stream, v->id);
		put(out, v->bit, v->bits, vary_at(&v->v, o - (base != NULL ? *base : 0)));
	}
	for (unsigned c = 0; c < recipe->nsums; c++) {
		if (p->offload && recipe->offload)
			memset(out + recipe->sum[c].off, 0, 2);
		else
			put_sum(&recipe->sum[c], out);
	}
	return recipe;
}

/* ---- random ports ---- */

static void random_list(struct vary *v, unsigned n, vary_u *list)
{
	v->kind = VARY_LIST;
	v->n = n;
	v->list = list;
	for (unsigned i = 0; i < n; i++)
		list[i] = wide(v->bits);
}

/* Makes any variation that the header of lib/vary allows, more often than not near the edges. */
static void random_vary(struct vary *v, unsigned bits, vary_u *list)
{
	vary_u max = bits < 128 ? ((vary_u)1 << bits) - 1 : ~(vary_u)0, a = wide(bits),
	       b = wide(bits);

	*v = (struct vary){.bits = (uint8_t)bits, .div = 1, .first = wide(bits)};
	switch (below(8)) {
	case 0:
		random_list(v, 1 + (unsigned)below(40), list);
		return;
	case 1:
		v->kind = VARY_MASK;
		v->mask = below(2) ? max : wide(bits);
		v->repeat = below(3) == 0 ? 1 + below(100) : 0;
		return;
	case 2:
		v->kind = VARY_RANDOM;
		v->repeat = below(3) == 0 ? 1 + below(100) : 0;
		v->seed = below(2) ? rnd() : 0;
		break;
	default:
		v->kind = VARY_RANGE;
		v->down = below(3) == 0;
	}
	if (below(2)) {
		a = below(2) ? 0 : a & ~(vary_u)0xff;
		b = below(2) ? max : a + below(1000);
	}
	b = b > max ? max : b;
	v->lo = a < b ? a : b;
	v->hi = a < b ? b : a;
	v->step = below(2) ? 1 : below(2) ? 1 + below(70000) : wide(bits) | 1;
	v->step = v->step > max ? 1 : v->step;
	v->first = v->down ? v->hi : v->lo;
	if (below(3) == 0 && v->hi > v->lo)
		v->first = v->lo + wide(bits) % (v->hi - v->lo);
}

static void random_rnd(struct frame_spec *spec)
{
	spec->rnd_on = true;
	for (unsigned i = 0; i < 1 + below(3); i++) {
		struct frame_rnd *r = &spec->rnd[below(FRAME_MAX_RND)];
		*r = (struct frame_rnd){.on = true,
					.off = (uint16_t)below(56),
					.nbits = (uint8_t)(1 + below(32))};
		r->rnd = (uint32_t)rnd() & (uint32_t)(below(2) ? rnd() : UINT32_MAX);
		r->one = (uint32_t)rnd() & ~r->rnd;
		r->zero = (uint32_t)rnd() & ~r->rnd & ~r->one;
	}
}

static void nest_all(struct frame_spec *spec)
{
	for (unsigned i = 0; i < spec->vals.n && spec->nest.n < 4; i++) {
		const struct frame_val *v = &spec->vals.val[i];
		if (v->vary == NULL || vary_period(v->vary) == 0)
			continue;
		spec->nest.at[spec->nest.n].proto = v->proto;
		spec->nest.at[spec->nest.n].field = v->field;
		spec->nest.at[spec->nest.n].nth = v->nth;
		spec->nest.at[spec->nest.n++].same_digit = below(3) == 0;
	}
}

static void random_spec(struct frame_spec *spec, unsigned often)
{
	static const char *const stacks[] = {"eth/ipv4/udp",
					     "eth/ipv4/tcp",
					     "eth/vlan/ipv4/udp",
					     "eth/vlan/vlan/ipv4/tcp",
					     "eth/ipv4/ipv4/udp",
					     "eth/ipv4/ipv4/ipv4/tcp",
					     "eth/ipv4",
					     "eth/ipv6/tcp",
					     "eth/qinq/mpls/ipv6/ipv6hbh/udp",
					     "eth/ipv4/gre/ipv6/icmpv6",
					     "eth/ipv4/udp/vxlan/eth/ipv4/icmp",
					     "eth/ipv4/sctp",
					     "eth/arp"};
	vary_u list[64];
	unsigned nth[64] = {0};

	*spec = (struct frame_spec){.fill = below(6) == 0 ? FILL_RANDOM
					    : below(2)    ? FILL_ABC
							  : FILL_ZERO,
				    .fill_seed = below(2)};
	assert_int_equal(frame_stack_parse(stacks[below(ARRAY_SIZE(stacks))], &spec->stack, NULL),
			 0);
	for (unsigned h = 0; h < spec->stack.n; h++) {
		const struct proto *p = spec->stack.hdr[h];
		nth[h] = 1;
		for (unsigned j = 0; j < h; j++)
			nth[h] += spec->stack.hdr[j] == p;
		for (const struct field *f = p->fields; f->name != NULL; f++) {
			struct vary v;
			bool odd = f->role == ROLE_SUM_HDR || f->role == ROLE_SUM_L4;
			/* Fields of another message type are in no frame. */
			if (f->bits == 0 || f->when.field != NULL ||
			    (f->section != NULL && f->section->when.field != NULL) ||
			    below(often * (odd ? 20 : 1)) != 0)
				continue;
			random_vary(&v, f->bits, list);
			frame_vals_vary(&spec->vals, p, nth[h], f, &v);
		}
	}
	if (below(3) == 0)
		nest_all(spec);
	if (below(5) == 0)
		random_rnd(spec);
}

void compile(const struct frame_spec *spec, struct frame_recipe *out)
{
	static struct frame_vals dflt;
	struct err e;

	if (dflt.n == 0) {
		assert_int_equal(frame_vals_parse(&dflt, "eth.dst", "02:77:72:00:00:01", &e), 0);
		assert_int_equal(frame_vals_parse(&dflt, "eth.src", "02:77:72:00:00:00", &e), 0);
		assert_int_equal(frame_vals_parse(&dflt, "ipv4.src", "192.168.0.1", &e), 0);
		assert_int_equal(frame_vals_parse(&dflt, "ipv4.dst", "192.168.1.1", &e), 0);
	}
	if (frame_compile(spec, &dflt, FRAME_MAX_LEN, out, &e) != 0)
		fail_msg("%s", e.text);
}

/* Makes streams of one to four sizes each. */
static void random_streams(struct port *p)
{
	unsigned often = 3u + (unsigned)below(20);

	p->nstreams = below(3) == 0 ? 1 : 1 + (unsigned)below(MAX_STREAMS);
	for (unsigned s = 0; s < p->nstreams; s++) {
		struct frame_spec spec;
		unsigned sizes = below(2) ? 1 : 1 + (unsigned)below(4);
		random_spec(&spec, often);
		p->id[s] = 10 * s + (uint32_t)below(10);
		p->o0[s] = below(3) == 0 ? rnd() >> 1 : below(1000);
		for (unsigned i = 0; i < sizes; i++) {
			spec.size = (uint16_t)(below(2) ? 150
							: 150 + below(below(4) == 0 ? 1900 : 200));
			p->owner[p->nrecipes] = s;
			p->recipe_at[p->nrecipes] = &p->recipe[p->nrecipes];
			compile(&spec, &p->recipe[p->nrecipes++]);
		}
		frame_spec_free(&spec);
	}
}

static void random_cycle(struct port *p)
{
	p->norder = p->ncycle = p->nrecipes + (unsigned)below(MAX_CYCLE - p->nrecipes);
	for (unsigned c = 0; c < p->ncycle; c++) {
		unsigned recipe = c < p->nrecipes ? c : (unsigned)below(p->nrecipes);
		p->cycle[c] = (struct frun_slot){.stream = (uint16_t)p->owner[recipe],
						 .recipe = (uint16_t)recipe};
	}
	for (unsigned c = p->ncycle; c > 1; c--) {
		unsigned other = (unsigned)below(c);
		struct frun_slot t = p->cycle[c - 1];
		p->cycle[c - 1] = p->cycle[other];
		p->cycle[other] = t;
	}
}

struct port *random_port(void)
{
	struct port *p = calloc(1, sizeof(*p));

	random_streams(p);
	random_cycle(p);
	p->nqueues = below(3) == 0 ? 1 : 1 + (unsigned)below(MAX_QUEUES);
	p->sched_id = rnd();
	p->offload = below(6) == 0;
	p->apart = below(3) == 0;
	return p;
}

void free_port(struct port *p)
{
	for (unsigned i = 0; i < p->nrecipes; i++)
		frame_recipe_free(&p->recipe[i]);
	free(p);
}

/* ---- one queue ---- */

struct frun *new_frun(struct port *p, unsigned queue, const char *isa)
{
	struct frun_spec spec = {
		.cycle = p->cycle,
		.ncycle = p->ncycle,
		.recipe = p->recipe_at,
		.nrecipes = p->nrecipes,
		.stream_id = p->id,
		.o0 = p->o0,
		.nstreams = p->nstreams,
		.first = queue,
		.nqueues = p->nqueues,
		.sched_id = p->sched_id,
		.offload = p->offload,
		.data_off = offsetof(struct object, data) + DATA,
		.len16_off =
			p->apart ? offsetof(struct object, apart) : offsetof(struct object, narrow),
		.len32_off = offsetof(struct object, wide),
		.isa = isa,
		.max_lanes = below(4) == 0 ? 1 + (uint32_t)below(40) : 0,
	};
	struct err e;
	struct frun *f = frun_new(&spec, &e);

	if (f == NULL)
		fail_msg("%s", e.text);
	return f;
}

void *state_of(const struct frun *f)
{
	void *state = aligned_alloc(64, frun_state_size(f));

	memset(state, 0, frun_state_size(f));
	return state;
}

void open_queue(struct queue *q, struct port *p, unsigned number, const char *isa)
{
	*q = (struct queue){.number = number, .f = new_frun(p, number, isa)};
	q->state = state_of(q->f);
	q->obj = calloc(NOBJ, sizeof(*q->obj));
	for (unsigned i = 0; i < NOBJ; i++)
		q->obj[i].class = -1;
	frun_begin(q->f, q->state);
}

void close_queue(struct queue *q)
{
	frun_free(q->f);
	free(q->state);
	free(q->obj);
}

void next_queue(struct queue *q, struct frun *f, void *state)
{
	frun_free(q->f);
	free(q->state);
	q->f = f;
	q->state = state;
	for (unsigned i = 0; i < NOBJ; i++)
		q->obj[i].class = -1;
}

/* Makes a buffer ready as the worker gets it: with its image, and with whatever earlier frames left
 * if frames are written anew each time. */
static void ready(struct queue *q, struct object *o, int class)
{
	const struct frun_class *c = frun_class(q->f, (unsigned)class);

	if (o->class != class) {
		memset(o->data, 0xee, sizeof(o->data));
		memcpy(o->data + DATA, c->bytes, c->len);
		o->class = class;
	}
	for (unsigned i = 0; i < c->from && i < c->len; i++)
		o->data[DATA + i] = (uint8_t)~o->data[DATA + i];
	o->wide = frun_len(q->f);
	o->narrow = o->apart = (uint16_t)frun_len(q->f);
	o->spare = 0xdddd;
	memset(o->data, 0xdd, DATA);
}

static void judge(struct port *p, struct queue *q, uint64_t i, const struct object *o,
		  const char *what)
{
	uint8_t want[FRAME_MAX_LEN + 4];
	const struct frame_recipe *recipe = expect(p, q->number + i * p->nqueues, want);

	enum frun_dst dst = memcmp(want, "\xff\xff\xff\xff\xff\xff", 6) == 0 ? FRUN_DST_BROADCAST
			    : want[0] & 1                                    ? FRUN_DST_MULTICAST
									     : FRUN_DST_UNICAST;
	enum frun_dst said = frun_class(q->f, frun_class_of(q->f, i))->dst;
	assert_true(said == dst || said == FRUN_DST_ANY);
	for (unsigned b = 0; b < DATA; b++)
		assert_int_equal(o->data[b], 0xdd);
	if (recipe->len > 2048)
		for (unsigned b = recipe->len; b < sizeof(o->data) - DATA; b++)
			assert_int_equal(o->data[DATA + b], 0xee);
	uint16_t narrow = p->apart ? o->apart : o->narrow, other = p->apart ? o->narrow : o->apart;
	assert_int_equal(other, frun_len(q->f));
	assert_true(o->spare == 0xdddd || (!p->apart && o->spare == 0));
	if (o->wide != recipe->len || narrow != recipe->len)
		fail_msg("%s: frame %llu has length %u/%u, not %u", what, (unsigned long long)i,
			 o->wide, narrow, recipe->len);
	for (unsigned b = 0; b < recipe->len; b++)
		if (o->data[DATA + b] != want[b])
			fail_msg(
				"%s (%s): queue %u of %u, frame %llu, %u bytes: byte %u is %02x, not %02x",
				what, frun_engine(q->f), q->number, p->nqueues,
				(unsigned long long)i, recipe->len, b, o->data[DATA + b], want[b]);
}

/* Writes and judges the next n own frames. */
void burst(struct port *p, struct queue *q, unsigned n)
{
	void *obj[FRUN_MAX_BURST];
	uint64_t i = frun_pos(q->f, q->state), bytes = 0;
	unsigned at = (unsigned)below(NOBJ);

	for (unsigned j = 0; j < n; j++) {
		struct object *o = &q->obj[(at + j) % NOBJ];
		ready(q, o, (int)frun_class_of(q->f, i + j));
		obj[j] = o;
	}
	frun_fill(q->f, q->state, obj, n);
	assert_int_equal(frun_pos(q->f, q->state), i + n);
	for (unsigned j = 0; j < n; j++) {
		judge(p, q, i + j, obj[j], "fill");
		bytes += ((struct object *)obj[j])->wide + 4;
	}
	assert_int_equal(frun_bytes(q->f, i, n), bytes);
}

unsigned pick_burst(void)
{
	return below(3) == 0   ? 32
	       : below(3) == 0 ? 64
			       : 1 + (unsigned)below(below(4) == 0 ? FRUN_MAX_BURST : 70);
}
