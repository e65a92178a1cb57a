/* SPDX-License-Identifier: BSD-3-Clause */
#include "page_as_dperf.h"

#include <string.h>

#define NUMBER(name, sort) [DPERF_##name] = {#name, DPERF_##sort}
const struct dperf_number dperf_numbers[DPERF_NNUMBERS] = {
	NUMBER(pktRx, COUNT),   NUMBER(pktTx, COUNT),   NUMBER(bitsRx, COUNT),
	NUMBER(bitsTx, COUNT),  NUMBER(dropTx, WRONG),  NUMBER(tcpRx, COUNT),
	NUMBER(tcpTx, COUNT),   NUMBER(udpRx, COUNT),   NUMBER(udpTx, COUNT),
	NUMBER(arpRx, COUNT),   NUMBER(arpTx, COUNT),   NUMBER(icmpRx, COUNT),
	NUMBER(icmpTx, COUNT),  NUMBER(tosRx, COUNT),   NUMBER(otherRx, COUNT),
	NUMBER(badRx, WRONG),   NUMBER(synRx, COUNT),   NUMBER(synTx, COUNT),
	NUMBER(finRx, COUNT),   NUMBER(finTx, COUNT),   NUMBER(rstRx, WRONG),
	NUMBER(rstTx, WRONG),   NUMBER(synRt, WRONG),   NUMBER(finRt, WRONG),
	NUMBER(ackRt, WRONG),   NUMBER(pushRt, WRONG),  NUMBER(tcpDrop, WRONG),
	NUMBER(udpDrop, WRONG), NUMBER(ackDup, WRONG),  NUMBER(udpRt, WRONG),
	NUMBER(skOpen, COUNT),  NUMBER(skClose, COUNT), NUMBER(skCon, NOW),
	NUMBER(skErr, WRONG),   NUMBER(httpGet, COUNT), NUMBER(httpPost, COUNT),
	NUMBER(http2XX, COUNT), NUMBER(httpErr, WRONG), NUMBER(tcpReq, COUNT),
	NUMBER(tcpRsp, COUNT),  NUMBER(ierrors, EVER),  NUMBER(oerrors, EVER),
	NUMBER(imissed, EVER),
};

#define WIDE 18
#define NARROW 10

/* Which blocks have a line. */
enum block_of { ALL, OF_TCP, OF_UDP, OF_HTTP, OF_RAW };
static const struct block_row {
	enum block_of of;
	struct dperf_place place[DPERF_PLACES];
} block_rows[] = {
	{ALL,
	 {{"pktRx   ", "pktRx", WIDE},
	  {"pktTx    ", "pktTx", WIDE},
	  {"bitsRx   ", "bitsRx", WIDE},
	  {"bitsTx  ", "bitsTx", WIDE},
	  {"dropTx  ", "dropTx", WIDE}}},
	{ALL,
	 {{"tcpRx   ", "tcpRx", WIDE},
	  {"tcpTx    ", "tcpTx", WIDE},
	  {"udpRx    ", "udpRx", WIDE},
	  {"udpTx   ", "udpTx", WIDE}}},
	{ALL,
	 {{"arpRx   ", "arpRx", WIDE},
	  {"arpTx    ", "arpTx", WIDE},
	  {"icmpRx   ", "icmpRx", WIDE},
	  {"icmpTx  ", "icmpTx", WIDE}}},
	{ALL,
	 {{"tosRx   ", "tosRx", WIDE},
	  {"otherRx  ", "otherRx", WIDE},
	  {"badRx    ", "badRx", WIDE}}},
	{OF_TCP,
	 {{"synRx   ", "synRx", WIDE},
	  {"synTx    ", "synTx", WIDE},
	  {"finRx    ", "finRx", WIDE},
	  {"finTx   ", "finTx", WIDE},
	  {"rstRx   ", "rstRx", NARROW},
	  {"rstTx ", "rstTx", NARROW}}},
	{OF_TCP,
	 {{"synRt   ", "synRt", WIDE},
	  {"finRt    ", "finRt", WIDE},
	  {"ackRt    ", "ackRt", WIDE},
	  {"pushRt  ", "pushRt", WIDE}}},
	{OF_TCP,
	 {{"tcpDrop ", "tcpDrop", WIDE},
	  {"udpDrop  ", "udpDrop", WIDE},
	  {"ackDup   ", "ackDup", WIDE}}},
	{OF_UDP,
	 {{"udpRt   ", "udpRt", WIDE},
	  {"udpDrop  ", "udpDrop", WIDE},
	  {"tcpDrop  ", "tcpDrop", WIDE}}},
	{ALL,
	 {{"skOpen  ", "skOpen", WIDE},
	  {"skClose  ", "skClose", WIDE},
	  {"skCon    ", "skCon", WIDE},
	  {"skErr   ", "skErr", WIDE},
	  {"rtt(us) ", "rtt_us", NARROW}}},
	{OF_HTTP,
	 {{"httpGet ", "httpGet", WIDE},
	  {"httpPost ", "httpPost", WIDE},
	  {"http2XX  ", "http2XX", WIDE},
	  {"httpErr ", "httpErr", WIDE}}},
	{OF_RAW, {{"tcpReq  ", "tcpReq", WIDE}, {"tcpRsp   ", "tcpRsp", WIDE}}},
	{ALL,
	 {{"ierrors ", "ierrors", WIDE},
	  {"oerrors  ", "oerrors", WIDE},
	  {"imissed  ", "imissed", WIDE}}},
};

static bool block_is(const json_t *block, const char *key, const char *word)
{
	const char *text = json_string_value(json_object_get(block, key));

	return text != NULL && strcmp(text, word) == 0;
}

int dperf_block_line(const json_t *block, unsigned i, const struct dperf_place **out)
{
	bool udp = block_is(block, "protocol", "udp"), http = block_is(block, "app", "http");
	unsigned n = 0;

	if (i >= ARRAY_SIZE(block_rows))
		return -1;
	const struct block_row *r = &block_rows[i];
	if ((r->of == OF_UDP && !udp) || (r->of > OF_UDP && udp) || (r->of == OF_TCP && udp) ||
	    (r->of == OF_HTTP && !http) || (r->of == OF_RAW && http))
		return 0;
	while (n < DPERF_PLACES && r->place[n].key != NULL)
		n++;
	if (strcmp(r->place[n - 1].key, "rtt_us") == 0 &&
	    !json_is_true(json_object_get(block, "single")))
		n--;
	*out = r->place;
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
	const struct dperf_place *p = NULL;
	struct sbuf v = {0};
	bool wrong;
	int n;

	for (unsigned i = 0; (n = dperf_block_line(block, i, &p)) >= 0; i++) {
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
