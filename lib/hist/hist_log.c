/* SPDX-License-Identifier: BSD-3-Clause */
/* Histograms as a log for HdrHistogram's tools: see hist_log.h. */
#include "hist_log.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

/* The cookies of the V2 encoding, by which a reader knows it. Bits 4 to 7 of the low byte are the
 * word size, where 1 stands for counts of variable length. */
#define COOKIE 0x1c849313u
#define COOKIE_COMPRESSED 0x1c849314u

/* The bits of hist_shape that each number of decimal digits stands for: with them, at least
 * 2 x 10^digits values have a bucket of their own. */
static const uint8_t bits_of_digits[] = {0, 4, 7, 10, 14};

/* The fewest decimal digits of precision (1..4) that are at least as fine as a shape with so many
 * bits. */
static unsigned hist_log_digits(unsigned bits)
{
	unsigned d = 1;

	while (d < ARRAY_SIZE(bits_of_digits) - 1 && bits_of_digits[d] < bits)
		d++;
	return d;
}

static void add_be32(struct sbuf *b, uint32_t v)
{
	v = htobe32(v);
	sbuf_addn(b, (const char *)&v, sizeof(v));
}

static void add_be64(struct sbuf *b, uint64_t v)
{
	v = htobe64(v);
	sbuf_addn(b, (const char *)&v, sizeof(v));
}

/* Appends n in the encoding of variable length (ZigZag LEB128): the sign goes into the lowest bit,
 * and the number follows with 7 bits in each byte, the lowest first. A ninth byte carries 8
 * bits. */
static void add_zigzag(struct sbuf *b, int64_t n)
{
	uint64_t v = (uint64_t)n << 1 ^ (uint64_t)(n >> 63);

	for (int i = 0; i < 8 && v > 0x7f; i++, v >>= 7)
		sbuf_addc(b, (char)(v | 0x80));
	sbuf_addc(b, (char)v);
}

/* Appends the counts from bucket 0 to the last bucket in use. A run of n > 1 empty buckets is
 * written as the number -n. */
static void add_counts(struct sbuf *b, const struct hist *h)
{
	int64_t empty = 0;

	for (uint32_t i = 0; i < h->nbuckets; i++) {
		if (h->bucket[i] == 0) {
			empty++;
			continue;
		}
		if (empty > 0)
			add_zigzag(b, empty > 1 ? -empty : 0);
		empty = 0;
		add_zigzag(b, (int64_t)h->bucket[i]);
	}
}

static void hist_log_encode(struct sbuf *b, const struct hist *h)
{
	struct sbuf counts = {0};
	double ratio = 1;
	uint64_t bits;

	add_counts(&counts, h);
	add_be32(b, COOKIE);
	add_be32(b, (uint32_t)counts.len);
	add_be32(b, 0); /* offset by which buckets are shifted: none */
	add_be32(b, hist_log_digits(h->shape.bits));
	add_be64(b, 1); /* lowest value that has a bucket of its own */
	add_be64(b, (1ull << h->shape.top) - 1);
	memcpy(&bits, &ratio, sizeof(bits));
	add_be64(b, bits);
	sbuf_addn(b, sbuf_str(&counts), counts.len);
	sbuf_free(&counts);
}

static void add_base64(struct sbuf *out, const uint8_t *p, size_t n)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		unsigned have = n - i < 3 ? (unsigned)(n - i) : 3;
		uint32_t v = (uint32_t)p[i] << 16 | (have > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
			     (have > 2 ? p[i + 2] : 0);
		for (unsigned k = 0; k < 4; k++)
			sbuf_addc(out, k <= have ? digit[v >> (18 - 6 * k) & 63] : '=');
	}
}

/* Returns a new histogram that can be encoded: its shape is one that decimal digits stand for, and
 * it has room for the values out of range, which are counted at *above_at. *above says how many
 * they are. */
static struct hist *hist_log_presentable(const struct hist *h, uint64_t *above, uint64_t *above_at)
{
	struct hist_shape s = {.bits = bits_of_digits[hist_log_digits(h->shape.bits)],
			       .top = h->shape.top};
	struct hist *to;

	*above = cell_get(&h->above);
	*above_at = h->shape.top < 63 ? 1ull << h->shape.top : INT64_MAX;
	if (*above != 0 && s.top < 63)
		s.top++;
	if (s.top <= s.bits)
		s.top = (uint8_t)(s.bits + 1);
	to = hist_new(s);
	hist_merge(to, h);
	cell_set(&to->above, 0);
	hist_add(to, *above_at, *above);
	return to;
}

void hist_log_header(struct sbuf *out, double start_s, const char *comment)
{
	time_t whole = (time_t)start_s;
	struct tm tm;
	char text[64] = "";

	for (const char *p = comment; p != NULL && *p != '\0';) {
		size_t n = strcspn(p, "\n");
		sbuf_addf(out, "#%.*s\n", (int)n, p);
		p += n + (p[n] == '\n');
	}
	if (gmtime_r(&whole, &tm) != NULL)
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	sbuf_add(out, "#[Histogram log format version 1.3]\n");
	sbuf_addf(out, "#[StartTime: %.3f (seconds since epoch), %s]\n", start_s, text);
	sbuf_add(
		out,
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n");
}

static void add_tag(struct sbuf *out, const char *tag)
{
	if (tag == NULL || *tag == '\0')
		return;
	sbuf_add(out, "Tag=");
	for (; *tag != '\0'; tag++)
		sbuf_addc(out, strchr(", \t\r\n", *tag) != NULL ? '_' : *tag);
	sbuf_addc(out, ',');
}

int hist_log_line(const struct hist *h, const char *tag, double from_s, double length_s,
		  double max_unit, struct sbuf *out)
{
	struct sbuf plain = {0}, packed = {0};
	uint64_t above, above_at;
	struct hist *to = hist_log_presentable(h, &above, &above_at);
	uLongf n;
	Bytef *z;
	int rc;

	hist_log_encode(&plain, to);
	n = compressBound(plain.len);
	z = xcalloc(1, n);
	rc = compress2(z, &n, (const Bytef *)plain.s, plain.len, Z_BEST_COMPRESSION);
	if (rc == Z_OK) {
		add_be32(&packed, COOKIE_COMPRESSED);
		add_be32(&packed, (uint32_t)n);
		sbuf_addn(&packed, (const char *)z, n);
		if (above != 0)
			sbuf_addf(out,
				  "#%llu values out of range stand at %llu in the next interval\n",
				  (unsigned long long)above, (unsigned long long)above_at);
		add_tag(out, tag);
		sbuf_addf(out, "%.3f,%.3f,%.3f,", from_s, length_s,
			  (double)hist_max(to) / max_unit);
		add_base64(out, (const uint8_t *)packed.s, packed.len);
		sbuf_addc(out, '\n');
	}
	free(z);
	free(to);
	sbuf_free(&plain);
	sbuf_free(&packed);
	return rc == Z_OK ? 0 : -ENOMEM;
}
