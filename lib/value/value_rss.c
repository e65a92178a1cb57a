/* SPDX-License-Identifier: BSD-3-Clause */
/* The types of settings of RSS: fields, key and table. */
#include "rss_value.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	uint32_t bit;
} field_words[] = {{"ip", RSS_IP}, {"tcp", RSS_TCP}, {"udp", RSS_UDP}, {"sctp", RSS_SCTP}};

static int rss_fields_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	uint32_t fields = 0;

	if (strcmp(text, "auto") == 0 || strcmp(text, "off") == 0) {
		*(uint32_t *)out = text[0] == 'o' ? RSS_OFF : RSS_AUTO;
		return 0;
	}
	for (const char *at = text;;) {
		size_t n = strcspn(at, ","), i = 0;
		while (i < ARRAY_SIZE(field_words) && (strlen(field_words[i].word) != n ||
						       strncmp(field_words[i].word, at, n) != 0))
			i++;
		if (i == ARRAY_SIZE(field_words))
			return vspec_fail(s, EINVAL, (int)(at - text), e, text,
					  "has '%.*s', which is no header", (int)n, at);
		fields |= field_words[i].bit;
		if (at[n] == '\0')
			break;
		at += n + 1;
	}
	*(uint32_t *)out = fields;
	return 0;
}

static void rss_fields_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	uint32_t fields = *(const uint32_t *)v;
	bool any = false;

	(void)s;
	if (fields == RSS_AUTO || fields == RSS_OFF)
		sbuf_add(out, fields == RSS_OFF ? "off" : "auto");
	for (size_t i = 0; i < ARRAY_SIZE(field_words); i++) {
		if ((fields & field_words[i].bit) == 0)
			continue;
		sbuf_addf(out, "%s%s", any ? "," : "", field_words[i].word);
		any = true;
	}
}

static void rss_fields_complete(const struct vspec *s, const char *prefix,
				void (*offer)(void *arg, const char *word), void *arg)
{
	static const char *const words[] = {"auto", "off", "ip", "ip,udp", "ip,tcp", "ip,tcp,udp"};

	(void)s;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strncmp(words[i], prefix, strlen(prefix)) == 0)
			offer(arg, words[i]);
}

const struct vtype vt_rss_fields = {
	.name = "headers",
	.syntax = "auto | off | words of ip, tcp, udp, sctp joined by commas: ip,udp",
	.size = sizeof(uint32_t),
	.parse = rss_fields_parse,
	.print = rss_fields_print,
	.complete = rss_fields_complete};

static const struct vspec key_bytes = {.type = &vt_hex, .min = 1, .max = RSS_KEY_MAX};

static int rss_key_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct rss_key *key = out;
	_Alignas(struct hexbytes) uint8_t room[HEXBYTES_SIZE];
	struct hexbytes *bytes = (struct hexbytes *)room;
	struct err why = {.text = "", .col = 0};

	if (strcmp(text, "default") == 0) {
		*key = (struct rss_key){0};
		return 0;
	}
	int rc = vt_hex.parse(&key_bytes, text, bytes, &why);
	if (rc != 0)
		return vspec_fail(s, -rc, why.col, e, text, "is no key of 1 to %d bytes",
				  RSS_KEY_MAX);
	*key = (struct rss_key){.n = bytes->n};
	memcpy(key->b, bytes->b, bytes->n);
	return 0;
}

static void rss_key_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct rss_key *key = v;

	(void)s;
	if (key->n == 0)
		sbuf_add(out, "default");
	for (unsigned i = 0; i < key->n; i++)
		sbuf_addf(out, "%02x", key->b[i]);
}

const struct vtype vt_rss_key = {
	.name = "key",
	.syntax = "default | as many bytes as the device's key has, in hexadecimal: 6d5a56da...",
	.size = sizeof(struct rss_key),
	.parse = rss_key_parse,
	.print = rss_key_print};

static bool list_number(const char **at, unsigned long top, unsigned long *out)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	*out = strtoul(*at, &end, 10);
	*at = end;
	return errno == 0 && *out <= top;
}

/* Takes one item from *at: Q, Q-R or Q*N. false: it is none, or it does not fit. */
static bool list_item(const char **at, struct rss_list *list)
{
	unsigned long first, second = 1, times = 1, step = 0;

	if (!list_number(at, UINT16_MAX, &first))
		return false;
	if (**at == '-') {
		++*at;
		if (!list_number(at, UINT16_MAX, &second) || second < first)
			return false;
		times = second - first + 1;
		step = 1;
	} else if (**at == '*') {
		++*at;
		if (!list_number(at, RSS_LIST_MAX, &times) || times == 0)
			return false;
	}
	if (times > RSS_LIST_MAX - (unsigned long)list->n)
		return false;
	for (unsigned long i = 0; i < times; i++)
		list->queue[list->n++] = (uint16_t)(first + i * step);
	return **at == ',' || **at == '\0';
}

static int rss_table_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct rss_list list = {0};
	const char *at = text;

	if (strcmp(text, "default") == 0) {
		*(struct rss_list *)out = list;
		return 0;
	}
	for (;;) {
		const char *item = at;
		if (!list_item(&at, &list))
			return vspec_fail(
				s, EINVAL, (int)(item - text), e, text,
				"has an item that is no queue, no range upwards, or makes more than %d entries",
				RSS_LIST_MAX);
		if (*at == '\0')
			break;
		at++;
	}
	*(struct rss_list *)out = list;
	return 0;
}

void rss_list_print(const uint16_t *queue, unsigned n, struct sbuf *out)
{
	for (unsigned i = 0, same, up; i<n; i += same> 1 ? same : up) {
		for (same = 1; i + same < n && queue[i + same] == queue[i];)
			same++;
		for (up = 1; i + up < n && queue[i + up] == queue[i] + up;)
			up++;
		if (up < 3) /* two that follow are two items */
			up = 1;
		sbuf_addf(out, "%s%u", i > 0 ? "," : "", queue[i]);
		if (same > 1)
			sbuf_addf(out, "*%u", same);
		else if (up > 1)
			sbuf_addf(out, "-%u", queue[i + up - 1]);
	}
}

static void rss_table_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct rss_list *list = v;

	(void)s;
	if (list->n == 0)
		sbuf_add(out, "default");
	rss_list_print(list->queue, list->n, out);
}

const struct vtype vt_rss_table = {
	.name = "table",
	.syntax =
		"default | queues, repeated until the device's table is full: 0-3 | 0,0,1,2 | 0*3,1",
	.size = sizeof(struct rss_list),
	.parse = rss_table_parse,
	.print = rss_table_print};
