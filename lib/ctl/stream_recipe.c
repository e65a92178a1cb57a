/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles the settings of a stream into its frames, one struct frame_recipe for each different
 * size. The recipes are kept until the settings change. This file also refuses values that are set
 * and would not be sent. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_int.h"
#include "frame_edit.h"
#include "frame_probe.h"

struct stream_frames *frames_ref(struct stream_frames *f)
{
	if (f != NULL)
		f->refs++;
	return f;
}

void frames_unref(struct stream_frames *f)
{
	if (f == NULL || --f->refs > 0)
		return;
	for (unsigned i = 0; i < f->nrecipes; i++)
		frame_recipe_free(&f->recipe[i]);
	free(f->recipe);
	free(f->item);
	free(f);
}

void stream_recipes_free(struct stream *s)
{
	frames_unref(s->frames);
	free(s->why);
	s->frames = NULL;
	s->why = NULL;
}

unsigned recipe_max_size(const struct ctl_port *cp, const struct frame_stack *stack)
{
	static const struct proto *vlan, *qinq;
	unsigned tags = 0;

	if (vlan == NULL) {
		vlan = proto_find("vlan");
		qinq = proto_find("qinq");
	}
	for (unsigned i = 0; i < stack->n; i++)
		tags += stack->hdr[i] == vlan || stack->hdr[i] == qinq;
	return (unsigned)ctl_mtu(cp) + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 4 * tags;
}

/* Returns the longest frame, without FCS, that fits a buffer of the port's pools. If the device is
 * to be set up anew, these are the pools that the next start makes. The mtu of an interface may
 * grow beyond them. */
static unsigned tx_room(const struct ctl_port *cp)
{
	bool remade = cp->restart && !cp->run.active;

	if (ctl_port_runs(cp) && !remade && cp->p.ntxq > 0)
		return rte_pktmbuf_data_room_size(port_txq(&cp->p, 0)->pool) - RTE_PKTMBUF_HEADROOM;
	return eal_data_room(ctl_mtu(cp)) - RTE_PKTMBUF_HEADROOM;
}

static int stream_recipe_fits(const struct ctl_port *cp, unsigned len, struct err *e)
{
	if (len <= tx_room(cp))
		return 0;
	return err_set(e, EINVAL, "a frame of %u bytes does not fit a buffer; set %u mtu %u",
		       len + FRAME_FCS, cp->p.id, len - RTE_ETHER_HDR_LEN);
}

/* What a stream's settings say of its frames: spec and sizes point to the settings themselves, or,
 * if an overlay is in use, to a copy that it has changed (own_*). */
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
	v->owned = false; /* own_* are left as they are: they are large */
	if (!cfg->overlay_on)
		return 0;
	frame_spec_copy(&v->own_spec, &cfg->frame);
	v->own_sizes = cfg->sizes;
	v->spec = &v->own_spec;
	v->sizes = &v->own_sizes;
	v->owned = true;
	return cfg_overlay_apply(cfg, &v->own_spec, &v->own_sizes, e);
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

/* Refuses probes on a port whose number, or whose number of Tx queues, does not fit a probe. */
static int may_probe(const struct ctl_port *cp, const struct frame_spec *spec, struct err *e)
{
	if (spec->probe != 0 && cp->p.id >= PROBE_PORTS)
		return err_set(e, ERANGE,
			       "a probe names ports 0 to %d, this is port %u: set probe off",
			       PROBE_PORTS - 1, cp->p.id);
	if (spec->probe != 0 && cp->p.ntxq > PROBE_QUEUES)
		return err_set(
			e, ERANGE,
			"a probe names Tx queues 0 to %d, port %u has %u: map fewer cores to it, or set probe off",
			PROBE_QUEUES - 1, cp->p.id, cp->p.ntxq);
	return 0;
}

int stream_compile(const struct ctl_port *cp, const struct stream_cfg *cfg,
		   const struct frame_spec *spec, struct frame_recipe *out, struct err *e)
{
	int rc = may_probe(cp, spec, e);

	if (rc == 0)
		rc = frame_compile(spec, &cfg->dflt, recipe_max_size(cp, &spec->stack), out, e);
	if (rc < 0)
		return rc;
	rc = stream_recipe_fits(cp, out->len, e);
	if (rc < 0)
		frame_recipe_free(out);
	return rc;
}

/* Changes *one so that each of its frames has a probe, whatever the stream's settings (spec) say of
 * probes. If it has no size, it gets the one that the frame has without tell_all. */
static int stream_recipe_probed(const struct ctl_port *cp, const struct stream *s,
				const struct frame_spec *spec, struct frame_spec *one,
				struct err *e)
{
	struct frame_recipe plain;

	one->probe = spec->probe;
	if (one->size == 0) {
		int rc = stream_compile(cp, &s->cfg, one, &plain, e);
		if (rc < 0)
			return rc;
		one->size = (uint16_t)(plain.len + FRAME_FCS);
		frame_recipe_free(&plain);
	}
	one->probe = 1;
	return 0;
}

/* Makes s->frames. After a failure the caller frees what was made of it. */
static int stream_recipe_compile(struct ctl_port *cp, struct stream *s, struct err *e)
{
	/* Both are static because they are large, and control is one thread. recipe_of: 1 + the
	 * index of the recipe for a size; all are 0 between calls. */
	static uint16_t size[SIZES_MAX_COUNT], recipe_of[UINT16_MAX + 1];
	struct stream_frames *f = s->frames = xcalloc(1, sizeof(*f));
	struct view v;
	uint64_t bytes = 0;
	struct frame_spec one; /* shares what it points to; only its size and probe are its own */
	int rc = view_open(&s->cfg, &v, e);

	f->refs = 1;
	if (rc == 0) {
		one = *v.spec;
		f->nitems = sizes_count(v.sizes);
		sizes_expand(v.sizes, size);
		f->item = xcalloc(f->nitems, sizeof(*f->item));
	}
	for (unsigned i = 0, cap = 0; rc == 0 && i < f->nitems; i++) {
		uint16_t *at = &recipe_of[size[i]];
		if (*at == 0) {
			if (f->nrecipes == cap) {
				cap = cap ? 2 * cap : 1;
				f->recipe = xrealloc(f->recipe, cap * sizeof(*f->recipe));
			}
			one.size = size[i];
			rc = cp->tell_all ? stream_recipe_probed(cp, s, v.spec, &one, e) : 0;
			if (rc == 0)
				rc = stream_compile(cp, &s->cfg, &one, &f->recipe[f->nrecipes], e);
			if (rc < 0)
				break;
			*at = (uint16_t)++f->nrecipes;
		}
		f->item[i] = *at - 1;
		bytes += f->recipe[*at - 1].len + FRAME_FCS;
	}
	for (unsigned i = 0; i < f->nitems; i++)
		recipe_of[size[i]] = 0;
	f->mean_size = rc == 0 ? (double)bytes / f->nitems : 0;
	view_close(&v);
	return rc;
}

static int stream_recipe_cached(const struct stream *s, struct err *e)
{
	return s->rc < 0 ? err_set(e, -s->rc, "%s", s->why) : 0;
}

int stream_recipes(struct ctl *c, struct ctl_port *cp, struct stream *s, struct err *e)
{
	unsigned max = recipe_max_size(cp, &s->cfg.frame.stack), room = tx_room(cp);
	struct err why;

	if (!s->dirty && s->version != 0 && s->for_max == max && s->for_room == room &&
	    s->for_tell == cp->tell_all)
		return stream_recipe_cached(s, e);
	stream_recipes_free(s);
	s->rc = stream_recipe_compile(cp, s, &why);
	if (s->rc < 0) {
		char name[32];
		stream_name(cp, s, name, sizeof(name));
		stream_recipes_free(s);
		struct sbuf text = {0};
		sbuf_addf(&text, "%s: %s", name, why.text);
		s->why = text.s;
	}
	s->dirty = false;
	s->for_max = max;
	s->for_room = room;
	s->for_tell = cp->tell_all;
	s->version = ++c->version_seq;
	return stream_recipe_cached(s, e);
}

void stream_name(const struct ctl_port *cp, const struct stream *s, char *out, size_t size)
{
	if (cp->total == 1 && s->cfg.id == 0)
		snprintf(out, size, "port %u", cp->p.id);
	else
		snprintf(out, size, "stream %u/%u", cp->p.id, s->cfg.id);
}

/* Refuses a value of a field that its header does not have in this kind of message (an ICMP type,
 * for example). */
static int stray_field(const struct ctl_port *cp, const struct stream *s, const struct frame_val *v,
		       const char *nth, struct err *e)
{
	char name[32], where[24];
	uint64_t says;
	const struct field *by = frame_val_idle(&s->cfg.frame, v, &says);
	const char *p = v->proto->name;

	if (by == NULL)
		return 0;
	stream_name(cp, s, name, sizeof(name));
	snprintf(where, sizeof(where), s->cfg.id == 0 ? "%u" : "%u/%u", cp->p.id, s->cfg.id);
	return err_set(
		e, EINVAL,
		"%s: %s%s.%s is set, but %s has no such field while its %s is %llu: `set %s %s%s.%s default` takes the value "
		"back, `set %s %s%s.%s ...` makes it another message",
		name, p, nth, v->field->name, p, by->name, (unsigned long long)says, where, p, nth,
		v->field->name, where, p, nth, by->name);
}

static int stray_reply(const struct ctl_port *cp, const struct stream *s, const struct frame_val *v,
		       struct err *e)
{
	struct sbuf field = {0}, stack = {0};
	char name[32];

	stream_name(cp, s, name, sizeof(name));
	frame_field_name(v->proto, v->nth, v->field, &field);
	frame_stack_print(&s->cfg.frame.stack, &stack);
	if (!ctl_stream_carried(&s->cfg))
		err_set(e, EINVAL,
			"%s: %s is set, but its frames have no answers: `set %u/%u %s default` takes the value back, `set %u/%u flow client` makes "
			"connections of them",
			name, sbuf_str(&field), cp->p.id, s->cfg.id, sbuf_str(&field), cp->p.id,
			s->cfg.id);
	else
		err_set(e, EINVAL,
			"%s: %s is set, but the frame is %s: `set %u/%u %s default` takes the value back",
			name, sbuf_str(&field), sbuf_str(&stack), cp->p.id, s->cfg.id,
			sbuf_str(&field));
	sbuf_free(&field);
	sbuf_free(&stack);
	return -EINVAL;
}

/* Refuses a stream with a value that would silently not be sent, since that is a mistake or a
 * leftover. e names the value and what to do. */
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
		bool reply = v->nth > FRAME_REPLY, there = seen + (unsigned)FRAME_REPLY >= v->nth;
		if (reply && there && ctl_stream_carried(&s->cfg))
			continue; /* a flow judges it */
		if (reply && (there || !frame_val_waits(v)))
			return stray_reply(cp, s, v, e);
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
		snprintf(where, sizeof(where), s->cfg.id == 0 ? "%u" : "%u/%u", cp->p.id,
			 s->cfg.id);
		frame_stack_print(&f->stack, &stack);
		err_set(e, EINVAL,
			"%s: %s%s.%s is set, but the frame is %s: `set %s %s%s.%s default` takes the value back, "
			"`set %s frame ...` with %s%s in it uses it",
			name, v->proto->name, nth, v->field->name, sbuf_str(&stack), where,
			v->proto->name, nth, v->field->name, where, v->proto->name, nth);
		sbuf_free(&stack);
		return -EINVAL;
	}
	return 0;
}

uint64_t ctl_mtu(const struct ctl_port *cp)
{
	if (cp->restart && !cp->run.active && cp->cfg.mtu != cp->p.applied.mtu)
		return cp->cfg.mtu; /* from the next start on */
	return port_mtu(&cp->p);
}

void streams_tell_all(struct ctl_port *cp, bool on)
{
	cp->tell_all = on;
}
