/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of HTTP/1.1. One byte is looked at after the other, each with a state of one byte; the
 * long runs of bytes that nobody asks about are passed over in loops. */
#include <string.h>
#include "http_parse.h"

/* States up to HTTP_STATE_BODY are those of a head. */
enum {
	HEAD_FRESH = HTTP_STATE_FRESH,
	HEAD_EMPTY_LF, /* a CR came before the request line */
	HEAD_METHOD = HTTP_STATE_BEGUN,
	HEAD_TARGET,
	HEAD_VERSION,
	HEAD_STATUS,
	HEAD_REASON,
	HEAD_START_END, /* behind the version of a request, or the status of a response */
	HEAD_LF,        /* a CR came */
	HEAD_LINE,      /* at the beginning of a line */
	HEAD_END_LF,    /* the CR of the empty line came */
	HEAD_NAME,
	VALUE_START, /* blanks before a word of the value */
	VALUE_WORD,
	VALUE_AFTER, /* blanks behind a word */
	VALUE_ANY,   /* of a field that nobody asks about */
	/* lines around chunks: HTTP_STATE_BODY is where the digits of a size begin */
	CHUNK_SIZE = HTTP_STATE_DATA + 1,
	CHUNK_MORE, /* behind the digits */
	CHUNK_LF,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	CHUNK_TRAILER, /* fields behind the last chunk: `place` has their state */
};

enum { FIELD_LENGTH, FIELD_CODING, FIELD_CONNECTION, FIELD_EXPECT, FIELD_HOST, FIELD_NONE };
static const char *const parse_fields[] = {"content-length", "transfer-encoding", "connection",
					   "expect", "host"};
enum { WORD_CHUNKED, WORD_CLOSE, WORD_KEEP, WORD_CONTINUE };
static const char *const parse_words[] = {"chunked", "close", "keep-alive", "100-continue"};
static const char *const parse_methods[] = {"GET", "HEAD", "POST", "PUT"};
static const char parse_version[] = "HTTP/1.";

/* Of which kind a byte is. */
enum { IS_TOKEN = 1, IS_TARGET = 2, IS_HOST = 4 };
#define T IS_TOKEN
#define V IS_TARGET
#define H IS_HOST
static const uint8_t parse_kinds[256] = {
	['!'] = T | V | H,
	['"'] = V,
	['#'] = T | V,
	['$'] = T | V | H,
	['%'] = T | V | H,
	['&'] = T | V | H,
	['\''] = T | V | H,
	['('] = V | H,
	[')'] = V | H,
	['*'] = T | V | H,
	['+'] = T | V | H,
	[','] = V | H,
	['-'] = T | V | H,
	['.'] = T | V | H,
	['/'] = V,
	['0' ... '9'] = T | V | H,
	[':'] = V | H,
	[';'] = V | H,
	['<'] = V,
	['='] = V | H,
	['>'] = V,
	['?'] = V,
	['@'] = V,
	['A' ... 'Z'] = T | V | H,
	['['] = V | H,
	['\\'] = V,
	[']'] = V | H,
	['^'] = T | V,
	['_'] = T | V | H,
	['`'] = T | V,
	['a' ... 'z'] = T | V | H,
	['{'] = V,
	['|'] = T | V,
	['}'] = V,
	['~'] = T | V | H,
};
#undef T
#undef V
#undef H

static bool parse_is(uint8_t c, unsigned kind)
{
	return (parse_kinds[c] & kind) != 0;
}

static void parse_fail(struct http_msg *m, enum http_bad why)
{
	m->bad = (uint8_t)why;
}

/* One more byte of a word: which words of the list still fit. */
static void parse_match(struct http_msg *m, const char *const *list, uint8_t c)
{
	for (unsigned left = m->match; left != 0; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctz(left);

		if (list[k][m->place] != (char)c)
			m->match &= (uint8_t) ~(1u << k);
	}
	if (m->match != 0)
		m->place++;
}
/* Which word of the list it was, or n. */
static unsigned parse_matched(const struct http_msg *m, const char *const *list, unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		if ((m->match >> k & 1) != 0 && list[k][m->place] == '\0')
			return k;
	}
	return n;
}
static void parse_begin(struct http_msg *m, unsigned words)
{
	m->match = (uint8_t)((1u << words) - 1);
	m->place = 0;
}
static uint8_t parse_lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

/* ---- the first line ---- */

/* The end of a line, by CR or by LF alone (RFC 9112 2.2). Returns whether it was one. */
static bool parse_line_end(struct http_msg *m, uint8_t c, uint8_t resume)
{
	if (c != '\r' && c != '\n')
		return false;
	m->resume = resume;
	m->state = c == '\r' ? HEAD_LF : HEAD_LINE;
	return true;
}

static void parse_fresh(struct http_msg *m, uint8_t c)
{
	if ((m->flags & HTTP_RESPONSE) != 0) {
		m->state = HEAD_VERSION;
		m->place = 1;
		if (c != 'H')
			parse_fail(m, HTTP_BAD_START);
	} else if (c == '\r' || c == '\n') { /* empty lines before a request (2.2) */
		m->state = c == '\r' ? HEAD_EMPTY_LF : HEAD_FRESH;
	} else {
		m->state = HEAD_METHOD;
		parse_begin(m, ARRAY_SIZE(parse_methods));
		parse_match(m, parse_methods, c);
		if (!parse_is(c, IS_TOKEN))
			parse_fail(m, HTTP_BAD_START);
	}
}

static void parse_method(struct http_msg *m, uint8_t c)
{
	if (c == ' ') {
		m->method = (uint8_t)parse_matched(m, parse_methods, HTTP_OTHER);
		m->state = HEAD_TARGET;
		m->place = 0;
	} else if (parse_is(c, IS_TOKEN)) {
		parse_match(m, parse_methods, c);
	} else {
		parse_fail(m, HTTP_BAD_START);
	}
}

static void parse_target(struct http_msg *m, uint8_t c)
{
	if (c == ' ' && m->place != 0) {
		m->state = HEAD_VERSION;
		m->place = 0;
	} else if (parse_is(c, IS_TARGET)) {
		m->place = 1;
	} else {
		parse_fail(m, HTTP_BAD_START);
	}
}

static void parse_http(struct http_msg *m, uint8_t c)
{
	if (m->place < sizeof(parse_version) - 1) {
		/* another major version is told apart from what is no version */
		if (m->place == 5 && c >= '0' && c <= '9' && c != '1')
			parse_fail(m, HTTP_BAD_VERSION);
		else if (c != (uint8_t)parse_version[m->place])
			parse_fail(m, HTTP_BAD_START);
		m->place++;
	} else if (m->place == sizeof(parse_version) - 1) {
		if (c < '0' || c > '9')
			parse_fail(m, HTTP_BAD_START);
		if (c == '0')
			m->flags |= HTTP_10;
		m->place++;
		m->state = (m->flags & HTTP_RESPONSE) != 0 ? HEAD_VERSION : HEAD_START_END;
	} else if (c == ' ') {
		m->state = HEAD_STATUS;
		m->place = 0;
	} else {
		parse_fail(m, HTTP_BAD_START);
	}
}

static void parse_status(struct http_msg *m, uint8_t c)
{
	if (c < '0' || c > '9' || (m->place == 0 && (c == '0' || c > '5'))) {
		parse_fail(m, HTTP_BAD_START);
		return;
	}
	m->status = (uint16_t)(m->status * 10 + c - '0');
	if (++m->place == 3)
		m->state = HEAD_START_END;
}

static void parse_start_end(struct http_msg *m, uint8_t c)
{
	if (parse_line_end(m, c, HEAD_FRESH))
		return;
	if (c == ' ' && (m->flags & HTTP_RESPONSE) != 0)
		m->state = HEAD_REASON;
	else
		parse_fail(m, HTTP_BAD_START);
}

/* ---- fields ---- */

static void parse_coding(struct http_msg *m, unsigned word)
{
	if ((m->flags & HTTP_CHUNKS) != 0) /* chunked twice, or not as the last (RFC 9112 7) */
		parse_fail(m, HTTP_BAD_CODING);
	m->flags |= HTTP_CODING | (word == WORD_CHUNKED ? HTTP_CHUNKS : HTTP_OTHER_CODING);
}

/* A member of the value's list is complete. */
static void parse_word_end(struct http_msg *m)
{
	unsigned word;

	if (m->field == FIELD_LENGTH) { /* several may be there if they are the same (6.3) */
		if ((m->flags & HTTP_LENGTH) != 0 && m->at != m->length)
			parse_fail(m, HTTP_BAD_LENGTH);
		m->flags |= HTTP_LENGTH;
		m->at = m->length;
		return;
	}
	if (m->field == FIELD_HOST)
		return;
	word = parse_matched(m, parse_words, ARRAY_SIZE(parse_words));
	if (m->field == FIELD_CODING)
		parse_coding(m, word);
	else if (m->field == FIELD_EXPECT && word == WORD_CONTINUE)
		m->flags |= HTTP_EXPECT;
	else if (m->field == FIELD_CONNECTION && word == WORD_CLOSE)
		m->flags |= HTTP_CLOSE;
	else if (m->field == FIELD_CONNECTION && word == WORD_KEEP)
		m->flags |= HTTP_KEEP;
}

/* The value has ended, which is known only when the next line is no obs-fold of it. */
static void parse_value_end(struct http_msg *m)
{
	if (m->resume == VALUE_WORD || m->resume == VALUE_AFTER)
		parse_word_end(m);
	else if (m->resume == VALUE_START && m->field == FIELD_LENGTH)
		parse_fail(m, HTTP_BAD_LENGTH);
}

static void parse_digit(struct http_msg *m, uint8_t c)
{
	if (c < '0' || c > '9' || m->length > UINT64_MAX / 16)
		parse_fail(m, HTTP_BAD_LENGTH);
	m->length = m->length * 10 + (uint64_t)(c - '0');
}

/* A byte of a word in a value that is asked about. */
static void parse_word(struct http_msg *m, uint8_t c)
{
	if (m->state == VALUE_AFTER) { /* a second word where a comma should be */
		if (m->field == FIELD_LENGTH)
			parse_fail(m, HTTP_BAD_LENGTH);
		if (m->field == FIELD_HOST)
			parse_fail(m, HTTP_BAD_HOST);
		m->match = 0;
	} else if (m->state == VALUE_START) {
		parse_begin(m, ARRAY_SIZE(parse_words));
		if (m->field == FIELD_LENGTH)
			m->length = 0;
	}
	m->state = VALUE_WORD;
	if (m->field == FIELD_LENGTH)
		parse_digit(m, c);
	else if (m->field != FIELD_HOST)
		parse_match(m, parse_words, parse_lower(c));
	else if (!parse_is(c, IS_HOST))
		parse_fail(m, HTTP_BAD_HOST);
}

static void parse_value(struct http_msg *m, uint8_t c)
{
	if (parse_line_end(m, c, m->state))
		return;
	if (c == '\0') {
		parse_fail(m, HTTP_BAD_FIELD);
	} else if (m->state == VALUE_ANY) {
		return;
	} else if (c == ' ' || c == '\t') {
		if (m->state == VALUE_WORD)
			m->state = VALUE_AFTER;
	} else if (c == ',' && m->field != FIELD_HOST) {
		if (m->state != VALUE_START)
			parse_word_end(m);
		else if (m->field == FIELD_LENGTH)
			parse_fail(m, HTTP_BAD_LENGTH);
		m->state = VALUE_START;
	} else {
		parse_word(m, c);
	}
}

static void parse_name(struct http_msg *m, uint8_t c)
{
	if (parse_is(c, IS_TOKEN)) {
		parse_match(m, parse_fields, parse_lower(c));
		return;
	}
	if (c != ':') {
		parse_fail(m, HTTP_BAD_FIELD);
		return;
	}
	m->field = (uint8_t)parse_matched(m, parse_fields, FIELD_NONE);
	m->state = m->field == FIELD_NONE ? VALUE_ANY : VALUE_START;
	if (m->field != FIELD_HOST)
		return;
	if ((m->flags & HTTP_HOST) != 0 && (m->flags & HTTP_RESPONSE) == 0)
		parse_fail(m, HTTP_BAD_HOST);
	m->flags |= HTTP_HOST;
}

/* ---- the end of the head ---- */

static void parse_frame_request(struct http_msg *m)
{
	unsigned coding = m->flags & (HTTP_CODING | HTTP_CHUNKS | HTTP_OTHER_CODING);

	if ((m->flags & (HTTP_10 | HTTP_HOST)) == 0)
		parse_fail(m, HTTP_BAD_HOST);
	else if (coding == (HTTP_CODING | HTTP_OTHER_CODING))
		parse_fail(m, HTTP_BAD_CODING);
	else if ((coding & HTTP_OTHER_CODING) != 0)
		parse_fail(m, HTTP_UNKNOWN_CODING);
	else if (m->method == HTTP_OTHER)
		parse_fail(m, HTTP_BAD_METHOD);
	if (coding != 0)
		m->framing = HTTP_CHUNKED;
	else if ((m->flags & HTTP_LENGTH) != 0 && m->length != 0)
		m->framing = HTTP_COUNTED;
}

static void parse_frame_response(struct http_msg *m)
{
	if (m->status < 200 || m->status == 204 || m->status == 304)
		m->framing = HTTP_NO_BODY;
	else if ((m->flags & HTTP_CODING) != 0)
		m->framing = (m->flags & HTTP_CHUNKS) != 0 ? HTTP_CHUNKED : HTTP_UNTIL_CLOSE;
	else if ((m->flags & HTTP_LENGTH) != 0)
		m->framing = m->length != 0 ? HTTP_COUNTED : HTTP_NO_BODY;
	else
		m->framing = HTTP_UNTIL_CLOSE;
}

/* RFC 9112 6.3 and 9.3. A message with both a coding and a length, or with a coding from a peer of
 * HTTP/1.0, is read by its coding, and the connection ends behind it (6.1). */
static void parse_frame(struct http_msg *m)
{
	bool persist =
		(m->flags & HTTP_CLOSE) == 0 && (m->flags & (HTTP_10 | HTTP_KEEP)) != HTTP_10;

	if ((m->flags & HTTP_CODING) != 0 && (m->flags & (HTTP_LENGTH | HTTP_10)) != 0)
		persist = false;
	if ((m->flags & HTTP_RESPONSE) != 0)
		parse_frame_response(m);
	else
		parse_frame_request(m);
	if (m->framing != HTTP_COUNTED)
		m->length = 0;
	if (persist && m->framing != HTTP_UNTIL_CLOSE)
		m->flags |= HTTP_PERSIST;
	m->at = m->bytes = 0;
	m->state = m->framing == HTTP_NO_BODY ? HTTP_STATE_ENDED : HTTP_STATE_BODY;
}

static void parse_line(struct http_msg *m, uint8_t c)
{
	if (c == ' ' || c == '\t') { /* an obs-fold is a blank (5.2); before the first field: 2.2 */
		if (m->resume == HEAD_FRESH)
			parse_fail(m, HTTP_BAD_FIELD);
		m->state = m->resume;
		if (m->bad == HTTP_FINE)
			parse_value(m, c);
		return;
	}
	parse_value_end(m);
	m->resume = HEAD_FRESH;
	if (m->bad != HTTP_FINE)
		return;
	if (c == '\r') {
		m->state = HEAD_END_LF;
	} else if (c == '\n') {
		m->state = HTTP_STATE_ENDED;
	} else {
		m->state = HEAD_NAME;
		/* what trailers say about framing counts for nothing (RFC 9110 6.5.1) */
		parse_begin(m, (m->flags & HTTP_TRAILER) != 0 ? 0 : ARRAY_SIZE(parse_fields));
		parse_name(m, c);
		if (c == ':')
			parse_fail(m, HTTP_BAD_FIELD);
	}
}

static void parse_lf(struct http_msg *m, uint8_t c)
{
	if (c != '\n')
		parse_fail(m, m->resume == HEAD_FRESH && m->state != HEAD_END_LF ? HTTP_BAD_START
										 : HTTP_BAD_FIELD);
	else if (m->state == HEAD_LF)
		m->state = HEAD_LINE;
	else if (m->state == HEAD_END_LF)
		m->state = HTTP_STATE_ENDED;
	else
		m->state = HEAD_FRESH;
}

static void parse_head_byte(struct http_msg *m, uint8_t c)
{
	switch (m->state) {
	case HEAD_FRESH:
		parse_fresh(m, c);
		break;
	case HEAD_METHOD:
		parse_method(m, c);
		break;
	case HEAD_TARGET:
		parse_target(m, c);
		break;
	case HEAD_VERSION:
		parse_http(m, c);
		break;
	case HEAD_STATUS:
		parse_status(m, c);
		break;
	case HEAD_REASON:
		if (!parse_line_end(m, c, HEAD_FRESH) && c == '\0')
			parse_fail(m, HTTP_BAD_START);
		break;
	case HEAD_START_END:
		parse_start_end(m, c);
		break;
	case HEAD_EMPTY_LF:
	case HEAD_LF:
	case HEAD_END_LF:
		parse_lf(m, c);
		break;
	case HEAD_LINE:
		parse_line(m, c);
		break;
	case HEAD_NAME:
		parse_name(m, c);
		break;
	default:
		parse_value(m, c);
	}
}

/* How many of n bytes are above CR, or nearly so many: eight are looked at at once while none of
 * them borrows in a subtraction of 14 from each. */
static uint32_t parse_text(const uint8_t *p, uint32_t n)
{
	const uint64_t ones = 0x0101010101010101ull;
	uint32_t i = 0;
	uint64_t w;

	for (; i + 8 <= n; i += 8) {
		memcpy(&w, p + i, 8);
		if (((w - ones * ('\r' + 1)) & ~w & ones * 0x80) != 0)
			break;
	}
	while (i < n && p[i] > '\r')
		i++;
	return i;
}

/* How many of n bytes change nothing in this state. */
static uint32_t parse_run(const struct http_msg *m, const uint8_t *p, uint32_t n)
{
	uint32_t i = 0;

	if (m->state == VALUE_ANY || m->state == HEAD_REASON) {
		i = parse_text(p, n);
	} else if (m->state == HEAD_NAME && m->match == 0) {
		while (i < n && parse_is(p[i], IS_TOKEN))
			i++;
	} else if (m->state == HEAD_TARGET && m->place != 0) {
		while (i < n && parse_is(p[i], IS_TARGET))
			i++;
	}
	return i;
}

/* Fields up to the empty line, which leaves the state HTTP_STATE_ENDED. */
static uint32_t parse_lines(struct http_msg *m, uint32_t limit, const uint8_t *p, uint32_t n)
{
	uint32_t most = m->bytes < limit ? limit - m->bytes : 0, end = n < most ? n : most, i = 0;

	while (i < end && m->state < HTTP_STATE_BODY && m->bad == HTTP_FINE) {
		i += parse_run(m, p + i, end - i);
		if (i == end)
			break;
		parse_head_byte(m, p[i++]);
	}
	m->bytes += i;
	if (i < n && i == most && m->state < HTTP_STATE_BODY && m->bad == HTTP_FINE)
		parse_fail(m, m->state < HEAD_STATUS ? HTTP_LONG_TARGET : HTTP_LONG_HEAD);
	return i;
}

uint32_t http_head(struct http_msg *m, uint32_t limit, const uint8_t *p, uint32_t n)
{
	uint32_t used;

	if (p == NULL) { /* bytes whose values nobody knows are no head */
		parse_fail(m, HTTP_BAD_START);
		return n;
	}
	used = parse_lines(m, limit, p, n);
	if (m->state == HTTP_STATE_ENDED && m->bad == HTTP_FINE)
		parse_frame(m);
	return used;
}

/* ---- bodies ---- */

static int parse_hex(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = parse_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void parse_size(struct http_msg *m, uint8_t c)
{
	int digit = parse_hex(c);

	if (digit >= 0) {
		if (m->length >> 58 != 0)
			parse_fail(m, HTTP_BAD_CHUNK);
		m->length = m->length << 4 | (uint64_t)digit;
		m->state = CHUNK_SIZE;
	} else if (m->state == HTTP_STATE_BODY) {
		parse_fail(m, HTTP_BAD_CHUNK);
	} else if (c == '\r') {
		m->state = CHUNK_LF;
	} else if (c == ';' || c == ' ' || c == '\t') {
		m->state = CHUNK_MORE;
	} else {
		parse_fail(m, HTTP_BAD_CHUNK);
	}
}

static void parse_size_end(struct http_msg *m, uint8_t c)
{
	if (c != '\n') {
		parse_fail(m, HTTP_BAD_CHUNK);
		return;
	}
	m->bytes = 0;
	if (m->length != 0) {
		m->state = HTTP_STATE_DATA;
		return;
	}
	m->flags |= HTTP_TRAILER;
	m->state = CHUNK_TRAILER;
	m->place = HEAD_LINE;
	m->resume = HEAD_FRESH;
}

/* Lines of chunks end with CR LF only: that LF may do alone is said of heads (RFC 9112 2.2). */
static void parse_chunk_byte(struct http_msg *m, uint8_t c)
{
	switch (m->state) {
	case CHUNK_MORE: /* extensions are passed over (7.1.1) */
		if (c == '\r')
			m->state = CHUNK_LF;
		else if (c == '\n' || c == '\0')
			parse_fail(m, HTTP_BAD_CHUNK);
		break;
	case CHUNK_LF:
		parse_size_end(m, c);
		break;
	case CHUNK_DATA_CR:
		m->state = CHUNK_DATA_LF;
		if (c != '\r')
			parse_fail(m, HTTP_BAD_CHUNK);
		break;
	case CHUNK_DATA_LF:
		m->state = HTTP_STATE_BODY;
		m->bytes = 0;
		if (c != '\n')
			parse_fail(m, HTTP_BAD_CHUNK);
		break;
	default:
		parse_size(m, c);
	}
}

/* The states of fields are those of a head, which would look as if the head were read again: they
 * lie in `place` while the message waits for more. Names of trailers are not matched, so that it
 * is free. */
static uint32_t parse_trailer(struct http_msg *m, uint32_t limit, const uint8_t *p, uint32_t n)
{
	uint32_t used;

	m->state = m->place;
	m->place = 0;
	used = parse_lines(m, limit, p, n);
	if (m->state < HTTP_STATE_BODY) {
		m->place = m->state;
		m->state = CHUNK_TRAILER;
	}
	return used;
}

static uint32_t parse_chunk(struct http_msg *m, uint32_t limit, const uint8_t *p, uint32_t n)
{
	uint32_t i = 0;

	if (p == NULL) {
		parse_fail(m, HTTP_BAD_CHUNK);
		return n;
	}
	while (i < n && m->state != HTTP_STATE_DATA && m->state != HTTP_STATE_ENDED &&
	       m->bad == HTTP_FINE) {
		if (m->state == CHUNK_TRAILER) {
			i += parse_trailer(m, limit, p + i, n - i);
		} else if (m->bytes == limit) {
			parse_fail(m, HTTP_LONG_HEAD);
		} else {
			m->bytes++;
			parse_chunk_byte(m, p[i++]);
		}
	}
	return i;
}

uint32_t http_body(struct http_msg *m, uint32_t limit, const uint8_t *p, uint32_t n, bool *data)
{
	*data = http_in_data(m);
	if (!*data)
		return parse_chunk(m, limit, p, n);
	if (m->framing != HTTP_UNTIL_CLOSE) {
		if (n > m->length)
			n = (uint32_t)m->length;
		m->length -= n;
	}
	m->at += n;
	if (m->framing == HTTP_COUNTED && m->length == 0)
		m->state = HTTP_STATE_ENDED;
	if (m->state == HTTP_STATE_DATA && m->length == 0)
		m->state = CHUNK_DATA_CR;
	return n;
}

bool http_cut(struct http_msg *m)
{
	if (m->state != HTTP_STATE_BODY || m->framing != HTTP_UNTIL_CLOSE)
		return false;
	m->state = HTTP_STATE_ENDED;
	return true;
}
