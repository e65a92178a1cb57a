/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what each stream has sent, and makes the document of `show streams`. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_int.h"

/* The number of looks at a worker that takes over a plan, after which control gives up waiting. The
 * worker needs only microseconds for it while it has a CPU. */
#define LOOKS 20000

/* Returns a number above all cells of the port that are in use or were in this run. */
static unsigned cells_used(const struct ctl_port *cp)
{
	for (unsigned i = CTL_CELLS / 64; i-- > 0;)
		if ((cp->cell_used[i] | cp->cell_kept[i]) != 0)
			return 64 * (i + 1);
	return 0;
}

/* Reads the frames of the cells 0 .. n - 1 that all works have sent on the queue since open. false:
 * a worker takes over a plan, and the caller asks again in a moment. */
static bool queue_streams(const struct ctl_port *cp, unsigned q, struct cnt_stream *now, unsigned n)
{
	memset(now, 0, n * sizeof(*now));
	EACH_WORK(w, streams)
		if (!w->streams(cp, q, now, n))
			return false;
	return true;
}

struct cnt_stream *stream_cells(struct ctl_port *cp)
{
	struct cnt_stream *sum = xcalloc(CTL_CELLS, sizeof(*sum));
	unsigned n = cells_used(cp);

	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		if (port_txq(&cp->p, q) == NULL)
			continue;
		if (cp->seen == NULL)
			cp->seen = xcalloc(cp->p.ntxq, sizeof(*cp->seen));
		if (cp->seen[q] == NULL)
			cp->seen[q] = xcalloc(CTL_CELLS, sizeof(**cp->seen));
		struct cnt_stream *now = xcalloc(n + 1, sizeof(*now));
		bool read = false;
		for (unsigned i = 0; i < LOOKS && !read; i++) {
			read = queue_streams(cp, q, now, n);
			if (!read)
				rte_pause();
		}
		if (read)
			memcpy(cp->seen[q], now, n * sizeof(*now));
		for (unsigned s = 0; s < n; s++) {
			sum[s].packets += cp->seen[q][s].packets;
			sum[s].bytes += cp->seen[q][s].bytes;
		}
		free(now);
	}
	return sum;
}

static struct stream_count count_of(const struct cnt_stream *sum, const struct stream *s)
{
	return (struct stream_count){.packets = cell_get(&sum[s->cell].packets),
				     .bytes = cell_get(&sum[s->cell].bytes)};
}

static struct stream_icmp icmp_of(const struct ctl_port *cp, const struct stream *s)
{
	struct stream_icmp sum = {0};

	EACH_WORK(w, icmp)
		w->icmp(cp, s->cell, &sum);
	return sum;
}

void stream_begins(struct ctl_port *cp, struct stream *s)
{
	struct cnt_stream sum = {0};

	/* a cell is taken again only when no worker sends a stream with it any more */
	EACH_WORK(w, old_stream)
		w->old_stream(cp, s->cell, &sum);
	s->prev = s->base = (struct stream_count){.packets = sum.packets, .bytes = sum.bytes};
	s->icmp_base = icmp_of(cp, s);
	cp->cell_new[s->cell / 64] |= 1ull << (s->cell % 64);
}

void streams_clear(struct ctl_port *cp)
{
	struct cnt_stream *sum = stream_cells(cp);

	for (unsigned i = 0; i < cp->nstreams; i++)
		if (cp->stream[i] != NULL) {
			cp->stream[i]->base = count_of(sum, cp->stream[i]);
			cp->stream[i]->icmp_base = icmp_of(cp, cp->stream[i]);
		}
	free(sum);
}

void streams_tick(struct ctl_port *cp)
{
	uint64_t now_ns = clock_raw_ns();
	double seconds = cp->streams_ns != 0 ? (double)(now_ns - cp->streams_ns) / 1e9 : 0;

	cp->streams_ns = now_ns;
	if (cp->run.id == 0)
		return;
	struct cnt_stream *sum = stream_cells(cp);
	for (unsigned i = 0; i < cp->nstreams; i++) {
		struct stream *s = cp->stream[i];
		if (s == NULL)
			continue;
		struct stream_count now = count_of(sum, s);
		if (seconds > 0)
			s->pps = (double)(now.packets - s->prev.packets) / seconds;
		s->prev = now;
	}
	free(sum);
}

/* ---- show streams ---- */

static json_t *stack_text(const struct frame_stack *stack)
{
	struct sbuf b = {0};

	frame_stack_print(stack, &b);
	json_t *text = json_string(sbuf_str(&b));
	sbuf_free(&b);
	return text;
}

static void add_name(void *names, const char *name)
{
	json_array_append_new(names, json_string(name));
}

static void add_varying(json_t *names, const struct frame_val *v)
{
	struct sbuf name = {0};

	if (v->vary == NULL || v->vary->kind == VARY_FIXED)
		return;
	frame_field_name(v->proto, v->nth, v->field, &name);
	json_array_append_new(names, json_string(sbuf_str(&name)));
	sbuf_free(&name);
}

/* The names of everything that changes from frame to frame. */
static json_t *stream_stat_varies(const struct stream_cfg *s)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < s->frame.vals.n; i++)
		add_varying(a, &s->frame.vals.val[i]);
	for (unsigned i = 0; i < s->dflt.n; i++)
		if (frame_vals_find(&s->frame.vals, s->dflt.val[i].proto, 1,
				    s->dflt.val[i].field) == NULL)
			add_varying(a, &s->dflt.val[i]);
	cfg_overlay_varies(s, add_name, a);
	if (sizes_count(&s->sizes) > 1)
		json_array_append_new(a, json_string("size"));
	if (s->frame.fill == FILL_RANDOM)
		json_array_append_new(a, json_string("payload"));
	for (unsigned i = 0; s->frame.rnd_on && i < FRAME_MAX_RND; i++)
		if (s->frame.rnd[i].on && s->frame.rnd[i].rnd != 0)
			json_array_append_new(a, json_sprintf("rnd.%u", i));
	return a;
}

/* Returns the name of the way in which the stream's frames are made now, or were made last. NULL:
 * no work has made any. */
static const char *engine_of(const struct ctl_port *cp, const struct stream *s)
{
	const char *engine = NULL;

	EACH_WORK(w, engine)
		if (engine == NULL)
			engine = w->engine(cp, s);
	return engine;
}

/* The ICMP errors about a stream's frames since the last clear. null: not all of them are known. */
static json_t *stream_stat_icmp(const struct ctl_port *cp, const struct stream *s)
{
	struct stream_icmp now = icmp_of(cp, s);
	const struct stream_icmp *base = &s->icmp_base;

	if (!now.known || now.shared != base->shared)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I}", "unreachable",
			 (json_int_t)(now.unreachable - base->unreachable), "too_big",
			 (json_int_t)(now.too_big - base->too_big), "time_exceeded",
			 (json_int_t)(now.time_exceeded - base->time_exceeded), "other",
			 (json_int_t)(now.other - base->other));
}

static json_t *one_stream(const struct ctl_port *cp, const struct stream *s,
			  const struct cnt_stream *sum, double weights)
{
	const struct stream_cfg *cfg = &s->cfg;
	struct stream_count now = count_of(sum, s);
	const char *engine = engine_of(cp, s), *carrier = ctl_stream_carrier(cfg);
	json_t *o = json_pack("{s:i, s:i, s:b, s:o, s:o, s:I, s:o, s:I, s:o, s:{s:I, s:I}, s:f}",
			      "port", (int)cp->p.id, "stream", (int)cfg->id, "enabled",
			      (int)cfg->enabled, "frame", stack_text(&cfg->frame.stack), "size",
			      value_json(&vt_sizes, &cfg->sizes), "weight", (json_int_t)cfg->weight,
			      "rate",
			      cfg->rate.set ? value_json(&vt_rate, &cfg->rate.rate) : json_null(),
			      "count", (json_int_t)cfg->count, "varies", stream_stat_varies(cfg),
			      "tx", "packets", (json_int_t)(now.packets - s->base.packets), "bytes",
			      (json_int_t)(now.bytes - s->base.bytes), "pps", s->pps);

	json_object_set_new(o, "probe", value_json(&vt_every, &cfg->frame.probe));
	json_object_set_new(o, "icmp_errors", stream_stat_icmp(cp, s));
	json_object_set_new(o, "share",
			    stream_scheduled(s) && !cfg->rate.set
				    ? json_real((double)cfg->weight / weights)
				    : json_null());
	json_object_set_new(o, "carrier", carrier != NULL ? json_string(carrier) : json_null());
	json_object_set_new(o, "engine", engine != NULL ? json_string(engine) : json_null());
	return o;
}

/* Adds the streams of a port from id `first` on to the list, at most n. Returns how many streams
 * have lower ids. */
static unsigned add_streams(struct ctl_port *cp, unsigned first, unsigned n, json_t *list)
{
	struct cnt_stream *sum = stream_cells(cp);
	double weights = 0;
	unsigned before = 0;

	for (unsigned i = 0; i < cp->nstreams; i++) {
		const struct stream *s = cp->stream[i];
		before += i < first && s != NULL;
		if (stream_scheduled(s) && !s->cfg.rate.set)
			weights += (double)s->cfg.weight;
	}
	for (unsigned i = first; i < cp->nstreams && n > 0; i++) {
		if (cp->stream[i] == NULL)
			continue;
		json_array_append_new(list, one_stream(cp, cp->stream[i], sum, weights));
		n--;
	}
	free(sum);
	return before;
}

json_t *ctl_streams_json(struct ctl *c, const struct portset *ports)
{
	json_t *a = json_array();

	for (unsigned p = 0; p < c->nports; p++)
		if (portset_has(ports, p))
			add_streams(c->port[p], 0, UINT_MAX, a);
	return json_pack("{s:s, s:o}", "show", "streams", "streams", a);
}

json_t *ctl_streams_part_json(struct ctl *c, unsigned port, unsigned first, unsigned n)
{
	struct ctl_port *cp = c->port[port];
	json_t *a = json_array();
	unsigned before = add_streams(cp, first, n, a);

	return json_pack("{s:o, s:i, s:i}", "streams", a, "total", (int)cp->total, "before",
			 (int)before);
}
