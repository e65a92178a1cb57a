/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the streams of a port with control's functions, without devices: ids that stay, holes,
 * limits, copies that own what they hold, and the way back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctl_int.h"
#include "port_int.h"

static const struct port_spec plain = {.prefix = "plain"};

static struct ctl *world(unsigned nports)
{
	struct ctl *c = ctl_new();

	for (unsigned i = 0; i < nports; i++) {
		struct ctl_port *cp = c->port[c->nports++] = ctl_port_new();
		cp->p.id = i;
		cp->p.spec = &plain;
		cp->p.used = true;
		assert_int_equal(frame_vals_parse(&cp->dflt, "eth.src",
						  i == 0 ? "02:00:00:00:00:01"
							 : "02:00:00:00:00:02",
						  NULL),
				 0);
		ctl_reset(c, i);
		cp->p.applied = cp->cfg;
		cp->restart = false;
	}
	return c;
}

static void world_free(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++) {
		streams_free(c->port[i]);
		frame_vals_free(&c->port[i]->dflt);
		ctl_port_free(c->port[i]);
	}
	ctl_free(c);
}

static void refused(int rc, int code, const struct err *e, const char *word)
{
	if (rc != -code || strstr(e->text, word) == NULL)
		fail_msg("%d, '%s'; wanted %d and '%s'", rc, e->text, -code, word);
}

static void ids(struct ctl *c, unsigned port, const char *want)
{
	struct sbuf b = {0};

	for (unsigned i = 0; i < ctl_nstreams(c, port); i++) {
		const struct stream_cfg *s = ctl_stream_cfg(c, port, i);
		if (s == NULL)
			continue;
		assert_int_equal(s->id, i);
		assert_int_equal(s->port, port);
		sbuf_addf(&b, "%s%u", b.len > 0 ? " " : "", i);
	}
	assert_string_equal(sbuf_str(&b), want);
	sbuf_free(&b);
}

static void test_defaults(void **state)
{
	struct ctl *c = world(2);

	(void)state;
	ids(c, 0, "0");
	assert_int_equal(ctl_stream_add(c, 1, -1, 2, -1, NULL), 1);
	ids(c, 1, "0 1 2");
	ids(c, 0, "0");
	for (unsigned i = 0; i < 3; i++) {
		struct stream_cfg *s = ctl_stream_cfg(c, 1, i);
		assert_true(s->enabled);
		assert_int_equal(s->weight, 1);
		assert_int_equal(s->count, 0);
		assert_false(s->rate.set);
		assert_int_equal(s->sizes.kind, SIZES_AUTO);
		assert_int_equal(s->dflt.n, 1);
		assert_int_equal(s->dflt.val[0].v[VT_FIELD_BYTES - 1], 2);
	}
	world_free(c);
}

static void test_ids(void **state)
{
	struct ctl *c = world(1);
	struct err e = {.text = ""};

	(void)state;
	assert_int_equal(ctl_stream_add(c, 0, 5, 2, -1, &e), 5);
	assert_int_equal(ctl_stream_add(c, 0, -1, 1, -1, &e), 7);
	ids(c, 0, "0 5 6 7");
	assert_int_equal(ctl_stream_total(c, 0), 4);
	assert_int_equal(ctl_nstreams(c, 0), 8);
	refused(ctl_stream_add(c, 0, 3, 4, -1, &e), EEXIST, &e, "0/5");
	ids(c, 0, "0 5 6 7");
	refused(ctl_stream_add(c, 0, 1, 1, 2, &e), EINVAL, &e, "no stream 0/2");
	refused(ctl_stream_add(c, 0, 1, 0, -1, &e), EINVAL, &e, "no stream to add");
	refused(ctl_stream_add(c, 1, 1, 1, -1, &e), EINVAL, &e, "no port 1");
	assert_int_equal(ctl_stream_delete(c, 0, 6, &e), 0);
	refused(ctl_stream_delete(c, 0, 6, &e), EINVAL, &e, "no stream 0/6");
	assert_null(ctl_stream_cfg(c, 0, 6));
	assert_int_equal(ctl_stream_delete(c, 0, 7, &e), 0);
	assert_int_equal(ctl_nstreams(c, 0), 6);
	ctl_stream_cfg(c, 0, 5)->weight = 9;
	refused(ctl_stream_move(c, 0, 5, 0, &e), EEXIST, &e, "0/0");
	refused(ctl_stream_move(c, 0, 5, CTL_MAX_STREAMS, &e), ERANGE, &e, "4095");
	assert_int_equal(ctl_stream_move(c, 0, 5, 2, &e), 0);
	ids(c, 0, "0 2");
	assert_int_equal(ctl_stream_cfg(c, 0, 2)->weight, 9);
	assert_int_equal(ctl_stream_delete(c, 0, 0, &e), 0);
	refused(ctl_stream_delete(c, 0, 2, &e), EINVAL, &e, "last one");
	ids(c, 0, "2");
	ctl_reset(c, 0);
	ids(c, 0, "0");
	assert_int_equal(ctl_stream_cfg(c, 0, 0)->weight, 1);
	world_free(c);
}

static void test_limits(void **state)
{
	struct ctl *c = world(1);
	struct err e = {.text = ""};

	(void)state;
	refused(ctl_stream_add(c, 0, -1, CTL_MAX_STREAMS, -1, &e), ERANGE, &e, "4095");
	assert_int_equal(ctl_stream_add(c, 0, -1, CTL_MAX_STREAMS - 1, 0, &e), 1);
	assert_int_equal(ctl_stream_total(c, 0), CTL_MAX_STREAMS);
	refused(ctl_stream_add(c, 0, -1, 1, -1, &e), ERANGE, &e, "4095");
	assert_int_equal(ctl_stream_delete(c, 0, 77, &e), 0);
	/* Holes below are filled only by their ids. */
	refused(ctl_stream_add(c, 0, -1, 1, -1, &e), ERANGE, &e, "4095");
	assert_int_equal(ctl_stream_add(c, 0, 77, 1, -1, &e), 77);
	world_free(c);
}

/* Whatever streams come and go while the port sends, no two of them share a counter. */
static void test_cells(void **state)
{
	struct ctl *c = world(1);
	struct ctl_port *cp = c->port[0];
	static bool seen[CTL_CELLS];
	struct err e = {.text = ""};
	int rc = 0;

	(void)state;
	cp->run.active = true;
	seen[cp->stream[0]->cell] = true;
	for (unsigned i = 0; i < CTL_CELLS - 2; i++) { /* the last cell belongs to no stream */
		rc = ctl_stream_add(c, 0, 1, 1, -1, &e);
		assert_int_equal(rc, 1);
		assert_false(seen[cp->stream[1]->cell]);
		seen[cp->stream[1]->cell] = true;
		assert_int_equal(ctl_stream_delete(c, 0, 1, &e), 0);
	}
	refused(ctl_stream_add(c, 0, 1, 1, -1, &e), EBUSY, &e, "stop 0");
	cp->run.active = false;
	assert_int_equal(ctl_stream_add(c, 0, 1, 1, -1, &e), 1);
	assert_int_equal(cp->stream[1]->cell, 1);
	/* this is the same stream with another id */
	assert_int_equal(ctl_stream_move(c, 0, 1, 9, &e), 0);
	assert_int_equal(cp->stream[9]->cell, 1);
	world_free(c);
}

/* Checks that two streams have the same settings, but for their port and id. */
static void same(const struct stream_cfg *a, const struct stream_cfg *b)
{
	assert_int_equal(a->enabled, b->enabled);
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->count, b->count);
	assert_memory_equal(&a->rate, &b->rate, sizeof(a->rate));
	assert_memory_equal(&a->sizes, &b->sizes, sizeof(a->sizes));
	assert_memory_equal(&a->frame.stack, &b->frame.stack, sizeof(a->frame.stack));
	assert_memory_equal(a->overlay, b->overlay, sizeof(a->overlay));
	assert_int_equal(a->frame.vals.n, b->frame.vals.n);
	for (unsigned i = 0; i < a->frame.vals.n; i++) {
		assert_ptr_equal(a->frame.vals.val[i].field, b->frame.vals.val[i].field);
		assert_memory_equal(a->frame.vals.val[i].v, b->frame.vals.val[i].v, VT_FIELD_BYTES);
	}
	assert_int_equal(a->dflt.n, b->dflt.n);
}

static void test_copies(void **state)
{
	struct ctl *c = world(1);
	struct stream_cfg *s = ctl_stream_cfg(c, 0, 0);

	(void)state;
	assert_int_equal(frame_vals_parse(&s->frame.vals, "ipv4.ttl", "7", NULL), 0);
	s->weight = 3;
	s->frame.fill = FILL_HEX;
	s->frame.data = xcalloc(1, sizeof(struct hexbytes) + 3);
	s->frame.data->n = 3;
	memcpy(s->frame.data->b, "abc", 3);
	assert_int_equal(ctl_stream_add(c, 0, 4, 1, 0, NULL), 4);
	struct stream_cfg *t = ctl_stream_cfg(c, 0, 4);
	same(s, t);
	assert_ptr_not_equal(s->frame.data, t->frame.data);
	assert_memory_equal(t->frame.data->b, "abc", 3);
	assert_int_equal(frame_vals_parse(&s->frame.vals, "ipv4.ttl", "8", NULL), 0);
	assert_int_equal(t->frame.vals.val[0].v[VT_FIELD_BYTES - 1], 7);
	world_free(c);
}

static void test_save_and_restore(void **state)
{
	struct ctl *c = world(2);
	struct stream_cfg old[3];

	(void)state;
	c->port[0]->cfg.count = 12;
	assert_int_equal(ctl_stream_add(c, 0, 6, 1, -1, NULL), 6);
	assert_int_equal(ctl_stream_add(c, 0, 9, 1, -1, NULL), 9);
	assert_int_equal(ctl_stream_delete(c, 0, 0, NULL), 0);
	assert_int_equal(frame_vals_parse(&ctl_stream_cfg(c, 0, 6)->frame.vals, "udp.dst", "4000",
					  NULL),
			 0);
	ctl_stream_cfg(c, 0, 9)->sizes =
		(struct sizes){.kind = SIZES_RANGE, .lo = 64, .hi = 90, .step = 2};
	stream_cfg_copy(&old[0], ctl_stream_cfg(c, 0, 6));
	stream_cfg_copy(&old[1], ctl_stream_cfg(c, 0, 9));
	stream_cfg_copy(&old[2], ctl_stream_cfg(c, 1, 0));
	uint32_t cell = c->port[0]->stream[6]->cell;
	uint64_t serial = c->port[0]->stream[9]->serial;
	struct ctl_saved *saved = ctl_save(c);

	assert_int_equal(frame_vals_parse(&ctl_stream_cfg(c, 0, 6)->frame.vals, "udp.dst", "1",
					  NULL),
			 0);
	assert_int_equal(ctl_stream_delete(c, 0, 9, NULL), 0);
	assert_int_equal(ctl_stream_add(c, 0, 0, 4, 6, NULL), 0);
	assert_int_equal(ctl_stream_add(c, 1, 100, 1, -1, NULL), 100);
	ctl_stream_cfg(c, 1, 0)->enabled = false;
	c->port[0]->cfg.count = 13;
	c->port[1]->cfg.mtu = 9000;
	ctl_touch(c, 1, WHY_ALL | WHY_RESTART);
	assert_true(c->port[1]->restart);
	c->port[0]->touched = c->port[1]->touched = 0;
	c->port[0]->stream[6]->dirty = false;
	for (unsigned i = 0; i < 2; i++) { /* what was saved stays valid */
		if (i == 1) {              /* another stream with the same id and cell */
			assert_int_equal(ctl_stream_delete(c, 0, 9, NULL), 0);
			assert_int_equal(ctl_stream_add(c, 0, 9, 1, -1, NULL), 9);
			assert_int_not_equal(c->port[0]->stream[9]->serial, serial);
		}
		ctl_restore(c, saved);
		ids(c, 0, "6 9");
		ids(c, 1, "0");
		assert_int_equal(ctl_stream_total(c, 0), 2);
		same(&old[0], ctl_stream_cfg(c, 0, 6));
		same(&old[1], ctl_stream_cfg(c, 0, 9));
		same(&old[2], ctl_stream_cfg(c, 1, 0));
		assert_int_equal(c->port[0]->cfg.count, 12);
		assert_int_equal(c->port[1]->cfg.mtu, 1500);
		assert_false(c->port[1]->restart);
		assert_true(c->port[0]->touched && c->port[1]->touched &&
			    c->port[0]->stream[6]->dirty);
		assert_int_equal(c->port[0]->stream[6]->cell, cell);
		assert_int_equal(c->port[0]->stream[9]->serial, serial);
	}
	ctl_saved_free(saved);
	for (unsigned i = 0; i < 3; i++)
		stream_cfg_free(&old[i]);
	world_free(c);
}

/* However many streams have come and gone, the way back needs no new counters, and streams come
 * back with theirs. */
static void test_restore_while_sending(void **state)
{
	struct ctl *c = world(1);
	struct ctl_port *cp = c->port[0];

	(void)state;
	cp->run.active = true;
	assert_int_equal(ctl_stream_add(c, 0, 1, CTL_MAX_STREAMS - 1, -1, NULL), 1);
	for (unsigned i = 1; i < CTL_MAX_STREAMS; i++)
		assert_int_equal(ctl_stream_delete(c, 0, i, NULL), 0);
	assert_int_equal(ctl_stream_add(c, 0, 1, CTL_MAX_STREAMS - 2, -1, NULL), 1);
	cp->stream[7]->base.packets = 70;
	uint32_t first = cp->stream[0]->cell, seventh = cp->stream[7]->cell;
	struct ctl_saved *saved = ctl_save(c);
	for (unsigned i = 1; i < CTL_MAX_STREAMS - 1; i++)
		assert_int_equal(ctl_stream_delete(c, 0, i, NULL), 0);
	assert_int_equal(ctl_stream_add(c, 0, 7, 1, -1, NULL), 7);
	assert_int_equal(ctl_stream_move(c, 0, 0, 9, NULL), 0);
	assert_int_not_equal(cp->stream[7]->cell, seventh);
	ctl_restore(c, saved);
	ctl_saved_free(saved);
	assert_int_equal(ctl_stream_total(c, 0), CTL_MAX_STREAMS - 1);
	assert_int_equal(cp->stream[0]->cell, first);
	assert_int_equal(cp->stream[7]->cell, seventh);
	assert_int_equal(cp->stream[7]->base.packets, 70);
	static bool seen[CTL_CELLS];
	for (unsigned i = 0; i < CTL_MAX_STREAMS - 1; i++) {
		uint32_t cell = cp->stream[i]->cell;
		assert_true(cell < CTL_CELLS && !seen[cell] &&
			    (cp->cell_used[cell / 64] >> (cell % 64) & 1));
		seen[cell] = true;
	}
	world_free(c);
}

/* A frame without room for its probe is refused when the frames are made. All other streams are
 * made. */
static void test_probe_limits(void **state)
{
	struct ctl *c = world(2);
	struct ctl_port *cp = c->port[1];
	struct stream *s = cp->stream[0];
	struct err e;

	(void)state;
	for (uint32_t every = 0; every < 3; every++)
		for (unsigned i = 0; i < 4; i++) {
			s->cfg.frame.probe = every;
			s->dirty = true;
			cp->p.id = (const uint16_t[]){31, 32, 1, 1}[i];
			cp->p.ntxq = (const uint16_t[]){1, 1, 64, 65}[i];
			int rc = stream_recipes(c, cp, s, &e);
			if (every > 0 && i % 2 != 0)
				refused(rc, ERANGE, &e,
					i == 1 ? "ports 0 to 31, this is port 32"
					       : "queues 0 to 63, port 1 has 65");
			else
				assert_int_equal(rc, 0);
		}
	cp->p.id = 1;
	cp->p.ntxq = 0;
	world_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_save_and_restore),
		cmocka_unit_test(test_restore_while_sending),
		cmocka_unit_test(test_probe_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
