/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client asks for, as JSON. */
#include "iperf_proto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_true(json_t *o, const char *key, bool on)
{
	if (on)
		json_object_set_new(o, key, json_true());
}

static void put_some(json_t *o, const char *key, uint64_t v)
{
	if (v != 0)
		json_object_set_new(o, key, json_integer((json_int_t)v));
}

static void put_text(json_t *o, const char *key, const char *text)
{
	json_t *v = text[0] != '\0' ? json_string(text) : NULL;

	if (v != NULL)
		json_object_set_new(o, key, v);
}

char *iperf_params_text(const struct iperf_params *p)
{
	json_t *o = json_object();

	put_true(o, p->udp ? "udp" : "tcp", true);
	json_object_set_new(o, "omit", json_integer((json_int_t)p->omit_s));
	json_object_set_new(o, "time", json_integer((json_int_t)p->time_s));
	json_object_set_new(o, "num", json_integer((json_int_t)p->bytes));
	json_object_set_new(o, "blockcount", json_integer((json_int_t)p->blocks));
	put_some(o, "MSS", p->mss);
	put_true(o, "nodelay", p->nodelay);
	json_object_set_new(o, "parallel", json_integer(p->parallel));
	put_true(o, "reverse", p->reverse);
	put_true(o, "bidirectional", p->bidir);
	put_some(o, "window", p->window);
	json_object_set_new(o, "len", json_integer(p->blksize));
	put_some(o, "bandwidth", p->rate);
	put_some(o, "fqrate", p->fq_rate);
	put_some(o, "pacing_timer", p->pacing_us);
	put_some(o, "burst", p->burst);
	put_some(o, "TOS", p->tos);
	put_some(o, "flowlabel", p->flowlabel);
	put_text(o, "title", p->title);
	put_text(o, "extra_data", p->extra);
	put_text(o, "congestion", p->congestion);
	if (p->get_output)
		put_some(o, "get_server_output", 1);
	if (p->udp64)
		put_some(o, "udp_counters_64bit", 1);
	if (p->cpu != 0)
		json_object_set_new(o, "server_affinity", json_integer(p->cpu - 1));
	if (p->skip_copy)
		put_some(o, "skip_rx_copy", 1);
	if (p->repeating)
		put_some(o, "repeating_payload", 1);
	if (p->zerocopy)
		put_some(o, "zerocopy", 1);
	if (p->dont_fragment)
		put_some(o, "dont_fragment", 1);
	put_text(o, "client_version", p->version);
	char *text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return text;
}

/* ---- reading ---- */

struct reader {
	const json_t *o;
	int code, rc;
	struct err *e;
};

static bool is_set(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_true(v) || (json_is_number(v) && json_number_value(v) != 0);
}

/* A number of 0 to `most`; what it was before if the key is not there or is no number. */
static uint64_t get_number(struct reader *r, const char *key, uint64_t dflt, uint64_t most,
			   int code)
{
	const json_t *v = json_object_get(r->o, key);
	double d = json_number_value(v);

	if (!json_is_number(v) || r->rc != 0)
		return dflt;
	if (d >= 0 && d <= (double)most)
		return (uint64_t)d;
	r->code = code;
	r->rc = err_set(r->e, ERANGE, "the client asks for %s %.0f; allowed are 0 to %" PRIu64, key,
			d, most);
	return dflt;
}

static void get_text(const json_t *o, const char *key, char *out, size_t n)
{
	const char *text = json_string_value(json_object_get(o, key));

	if (text != NULL && strlen(text) < n)
		memcpy(out, text, strlen(text) + 1);
}

static int params_fail(struct reader *r, int code, int error, const char *text)
{
	r->code = code;
	return r->rc = err_set(r->e, error, "%s", text);
}

static void params_protocol(struct reader *r, struct iperf_params *p)
{
	if (is_set(r->o, "sctp"))
		params_fail(r, IPERF_E_NO_SCTP, ENOTSUP,
			    "the client asks for SCTP; this server has TCP and UDP");
	else if (is_set(r->o, "mptcp"))
		params_fail(r, IPERF_E_UNIMPLEMENTED, ENOTSUP,
			    "the client asks for MPTCP; this server has TCP and UDP");
	p->udp = is_set(r->o, "udp");
}

/* Sizes that depend on the protocol and on each other. */
static void params_check(struct reader *r, const struct iperf_params *p)
{
	if (r->rc != 0)
		return;
	if (p->parallel == 0)
		params_fail(r, IPERF_E_STREAMS, EINVAL,
			    "the client asks for 0 streams; allowed are 1 to 128");
	else if (p->reverse && p->bidir)
		params_fail(
			r, IPERF_E_UNIMPLEMENTED, EINVAL,
			"the client asks for both --reverse and --bidir; one of them is allowed");
	else if (p->udp && (p->blksize < IPERF_UDP_LEAST || p->blksize > IPERF_UDP_MOST))
		params_fail(r, IPERF_E_UDP_BLOCK, ERANGE,
			    "the client asks for datagrams of a length that is not 16 to 65507");
	else if (p->blksize == 0)
		params_fail(r, IPERF_E_BLOCK, EINVAL,
			    "the client asks for blocks of 0 bytes; allowed are 1 to 1048576");
}

static void params_numbers(struct reader *r, struct iperf_params *p)
{
	const uint64_t any = 1ull << 62;

	p->omit_s = get_number(r, "omit", 0, IPERF_OMIT_MOST, IPERF_E_OMIT);
	p->time_s = get_number(r, "time", 10, IPERF_TIME_MOST, IPERF_E_DURATION);
	p->bytes = get_number(r, "num", 0, any, IPERF_E_BLOCK);
	p->blocks = get_number(r, "blockcount", 0, any, IPERF_E_BLOCK);
	p->mss = (uint32_t)get_number(r, "MSS", 0, IPERF_MSS_MOST, IPERF_E_MSS);
	p->parallel = (uint32_t)get_number(r, "parallel", 1, IPERF_STREAMS_MOST, IPERF_E_STREAMS);
	p->window = (uint32_t)get_number(r, "window", 0, IPERF_WINDOW_MOST, IPERF_E_WINDOW);
	p->blksize = (uint32_t)get_number(r, "len", p->udp ? 1460 : 128 << 10, IPERF_BLOCK_MOST,
					  IPERF_E_BLOCK);
	p->rate = get_number(r, "bandwidth", 0, any, IPERF_E_UNIMPLEMENTED);
	p->fq_rate = get_number(r, "fqrate", 0, any, IPERF_E_UNIMPLEMENTED);
	p->pacing_us = get_number(r, "pacing_timer", 1000, any, IPERF_E_UNIMPLEMENTED);
	p->burst = (uint32_t)get_number(r, "burst", 0, IPERF_BURST_MOST, IPERF_E_UNIMPLEMENTED);
	p->tos = (uint32_t)get_number(r, "TOS", 0, 255, IPERF_E_UNIMPLEMENTED);
	if (json_is_number(json_object_get(r->o, "server_affinity")))
		p->cpu = 1 + (uint32_t)get_number(r, "server_affinity", 0, IPERF_CPU_MOST,
						  IPERF_E_AFFINITY);
	p->flowlabel = (uint32_t)get_number(r, "flowlabel", 0, 0xfffff, IPERF_E_UNIMPLEMENTED);
}

int iperf_params_read(const char *text, size_t n, struct iperf_params *p, int *code, struct err *e)
{
	json_error_t why;
	json_t *o = json_loadb(text, n, JSON_DECODE_INT_AS_REAL, &why);
	struct reader r = {.o = o, .e = e};

	*p = (struct iperf_params){0};
	*code = IPERF_E_RECV_PARAMS;
	if (!json_is_object(o)) {
		json_decref(o);
		return err_set(e, EPROTO, "the client's parameters are no JSON object: %.80s",
			       o == NULL ? why.text : "another value");
	}
	params_protocol(&r, p);
	params_numbers(&r, p);
	p->reverse = is_set(o, "reverse");
	p->bidir = is_set(o, "bidirectional");
	p->nodelay = is_set(o, "nodelay");
	p->get_output = is_set(o, "get_server_output");
	p->udp64 = is_set(o, "udp_counters_64bit");
	p->repeating = is_set(o, "repeating_payload");
	p->skip_copy = is_set(o, "skip_rx_copy");
	p->zerocopy = is_set(o, "zerocopy");
	p->dont_fragment = is_set(o, "dont_fragment");
	get_text(o, "congestion", p->congestion, sizeof(p->congestion));
	get_text(o, "title", p->title, sizeof(p->title));
	get_text(o, "extra_data", p->extra, sizeof(p->extra));
	get_text(o, "client_version", p->version, sizeof(p->version));
	params_check(&r, p);
	*code = r.code;
	json_decref(o);
	return r.rc;
}
