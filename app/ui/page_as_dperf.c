/* SPDX-License-Identifier: BSD-3-Clause */
#include "page_as_dperf.h"

#include <stdio.h>
#include <string.h>

#define NUMBER(name, sort) {#name, DPERF_##sort},
const struct dperf_number dperf_numbers[DPERF_NNUMBERS] = {DPERF_NUMBERS(NUMBER)};

/* The places of each line: how wide a name is, and how wide a number. */
static const struct {
	int label, number;
} block_columns[DPERF_PLACES] = {{8, 18}, {9, 18}, {9, 18}, {8, 18}, {8, 10}, {6, 10}};

/* What is no counter, behind all that are; only the last one of a line can be it. */
#define RTT DPERF_NNUMBERS

/* Which blocks have a line. */
enum block_of { ALL, OF_TCP, OF_UDP, OF_HTTP, OF_RAW };
static const struct block_row {
	enum block_of of;
	unsigned n;
	uint8_t number[DPERF_PLACES];
} block_rows[] = {
	{ALL, 5, {DPERF_pktRx, DPERF_pktTx, DPERF_bitsRx, DPERF_bitsTx, DPERF_dropTx}},
	{ALL, 4, {DPERF_tcpRx, DPERF_tcpTx, DPERF_udpRx, DPERF_udpTx}},
	{ALL, 4, {DPERF_arpRx, DPERF_arpTx, DPERF_icmpRx, DPERF_icmpTx}},
	{ALL, 3, {DPERF_tosRx, DPERF_otherRx, DPERF_badRx}},
	{OF_TCP, 6, {DPERF_synRx, DPERF_synTx, DPERF_finRx, DPERF_finTx, DPERF_rstRx, DPERF_rstTx}},
	{OF_TCP, 4, {DPERF_synRt, DPERF_finRt, DPERF_ackRt, DPERF_pushRt}},
	{OF_TCP, 3, {DPERF_tcpDrop, DPERF_udpDrop, DPERF_ackDup}},
	{OF_UDP, 3, {DPERF_udpRt, DPERF_udpDrop, DPERF_tcpDrop}},
	{ALL, 5, {DPERF_skOpen, DPERF_skClose, DPERF_skCon, DPERF_skErr, RTT}},
	{OF_HTTP, 4, {DPERF_httpGet, DPERF_httpPost, DPERF_http2XX, DPERF_httpErr}},
	{OF_RAW, 2, {DPERF_tcpReq, DPERF_tcpRsp}},
	{ALL, 3, {DPERF_ierrors, DPERF_oerrors, DPERF_imissed}},
};

static bool block_is(const json_t *block, const char *key, const char *word)
{
	const char *text = json_string_value(json_object_get(block, key));

	return text != NULL && strcmp(text, word) == 0;
}

static void block_place(unsigned number, unsigned column, struct dperf_place *out)
{
	const char *name = number == RTT ? "rtt(us)" : dperf_numbers[number].name;

	snprintf(out->label, sizeof(out->label), "%-*s", block_columns[column].label, name);
	out->key = number == RTT ? "rtt_us" : name;
	out->width = block_columns[column].number;
}

int dperf_block_line(const json_t *block, unsigned i, struct dperf_place out[DPERF_PLACES])
{
	bool udp = block_is(block, "protocol", "udp"), http = block_is(block, "app", "http");
	bool single = json_is_true(json_object_get(block, "single"));

	if (i >= ARRAY_SIZE(block_rows))
		return -1;
	const struct block_row *r = &block_rows[i];
	if ((r->of == OF_UDP && !udp) || (r->of > OF_UDP && udp) || (r->of == OF_TCP && udp) ||
	    (r->of == OF_HTTP && !http) || (r->of == OF_RAW && http))
		return 0;
	unsigned n = r->number[r->n - 1] == RTT && !single ? r->n - 1 : r->n;
	for (unsigned k = 0; k < n; k++)
		block_place(r->number[k], k, &out[k]);
	return (int)n;
}

/* The digits of a number with a comma behind each thousand. */
static void block_commas(uint64_t v, struct sbuf *out)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)v);

	for (int i = 0; i < n; i++) {
		sbuf_addc(out, text[i]);
		if ((n - i) % 3 == 1 && i + 1 < n)
			sbuf_addc(out, ',');
	}
}

static const json_t *block_side(const json_t *block, bool total)
{
	return json_object_get(block, total ? "total" : "second");
}

void dperf_block_number(const json_t *block, bool total, const char *key, struct sbuf *out,
			bool *wrong)
{
	const json_t *v = json_object_get(block_side(block, total), key);
	double real = json_number_value(v);

	*wrong = false;
	if (json_is_integer(v) && json_integer_value(v) >= 0) {
		block_commas((uint64_t)json_integer_value(v), out);
		for (unsigned i = 0; i < DPERF_NNUMBERS; i++)
			*wrong |= strcmp(dperf_numbers[i].name, key) == 0 &&
				  (dperf_numbers[i].sort == DPERF_WRONG ||
				   dperf_numbers[i].sort == DPERF_EVER) &&
				  json_integer_value(v) > 0;
	} else if (json_is_real(v) && real >= 0 && real < 1e15) {
		uint64_t tenths = (uint64_t)(real * 10);
		block_commas(tenths / 10, out);
		sbuf_addf(out, ".%u", (unsigned)(tenths % 10));
	} else {
		sbuf_addc(out, '-');
	}
}

void dperf_block_errors(const json_t *block, bool total, struct sbuf *out)
{
	json_t *all = json_object_get(block_side(block, total), "errors"), *v;
	const char *name;
	bool any = false;

	json_object_foreach(all, name, v) {
		if (!json_is_integer(v) || json_integer_value(v) <= 0)
			continue;
		sbuf_add(out, any ? ", " : "");
		for (const char *p = name; *p != '\0'; p++)
			sbuf_addc(out, *p == '_' ? ' ' : *p);
		sbuf_addc(out, ' ');
		block_commas((uint64_t)json_integer_value(v), out);
		any = true;
	}
}

static void block_lines(const json_t *block, bool total, struct sbuf *out)
{
	struct dperf_place p[DPERF_PLACES];
	struct sbuf v = {0};
	bool wrong;
	int n;

	for (unsigned i = 0; (n = dperf_block_line(block, i, p)) >= 0; i++) {
		for (int k = 0; k < n; k++) {
			sbuf_reset(&v);
			dperf_block_number(block, total, p[k].key, &v, &wrong);
			sbuf_add(out, p[k].label);
			sbuf_addf(out, k + 1 < n ? "%-*s " : "%.*s", k + 1 < n ? p[k].width : 64,
				  sbuf_str(&v));
		}
		sbuf_add(out, n > 0 ? "\n" : "");
	}
	sbuf_reset(&v);
	dperf_block_errors(block, total, &v);
	if (v.len > 0)
		sbuf_addf(out, "errors  %s\n", v.s);
	sbuf_free(&v);
}

void dperf_block_second(const json_t *block, uint64_t seconds, bool which, struct sbuf *out)
{
	const json_t *v;
	size_t i;

	sbuf_addf(out, "\nseconds %-18llu cpuUsage ", (unsigned long long)seconds);
	json_array_foreach(json_object_get(block, "cpuUsage"), i, v)
		sbuf_addf(out, "%-4d", (int)json_integer_value(v));
	if (which)
		sbuf_addf(out, " %s", json_string_value(json_object_get(block, "role")));
	sbuf_addc(out, '\n');
	block_lines(block, false, out);
}

void dperf_block_total(const json_t *block, bool which, struct sbuf *out)
{
	sbuf_add(out, "\nTotal Numbers:");
	if (which)
		sbuf_addf(out, " %s", json_string_value(json_object_get(block, "role")));
	sbuf_addc(out, '\n');
	block_lines(block, true, out);
}
