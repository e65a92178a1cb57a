/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums: what each covers, and its value. */
#include "frame_layout.h"

#include <string.h>

#define IP6_BYTES 16

/* RFC 1071: one's complement sum of 16-bit words, an odd last byte is padded with a zero byte. */
static uint64_t sum_words(const uint8_t *p, unsigned n)
{
	uint64_t sum = 0;

	for (; n >= 2; p += 2, n -= 2)
		sum += (uint64_t)p[0] << 8 | p[1];
	if (n != 0)
		sum += (uint64_t)p[0] << 8;
	return sum;
}

static uint16_t fold(uint64_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* RFC 9260 appendix A: polynomial 0x1edc6f41, bits reflected; half a byte at a time. */
static uint32_t crc32c(uint32_t crc, const uint8_t *p, unsigned n)
{
	static const uint32_t table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
		0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
		0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};

	for (; n > 0; n--, p++) {
		crc ^= *p;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return crc;
}

static uint32_t crc_of(const struct frame_sum *s, const uint8_t *bytes)
{
	static const uint8_t zero[4];
	uint32_t crc = crc32c(~0u, bytes + s->from, s->off - (unsigned)s->from);

	crc = crc32c(crc, zero, sizeof(zero));
	return ~crc32c(crc, bytes + s->off + 4, s->to - (s->off + 4u));
}

/* With a routing header the sum takes the final destination (RFC 8200 8.1): the last of a source route, the first of a segment list
 * (RFC 8754 2), the home address (RFC 6275 6.4). 0: the header says that the packet is there. */
static unsigned final_dst(const struct layout *l, const uint8_t *bytes, unsigned i)
{
	const struct proto *p = l->h[i].proto;
	const struct field *left = proto_field(p, "segleft"), *type = proto_field(p, "type"),
			   *addrs = proto_field(p, "addrs");

	if (left == NULL || type == NULL || addrs == NULL || layout_field(l, i, addrs) < 0 ||
	    layout_get_u64(l, bytes, i, left) == 0)
		return 0;
	unsigned at = (unsigned)layout_field(l, i, addrs) / 8, n = layout_bytes_len(l, i, addrs) / IP6_BYTES;
	if (n == 0)
		return 0;
	return layout_get_u64(l, bytes, i, type) == 4 ? at : at + (n - 1) * IP6_BYTES;
}

/* The addresses come from the nearest header below that has them (RFC 768, RFC 9293 3.1, RFC 8200 8.1). The width of length
 * and number differs between IPv4 and IPv6, their sum does not. */
static void add_pseudo(const struct layout *l, const uint8_t *bytes, unsigned i, struct frame_sum *s)
{
	unsigned dst = 0;

	for (unsigned j = i; j-- > 0;) {
		const struct proto *p = l->h[j].proto;
		if (dst == 0)
			dst = final_dst(l, bytes, j);
		if (!p->has_pseudo)
			continue;
		const struct field *src = proto_field(p, "src");
		s->alen = src->bits / 8;
		s->src = (uint16_t)(layout_field(l, j, src) / 8);
		s->dst = (uint16_t)(dst != 0 ? dst : (unsigned)layout_field(l, j, proto_field(p, "dst")) / 8);
		s->pseudo = l->h[i].proto->pseudo_proto + (uint32_t)(s->to - s->from);
		return;
	}
}

bool layout_sum(const struct layout *l, const uint8_t *bytes, unsigned i, const struct field *f, struct frame_sum *s)
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
	s->from = (uint16_t)l->h[i].off;
	s->to = (uint16_t)(f->role == ROLE_SUM_HDR ? l->h[i].off + l->h[i].hlen : l->h[i].end);
	if (f->role == ROLE_SUM_L4 && l->h[i].proto->pseudo_proto != 0)
		add_pseudo(l, bytes, i, s);
	return true;
}

unsigned layout_sums(const struct layout *l, const uint8_t *bytes, struct frame_sum *out, unsigned max)
{
	struct frame_sum s;
	unsigned n = 0;

	for (unsigned i = l->n; i-- > 0;) {
		const struct field *fields = l->h[i].proto->fields;
		for (const struct field *f = fields; f->name != NULL; f++) {
			if ((l->h[i].set >> (f - fields) & 1) != 0 || !layout_sum(l, bytes, i, f, &s))
				continue;
			if (n < max)
				out[n] = s;
			n++;
		}
	}
	return n;
}

/* All that an Internet checksum covers but its own field, which lies at an even distance from the start. */
static uint64_t sum_of(const struct frame_sum *s, const uint8_t *bytes)
{
	uint64_t sum = s->pseudo;

	if (s->alen != 0)
		sum += sum_words(bytes + s->src, s->alen) + sum_words(bytes + s->dst, s->alen);
	sum += sum_words(bytes + s->from, s->off - (unsigned)s->from);
	return sum + sum_words(bytes + s->off + 2, s->to - (s->off + 2u));
}

uint32_t frame_sum_value(const struct frame_sum *s, const uint8_t *bytes)
{
	if (s->crc32c)
		return crc_of(s, bytes);
	uint16_t v = (uint16_t)~fold(sum_of(s, bytes));
	return v == 0 && s->zero_is_none ? 0xffff : v;
}

void frame_sum_put(const struct frame_sum *s, uint8_t *bytes)
{
	uint32_t v = frame_sum_value(s, bytes);

	for (unsigned k = 0; k < (s->crc32c ? 4 : 2); k++)
		bytes[s->off + k] = (uint8_t)(s->crc32c ? v >> (8 * k) : v >> (8 - 8 * k));
}

bool frame_sum_good(const struct frame_sum *s, const uint8_t *bytes)
{
	const uint8_t *p = bytes + s->off;

	if (s->crc32c)
		return frame_sum_value(s, bytes) == (p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24);
	return fold(sum_of(s, bytes) + sum_words(p, 2)) == 0xffff;
}
