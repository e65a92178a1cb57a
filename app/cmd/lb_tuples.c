/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuples that clients have by their settings: how many, and which ones come next. */
#include "lb_tuples.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIST "list "

void lb_side_free(struct lb_side *s)
{
	sbuf_free(&s->stack[0]);
	sbuf_free(&s->stack[1]);
	sbuf_free(&s->src);
	sbuf_free(&s->dst);
	sbuf_free(&s->sport);
	sbuf_free(&s->dport);
}

/* ---- how many there are ---- */

void lb_first_value(const char *text, struct sbuf *out)
{
	if (strncmp(text, LIST, strlen(LIST)) == 0)
		text += strlen(LIST);
	const char *two = strstr(text, "..");
	size_t n = strcspn(text, ", /");
	bool bracket = *text == '[';

	if (two != NULL && (size_t)(two - text) < n)
		n = (size_t)(two - text);
	if (bracket) { /* [2001:db8::1]:2 has a weight */
		const char *end = strchr(text, ']');
		text++;
		n = end != NULL ? (size_t)(end - text) : 0;
	} else if (memchr(text, '.', n) != NULL || memchr(text, ':', n) != NULL) {
		/* a weight stands behind the only colon of an IPv4 address or a port */
		const char *colon = memchr(text, ':', n);
		if (colon != NULL && strchr(colon + 1, ':') == NULL)
			n = (size_t)(colon - text);
	}
	sbuf_addf(out, "%.*s", (int)n, text);
}

/* A port, an IPv4 address, or the lower 32 bits of an IPv6 one. */
static bool value_of(const char *text, size_t n, uint64_t *out, unsigned *bits)
{
	char one[64], *end;
	uint8_t b[16];

	if (n == 0 || n >= sizeof(one))
		return false;
	memcpy(one, text, n);
	one[n] = '\0';
	if (inet_pton(AF_INET, one, b) == 1) {
		*out = (uint64_t)b[0] << 24 | (uint64_t)b[1] << 16 | (uint64_t)b[2] << 8 | b[3];
		*bits = 32;
		return true;
	}
	if (inet_pton(AF_INET6, one, b) == 1) {
		*out = (uint64_t)b[12] << 24 | (uint64_t)b[13] << 16 | (uint64_t)b[14] << 8 | b[15];
		*bits = 128;
		return true;
	}
	*out = strtoull(one, &end, 10);
	*bits = 16;
	return *end == '\0';
}

/* How many values one item of a list has; 1 where that is not plain to see, as of masks. */
static uint64_t item_count(const char *text, size_t n)
{
	const char *two = memmem(text, n, "..", 2), *slash = memchr(text, '/', n);
	uint64_t a, b, step = 1;
	unsigned bits;

	if (slash != NULL && value_of(text, (size_t)(slash - text), &a, &bits)) {
		unsigned len = (unsigned)strtoul(slash + 1, NULL, 10);
		return len >= bits ? 1 : bits - len >= 32 ? 1ull << 32 : 1ull << (bits - len);
	}
	if (two == NULL || !value_of(text, (size_t)(two - text), &a, &bits))
		return 1;
	const char *to = two + 2;
	size_t rest = n - (size_t)(to - text), word = strcspn(to, ", ");
	word = word < rest ? word : rest;
	const char *colon = memchr(to, ':', word);
	if (colon != NULL && memchr(colon + 1, ':', word - (size_t)(colon + 1 - to)) == NULL)
		word = (size_t)(colon - to); /* the only one: a weight is behind it */
	if (memmem(to, rest, "step ", 5) != NULL)
		step = strtoull(strstr(to, "step ") + 5, NULL, 10);
	if (!value_of(to, word, &b, &bits))
		return 1;
	uint64_t span = b > a ? b - a : a - b;
	return span / (step > 0 ? step : 1) + 1;
}

uint64_t lb_values(const char *text)
{
	uint64_t sum = 0;

	if (*text == '\0')
		return 1;
	if (strncmp(text, "random", 6) == 0)
		return UINT32_MAX;
	if (strncmp(text, LIST, strlen(LIST)) == 0)
		text += strlen(LIST);
	for (;;) {
		size_t n = strcspn(text, ",");
		sum += item_count(text, n);
		if (text[n] == '\0')
			return sum;
		text += n + 1;
	}
}

uint64_t lb_tuples(const struct lb_side *c)
{
	const struct sbuf *const of[] = {&c->src, &c->dst, &c->sport, &c->dport};
	uint64_t n = 1;

	for (unsigned i = 0; i < ARRAY_SIZE(of); i++)
		if (__builtin_mul_overflow(n, lb_values(sbuf_str(of[i])), &n))
			return UINT64_MAX;
	return n;
}

bool lb_nth_value(const char *text, unsigned i, struct sbuf *out)
{
	struct sbuf first = {0};
	uint8_t b[16];

	if (strncmp(text, LIST, strlen(LIST)) == 0)
		text += strlen(LIST);
	for (;; text++) {
		size_t n = strcspn(text, ",");
		uint64_t count = item_count(text, n);
		if (i < count)
			break;
		i -= (unsigned)count;
		text += n;
		if (*text == '\0')
			return false;
	}
	lb_first_value(text, &first);
	bool plain = memmem(text, strcspn(text, ","), " step ", 6) == NULL &&
		     strncmp(text, "random", 6) != 0;
	int family = strchr(sbuf_str(&first), ':') != NULL ? AF_INET6 : AF_INET;
	plain = plain && inet_pton(family, sbuf_str(&first), b) == 1;
	if (plain) { /* so many further in the last four bytes */
		char name[INET6_ADDRSTRLEN];
		uint8_t *last = family == AF_INET ? b : b + 12;
		uint32_t v = ((uint32_t)last[0] << 24 | (uint32_t)last[1] << 16 |
			      (uint32_t)last[2] << 8 | last[3]) +
			     i;
		for (unsigned k = 0; k < 4; k++)
			last[k] = (uint8_t)(v >> (24 - 8 * k));
		sbuf_add(out, inet_ntop(family, b, name, sizeof(name)));
	} else if (i == 0) {
		sbuf_add(out, sbuf_str(&first));
	}
	bool found = plain || (i == 0 && first.len > 0);
	sbuf_free(&first);
	return found;
}

/* ---- which ones are next ---- */

#define SPARE 1.25 /* workers deal tuples by hashes: one may come farther than the others */
#define SPARE_PORTS 2

/* A range of ports without further words, of which "A..B from N" begins at N. */
static bool plain_range(const char *text, uint64_t *lo, uint64_t *n)
{
	char *end;
	uint64_t a = strtoull(text, &end, 10), b;

	if (end == text || strncmp(end, "..", 2) != 0)
		return false;
	text = end + 2;
	b = strtoull(text, &end, 10);
	if (end == text || *end != '\0' || b <= a)
		return false;
	*lo = a;
	*n = b - a + 1;
	return true;
}

/* Whether a text has weights, by which some values come more often than others: "A:2", "[A]:2". */
static bool has_weights(const char *text)
{
	for (;;) {
		size_t n = strcspn(text, ",");
		const char *colon = memchr(text, ':', n);
		if (memmem(text, n, "]:", 2) != NULL ||
		    (colon != NULL &&
		     memchr(colon + 1, ':', n - (size_t)(colon + 1 - text)) == NULL))
			return true;
		if (text[n] == '\0')
			return false;
		text += n + 1;
	}
}

void lb_ring_begin(struct lb_ring *r, const struct lb_side *c)
{
	uint64_t all = lb_tuples(c);

	*r = (struct lb_ring){.n = 1, .per = all};
	if (c->nested || has_weights(sbuf_str(&c->dst)) || has_weights(sbuf_str(&c->dport)) ||
	    !plain_range(sbuf_str(&c->sport), &r->lo, &r->n))
		return;
	r->turns = true;
	r->per = all / r->n;
}

/* Those that the device has forgotten by now. */
static void ring_forget(struct lb_ring *r, uint64_t now_ns, uint64_t timeout_ns)
{
	unsigned gone = 0;

	while (gone < r->nused && r->used[gone].ended_ns != UINT64_MAX &&
	       now_ns - r->used[gone].ended_ns >= timeout_ns)
		gone++;
	if (gone == 0)
		return;
	r->free = r->used[gone - 1].end;
	r->nused -= gone;
	memmove(r->used, r->used + gone, r->nused * sizeof(*r->used));
}

bool lb_ring_take(struct lb_ring *r, double tuples, uint64_t now_ns, uint64_t timeout_ns,
		  uint64_t *from)
{
	double ports = ceil(tuples * SPARE / (double)r->per) + SPARE_PORTS;
	uint64_t want = ports < (double)r->n ? (uint64_t)ports : r->n;

	ring_forget(r, now_ns, timeout_ns);
	if (r->n - (r->taken - r->free) < want)
		return false;
	if (r->nused == LB_RING_USED) /* the last two are one that ends when the later one does */
		r->nused--;
	*from = r->lo + r->taken % r->n;
	r->given = want;
	r->taken += want;
	r->used[r->nused++] = (struct lb_ring_used){.end = r->taken, .ended_ns = UINT64_MAX};
	return true;
}

void lb_ring_took(struct lb_ring *r, double tuples, uint64_t now_ns)
{
	double ports = ceil(tuples * SPARE / (double)r->per) + SPARE_PORTS;

	if (r->nused == 0)
		return;
	if (ports < (double)r->given)
		r->taken -= r->given - (uint64_t)ports;
	r->used[r->nused - 1] = (struct lb_ring_used){.end = r->taken, .ended_ns = now_ns};
}

void lb_ring_all(struct lb_ring *r, uint64_t now_ns)
{
	r->free = r->taken;
	r->taken += r->n;
	r->used[0] = (struct lb_ring_used){.end = r->taken, .ended_ns = now_ns};
	r->nused = 1;
}

double lb_ring_room(const struct lb_ring *r)
{
	return (double)r->given * (double)r->per;
}
