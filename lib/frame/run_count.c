/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to a frun, and its position: how a run begins, goes on in another frun, or goes
 * back. */
#include "run_int.h"

#include <string.h>

unsigned frun_nclasses(const struct frun *f)
{
	return f->nclasses;
}
const struct frun_class *frun_class(const struct frun *f, unsigned c)
{
	return &f->class[c];
}
unsigned frun_len(const struct frun *f)
{
	return f->len;
}
bool frun_is_fixed(const struct frun *f)
{
	return f->fixed;
}
size_t frun_state_size(const struct frun *f)
{
	return f->state_size;
}
size_t frun_size(const struct frun *f)
{
	return f->size;
}
const char *frun_engine(const struct frun *f)
{
	return f->engine_name;
}
const char *frun_sums(const struct frun *f)
{
	return f->sums;
}
unsigned frun_lanes(const struct frun *f)
{
	return f->lanes;
}
unsigned frun_nstreams(const struct frun *f)
{
	return f->nstreams;
}
uint32_t frun_stream_id(const struct frun *f, unsigned index)
{
	return f->stream_id[index];
}

const struct frun_probe *frun_probes(const struct frun *f)
{
	return f->probe;
}
unsigned frun_probes_own(const struct frun *f)
{
	return f->own;
}
enum frun_probes_kind frun_probes_kind(const struct frun *f)
{
	return f->probes_kind;
}

unsigned frun_class_of(const struct frun *f, uint64_t i)
{
	return f->nclasses == 1 ? 0 : f->recipe[f->slot[i % f->own].recipe].class;
}

unsigned frun_port_len(const struct frun *f)
{
	for (unsigned c = 1; c < f->ncycle; c++)
		if (f->size_before[c + 1] - f->size_before[c] != f->size_before[1])
			return 0;
	return f->size_before[1] - 4;
}

unsigned frun_stream_at(const struct frun *f, uint64_t i)
{
	return f->recipe[f->slot[i % f->own].recipe].stream;
}

/* Sum over the first i slots, in a cycle of n slots with these sums before each. */
static uint64_t run_count_before(const uint32_t *sum, uint32_t n, uint64_t i)
{
	return i / n * sum[n] + sum[i % n];
}

uint64_t frun_bytes(const struct frun *f, uint64_t i, uint64_t n)
{
	if (f->len != 0)
		return n * (f->len + 4u);
	/* asked once per burst, so there is only one 64-bit division as a rule */
	const uint32_t *sum = f->own_before;
	uint64_t at = i % f->own, end = at + n;
	if (end > UINT32_MAX)
		return run_count_before(sum, f->own, end) - sum[at];
	return (uint64_t)((uint32_t)end / f->own) * sum[f->own] + sum[(uint32_t)end % f->own] -
	       sum[at];
}

uint64_t frun_l2(const struct frun *f, uint64_t k)
{
	return run_count_before(f->size_before, f->ncycle, k);
}

uint64_t frun_wire(const struct frun *f, uint64_t k)
{
	return frun_l2(f, k) + 20 * k;
}

void frun_count(const struct frun *f, uint64_t i, uint64_t *frames, uint64_t *bytes)
{
	uint64_t cycles = i / f->own, more = i % f->own;

	memset(frames, 0, f->nstreams * sizeof(*frames));
	memset(bytes, 0, f->nstreams * sizeof(*bytes));
	for (uint32_t c = 0; c < f->own; c++) {
		const struct run_recipe *p = &f->recipe[f->slot[c].recipe];
		uint64_t n = cycles + (c < more);
		frames[p->stream] += n;
		bytes[p->stream] += n * (p->len + 4u);
	}
}

/* Adds the own frames before i to sizes, each `times` times; UINT64_MAX takes them away. */
static void sizes_before(const struct frun *f, uint64_t i, uint64_t times, uint64_t *sizes)
{
	const uint32_t *all = f->sizes + (f->own / RUN_SIZES_STEP + 1) * CNT_NSIZES;
	uint32_t end = (uint32_t)(i % f->own), from = end / RUN_SIZES_STEP;

	for (unsigned s = 0; s < CNT_NSIZES; s++)
		sizes[s] += times * (i / f->own * all[s] + f->sizes[from * CNT_NSIZES + s]);
	for (uint32_t c = from * RUN_SIZES_STEP; c < end; c++)
		sizes[cnt_size_class(f->recipe[f->slot[c].recipe].len + 4u)] += times;
}

void frun_sizes(const struct frun *f, uint64_t i, uint64_t n, uint64_t *sizes)
{
	if (f->len != 0) {
		sizes[cnt_size_class(f->len + 4u)] += n;
	} else if (n < RUN_SIZES_STEP) {
		for (uint32_t c = (uint32_t)(i % f->own); n > 0;
		     n--, c = c + 1 < f->own ? c + 1 : 0)
			sizes[cnt_size_class(f->recipe[f->slot[c].recipe].len + 4u)]++;
	} else {
		sizes_before(f, i + n, 1, sizes);
		sizes_before(f, i, UINT64_MAX, sizes);
	}
}

/* ---- position ---- */

uint64_t frun_pos(const struct frun *f, const void *state)
{
	(void)f;
	return ((const struct run_state *)state)->pos;
}

void frun_seek(const struct frun *f, void *state, uint64_t i)
{
	struct run_state *st = state;

	st->pos = i;
	st->turn = i / f->lanes;
	st->lane = (uint32_t)(i % f->lanes);
	/* lanes that are all ready stay so, since what they hold does not depend on the turn */
	if (st->built < f->lanes)
		run_reset(f, st);
}

void run_reset(const struct frun *f, struct run_state *st)
{
	st->built = 0;
	st->start = st->lane;
	st->left = 0;
	st->epoch = st->turn;
	memset(st->rest, 0, f->stale_size);
}

/* Sets the pointers to the arrays, which lie behind what belongs to the engine. */
static void lay_out(const struct frun *f, struct run_state *st)
{
	st->o0 = (uint64_t *)(void *)(st->rest + f->engine_size);
	st->base = st->o0 + f->nstreams;
	st->built = 0;
}

void frun_begin(const struct frun *f, void *state)
{
	struct run_state *st = state;

	lay_out(f, st);
	memcpy(st->o0, f->o0, f->nstreams * sizeof(*st->o0));
	memset(st->base, 0, f->nbases * sizeof(*st->base));
	frun_seek(f, state, 0);
}

/* Frames of stream s among the first n of the cycle. */
static uint32_t run_count_rank(const struct frun *f, unsigned s, uint32_t n)
{
	uint32_t low = f->place0[s], high = f->place0[s + 1];

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (f->place[mid] < n)
			low = mid + 1;
		else
			high = mid;
	}
	return low - f->place0[s];
}

/* Ordinal of the first frame of stream s from frame k of the port on. */
static uint64_t ordinal_at(const struct frun *f, const struct run_state *st, unsigned s, uint64_t k)
{
	return st->o0[s] + k / f->ncycle * (f->place0[s + 1] - f->place0[s]) +
	       run_count_rank(f, s, (uint32_t)(k % f->ncycle));
}

/* Sets the bases of stream sb: variations that stream sa of the old frun has as well keep theirs,
 * the others begin at ordinal `fresh`. */
static void move_bases(const struct frun *from, const struct run_state *a, unsigned sa,
		       const struct frun *to, struct run_state *b, unsigned sb, uint64_t fresh)
{
	uint32_t i = sa < from->nstreams ? from->base0[sa] : 0,
		 end = sa < from->nstreams ? from->base0[sa + 1] : 0;

	for (uint32_t j = to->base0[sb]; j < to->base0[sb + 1]; j++) {
		while (i < end && from->base_id[i] < to->base_id[j])
			i++;
		b->base[j] = i < end && from->base_id[i] == to->base_id[j] ? a->base[i] : fresh;
	}
}

/* The index in `from` of the stream with this id; nstreams: there is none. It is asked for
 * ascending ids, and *at says how far the search has come. */
static unsigned run_count_partner(const struct frun *from, uint32_t *at, uint32_t id)
{
	while (*at < from->nstreams && from->stream_id[from->by_id[*at]] < id)
		(*at)++;
	return *at < from->nstreams && from->stream_id[from->by_id[*at]] == id ? from->by_id[*at]
									       : from->nstreams;
}

uint64_t frun_move(const struct frun *from, const void *from_state, const struct frun *to,
		   void *state)
{
	const struct run_state *a = from_state;
	struct run_state *b = state;
	bool same = from->sched_id == to->sched_id;
	uint64_t k = a->pos * from->nqueues;
	uint32_t at = 0;

	lay_out(to, b);
	for (unsigned n = 0; n < to->nstreams; n++) {
		unsigned sb = to->by_id[n], sa = run_count_partner(from, &at, to->stream_id[sb]);
		b->o0[sb] = sa == from->nstreams ? to->o0[sb]
			    : same               ? a->o0[sa]
						 : ordinal_at(from, a, sa, k);
		move_bases(from, a, sa, to, b, sb, same ? ordinal_at(to, b, sb, k) : b->o0[sb]);
	}
	frun_seek(to, state, same ? a->pos : 0);
	return b->pos;
}

/* Index of the stream with this id; nstreams: there is none. */
static unsigned stream_index(const struct frun *f, uint32_t id)
{
	uint32_t low = 0, high = f->nstreams;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (f->stream_id[f->by_id[mid]] < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < f->nstreams && f->stream_id[f->by_id[low]] == id ? f->by_id[low] : f->nstreams;
}

bool frun_take(const struct frun *from, const void *from_state, const struct frun *to, void *state,
	       uint32_t id)
{
	const struct run_state *a = from_state;
	struct run_state *b = state;
	unsigned sa = stream_index(from, id), sb = stream_index(to, id);

	if (sa == from->nstreams || sb == to->nstreams)
		return false;
	b->o0[sb] = ordinal_at(from, a, sa, a->pos * from->nqueues);
	move_bases(from, a, sa, to, b, sb, b->o0[sb]);
	return true;
}

void frun_next(const struct frun *from, const void *from_state, const struct frun *to, void *state)
{
	const struct run_state *a = from_state;
	struct run_state *b = state;
	uint32_t at = 0;

	lay_out(to, b);
	for (unsigned n = 0; n < to->nstreams; n++) {
		unsigned sb = to->by_id[n], sa = run_count_partner(from, &at, to->stream_id[sb]);
		b->o0[sb] = to->o0[sb] + (sa < from->nstreams ? a->o0[sa] - from->o0[sa] : 0);
		move_bases(from, a, sa, to, b, sb, 0);
	}
	frun_seek(to, state, 0);
}
