/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a stream -> the plans of its frames, one for each of its sizes; kept until the settings change. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_int.h"
#include "edit.h"
#include "frame_probe.h"
#include "held.h"

void frames_unref(struct stream_frames *f)
{
	if (f == NULL || --f->refs > 0)
		return;
	for (unsigned i = 0; i < f->nplans; i++)
		frame_plan_free(&f->plan[i]);
	free(f->plan);
	free(f->item);
	free(f);
}

void stream_plans_free(struct stream *s)
{
	frames_unref(s->frames);
	free(s->why);
	s->frames = NULL;
	s->why = NULL;
}

unsigned plan_max_size(const struct ctl_port *cp, const struct frame_stack *stack)
{
	static const struct proto *vlan, *qinq;
	unsigned tags = 0;

	if (vlan == NULL) {
		vlan = proto_find("vlan");
		qinq = proto_find("qinq");
	}
	for (unsigned i = 0; i < stack->n; i++)
		tags += stack->hdr[i] == vlan || stack->hdr[i] == qinq;
	return (unsigned)dev_mtu(cp) + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 4 * tags;
}

/* What a buffer takes: of the pools that there are, or of those that the next start makes. An interface's mtu may grow beyond both. */
static unsigned tx_room(const struct ctl_port *cp)
{
	bool remade = cp->restart && !cp->run.active;

	if (cp->started && !remade && cp->p.ntxq > 0)
		return rte_pktmbuf_data_room_size(cp->txq[0]->pool) - RTE_PKTMBUF_HEADROOM;
	return eal_data_room(dev_mtu(cp)) - RTE_PKTMBUF_HEADROOM;
}

static int fits(const struct ctl_port *cp, unsigned len, struct err *e)
{
	if (len <= tx_room(cp))
		return 0;
	return err_set(e, EINVAL, "a frame of %u bytes does not fit a buffer; set %u mtu %u", len + FRAME_FCS, cp->p.id,
		       len - RTE_ETHER_HDR_LEN);
}

/* What a stream says of its frames, with the held ranges in it where they are in use. */
struct view {
	const struct frame_spec *spec;
	const struct sizes *sizes;
	struct frame_spec own_spec;
	struct sizes own_sizes;
	bool owned;
};

static int view_open(const struct stream_cfg *cfg, struct view *v, struct err *e)
{
	v->spec = &cfg->frame;
	v->sizes = &cfg->sizes;
	v->owned = false; /* the rest stays as it is: it is large */
	if (!cfg->range_on)
		return 0;
	frame_spec_copy(&v->own_spec, &cfg->frame);
	v->own_sizes = cfg->sizes;
	v->spec = &v->own_spec;
	v->sizes = &v->own_sizes;
	v->owned = true;
	return held_apply(cfg, &v->own_spec, &v->own_sizes, e);
}

static void view_close(struct view *v)
{
	if (v->owned)
		frame_spec_free(&v->own_spec);
}

unsigned stream_nsizes(const struct stream *s)
{
	struct err e;
	struct view v;
	unsigned n = 1;

	if (!s->dirty && s->frames != NULL)
		return s->frames->nitems;
	if (view_open(&s->cfg, &v, &e) == 0)
		n = sizes_count(v.sizes);
	view_close(&v);
	return n;
}

/* What a probe has room for. */
static int may_probe(const struct ctl_port *cp, const struct frame_spec *spec, struct err *e)
{
	if (spec->probe != 0 && cp->p.id >= PROBE_PORTS)
		return err_set(e, ERANGE, "a probe names ports 0 to %d, this is port %u: set probe off", PROBE_PORTS - 1, cp->p.id);
	if (spec->probe != 0 && cp->p.ntxq > PROBE_QUEUES)
		return err_set(e, ERANGE, "a probe names Tx queues 0 to %d, port %u has %u: map fewer cores to it, or set probe off",
			       PROBE_QUEUES - 1, cp->p.id, cp->p.ntxq);
	return 0;
}

int stream_compile(const struct ctl_port *cp, const struct stream_cfg *cfg, const struct frame_spec *spec, struct frame_plan *out,
		   struct err *e)
{
	int rc = may_probe(cp, spec, e);

	if (rc == 0)
		rc = frame_compile(spec, &cfg->dflt, plan_max_size(cp, &spec->stack), out, e);
	if (rc < 0)
		return rc;
	rc = fits(cp, out->len, e);
	if (rc < 0)
		frame_plan_free(out);
	return rc;
}

/* A probe for each frame of that size, whatever the stream says of probes; frames keep the length that they have without. */
static int probed(const struct ctl_port *cp, const struct stream *s, const struct frame_spec *spec, struct frame_spec *one, struct err *e)
{
	struct frame_plan plain;

	one->probe = spec->probe;
	if (one->size == 0) {
		int rc = stream_compile(cp, &s->cfg, one, &plain, e);
		if (rc < 0)
			return rc;
		one->size = (uint16_t)(plain.len + FRAME_FCS);
		frame_plan_free(&plain);
	}
	one->probe = 1;
	return 0;
}

static int compile(struct ctl_port *cp, struct stream *s, struct err *e)
{
	static uint16_t size[SIZES_MAX_COUNT],
		plan_of[UINT16_MAX + 1]; /* control thread only; 1 + the plan of a size, 0 between calls */
	struct stream_frames *f = s->frames = xcalloc(1, sizeof(*f));
	struct view v;
	uint64_t bytes = 0;
	struct frame_spec one; /* shares what it points to; only its size is its own */
	int rc = view_open(&s->cfg, &v, e);

	f->refs = 1;
	if (rc == 0) {
		one = *v.spec;
		f->nitems = sizes_count(v.sizes);
		sizes_expand(v.sizes, size);
		f->item = xcalloc(f->nitems, sizeof(*f->item));
	}
	for (unsigned i = 0, cap = 0; rc == 0 && i < f->nitems; i++) {
		uint16_t *at = &plan_of[size[i]];
		if (*at == 0) {
			if (f->nplans == cap) {
				cap = cap ? 2 * cap : 1;
				f->plan = xrealloc(f->plan, cap * sizeof(*f->plan));
			}
			one.size = size[i];
			rc = cp->tell_all ? probed(cp, s, v.spec, &one, e) : 0;
			if (rc == 0)
				rc = stream_compile(cp, &s->cfg, &one, &f->plan[f->nplans], e);
			if (rc < 0)
				break;
			*at = (uint16_t)++f->nplans;
		}
		f->item[i] = *at - 1;
		bytes += f->plan[*at - 1].len + FRAME_FCS;
	}
	for (unsigned i = 0; i < f->nitems; i++)
		plan_of[size[i]] = 0;
	f->mean_size = rc == 0 ? (double)bytes / f->nitems : 0;
	view_close(&v);
	return rc;
}

static int cached(const struct stream *s, struct err *e)
{
	return s->rc < 0 ? err_set(e, -s->rc, "%s", s->why) : 0;
}

int stream_plans(struct ctl *c, struct ctl_port *cp, struct stream *s, struct err *e)
{
	unsigned max = plan_max_size(cp, &s->cfg.frame.stack), room = tx_room(cp);
	struct err why;

	if (!s->dirty && s->version != 0 && s->for_max == max && s->for_room == room && s->for_tell == cp->tell_all)
		return cached(s, e);
	stream_plans_free(s);
	s->rc = compile(cp, s, &why);
	if (s->rc < 0) {
		char name[32];
		stream_name(cp, s, name, sizeof(name));
		stream_plans_free(s);
		struct sbuf text = {0};
		sbuf_addf(&text, "%s: %s", name, why.text);
		s->why = text.s;
	}
	s->dirty = false;
	s->for_max = max;
	s->for_room = room;
	s->for_tell = cp->tell_all;
	s->version = ++c->version_seq;
	return cached(s, e);
}

void stream_name(const struct ctl_port *cp, const struct stream *s, char *out, size_t size)
{
	if (cp->total == 1 && s->cfg.id == 0)
		snprintf(out, size, "port %u", cp->p.id);
	else
		snprintf(out, size, "stream %u/%u", cp->p.id, s->cfg.id);
}

/* A field that the header has not in this message. */
static int stray_field(const struct ctl_port *cp, const struct stream *s, const struct frame_val *v, const char *nth, struct err *e)
{
	char name[32], where[24];
	uint64_t says;
	const struct field *by = frame_val_idle(&s->cfg.frame, v, &says);
	const char *p = v->proto->name;

	if (by == NULL)
		return 0;
	stream_name(cp, s, name, sizeof(name));
	snprintf(where, sizeof(where), s->cfg.id == 0 ? "%u" : "%u/%u", cp->p.id, s->cfg.id);
	return err_set(e, EINVAL, "%s: %s%s.%s is set, but %s has no such field while its %s is %llu: `set %s %s%s.%s default` takes the value "
		       "back, `set %s %s%s.%s ...` makes it another message", name, p, nth, v->field->name, p, by->name, (unsigned long long)says,
		       where, p, nth, v->field->name, where, p, nth, by->name);
}

/* A value that would silently not be sent is a mistake or a leftover: both are named. */
int stream_stray(const struct ctl_port *cp, const struct stream *s, struct err *e)
{
	const struct frame_spec *f = &s->cfg.frame;
	char name[32], where[24];

	for (unsigned i = 0; i < f->vals.n; i++) {
		const struct frame_val *v = &f->vals.val[i];
		unsigned seen = 0;
		char nth[8] = "";
		struct sbuf stack = {0};
		for (unsigned h = 0; h < f->stack.n; h++)
			seen += f->stack.hdr[h] == v->proto;
		if (v->nth > 1)
			snprintf(nth, sizeof(nth), "[%u]", v->nth);
		if (seen >= v->nth) {
			int rc = stray_field(cp, s, v, nth, e);
			if (rc < 0)
				return rc;
			continue;
		}
		if (frame_val_waits(v))
			continue;
		stream_name(cp, s, name, sizeof(name));
		snprintf(where, sizeof(where), s->cfg.id == 0 ? "%u" : "%u/%u", cp->p.id, s->cfg.id);
		frame_stack_print(&f->stack, &stack);
		err_set(e, EINVAL,
			"%s: %s%s.%s is set, but the frame is %s: `set %s %s%s.%s default` takes the value back, "
			"`set %s frame ...` with %s%s in it uses it",
			name, v->proto->name, nth, v->field->name, sbuf_str(&stack), where, v->proto->name, nth,
			v->field->name, where, v->proto->name, nth);
		sbuf_free(&stack);
		return -EINVAL;
	}
	return 0;
}
