/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the streams of each port, whose ids may have holes, and makes copies of all settings, to
 * which control can go back (ctl_save(), ctl_restore()). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_int.h"
#include "frame_probe.h"

#define NO_CELL UINT32_MAX
/* The cell that no stream gets: in a probe this number means that there is no probe. */
#define NO_STREAM PROBE_NONE
_Static_assert(CTL_CELLS - 1 == NO_STREAM, "it is the last of them, and counted in cells_free()");

struct saved_stream {
	struct stream_cfg cfg;
	uint32_t cell;
	uint64_t serial; /* a stream that now has the id and another serial is a new one */
	struct stream_count base, prev;
	double pps;
};

struct saved_port {
	struct port_cfg cfg;
	unsigned n;
	struct saved_stream *stream; /* ascending by id */
};

struct ctl_saved {
	unsigned nports;
	struct saved_port port[CTL_MAX_PORTS];
};

static bool stream_bit(const uint64_t *map, uint32_t i)
{
	return map[i / 64] >> (i % 64) & 1;
}

/* Takes a cell for a new stream: the one with the number of its id if that is free, else the next
 * free one. NO_CELL: there is none. The cells of deleted streams stay taken while the port sends,
 * because it may go on sending these streams until the run ends (if a stream has a count). */
static uint32_t cell_take(struct ctl_port *cp, unsigned id)
{
	uint32_t i = id;

	if (!cp->run.active)
		memset(cp->cell_kept, 0, sizeof(cp->cell_kept));
	for (unsigned n = 0; n < CTL_CELLS; n++, i = (i + 1) % CTL_CELLS)
		if (i != NO_STREAM && !stream_bit(cp->cell_used, i) &&
		    !stream_bit(cp->cell_kept, i)) {
			cp->cell_used[i / 64] |= 1ull << (i % 64);
			return i;
		}
	return NO_CELL;
}

static unsigned cells_free(struct ctl_port *cp)
{
	unsigned n = 0;

	for (unsigned i = 0; i < CTL_CELLS / 64; i++)
		n += 64 - (unsigned)__builtin_popcountll(cp->cell_used[i] |
							 (cp->run.active ? cp->cell_kept[i] : 0));
	return n - 1;
}

/* Makes the array large enough for this id. A new place in it is empty. */
static void make_place(struct ctl_port *cp, unsigned id)
{
	if (id >= cp->cap_streams) {
		unsigned cap = cp->cap_streams ? cp->cap_streams : 4;
		while (cap <= id)
			cap *= 2;
		cp->stream = xrealloc(cp->stream, cap * sizeof(*cp->stream));
		memset(cp->stream + cp->cap_streams, 0,
		       (cap - cp->cap_streams) * sizeof(*cp->stream));
		cp->cap_streams = cap;
	}
	if (id >= cp->nstreams)
		cp->nstreams = id + 1;
}

/* Sets nstreams to the highest id + 1 again. */
static void stream_shrink(struct ctl_port *cp)
{
	while (cp->nstreams > 0 && cp->stream[cp->nstreams - 1] == NULL)
		cp->nstreams--;
}

/* Puts a new stream at this id. It takes over what cfg points to, its dflt too. cell: from
 * cell_take(). */
static struct stream *stream_put(struct ctl_port *cp, unsigned id, uint32_t cell,
				 const struct stream_cfg *cfg)
{
	struct stream *s = xcalloc(1, sizeof(*s));

	s->cfg = *cfg;
	s->cfg.port = cp->p.id;
	s->cfg.id = id;
	s->dirty = true;
	s->cell = cell;
	s->serial = ++cp->stream_seq;
	make_place(cp, id);
	cp->stream[id] = s;
	cp->total++;
	stream_begins(cp, s);
	return s;
}

static void stream_drop(struct ctl_port *cp, unsigned id)
{
	struct stream *s = cp->stream[id];

	cp->cell_used[s->cell / 64] &= ~(1ull << (s->cell % 64));
	cp->cell_kept[s->cell / 64] |= 1ull << (s->cell % 64);
	stream_recipes_free(s);
	stream_cfg_free(&s->cfg);
	free(s);
	cp->stream[id] = NULL;
	cp->total--;
}

void streams_free(struct ctl_port *cp)
{
	for (unsigned i = 0; i < cp->nstreams; i++)
		if (cp->stream[i] != NULL)
			stream_drop(cp, i);
	cp->nstreams = 0;
	free(cp->stream);
	cp->stream = NULL;
	cp->cap_streams = 0;
}

/* Gives a stream new settings. It takes over what cfg points to. The stream keeps its id and its
 * counters. */
static void stream_change(struct stream *s, const struct stream_cfg *cfg)
{
	uint32_t port = s->cfg.port, id = s->cfg.id;

	stream_cfg_free(&s->cfg);
	s->cfg = *cfg;
	s->cfg.port = port;
	s->cfg.id = id;
	s->dirty = true;
}

void streams_default(struct ctl_port *cp)
{
	struct stream_cfg cfg;

	for (unsigned i = 1; i < cp->nstreams; i++)
		if (cp->stream[i] != NULL)
			stream_drop(cp, i);
	stream_shrink(cp);
	stream_cfg_init(&cfg);
	frame_vals_copy(&cfg.dflt, &cp->dflt);
	if (stream_at(cp, 0) != NULL)
		stream_change(cp->stream[0], &cfg);
	else
		stream_put(cp, 0, cell_take(cp, 0), &cfg);
	cp->touched |= WHY_FRAMES | WHY_ORDER;
}

/* Gives the port's own defaults, which have just become known, to all its streams. */
void streams_dflt(struct ctl_port *cp)
{
	for (unsigned i = 0; i < cp->nstreams; i++)
		if (cp->stream[i] != NULL) {
			frame_vals_copy(&cp->stream[i]->cfg.dflt, &cp->dflt);
			cp->stream[i]->dirty = true;
		}
	cp->touched |= WHY_FRAMES;
}

unsigned ctl_nstreams(const struct ctl *c, unsigned port)
{
	return c->port[port]->nstreams;
}

unsigned ctl_stream_total(const struct ctl *c, unsigned port)
{
	return c->port[port]->total;
}

struct stream *stream_at(const struct ctl_port *cp, unsigned id)
{
	return id < cp->nstreams ? cp->stream[id] : NULL;
}

struct stream *stream_first(const struct ctl_port *cp)
{
	unsigned i = 0;

	while (cp->stream[i] == NULL)
		i++;
	return cp->stream[i];
}

struct stream *stream_of_cell(const struct ctl_port *cp, uint32_t cell, unsigned id)
{
	struct stream *s = stream_at(cp, id);

	if (s != NULL && s->cell == cell)
		return s;
	for (unsigned i = 0; i < cp->nstreams; i++)
		if (cp->stream[i] != NULL && cp->stream[i]->cell == cell)
			return cp->stream[i];
	return NULL;
}

struct stream_cfg *ctl_stream_cfg(struct ctl *c, unsigned port, unsigned stream)
{
	struct stream *s = stream_at(c->port[port], stream);

	return s != NULL ? &s->cfg : NULL;
}

void ctl_touch_stream(struct ctl *c, unsigned port, int stream, uint32_t why)
{
	struct ctl_port *cp = c->port[port];

	unsigned from = stream < 0 ? 0 : (unsigned)stream,
		 to = stream < 0 ? cp->nstreams : from + 1;

	cp->touched |= why & WHY_ALL;
	for (unsigned i = from; i < to; i++)
		if (stream_at(cp, i) != NULL && (why & WHY_FRAMES) != 0)
			cp->stream[i]->dirty = true;
}

static int no_port(const struct ctl *c, unsigned port, struct err *e)
{
	return err_set(e, EINVAL, "there is no port %u; ports are 0 to %u", port, c->nports - 1);
}

static int no_stream(const struct ctl_port *cp, unsigned id, struct err *e)
{
	return err_set(
		e, EINVAL,
		"there is no stream %u/%u; `show streams %u` lists those that there are, `stream add %u/%u` makes it",
		cp->p.id, id, cp->p.id, cp->p.id, id);
}

static int check_add(struct ctl_port *cp, unsigned id, unsigned n, struct err *e)
{
	unsigned port = cp->p.id;

	if (n == 0)
		return err_set(e, EINVAL, "port %u: no stream to add; give a number from 1 to %d",
			       port, CTL_MAX_STREAMS);
	if (id >= CTL_MAX_STREAMS || n > CTL_MAX_STREAMS - id)
		return err_set(e, ERANGE, "port %u: streams %u to %llu are beyond the last id, %d",
			       port, id, (unsigned long long)id + n - 1, CTL_MAX_STREAMS - 1);
	for (unsigned i = id; i < id + n; i++)
		if (stream_at(cp, i) != NULL)
			return err_set(
				e, EEXIST,
				"there is a stream %u/%u already; `stream delete %u/%u` removes it",
				port, i, port, i);
	if (cells_free(cp) < n)
		return err_set(
			e, EBUSY,
			"port %u: too many streams were deleted and added while it sends; stop %u first",
			port, port);
	return 0;
}

int ctl_stream_add(struct ctl *c, unsigned port, int id, unsigned n, int like, struct err *e)
{
	if (port >= c->nports)
		return no_port(c, port, e);
	struct ctl_port *cp = c->port[port];
	unsigned first = id >= 0 ? (unsigned)id : cp->nstreams;
	if (like >= 0 && stream_at(cp, (unsigned)like) == NULL)
		return no_stream(cp, (unsigned)like, e);
	int rc = check_add(cp, first, n, e);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < n; i++) {
		struct stream_cfg cfg;
		if (like >= 0) {
			stream_cfg_copy(&cfg, &cp->stream[like]->cfg);
		} else {
			stream_cfg_init(&cfg);
			frame_vals_copy(&cfg.dflt, &cp->dflt);
		}
		stream_put(cp, first + i, cell_take(cp, first + i), &cfg);
	}
	cp->touched |= WHY_ORDER;
	return (int)first;
}

int ctl_stream_delete(struct ctl *c, unsigned port, unsigned id, struct err *e)
{
	if (port >= c->nports)
		return no_port(c, port, e);
	struct ctl_port *cp = c->port[port];
	if (stream_at(cp, id) == NULL)
		return no_stream(cp, id, e);
	if (cp->total == 1)
		return err_set(
			e, EINVAL,
			"stream %u/%u is the last one of port %u and stays; `set %u/%u enabled off` silences it",
			port, id, port, port, id);
	stream_drop(cp, id);
	stream_shrink(cp);
	cp->touched |= WHY_ORDER;
	return 0;
}

int ctl_stream_move(struct ctl *c, unsigned port, unsigned from, unsigned to, struct err *e)
{
	if (port >= c->nports)
		return no_port(c, port, e);
	struct ctl_port *cp = c->port[port];
	struct stream *s = stream_at(cp, from);
	if (s == NULL)
		return no_stream(cp, from, e);
	if (from == to)
		return 0;
	if (to >= CTL_MAX_STREAMS)
		return err_set(e, ERANGE, "stream %u/%u is beyond the last id, %d", port, to,
			       CTL_MAX_STREAMS - 1);
	if (stream_at(cp, to) != NULL)
		return err_set(e, EEXIST,
			       "there is a stream %u/%u already; `stream delete %u/%u` removes it",
			       port, to, port, to);
	cp->stream[from] = NULL;
	make_place(cp, to);
	cp->stream[to] = s;
	s->cfg.id = to;
	stream_shrink(cp);
	cp->touched |= WHY_ORDER;
	return 0;
}

/* ---- going back ---- */

struct ctl_saved *ctl_save(struct ctl *c)
{
	struct ctl_saved *s = xcalloc(1, sizeof(*s));

	s->nports = c->nports;
	for (unsigned p = 0; p < c->nports; p++) {
		const struct ctl_port *cp = c->port[p];
		struct saved_port *to = &s->port[p];
		to->cfg = cp->cfg;
		to->stream = xcalloc(cp->total, sizeof(*to->stream));
		for (unsigned i = 0; i < cp->nstreams; i++) {
			const struct stream *from = cp->stream[i];
			if (from == NULL)
				continue;
			struct saved_stream *st = &to->stream[to->n++];
			*st = (struct saved_stream){.cell = from->cell,
						    .serial = from->serial,
						    .base = from->base,
						    .prev = from->prev,
						    .pps = from->pps};
			stream_cfg_copy(&st->cfg, &from->cfg);
		}
	}
	return s;
}

/* Puts back a stream that was deleted since the settings were saved. It gets its old cell, which is
 * free: restore_streams() has removed all streams that were not saved, and while the port sends,
 * the cell was kept. There may be no other free cell. */
static void put_back(struct ctl_port *cp, const struct saved_stream *from, struct stream_cfg *cfg)
{
	cp->cell_used[from->cell / 64] |= 1ull << (from->cell % 64);
	struct stream *s = stream_put(cp, from->cfg.id, from->cell, cfg);
	cp->cell_new[s->cell / 64] &= ~(1ull << (s->cell % 64));
	s->serial = from->serial;
	s->base = from->base;
	s->prev = from->prev;
	s->pps = from->pps;
}

/* Makes the port's streams those that were saved. A stream that is still there keeps its
 * counters. */
static void restore_streams(struct ctl_port *cp, const struct saved_port *from)
{
	for (unsigned i = 0, next = 0; i < cp->nstreams; i++) {
		while (next < from->n && from->stream[next].cfg.id < i)
			next++;
		bool was = next < from->n && from->stream[next].cfg.id == i;
		if (cp->stream[i] != NULL &&
		    !(was && from->stream[next].serial == cp->stream[i]->serial))
			stream_drop(cp, i);
	}
	for (unsigned n = 0; n < from->n; n++) {
		const struct saved_stream *st = &from->stream[n];
		struct stream *s = stream_at(cp, st->cfg.id);
		struct stream_cfg cfg;
		stream_cfg_copy(&cfg, &st->cfg);
		if (s == NULL)
			put_back(cp, st, &cfg);
		else
			stream_change(s, &cfg);
	}
	stream_shrink(cp);
}

void ctl_restore(struct ctl *c, const struct ctl_saved *s)
{
	for (unsigned p = 0; p < c->nports && p < s->nports; p++) {
		struct ctl_port *cp = c->port[p];
		restore_streams(cp, &s->port[p]);
		cp->cfg = s->port[p].cfg;
		ctl_touch(c, p, WHY_ALL | WHY_RESTART);
	}
}

void ctl_saved_free(struct ctl_saved *s)
{
	if (s == NULL)
		return;
	for (unsigned p = 0; p < s->nports; p++) {
		for (unsigned i = 0; i < s->port[p].n; i++)
			stream_cfg_free(&s->port[p].stream[i].cfg);
		free(s->port[p].stream);
	}
	free(s);
}

void stream_cells_new(struct ctl_port *cp, uint64_t cells[CTL_CELLS / 64])
{
	memcpy(cells, cp->cell_new, sizeof(cp->cell_new));
	memset(cp->cell_new, 0, sizeof(cp->cell_new));
}
