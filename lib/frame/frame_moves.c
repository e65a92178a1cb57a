/* SPDX-License-Identifier: BSD-3-Clause */
/* Which bits of a frame differ from one frame to the next, for `show frame`. */
#include "frame_layout.h"
#include "frame_probe.h"

#include <stdlib.h>
#include <string.h>

/* All bits up to the highest one of `differ`. */
static vary_u moves_below(vary_u differ)
{
	while ((differ & (differ + 1)) != 0)
		differ |= differ >> 1;
	return differ;
}

/* Bits of a range that never change: those below the lowest bit of the step, unless the first value
 * has others there than the values of later laps. */
static vary_u moves_still(const struct vary *v)
{
	vary_u low = (v->step & -v->step) - 1, off = v->down ? v->hi - v->first : v->first - v->lo;

	return (off & low) == 0 ? low : 0;
}

/* The bits that differ between the values of a variation. */
static vary_u bits_of(const struct vary *v)
{
	struct vary each = *v;
	vary_u differ = 0;

	each.div = 1;
	if (vary_period(&each) == 1)
		return 0;
	switch (v->kind) {
	case VARY_RANGE:
		return moves_below(v->lo ^ v->hi) & ~moves_still(v);
	case VARY_RANDOM:
		return moves_below(v->lo ^ v->hi);
	case VARY_LIST:
		for (unsigned i = 0; i < v->n; i++)
			differ |= v->list[i] ^ v->list[0];
		return differ;
	case VARY_MASK:
		return v->mask;
	default:
		return 0;
	}
}

static void moves_mark(uint8_t *mask, uint32_t bit)
{
	mask[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
}

static bool moves_marked(const uint8_t *mask, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (mask[i / 8] >> (7 - i % 8) & 1)
			return true;
	return false;
}

static unsigned sum_bytes(const struct frame_sum *s)
{
	return s->crc32c ? 4 : 2;
}

static bool sum_sees(const struct frame_sum *s, const uint8_t *mask)
{
	return moves_marked(mask, 8u * s->from, 8u * s->to) ||
	       moves_marked(mask, 8u * s->src, 8u * (s->src + s->alen)) ||
	       moves_marked(mask, 8u * s->dst, 8u * (s->dst + s->alen));
}

/* True if checksum c changes from frame to frame. The effect of a checksum that c covers is in the
 * coefficients of the recipe, if these hold. */
static bool sum_follows(const struct frame_recipe *p, unsigned c, const uint8_t *varies,
			const uint8_t *follows)
{
	if (!p->linear)
		return sum_sees(&p->sum[c], varies) || sum_sees(&p->sum[c], follows);
	for (unsigned v = 0; v < p->nvars; v++)
		if (p->coef[c * p->nvars + v] != 0 && bits_of(&p->var[v].v) != 0)
			return true;
	return p->random_payload && p->pay_coef[c] != 0;
}

void frame_moves(const struct frame_recipe *recipe, uint8_t *varies, uint8_t *follows)
{
	for (unsigned i = 0; i < recipe->nvars; i++) {
		const struct frame_var *v = &recipe->var[i];
		vary_u bits = bits_of(&v->v);
		for (unsigned b = 0; b < v->bits; b++)
			if (bits >> (v->bits - 1u - b) & 1)
				moves_mark(varies, v->bit + b);
	}
	if (recipe->probe_off != 0) {
		memset(follows + recipe->probe_off, 0xff, 2);
		memset(varies + recipe->probe_off + 2, 0xff, PROBE_LEN - 2);
	}
	if (recipe->random_payload)
		memset(varies + recipe->hdr_len, 0xff, recipe->len - recipe->hdr_len);
	for (unsigned c = 0; c < recipe->nsums; c++)
		if (sum_follows(recipe, c, varies, follows))
			memset(follows + recipe->sum[c].off, 0xff, sum_bytes(&recipe->sum[c]));
}

static bool field_marked(const struct frame *f, unsigned i, const struct field *field,
			 const uint8_t *mask)
{
	if (!layout_has(&f->l, f->bytes, i, field))
		return false;
	int bit = layout_field(&f->l, i, field);
	unsigned bits =
		field->kind == FIELD_BYTES ? 8 * layout_bytes_len(&f->l, i, field) : field->bits;
	return bit >= 0 && moves_marked(mask, (uint32_t)bit, (uint32_t)bit + bits);
}

json_t *frame_mask_names(const struct frame *f, const uint8_t *mask)
{
	json_t *names = json_array();
	struct sbuf name = {0};

	for (unsigned i = 0; i < f->l.n; i++) {
		const struct proto *p = f->l.h[i].proto;
		for (const struct field *field = p->fields; field->name != NULL; field++) {
			if (!field_marked(f, i, field, mask))
				continue;
			sbuf_reset(&name);
			frame_field_name(p, f->l.h[i].nth, field, &name);
			json_array_append_new(names, json_string(sbuf_str(&name)));
		}
	}
	if (moves_marked(mask, 8 * f->l.tail, 8u * f->len))
		json_array_append_new(names, json_string("payload"));
	sbuf_free(&name);
	return names;
}

json_t *frame_mask_bytes(const struct frame *f, const uint8_t *mask)
{
	json_t *runs = json_array();

	for (unsigned i = 0, n; i < f->len; i += n) {
		for (n = 0; i + n < f->len && mask[i + n] != 0;)
			n++;
		if (n != 0)
			json_array_append_new(runs, json_pack("[i, i]", (int)i, (int)n));
		else
			n = 1;
	}
	return runs;
}
