/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests fruns that take over from others while a run goes on: changed frames, other schedules,
 * phases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "effort.h"
#include "frame_port.h"

/* Returns the stream with that id; nstreams: there is none. */
static unsigned stream_of(const struct port *p, uint32_t id)
{
	unsigned s = 0;

	while (s < p->nstreams && p->id[s] != id)
		s++;
	return s;
}

/* Notes where the variations of streams begin. Variations that the same stream had before go on.
 * New ones begin with the stream's next frame after k or, in a new phase, with the run. */
static void rebase(struct port *p, const struct port *old, bool phase, uint64_t k)
{
	p->nbases = 0;
	for (unsigned i = 0; i < p->nrecipes; i++)
		for (unsigned v = 0; v < p->recipe[i].nvars; v++) {
			unsigned s = p->owner[i], from = stream_of(old, p->id[s]);
			uint64_t id = p->recipe[i].var[v].id, fresh = phase ? 0 : ordinal(p, s, k);
			bool had = false;
			if (base_of(p, s, id) != NULL)
				continue;
			for (unsigned j = 0; from < old->nstreams && j < old->nrecipes; j++)
				for (unsigned w = 0;
				     old->owner[j] == from && w < old->recipe[j].nvars; w++)
					had |= old->recipe[j].var[w].id == id;
			const uint64_t *was =
				had ? base_of((struct port *)(uintptr_t)old, from, id) : NULL;
			p->base[p->nbases].stream_id = p->id[s];
			p->base[p->nbases].var_id = id;
			p->base[p->nbases++].base = had ? (was != NULL ? *was : 0) : fresh;
		}
}

/* Makes p the same order of the same streams as old, each with its own frames, and so many of them
 * that the order repeats some times before the frames do. If two streams had one recipe, its
 * variations would exist twice, which the bases here cannot tell apart. So p has a recipe for each
 * stream. */
static void like(struct port *p, const struct port *old)
{
	p->norder = old->norder;
	p->ncycle = p->norder * (1 + (unsigned)pick(MAX_TIMES));
	p->nstreams = old->nstreams;
	memcpy(p->id, old->id, sizeof(old->id));
	memcpy(p->o0, old->o0, sizeof(old->o0));
	p->sched_id = old->sched_id;
	memset(p->owner, 0xff, sizeof(p->owner));
	for (unsigned c = 0; c < p->ncycle; c++) {
		uint16_t s = old->cycle[c % old->norder].stream;
		unsigned own = (p->nrecipes - 1 - s) / p->nstreams + 1;
		p->cycle[c] = (struct frun_slot){.stream = s,
						 .recipe = (uint16_t)(s + p->nstreams * pick(own))};
		p->owner[p->cycle[c].recipe] = s;
	}
	for (unsigned j = 0; j < p->nrecipes; j++)
		if (p->owner[j] >= p->nstreams) {
			frame_recipe_free(&p->recipe[j]);
			p->recipe[j] = (struct frame_recipe){.len = 60, .bytes = xcalloc(1, 64)};
			p->owner[j] = 0;
		}
}

/* A frun changes while it runs: to the same schedule, maybe with other sizes, or to another
 * one. */
static void changes(void **state)
{
	unsigned longer = 0, shorter = 0;

	(void)state;
	for (unsigned round = 0; round < effort(200, 50); round++) {
		struct port *p[2] = {random_port(), NULL};
		struct queue q;
		unsigned number = (unsigned)pick(p[0]->nqueues);
		open_queue(&q, p[0], number, pick_isa());
		for (unsigned step = 0; step < 3; step++) {
			for (unsigned b = 0; b < 3; b++)
				burst(p[0], &q, pick_burst());
			uint64_t i = frun_pos(q.f, q.state), k = i * p[0]->nqueues;
			p[1] = random_port();
			p[1]->nqueues = p[0]->nqueues;
			bool same = pick(2) && p[1]->nrecipes >= p[0]->nstreams;
			if (same)
				like(p[1], p[0]);
			longer += same && p[1]->ncycle > p[0]->ncycle;
			shorter += same && p[1]->ncycle < p[0]->ncycle;
			for (unsigned s = 0; !same && s < p[1]->nstreams; s++) {
				unsigned t = stream_of(p[0], p[1]->id[s]);
				if (t < p[0]->nstreams)
					p[1]->o0[s] = ordinal(p[0], t, k);
			}
			rebase(p[1], p[0], false, same ? k : 0);
			struct frun *f = new_frun(p[1], number, pick_isa());
			void *next = state_of(f);
			assert_int_equal(frun_move(q.f, q.state, f, next), same ? i : 0);
			next_queue(&q, f, next);
			free_port(p[0]);
			p[0] = p[1];
			for (unsigned b = 0; b < 3; b++)
				burst(p[0], &q, pick_burst());
		}
		close_queue(&q);
		free_port(p[0]);
	}
	assert_true(longer > effort(10, 2) && shorter > effort(10, 2));
}

/* Sets the ordinals of the schedule that comes next. told gets what its frun is told they are,
 * in a run that began with the schedule's first phase. */
static void shift(struct port *p, const struct port *old, const uint64_t *old_told, uint64_t k,
		  bool phase, uint64_t *told)
{
	for (unsigned s = 0; s < p->nstreams; s++) {
		unsigned t = stream_of(old, p->id[s]);
		told[s] = p->o0[s] = pick_wide() >> (pick(2) ? 8 : 54);
		if (t == old->nstreams)
			continue;
		if (phase) {
			told[s] = old_told[t] + pick(100000);
			p->o0[s] = told[s] + (old->o0[t] - old_told[t]);
		} else {
			p->o0[s] = ordinal(old, t, k);
		}
	}
}

/* Schedules have phases, some of which begin while the port runs. A frun is told ordinals from
 * the beginning of its schedule. */
static void phases(void **state)
{
	(void)state;
	for (unsigned round = 0; round < effort(200, 50); round++) {
		struct port *p = random_port(), *old;
		uint64_t told[MAX_STREAMS], next_told[MAX_STREAMS], now[MAX_STREAMS];
		unsigned number = (unsigned)pick(p->nqueues);
		struct queue q;
		memcpy(told, p->o0, sizeof(told));
		open_queue(&q, p, number, pick_isa());
		for (unsigned step = 0; step < 4; step++) {
			bool phase = pick(3) != 0;
			for (unsigned b = 0; b < 3; b++)
				burst(p, &q, pick_burst());
			old = p;
			p = random_port();
			p->nqueues = old->nqueues;
			for (unsigned s = 0; s < p->nstreams && s < old->nstreams; s++)
				p->id[s] = pick(4) != 0 ? old->id[s] : p->id[s];
			shift(p, old, told, frun_pos(q.f, q.state) * p->nqueues, phase, next_told);
			rebase(p, old, phase, 0);
			memcpy(now, p->o0, sizeof(now));
			memcpy(p->o0, next_told, sizeof(now));
			struct frun *f = new_frun(p, number, pick_isa());
			void *next = state_of(f);
			memcpy(p->o0, now, sizeof(now));
			memcpy(told, next_told, sizeof(told));
			if (phase)
				frun_next(q.f, q.state, f, next);
			else
				assert_int_equal(frun_move(q.f, q.state, f, next), 0);
			assert_int_equal(frun_pos(f, next), 0);
			next_queue(&q, f, next);
			free_port(old);
		}
		burst(p, &q, pick_burst());
		close_queue(&q);
		free_port(p);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes),
		cmocka_unit_test(phases),
	};

	port_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
