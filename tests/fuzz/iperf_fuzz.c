/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes on a control connection of iperf3, in pieces of any size. The first byte says whose end
 * it is, each piece begins with its length. A machine takes what it is given, fails at most once
 * and says why, and never holds more than its limits. */
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "iperf_proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_params(struct iperf_ctl *c)
{
	struct iperf_params p, again;
	struct err e;
	int code = 0;

	CHECK(c->json.len <= IPERF_PARAMS_MOST);
	if (iperf_params_read(c->json.s, c->json.len, &p, &code, &e) < 0) {
		CHECK(code != 0 && e.text[0] != '\0');
		iperf_ctl_refuse(c, code, 0);
		return;
	}
	CHECK(p.parallel >= 1 && p.parallel <= IPERF_STREAMS_MOST);
	CHECK(p.blksize >= 1 && p.blksize <= IPERF_BLOCK_MOST);
	CHECK(p.time_s <= IPERF_TIME_MOST && p.omit_s <= IPERF_OMIT_MOST);
	/* what it has understood it can say again */
	char *text = iperf_params_text(&p);
	CHECK(text != NULL);
	CHECK(iperf_params_read(text, strlen(text), &again, &code, &e) == 0);
	CHECK(again.parallel == p.parallel && again.blksize == p.blksize && again.udp == p.udp);
	free(text);
	iperf_ctl_streams(c);
	iperf_ctl_go(c);
}

static void look_at_results(struct iperf_ctl *c)
{
	static struct iperf_results r;
	struct err e;

	CHECK(c->json.len <= IPERF_RESULTS_MOST);
	if (iperf_results_read(c->json.s, c->json.len, &r, &e) < 0)
		CHECK(e.text[0] != '\0');
	else
		CHECK(r.n <= ARRAY_SIZE(r.stream));
	char *text = iperf_results_text(&r);
	iperf_results_free(&r);
	if (!c->client && text != NULL)
		iperf_ctl_results(c, text);
	else
		free(text);
}

static void take_event(struct iperf_ctl *c, enum iperf_event ev)
{
	switch (ev) {
	case IPERF_EV_PARAMS:
		look_at_params(c);
		break;
	case IPERF_EV_END:
		iperf_ctl_exchange(c);
		break;
	case IPERF_EV_RUN:
		iperf_ctl_end(c);
		break;
	case IPERF_EV_ASKED:
		iperf_ctl_results(c, xstrdup("{}"));
		break;
	case IPERF_EV_RESULTS:
		look_at_results(c);
		break;
	case IPERF_EV_FAILED:
		CHECK(c->why.text[0] != '\0');
		break;
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct iperf_ctl c;
	struct iperf_seq seq = {0};
	bool over = false, client = byte(&in) & 1;

	if (client)
		iperf_ctl_client(&c, "abcdefghijklmnopqrstuvwxyz234567abcd", xstrdup("{}"));
	else
		iperf_ctl_server(&c);
	while (in.at < in.end) {
		size_t n = byte(&in);
		n = n > (size_t)(in.end - in.at) ? (size_t)(in.end - in.at) : n;
		iperf_seq_seen(&seq, in.at, n, client, 1);
		for (size_t at = 0; at < n;) {
			enum iperf_event ev;
			size_t took = iperf_ctl_in(&c, in.at + at, n - at, &ev);
			CHECK(took > 0 && took <= n - at);
			CHECK(!over || ev == IPERF_EV_NONE);
			over |= ev == IPERF_EV_FAILED || ev == IPERF_EV_DONE;
			at += took;
			take_event(&c, ev);
		}
		in.at += n;
	}
	if (iperf_ctl_gone(&c, 0) == IPERF_EV_FAILED)
		CHECK(!over && c.why.text[0] != '\0');
	iperf_ctl_free(&c);
	return 0;
}
