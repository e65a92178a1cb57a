/* SPDX-License-Identifier: BSD-3-Clause */
/* What each checksum of a frame covers. */
#include "frame_layout.h"
#include "run_bits.h"

#include <stdlib.h>
#include <string.h>

#define IP6_BYTES 16

/* Where the final destination is, which the checksum takes if there is a routing header (RFC 8200
 * 8.1): the last address of a source route, the first of a segment list (RFC 8754 2), the home
 * address (RFC 6275 6.4). 0: there is none, or the packet has arrived already. */
static unsigned final_dst(const struct layout *l, const uint8_t *bytes, unsigned i)
{
	const struct proto *p = l->h[i].proto;
	const struct field *left = proto_field(p, "segleft"), *type = proto_field(p, "type"),
			   *addrs = proto_field(p, "addrs");

	if (left == NULL || type == NULL || addrs == NULL || layout_field(l, i, addrs) < 0 ||
	    layout_get_u64(l, bytes, i, left) == 0)
		return 0;
	unsigned at = (unsigned)layout_field(l, i, addrs) / 8,
		 n = layout_bytes_len(l, i, addrs) / IP6_BYTES;
	if (n == 0)
		return 0;
	return layout_get_u64(l, bytes, i, type) == 4 ? at : at + (n - 1) * IP6_BYTES;
}

/* Where the home address is that stands for the source (RFC 6275 9.3.1); 0: there is none. */
static unsigned final_src(const struct layout *l, unsigned i)
{
	const struct field *home = proto_field(l->h[i].proto, "homeaddr");

	return home != NULL && layout_field(l, i, home) >= 0
		       ? (unsigned)layout_field(l, i, home) / 8
		       : 0;
}

/* Fills in the pseudo header. Its addresses are those of the nearest header below that has some
 * (RFC 768, RFC 9293 3.1, RFC 8200 8.1). Length and protocol number are of different widths in IPv4
 * and IPv6, but add up to the same. */
static void add_pseudo(const struct layout *l, const uint8_t *bytes, unsigned i,
		       struct frame_sum *s)
{
	unsigned src = 0, dst = 0;

	for (unsigned j = i; j-- > 0;) {
		const struct proto *p = l->h[j].proto;
		if (src == 0)
			src = final_src(l, j);
		if (dst == 0)
			dst = final_dst(l, bytes, j);
		if (!p->has_pseudo)
			continue;
		const struct field *from = proto_field(p, "src");
		s->alen = from->bits / 8;
		/* Over IPv4, extension headers may follow AH, but their addresses are of IPv6. */
		if (s->alen != IP6_BYTES)
			src = dst = 0;
		s->src = (uint16_t)(src != 0 ? src : (unsigned)layout_field(l, j, from) / 8);
		s->dst = (uint16_t)(dst != 0 ? dst
					     : (unsigned)layout_field(l, j, proto_field(p, "dst")) /
						       8);
		s->pseudo = l->h[i].proto->pseudo_proto + (uint32_t)(s->to - s->from);
		return;
	}
}

bool layout_sum(const struct layout *l, const uint8_t *bytes, unsigned i, const struct field *f,
		struct frame_sum *s)
{
	if (f->role != ROLE_SUM_HDR && f->role != ROLE_SUM_L4 && f->role != ROLE_CRC32C)
		return false;
	int at = layout_field(l, i, f);
	if (at < 0)
		return false;
	memset(s, 0, sizeof(*s));
	s->off = (uint16_t)(at / 8);
	s->crc32c = f->role == ROLE_CRC32C;
	s->zero_is_none = f->zero_is_none;
	s->pseudo = f->sum != 0 ? 0xffffu - f->sum : 0;
	s->from = (uint16_t)l->h[i].off;
	s->to = (uint16_t)(f->role == ROLE_SUM_HDR ? l->h[i].off + l->h[i].hlen : l->h[i].end);
	if (f->role == ROLE_SUM_L4 && l->h[i].proto->pseudo_proto != 0)
		add_pseudo(l, bytes, i, s);
	return true;
}

static struct frame_sum sum_of_header(const struct frame *f, unsigned i)
{
	const struct field *sum = proto_role(f->l.h[i].proto, ROLE_SUM_L4);
	struct frame_sum s = {0};

	if (sum != NULL)
		layout_sum(&f->l, f->bytes, i, sum, &s);
	return s;
}

unsigned frame_sum_dst(const struct frame *f, unsigned i)
{
	return sum_of_header(f, i).dst;
}

unsigned frame_sum_src(const struct frame *f, unsigned i)
{
	return sum_of_header(f, i).src;
}

unsigned layout_sums(const struct layout *l, const uint8_t *bytes, struct frame_sum *out,
		     unsigned max)
{
	struct frame_sum s;
	unsigned n = 0;

	for (unsigned i = l->n; i-- > 0;) {
		const struct field *fields = l->h[i].proto->fields;
		for (const struct field *f = fields; f->name != NULL; f++) {
			if ((l->h[i].set >> (f - fields) & 1) != 0 ||
			    !layout_sum(l, bytes, i, f, &s))
				continue;
			if (n < max)
				out[n] = s;
			n++;
		}
	}
	return n;
}

bool frame_sum_good(const struct frame_sum *s, const uint8_t *bytes)
{
	const uint8_t *p = bytes + s->off;

	if (!s->crc32c)
		return recipe_rfc1071(s, bytes) == (s->zero_is_none ? 0xffff : 0);
	uint8_t *copy = xcalloc(1, s->to);
	memcpy(copy, bytes, s->to);
	recipe_sum(s, copy);
	bool good = memcmp(copy + s->off, p, 4) == 0;
	free(copy);
	return good;
}
