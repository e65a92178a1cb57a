/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of contents, and their sums. */
#include <errno.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif
#include "workload.h"

/* Two periods of the pattern, and the sum of all bytes before each place of a period. Filled by
 * control with the first content, constant from then on. */
static uint8_t content_pattern[WL_PERIOD];
static uint32_t content_before[WL_PERIOD + 1];
/* The one filling, then the other one from any place of a period on. The same holds of it. */
uint8_t wl_rest[2 * WL_REST + WL_PERIOD];

/* The word whose first byte in memory is b, and whose second is 0; and the other way round. */
static inline uint32_t content_first(uint8_t b)
{
	uint8_t two[2] = {b, 0};
	uint16_t word;

	memcpy(&word, two, 2);
	return word;
}
static inline uint32_t content_second(uint8_t b)
{
	uint8_t two[2] = {0, b};
	uint16_t word;

	memcpy(&word, two, 2);
	return word;
}
/* A sum of bytes that began at an odd place, as if they began at an even one (RFC 1071 2 (B)). */
static inline uint32_t content_swap(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xff) << 8 | sum >> 8;
}

/* Sums of words of 64 bits with their carries: those of 16 bits, folded later (RFC 1071 2 (D)). */
static inline unsigned __int128 content_words(const uint8_t *p, uint32_t n)
{
	unsigned __int128 sum = 0, more = 0;
	uint64_t w[2];

	for (; n >= 16; n -= 16, p += 16) {
		memcpy(w, p, 16);
		sum += w[0];
		more += w[1];
	}
	return sum + more;
}

#ifdef __x86_64__
/* The sum of the words of 16 bits of n <= 2^17 bytes, a multiple of 64, in wide registers. The
 * instruction that adds up pairs takes words with a sign: so 2^15 is taken from each, and added
 * again at the end. Of 2^12 pairs that come to a lane of 32 bits the sum is below 2^28. */
__attribute__((target("avx2"))) static uint64_t content_wide(const uint8_t *p, uint32_t n)
{
	const __m256i top = _mm256_set1_epi16(INT16_MIN), one = _mm256_set1_epi16(1);
	__m256i a = _mm256_setzero_si256(), b = a;
	int64_t sum = (int64_t)n / 2 * 32768;
	int32_t lane[8];

	for (; n > 0; n -= 64, p += 64) {
		__m256i x = _mm256_loadu_si256((const __m256i *)p);
		__m256i y = _mm256_loadu_si256((const __m256i *)(p + 32));

		a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_xor_si256(x, top), one));
		b = _mm256_add_epi32(b, _mm256_madd_epi16(_mm256_xor_si256(y, top), one));
	}
	a = _mm256_add_epi32(a, b);
	memcpy(lane, &a, sizeof(lane));
	for (unsigned i = 0; i < 8; i++)
		sum += lane[i];
	return (uint64_t)sum;
}
/* Set by control with the first content, like the pattern. */
static bool content_is_wide;
#endif

uint32_t wl_sum(const uint8_t *p, uint32_t n)
{
	unsigned __int128 words;
	uint64_t sum = 0;
	uint32_t word, whole;
	uint16_t half;

#ifdef __x86_64__
	if (n >= 256 && content_is_wide) {
		whole = n & ~63u;
		sum = content_wide(p, whole);
		p += whole;
		n -= whole;
	}
#endif
	whole = n & ~15u;
	words = content_words(p, whole);
	p += whole;
	n -= whole;
	/* each part below 2^33 now, so that the rest cannot overflow */
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum += (uint32_t)words;
	sum += (uint32_t)(words >> 32);
	sum += (uint64_t)(words >> 64);
	for (; n >= 4; n -= 4, p += 4) {
		memcpy(&word, p, 4);
		sum += word;
	}
	if (n >= 2) {
		memcpy(&half, p, 2);
		sum += half;
		n -= 2;
		p += 2;
	}
	if (n > 0)
		sum += content_first(*p);
	sum = (sum & 0xffffffff) + (sum >> 32);
	return (uint32_t)((sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32));
}

/* Nobody asks for more bytes than this, or for their sum, at once. */
#define CONTENT_AT_ONCE (1u << 17)

static void content_make_pattern(void)
{
	uint32_t sum = 0;

	if (content_before[WL_PERIOD] != 0)
		return;
#ifdef __x86_64__
	content_is_wide = __builtin_cpu_supports("avx2");
#endif
	for (unsigned i = 0; i < WL_PERIOD; i++) {
		uint32_t n = i % WL_PATTERN + 1;
		/* a mixed number: neighbours, and any two places, differ without a rule */
		content_pattern[i] = (uint8_t)((n * 0x9e3779b1u ^ n * n * 0x85ebca6bu) >> 23);
	}
	for (unsigned i = 0; i < WL_PERIOD; i++) {
		content_before[i] = sum;
		sum += i % 2 == 0 ? content_first(content_pattern[i])
				  : content_second(content_pattern[i]);
	}
	content_before[WL_PERIOD] = sum;
	memset(wl_rest, WL_X, WL_REST);
	for (unsigned i = 0; i < WL_REST + WL_PERIOD; i++)
		wl_rest[WL_REST + i] = content_pattern[i % WL_PERIOD];
}

/* The sum of n bytes of filling, the first of which is at place `at` of it. */
static uint32_t content_fill_sum(const struct wl_content *c, uint64_t at, uint32_t n)
{
	uint32_t from, to, whole, sum;

	if (c->fill == WL_FILL_X)
		return n / 2 * (WL_X << 8 | WL_X) + (n % 2 != 0 ? content_first(WL_X) : 0);
	from = (uint32_t)(at % WL_PERIOD);
	to = from + n;
	whole = to / WL_PERIOD;
	sum = whole * content_before[WL_PERIOD] % 0xffff;
	/* both may be 0 and the sum would be 0 where the bytes are not: 0xffff is the same 0 */
	sum += content_before[to % WL_PERIOD] + 0xffff;
	sum = sum % 0xffff + 0xffff * 2 - content_before[from] % 0xffff;
	return from % 2 == 0 ? sum : content_swap(sum);
}

static void content_fill_put(const struct wl_content *c, uint64_t at, uint8_t *to, uint32_t n)
{
	uint32_t from, piece;

	if ((c->fill & WL_FILL_PATTERN) == 0) {
		memset(to, WL_X, n);
		return;
	}
	from = (uint32_t)(at % WL_PATTERN);
	for (; n > 0; to += piece, n -= piece, from = 0) {
		piece = WL_PERIOD - from;
		if (piece > n)
			piece = n;
		/* the next piece begins where a period does */
		memcpy(to, content_pattern + from, piece);
	}
}

/* The size of a chunk as its line: returns how long that is. */
static unsigned content_chunk_line(uint32_t size, uint8_t line[12])
{
	unsigned digits = size == 0 ? 1 : (35 - (unsigned)__builtin_clz(size)) / 4;

	for (unsigned i = digits; i > 0; i--, size >>= 4)
		line[i - 1] = (uint8_t) "0123456789abcdef"[size & 15];
	line[digits] = '\r';
	line[digits + 1] = '\n';
	return digits + 2;
}

/* Where a chunk begins, in the filling and in the message. The last one, of size 0, ends both. */
struct content_chunk {
	uint64_t begin;
	uint32_t done, size;
};

static struct content_chunk content_chunk_at(const struct wl_content *c, uint64_t at)
{
	uint8_t line[12];
	uint64_t whole = content_chunk_line(c->chunk, line) + (uint64_t)c->chunk + 2;
	uint64_t nr = at / whole, full = c->body / c->chunk;
	struct content_chunk k;

	if (nr > full)
		nr = full;
	k = (struct content_chunk){.begin = nr * whole, .done = (uint32_t)nr * c->chunk};
	k.size = nr < full ? c->chunk : c->body - k.done;
	whole = content_chunk_line(k.size, line) + (uint64_t)k.size + 2;
	if (nr == full && k.size != 0 && at >= k.begin + whole)
		k = (struct content_chunk){.begin = k.begin + whole, .done = c->body};
	return k;
}

/* Bytes of filling in chunks, from place `at` of the chunked body on. */
static void content_chunks_put(const struct wl_content *c, uint64_t at, uint8_t *to, uint32_t n)
{
	while (n > 0) {
		struct content_chunk k = content_chunk_at(c, at);
		uint8_t line[12];
		uint32_t first = content_chunk_line(k.size, line), in = (uint32_t)(at - k.begin);
		uint32_t piece;

		if (in < first) {
			piece = first - in < n ? first - in : n;
			memcpy(to, line + in, piece);
		} else if (in < first + k.size) {
			piece = first + k.size - in < n ? first + k.size - in : n;
			content_fill_put(c, k.done + (in - first), to, piece);
		} else {
			piece = 1; /* of the end of its line */
			*to = in == first + k.size ? '\r' : '\n';
		}
		at += piece;
		to += piece;
		n -= piece;
	}
}

/* At most 16 bytes of WL_X. */
static inline void content_few_x(uint8_t *to, uint32_t n)
{
	static const uint64_t x = WL_X * 0x0101010101010101ull;

	if (n >= 8) {
		memcpy(to, &x, 8);
		memcpy(to + n - 8, &x, 8);
		return;
	}
	for (; n > 0; n--)
		*to++ = WL_X;
}

/* A head: most have about 60 bytes, for which a call costs more than they do. */
static inline void content_copy(uint8_t *to, const uint8_t *from, uint32_t n)
{
	if (n < 16 || n > 256) {
		memcpy(to, from, n);
		return;
	}
	for (uint32_t i = 0; i < n - 16; i += 16)
		memcpy(to + i, from + i, 16);
	memcpy(to + n - 16, from + n - 16, 16); /* some of them again */
}

/* How many of n bytes from `offset` on are the head's. */
static inline uint32_t content_of_head(const struct wl_content *c, uint64_t offset, uint32_t n)
{
	if (offset >= c->head_len)
		return 0;
	return c->head_len - offset < n ? (uint32_t)(c->head_len - offset) : n;
}

/* The sum of a first part of `head` bytes, and of what follows it. */
static inline uint32_t content_join(uint32_t sum, uint32_t head, uint32_t rest)
{
	return sum + (head % 2 == 0 ? rest : content_swap(rest));
}

static inline uint32_t content_head_sum(const struct wl_content *c, uint64_t offset, uint32_t n)
{
	return n == c->head_len ? c->head_sum : wl_sum(c->head + offset, n);
}

/* Of any content, from anywhere on. */
static __attribute__((noinline)) uint32_t content_put(const struct wl_content *c, uint64_t offset,
						      uint8_t *to, uint32_t n)
{
	uint32_t head = content_of_head(c, offset, n), sum = 0;
	uint64_t at;

	if (head > 0) {
		memcpy(to, c->head + offset, head);
		sum = content_head_sum(c, offset, head);
		if (head == n)
			return sum;
	}
	at = offset + head - c->head_len;
	if (__builtin_expect(c->fill >= WL_FILL_CHUNKED, 0)) {
		content_chunks_put(c, at, to + head, n - head);
		return content_join(sum, head, wl_sum(to + head, n - head));
	}
	content_fill_put(c, at, to + head, n - head);
	return content_join(sum, head, content_fill_sum(c, at, n - head));
}

/* Most messages are short and written whole: a head, and a filling of one byte. */
uint32_t wl_content_put(const struct wl_content *c, uint64_t offset, uint8_t *to, uint32_t n)
{
	uint32_t head = c->head_len;

	if (WL_RARE(offset != 0 || n < head || c->fill != WL_FILL_X))
		return content_put(c, offset, to, n);
	if (head == 0 && n <= 16) {
		content_few_x(to, n);
		return content_fill_sum(c, 0, n);
	}
	if (head != 0)
		content_copy(to, c->head, head);
	if (head == n)
		return c->head_sum;
	if (n - head <= 16)
		content_few_x(to + head, n - head);
	else
		memset(to + head, WL_X, n - head);
	return content_join(c->head_sum, head, content_fill_sum(c, 0, n - head));
}

uint32_t wl_content_rest(const struct wl_content *c, uint64_t offset)
{
	if (c->fill == WL_FILL_X)
		return 0;
	return WL_REST + (uint32_t)((offset - c->head_len) % WL_PERIOD);
}

uint32_t wl_content_sum(const struct wl_content *c, uint64_t offset, uint32_t n)
{
	uint32_t head = content_of_head(c, offset, n), sum = 0;

	if (head > 0)
		sum = content_head_sum(c, offset, head);
	return head == n ? sum
			 : content_join(sum, head,
					content_fill_sum(c, offset + head - c->head_len, n - head));
}

bool wl_content_same(const struct wl_content *c, uint64_t offset, const uint8_t *data, uint32_t n)
{
	uint32_t head = content_of_head(c, offset, n), from, piece;

	if (head > 0 && memcmp(data, c->head + offset, head) != 0)
		return false;
	data += head;
	n -= head;
	if (n == 0)
		return true;
	if (c->fill == WL_FILL_X)
		return data[0] == WL_X && memcmp(data, data + 1, n - 1) == 0;
	from = (uint32_t)((offset + head - c->head_len) % WL_PATTERN);
	for (; n > 0; data += piece, n -= piece, from = 0) {
		piece = WL_PERIOD - from < n ? WL_PERIOD - from : n;
		if (memcmp(data, content_pattern + from, piece) != 0)
			return false;
	}
	return true;
}

int wl_content_init(struct wl_content *c, const void *head, uint32_t head_len, enum wl_fill fill)
{
	if (head_len > WL_HEAD_MAX)
		return -E2BIG;
	content_make_pattern();
	*c = (struct wl_content){.head = head, .head_len = head_len, .fill = (uint8_t)fill};
	c->head_sum = head_len == 0 ? 0 : wl_sum(head, head_len);
	return 0;
}

void wl_content_init_whole(struct wl_content *c, const void *bytes, uint32_t n)
{
	wl_content_init(c, NULL, 0, WL_FILL_X);
	c->head = bytes;
	c->head_len = n;
	c->head_sum = n <= CONTENT_AT_ONCE ? wl_sum(bytes, n) : 0;
}

int wl_content_init_chunked(struct wl_content *c, const void *head, uint32_t head_len,
			    enum wl_fill fill, uint32_t chunk, uint32_t body)
{
	int rc = wl_content_init(c, head, head_len, fill);

	if (rc != 0)
		return rc;
	c->fill |= WL_FILL_CHUNKED;
	c->chunk = chunk;
	c->body = body;
	/* the last one begins at the end of all others, and is `0` and two ends of lines */
	return (int)(head_len + content_chunk_at(c, UINT32_MAX).begin + 5);
}
