/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind "gen" counts the frames of each stream, so that control can read exact numbers at any
 * moment (struct gen_state). */
#include "gen_own.h"

void gen_unsettle(struct gen_state *g)
{
	(void)__atomic_exchange_n(&g->epoch, g->epoch + 1, __ATOMIC_ACQ_REL);
}

void gen_settle(struct gen_state *g)
{
	__atomic_store_n(&g->epoch, g->epoch + 1, __ATOMIC_RELEASE);
}

void gen_fold(struct gen_state *g, const struct frun *f, uint64_t i, uint64_t times)
{
	uint64_t frames[GEN_MAX_STREAMS], bytes[GEN_MAX_STREAMS];
	struct cnt_sizes sizes = {0};

	if (i == 0)
		return;
	frun_sizes(f, 0, i, sizes.n);
	for (unsigned s = 0; s < CNT_NSIZES; s++)
		cell_add(&g->sizes.n[s], times * sizes.n[s]);
	frun_count(f, i, frames, bytes);
	for (unsigned s = 0; s < frun_nstreams(f); s++) {
		struct cnt_stream *c = &g->cell[frun_stream_id(f, s)];
		cell_add(&c->packets, times * frames[s]);
		cell_add(&c->bytes, times * bytes[s]);
	}
}

void gen_publish(struct gen_state *g, const struct frun *frun, uint64_t accepted)
{
	__atomic_store_n(&g->frun, frun, __ATOMIC_RELEASE);
	cell_set(&g->accepted, accepted);
}

void gen_fold_all(struct gen_state *g)
{
	if (g->frun == NULL)
		return;
	gen_unsettle(g);
	gen_fold(g, g->frun, cell_get(&g->accepted), 1);
	gen_publish(g, NULL, 0);
	gen_settle(g);
}

bool gen_counts(const struct gen_state *g, struct cnt_stream *sum, unsigned n)
{
	struct cnt_stream now[GEN_MAX_STREAMS];
	uint64_t frames[GEN_MAX_STREAMS], bytes[GEN_MAX_STREAMS];
	uint64_t epoch = __atomic_load_n(&g->epoch, __ATOMIC_ACQUIRE);
	const struct frun *frun = __atomic_load_n(&g->frun, __ATOMIC_ACQUIRE);
	uint64_t accepted = __atomic_load_n(&g->accepted, __ATOMIC_ACQUIRE);

	if (epoch % 2 != 0)
		return false;
	for (unsigned s = 0; s < n; s++) {
		now[s].packets = __atomic_load_n(&g->cell[s].packets, __ATOMIC_ACQUIRE);
		now[s].bytes = __atomic_load_n(&g->cell[s].bytes, __ATOMIC_ACQUIRE);
	}
	if (__atomic_load_n(&g->epoch, __ATOMIC_ACQUIRE) != epoch)
		return false;
	for (unsigned s = 0; s < n; s++) {
		sum[s].packets += now[s].packets;
		sum[s].bytes += now[s].bytes;
	}
	if (frun == NULL || accepted == 0)
		return true;
	frun_count(frun, accepted, frames, bytes);
	for (unsigned s = 0; s < frun_nstreams(frun); s++) {
		uint32_t id = frun_stream_id(frun, s);
		if (id < n) {
			sum[id].packets += frames[s];
			sum[id].bytes += bytes[s];
		}
	}
	return true;
}

bool gen_sizes(const struct gen_state *g, struct cnt_sizes *sum)
{
	uint64_t epoch = __atomic_load_n(&g->epoch, __ATOMIC_ACQUIRE), now[CNT_NSIZES];
	const struct frun *frun = __atomic_load_n(&g->frun, __ATOMIC_ACQUIRE);
	uint64_t accepted = __atomic_load_n(&g->accepted, __ATOMIC_ACQUIRE);

	for (unsigned s = 0; s < CNT_NSIZES; s++)
		now[s] = __atomic_load_n(&g->sizes.n[s], __ATOMIC_ACQUIRE);
	if (epoch % 2 != 0 || __atomic_load_n(&g->epoch, __ATOMIC_ACQUIRE) != epoch)
		return false;
	if (frun != NULL)
		frun_sizes(frun, 0, accepted, now);
	for (unsigned s = 0; s < CNT_NSIZES; s++)
		sum->n[s] += now[s];
	return true;
}

void gen_skip(const struct gen_job *j, struct gen_state *g, struct gen_grp *gr, uint64_t bytes)
{
	if (gr->stream < 0) {
		uint32_t id =
			frun_stream_id(gr->frun, frun_stream_at(gr->frun, gr->i - gr->frun_i));
		gen_unsettle(g);
		cell_add(&g->accepted, 1);
		cell_add(&g->cell[id].packets, UINT64_MAX);
		cell_add(&g->cell[id].bytes, -bytes);
		cell_add(&g->sizes.n[cnt_size_class(bytes)], UINT64_MAX);
		gen_settle(g);
	}
	gr->i++;
	gen_place(j, gr);
}
