/* SPDX-License-Identifier: BSD-3-Clause */
/* The control connection of both ends. */
#include "iperf_proto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* What comes next. The first group is of servers, the second of clients. */
enum phase {
	PH_COOKIE,
	PH_PARAMS,  /* the head of the parameters, and then they */
	PH_PREPARE, /* nothing: the owner has to answer */
	PH_CONNECT, /* nothing: the data connections come */
	PH_RUN,     /* the client's end of the test */
	PH_STOP,    /* nothing: the owner has to answer */
	PH_BYE,     /* the client has what it wants */

	PH_HELLO, /* the server asks for the parameters */
	PH_ASKED, /* it asks for the data connections */
	PH_WAIT,  /* the test starts */
	PH_READY, /* and runs */
	PH_RUNNING,
	PH_ENDED, /* the server asks for results */
	PH_SHOW,  /* it says that all is over */
	PH_ERROR, /* the two numbers of a server's error */

	PH_RESULTS, /* of both: the head of the results, and then they */
	PH_ANSWER,  /* the owner has to give its results: a client's before the peer's come */
	PH_OVER
};

static const char *phase_text(const struct iperf_ctl *c)
{
	static const char *const text[] = {
		[PH_COOKIE] = "before it had said who it is",
		[PH_PARAMS] = "before it had said what the test is",
		[PH_PREPARE] = "before the test had begun",
		[PH_CONNECT] = "before the test had begun",
		[PH_RUN] = "while the test ran",
		[PH_STOP] = "at the end of the test",
		[PH_BYE] = "after the results",
		[PH_HELLO] = "before it had asked for the test",
		[PH_ASKED] = "before the test had begun",
		[PH_WAIT] = "before the test had begun",
		[PH_READY] = "before the test had begun",
		[PH_RUNNING] = "while the test ran",
		[PH_ENDED] = "at the end of the test, without results",
		[PH_SHOW] = "behind its results",
		[PH_ERROR] = "in the middle of an error",
		[PH_RESULTS] = "at the end of the test, without results",
		[PH_ANSWER] = "at the end of the test",
		[PH_OVER] = "after the test",
	};
	return text[c->phase];
}

static const char *peer_text(const struct iperf_ctl *c)
{
	return c->client ? "the server" : "the client";
}

static void put_byte(struct iperf_ctl *c, int state)
{
	sbuf_addc(&c->out, (char)state);
}

static void put_u32(struct iperf_ctl *c, uint32_t v)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		sbuf_addc(&c->out, (char)(v >> shift));
}

static void put_json(struct iperf_ctl *c, const char *text)
{
	put_u32(c, (uint32_t)strlen(text));
	sbuf_add(&c->out, text);
}

static void next_phase(struct iperf_ctl *c, enum phase phase)
{
	c->phase = (uint8_t)phase;
	c->have = 0;
	c->need = 0;
}

static enum iperf_event ctl_fail(struct iperf_ctl *c, int code)
{
	c->code = code;
	next_phase(c, PH_OVER);
	return IPERF_EV_FAILED;
}

void iperf_ctl_client(struct iperf_ctl *c, const char *cookie, char *params)
{
	*c = (struct iperf_ctl){.client = true, .phase = PH_HELLO, .params = params};
	memcpy(c->cookie, cookie, IPERF_COOKIE);
	sbuf_addn(&c->out, cookie, IPERF_COOKIE);
}

void iperf_ctl_server(struct iperf_ctl *c)
{
	*c = (struct iperf_ctl){.phase = PH_COOKIE};
}

void iperf_ctl_free(struct iperf_ctl *c)
{
	sbuf_free(&c->out);
	sbuf_free(&c->json);
	free(c->params);
	c->params = NULL;
}

bool iperf_ctl_met(const struct iperf_ctl *c)
{
	return c->client || c->phase != PH_COOKIE;
}

bool iperf_ctl_gave(const struct iperf_ctl *c)
{
	return c->phase == PH_BYE;
}

/* ---- states ---- */

static enum iperf_event odd_state(struct iperf_ctl *c, int state)
{
	err_set(&c->why, EPROTO,
		"%s has sent the state %d %s; this is no iperf3, or one gone wrong", peer_text(c),
		state, phase_text(c));
	return ctl_fail(c, 0);
}

static enum iperf_event ctl_step(struct iperf_ctl *c, enum phase phase, enum iperf_event ev)
{
	next_phase(c, phase);
	return ev;
}

/* States in which a server may leave a test at any time. */
static enum iperf_event client_end(struct iperf_ctl *c, int state)
{
	switch (state) {
	case IPERF_ACCESS_DENIED:
		err_set(&c->why, EBUSY,
			"the server is busy with another test; try again when it is over");
		return ctl_fail(c, 121);
	case IPERF_SERVER_TERMINATE:
		err_set(&c->why, ECONNABORTED, "the server has terminated %s", phase_text(c));
		return ctl_fail(c, 120);
	case IPERF_SERVER_ERROR:
		return ctl_step(c, PH_ERROR, IPERF_EV_NONE);
	}
	return odd_state(c, state);
}

static enum iperf_event client_state(struct iperf_ctl *c, int state)
{
	if (c->phase == PH_HELLO && state == IPERF_PARAM_EXCHANGE) {
		put_json(c, c->params);
		return ctl_step(c, PH_ASKED, IPERF_EV_NONE);
	}
	if (c->phase == PH_ASKED && state == IPERF_CREATE_STREAMS)
		return ctl_step(c, PH_WAIT, IPERF_EV_CREATE);
	if (c->phase == PH_WAIT && state == IPERF_TEST_START)
		return ctl_step(c, PH_READY, IPERF_EV_START);
	if (c->phase == PH_READY && state == IPERF_TEST_RUNNING)
		return ctl_step(c, PH_RUNNING, IPERF_EV_RUN);
	if (c->phase == PH_ENDED && state == IPERF_EXCHANGE_RESULTS)
		return ctl_step(c, PH_ANSWER, IPERF_EV_ASKED);
	if (c->phase == PH_SHOW && state == IPERF_DISPLAY_RESULTS) {
		put_byte(c, IPERF_DONE);
		return ctl_step(c, PH_OVER, IPERF_EV_DONE);
	}
	return client_end(c, state);
}

static enum iperf_event server_state(struct iperf_ctl *c, int state)
{
	if (state == IPERF_CLIENT_TERMINATE) {
		err_set(&c->why, ECONNABORTED, "the client has terminated %s", phase_text(c));
		return ctl_fail(c, 119);
	}
	if (c->phase == PH_RUN && state == IPERF_TEST_END)
		return ctl_step(c, PH_STOP, IPERF_EV_END);
	if (c->phase == PH_BYE && state == IPERF_DONE)
		return ctl_step(c, PH_OVER, IPERF_EV_DONE);
	if (state == IPERF_DONE) {
		err_set(&c->why, ECONNABORTED, "the client has given up %s", phase_text(c));
		return ctl_fail(c, 119);
	}
	return odd_state(c, state);
}

/* ---- what is longer than a byte ---- */

static uint32_t head_u32(const struct iperf_ctl *c, unsigned at)
{
	return (uint32_t)get_be16(c->head + at) << 16 | get_be16(c->head + at + 2);
}

/* Takes up to `want` bytes of a head. true: it is complete. */
static bool take_head(struct iperf_ctl *c, unsigned want, const uint8_t *data, size_t n, size_t *at)
{
	while (c->have < want && *at < n)
		c->head[c->have++] = data[(*at)++];
	return c->have == want;
}

static enum iperf_event in_error(struct iperf_ctl *c, const uint8_t *data, size_t n, size_t *at)
{
	struct sbuf text = {0};

	if (!take_head(c, 8, data, n, at))
		return IPERF_EV_NONE;
	c->code = (int)(head_u32(c, 0) & 0xffff);
	iperf_error_text(c->code, (int)(head_u32(c, 4) & 0xffff), &text);
	err_set(&c->why, ECONNABORTED, "the server says: %s", sbuf_str(&text));
	sbuf_free(&text);
	return ctl_fail(c, c->code);
}

static enum iperf_event in_cookie(struct iperf_ctl *c, const uint8_t *data, size_t n, size_t *at)
{
	while (c->have < IPERF_COOKIE && *at < n)
		c->cookie[c->have++] = (char)data[(*at)++];
	if (c->have < IPERF_COOKIE)
		return IPERF_EV_NONE;
	if (!iperf_cookie_is((const uint8_t *)c->cookie)) {
		err_set(&c->why, EPROTO,
			"the client does not begin with a cookie of iperf3, 36 characters and a zero byte");
		return ctl_fail(c, 0);
	}
	put_byte(c, IPERF_PARAM_EXCHANGE);
	return ctl_step(c, PH_PARAMS, IPERF_EV_NONE);
}

static enum iperf_event in_json(struct iperf_ctl *c, const uint8_t *data, size_t n, size_t *at)
{
	bool params = c->phase == PH_PARAMS;
	uint32_t most = params ? IPERF_PARAMS_MOST : IPERF_RESULTS_MOST;

	if (c->have < 4) {
		if (!take_head(c, 4, data, n, at))
			return IPERF_EV_NONE;
		c->need = head_u32(c, 0);
		sbuf_reset(&c->json);
		if (c->need == 0 || c->need > most) {
			err_set(&c->why, EPROTO, "%s announces %s of %u bytes; allowed are 1 to %u",
				peer_text(c), params ? "parameters" : "results", c->need, most);
			if (!c->client)
				put_byte(c, IPERF_SERVER_ERROR), put_u32(c, IPERF_E_RECV_PARAMS),
					put_u32(c, 0);
			return ctl_fail(c, 0);
		}
	}
	size_t take = c->need - c->json.len;
	if (take > n - *at)
		take = n - *at;
	sbuf_addn(&c->json, (const char *)data + *at, take);
	*at += take;
	if (c->json.len < c->need)
		return IPERF_EV_NONE;
	if (params)
		return ctl_step(c, PH_PREPARE, IPERF_EV_PARAMS);
	return ctl_step(c, c->client ? PH_SHOW : PH_ANSWER, IPERF_EV_RESULTS);
}

static enum iperf_event in_some(struct iperf_ctl *c, const uint8_t *data, size_t n, size_t *at)
{
	switch ((enum phase)c->phase) {
	case PH_COOKIE:
		return in_cookie(c, data, n, at);
	case PH_PARAMS:
	case PH_RESULTS:
		return in_json(c, data, n, at);
	case PH_ERROR:
		return in_error(c, data, n, at);
	case PH_OVER:
		*at = n;
		return IPERF_EV_NONE;
	default:
		break;
	}
	int state = (int8_t)data[(*at)++];
	return c->client ? client_state(c, state) : server_state(c, state);
}

size_t iperf_ctl_in(struct iperf_ctl *c, const uint8_t *data, size_t n, enum iperf_event *ev)
{
	size_t at = 0;

	*ev = IPERF_EV_NONE;
	while (at < n && *ev == IPERF_EV_NONE)
		*ev = in_some(c, data, n, &at);
	return at;
}

enum iperf_event iperf_ctl_gone(struct iperf_ctl *c, int error)
{
	if (c->phase == PH_OVER)
		return IPERF_EV_NONE;
	if (c->phase == PH_BYE) { /* it has all that it wanted */
		next_phase(c, PH_OVER);
		return IPERF_EV_DONE;
	}
	if (error != 0)
		err_set(&c->why, error, "the control connection broke %s: %s", phase_text(c),
			strerror(error));
	else
		err_set(&c->why, ECONNRESET, "%s has closed the control connection %s",
			peer_text(c), phase_text(c));
	return ctl_fail(c, 109);
}

/* ---- what the owner does ---- */

void iperf_ctl_streams(struct iperf_ctl *c)
{
	put_byte(c, IPERF_CREATE_STREAMS);
	next_phase(c, PH_CONNECT);
}

void iperf_ctl_refuse(struct iperf_ctl *c, int code, int error)
{
	put_byte(c, IPERF_SERVER_ERROR);
	put_u32(c, (uint32_t)code);
	put_u32(c, (uint32_t)error);
	next_phase(c, PH_OVER);
}

void iperf_ctl_deny(struct iperf_ctl *c)
{
	put_byte(c, IPERF_ACCESS_DENIED);
	next_phase(c, PH_OVER);
}

void iperf_ctl_go(struct iperf_ctl *c)
{
	put_byte(c, IPERF_TEST_START);
	put_byte(c, IPERF_TEST_RUNNING);
	next_phase(c, PH_RUN);
}

void iperf_ctl_end(struct iperf_ctl *c)
{
	put_byte(c, IPERF_TEST_END);
	next_phase(c, PH_ENDED);
}

void iperf_ctl_exchange(struct iperf_ctl *c)
{
	put_byte(c, IPERF_EXCHANGE_RESULTS);
	next_phase(c, PH_RESULTS);
}

void iperf_ctl_results(struct iperf_ctl *c, char *text)
{
	put_json(c, text);
	free(text);
	if (c->client) {
		next_phase(c, PH_RESULTS);
	} else {
		put_byte(c, IPERF_DISPLAY_RESULTS);
		next_phase(c, PH_BYE);
	}
}

void iperf_ctl_terminate(struct iperf_ctl *c)
{
	if (c->phase != PH_OVER && c->phase != PH_COOKIE)
		put_byte(c, c->client ? IPERF_CLIENT_TERMINATE : IPERF_SERVER_TERMINATE);
	next_phase(c, PH_OVER);
}

/* ---- cookies ---- */

void iperf_cookie(char out[IPERF_COOKIE])
{
	static const char of[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint8_t raw[IPERF_COOKIE - 1];

	if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw))
		for (size_t i = 0; i < sizeof(raw); i++)
			raw[i] = (uint8_t)rand();
	for (size_t i = 0; i < sizeof(raw); i++)
		out[i] = of[raw[i] % 32];
	out[IPERF_COOKIE - 1] = '\0';
}

bool iperf_cookie_is(const uint8_t *p)
{
	for (unsigned i = 0; i < IPERF_COOKIE - 1; i++)
		if (p[i] < 0x21 || p[i] > 0x7e)
			return false;
	return p[IPERF_COOKIE - 1] == 0;
}

/* ---- errors of servers ---- */

static const struct {
	int code;
	const char *text;
} errors[] = {
	{IPERF_E_DURATION, "the test would take too long"},
	{IPERF_E_STREAMS, "too many parallel streams"},
	{IPERF_E_BLOCK, "the blocks are too long (-l)"},
	{IPERF_E_WINDOW, "the socket buffers are too large (-w)"},
	{IPERF_E_MSS, "the MSS is too large (-M)"},
	{IPERF_E_OMIT, "it does not omit so many seconds (-O)"},
	{IPERF_E_UNIMPLEMENTED, "it cannot do what was asked for"},
	{IPERF_E_NO_SCTP, "it has no SCTP"},
	{IPERF_E_UDP_BLOCK, "the datagrams have a length that it does not take (-l)"},
	{36, "the test would be longer than this server allows"},
	{26, "the rate of all streams is higher than this server allows (-b)"},
	{IPERF_E_RECV_PARAMS, "it could not read what test was asked for"},
	{119, "the client has terminated"},
	{121, "it is busy with another test"},
	{IPERF_E_AFFINITY, "it may not use the CPU that -A asks for"},
	{IPERF_E_CONGESTION, "it does not have this congestion control (-C)"},
	{142, "it wants a user name and a password, which are not in this version"},
	{144, "it has heard nothing for too long"},
	{160, "the test took longer than this server allows"},
	{IPERF_E_STREAM_LISTEN, "it could not listen for data connections"},
	{IPERF_E_STREAM_ACCEPT, "it could not accept a data connection"},
};

void iperf_error_text(int code, int error, struct sbuf *out)
{
	const char *text = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].code == code)
			text = errors[i].text;
	if (text != NULL)
		sbuf_add(out, text);
	else
		sbuf_addf(out, "error %d of iperf3", code);
	if (error != 0)
		sbuf_addf(out, " (%s)", strerror(error));
}
