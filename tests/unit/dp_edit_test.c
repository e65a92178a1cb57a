/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kind gen on devices that edit what they are given to send. Whatever a driver does to a
 * buffer, frames that leave afterwards are right, in order and counted. Each frame is judged before
 * its driver touches it. */
#include "effort.h"
#include "dp_model.h"

static struct rte_mempool *other_pool;

/* ---- what drivers do: of the mbuf alone ---- */

static struct rte_mbuf *adj(struct rte_mbuf *m)
{
	assert_non_null(rte_pktmbuf_adj(m, (uint16_t)(1 + any(40))));
	return m;
}

static struct rte_mbuf *prepend(struct rte_mbuf *m)
{
	assert_non_null(rte_pktmbuf_prepend(m, (uint16_t)(1 + any(40))));
	return m;
}

static struct rte_mbuf *trim(struct rte_mbuf *m)
{
	assert_int_equal(rte_pktmbuf_trim(m, (uint16_t)(1 + any(40))), 0);
	return m;
}

static struct rte_mbuf *append(struct rte_mbuf *m)
{
	assert_non_null(rte_pktmbuf_append(m, (uint16_t)(1 + any(40))));
	return m;
}

static struct rte_mbuf *clear_offset(struct rte_mbuf *m)
{
	m->data_off = 0;
	return m;
}

static struct rte_mbuf *reset(struct rte_mbuf *m)
{
	rte_pktmbuf_reset(m);
	return m;
}

/* ---- of its flags too ---- */

static struct rte_mbuf *flags(struct rte_mbuf *m)
{
	m->ol_flags |= RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_UDP_CKSUM;
	m->l2_len = 18;
	m->vlan_tci = 77;
	m->packet_type = RTE_PTYPE_L4_UDP;
	m->port = 3;
	return m;
}

static struct rte_mbuf *offloads(struct rte_mbuf *m)
{
	m->tx_offload = UINT64_MAX;
	m->ol_flags = 0;
	return m;
}

static struct rte_mbuf *mark(struct rte_mbuf *m)
{
	m->hash.usr ^= 1u << any(32);
	return m;
}

/* ---- chains ---- */

static struct rte_mbuf *from(struct rte_mempool *mp)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	assert_non_null(m);
	return m;
}

/* Appends another segment to the frame, as padding. */
static struct rte_mbuf *tail(struct rte_mbuf *m)
{
	struct rte_mbuf *more = from(other_pool);

	assert_non_null(rte_pktmbuf_append(more, 16));
	assert_int_equal(rte_pktmbuf_chain(m, more), 0);
	return m;
}

/* Moves the headers into a buffer of the frame's own pool, which gets all that the mbuf says, the
 * mark too. The frame keeps the rest. */
static struct rte_mbuf *head(struct rte_mbuf *m)
{
	uint16_t len = (uint16_t)(14 + any(28));
	struct rte_mbuf *h = rte_pktmbuf_copy(m, m->pool, 0, len);

	assert_non_null(h);
	assert_non_null(rte_pktmbuf_adj(m, len));
	assert_int_equal(rte_pktmbuf_chain(h, m), 0);
	return h;
}

/* ---- bytes ---- */

static struct rte_mbuf *insert_tag(struct rte_mbuf *m)
{
	uint8_t *p = (uint8_t *)rte_pktmbuf_prepend(m, 4);

	assert_non_null(p);
	memmove(p, p + 4, 12);
	memcpy(p + 12, "\x81\0\0\7", 4);
	return m;
}

static struct rte_mbuf *checksum(struct rte_mbuf *m)
{
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);

	p[24] ^= 0x55;
	p[41] ^= 0xaa;
	return m;
}

static struct rte_mbuf *addresses(struct rte_mbuf *m)
{
	memset(rte_pktmbuf_mtod(m, uint8_t *), 0xd5, 12);
	return m;
}

static struct rte_mbuf *everything(struct rte_mbuf *m)
{
	memset(m->buf_addr, 0xee, m->buf_len);
	return m;
}

/* ---- other buffers in the place of ours ---- */

static struct rte_mbuf *swap_with(struct rte_mbuf *m, struct rte_mempool *mp)
{
	struct rte_mbuf *c = rte_pktmbuf_copy(m, mp, 0, UINT32_MAX);

	assert_non_null(c);
	rte_pktmbuf_free(m);
	memset(rte_pktmbuf_mtod(c, uint8_t *), 0xcc, 30);
	return c;
}

static struct rte_mbuf *swap_own(struct rte_mbuf *m)
{
	return swap_with(m, m->pool);
}
static struct rte_mbuf *swap_other(struct rte_mbuf *m)
{
	return swap_with(m, other_pool);
}

/* ---- references that outlive the sending ---- */

static struct rte_mbuf *kept[64];
static unsigned nkept;

static void keep(struct rte_mbuf *m)
{
	unsigned at = nkept % ARRAY_SIZE(kept);

	if (nkept++ >= ARRAY_SIZE(kept))
		rte_pktmbuf_free(kept[at]);
	kept[at] = m;
}

static void keep_nothing(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(kept) && i < nkept; i++)
		rte_pktmbuf_free(kept[i]);
	nkept = 0;
}

static struct rte_mbuf *reference(struct rte_mbuf *m)
{
	rte_mbuf_refcnt_update(m, 1);
	keep(m);
	return m;
}

static struct rte_mbuf *clone_with(struct rte_mbuf *m, struct rte_mempool *mp)
{
	struct rte_mbuf *c = rte_pktmbuf_clone(m, mp);

	assert_non_null(c);
	keep(c);
	return m;
}

static struct rte_mbuf *clone_own(struct rte_mbuf *m)
{
	return clone_with(m, m->pool);
}
static struct rte_mbuf *clone_other(struct rte_mbuf *m)
{
	return clone_with(m, other_pool);
}

/* Lets a clone leave in place of the frame, which leaves with it. */
static struct rte_mbuf *send_clone(struct rte_mbuf *m)
{
	struct rte_mbuf *c = rte_pktmbuf_clone(m, m->pool);

	assert_non_null(c);
	rte_pktmbuf_free(m);
	return c;
}

typedef struct rte_mbuf *edit_fn(struct rte_mbuf *m);
static edit_fn any_edit;
static const struct {
	const char *name;
	edit_fn *edit;
	bool shape;
} ways[] = {
	{"adj", adj, true},
	{"prepend", prepend, true},
	{"trim", trim, true},
	{"append", append, true},
	{"clear_offset", clear_offset, true},
	{"reset", reset, true},
	{"tail", tail, true},
	{"mark", mark, true},
	{"flags", flags, false},
	{"offloads", offloads, false},
	{"head", head, false},
	{"insert_tag", insert_tag, false},
	{"checksum", checksum, false},
	{"addresses", addresses, false},
	{"everything", everything, false},
	{"swap_own", swap_own, false},
	{"swap_other", swap_other, false},
	{"reference", reference, false},
	{"clone_own", clone_own, false},
	{"clone_other", clone_other, false},
	{"send_clone", send_clone, false},
	{"any", any_edit, false},
};

static struct rte_mbuf *any_edit(struct rte_mbuf *m)
{
	return ways[any(ARRAY_SIZE(ways) - 1)].edit(m);
}

/* ---- the port ---- */

static struct world *edited(unsigned nq, enum dp_edits edits, edit_fn *edit)
{
	struct world *x = world_new(nq, 2500);

	for (unsigned q = 0; q < nq; q++) {
		x->txq[q]->edits = (uint8_t)edits;
		fake[q].edit = edit;
		fake[q].edits_refused = edits == DP_EDITS_ALL;
		/* A frame that such a device has refused is none any more, and another one
		 * comes. */
		fake[q].drops = edits == DP_EDITS_ALL;
		fake[q].hold = 300;
		fake[q].take = TAKE_RANDOM;
	}
	return x;
}

static void close_world(struct world *x)
{
	for (unsigned q = 0; q < x->nq; q++)
		fake_release(&fake[q], 0);
	keep_nothing();
	assert_true(rte_mempool_full(other_pool));
	world_free(x);
}

/* Makes a phase of n turns of at most three streams. Frames have at least 90 bytes, so that there
 * is something to cut off. sizes: 1, or different ones. */
static struct tphase *streams(struct world *x, unsigned id, unsigned n, unsigned sizes, bool fills)
{
	struct tphase *p = phase_new(x);
	unsigned last[3];

	for (unsigned s = 0; s < 3; s++)
		last[s] = any(2) == 0 ? 7 : 8 + any(500);
	for (unsigned i = 0; i < n; i++) {
		unsigned s = i % 3, size = sizes == 1 ? 100 : 90 + any(900);
		phase_add(p, id + s,
			  filled_frames(x, id + s, size, 7, last[s],
					fills && s == 1 ? FILL_INC : FILL_ABC));
	}
	return p;
}

static void run(struct world *x, uint64_t frames)
{
	adopt_now(x);
	for (unsigned i = 0; i < 20 && !all_done(x); i++) {
		turns(x, 1 + any(5));
		check_counts(x);
	}
	run_to_end(x);
	assert_int_equal(TOTAL(x, packets), frames);
	assert_int_equal(TOTAL(x, dropped) + TOTAL(x, unsent), 0);
}

/* ---- tests ---- */

/* Most ports have one class of frames, fixed or not. Enough frames are sent that each buffer comes
 * back several times. */
static void test_each_way(void **state)
{
	(void)state;
	for (unsigned w = 0; w < ARRAY_SIZE(ways); w++)
		for (unsigned round = 0; round < effort(4, 1); round++) {
			struct world *x = edited(1 + round % 2, DP_EDITS_ALL, ways[w].edit);
			struct tphase *p = phase_new(x);
			phase_add(p, 0, frames_of(x, 0, 90 + any(200), 7, round < 2 ? 7 : 60000));
			one_group(x, p)->limit = 12000;
			run(x, 12000);
			close_world(x);
		}
}

/* If a driver leaves bytes alone, they are not written anew when the mbuf says that they are as
 * they were. */
static void test_shapes(void **state)
{
	(void)state;
	for (unsigned w = 0; w < ARRAY_SIZE(ways) && ways[w].shape; w++)
		for (unsigned round = 0; round < effort(4, 1); round++) {
			struct world *x = edited(1 + round % 2, DP_EDITS_SHAPE, ways[w].edit);
			struct tphase *p = phase_new(x);
			phase_add(p, 0, frames_of(x, 0, 90 + any(200), 7, round < 2 ? 7 : 60000));
			if (round % 2) /* here there are two classes */
				phase_add(p, 1, filled_frames(x, 1, 400, 7, 7, FILL_INC));
			one_group(x, p)->limit = 12000;
			run(x, 12000);
			close_world(x);
		}
}

/* There are several streams, sizes, classes of frames and rates of their own, and changes on the
 * way. */
static void test_many(void **state)
{
	(void)state;
	for (unsigned round = 0; round < effort(24, 6); round++) {
		struct world *x = edited(1 + round % 3, DP_EDITS_ALL,
					 round % 2 ? any_edit : ways[any(ARRAY_SIZE(ways))].edit);
		uint64_t frames = 8000;

		one_group(x, streams(x, 0, 1 + any(6), 1 + round % 2, round % 4 == 3))->limit =
			8000;
		for (unsigned n = 0; n < round % 5; n++) {
			struct tgroup *g = &x->group[x->ngroups++];
			*g = (struct tgroup){.stream = (int32_t)(20 + n),
					     .epoch = 1,
					     .limit = 1000,
					     .nphases = 1,
					     .phase = {phase_new(x)}};
			phase_add(g->phase[0], 20 + n,
				  filled_frames(x, 20 + n, 90 + any(300), 7, 7 + any(100),
						FILL_ABC));
			if (n % 2)
				g->period = pace_period((double)rte_get_tsc_hz(),
							1e6 + any(1000) * 1e3);
			frames += 1000;
		}
		x->job.burst = (uint16_t)(1 + any(100));
		run(x, frames);
		close_world(x);
	}
}

static void test_changes(void **state)
{
	(void)state;
	for (unsigned round = 0; round < effort(8, 2); round++) {
		struct world *x =
			edited(1 + round % 2, round % 4 == 3 ? DP_EDITS_SHAPE : DP_EDITS_ALL,
			       round % 4 == 3 ? trim : any_edit);

		adopt_now(x);
		for (unsigned i = 0; i < 30; i++) {
			turns(x, any(20));
			x->group[0].phase[0] = streams(x, 0, 1 + any(4), 1 + any(2), i % 2);
			x->group[0].epoch = i + 1;
			adopt_now(x);
			check_counts(x);
		}
		x->job.stop = true;
		adopt_now(x);
		assert_true(all_done(x));
		for (unsigned q = 0; q < x->nq; q++)
			assert_int_equal(x->gen[q]->sent, x->txq[q]->cnt.packets);
		close_world(x);
	}
}

/* Moves a frame, as a driver may that makes it ready: into another buffer, or to another place of
 * the same one. The frame stays what it is. */
static struct rte_mbuf *move(struct rte_mbuf *m)
{
	if (any(2) == 0) {
		struct rte_mbuf *c =
			rte_pktmbuf_copy(m, any(2) ? other_pool : m->pool, 0, UINT32_MAX);
		assert_non_null(c);
		rte_pktmbuf_free(m);
		return c;
	}
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);
	memmove(p - 24, p, m->data_len);
	m->data_off = (uint16_t)(m->data_off - 24);
	return m;
}

static uint16_t prepare_and_move(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct fake_q *f = queue;
	uint16_t ok = fake_prepare(queue, m, n);

	for (uint16_t i = 0; i < ok && f->edits_prepared; i++)
		m[i] = move(m[i]);
	return ok;
}

static void test_prepare(void **state)
{
	(void)state;
	for (unsigned round = 0; round < effort(16, 4); round++) {
		struct world *x = edited(1 + round % 2, DP_EDITS_ALL, any_edit);
		struct tphase *p = streams(x, 0, 1 + round % 4, 1 + round % 2, round % 4 == 3);
		bool rejects = round % 8 > 5;

		rte_eth_fp_ops[FAKE_DEV].tx_pkt_prepare = prepare_and_move;
		p->offload = !rejects;
		for (unsigned q = 0; q < x->nq; q++) {
			fake[q].prepares = !rejects;
			fake[q].rejects = rejects ? 1 + round % 3 : 0;
			fake[q].edits_prepared = true;
		}
		x->job.prepare = true;
		one_group(x, p)->limit = 6000;
		adopt_now(x);
		run_to_end(x);
		assert_int_equal(TOTAL(x, packets) + TOTAL(x, dropped), 6000);
		assert_true((TOTAL(x, dropped) > 0) == rejects);
		close_world(x);
	}
}

/* When the time of the run is over and the device takes nothing, what it refused and what was not
 * built is counted, and the run ends. */
static void test_refuses_all(void **state)
{
	(void)state;
	for (unsigned groups = 1; groups <= 2; groups++) {
		struct world *x = edited(1, DP_EDITS_ALL, any_edit);

		one_group(x, streams(x, 0, 2, 1, false))->period =
			(struct pace_period){.cycles = 100};
		x->group[0].limit = 1000;
		x->job.end_tsc = x->job.start_tsc + 1000 * 100;
		if (groups == 2) {
			x->group[1] = x->group[0];
			x->group[1].stream = 20;
			x->group[1].phase[0] = phase_new(x);
			phase_add(x->group[1].phase[0], 20, frames_of(x, 20, 100, 7, 7));
			x->ngroups = 2;
		}
		adopt_now(x);
		turns(x, 1);
		fake[0].take = TAKE_NONE;
		run_to_end(x);
		assert_true(TOTAL(x, unsent) + TOTAL(x, dropped) > 0);
		assert_int_equal(TOTAL(x, packets) + TOTAL(x, dropped) + TOTAL(x, unsent),
				 1000 * groups);
		/* A refusal that goes on counts once. */
		assert_true(TOTAL(x, stalls) <= TOTAL(x, packets) + 1);
		close_world(x);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_way), cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_many),     cmocka_unit_test(test_changes),
		cmocka_unit_test(test_prepare),  cmocka_unit_test(test_refuses_all),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	if (rc != 0)
		return rc;
	other_pool = pool_of(4095);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
