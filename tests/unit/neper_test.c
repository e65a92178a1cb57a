/* SPDX-License-Identifier: BSD-3-Clause */
/* neper's control messages and options. What a real neper 1.1.0 sent was recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "neper.h"
#include "neper_wl.h"

#define SECRET "neper tcp_rr 201703241250"

/* The HELLO and the DONE of a real tcp_rr client: -l 2 -F 3 -T 2. */
static const uint8_t hello[NEPER_BYTES] = SECRET "\0\0\0\0\0\0\0"
						 "\0\0\0\x2a"
						 "\0\0\0\1"
						 "\0\0\0\2"
						 "\0\0\0\3"
						 "\0\0\0\2"
						 "\0\0\0\0"
						 "\0\0\0\0\0\0\0\0"
						 "\0\0\0\0\0\0\0";
static const uint8_t done[NEPER_BYTES] =
	"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	"\0\0\0\x2a"
	"\0\0\0\3"
	"\0\0\0\0"
	"\0\0\0\0"
	"\0\0\0\0"
	"\0\0\0\0"
	"\0\0\0\0\0\0\0\0"
	"\0\0\0\0\0\0\xbc\x93";

static void test_messages(void **state)
{
	struct neper_message m;
	uint8_t out[NEPER_BYTES];

	(void)state;
	neper_message_get(hello, &m);
	assert_string_equal(m.secret, SECRET);
	assert_int_equal(m.magic, 42);
	assert_int_equal(m.type, NEPER_HELLO);
	assert_int_equal(m.threads, 2);
	assert_int_equal(m.flows, 3);
	assert_int_equal(m.length, 2);
	neper_message_put(&m, out);
	assert_memory_equal(out, hello, NEPER_BYTES);
	m = (struct neper_message){.length = -1000, .pacing = 1ull << 40, .rate = UINT64_MAX};
	neper_message_put(&m, out);
	neper_message_get(out, &m);
	assert_int_equal(m.length, -1000);
	assert_int_equal(m.pacing, 1ull << 40);
	assert_int_equal(m.rate, UINT64_MAX);
}

/* A server hears a whole session, in pieces as well. */
static void test_server(void **state)
{
	struct neper_talk t;
	struct neper_message m;
	struct err e;

	(void)state;
	neper_talk_init(&t, false, SECRET, 42);
	assert_int_equal(neper_talk_in(&t, hello, 71, &m, &e), 0);
	assert_int_equal(neper_talk_in(&t, hello, 72, &m, &e), 72);
	assert_int_equal(m.flows, 3);
	assert_int_equal(neper_talk_end(&t, 0, &e), -EPROTO);
	assert_non_null(strstr(e.text, "before the run was over"));
	assert_int_equal(neper_talk_in(&t, done, 72, &m, &e), 72);
	assert_int_equal(m.rate, 48275);
	assert_int_equal(neper_talk_end(&t, 0, &e), 0);
	assert_int_equal(neper_talk_in(&t, done, 1, &m, &e), -EPROTO);
}

static void test_server_refuses(void **state)
{
	struct neper_talk t;
	struct neper_message m;
	struct err e;
	uint8_t long_done[NEPER_BYTES + 1];

	(void)state;
	neper_talk_init(&t, false, "neper udp_rr 201703241230", 42);
	assert_int_equal(neper_talk_in(&t, hello, 72, &m, &e), -EKEYREJECTED);
	neper_talk_init(&t, false, "", 42); /* that of tcp_crr is 32 zeros */
	assert_int_equal(neper_talk_in(&t, hello, 72, &m, &e), -EKEYREJECTED);
	neper_talk_init(&t, false, SECRET, 43);
	assert_int_equal(neper_talk_in(&t, hello, 72, &m, &e), -EPROTO);
	assert_non_null(strstr(e.text, "magic 42"));
	neper_talk_init(&t, false, SECRET, 42);
	assert_int_equal(neper_talk_in(&t, hello, 72, &m, &e), 72);
	assert_int_equal(neper_talk_in(&t, hello, 72, &m, &e), -EPROTO);
	assert_non_null(strstr(e.text, "type 1 (HELLO) where DONE (3) was due"));
	memcpy(long_done, done, NEPER_BYTES);
	long_done[NEPER_BYTES] = 0;
	assert_int_equal(neper_talk_in(&t, long_done, NEPER_BYTES + 1, &m, &e), -EPROTO);
	assert_non_null(strstr(e.text, "1 bytes behind its DONE"));
	assert_int_equal(neper_talk_end(&t, 71, &e), -EPROTO);
	assert_non_null(strstr(e.text, "after 71 of 72 bytes"));
}

static void test_client(void **state)
{
	struct neper_message m = {.magic = 42, .type = NEPER_ACK};
	struct neper_talk t;
	uint8_t bytes[NEPER_BYTES];
	struct err e;

	(void)state;
	neper_talk_init(&t, true, SECRET, 42);
	assert_int_equal(neper_talk_end(&t, 0, &e), -EPROTO);
	assert_non_null(strstr(e.text, "another workload"));
	neper_message_put(&m, bytes);
	assert_int_equal(neper_talk_in(&t, bytes, 72, &m, &e), 72);
	/* nothing is due before the run is over */
	assert_int_equal(neper_talk_in(&t, bytes, 1, &m, &e), -EPROTO);
	neper_talk_done(&t);
	assert_int_equal(neper_talk_in(&t, bytes, 72, &m, &e), -EPROTO);
	m.type = NEPER_BYE;
	m.rate = 7;
	neper_message_put(&m, bytes);
	assert_int_equal(neper_talk_in(&t, bytes, 72, &m, &e), 72);
	assert_int_equal(m.rate, 7);
}

/* ---- options ---- */

static int parse(struct neper_opts *o, struct err *e, const char *kind, const char *line)
{
	static char copy[256];
	char *words[32], *save = NULL;
	int n = 0;

	snprintf(copy, sizeof(copy), "x %s", line);
	for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	words[n] = NULL;
	return neper_opts_parse(neper_kind_find(kind), n, words, o, e);
}

static void keep_key(void *arg, const char *key, const char *value, bool number)
{
	(void)value;
	(void)number;
	sbuf_addf(arg, "%s ", key);
}

static void test_echo(void **state)
{
	/* the order of a real neper's lines */
	static const char *const tail =
		"wait_start iostat_ms time_wait all_samples port control_port host local_hosts "
		"max_pacing_rate interval freebind nonblocking nolog logtostderr pin_cpu dry_run "
		"debug client ipv6 ipv4 stime_use_proc source_port suicide_length listen_backlog "
		"num_clients num_threads num_flows maxevents magic total_run_time ";
	static const struct {
		const char *kind, *keys;
	} c[] = {
		{"tcp_rr",
		 "noburst reuseaddr async_connect delay mark logrtt_entries_per_flow log_rtt buffer_size "
		 "test_length percentiles response_size request_size congestion_control no_delay "
		 "tcp_tx_delay tcp_fastopen num_ports "},
		{"tcp_crr",
		 "async_connect mark logrtt_entries_per_flow log_rtt buffer_size test_length percentiles "
		 "response_size request_size congestion_control no_delay tcp_tx_delay tcp_fastopen "
		 "num_ports "},
		{"udp_rr",
		 "delay mark logrtt_entries_per_flow log_rtt buffer_size test_length percentiles "
		 "response_size request_size "},
		{"tcp_stream",
		 "mark no_cork async_connect enable_tcp_maerts split_bidir enable_write enable_read "
		 "rx_zerocopy skip_rx_copy buffer_size delay throughput_opt zerocopy reuseaddr "
		 "edge_trigger test_length congestion_control no_delay tcp_tx_delay tcp_fastopen "
		 "num_ports "},
		{"udp_stream",
		 "mark buffer_size delay throughput_opt zerocopy reuseaddr edge_trigger test_length "},
	};
	struct neper_opts o;
	struct err e;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(c); i++) {
		struct sbuf want = {0}, got = {0};
		sbuf_addf(&want, "VERSION %s%s", c[i].keys, tail);
		assert_int_equal(parse(&o, &e, c[i].kind, ""), 0);
		neper_opts_echo(&o, keep_key, &got);
		assert_string_equal(sbuf_str(&got), sbuf_str(&want));
		sbuf_free(&want);
		sbuf_free(&got);
	}
}

static void test_values(void **state)
{
	struct neper_opts o;
	struct err e;

	(void)state;
	assert_int_equal(parse(&o, &e, "tcp_rr", "-c -H h -p 999,50,50 -R 9 -Q 8 -l -10 -D 2ms"),
			 0);
	assert_int_equal(o.npercentiles, 2);
	assert_true(o.percentile[1] > 99.89 && o.percentile[1] < 99.91);
	assert_int_equal(o.response_size, 9);
	assert_int_equal(o.test_length, -10);
	assert_int_equal(o.delay, 2000000);
	assert_int_equal(parse(&o, &e, "tcp_stream", "-c -H h -R -M -m 10Mb"), 0);
	assert_int_equal(o.reuseaddr, 1);
	assert_int_equal(o.enable_read, 1);
	assert_int_equal(o.enable_write, 0);
	assert_int_equal(o.max_pacing_rate, 1250000);
	assert_int_equal(o.as_neper_pacing_rate, 10485760);
	assert_int_equal(parse(&o, &e, "tcp_stream", "--split-bidir -M -F 3"), 0);
	assert_true(o.enable_read && o.enable_write);
	assert_int_equal(o.num_flows, 6);
	assert_int_equal(parse(&o, &e, "udp_stream", "-c -H h -M 3 -m 2.5m"), 0);
	assert_int_equal(o.mark, 3);
	assert_int_equal(o.max_pacing_rate, 312500);
	assert_int_equal(parse(&o, &e, "tcp_rr", "-c -H h -A --log-rtt=x.csv"), 0);
	assert_string_equal(o.all_samples, "samples.csv");
	assert_string_equal(o.log_rtt, "x.csv");
}

static void test_refused(void **state)
{
	static const struct {
		const char *kind, *line, *says;
	} c[] = {
		{"tcp_rr", "-c", "-H HOST"},
		{"tcp_rr", "-F x", "whole number from 1 to 100000"},
		{"tcp_rr", "-F 0", "whole number from 1"},
		{"tcp_rr", "-c -H h -T 2", "give -F 2"},
		{"tcp_rr", "-l 0", "--test-length"},
		{"tcp_stream", "-l -5", "from 1 to"},
		{"tcp_rr", "-p 101", "from 0 to 100"},
		{"tcp_rr", "-p 50,", NULL},
		{"tcp_rr", "-m 10Xb", "10Xb"},
		{"tcp_rr", "-D 5min", "ns, us, ms or s"},
		{"tcp_rr", "-D 1 --noburst 1", "exclude"},
		{"tcp_stream", "-z --skip-rx-copy", "exclude"},
		{"tcp_stream", "--split-bidir -F 50001", "at most -F 50000"},
		{"tcp_rr", "-N", "--pin-numa: not in this version"},
		{"udp_rr", "-N", "unknown option -N"},
		{"tcp_stream", "--throughput-opt Xb", "Xb"},
		{"tcp_rr", "--stack x", "allowed: kernel, port"},
		{"tcp_rr", "--flows 3", "unknown option --flows"},
		{"tcp_rr", "--num-flow=3 --port-x", "unknown option"},
		{"tcp_rr", "-y", "unknown option -y"},
		{"tcp_rr", "-F", "needs a value"},
		{"tcp_rr", "--client=3", "takes no value"},
		{"tcp_rr", "word", "'word' is no option"},
		{"tcp_rr", "-P 65000 --num-ports 1000", "pass port 65535"},
		{"udp_rr", "--noburst 1", "unknown option"},
		{"udp_rr", "--num-ports 2", "unknown option"},
	};
	struct neper_opts o;
	struct err e;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(c); i++) {
		int rc = parse(&o, &e, c[i].kind, c[i].line);
		if (c[i].says == NULL) {
			assert_int_equal(rc, 0);
			continue;
		}
		assert_true(rc < 0);
		if (strstr(e.text, c[i].says) == NULL)
			fail_msg("%s %s: %s", c[i].kind, c[i].line, e.text);
	}
}

/* On a port: what only sockets have, and what is not built there, by name and reason. */
static void test_refused_on_a_port(void **state)
{
	static const struct {
		const char *kind, *line, *says;
	} c[] = {
		{"tcp_rr", "-c -H h -F 1000 -p 50 -l -5 --source-port 2000 --num-ports 3", NULL},
		{"tcp_crr", "-c -H h --time-wait", NULL},
		{"tcp_rr", "-c -H h --time-wait", NULL},
		{"udp_stream", "--time-wait", NULL},
		{"tcp_stream", "-r -w --congestion-control reno --no-delay --no-cork", NULL},
		{"tcp_stream", "-c -H h --split-bidir -T 4 -F 2", NULL},
		{"udp_stream", "-c -H h -B 1000 -I 0.1", NULL},
		{"tcp_rr", "-c -H h -T 2 -F 2 -m 10m --noburst 1ms -L 10.0.0.1 -A --log-rtt", NULL},
		{"udp_rr", "-c -H h -D 1ms", NULL},
		{"tcp_rr", "-U", "--pin-cpu on a port: -m says"},
		{"tcp_rr", "-M 3", "--mark on a port: only sockets have marks"},
		{"tcp_stream", "--mark 3", "--mark on a port"},
		{"tcp_rr", "-t 5", "--tcp-tx-delay on a port: only the kernel"},
		{"tcp_rr", "-X", "--tcp-fastopen on a port: only sockets"},
		{"tcp_rr", "--freebind", "`set <port> ip` gives addresses"},
		{"tcp_rr", "-d", "--debug on a port: only sockets"},
		{"tcp_stream", "-Z", "--zerocopy on a port: only sockets copy what is sent"},
		{"tcp_stream", "-z", "--rx-zerocopy on a port: only sockets copy"},
		{"tcp_stream", "--skip-rx-copy", "--skip-rx-copy on a port: only sockets copy"},
		{"tcp_rr", "-c -H h --log-rtt -F 11 --logrtt-entries-per-flow 10000000",
		 "more than 100000000"},
		{"tcp_rr", "--congestion-control bbr", "'bbr'; on a port it is cubic, or reno"},
	};
	struct neper_opts o;
	struct err e;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(c); i++) {
		assert_int_equal(parse(&o, &e, c[i].kind, c[i].line), 0);
		int rc = neper_opts_port(&o, &e);
		if (c[i].says == NULL ? rc != 0 : rc != -ENOTSUP || !strstr(e.text, c[i].says))
			fail_msg("%s %s: %d %s", c[i].kind, c[i].line, rc, rc != 0 ? e.text : "");
	}
}

/* Connections of --split-bidir: what a client sends on, and what a server does. */
struct split_conn {
	struct wl_flow flow;
	uint32_t mem[2];
	uint64_t timer_at;
};
/* One call of the record. Returns how much is to be sent. */
static uint64_t split_call(struct split_conn *c, void (*fn)(struct wl_turn *), uint64_t now)
{
	struct wl_turn t = {.flow = &c->flow, .mem = c->mem, .now_ns = now};

	fn(&t);
	if (t.timer_ns != 0)
		c->timer_at = now + t.timer_ns;
	return t.send;
}

static void split_receive(struct split_conn *c, uint64_t now)
{
	struct wl_turn t = {.flow = &c->flow, .mem = c->mem, .now_ns = now};

	assert_int_equal(neper_pieces.received(&t, NULL, 10), 10);
	assert_int_equal(t.send, 0);
}

/* The timer as often as it is asked for. Returns when something was to be sent; 0: not before. */
static uint64_t split_wait(struct split_conn *c, uint64_t before)
{
	while (c->timer_at < before) {
		uint64_t at = c->timer_at;
		c->timer_at = UINT64_MAX; /* unless it is asked for again */
		if (split_call(c, neper_pieces.timer, at) != 0)
			return at;
	}
	return 0;
}

#define MS 1000000ull
#define NOW 1000000000000ull
static void test_split(void **state)
{
	struct neper_split split = {0};
	const struct neper_wl_conf conf = {.piece = 100, .split = &split};
	const struct split_conn new = {.flow = {.wl = &neper_pieces, .conf = &conf}};
	struct split_conn c[6];
	unsigned sending = 0;

	(void)state;
	/* a client sends on half of them, and on the others never */
	for (unsigned i = 0; i < ARRAY_SIZE(c); i++) {
		c[i] = new;
		c[i].flow.client = true;
		bool sends = split_call(&c[i], neper_pieces.opened, NOW) != 0;
		split_receive(&c[i], NOW + 1);
		assert_int_equal(split_call(&c[i], neper_pieces.may_send, NOW + 2) != 0, sends);
		sending += sends;
	}
	assert_int_equal(sending, ARRAY_SIZE(c) / 2);
	/* a server: nothing before the first bytes, and then where none came */
	for (unsigned i = 0; i < 4; i++) {
		c[i] = new;
		assert_int_equal(split_call(&c[i], neper_pieces.opened, NOW), 0);
		assert_int_equal(split_call(&c[i], neper_pieces.may_send, NOW), 0);
		assert_int_equal(split_wait(&c[i], NOW + 500 * MS), 0);
	}
	split_receive(&c[1], NOW + 500 * MS);
	split_receive(&c[3], NOW + 501 * MS);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t at = split_wait(&c[i], NOW + 3000 * MS);
		assert_int_equal(at != 0, i % 2 == 0);
		assert_true(i % 2 != 0 || (at >= NOW + 510 * MS && at <= NOW + 530 * MS));
		assert_int_equal(split_call(&c[i], neper_pieces.may_send, NOW + 3000 * MS) != 0,
				 i % 2 == 0);
	}
	/* what comes later ends it */
	split_receive(&c[0], NOW + 3001 * MS);
	assert_int_equal(split_call(&c[0], neper_pieces.may_send, NOW + 3002 * MS), 0);
	/* a client that sends on none of them is sent to all the same */
	split = (struct neper_split){0};
	c[0] = new;
	split_call(&c[0], neper_pieces.opened, NOW);
	assert_true(split_wait(&c[0], NOW + 5000 * MS) >= NOW + 1000 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),       cmocka_unit_test(test_server),
		cmocka_unit_test(test_server_refuses), cmocka_unit_test(test_client),
		cmocka_unit_test(test_echo),           cmocka_unit_test(test_values),
		cmocka_unit_test(test_refused),        cmocka_unit_test(test_refused_on_a_port),
		cmocka_unit_test(test_split),
	};
	return cmocka_run_group_tests_name("neper", tests, NULL, NULL);
}
