/* SPDX-License-Identifier: BSD-3-Clause */
/* What receivers have counted since the last clear: the sum of what the tables of all arms hold now
 * and of what the tables of arms that are gone held, less what that was at the last clear. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe_int.h"

/* Probes sent of a cell since open, by all works and queues. While frames are being handed over the
 * number may be some too high. */
static uint64_t stream_probes(const struct ctl_port *cp, uint32_t cell)
{
	uint64_t sum = 0;

	EACH_WORK(w, told)
		sum += w->told(cp, cell);
	return sum;
}

/* ---- what has to be added to what tables hold ---- */

static struct probe_rx *rx_at(struct probes *p, unsigned rx)
{
	if (p->rx[rx] == NULL)
		p->rx[rx] = xcalloc(1, sizeof(*p->rx[rx]));
	return p->rx[rx];
}

/* What has to be added for one cell, or for all (-1). If there is nothing yet, it is made (make),
 * or the result is NULL. */
static struct flow_off *off_at(struct probes *p, unsigned rx, unsigned tx, int cell, bool make)
{
	if (p->rx[rx] == NULL && !make)
		return NULL;
	struct probe_rx *r = rx_at(p, rx);
	if (cell < 0)
		return &r->from[tx].port;
	if ((unsigned)cell >= r->from[tx].ncells) {
		unsigned n = 64;
		if (!make)
			return NULL;
		while (n <= (unsigned)cell)
			n *= 2;
		r->from[tx].cell = xrealloc(r->from[tx].cell, n * sizeof(*r->from[tx].cell));
		memset(r->from[tx].cell + r->from[tx].ncells, 0,
		       (n - r->from[tx].ncells) * sizeof(*r->from[tx].cell));
		r->from[tx].ncells = n;
	}
	return &r->from[tx].cell[cell];
}

static void flow_sum_add(struct flow_sum *to, const struct flow_sum *from, bool subtract)
{
	uint64_t *a = (uint64_t *)to;
	const uint64_t *b = (const uint64_t *)from;

	for (size_t i = 0; i < FLOW_SUM_ROWS; i++)
		a[i] += subtract ? -b[i] : b[i];
}

void probe_live_add(struct flow_live *to, const struct flow_live *from, bool subtract)
{
	flow_sum_add(&to->sum, &from->sum, subtract);
	to->all_crossed += subtract ? -from->all_crossed : from->all_crossed;
	to->out_crossed += subtract ? -from->out_crossed : from->out_crossed;
	to->outside += subtract ? -from->outside : from->outside;
}

static void rx_sum_add(struct rx_sum *to, const struct rx_sum *from, bool subtract)
{
	uint64_t *a = (uint64_t *)to;
	const uint64_t *b = (const uint64_t *)from;

	for (size_t i = 0; i < RX_SUM_ROWS; i++)
		a[i] += subtract ? -b[i] : b[i];
}

/* ---- tables ---- */

static bool add_flow(const struct prx_flow *f, struct flow_live *io)
{
	uint64_t received = cell_get(&f->received), max = cell_get(&f->extent_max);

	if (received + cell_get(&f->late) + cell_get(&f->corrupted) == 0)
		return false;
	io->sum.received += received;
	io->sum.duplicate += cell_get(&f->duplicate);
	io->sum.late += cell_get(&f->late);
	io->sum.reordered += cell_get(&f->reordered);
	io->sum.corrupted += cell_get(&f->corrupted);
	io->sum.extent_sum += cell_get(&f->extent_sum);
	io->sum.extent_unknown += cell_get(&f->extent_unknown);
	if (max > io->extent_max)
		io->extent_max = max;
	double jitter = prx_jitter(f);
	if (received > 1 && !(io->jitter_cycles >= jitter))
		io->jitter_cycles = jitter;
	return true;
}

/* Adds what one arm has received on port rx. */
static void add_arm(const struct probe_arm *a, unsigned rx, unsigned tx, int cell,
		    struct flow_live *io)
{
	if (a == NULL || tx >= a->spec.nports)
		return;
	unsigned n = a->spec.of[tx].nstreams, c0 = cell < 0 ? 0 : (unsigned)cell,
		 c1 = cell < 0 ? n : c0 + 1;
	for (unsigned i = c0; i < c1 && i < n; i++)
		for (unsigned q = 0; q < a->spec.of[tx].nqueues; q++) {
			unsigned heard = 0;
			for (unsigned t = 0; t < a->ntaps; t++)
				heard += a->tap[t].port == rx &&
					 add_flow(prx_flow(a->tap[t].prx, tx, i, q), io);
			io->nrxq = heard > io->nrxq ? heard : io->nrxq;
		}
}

/* Adds what all arms have received on port rx. */
static void probe_read_live(const struct ctl *c, unsigned rx, unsigned tx, int cell,
			    struct flow_live *io)
{
	const struct probes *p = probes_of(c);

	for (unsigned i = 0; i <= p->nold; i++) {
		struct probe_arm *a = i < p->nold ? p->old[i] : p->now;
		add_arm(a, rx, tx, cell, io);
		if (a != NULL)
			probe_crossed(a, (int)rx, tx, cell, io);
	}
}

/* Adds the copies that all arms have found among all ports. */
static void live_crossed(const struct ctl *c, unsigned tx, int cell, struct flow_live *io)
{
	const struct probes *p = probes_of(c);

	for (unsigned i = 0; i <= p->nold; i++)
		if (i < p->nold || p->now != NULL)
			probe_crossed(i < p->nold ? p->old[i] : p->now, -1, tx, cell, io);
}

static void rx_live(const struct probe_arm *a, unsigned rx, struct rx_sum *out)
{
	for (unsigned t = 0; a != NULL && t < a->ntaps; t++) {
		if (a->tap[t].port != rx)
			continue;
		const struct prx_port *f = prx_port(a->tap[t].prx);
		struct rx_sum now = {.probes = cell_get(&f->probes),
				     .plain = cell_get(&f->plain),
				     .damaged = cell_get(&f->damaged),
				     .foreign = cell_get(&f->foreign),
				     .early = cell_get(&f->early),
				     .stamped = cell_get(&f->stamped),
				     .unstamped = cell_get(&f->unstamped),
				     .odd = cell_get(&f->odd)};
		uint64_t near[PRX_NEARS + 1];
		prx_nears(f, near);
		memcpy(now.near, near, sizeof(now.near));
		now.gaps = now.near_of = near[PRX_NEARS];
		for (unsigned s = 0; s < PRX_SCALES; s++) {
			now.scale[s].windows = cell_get(&f->scale[s].windows);
			now.scale[s].sum = cell_get(&f->scale[s].sum);
			now.scale[s].sum_sq = cell_get(&f->scale[s].sum_sq);
		}
		rx_sum_add(out, &now, false);
	}
}

/* ---- totals ---- */

/* The highest extent since the last clear; UINT64_MAX: not known. What tables say may be from
 * before the clear. */
static uint64_t extent_of(const struct flow_off *off, uint64_t live_max, uint64_t reordered)
{
	uint64_t was = off != NULL ? off->extent_was : 0, past = off != NULL ? off->extent_past : 0;

	if (reordered == 0)
		return 0;
	if (live_max > was)
		return live_max > past ? live_max : past;
	return was == 0 || past >= was ? past : UINT64_MAX;
}

/* Adds the total of one receiving port. */
static void total_at(struct ctl *c, unsigned rx, unsigned tx, int cell, struct flow_live *io)
{
	struct flow_live now = {.jitter_cycles = (double)NAN};
	const struct flow_off *off = off_at(probes_of(c), rx, tx, cell, false);

	probe_read_live(c, rx, tx, cell, &now);
	if (off != NULL) {
		flow_sum_add(&now.sum, &off->sum, false);
		now.nrxq = off->nrxq > now.nrxq ? off->nrxq : now.nrxq;
		if (off->jitter_cycles > 0 && !(now.jitter_cycles >= off->jitter_cycles))
			now.jitter_cycles = off->jitter_cycles;
	}
	flow_sum_add(&io->sum, &now.sum, false);
	now.extent_max = extent_of(off, now.extent_max, now.sum.reordered);
	if (now.extent_max > io->extent_max)
		io->extent_max = now.extent_max;
	if (!(io->jitter_cycles >= now.jitter_cycles) && !isnan(now.jitter_cycles))
		io->jitter_cycles = now.jitter_cycles;
	if (now.sum.received + now.sum.late + now.sum.corrupted > 0 && now.nrxq > io->nrxq)
		io->nrxq = now.nrxq;
}

static bool probe_read_receives(const struct ctl *c, const struct portset *receivers, unsigned rx)
{
	return c->port[rx]->p.used && c->port[rx]->p.nrxq > 0 &&
	       (receivers == NULL || portset_has(receivers, rx));
}

bool probe_several(const struct ctl *c, const struct portset *receivers)
{
	unsigned n = 0;

	for (unsigned rx = 0; rx < c->nports; rx++)
		n += probe_read_receives(c, receivers, rx);
	return n > 1;
}

void probe_cross(struct flow_live *l)
{
	/* copies within single ports; what there is more among all lies on two ports */
	uint64_t within = l->sum.crossed + l->out_crossed;

	l->unsure = false;
	if (l->all_crossed == within)
		return;
	if (l->outside == 0)
		l->sum.crossed = l->all_crossed;
	else
		l->unsure = true;
}

/* Sets what probe_cross() needs, and the copies among all ports if all are asked for. */
static void total_crossed(struct ctl *c, unsigned tx, int cell, const struct portset *receivers,
			  struct flow_live *out)
{
	const struct flow_off *off = off_at(probes_of(c), PROBE_RX_ALL, tx, cell, false);
	struct flow_live all = {.jitter_cycles = (double)NAN},
			 rest = {.jitter_cycles = (double)NAN};

	if (off != NULL)
		flow_sum_add(&all.sum, &off->sum, false);
	live_crossed(c, tx, cell, &all);
	for (unsigned rx = 0; rx < c->nports; rx++)
		if (receivers != NULL && !probe_read_receives(c, receivers, rx) &&
		    probe_read_receives(c, NULL, rx))
			total_at(c, rx, tx, cell, &rest);
	out->sum.missed += all.sum.missed;
	out->all_crossed = all.sum.crossed;
	out->out_crossed = rest.sum.crossed;
	out->outside = rest.sum.received + rest.sum.late + rest.sum.corrupted;
	if (receivers == NULL)
		out->sum.crossed = all.sum.crossed;
}

bool probe_total(struct ctl *c, unsigned tx, int cell, const struct portset *receivers,
		 struct flow_live *out)
{
	struct probes *p = probes_of(c);

	*out = (struct flow_live){.jitter_cycles = (double)NAN};
	if (cell >= 0)
		probe_cells_begin(c, c->port[tx]);
	if (tx >= PROBE_PORTS || tx >= c->nports)
		return false;
	for (unsigned rx = 0; rx < c->nports; rx++)
		if (probe_read_receives(c, receivers, rx))
			total_at(c, rx, tx, cell, out);
	if (receivers == NULL || probe_several(c, receivers))
		total_crossed(c, tx, cell, receivers, out);
	bool known = out->sum.received + out->sum.late + out->sum.corrupted > 0;
	for (unsigned i = 0; i <= p->nold && !known; i++) {
		const struct probe_arm *a = i < p->nold ? p->old[i] : p->now;
		known = a != NULL && tx < a->spec.nports &&
			a->spec.of[tx].nstreams > (cell < 0 ? 0 : cell);
	}
	return known;
}

void probe_rx_total(struct ctl *c, unsigned rx, struct rx_sum *out)
{
	struct probes *p = probes_of(c);

	*out = (struct rx_sum){0};
	for (unsigned i = 0; i <= p->nold; i++)
		rx_live(i < p->nold ? p->old[i] : p->now, rx, out);
	if (p->rx[rx] != NULL)
		rx_sum_add(out, &p->rx[rx]->off, false);
}

static uint64_t sent_raw(const struct ctl_port *cp, int cell)
{
	uint64_t sum = 0;

	if (cell >= 0)
		return stream_probes(cp, (uint32_t)cell);
	for (uint32_t i = 0; i < PROBE_STREAMS; i++)
		sum += stream_probes(cp, i);
	return sum;
}

uint64_t probe_sent(struct ctl *c, unsigned tx, int cell)
{
	const struct probes *p = probes_of(c);
	uint64_t base = cell < 0                   ? p->sent_base[tx]
			: p->cell_base[tx] != NULL ? p->cell_base[tx][cell]
						   : 0;

	uint64_t raw = sent_raw(c->port[tx], cell);

	return raw > base ? raw - base : 0; /* at the clear, base may have been some too high */
}

/* ---- histograms ---- */

static void probe_read_merge(struct hist **to, const struct hist *from)
{
	if (from == NULL)
		return;
	if (*to == NULL)
		*to = hist_new(from->shape);
	hist_merge(*to, from);
}

static void merge_port(const struct probe_arm *a, unsigned rx, enum prx_hist which,
		       struct hist **to)
{
	for (unsigned t = 0; a != NULL && t < a->ntaps; t++)
		if (a->tap[t].port == rx)
			probe_read_merge(to, prx_port_hist(a->tap[t].prx, which));
}

/* A histogram of a port since open: what came before the last clear is in it. */
static struct hist *port_hist_all(struct ctl *c, unsigned rx, enum prx_hist which)
{
	const struct probes *p = probes_of(c);
	struct hist *h = NULL;

	for (unsigned i = 0; i <= p->nold; i++)
		merge_port(i < p->nold ? p->old[i] : p->now, rx, which, &h);
	if (p->rx[rx] != NULL)
		probe_read_merge(&h, p->rx[rx]->past[which]);
	return h;
}

struct hist *probe_port_hist(struct ctl *c, unsigned rx, enum prx_hist which)
{
	struct hist *h = port_hist_all(c, rx, which);

	if (h != NULL && probes_of(c)->rx[rx] != NULL && probes_of(c)->rx[rx]->base[which] != NULL)
		hist_subtract(h, probes_of(c)->rx[rx]->base[which]);
	return h;
}

static void merge_cell(const struct probe_arm *a, unsigned rx, unsigned tx, uint32_t cell,
		       enum prx_hist which, struct hist **to)
{
	if (a == NULL || tx >= a->spec.nports || cell >= a->spec.of[tx].nstreams)
		return;
	for (unsigned t = 0; t < a->ntaps; t++)
		if (a->tap[t].port == rx)
			probe_read_merge(to, prx_stream_hist(a->tap[t].prx, tx, cell, which));
}

static struct hist *cell_hist_all(struct ctl *c, unsigned rx, unsigned tx, uint32_t cell,
				  enum prx_hist which)
{
	struct probes *p = probes_of(c);
	const struct flow_off *kept = off_at(p, rx, tx, (int)cell, false);
	struct hist *h = NULL;

	for (unsigned i = 0; i <= p->nold; i++)
		merge_cell(i < p->nold ? p->old[i] : p->now, rx, tx, cell, which, &h);
	if (kept != NULL)
		probe_read_merge(&h, kept->past[which]);
	return h;
}

struct hist *probe_cell_hist(struct ctl *c, unsigned tx, uint32_t cell, enum prx_hist which,
			     const struct portset *receivers)
{
	struct hist *sum = NULL;

	for (unsigned rx = 0; rx < c->nports; rx++) {
		if (!probe_read_receives(c, receivers, rx))
			continue;
		struct hist *h = cell_hist_all(c, rx, tx, cell, which);
		const struct flow_off *kept = off_at(probes_of(c), rx, tx, (int)cell, false);
		if (h != NULL && kept != NULL && kept->base[which] != NULL)
			hist_subtract(h, kept->base[which]);
		probe_read_merge(&sum, h);
		free(h);
	}
	return sum;
}

/* ---- tables that go: what they held is kept ---- */

static void fold_flows(struct ctl *c, const struct probe_arm *a, unsigned rx, unsigned tx)
{
	for (int cell = -1; cell < (int)a->spec.of[tx].nstreams; cell++) {
		struct flow_live l = {.jitter_cycles = (double)NAN};
		add_arm(a, rx, tx, cell, &l);
		if (l.sum.received + l.sum.late + l.sum.corrupted == 0) {
			if (cell < 0)
				return;
			continue;
		}
		struct flow_off *off = off_at(probes_of(c), rx, tx, cell, true);
		flow_sum_add(&off->sum, &l.sum, false);
		if (l.extent_max > off->extent_was && l.extent_max > off->extent_past)
			off->extent_past = l.extent_max;
		off->extent_was = 0;
		off->nrxq = l.nrxq > off->nrxq ? l.nrxq : off->nrxq;
		if (l.jitter_cycles > off->jitter_cycles)
			off->jitter_cycles = l.jitter_cycles;
	}
}

static void fold_hists(struct ctl *c, const struct probe_arm *a, const struct probe_tap *t)
{
	struct probe_rx *r = rx_at(probes_of(c), t->port);

	for (unsigned w = 0; w < 3; w++)
		probe_read_merge(&r->past[w], prx_port_hist(t->prx, (enum prx_hist)w));
	for (unsigned tx = 0; tx < a->spec.nports; tx++)
		for (uint32_t i = 0; i < 2 * a->spec.of[tx].nstreams; i++) {
			const struct hist *h =
				prx_stream_hist(t->prx, tx, i / 2, (enum prx_hist)(i % 2));
			if (h != NULL && hist_count(h) > 0)
				probe_read_merge(&off_at(probes_of(c), t->port, tx, (int)(i / 2),
							 true)
							  ->past[i % 2],
						 h);
		}
}

static void fold_crossed(struct ctl *c, struct probe_arm *a, unsigned tx, int cell)
{
	for (int rx = -1; rx < (int)c->nports; rx++) {
		struct flow_live l = {.jitter_cycles = (double)NAN};
		probe_crossed(a, rx, tx, cell, &l);
		if (l.sum.crossed + l.sum.missed > 0)
			flow_sum_add(&off_at(probes_of(c), rx < 0 ? PROBE_RX_ALL : (unsigned)rx, tx,
					     cell, true)
					      ->sum,
				     &l.sum, false);
	}
}

void probe_fold(struct ctl *c, struct probe_arm *a)
{
	for (unsigned rx = 0; rx < c->nports; rx++) {
		rx_live(a, rx, &rx_at(probes_of(c), rx)->off);
		for (unsigned tx = 0; tx < a->spec.nports; tx++)
			fold_flows(c, a, rx, tx);
	}
	for (unsigned t = 0; t < a->ntaps; t++)
		fold_hists(c, a, &a->tap[t]);
	for (unsigned tx = 0; tx < a->spec.nports && a->merge != NULL; tx++)
		for (int cell = -1; cell < (int)a->spec.of[tx].nstreams; cell++)
			fold_crossed(c, a, tx, cell);
}

void probe_past_free(struct probes *p)
{
	for (unsigned rx = 0; rx <= PROBE_RX_ALL; rx++) {
		struct probe_rx *r = p->rx[rx];
		for (unsigned w = 0; r != NULL && w < 3; w++) {
			free(r->past[w]);
			free(r->base[w]);
		}
		for (unsigned tx = 0; r != NULL && tx < PROBE_PORTS; tx++) {
			for (uint32_t i = 0; i < 2 * r->from[tx].ncells; i++) {
				free(r->from[tx].cell[i / 2].past[i % 2]);
				free(r->from[tx].cell[i / 2].base[i % 2]);
			}
			free(r->from[tx].cell);
		}
		free(r);
	}
	for (unsigned tx = 0; tx < PROBE_PORTS; tx++)
		free(p->cell_base[tx]);
}

/* ---- clear ---- */

/* Makes the sum of what tables hold and of what has to be added 0, as of now. */
static void begin_at(struct ctl *c, unsigned rx, unsigned tx, int cell)
{
	struct flow_live now = {.jitter_cycles = (double)NAN};
	struct flow_off *off = off_at(probes_of(c), rx, tx, cell, false);

	probe_read_live(c, rx, tx, cell, &now);
	if (now.sum.received + now.sum.late + now.sum.corrupted == 0 && off == NULL)
		return;
	off = off_at(probes_of(c), rx, tx, cell, true);
	off->sum = (struct flow_sum){0};
	off->extent_was = now.extent_max;
	off->extent_past = 0;
	off->nrxq = 0;
	off->jitter_cycles = 0;
	flow_sum_add(&off->sum, &now.sum, true);
}

static void begin_crossed(struct ctl *c, unsigned tx, int cell)
{
	struct flow_live now = {.jitter_cycles = (double)NAN};

	live_crossed(c, tx, cell, &now);
	if (now.sum.crossed + now.sum.missed > 0 ||
	    off_at(probes_of(c), PROBE_RX_ALL, tx, cell, false) != NULL) {
		struct flow_off *off = off_at(probes_of(c), PROBE_RX_ALL, tx, cell, true);
		off->sum = (struct flow_sum){0};
		flow_sum_add(&off->sum, &now.sum, true);
	}
}

static void begin_hist(struct ctl *c, unsigned rx, unsigned tx, uint32_t cell, enum prx_hist which)
{
	struct hist *h = cell_hist_all(c, rx, tx, cell, which);

	if (h == NULL || hist_count(h) == 0) {
		free(h);
		return;
	}
	struct flow_off *kept = off_at(probes_of(c), rx, tx, (int)cell, true);
	free(kept->base[which]);
	kept->base[which] = h;
}

static void begin_cell(struct ctl *c, unsigned tx, uint32_t cell)
{
	struct probes *p = probes_of(c);

	if (p->cell_base[tx] == NULL)
		p->cell_base[tx] = xcalloc(CTL_CELLS, sizeof(*p->cell_base[tx]));
	p->cell_base[tx][cell] = stream_probes(c->port[tx], cell);
	begin_crossed(c, tx, (int)cell);
	for (unsigned rx = 0; rx < c->nports; rx++)
		if (probe_read_receives(c, NULL, rx)) {
			begin_at(c, rx, tx, (int)cell);
			for (unsigned w = PRX_ACTUAL; w <= PRX_INTENDED; w++)
				begin_hist(c, rx, tx, cell, (enum prx_hist)w);
		}
}

static bool cell_known(const struct probes *p, unsigned tx, uint32_t cell)
{
	for (unsigned i = 0; i <= p->nold; i++) {
		const struct probe_arm *a = i < p->nold ? p->old[i] : p->now;
		if (a != NULL && tx < a->spec.nports && cell < a->spec.of[tx].nstreams)
			return true;
	}
	for (unsigned rx = 0; rx < CTL_MAX_PORTS; rx++)
		if (p->rx[rx] != NULL && cell < p->rx[rx]->from[tx].ncells)
			return true;
	return false;
}

void probe_cells_begin(struct ctl *c, struct ctl_port *cp)
{
	uint64_t cells[CTL_CELLS / 64];

	if (cp->p.id >= PROBE_PORTS)
		return;
	stream_cells_new(cp, cells);
	for (unsigned w = 0; w < CTL_CELLS / 64; w++)
		for (; cells[w] != 0; cells[w] &= cells[w] - 1) {
			uint32_t cell = 64 * w + (unsigned)__builtin_ctzll(cells[w]);
			if (cell < PROBE_STREAMS && (cell_known(probes_of(c), cp->p.id, cell) ||
						     stream_probes(cp, cell) > 0))
				begin_cell(c, cp->p.id, cell);
		}
}

void probe_sender_begins(struct ctl *c, unsigned tx)
{
	struct probes *p = probes_of(c);

	p->sent_base[tx] = sent_raw(c->port[tx], -1);
	begin_crossed(c, tx, -1);
	for (unsigned rx = 0; rx < c->nports; rx++)
		if (probe_read_receives(c, NULL, rx))
			begin_at(c, rx, tx, -1);
	for (uint32_t cell = 0; cell < PROBE_STREAMS; cell++)
		if (cell_known(p, tx, cell) || stream_probes(c->port[tx], cell) > 0)
			begin_cell(c, tx, cell);
}

void probe_receiver_begins(struct ctl *c, unsigned rx)
{
	struct probe_rx *r = rx_at(probes_of(c), rx);
	struct rx_sum now;

	for (unsigned w = 0; w < 3; w++) {
		struct hist *h = port_hist_all(c, rx, (enum prx_hist)w);
		free(r->base[w]);
		r->base[w] = h;
	}
	probe_rx_total(c, rx, &now);
	rx_sum_add(&r->off, &now, true);
	probe_jitter_begins(c, rx);
}

/* What was counted for the old target says nothing about the new one, so it is taken off. */
void probe_target_begins(struct ctl *c, unsigned rx)
{
	struct rx_sum *off = &rx_at(probes_of(c), rx)->off, now;

	probe_rx_total(c, rx, &now);
	off->near_of -= now.near_of;
	for (unsigned i = 0; i < PRX_NEARS; i++)
		off->near[i] -= now.near[i];
}
