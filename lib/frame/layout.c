/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame_layout.h"

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

/* The addresses come from the nearest header below that has them (RFC 768, RFC 9293 3.1, RFC 8200 8.1). The width of length
 * and number differs between IPv4 and IPv6, their sum does not. */
static uint64_t sum_pseudo(const struct layout *l, const uint8_t *bytes, unsigned i, unsigned len)
{
	static const char *const addresses[] = {"src", "dst"};
	uint64_t sum = l->h[i].proto->pseudo_proto + (uint64_t)len;

	for (unsigned j = i; j-- > 0;) {
		if (!l->h[j].proto->has_pseudo)
			continue;
		for (unsigned a = 0; a < ARRAY_SIZE(addresses); a++) {
			const struct field *f = proto_field(l->h[j].proto, addresses[a]);
			sum += sum_words(bytes + l->h[j].off + f->bit / 8, f->bits / 8);
		}
		return sum;
	}
	return 0;
}

void layout_sum_range(const struct layout *l, unsigned i, const struct field *f, unsigned *from, unsigned *to)
{
	*from = l->h[i].off;
	*to = f->role == ROLE_SUM_HDR ? *from + l->h[i].hlen : l->h[i].end;
}

uint16_t layout_sum(const struct layout *l, const uint8_t *bytes, unsigned i, const struct field *f)
{
	unsigned from, to;

	layout_sum_range(l, i, f, &from, &to);
	uint64_t sum = sum_words(bytes + from, to - from);
	if (f->role == ROLE_SUM_L4 && l->h[i].proto->pseudo_proto != 0)
		sum += sum_pseudo(l, bytes, i, to - from);
	return fold(sum);
}
