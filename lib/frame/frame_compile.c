/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_compile(): a spec becomes a recipe. The template is built with the values of ordinal 0, and
 * the fields and random bits that vary are noted beside it. */
#include "frame_compile.h"
#include "frame_probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A recipe while it is made. */
struct compile {
	const struct frame_spec *spec;
	struct frame_recipe *out;
	struct frame frame;
	unsigned cap; /* of out->var */
};

static uint64_t name_hash(const char *text)
{
	uint64_t h = fnv1a(FNV_BASIS, text, strlen(text));

	return h != 0 ? h : 1;
}

static void field_name(const struct proto *p, unsigned nth, const struct field *f, struct sbuf *out)
{
	sbuf_reset(out);
	frame_field_name(p, nth, f, out);
}

static struct frame_var *add_var(struct compile *c, uint32_t bit, unsigned bits,
				 const struct vary *v, const char *name)
{
	struct frame_recipe *p = c->out;

	if (p->nvars == c->cap) {
		c->cap = c->cap != 0 ? 2 * c->cap : 8;
		p->var = xrealloc(p->var, c->cap * sizeof(*p->var));
	}
	struct frame_var *var = &p->var[p->nvars++];
	*var = (struct frame_var){.bit = bit, .bits = (uint16_t)bits, .v = *v};
	var->v.bits = (uint8_t)bits;
	if (var->v.seed == 0 && (v->kind == VARY_RANDOM || v->kind == VARY_MASK))
		var->v.seed = name_hash(name);
	if (v->kind == VARY_LIST) {
		vary_u *list = xcalloc(v->n, sizeof(*list));
		memcpy(list, v->list, v->n * sizeof(*list));
		var->v.list = list;
	}
	return var;
}

/* The number of frames between two steps of the digit that val is in: the product of the numbers of
 * values of all digits before it. 1 if it is in no digit. */
static int nest_div(const struct frame_spec *spec, const struct frame_val *val, uint64_t *div,
		    struct err *e)
{
	uint64_t before = 1, period = 1;

	*div = 1;
	if (val->lead.field != NULL)
		val = frame_vals_find(&spec->vals, val->lead.proto, 1, val->lead.field);
	for (unsigned i = 0; i < spec->nest.n; i++) {
		const struct frame_val *first =
			frame_vals_find(&spec->vals, spec->nest.at[i].proto, spec->nest.at[i].nth,
					spec->nest.at[i].field);
		if (i == 0 || !spec->nest.at[i].same_digit) {
			before = period > INT64_MAX / before ? INT64_MAX : before * period;
			period = 1;
			if (first != NULL && first->vary != NULL) {
				struct vary v = *first->vary;
				v.div = 1;
				period = vary_period(&v);
			}
		}
		if (first == val)
			*div = before;
		bool last = i + 1 == spec->nest.n;
		if (period != 0 || last)
			continue;
		struct sbuf name = {0};
		field_name(spec->nest.at[i].proto, spec->nest.at[i].nth, spec->nest.at[i].field,
			   &name);
		int rc = err_set(
			e, EINVAL,
			"%s has no end, so the fields nested behind it would never change: make it a range or a list, "
			"random with repeat, or the last of nest",
			sbuf_str(&name));
		sbuf_free(&name);
		return rc;
	}
	return 0;
}

static int lacks_header(const struct frame_spec *spec, const char *name, struct err *e)
{
	struct sbuf stack = {0};

	frame_stack_print(&spec->stack, &stack);
	int rc = err_set(
		e, EINVAL,
		"%s varies, but the frame %s has no such field: `set <ports> %s default` takes the value back, "
		"`set <ports> frame ...` gives another frame",
		name, sbuf_str(&stack), name);
	sbuf_free(&stack);
	return rc;
}

static int settle_one(const struct compile *c, const struct frame_val *val, struct frame_vals *vals,
		      struct err *e)
{
	struct sbuf name = {0};
	struct vary v = *val->vary;
	uint64_t div;
	int rc = nest_div(c->spec, val, &div, e);

	field_name(val->proto, val->nth, val->field, &name);
	if (v.seed == 0)
		v.seed = name_hash(sbuf_str(&name));
	v.div = div * (v.div > 1 ? v.div : 1);
	if (rc == 0)
		frame_vals_vary(vals, val->proto, val->nth, val->field, &v);
	sbuf_free(&name);
	return rc;
}

/* Whether a default of the port holds: the frame has the header, and the spec has no value of its
 * own. */
static bool dflt_holds(const struct frame_spec *spec, const struct frame_val *dflt)
{
	unsigned i = 0;

	while (i < spec->stack.n && spec->stack.hdr[i] != dflt->proto)
		i++;
	return i < spec->stack.n && dflt->nth == 1 &&
	       frame_vals_find(&spec->vals, dflt->proto, 1, dflt->field) == NULL;
}

/* Settles seeds and nesting of the variations of fields before the template is built, so that it
 * gets their values of ordinal 0. */
static int compile_settle(struct compile *c, const struct frame_vals *dflt, struct frame_vals *vals,
			  struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < c->spec->vals.n; i++)
		if (c->spec->vals.val[i].vary != NULL && c->spec->vals.val[i].nth <= FRAME_REPLY)
			rc = settle_one(c, &c->spec->vals.val[i], vals, e);
	for (unsigned i = 0; rc == 0 && dflt != NULL && i < dflt->n; i++)
		if (dflt->val[i].vary != NULL && dflt_holds(c->spec, &dflt->val[i]))
			rc = settle_one(c, &dflt->val[i], vals, e);
	return rc;
}

static int add_fields(struct compile *c, const struct frame_vals *vals, struct err *e)
{
	struct sbuf name = {0};
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < vals->n; i++) {
		const struct frame_val *val = &vals->val[i];
		uint32_t bit;
		if (val->vary == NULL || val->nth > FRAME_REPLY)
			continue;
		field_name(val->proto, val->nth, val->field, &name);
		if (!compile_field_bit(&c->frame, val, &bit)) {
			rc = lacks_header(c->spec, sbuf_str(&name), e);
			break;
		}
		struct frame_var *var =
			add_var(c, bit, val->field->bits, val->vary, sbuf_str(&name));
		var->id = name_hash(sbuf_str(&name)) ^ vary_hash(&var->v);
	}
	sbuf_free(&name);
	return rc;
}

/* True if a field that varies, a checksum, what a checksum covers, or an entry of rnd begins or
 * ends at this bit. */
static bool compile_border(const struct compile *c, unsigned nfields, uint32_t bit)
{
	const struct frame_recipe *p = c->out;

	for (unsigned i = 0; i < nfields; i++)
		if (bit == p->var[i].bit || bit == p->var[i].bit + p->var[i].bits)
			return true;
	for (unsigned i = 0; i < p->nsums; i++) {
		const struct frame_sum *s = &p->sum[i];
		uint32_t at[] = {s->off,  s->off + (s->crc32c ? 4u : 2u),
				 s->from, s->to,
				 s->src,  s->src + s->alen,
				 s->dst,  s->dst + s->alen};
		for (unsigned j = 0; j < ARRAY_SIZE(at); j++)
			if (bit == 8 * at[j])
				return true;
	}
	for (unsigned i = 0; i < FRAME_MAX_RND; i++) {
		const struct frame_rnd *r = &c->spec->rnd[i];
		if (r->on && (bit == 8u * r->off || bit == 8u * r->off + r->nbits))
			return true;
	}
	return false;
}

/* Adds the random bits of entry i of rnd. They are one variation if they lie in one piece of the
 * frame, else one for each run of bits within a piece. */
static void add_rnd(struct compile *c, unsigned nfields, unsigned i)
{
	const struct frame_rnd *r = &c->spec->rnd[i];
	uint32_t mask = r->rnd >> (32 - r->nbits), base = 8u * r->off, run = 0;
	struct vary v = {.kind = VARY_MASK, .div = 1};
	bool parts = false;
	char name[24];

	if (mask == 0)
		return;
	unsigned low = (unsigned)__builtin_ctz(mask),
		 first = r->nbits - 32 + (unsigned)__builtin_clz(mask), end = r->nbits - low;
	for (uint32_t b = first; b < end; b++)
		parts |= b > first && compile_border(c, nfields, base + b);
	for (uint32_t b = first; parts && b < end; b++) {
		bool on = mask >> (r->nbits - 1 - b) & 1,
		     next = b + 1 < end && (mask >> (r->nbits - 2 - b) & 1);
		run = on ? run + 1 : 0;
		if (run == 0 || (next && !compile_border(c, nfields, base + b + 1)))
			continue;
		snprintf(name, sizeof(name), "rnd[%u]+%u", i, b + 1 - run);
		v.mask = ((vary_u)1 << run) - 1;
		struct frame_var *var = add_var(c, base + b + 1 - run, run, &v, name);
		var->id = name_hash(name) ^ vary_hash(&var->v) ^ var->bit;
		run = 0;
	}
	if (parts)
		return;
	snprintf(name, sizeof(name), "rnd[%u]", i);
	v.mask = mask >> low;
	v.first = bits_get(c->frame.bytes, base + first, end - first) & ~v.mask;
	struct frame_var *var = add_var(c, base + first, end - first, &v, name);
	var->id = name_hash(name) ^ vary_hash(&var->v) ^ var->bit;
}

static int rnd_check(const struct frame_rnd *r, unsigned i, unsigned len, unsigned probe,
		     struct err *e)
{
	if (r->nbits >= 1 && r->nbits <= 32 && 8u * r->off + r->nbits <= 8u * len) {
		if (probe == 0 || r->off >= probe + PROBE_LEN ||
		    8u * r->off + r->nbits <= 8u * probe)
			return 0;
		return err_set(
			e, EINVAL,
			"random bits %u lie in the probe, bytes %u to %u of the frame: choose another offset, or set probe off",
			i, probe, probe + PROBE_LEN - 1);
	}
	return err_set(
		e, EINVAL,
		"random bits %u begin at byte %u and are %u, but the frame has %u bytes without FCS: choose an offset "
		"within it, or a larger size",
		i, r->off, r->nbits, len);
}

/* Sets and clears bits of the template, and drops checksums whose own bits change: these are as the
 * user wants them. */
static int apply_rnd(struct compile *c, struct err *e)
{
	struct frame_recipe *p = c->out;

	for (unsigned i = 0; i < FRAME_MAX_RND; i++) {
		const struct frame_rnd *r = &c->spec->rnd[i];
		if (!r->on)
			continue;
		int rc = rnd_check(r, i, c->frame.len, p->probe_off, e);
		if (rc != 0)
			return rc;
		for (unsigned b = 0; b < r->nbits; b++) {
			uint32_t bit = 8u * r->off + b;
			if (r->one >> (31 - b) & 1)
				bits_put(c->frame.bytes, bit, 1, 1);
			else if (r->zero >> (31 - b) & 1)
				bits_put(c->frame.bytes, bit, 1, 0);
			else if (!(r->rnd >> (31 - b) & 1))
				continue;
			compile_drop_sum(p, bit, 1);
		}
	}
	return 0;
}

static int by_bit(const void *a, const void *b)
{
	const struct frame_var *x = a, *y = b;

	return x->bit != y->bit ? (x->bit < y->bit ? -1 : 1)
				: (y->bits < x->bits ? -1 : y->bits > x->bits);
}

static int add_all_rnd(struct compile *c, struct err *e)
{
	unsigned nfields = c->out->nvars;

	if (!c->spec->rnd_on)
		return 0;
	int rc = apply_rnd(c, e);
	for (unsigned i = 0; rc == 0 && i < FRAME_MAX_RND; i++)
		if (c->spec->rnd[i].on)
			add_rnd(c, nfields, i);
	return rc;
}

/* Makes the template: the frame of ordinal 0, checksums included. */
static void make_template(struct compile *c)
{
	struct frame_recipe *p = c->out;

	p->len = c->frame.len;
	p->bytes = xcalloc(1, p->len + 4u);
	memcpy(p->bytes, c->frame.bytes, p->len);
	uint8_t *at0 = xcalloc(1, p->len + 4u);
	frame_recipe_at(p, 0, at0);
	free(p->bytes);
	p->bytes = at0;
}

int frame_compile(const struct frame_spec *spec, const struct frame_vals *dflt, unsigned max_size,
		  struct frame_recipe *out, struct err *e)
{
	struct compile *c = xcalloc(1, sizeof(*c));
	struct frame_spec settled = *spec;

	*out = (struct frame_recipe){0};
	c->spec = spec;
	c->out = out;
	settled.vals = (struct frame_vals){0};
	frame_vals_copy(&settled.vals, &spec->vals);
	int rc = compile_settle(c, dflt, &settled.vals, e);
	if (rc == 0)
		rc = frame_build(&settled, dflt, max_size, &c->frame, e);
	if (rc == 0) {
		out->hdr_len = (uint16_t)c->frame.l.tail;
		out->random_payload = spec->fill == FILL_RANDOM && out->hdr_len < c->frame.len;
		out->fill_seed = spec->fill_seed;
		out->probe_every = spec->probe;
		out->probe_off = (uint16_t)(spec->probe != 0 ? out->hdr_len - PROBE_LEN : 0);
		compile_sums(&c->frame, out);
		rc = add_fields(c, &settled.vals, e);
	}
	if (rc == 0)
		rc = add_all_rnd(c, e);
	if (rc == 0) {
		for (unsigned i = 0; i < out->nvars; i++)
			compile_drop_sum(out, out->var[i].bit, out->var[i].bits);
		if (out->nvars > 1)
			qsort(out->var, out->nvars, sizeof(*out->var), by_bit);
		make_template(c);
		compile_coef(out);
		compile_offload(&settled, &c->frame, out);
	} else {
		frame_recipe_free(out);
	}
	frame_vals_free(&settled.vals);
	free(c);
	return rc;
}

void frame_recipe_free(struct frame_recipe *p)
{
	for (unsigned i = 0; i < p->nvars; i++)
		free((void *)(uintptr_t)p->var[i].v.list);
	free(p->bytes);
	free(p->var);
	free(p->sum);
	free(p->coef);
	free(p->pay_coef);
	*p = (struct frame_recipe){0};
}
