/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what control makes of the streams of a port, without devices: the frames of all its queues
 * together are the sequence that schedule.h defines, and what has not changed is taken over. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctl_int.h"
#include "port_spec.h"
#include "send_groups.h"
#include "seed.h"

static const struct port_spec plain = {.prefix = "plain"};
static uint64_t seed;

static unsigned rnd(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 20) % n;
}

static struct ctl *world(unsigned queues)
{
	struct ctl *c = ctl_new();
	struct ctl_port *cp = c->port[c->nports++] = ctl_port_new();

	cp->p.spec = &plain;
	cp->p.ntxq = (uint16_t)queues;
	ctl_reset(c, 0);
	cp->p.applied = cp->cfg;
	cp->restart = false;
	return c;
}

static void world_free(struct ctl *c)
{
	struct ctl_port *cp = c->port[0];

	EACH_WORK(w, port_close)
		w->port_close(c, cp);
	streams_free(cp);
	frame_vals_free(&cp->dflt);
	ctl_port_free(cp);
	EACH_WORK(w, ctl_end)
		w->ctl_end(c);
	ctl_free(c);
}

static struct stream_cfg *cfg_of(struct ctl *c, unsigned id)
{
	if (ctl_stream_cfg(c, 0, id) == NULL)
		assert_int_equal(ctl_stream_add(c, 0, (int)id, 1, -1, NULL), id);
	ctl_touch_stream(c, 0, (int)id, WHY_ALL);
	return ctl_stream_cfg(c, 0, id);
}

static void make(struct ctl *c, uint64_t limit)
{
	struct ctl_port *cp = c->port[0];
	struct groups p;
	struct err e = {.text = ""};

	if (groups_make(c, cp, &send_of(cp)->groups, cp->p.ntxq, limit, &p, &e) < 0)
		fail_msg("%s", e.text);
	groups_take(c, cp, &p);
}

static void refused(struct ctl *c, const char *word, const char *help)
{
	struct groups p;
	struct err e = {.text = ""};
	int rc = groups_make(c, c->port[0], NULL, 1, UINT64_MAX, &p, &e);

	if (rc >= 0 || strstr(e.text, word) == NULL || strstr(e.text, help) == NULL)
		fail_msg("%d '%s'; wanted '%s' and '%s'", rc, e.text, word, help);
	assert_int_equal(p.ngroups, 0);
}

static void set(struct stream_cfg *s, const char *field, const char *value)
{
	struct err e = {.text = ""};

	if (frame_vals_parse(&s->frame.vals, field, value, &e) < 0)
		fail_msg("%s", e.text);
}

static void run_from(struct frame_vals *vals, const char *proto, const char *field, uint64_t lo,
		     uint64_t hi)
{
	const struct proto *p = proto_find(proto);

	frame_vals_vary(vals, p, 1, proto_field(p, field),
			&(struct vary){.kind = VARY_RANGE,
				       .bits = 16,
				       .first = lo,
				       .lo = lo,
				       .hi = hi,
				       .step = 1,
				       .div = 1});
}

static void run_through(struct stream_cfg *s, const char *proto, const char *field, uint64_t hi)
{
	run_from(&s->frame.vals, proto, field, 0, hi);
}

/* ---- what is sent ---- */

#define MAX_FRAMES 5000

struct one {
	unsigned id, size;
	uint64_t o;
};

static unsigned size_at(const struct stream_cfg *s, uint64_t o)
{
	static uint16_t size[SIZES_MAX_COUNT];

	sizes_expand(&s->sizes, size);
	uint16_t n = size[o % sizes_count(&s->sizes)];
	return n != 0 ? n : 64;
}

static unsigned naive(struct ctl *c, uint64_t limit, struct one *out)
{
	static uint64_t o[CTL_MAX_STREAMS];
	unsigned k = 0;
	bool some = true;

	memset(o, 0, sizeof(o));
	while (some) {
		some = false;
		for (unsigned r = 0; r < 10; r++)
			for (unsigned i = 0; i < ctl_nstreams(c, 0); i++) {
				const struct stream_cfg *s = ctl_stream_cfg(c, 0, i);
				if (s == NULL || !s->enabled || s->rate.set || s->weight <= r ||
				    (s->count != 0 && o[i] >= s->count))
					continue;
				if (k == MAX_FRAMES || k == limit)
					return k;
				out[k++] = (struct one){i, size_at(s, o[i]), o[i]};
				o[i]++;
				some = true;
			}
	}
	return k;
}

static uint8_t obj[GEN_DATA_OFF + 2048];

static struct one read_frame(const struct frun *f)
{
	const uint8_t *b = obj + GEN_DATA_OFF;
	uint16_t len;
	uint32_t len32;

	memcpy(&len, obj + GEN_LEN16_OFF, sizeof(len));
	memcpy(&len32, obj + GEN_LEN32_OFF, sizeof(len32));
	if (frun_len(f) != 0)
		len32 = len = (uint16_t)frun_len(f);
	assert_int_equal(len, len32);
	/* By ipv4.len the frame is as long as its mbuf says. */
	assert_int_equal(b[16] << 8 | b[17], len - 14);
	return (struct one){.id = (unsigned)(b[4] << 8 | b[5]),
			    .size = len + 4u,
			    .o = (uint64_t)(b[34] << 8 | b[35])};
}

/* Does what the worker of queue q does with its phases, frame by frame. */
static void play(const struct group *g, unsigned q, const struct one *want, unsigned n)
{
	unsigned np = g->sched.nphases, nq = g->nqueues;
	const struct queue_frun *from = NULL;
	void *one = obj;

	for (unsigned p = 0; p < np; p++) {
		const struct queue_frun *pr = &g->frun[q * np + p];
		uint64_t k0 = g->sched.phase[p].k0, end = g->sched.phase[p].end;
		if (from == NULL)
			frun_begin(pr->run, pr->state);
		else
			frun_next(from->run, from->state, pr->run, pr->state);
		from = pr;
		uint64_t k = k0 + (q + nq - k0 % nq) % nq;
		for (uint64_t i = 0; k < end && k < n; i++, k += nq) {
			unsigned cls = frun_nclasses(pr->run) > 1 ? frun_class_of(pr->run, i) : 0;
			const struct frun_class *image = frun_class(pr->run, cls);
			memcpy(obj + GEN_DATA_OFF, image->bytes, image->len);
			if (frun_is_fixed(pr->run))
				frun_seek(pr->run, pr->state, i + 1);
			else
				frun_fill(pr->run, pr->state, &one, 1);
			struct one got = read_frame(pr->run);
			if (got.id != want[k].id || got.size != want[k].size || got.o != want[k].o)
				fail_msg(
					"queue %u of %u, frame %llu: stream %u size %u ordinal %llu, not %u %u %llu",
					q, nq, (unsigned long long)k, got.id, got.size,
					(unsigned long long)got.o, want[k].id, want[k].size,
					(unsigned long long)want[k].o);
		}
	}
}

static void random_sizes(struct stream_cfg *s)
{
	switch (rnd(4)) {
	case 0:
		s->sizes = (struct sizes){.kind = SIZES_LIST,
					  .n = 2,
					  .item = {{64, 1 + (uint16_t)rnd(3)}, {128, 1}}};
		break;
	case 1:
		s->sizes = (struct sizes){.kind = SIZES_RANGE, .lo = 100, .hi = 124, .step = 6};
		break;
	default:
		s->sizes = (struct sizes){.kind = SIZES_AUTO};
	}
}

static void random_stream(struct stream_cfg *s, bool counts)
{
	char mac[32];

	snprintf(mac, sizeof(mac), "02:00:00:00:%02x:%02x", s->id >> 8, s->id & 255);
	set(s, "eth.dst", mac);
	run_through(s, "udp", "src", 65535);
	s->weight = 1 + rnd(rnd(2) ? 9 : 2);
	s->count = counts && rnd(3) == 0 ? 1 + rnd(300) : 0;
	random_sizes(s);
}

static void test_union_of_queues(void **state)
{
	static struct one want[MAX_FRAMES];

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		unsigned nq = 1 + rnd(5), n = 1 + rnd(6);
		struct ctl *c = world(nq);
		uint64_t limit = rnd(3) == 0 ? 1 + rnd(2000) : UINT64_MAX;
		for (unsigned s = 0; s < n; s++)
			random_stream(cfg_of(c, s * (1 + i % 3)), i % 2 == 0);
		make(c, limit);
		struct groups *p = &send_of(c->port[0])->groups;
		assert_int_equal(p->ngroups, 1);
		unsigned frames = naive(c, limit, want);
		assert_true(frames == MAX_FRAMES || p->group[0]->sched.total == frames);
		uint64_t l1 = 0, l2 = 0;
		for (unsigned k = 0; k < frames; k++) {
			if (k % 97 == 0) {
				assert_int_equal(group_wire(p->group[0], k, false), l1);
				assert_int_equal(group_wire(p->group[0], k, true), l2);
			}
			l1 += want[k].size + 20;
			l2 += want[k].size;
		}
		for (unsigned q = 0; q < nq; q++)
			play(p->group[0], q, want, frames);
		world_free(c);
	}
}

/* ---- what goes on while counts are sent ---- */

/* Lets the groups follow the settings. Returns whether these ask for another order. */
static bool follow(struct ctl *c, uint64_t limit)
{
	struct ctl_port *cp = c->port[0];
	struct err e = {.text = ""};
	struct groups p;
	bool other;

	if (groups_follow(c, cp, &send_of(cp)->groups, limit, &p, &other, &e) < 0)
		fail_msg("%s", e.text);
	groups_take(c, cp, &p);
	return other;
}

static void ask_for_another_order(struct ctl *c, unsigned n)
{
	struct stream_cfg *s = cfg_of(c, rnd(n));

	switch (rnd(n > 1 ? 5 : 3)) {
	case 0:
		s->count++;
		break;
	case 1:
		s->enabled = false;
		break;
	case 2:
		s->rate = (struct own_rate){.set = true, .rate = {.kind = RATE_PPS, .value = 10}};
		break;
	case 3:
		s->weight++;
		break;
	default:
		assert_int_equal(ctl_stream_delete(c, 0, s->id, NULL), 0);
	}
}

/* Other sizes make other cycles. Which stream sends frame k stays as it was, in all phases and on
 * all queues. */
static void test_follow(void **state)
{
	static struct one want[MAX_FRAMES];
	unsigned phases = 0;

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		unsigned nq = 1 + rnd(4), n = 1 + rnd(6), frames = 0;
		struct ctl *c = world(nq);
		struct groups *p = &send_of(c->port[0])->groups;
		uint64_t limit = rnd(3) == 0 ? 1 + rnd(2000) : UINT64_MAX;
		for (unsigned s = 0; s < n; s++)
			random_stream(cfg_of(c, s), true);
		cfg_of(c, 0)->count = 1 + rnd(300);
		make(c, limit);
		uint64_t epoch = p->group[0]->epoch, sched_id = p->group[0]->sched_id;
		phases += p->group[0]->sched.nphases;
		for (unsigned step = 0; step < 4; step++) {
			if (step < 3) {
				for (unsigned s = 0; s < n; s++)
					random_sizes(cfg_of(c, s));
				frames = naive(c, limit, want);
			} else {
				ask_for_another_order(c, n);
			}
			assert_int_equal(follow(c, limit), step == 3);
			assert_int_equal(p->ngroups, 1);
			assert_int_equal(p->group[0]->epoch, epoch);
			assert_int_equal(p->group[0]->sched_id, sched_id);
			assert_true(p->counted &&
				    (frames == MAX_FRAMES || p->group[0]->sched.total == frames));
			for (unsigned q = 0; q < nq; q++)
				play(p->group[0], q, want, frames);
		}
		world_free(c);
	}
	assert_true(phases > 60 + 20);
}

/* ---- what is kept ---- */

static void test_reuse(void **state)
{
	struct ctl *c = world(2);
	struct groups *p = &send_of(c->port[0])->groups;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		set(cfg_of(c, i), "udp.dst", "7");
	cfg_of(c, 3)->rate =
		(struct own_rate){.set = true, .rate = {.kind = RATE_PPS, .value = 10}};
	make(c, UINT64_MAX);
	assert_int_equal(p->ngroups, 2);
	struct group a = *p->group[0], own = *p->group[1], *first = p->group[0],
		     *second = p->group[1];
	uint32_t mark = a.frun[0].mark[0];
	group_ref(first); /* as a plan that is still in use would */
	assert_int_equal(own.cell, c->port[0]->stream[3]->cell);
	c->port[0]->cfg.rate.value = 3; /* a rate is not part of it */
	c->port[0]->stream[3]->cfg.rate.rate.value = 3;
	make(c, UINT64_MAX);
	assert_ptr_equal(p->group[0], first);
	assert_ptr_equal(p->group[1], second);
	set(cfg_of(c, 1), "udp.dst", "8"); /* another value makes other frames in the same order */
	make(c, UINT64_MAX);
	assert_ptr_not_equal(p->group[0]->frun[0].run, a.frun[0].run);
	assert_ptr_equal(p->group[1], second);
	assert_int_equal(p->group[0]->epoch, a.epoch);
	assert_int_equal(p->group[0]->sched_id, a.sched_id);
	assert_int_not_equal(p->group[1]->epoch, a.epoch);
	cfg_of(c, 1)->weight = 2; /* another order */
	make(c, UINT64_MAX);
	assert_int_not_equal(p->group[0]->epoch, a.epoch);
	assert_int_not_equal(p->group[0]->sched_id, a.sched_id);
	assert_ptr_equal(p->group[1], second);
	cfg_of(c, 1)->weight = 1;
	set(cfg_of(c, 1), "udp.dst", "7");
	make(c, UINT64_MAX); /* this is as at first, and buffers that hold it are good again */
	assert_int_equal(p->group[0]->frun[0].mark[0], mark);
	group_unref(c, first);
	world_free(c);
}

/* Equal contents have one mark, other contents never do. */
static void test_marks(void **state)
{
	struct ctl *c = world(3);
	struct groups *p = &send_of(c->port[0])->groups, old;

	(void)state;
	cfg_of(c, 0)->sizes = (struct sizes){.kind = SIZES_FIXED, .n = 1, .item = {{200, 1}}};
	make(c, UINT64_MAX);
	uint32_t a = p->group[0]->frun[0].mark[0];
	assert_int_not_equal(a, 0);
	assert_int_equal(a, p->group[0]->frun[1].mark[0]);
	old = *p; /* somebody still has it */
	group_ref(old.group[0]);
	struct group *kept = old.group[0];
	cfg_of(c, 0)->frame.fill = FILL_ZERO;
	make(c, UINT64_MAX);
	uint32_t b = p->group[0]->frun[0].mark[0];
	assert_int_not_equal(a, b);
	cfg_of(c, 0)->frame.fill = FILL_ABC;
	make(c, UINT64_MAX);
	assert_int_equal(p->group[0]->frun[0].mark[0], a);
	group_unref(c, kept);
	cfg_of(c, 0)->frame.fill = FILL_ZERO;
	make(c, UINT64_MAX);
	/* the last user of that image was gone meanwhile */
	assert_int_not_equal(p->group[0]->frun[0].mark[0], b);
	world_free(c);
}

static void test_refused(void **state)
{
	struct ctl *c = world(1);

	(void)state;
	cfg_of(c, 0)->enabled = false;
	cfg_of(c, 2)->enabled = false;
	refused(c, "port 0: no stream is enabled", "set 0/0 enabled on");
	cfg_of(c, 2)->enabled = true;
	cfg_of(c, 2)->sizes = (struct sizes){.kind = SIZES_FIXED, .n = 1, .item = {{1519, 1}}};
	refused(c, "stream 0/2", "1518");
	cfg_of(c, 2)->sizes = (struct sizes){.kind = SIZES_RANGE, .lo = 64, .hi = 1518, .step = 1};
	for (unsigned i = 3; i < 100; i++)
		cfg_of(c, i);
	refused(c, "1455 sizes", "set 0/2 rate");
	for (unsigned i = 2; i < 200; i++) {
		cfg_of(c, i)->sizes =
			(struct sizes){.kind = SIZES_RANGE, .lo = 64, .hi = 1518, .step = 1};
		cfg_of(c, i)->rate =
			(struct own_rate){.set = true, .rate = {.kind = RATE_PPS, .value = 1}};
	}
	refused(c, "288090 frame sizes", "fewer");
	world_free(c);
}

/* The device makes checksums only if it can make all that the frames need, and the user does not
 * object. */
static void test_offload(void **state)
{
	struct ctl *c = world(1);
	struct ctl_port *cp = c->port[0];
	struct groups *p = &send_of(cp)->groups;

	(void)state;
	cfg_of(c, 1);
	make(c, UINT64_MAX);
	assert_false(p->group[0]->offload);
	cp->p.tx_offloads = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM;
	make(c, UINT64_MAX);
	assert_false(p->group[0]->offload); /* udp is not among them */
	cp->p.tx_offloads |= RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
	make(c, UINT64_MAX);
	assert_true(p->group[0]->offload);
	assert_string_equal(frun_sums(p->group[0]->frun[0].run), "nic");
	assert_true(frun_class(p->group[0]->frun[0].run, 0)->ip4 &&
		    frun_class(p->group[0]->frun[0].run, 0)->udp);
	uint32_t mark = p->group[0]->frun[0].mark[0];
	cp->cfg.no_offload = true;
	make(c, UINT64_MAX);
	assert_false(p->group[0]->offload);
	assert_int_not_equal(p->group[0]->frun[0].mark[0], mark);
	cp->cfg.no_offload = false;
	set(cfg_of(c, 1), "udp.cksum", "1"); /* no NIC can make this frame, so all are made here */
	make(c, UINT64_MAX);
	assert_false(p->group[0]->offload);
	world_free(c);
}

/* An overlay whose settings are two bytes: udp.src runs from the first to the second. */
static int overlay_apply(const struct stream_cfg *cfg, struct frame_spec *spec, struct sizes *sizes,
			 struct err *e)
{
	(void)sizes, (void)e;
	run_from(&spec->vals, "udp", "src", cfg->overlay[0], cfg->overlay[1]);
	return 0;
}

static void test_overlay(void **state)
{
	static const struct cfg_overlay src = {.apply = overlay_apply};
	struct ctl *c = world(1);
	struct stream_cfg *s = cfg_of(c, 0);
	const struct group *g;
	void *one = obj;

	(void)state;
	cfg_overlay_set(&src);
	run_through(s, "udp", "dst", 10);
	s->overlay[0] = 50;
	s->overlay[1] = 51;
	for (unsigned on = 0; on < 2; on++) {
		cfg_of(c, 0)->overlay_on = on != 0;
		make(c, UINT64_MAX);
		g = send_of(c->port[0])->groups.group[0];
		frun_begin(g->frun[0].run, g->frun[0].state);
		for (unsigned i = 0; i < 6; i++) {
			const struct frun_class *image = frun_class(g->frun[0].run, 0);
			memcpy(obj + GEN_DATA_OFF, image->bytes, image->len);
			frun_fill(g->frun[0].run, g->frun[0].state, &one, 1);
			assert_int_equal(obj[GEN_DATA_OFF + 37], i);
			assert_int_equal(obj[GEN_DATA_OFF + 35] - 50,
					 on ? i % 2 : (1234 & 255) - 50);
		}
	}
	static struct frame f;
	assert_int_equal(stream_frame(c->port[0], c->port[0]->stream[0], &f, NULL), 0);
	assert_int_equal(f.bytes[35], 50);
	world_free(c);
}

static void test_many(void **state)
{
	struct ctl *c = world(2);
	struct ctl_port *cp = c->port[0];

	(void)state;
	assert_int_equal(ctl_stream_add(c, 0, -1, CTL_MAX_STREAMS - 1, -1, NULL), 1);
	for (unsigned i = 0; i < CTL_MAX_STREAMS; i++)
		run_through(ctl_stream_cfg(c, 0, i), "udp", "src", 1000 + i);
	for (unsigned i = 0; i < 3; i++) {
		ctl_touch_stream(c, 0, i == 0 ? -1 : 77, WHY_ALL);
		make(c, UINT64_MAX);
	}
	assert_int_equal(send_of(cp)->groups.group[0]->sched.phase[0].ncycle, CTL_MAX_STREAMS);
	world_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_union_of_queues), cmocka_unit_test(test_follow),
		cmocka_unit_test(test_reuse),           cmocka_unit_test(test_marks),
		cmocka_unit_test(test_refused),         cmocka_unit_test(test_offload),
		cmocka_unit_test(test_overlay),         cmocka_unit_test(test_many),
	};

	seed = test_seed_not_0();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
