/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of dperf as commands: which they are, and what cannot be. That the program takes the
 * commands, and what they do, is in tests/system/test_dperf.py. */
#include "cmocka_names.h"

#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "dperf.h"

#define ENDS "client 10.0.0.2 100\nserver 10.0.1.1 1\n"
#define CLIENT "cpu 1\nport 0000:3b:00.0 10.0.0.1 10.0.0.254\n" ENDS
#define SERVER "mode server\ncpu 1\nport 0000:3b:00.1 10.0.1.2 10.0.1.254\n" ENDS
#define STEADY "slow_start 0\n"

static struct dperf_plan plan;
static struct sbuf wrong;

/* what the file of payload_file has in it, of a client and of a server */
static const char *payload[2] = {"some bytes", "others"};

static struct dperf_conf *read_text(const char *name, const char *text)
{
	struct sbuf why = {0};

	if (text == NULL)
		return NULL;
	struct dperf_conf *c = dperf_read(name, text, strlen(text), &why);
	if (c == NULL)
		fail_msg("%s", sbuf_str(&why));
	c->payload = (const uint8_t *)payload[c->server];
	c->payload_bytes = (uint32_t)strlen(payload[c->server]);
	return c;
}

/* workers of the machine, 0: not known */
static unsigned workers;

static bool translate(const char *client, const char *server, enum dperf_mode first)
{
	struct dperf_conf *c = read_text("c.conf", client), *s = read_text("s.conf", server);

	dperf_plan_free(&plan);
	sbuf_reset(&wrong);
	bool ok = dperf_translate(c, s, first, workers, &plan, &wrong);
	dperf_free(c);
	dperf_free(s);
	assert_int_equal(ok, wrong.len == 0);
	return ok;
}

static bool line_in(const struct sbuf *b, const char *line)
{
	size_t n = strlen(line);

	for (const char *at = sbuf_str(b); (at = strstr(at, line)) != NULL; at++)
		if ((at == b->s || at[-1] == '\n') && (at[n] == '\n' || at[n] == '\0'))
			return true;
	return false;
}

/* The last file that was translated has these lines among its settings, and not those with `!`. */
static void says(const char *const *line)
{
	for (; *line != NULL; line++) {
		bool no = **line == '!';
		if (line_in(&plan.settings, *line + no) == no)
			fail_msg("'%s' in:\n%s", *line, sbuf_str(&plan.settings));
	}
}
#define SAYS(...) says((const char *const[]){__VA_ARGS__, NULL})

static void client(const char *text)
{
	if (!translate(text, NULL, DPERF_OF_CLIENT))
		fail_msg("%s", sbuf_str(&wrong));
}

static void server(const char *text)
{
	if (!translate(NULL, text, DPERF_OF_SERVER))
		fail_msg("%s", sbuf_str(&wrong));
}

static void refused(const char *text, const char *place, const char *part)
{
	assert_false(translate(text, NULL, DPERF_OF_CLIENT));
	if (strncmp(wrong.s, place, strlen(place)) != 0 || strstr(wrong.s, part) == NULL)
		fail_msg("neither %s nor %s in %s", place, part, wrong.s);
}

static void test_load(void **state)
{
	(void)state;
	client(CLIENT STEADY "cps 1k\n");
	SAYS("set 0 flow client", "set 0 cps 1000", "set 0 app http", "set 0 http.host dperf",
	     "set 0 close fin server", "!set 0 transactions forever");
	client(CLIENT "cps 600\nslow_start 60\nwait 3\n");
	SAYS("set 0 cps 40..600 step 10 every 1s");
	client(CLIENT "cps 1k\n");
	SAYS("set 0 cps 133.333333..1000 step 33.3333333 every 1s");
	client(CLIENT "cps 600\nslow_start 10\nwait 9\n");
	SAYS("set 0 cps 600");
	client(CLIENT STEADY "cc 5k\nkeepalive 60s\n");
	SAYS("set 0 cps 1000", "set 0 connections 5000", "set 0 transactions forever",
	     "set 0 think 60s", "set 0 close fin client");
	client(CLIENT STEADY "cc 5k\nkeepalive 10us 7\n");
	SAYS("set 0 transactions 7", "set 0 think 10us");
	client(CLIENT STEADY "cps 1\nkeepalive 0us\nretransmit_timeout 3\nfast_close\nmss 1000\n");
	SAYS("set 0 think 0ns", "set 0 flow.rto 3s", "set 0 flow.retries 3",
	     "set 0 close rst client", "set 0 flow.mss 1000");
	client("protocol udp\npipeline 100\n" CLIENT STEADY "cc 2\nkeepalive 0us\n");
	SAYS("set 0 app bytes", "set 0 transactions forever", "set 0 think 0ns",
	     "set 0 bytes.pipeline 100", "set 0 connections 2");
	client("protocol udp\npipeline 0\n" CLIENT STEADY "cc 2\nkeepalive 1s\n");
	SAYS("set 0 think 1s", "!set 0 bytes.pipeline 0");
}

/* Two ports of two CPUs: of 1003 connections a second the first CPU has three more. */
static void test_shares(void **state)
{
	const char *two =
		"cpu 1-4\nrss\nport 0000:3b:00.0 10.0.0.1 10.0.0.254\n"
		"port 0000:3b:00.1 10.0.5.1 10.0.5.254\nclient 10.0.0.2 1\nclient 10.0.5.2 1\n"
		"server 10.0.1.1 1\nserver 10.0.6.1 1\nslow_start 0\n";
	struct sbuf b = {0};

	(void)state;
	sbuf_addf(&b, "%scps 1003\ncc 401\nkeepalive 1s\n", two);
	client(b.s);
	SAYS("set 0 cps 503", "set 1 cps 500", "set 0 connections 201", "set 1 connections 200");
	assert_string_equal(plan.map.s, "[1/2].0,[3/4].1");
	assert_string_equal(plan.spec.s, "pci:0000:3b:00.0\npci:0000:3b:00.1\n");
	assert_true(line_in(&plan.run, "start 0-1 for 60s"));
	assert_int_equal(plan.ports, 2);
	sbuf_reset(&b);
	sbuf_addf(&b, "%scps 1\n", two);
	client(b.s);
	SAYS("set 0 cps 1", "set 1 cps 1",
	     "# cps: there are more ports than that; each has 1 at least");
	/* the CPU of control moves all of them on */
	client("cpu 0 1\nrss\nport 0000:3b:00.0 10.0.0.1 10.0.0.254\n" ENDS "cps 1\n");
	assert_string_equal(plan.map.s, "[1/2].0");
	client(CLIENT "cps 1\n");
	assert_int_equal(plan.map.len, 0);
	sbuf_free(&b);
}

/* CPUs that are not there are left out, or the map is where a port would have none; a line says
 * both. */
static void test_fewer_cpus(void **state)
{
	const char *both =
		"mode server\ncpu 0-3\nrss\nport 0000:3b:00.1 10.0.1.2 10.0.1.254\n" ENDS;
	struct sbuf out = {0};

	(void)state;
	workers = 2;
	client("cpu 0-15\nrss\nport 0000:3b:00.0 10.0.0.1 10.0.0.254\n" ENDS
	       "cps 16\nslow_start 0\n");
	assert_string_equal(plan.map.s, "[1/2].0");
	assert_string_equal(plan.notes.s,
			    "c.conf:1:1: cpu: the file names 0-15, and the workers here are 1-2; "
			    "the map with those that are there is -m '[1/2].0'\n");
	SAYS("set 0 cps 16");
	dperf_dump(&plan, &out);
	assert_non_null(strstr(out.s, "\n# c.conf:1:1: cpu: the file names 0-15, "));
	workers = 1;
	assert_true(translate(CLIENT "cps 1\n", both, DPERF_OF_CLIENT));
	assert_string_equal(plan.map.s, "[1].0,[1].1");
	assert_string_equal(plan.notes.s,
			    "s.conf:2:1: cpu: the file names 0-3, and the only worker here is 1; "
			    "the map with those that are there is -m '[1].0,[1].1'\n");
	client("cpu 2 5\nrss\nport 0000:3b:00.0 10.0.0.1 10.0.0.254\n" ENDS "cps 1\n");
	assert_int_equal(plan.map.len, 0);
	assert_string_equal(plan.notes.s,
			    "c.conf:1:1: cpu: the file names 2 5, and the only worker here is 1; a "
			    "port would have none, so the program chooses\n");
	client(CLIENT "cps 1\n");
	assert_int_equal(plan.notes.len, 0);
	workers = 0;
	sbuf_free(&out);
}

static void test_tuples(void **state)
{
	(void)state;
	client("cpu 1\nport 0000:3b:00.0 10.0.0.1 10.0.0.254\nclient 10.0.0.2 3 10.0.9.9\nserver 10.0.1.1 2\n"
	       "listen 80 3\nclient_port_range 1024 2000\ncps 1\n");
	SAYS("set 0 ipv4.src list 10.0.0.2,10.0.0.3,10.0.0.4,10.0.9.9",
	     "set 0 ipv4.dst 10.0.1.1..10.0.1.2", "set 0 tcp.src 1024..2000",
	     "set 0 tcp.dst 80..82", "set 0 nest ipv4.dst,tcp.dst,tcp.src,ipv4.src",
	     "set 0 answer.for 10.0.0.2/31,10.0.0.4/32,10.0.9.9/32");
	client(CLIENT "client_hop\ncps 1\n");
	SAYS("!set 0 nest tcp.src,ipv4.src");
	assert_non_null(strstr(plan.settings.s, "\n# client_hop: "));
	client("cpu 1\nport 0000:3b:00.0 fd00::1 fd00::fe\nclient fd00::2 2\nserver fd00:1::1 1\nprotocol udp\ncps 1\ntos 0xb8\n");
	SAYS("set 0 frame eth/ipv6/udp", "set 0 ipv6.src fd00::2..fd00::3", "set 0 ipv6.tc 0xb8",
	     "set 0 udp.dst 80", "set 0 ip fd00::1/120", "set 0 gateway fd00::fe",
	     "!set 0 answer arp,nd,ping,reset");
	server(SERVER "listen 80 2\nkeepalive 1s\n");
	SAYS("set 0 flow server", "set 0 ipv4.src 10.0.1.1", "set 0 tcp.src 80..81",
	     "set 0 close fin client", "set 0 answer.for 10.0.1.1/32",
	     "set 0 answer arp,nd,ping,reset", "set 0 response 14");
	assert_string_equal(plan.run.s, "start 0 for 60s\nwait 0\n");
}

/* The prefix holds the gateway, and neither of the two is its first or last address. */
static void test_host(void **state)
{
	static const char *const is[][2] = {{"10.0.0.1 10.0.0.2", "/30"},
					    {"10.0.0.1 10.0.0.3", "/29"},
					    {"10.0.0.4 10.0.0.5", "/29"},
					    {"10.0.0.1 10.0.0.254", "/24"},
					    {"10.0.0.1 10.0.1.1", "/23"},
					    {"10.0.0.127 10.0.0.126", "/24"},
					    {"1.0.0.1 200.0.0.1", "/1"}};
	struct sbuf b = {0}, line = {0};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(is); i++) {
		sbuf_reset(&b);
		sbuf_reset(&line);
		sbuf_addf(
			&b,
			"cpu 1\nport 0000:3b:00.0 %s\nclient 10.7.0.2 1\nserver 10.8.1.1 1\ncps 1\n",
			is[i][0]);
		client(b.s);
		sbuf_addf(&line, "set 0 ip %.*s%s", (int)strcspn(is[i][0], " "), is[i][0],
			  is[i][1]);
		SAYS(line.s);
	}
	/* nobody that is sent to has them either: 10.0.0.7 is the last one of a /29 */
	client("cpu 1\nport 0000:3b:00.0 10.0.0.1 10.0.0.4\nclient 10.7.0.2 1\nserver 10.0.0.5 4\nrss\ncps 1\n");
	SAYS("set 0 ip 10.0.0.1/28");
	client("cpu 1\nport 0000:3b:00.0 10.0.0.1 10.0.0.254 02:00:00:00:00:fe\n" ENDS
	       "cps 1\nvlan 7\njumbo\nneigh_ignore\n");
	SAYS("set 0 mtu 9710", "set 0 host.vlan 7", "set 0 vlan.vid 7",
	     "set 0 frame eth/vlan/ipv4/tcp", "set 0 host.neighbours 10.0.0.254=02:00:00:00:00:fe",
	     "set 0 eth.dst 02:00:00:00:00:fe");
	assert_null(strstr(plan.settings.s, "answer.for 1"));
	assert_int_equal(plan.mtu, 9710);
	/* memory is there for the larger of two, and each end has its own */
	assert_true(translate(CLIENT "cps 1\n", SERVER "jumbo 9000\n", DPERF_OF_CLIENT));
	SAYS("set 0 mtu 1500", "set 1 mtu 9000");
	assert_int_equal(plan.mtu, 9000);
	client(CLIENT "cps 1\nvxlan 7 02:00:00:00:00:01 02:00:00:00:00:02 10.8.0.1 1 10.9.0.1 1\n");
	SAYS("set 0 frame eth/ipv4/udp/vxlan/eth/ipv4/tcp", "set 0 ipv4.src 10.8.0.1",
	     "set 0 ipv4.dst 10.9.0.1", "set 0 vxlan.vni 7", "set 0 eth[2].src 02:00:00:00:00:01",
	     "set 0 eth[2].dst 02:00:00:00:00:02", "set 0 ipv4[2].src 10.0.0.2..10.0.0.101",
	     "set 0 answer.for 10.8.0.1/32", "!set 0 answer arp,nd,ping,reset");
	sbuf_free(&b);
	sbuf_free(&line);
}

static size_t value_length(const char *setting)
{
	const char *at = strstr(sbuf_str(&plan.settings), setting);

	return at == NULL ? 0 : strcspn(at + strlen(setting), "\"\n");
}

/* A request has as many bytes as the file says, whatever makes them up. */
static void test_sizes(void **state)
{
	const size_t head =
		strlen("GET / HTTP/1.1\r\nHost: dperf\r\nUser-Agent: wirerate\r\nAccept: */*\r\n"
		       "Connection: close\r\n\r\n");
	struct sbuf b = {0};

	(void)state;
	assert_int_equal(head, DPERF_HTTP_LEAST);
	for (size_t n = 85; n <= 1350; n++) {
		sbuf_reset(&b);
		sbuf_addf(&b, CLIENT "cps 1\npayload_size %zu\n", n);
		client(b.s);
		size_t path = value_length("http.path /"), field = value_length("\"X-Fill: ");
		assert_int_equal(head + path + (field > 0 ? field + strlen("X-Fill: \r\n") : 0), n);
		assert_true(path <= 240 && field <= 1015);
	}
	for (size_t n = 1351; n <= 1460; n++) {
		sbuf_reset(&b);
		sbuf_addf(&b, CLIENT "cps 1\npayload_size %zu\n", n);
		client(b.s);
		unsigned long body =
			strtoul(strstr(plan.settings.s, "set 0 request ") + 14, NULL, 10);
		assert_int_equal(head + 1 + strlen("Content-Length: \r\n") + (body > 999 ? 4 : 3) +
					 body,
				 n);
		SAYS("set 0 http.method POST");
	}
	server(SERVER "payload_size 1m\n");
	SAYS("set 0 response 999920"); /* 55, 6 digits and 19 of a head */
	server(SERVER "payload_size 1m\nkeepalive 1s\n");
	SAYS("set 0 response 999939");
	server("mode server\ncpu 1-2\nrss\nport 0000:3b:00.1 10.0.1.2 10.0.1.254\n" ENDS
	       "keepalive 1s\npayload_size 200 1000\n");
	SAYS("set 0 response 142:1,942:1");
	sbuf_free(&b);
}

/* Below 85 bytes both ends must know what comes. Where both files are there, they do. */
static void test_raw(void **state)
{
	(void)state;
	client(CLIENT "cps 1\npayload_size 84\n");
	SAYS("set 0 app bytes", "set 0 request 84", "set 0 response 84", "set 0 close fin client");
	assert_non_null(
		strstr(plan.settings.s, "# payload_size: both ends must have the same sizes"));
	assert_true(translate(CLIENT "cps 1\npayload_size 1\n", SERVER "payload_size 1400\n",
			      DPERF_OF_CLIENT));
	SAYS("set 0 app bytes", "set 0 request 1", "set 0 response 1400", "set 1 app bytes",
	     "set 1 request 1", "set 1 response 1400", "set 0 close fin server",
	     "set 1 close fin server");
	client(CLIENT "cps 1\nprotocol udp\npayload_size 1\n");
	SAYS("set 0 frame eth/ipv4/udp", "set 0 request 8", "set 0 response 8",
	     "!set 0 close fin client",
	     "# payload_size: a datagram of a flow has 8 bytes at least");
	/* nothing is added where one end sends a file, so that the other one may send less */
	assert_true(translate("payload_file a\nprotocol udp\n" CLIENT "cps 1\n",
			      "protocol udp\npayload_size 3\n" SERVER, DPERF_OF_CLIENT));
	SAYS("set 0 request.file a", "set 0 response 3", "set 1 request.file a", "set 1 response 3",
	     "!# payload_size: a datagram of a flow has 8 bytes at least",
	     "!# payload_size: a datagram of a flow has 1 byte at least");
	assert_true(translate("protocol udp\npayload_size 7\n" CLIENT "cps 1\n",
			      "payload_file b\nprotocol udp\n" SERVER, DPERF_OF_CLIENT));
	SAYS("set 0 request 7", "set 0 response.file b", "set 1 request 7",
	     "set 1 response.file b");
	assert_true(translate("payload_file a\nprotocol udp\n" CLIENT "cps 1\n",
			      "protocol udp\n" SERVER, DPERF_OF_CLIENT));
	SAYS("set 0 response 1", "set 1 response 1",
	     "# payload_size: a datagram of a flow has 1 byte at least");
	server("protocol udp\npayload_size 3\n" SERVER);
	SAYS("set 0 response 8", "# payload_size: a datagram of a flow has 8 bytes at least");
}

static void test_flood(void **state)
{
	(void)state;
	client(CLIENT STEADY
	       "flood\nprotocol udp\ncc 30\nkeepalive 10us\npipeline 2\npayload_size 64\npayload_random\n");
	SAYS("set 0 rate 6000000pps", "set 0 size 110", "set 0 pattern random",
	     "set 0 frame eth/ipv4/udp", "!set 0 flow client");
	assert_true(line_in(&plan.show, "show streams"));
	client(CLIENT STEADY "flood\nprotocol udp\ncps 100\npacket_size 500\n");
	SAYS("set 0 size 500");
	client(CLIENT STEADY "flood\nprotocol udp\ncps 100\npacket_size 1519\n");
	SAYS("set 0 size 64");
	client(CLIENT STEADY "flood\ncps 100\nchange_dip 10.9.0.1 2 100\n");
	SAYS("set 0 rate 100pps", "set 0 tcp.flags syn", "set 0 tcp.mss 1460",
	     "!set 0 answer arp,nd,ping,reset", "set 0 ipv4.dst 10.9.0.1..10.9.0.199 step 2",
	     "!set 0 ipv4.dst 10.0.1.1");
	client(CLIENT STEADY "flood\ncps 100\nchange_dip 10.9.0.1 1 2\nchange_dip 10.10.0.1 1 1\n");
	SAYS("set 0 ipv4.dst list 10.9.0.1..10.9.0.2,10.10.0.1");
	client(CLIENT STEADY "flood\ncps 100\nchange_dip 10.9.0.0 3 65536\n");
	SAYS("set 0 ipv4.dst 10.9.0.0..10.11.255.253 step 3", "!set 0/0 weight 1");
	/* what one list has no room for: more streams, which take turns by their addresses */
	client(CLIENT STEADY
	       "flood\ncps 100\nchange_dip 10.9.0.0 1 1000\nchange_dip 10.10.0.1 2 2\n"
	       "change_dip 10.11.0.0 1 22\nchange_dip 10.12.0.0 9 2048\n");
	SAYS("stream add 0 1 like 0/0",
	     "set 0/0 ipv4.dst list 10.9.0.0..10.9.3.231,10.10.0.1,10.10.0.3,10.11.0.0..10.11.0.21",
	     "set 0/0 weight 1", "set 0/1 ipv4.dst 10.12.0.0..10.12.71.247 step 9",
	     "set 0/1 weight 2");
	assert_int_equal(plan.streams, 2);
	/* the tuples of connections that are open, each as often as any other */
	client(CLIENT STEADY "flood\nprotocol udp\ncps 1\ncc 1\nkeepalive 1ms\n");
	SAYS("set 0 rate 1000pps", "set 0 ipv4.src 10.0.0.2", "set 0 udp.src 1", "set 0 udp.dst 80",
	     "!set 0 nest udp.src,ipv4.src");
	client(CLIENT STEADY "flood\nlisten 80 3\ncps 7\ncc 7\nkeepalive 1s\n");
	SAYS("stream add 0 1 like 0/0", "set 0/0 tcp.src 1..2", "set 0/0 tcp.dst 80..82",
	     "set 0/0 nest tcp.dst,tcp.src", "set 0/0 weight 6", "set 0/1 tcp.src 3",
	     "set 0/1 tcp.dst 80", "set 0/1 nest none", "set 0/1 weight 1");
	client(CLIENT STEADY "flood\nlisten 80 2\ncps 3\ncc 3\nkeepalive 1s\n"
			     "change_dip 10.9.0.0 1 1000\nchange_dip 10.12.0.0 1 2000\n");
	SAYS("stream add 0 3 like 0/0", "set 0/0 ipv4.dst 10.9.0.0..10.9.3.231", "set 0/0 weight 2",
	     "set 0/1 tcp.dst 80..81", "set 0/1 weight 4", "set 0/2 tcp.src 2", "set 0/2 weight 1",
	     "set 0/3 ipv4.dst 10.12.0.0..10.12.7.207", "set 0/3 weight 2");
	assert_int_equal(plan.streams, 4);
	client(CLIENT STEADY "flood\nprotocol udp\ncps 100\npayload_file /a\n");
	SAYS("set 0 pattern file", "set 0 pattern.file /a");
}

/* Nothing that a file has in it is a command: each line is one, and a text is one word of it. */
static void test_no_commands(void **state)
{
	static const char *const text[] = {"/a;quit", "/a;b=c", "/a'b",  "/'\"\\;x", "/a#b",
					   "/{",      "/a\"b",  "/a\\b", "/'\\",     "/a"};
	static const char *const line[] = {"http_path %s\nprotocol http\n",
					   "http_host %s\nprotocol http\n",
					   "payload_file %s\nprotocol udp\nflood\n"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(text) * ARRAY_SIZE(line); i++) {
		unsigned k = i % ARRAY_SIZE(line), words = 0;
		/* of these a word that begins with a quote is possible */
		const char *value = text[i / ARRAY_SIZE(line)] + (k > 0 && i % 2 == 0);
		struct sbuf b = {0}, one = {0};
		sbuf_add(&b, CLIENT "cps 1\n");
		sbuf_addf(&b, line[k], value);
		client(b.s);
		unsigned long at = 0, from = 0, last = 0;
		const char *rest = sbuf_str(&plan.settings);
		while (cmd_next_command(&rest, &at, &one, &from)) {
			struct cmd_word w[32];
			char buf[2048];
			int n = cmd_split(one.s, w, 32, buf, sizeof(buf), NULL);
			assert_true(n > 3 && strcmp(w[0].text, "set") == 0 && from > last);
			last = from;
			words += n == 4 && strcmp(w[3].text, value) == 0;
		}
		assert_int_equal(words, 1);
		sbuf_free(&b);
		sbuf_free(&one);
	}
}

static void test_both(void **state)
{
	(void)state;
	assert_true(translate(CLIENT "cps 1\nwait 2\nslow_start 10\nduration 5\n", SERVER,
			      DPERF_OF_SERVER));
	SAYS("set 0 flow server", "set 1 flow client");
	assert_string_equal(
		plan.run.s,
		"# duration of the server: it ends with its clients\nstart 0\nsleep 2s\n"
		"start 1 for 13s\nwait 1\nstop 0\nwait 0\n");
	assert_string_equal(plan.stop.s, "stop 1\nwait 1\nstop 0\nwait 0\n");
	assert_string_equal(plan.show.s, "show flows\nshow page dperf\n");
	assert_string_equal(plan.spec.s, "pci:0000:3b:00.1\npci:0000:3b:00.0\n");
	assert_false(translate(CLIENT "cps 1\n", SERVER "protocol udp\n", DPERF_OF_CLIENT));
	assert_non_null(
		strstr(wrong.s, "s.conf:6:1: protocol: this file has UDP and c.conf has TCP"));
}

/* What each file may say by itself, and not beside the other one, is told by its place. */
static void test_pair(void **state)
{
	static const struct {
		const char *client, *server, *told;
	} pairs[] = {
		{"payload_size 5000\nprotocol udp\njumbo\n", "protocol udp\n",
		 "c.conf:1:14: payload_size: 5000 bytes, and a frame of s.conf has room for 1472, or more with jumbo there"},
		{"protocol udp\n", "jumbo\npayload_size 1473\nprotocol udp\n",
		 "s.conf:2:14: payload_size: 1473 bytes, and a frame of c.conf has room for 1472, or"},
		{"protocol udp\njumbo 9000\n", "jumbo\npayload_size 9000\nprotocol udp\n",
		 "s.conf:2:14: payload_size: 9000 bytes, and a frame of c.conf has room for 8972\n"},
		{"payload_file a\nprotocol udp\njumbo\n", "protocol udp\n",
		 "c.conf:1:14: payload_file: 'a' has 1473 bytes, and a frame of s.conf has room for 1472"},
		{"pipeline 2\nprotocol udp\nkeepalive 0us\n", "payload_file b\nprotocol udp\n",
		 "c.conf:1:1: pipeline excludes payload_file, which is in line 1 of s.conf"},
	};
	char large[1474];

	(void)state;
	memset(large, 'x', 1473);
	large[1473] = '\0';
	for (unsigned i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct sbuf c = {0}, s = {0};
		payload[0] = large;
		sbuf_addf(&c, "%s" CLIENT "cps 1\n", pairs[i].client);
		sbuf_addf(&s, "%s" SERVER, pairs[i].server);
		assert_false(translate(c.s, s.s, DPERF_OF_CLIENT));
		payload[0] = "some bytes";
		if (strncmp(wrong.s, pairs[i].told, strlen(pairs[i].told)) != 0 ||
		    strchr(wrong.s, '\n')[1] != '\0')
			fail_msg("not %s but %s", pairs[i].told, wrong.s);
		sbuf_free(&c);
		sbuf_free(&s);
	}
	/* a flood has no other end */
	assert_true(translate("protocol udp\nflood\npayload_size 5000\njumbo\n" CLIENT "cps 1\n",
			      "protocol udp\n" SERVER, DPERF_OF_CLIENT));
}

#define REQUEST "GET / HTTP/1.1\r\nHost: h\r\n"
#define RESPONSE "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"

/* A file that begins as HTTP does is a message of it, and any other one is bytes. */
static void test_payload_file(void **state)
{
	(void)state;
	client("payload_file /a;b\n" CLIENT "cps 1\n");
	SAYS("set 0 app bytes", "set 0 request.file '/a;b'", "set 0 response 10",
	     "!set 0 request 10", "set 0 close fin client");
	assert_non_null(strstr(plan.settings.s, "# payload_file: both ends must have the same"));
	server("payload_file b\n" SERVER);
	SAYS("set 0 app bytes", "set 0 response.file b", "set 0 request 6");
	assert_true(translate("payload_file a\n" CLIENT "cps 1\n", "payload_file b\n" SERVER,
			      DPERF_OF_CLIENT));
	SAYS("set 0 request.file a", "set 0 response.file b", "set 1 request.file a",
	     "set 1 response.file b", "set 0 close fin server");
	client("protocol udp\npayload_file a\n" CLIENT "cps 1\n");
	SAYS("set 0 app bytes", "set 0 request.file a", "!set 0 response 10");
	assert_non_null(strstr(plan.settings.s, "# payload_file: what the server sends is not"));
	assert_null(strstr(plan.settings.s, "8 bytes at least"));
	assert_true(translate("protocol udp\npayload_file a\n" CLIENT "cps 1\n",
			      "protocol udp\npayload_size 9\n" SERVER, DPERF_OF_CLIENT));
	SAYS("set 0 response 9", "set 1 response 9", "set 1 request.file a");

	payload[0] = REQUEST "\r\n";
	payload[1] = RESPONSE;
	client("payload_file a\n" CLIENT "cps 1\n");
	SAYS("set 0 app http", "set 0 request.file a", "!set 0 http.host dperf",
	     "set 0 close fin client");
	client("protocol http\nhttp_host h\npayload_file a\n" CLIENT "cps 1\n");
	SAYS("set 0 app http", "# http_host: the file is sent as it is", "!set 0 http.host h");
	client("payload_random\npayload_file a\n" CLIENT "cps 1\nkeepalive 1s\n");
	SAYS("# payload_random: the file is sent as it is", "set 0 transactions forever");
	server("payload_file b\n" SERVER);
	SAYS("set 0 app http", "set 0 response.file b");
	assert_true(translate("payload_file a\n" CLIENT "cps 1\n", SERVER, DPERF_OF_CLIENT));
	SAYS("set 1 app http", "set 1 request.file a", "set 1 response 14");
	/* the other end has bytes alone, and so both have */
	assert_true(translate("payload_file a\n" CLIENT "cps 1\n", "payload_size 5\n" SERVER,
			      DPERF_OF_CLIENT));
	SAYS("set 0 app bytes", "set 0 request.file a", "set 0 response 5", "set 1 app bytes");

	payload[0] = REQUEST "Connection: close\r\n\r\n";
	client("payload_file a\n" CLIENT "cps 1\n");
	SAYS("set 0 app http", "set 0 close fin server");
	client("payload_file a\n" CLIENT "cps 1\nkeepalive 1s 1\n");
	refused("payload_file a\n" CLIENT "cps 1\nkeepalive 1s\n",
		"c.conf:1:14: ", "ends its connection, by Connection: close");
	payload[0] = REQUEST "Content-Length: 3\r\n\r\nab";
	refused(CLIENT "cps 1\n  payload_file a\n",
		"c.conf:6:16: ", "'a': it ends in the middle of its body: Content-Length says 3");
	payload[0] = "GE";
	refused("protocol http\npayload_file a\n" CLIENT "cps 1\n",
		"c.conf:2:14: ", "does not begin with a method of HTTP");
	refused("flood\npayload_file a\n" CLIENT "cps 1\n",
		"c.conf:2:1: ", "a flood of TCP is SYNs, which have no payload");
	char *large = calloc(1, 8974);
	assert_non_null(large);
	payload[0] = memset(large, 'x', 8973);
	client("payload_file a\n" CLIENT "cps 1\n"); /* several segments are no matter here */
	SAYS("set 0 request.file a", "set 0 response 8973");
	refused("protocol udp\npayload_file a\n" CLIENT "cps 1\n", "c.conf:2:14: ",
		"'a' has 8973 bytes, and one datagram up to 1472, or more with jumbo");
	refused("protocol udp\njumbo 9000\npayload_file a\n" CLIENT "cps 1\n",
		"c.conf:3:14: ", "one datagram up to 8972");
	client("protocol udp\njumbo 9001\npayload_file a\n" CLIENT "cps 1\n");
	free(large);
	payload[0] = "some bytes";
	payload[1] = "others";
}

static void test_refused(void **state)
{
	(void)state;
	refused("protocol http\nhttp_host a,b\n" CLIENT "cps 1\n",
		"c.conf:2:12: ", "'a,b' has a comma, which stands between several");
	refused("protocol http\nhttp_path /a,/b\n" CLIENT "cps 1\n",
		"c.conf:2:13: ", "written as %2C");
	/* what a setting would take for a weight or for a word */
	client("protocol http\nhttp_host a:1:2\nhttp_path /a:7\n" CLIENT "cps 1\n");
	SAYS("set 0 http.host a:1:2::1", "set 0 http.path /a:7:1");
	client("protocol http\nhttp_host a_b;c\nhttp_path /a\n" CLIENT "cps 1\n");
	SAYS("set 0 http.host 'a_b;c'", "set 0 http.path /a");
	client("protocol http\nhttp_host address\n" CLIENT "cps 1\n");
	SAYS("set 0 http.host address::1");
	client("protocol http\nhttp_host [::1]:80\n" CLIENT "cps 1\n");
	SAYS("set 0 http.host [::1]:80");
	client("tcp_rst 0\n" CLIENT "cps 1\n");
	SAYS("!set 0 answer arp,nd,ping,reset");
	assert_false(translate(
		NULL,
		"mode server\ncpu 1-2\nrss\npayload_size 1 2\nport 0000:3b:00.1 10.0.1.2 10.0.1.254\n" ENDS,
		DPERF_OF_SERVER));
	assert_non_null(strstr(wrong.s, "s.conf:4:16: payload_size: several sizes"));
	client("port net_memif000 10.0.0.1 10.0.0.254\ncpu 1\n" ENDS "cps 1\n");
	assert_string_equal(plan.spec.s, "vdev:net_memif000\n");
	client("port bond4:2(0000:3b:00.0) 10.0.0.1 10.0.0.254\ncpu 1\n" ENDS "cps 1\n");
	assert_string_equal(plan.spec.s, "\n");
	assert_non_null(strstr(plan.settings.s, "# port: a bond is no kind of port here"));
}

/* No directive goes by in silence: what has no command has a comment. */
static void test_notes(void **state)
{
	static const char *const noted[] = {
		"quiet",     "clear_screen",  "log_level debug", "socket_mem 0,1", "simd512",
		"kni",       "rss",           "launch_num 4",    "tx_burst 8",     "disable_ack",
		"tcp_rst 1", "send_window 4", "packet_size 9",   "payload_random", "neigh_ignore",
		"client_hop"};
	struct sbuf b = {0};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(noted); i++) {
		sbuf_reset(&b);
		sbuf_addf(&b, "%s\n" CLIENT "cps 1\n", noted[i]);
		client(b.s);
		sbuf_reset(&b);
		sbuf_addf(&b, "\n# %.*s: ", (int)strcspn(noted[i], " "), noted[i]);
		assert_non_null(strstr(plan.settings.s, b.s));
	}
	client("daemon\n" CLIENT "cps 1\n");
	assert_true(plan.daemon);
	sbuf_reset(&b);
	dperf_dump(&plan, &b);
	assert_non_null(strstr(b.s, "\n# wirerate -p pci:0000:3b:00.0 --daemon -b -f FILE\n"));
	assert_non_null(strstr(b.s, "\n# the run\nsleep 3s\nstart 0 for 87s\n"));
	sbuf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load),        cmocka_unit_test(test_shares),
		cmocka_unit_test(test_fewer_cpus),  cmocka_unit_test(test_tuples),
		cmocka_unit_test(test_host),        cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_raw),         cmocka_unit_test(test_flood),
		cmocka_unit_test(test_no_commands), cmocka_unit_test(test_both),
		cmocka_unit_test(test_pair),        cmocka_unit_test(test_payload_file),
		cmocka_unit_test(test_refused),     cmocka_unit_test(test_notes),
	};

	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	dperf_plan_free(&plan);
	sbuf_free(&wrong);
	return rc;
}
