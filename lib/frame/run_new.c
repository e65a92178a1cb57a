/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a frun from the schedule of a port. */
#include "run_new.h"

#include <errno.h>
#include <stdlib.h>

/* Makes room for n more entries in an array of `count`. */
#define EXTEND(array, count, n) \
	((array) = xrealloc((array), ((size_t)(count) + (n) + 1) * sizeof(*(array))))

static int run_new_check(const struct frun_spec *s, struct err *e)
{
	if (s->ncycle == 0 || s->ncycle > FRUN_MAX_CYCLE)
		return err_set(e, EINVAL,
			       "a cycle of %u frames: 1 to %u are possible, use smaller weights",
			       s->ncycle, FRUN_MAX_CYCLE);
	if (s->nqueues == 0 || s->first >= s->nqueues || s->nstreams == 0 ||
	    s->nstreams > FRUN_MAX_CYCLE || s->nrecipes == 0 || s->nrecipes > 65536)
		return err_set(e, EINVAL,
			       "no frames to send: queue %u of %u, %u streams, %u frames", s->first,
			       s->nqueues, s->nstreams, s->nrecipes);
	for (unsigned i = 0; i < s->ncycle; i++)
		if (s->cycle[i].stream >= s->nstreams || s->cycle[i].recipe >= s->nrecipes)
			return err_set(
				e, EINVAL,
				"slot %u of the cycle names a stream or frame that is not there",
				i);
	return 0;
}

static int by_id(const void *a, const void *b, void *ids)
{
	uint32_t x = ((uint32_t *)ids)[*(const uint32_t *)a],
		 y = ((uint32_t *)ids)[*(const uint32_t *)b];

	return x < y ? -1 : x > y;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void make_streams(struct run_make *m)
{
	const struct frun_spec *s = m->spec;
	struct frun *f = &m->f;

	f->stream_id = xcalloc(s->nstreams, sizeof(*f->stream_id));
	f->by_id = xcalloc(s->nstreams, sizeof(*f->by_id));
	f->o0 = xcalloc(s->nstreams, sizeof(*f->o0));
	f->step = xcalloc(s->nstreams, sizeof(*f->step));
	f->place0 = xcalloc(s->nstreams + 1u, sizeof(*f->place0));
	f->place = xcalloc(s->ncycle, sizeof(*f->place));
	for (unsigned i = 0; i < s->nstreams; i++) {
		f->stream_id[i] = s->stream_id[i];
		f->by_id[i] = i;
		f->o0[i] = s->o0 != NULL ? s->o0[i] : 0;
	}
	qsort_r(f->by_id, s->nstreams, sizeof(*f->by_id), by_id, f->stream_id);
	for (unsigned k = 0; k < s->ncycle; k++)
		f->place0[s->cycle[k].stream + 1]++;
	uint32_t *next = xcalloc(s->nstreams + 1u, sizeof(*next));
	for (unsigned i = 0; i < s->nstreams; i++) {
		f->step[i] =
			(uint64_t)f->place0[i + 1] * ((uint64_t)f->own * s->nqueues / s->ncycle);
		f->place0[i + 1] += f->place0[i];
		next[i] = f->place0[i];
	}
	for (unsigned k = 0; k < s->ncycle; k++)
		f->place[next[s->cycle[k].stream]++] = (uint16_t)k;
	free(next);
}

/* Makes the slots of the own cycle, and a run_recipe for every pair of stream and recipe among
 * them. */
static void make_slots(struct run_make *m)
{
	const struct frun_spec *s = m->spec;
	struct frun *f = &m->f;
	uint64_t *pair = xcalloc(f->own, sizeof(*pair)), *all = xcalloc(f->own, sizeof(*all));
	uint32_t *rank = xcalloc(s->ncycle, sizeof(*rank));
	unsigned n = 0;

	for (unsigned i = 0; i < s->nstreams; i++)
		for (uint32_t j = f->place0[i]; j < f->place0[i + 1]; j++)
			rank[f->place[j]] = j - f->place0[i];
	for (uint32_t c = 0; c < f->own; c++) {
		const struct frun_slot *slot =
			&s->cycle[(s->first + (uint64_t)c * s->nqueues) % s->ncycle];
		all[c] = pair[c] = (uint64_t)slot->stream << 16 | slot->recipe;
	}
	qsort(all, f->own, sizeof(*all), by_number);
	for (uint32_t c = 0; c < f->own; c++)
		if (c == 0 || all[c] != all[n - 1])
			all[n++] = all[c];
	f->nrecipes = n;
	f->recipe = xcalloc(n, sizeof(*f->recipe));
	m->source = xcalloc(n, sizeof(*m->source));
	for (unsigned i = 0; i < n; i++) {
		f->recipe[i].stream = (uint16_t)(all[i] >> 16);
		m->source[i] = s->recipe[all[i] & 0xffff];
	}
	f->slot = xcalloc(f->own, sizeof(*f->slot));
	for (uint32_t c = 0; c < f->own; c++) {
		uint64_t k = s->first + (uint64_t)c * s->nqueues;
		unsigned st = (unsigned)(pair[c] >> 16);
		f->slot[c].recipe =
			(uint32_t)((uint64_t *)bsearch(&pair[c], all, n, sizeof(*all), by_number) -
				   all);
		f->slot[c].ordinal =
			k / s->ncycle * (f->place0[st + 1] - f->place0[st]) + rank[k % s->ncycle];
	}
	free(pair);
	free(all);
	free(rank);
}

/* Lists the ids of the variations of each stream. They are those of all its frames, whatever queue
 * sends them, so that every queue remembers where they began. */
static void make_starts(struct run_make *m)
{
	const struct frun_spec *s = m->spec;
	struct frun *f = &m->f;
	uint32_t n = s->ncycle, i = 0;
	uint64_t *pair = xcalloc(n, sizeof(*pair));

	for (uint32_t k = 0; k < s->ncycle; k++)
		pair[k] = (uint64_t)s->cycle[k].stream << 16 | s->cycle[k].recipe;
	qsort(pair, n, sizeof(*pair), by_number);
	f->base0 = xcalloc(f->nstreams + 1u, sizeof(*f->base0));
	for (unsigned st = 0; st < f->nstreams; st++) {
		uint32_t begin = f->nbases, end = begin;
		for (; i < n && pair[i] >> 16 == st; i++) {
			const struct frame_recipe *p = s->recipe[pair[i] & 0xffff];
			if ((i > 0 && pair[i] == pair[i - 1]) || p->nvars == 0)
				continue;
			EXTEND(f->base_id, end, p->nvars);
			for (unsigned v = 0; v < p->nvars; v++)
				f->base_id[end++] = p->var[v].id;
		}
		if (end > begin)
			qsort(f->base_id + begin, end - begin, sizeof(*f->base_id), by_number);
		for (uint32_t j = begin; j < end; j++)
			if (j == begin || f->base_id[j] != f->base_id[f->nbases - 1])
				f->base_id[f->nbases++] = f->base_id[j];
		f->base0[st + 1] = f->nbases;
	}
	free(pair);
}

static void copy_vars(struct run_make *m, struct run_recipe *p, const struct frame_recipe *from)
{
	struct frun *f = &m->f;

	p->var = m->nvars;
	EXTEND(f->var, m->nvars, from->nvars);
	for (unsigned i = 0; i < from->nvars; i++) {
		const struct frame_var *v = &from->var[i];
		struct run_var *to = &f->var[m->nvars++];
		*to = (struct run_var){.v = v->v, .bit = v->bit, .bits = v->bits, .id = v->id};
		const uint64_t *ids = f->base_id + f->base0[p->stream];
		to->base = (uint32_t)((uint64_t *)bsearch(&v->id, ids,
							  f->base0[p->stream + 1] -
								  f->base0[p->stream],
							  sizeof(*ids), by_number) -
				      f->base_id);
		to->v.list = NULL;
		if (v->v.kind != VARY_LIST)
			continue;
		EXTEND(f->list, m->nlist, v->v.n);
		memcpy(f->list + m->nlist, v->v.list, v->v.n * sizeof(*f->list));
		to->list = m->nlist;
		m->nlist += v->v.n;
	}
}

static uint32_t mod_sum(vary_u v)
{
	return (uint32_t)(v % 65535);
}

/* What sum c comes to without what varies, computed from the template. */
static uint32_t sum_base(const struct frame_recipe *p, unsigned c)
{
	const uint8_t *field = p->bytes + p->sum[c].off;
	uint64_t sum = 65535 - (field[0] << 8 | field[1]), pay = 0;

	for (unsigned v = 0; v < p->nvars; v++) {
		uint64_t x = mod_sum(bits_get(p->bytes, p->var[v].bit, p->var[v].bits));
		sum += (65535 - x) * p->coef[c * p->nvars + v] % 65535;
	}
	if (p->random_payload)
		for (unsigned i = p->hdr_len; i < p->len; i++)
			pay += (uint32_t)p->bytes[i] << ((i - p->hdr_len) % 2 == 0 ? 8 : 0);
	sum += (65535 - pay % 65535) * p->pay_coef[c] % 65535;
	return (uint32_t)(sum % 65535);
}

static void copy_sums(struct run_make *m, struct run_recipe *p, const struct frame_recipe *from)
{
	struct frun *f = &m->f;
	size_t ncoef = (size_t)from->nsums * from->nvars;

	p->sum = m->nsums;
	p->coef = m->ncoef;
	p->pay_coef = m->npay;
	if (m->spec->offload && from->offload)
		return;
	p->nsums = from->nsums;
	EXTEND(f->sum, m->nsums, from->nsums);
	EXTEND(f->coef, m->ncoef, ncoef);
	EXTEND(f->pay_coef, m->npay, from->nsums);
	for (unsigned c = 0; c < from->nsums; c++)
		f->sum[m->nsums++] =
			(struct run_sum){.s = from->sum[c],
					 .base = from->sum[c].crc32c ? 0 : sum_base(from, c)};
	memcpy(f->coef + m->ncoef, from->coef, ncoef * sizeof(*f->coef));
	memcpy(f->pay_coef + m->npay, from->pay_coef, from->nsums * sizeof(*f->pay_coef));
	m->ncoef += (uint32_t)ncoef;
	m->npay += from->nsums;
}

static const struct run_block *block_of(struct frun *f, uint64_t seed)
{
	for (unsigned i = 0; i < f->nblocks; i++)
		if (f->block[i]->seed == seed)
			return f->block[i];
	EXTEND(f->block, f->nblocks, 1);
	f->block[f->nblocks] = run_block_take(seed);
	return f->block[f->nblocks++];
}

static void link_lists(struct frun *f, uint32_t nvars)
{
	for (uint32_t i = 0; i < nvars; i++)
		if (f->var[i].v.kind == VARY_LIST)
			f->var[i].v.list = f->list + f->var[i].list;
}

static int make_recipes(struct run_make *m, struct err *e)
{
	struct frun *f = &m->f;

	for (unsigned i = 0; i < f->nrecipes; i++) {
		const struct frame_recipe *from = m->source[i];
		struct run_recipe *p = &f->recipe[i];
		if (from->nsums > RUN_MAX_SUMS)
			return err_set(e, E2BIG, "a frame with %u checksums: %u are possible",
				       from->nsums, RUN_MAX_SUMS);
		p->len = from->len;
		p->hdr_len = from->hdr_len;
		p->nvars = from->nvars;
		p->linear = from->linear;
		p->random = from->random_payload;
		p->moves = from->nvars != 0 || from->random_payload;
		copy_vars(m, p, from);
		copy_sums(m, p, from);
		if (p->random)
			p->block = block_of(f, from->fill_seed);
	}
	link_lists(f, m->nvars);
	return 0;
}

/* Computes the bytes before each slot of the port's cycle and of the own cycle, and the length that
 * all own frames have, if they do. */
static void make_sizes(struct run_make *m)
{
	const struct frun_spec *s = m->spec;
	struct frun *f = &m->f;

	f->size_before = xcalloc(s->ncycle + 1u, sizeof(*f->size_before));
	f->own_before = xcalloc(f->own + 1u, sizeof(*f->own_before));
	for (unsigned k = 0; k < s->ncycle; k++)
		f->size_before[k + 1] = f->size_before[k] + s->recipe[s->cycle[k].recipe]->len + 4;
	f->len = f->recipe[f->slot[0].recipe].len;
	for (uint32_t c = 0; c < f->own; c++) {
		uint16_t len = f->recipe[f->slot[c].recipe].len;
		f->own_before[c + 1] = f->own_before[c] + len + 4;
		if (len != f->len)
			f->len = 0;
	}
}

static void make_size_classes(struct frun *f)
{
	uint32_t steps = f->own / RUN_SIZES_STEP + 1, sum[CNT_NSIZES] = {0};

	if (f->len != 0)
		return;
	f->sizes = xcalloc((steps + 1) * CNT_NSIZES, sizeof(*f->sizes));
	for (uint32_t c = 0; c < f->own; c++) {
		if (c % RUN_SIZES_STEP == 0)
			memcpy(f->sizes + c / RUN_SIZES_STEP * CNT_NSIZES, sum, sizeof(sum));
		sum[cnt_size_class(f->recipe[f->slot[c].recipe].len + 4u)]++;
	}
	memcpy(f->sizes + steps * CNT_NSIZES, sum, sizeof(sum));
}

/* True if the frame has a crc that covers its probe. No other checksum depends on what a probe
 * says. */
static bool has_crc(const struct frame_recipe *p)
{
	for (unsigned c = 0; c < p->nsums; c++)
		if (p->sum[c].crc32c && p->sum[c].to > p->probe_off)
			return true;
	return false;
}

static void make_probes(struct run_make *m)
{
	struct frun *f = &m->f;
	bool any = false, all = true, one = true, row = true;

	for (unsigned i = 0; i < f->nrecipes; i++) {
		const struct frame_recipe *from = m->source[i];
		struct run_recipe *p = &f->recipe[i];
		p->resum = from->probe_off != 0 && has_crc(from);
		any |= from->probe_off != 0;
		all &= from->probe_every == 1 && !p->resum;
		one &= from->probe_off == m->source[0]->probe_off &&
		       p->stream == f->recipe[0].stream;
	}
	if (!any)
		return;
	f->probe = xcalloc(f->own, sizeof(*f->probe));
	for (uint32_t c = 0; c < f->own; c++) {
		const struct run_recipe *p = &f->recipe[f->slot[c].recipe];
		const struct frame_recipe *from = m->source[f->slot[c].recipe];
		f->probe[c] = (struct frun_probe){.off = from->probe_off,
						  .stream = (uint16_t)f->stream_id[p->stream],
						  .every = from->probe_every};
	}
	f->probe_run = xcalloc(f->own, sizeof(*f->probe_run));
	for (uint32_t c = f->own; c-- > 0;) {
		bool goes_on = c + 1 < f->own && f->probe[c + 1].off == f->probe[c].off;
		row &= c == 0 || (f->probe[c].off == f->probe[0].off &&
				  f->probe[c].stream == f->probe[0].stream + c);
		f->probe_run[c] = goes_on && f->probe_run[c + 1] < UINT8_MAX
					  ? f->probe_run[c + 1] + 1
				  : goes_on ? UINT8_MAX
					    : 1;
	}
	f->probes_kind = !all  ? FRUN_PROBES_SOME
			 : one ? FRUN_PROBES_ONE
			 : row ? FRUN_PROBES_ROW
			       : FRUN_PROBES_ALL;
}

static void run_new_describe(struct run_make *m)
{
	struct frun *f = &m->f;
	bool full = false, any = false, nic = false, random = false;

	for (unsigned i = 0; i < f->nrecipes; i++) {
		nic |= m->spec->offload && m->source[i]->offload;
		any |= f->recipe[i].nsums != 0 && f->recipe[i].moves;
		full |= f->recipe[i].nsums != 0 && !f->recipe[i].linear;
		random |= f->recipe[i].moves;
	}
	f->nic = nic;
	f->full = full;
	f->fixed = f->nrecipes == 1 && !random && !nic;
	f->sums = nic ? "nic" : full ? "full" : any ? "incremental" : "none";
}

struct piece {
	void **at;
	size_t n;
};

/* Moves everything into one block, and frees the temporary arrays. NULL: no memory. */
static struct frun *run_new_pack(struct run_make *m)
{
	struct frun *f = &m->f;
#define PIECE(array, count) \
	{ \
		(void **)&f->array, (size_t)(count) * sizeof(*f->array) \
	}
	struct piece piece[] = {
		PIECE(line, m->nline),
		PIECE(image, m->nimage),
		PIECE(slot, f->own),
		PIECE(line_off, f->nlines),
		PIECE(recipe, f->nrecipes),
		PIECE(var, m->nvars),
		PIECE(sum, m->nsums),
		PIECE(coef, m->ncoef),
		PIECE(pay_coef, m->npay),
		PIECE(list, m->nlist),
		PIECE(block, f->nblocks),
		PIECE(stream_id, f->nstreams),
		PIECE(by_id, f->nstreams),
		PIECE(o0, f->nstreams),
		PIECE(step, f->nstreams),
		PIECE(base0, f->nstreams + 1),
		PIECE(base_id, f->nbases),
		PIECE(place0, f->nstreams + 1),
		PIECE(place, f->ncycle),
		PIECE(size_before, f->ncycle + 1),
		PIECE(own_before, f->own + 1),
		PIECE(sizes, (f->own / RUN_SIZES_STEP + 2) * CNT_NSIZES),
		PIECE(class, f->nclasses),
		PIECE(lane_len, f->lanes + RUN_OVER),
		PIECE(line_of, ARRAY_SIZE(m->written)),
		PIECE(probe, f->own),
		PIECE(probe_run, f->own),
		PIECE(cols, 1),
		PIECE(lane_line, (f->lanes + (size_t)RUN_OVER) * f->nlines * RUN_LINE),
		PIECE(lane_base,
		      (f->lanes + (size_t)RUN_OVER) * (f->cols != NULL ? f->cols->nsums : 0)),
	};
#undef PIECE
	size_t total = (sizeof(*f) + 63) / 64 * 64;

	for (unsigned i = 0; i < ARRAY_SIZE(piece); i++)
		total += *piece[i].at != NULL ? (piece[i].n + 63) / 64 * 64 : 0;
	uint8_t *block = aligned_alloc(CACHE_LINE, total), *next = block;
	if (block != NULL)
		next += (sizeof(*f) + 63) / 64 * 64;
	for (unsigned i = 0; i < f->nblocks && block == NULL; i++)
		run_block_give(f->block[i]);
	for (unsigned i = 0; i < ARRAY_SIZE(piece); i++) {
		void *array = *piece[i].at;
		if (array != NULL && block != NULL) {
			*piece[i].at = memcpy(next, array, piece[i].n);
			next += (piece[i].n + 63) / 64 * 64;
		}
		free(array);
	}
	f->size = total;
	return block != NULL ? memcpy(block, f, sizeof(*f)) : NULL;
}

/* Sets the pointers from one array into another. */
static void link_parts(struct frun *f, const struct run_make *m)
{
	link_lists(f, m->nvars);
	for (unsigned c = 0; c < f->nclasses; c++)
		f->class[c].bytes = f->image + m->class_at[c];
}

/* The length of the cycle, or 1 if all its slots are the same. */
static unsigned run_new_shortest(const struct frun_spec *s)
{
	for (unsigned i = 1; i < s->ncycle; i++)
		if (s->cycle[i].stream != s->cycle[0].stream ||
		    s->cycle[i].recipe != s->cycle[0].recipe)
			return s->ncycle;
	return 1;
}

struct frun *frun_new(const struct frun_spec *asked, struct err *e)
{
	struct frun_spec once = *asked, *spec = &once;
	struct run_make *m;
	struct frun *f = NULL;

	if (run_new_check(spec, e) != 0)
		return NULL;
	once.ncycle = run_new_shortest(asked);
	m = xcalloc(1, sizeof(*m));
	m->spec = spec;
	m->f.ncycle = spec->ncycle;
	m->f.first = spec->first;
	m->f.nqueues = spec->nqueues;
	m->f.nstreams = spec->nstreams;
	m->f.sched_id = spec->sched_id;
	m->f.data_off = spec->data_off;
	m->f.len16_off = spec->len16_off;
	m->f.len32_off = spec->len32_off;
	m->f.own = spec->ncycle / (unsigned)gcd(spec->ncycle, spec->nqueues);
	make_streams(m);
	make_slots(m);
	make_starts(m);
	int rc = make_recipes(m, e);
	if (rc == 0) {
		make_sizes(m);
		make_size_classes(&m->f);
		run_new_describe(m);
		make_probes(m);
		run_make_images(m);
		rc = run_make_engine(m, e);
	}
	m->f.state_size = sizeof(struct run_state) + m->f.engine_size +
			  (m->f.nstreams + m->f.nbases) * sizeof(uint64_t);
	m->f.state_size = (m->f.state_size + 63) / 64 * 64;
	f = run_new_pack(m);
	if (f == NULL)
		(void)err_set(e, ENOMEM, "no memory for a program of %u streams and %u frames",
			      spec->nstreams, m->f.nrecipes);
	else
		link_parts(f, m);
	free(m->class_at);
	free(m->source);
	free(m);
	if (rc != 0) {
		frun_free(f);
		return NULL;
	}
	return f;
}

void frun_free(struct frun *f)
{
	for (unsigned i = 0; f != NULL && i < f->nblocks; i++)
		run_block_give(f->block[i]);
	free(f);
}
