/* SPDX-License-Identifier: BSD-3-Clause */
/* What variations add to checksums, so that a worker need not add up all bytes of each frame. */
#include "frame_compile.h"
#include "frame_layout.h"

#include <stdlib.h>
#include <string.h>

bool compile_field_bit(const struct frame *f, const struct frame_val *val, uint32_t *bit)
{
	for (unsigned i = 0; i < f->l.n; i++)
		if (f->l.h[i].proto == val->proto && f->l.h[i].nth == val->nth &&
		    val->field->bits != 0 && layout_has(&f->l, f->bytes, i, val->field)) {
			*bit = (uint32_t)layout_field(&f->l, i, val->field);
			return true;
		}
	return false;
}

void compile_sums(const struct frame *f, struct frame_recipe *p)
{
	p->nsums = (uint16_t)layout_sums(&f->l, f->bytes, NULL, 0);
	p->sum = xcalloc(p->nsums + 1u, sizeof(*p->sum));
	layout_sums(&f->l, f->bytes, p->sum, p->nsums);
	/* the check word of a probe is written with the probe */
	if (p->probe_off != 0)
		compile_drop_sum(p, 8u * p->probe_off, 16);
}

static unsigned sum_len(const struct frame_sum *s)
{
	return s->crc32c ? 4 : 2;
}

void compile_drop_sum(struct frame_recipe *p, uint32_t bit, unsigned bits)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->nsums; i++) {
		const struct frame_sum *s = &p->sum[i];
		if (bit < 8 * (s->off + sum_len(s)) && bit + bits > 8u * s->off)
			continue;
		p->sum[n++] = *s;
	}
	p->nsums = (uint16_t)n;
}

/* 2^n mod 65535: the weight of a bit n places above the lowest bit of its 16-bit word. */
static uint32_t compile_sum_power(unsigned n)
{
	return 1u << n % 16;
}

/* What a number in bits [bit, bit + n) is multiplied by when the bytes [from, to) are added up; 0:
 * it is outside, -1: it is only partly inside. */
static int32_t compile_sum_share(uint32_t bit, uint32_t n, uint32_t from, uint32_t to)
{
	uint32_t end = bit + n;

	if (end <= 8 * from || bit >= 8 * to)
		return 0;
	if (bit < 8 * from || end > 8 * to)
		return -1;
	return (int32_t)compile_sum_power(15 - (end - 1 - 8 * from) % 16);
}

static bool compile_sum_covers(const struct frame_sum *s, uint32_t bit, uint32_t n)
{
	return bit < 8u * s->to && bit + n > 8u * s->from;
}

/* The factor of a number in these bits in checksum s, apart from its effect by other checksums that
 * s covers. False: there is no such factor. */
static bool compile_sum_direct(const struct frame_sum *s, uint32_t bit, uint32_t n, uint32_t *out)
{
	int32_t a = compile_sum_share(bit, n, s->from, s->to), b = 0, d = 0;

	if (s->alen != 0) {
		b = compile_sum_share(bit, n, s->src, s->src + s->alen);
		d = compile_sum_share(bit, n, s->dst, s->dst + s->alen);
	}
	if (a < 0 || b < 0 || d < 0)
		return false;
	*out = (uint32_t)(a + b + d) % 65535;
	return true;
}

/* Adds the effect by inner checksums: one that an outer checksum covers takes part in it with its
 * negative. own: the factor without them; inner: the factors of the checksums before c. */
static uint32_t with_inner(const struct frame_recipe *p, unsigned c, uint32_t own,
			   const uint32_t *inner)
{
	const struct frame_sum *s = &p->sum[c];
	uint64_t sum = own;

	for (unsigned i = 0; i < c; i++)
		if (!p->sum[i].crc32c && compile_sum_covers(s, 8u * p->sum[i].off, 16))
			sum += (uint64_t)compile_sum_power((p->sum[i].off - s->from) % 2 * 8) *
			       (65535 - inner[i]);
	return (uint32_t)(sum % 65535);
}

/* True if all bytes that s covers may be 0. Then a sum of 0 does not tell the checksum: 0 and
 * 0xffff are the same number mod 65535, but two different fields. */
static bool may_be_zero(const struct frame_recipe *p, const struct frame_sum *s)
{
	uint8_t *b = xcalloc(1, p->len + 4u), any = 0;

	memcpy(b, p->bytes, p->len);
	for (unsigned i = 0; i < p->nvars; i++)
		bits_put(b, p->var[i].bit, p->var[i].bits, 0);
	for (unsigned i = 0; i < p->nsums; i++)
		memset(b + p->sum[i].off, 0, sum_len(&p->sum[i]));
	if (p->random_payload)
		memset(b + p->hdr_len, 0, p->len - p->hdr_len);
	for (unsigned i = s->from; i < s->to; i++)
		any |= b[i];
	for (unsigned i = 0; i < s->alen; i++)
		any |= b[s->src + i] | b[s->dst + i];
	free(b);
	return any == 0 && s->pseudo == 0;
}

/* True if variations overlap each other or the random payload. */
static bool compile_sum_overlap(const struct frame_recipe *p)
{
	uint32_t end = 0;

	for (unsigned i = 0; i < p->nvars; i++) {
		const struct frame_var *v = &p->var[i];
		if (v->bit < end || (p->random_payload && v->bit + v->bits > 8u * p->hdr_len))
			return true;
		end = v->bit + v->bits;
	}
	return false;
}

/* True if a crc covers something that changes. */
static bool crc_moves(const struct frame_recipe *p)
{
	for (unsigned c = 0; c < p->nsums; c++) {
		const struct frame_sum *s = &p->sum[c];
		if (!s->crc32c)
			continue;
		if (p->random_payload && s->to > p->hdr_len)
			return true;
		for (unsigned v = 0; v < p->nvars; v++)
			if (compile_sum_covers(s, p->var[v].bit, p->var[v].bits))
				return true;
		/* inner checksums that follow what varies */
		for (unsigned i = 0; p->nvars != 0 && i < c; i++)
			if (compile_sum_covers(s, 8u * p->sum[i].off, 8 * sum_len(&p->sum[i])))
				return true;
	}
	return false;
}

/* The factor of the sum of a random payload in checksum s. False: only a part of the payload is
 * covered. */
static bool pay_share(const struct frame_recipe *p, const struct frame_sum *s, uint32_t *out)
{
	*out = 0;
	if (!p->random_payload || s->to <= p->hdr_len)
		return true;
	*out = compile_sum_power((p->hdr_len - s->from) % 2 * 8);
	return s->to == p->len && s->from <= p->hdr_len;
}

void compile_coef(struct frame_recipe *p)
{
	p->coef = xcalloc((size_t)p->nsums * p->nvars + 1, sizeof(*p->coef));
	p->pay_coef = xcalloc(p->nsums + 1u, sizeof(*p->pay_coef));
	p->linear = !compile_sum_overlap(p) && !crc_moves(p);
	uint32_t *inner = xcalloc(p->nsums + 1u, sizeof(*inner));
	for (unsigned v = 0; v <= p->nvars; v++)
		for (unsigned c = 0; c < p->nsums; c++) {
			const struct frame_sum *s = &p->sum[c];
			uint32_t own = 0;
			inner[c] = 0;
			if (s->crc32c)
				continue;
			if (!(v < p->nvars
				      ? compile_sum_direct(s, p->var[v].bit, p->var[v].bits, &own)
				      : pay_share(p, s, &own)))
				p->linear = false;
			inner[c] = with_inner(p, c, own, inner);
			if (v < p->nvars)
				p->coef[c * p->nvars + v] = (uint16_t)inner[c];
			else
				p->pay_coef[c] = (uint16_t)inner[c];
		}
	free(inner);
	for (unsigned c = 0; c < p->nsums; c++)
		if (may_be_zero(p, &p->sum[c]))
			p->linear = false;
}

/* True if the user has set a field of header i that a driver relies on. */
static bool set_by_user(const struct frame *frame, unsigned i)
{
	static const enum field_role roles[] = {ROLE_LEN,  ROLE_HLEN, ROLE_VERSION,
						ROLE_NEXT, ROLE_FRAG, ROLE_MORE};

	const struct field *fields = frame->l.h[i].proto->fields;

	for (const struct field *f = fields; f->name != NULL; f++)
		for (unsigned r = 0; r < ARRAY_SIZE(roles); r++)
			if (f->role == roles[r] && (frame->l.h[i].set >> (f - fields) & 1) != 0)
				return true;
	return false;
}

/* Only frames that every driver understands: with the right lengths and protocol numbers in their
 * headers, without IP options or fragments, and with nothing above UDP or TCP. */
void compile_offload(const struct frame_spec *spec, const struct frame *f, struct frame_recipe *p)
{
	const struct frame_stack *s = &spec->stack;
	unsigned i = 1;

	if (spec->rnd_on || s->n < 3 || strcmp(s->hdr[0]->name, "eth") != 0)
		return;
	while (i < s->n &&
	       (strcmp(s->hdr[i]->name, "vlan") == 0 || strcmp(s->hdr[i]->name, "qinq") == 0))
		i++;
	if (i + 1 >= s->n || (i + 2 < s->n && !s->hdr[i + 2]->is_payload) || i + 3 < s->n)
		return;
	const char *ip = s->hdr[i]->name, *l4 = s->hdr[i + 1]->name;
	bool ip4 = strcmp(ip, "ipv4") == 0, ip6 = strcmp(ip, "ipv6") == 0;
	bool udp = strcmp(l4, "udp") == 0, tcp = strcmp(l4, "tcp") == 0;
	if (!(ip4 || ip6) || !(udp || tcp) || p->nsums != (ip4 ? 2 : 1) || set_by_user(f, i) ||
	    set_by_user(f, i + 1) || f->l.h[i].nsections != 0)
		return;
	p->offload = true;
	p->offload_ip4 = ip4;
	p->offload_ip6 = ip6;
	p->offload_udp = udp;
	p->offload_tcp = tcp;
	p->l2_len = f->off[i];
	p->l3_len = (uint16_t)(f->off[i + 1] - f->off[i]);
	p->l4_len = (uint16_t)((p->probe_off != 0 ? p->probe_off : p->hdr_len) - f->off[i + 1]);
}
