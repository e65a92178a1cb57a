/* SPDX-License-Identifier: BSD-3-Clause */
/* What each end has seen, as JSON. */
#include "iperf_proto.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int iperf_stream_id(unsigned nth)
{
	return nth == 0 ? 1 : (int)nth + 2;
}

static json_t *result_json(const struct iperf_result *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "id", json_integer(s->id));
	json_object_set_new(o, "bytes", json_integer((json_int_t)s->bytes));
	json_object_set_new(o, "retransmits", json_integer(s->retransmits));
	json_object_set_new(o, "jitter", json_real(s->jitter_s));
	json_object_set_new(o, "errors", json_integer(s->errors));
	json_object_set_new(o, "omitted_errors", json_integer(s->omitted_errors));
	json_object_set_new(o, "packets", json_integer(s->packets));
	json_object_set_new(o, "omitted_packets", json_integer(s->omitted_packets));
	json_object_set_new(o, "start_time", json_real(s->start_s));
	json_object_set_new(o, "end_time", json_real(s->end_s));
	return o;
}

char *iperf_results_text(const struct iperf_results *r)
{
	json_t *o = json_object(), *streams = json_array();

	json_object_set_new(o, "cpu_util_total", json_real(r->cpu[0]));
	json_object_set_new(o, "cpu_util_user", json_real(r->cpu[1]));
	json_object_set_new(o, "cpu_util_system", json_real(r->cpu[2]));
	json_object_set_new(o, "sender_has_retransmits", json_integer(r->has_retransmits));
	if (r->congestion[0] != '\0')
		json_object_set_new(o, "congestion_used", json_string(r->congestion));
	for (unsigned i = 0; i < r->n; i++)
		json_array_append_new(streams, result_json(&r->stream[i]));
	json_object_set_new(o, "streams", streams);
	if (r->output_json != NULL)
		json_object_set(o, "server_output_json", r->output_json);
	if (r->output_text != NULL)
		json_object_set_new(o, "server_output_text", json_string(r->output_text));
	char *text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return text;
}

/* ---- reading ---- */

struct reader {
	int rc;
	struct err *e;
};

/* The number of a key that must be there. */
static double get_needed(struct reader *r, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (r->rc == 0 && !json_is_number(v))
		r->rc = err_set(r->e, EPROTO, "the peer's results have no number \"%s\"", key);
	return json_number_value(v);
}

/* Servers before 3.14 say -1 as 2^64 - 1. */
static int64_t whole_of(double v)
{
	if (v >= 0x1p63)
		return -1;
	return v <= -0x1p63 || isnan(v) ? 0 : (int64_t)v;
}

static uint64_t bytes_of(double v)
{
	return v > 0 && v < 0x1p63 ? (uint64_t)v : 0;
}

static void result_read(struct reader *r, const json_t *o, struct iperf_result *s)
{
	s->id = (int)(int32_t)whole_of(fmod(get_needed(r, o, "id"), 0x1p31));
	s->bytes = bytes_of(get_needed(r, o, "bytes"));
	s->retransmits = whole_of(get_needed(r, o, "retransmits"));
	s->jitter_s = get_needed(r, o, "jitter");
	s->errors = whole_of(get_needed(r, o, "errors"));
	s->packets = whole_of(get_needed(r, o, "packets"));
	s->omitted_errors = whole_of(json_number_value(json_object_get(o, "omitted_errors")));
	s->omitted_packets = whole_of(json_number_value(json_object_get(o, "omitted_packets")));
	s->start_s = json_number_value(json_object_get(o, "start_time"));
	s->end_s = json_number_value(json_object_get(o, "end_time"));
}

/* Numbers of 64 bits without a sign are too large for the integers of JSON here; then all of them
 * are read as real numbers. */
static json_t *results_load(const char *text, size_t n, json_error_t *why)
{
	json_t *o = json_loadb(text, n, 0, why);

	return o != NULL ? o : json_loadb(text, n, JSON_DECODE_INT_AS_REAL, why);
}

static void results_fill(struct reader *r, const json_t *o, struct iperf_results *out)
{
	const json_t *streams = json_object_get(o, "streams"), *s;
	const char *used = json_string_value(json_object_get(o, "congestion_used"));
	const char *text = json_string_value(json_object_get(o, "server_output_text"));
	size_t i;

	out->cpu[0] = get_needed(r, o, "cpu_util_total");
	out->cpu[1] = get_needed(r, o, "cpu_util_user");
	out->cpu[2] = get_needed(r, o, "cpu_util_system");
	out->has_retransmits = (int)(int32_t)whole_of(get_needed(r, o, "sender_has_retransmits"));
	if (used != NULL && strlen(used) < sizeof(out->congestion))
		memcpy(out->congestion, used, strlen(used) + 1);
	if (r->rc == 0 && !json_is_array(streams))
		r->rc = err_set(r->e, EPROTO, "the peer's results have no list \"streams\"");
	if (r->rc == 0 && json_array_size(streams) > ARRAY_SIZE(out->stream))
		r->rc = err_set(r->e, EPROTO,
				"the peer's results have %zu streams; a test has at most %zu",
				json_array_size(streams), ARRAY_SIZE(out->stream));
	json_array_foreach(streams, i, s) {
		if (r->rc != 0)
			break;
		result_read(r, s, &out->stream[out->n++]);
	}
	out->output_json = json_incref(json_object_get(o, "server_output_json"));
	out->output_text = text != NULL ? xstrdup(text) : NULL;
}

int iperf_results_read(const char *text, size_t n, struct iperf_results *out, struct err *e)
{
	json_error_t why;
	struct reader r = {.e = e};
	json_t *o = results_load(text, n, &why);

	memset(out, 0, sizeof(*out));
	if (json_is_object(o))
		results_fill(&r, o, out);
	else
		r.rc = err_set(e, EPROTO, "the peer's results are no JSON object: %.80s",
			       o == NULL ? why.text : "another value");
	json_decref(o);
	return r.rc;
}

void iperf_results_free(struct iperf_results *r)
{
	json_decref(r->output_json);
	free(r->output_text);
	r->output_json = NULL;
	r->output_text = NULL;
}

const struct iperf_result *iperf_result_of(const struct iperf_results *r, int id)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->stream[i].id == id)
			return &r->stream[i];
	return NULL;
}
