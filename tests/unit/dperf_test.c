/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of dperf: each directive right and wrong, and files that are wrong as a whole. */
#include "cmocka_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dperf.h"

#define PORT "port 0000:3b:00.0 10.0.0.1 10.0.0.254\n"
#define ADDRESSES "client 10.0.0.2 100\nserver 10.0.1.1 1\n"
#define CPU "cpu 1\n"
#define CLIENT CPU PORT ADDRESSES
#define LOAD "cps 1k\n"
#define SERVER "mode server\n" CLIENT

static struct sbuf wrong;

static struct dperf_conf *read_text(const char *text)
{
	sbuf_reset(&wrong);
	return dperf_read("t.conf", text, strlen(text), &wrong);
}

static struct dperf_conf *taken(const char *text)
{
	struct dperf_conf *c = read_text(text);

	if (c == NULL)
		fail_msg("%s\nis refused: %s", text, sbuf_str(&wrong));
	assert_string_equal(sbuf_str(&wrong), "");
	return c;
}

/* The file has exactly this error: its place and a part of its text. */
static void refused(const char *text, const char *place, const char *part)
{
	char begin[64];

	if (read_text(text) != NULL)
		fail_msg("%s\nis taken", text);
	snprintf(begin, sizeof(begin), "t.conf:%s: ", place);
	if (strncmp(sbuf_str(&wrong), begin, strlen(begin)) != 0 ||
	    strstr(sbuf_str(&wrong), part) == NULL)
		fail_msg("%s\nneither %s nor \"%s\" in \"%s\"", text, begin, part,
			 sbuf_str(&wrong));
	if (strchr(sbuf_str(&wrong), '\n') != wrong.s + wrong.len - 1)
		fail_msg("more than one error: %s", wrong.s);
}

/* For each directive a line that is right, with what the file needs beside it, and one that is
 * wrong: where, and what the message says. The line comes first in the file. */
static const struct {
	const char *good, *rest, *bad;
	unsigned col;
	const char *part;
} cases[DPERF_IDS] = {
	[DPERF_MODE] = {"mode client", CLIENT LOAD, "mode both", 6,
			"ROLE is 'both'; allowed: client, server"},
	[DPERF_DAEMON] = {"daemon", CLIENT LOAD, "daemon on", 8, "one word too many"},
	[DPERF_QUIET] = {"quiet", CLIENT LOAD, "quiet yes", 7, "one word too many"},
	[DPERF_CLEAR_SCREEN] = {"clear_screen", CLIENT LOAD, "clear_screen 1", 14,
				"one word too many"},
	[DPERF_LOG_LEVEL] = {"log_level debug", CLIENT LOAD, "log_level loud", 11,
			     "error, warn, info, debug"},
	[DPERF_CPU] = {"cpu 0 2-3", "rss\n" PORT ADDRESSES LOAD, "cpu 3-2", 5,
		       "numbers, or ranges such as 2-5"},
	[DPERF_SOCKET_MEM] = {"socket_mem 0,4096", CLIENT LOAD, "socket_mem 1,,2", 12,
			      "numbers with commas"},
	[DPERF_SIMD512] = {"simd512", CLIENT LOAD, "simd512 on", 9, "one word too many"},
	[DPERF_DURATION] = {"duration 1.5d", CLIENT LOAD, "duration 5w", 10, "3.5m, 2h or 1.5d"},
	[DPERF_WAIT] = {"wait 5", CLIENT LOAD, "wait 0", 6, "a number from 1"},
	[DPERF_SLOW_START] = {"slow_start 600", CLIENT LOAD, "slow_start 601", 12,
			      "a number from 0 to 600"},
	[DPERF_PORT] =
		{"port bond4:2(0000:3b:00.0,0000:3b:00.1) 10.0.0.1 10.0.0.254 02:00:00:00:00:fe",
		 CPU ADDRESSES LOAD, "port eth0 10.0.0.1 10.0.0.254", 6,
		 "DEVICE is 'eth0'; allowed: a PCI address"},
	[DPERF_CLIENT] = {"client 10.0.0.2 10 10.0.0.99", CPU PORT "server 10.0.1.1 1\n" LOAD,
			  "client 10.0.0.2 255", 17, "from 1 to 254"},
	[DPERF_SERVER] = {"server 10.0.1.1 254", CPU PORT "client 10.0.0.2 1\n" LOAD,
			  "server 10.0.1.300 1", 8, "an address of IPv4 or IPv6"},
	[DPERF_LISTEN] = {"listen 80 10", CLIENT LOAD, "listen 0 1", 8, "from 1 to 65533"},
	[DPERF_CLIENT_PORT_RANGE] = {"client_port_range 1024 65535", CLIENT LOAD,
				     "client_port_range 1 65536", 21, "from 1 to 65535"},
	[DPERF_LPORT_RANGE] = {"lport_range 1024", CLIENT LOAD, "lport_range 0", 13,
			       "from 1 to 65535"},
	[DPERF_CLIENT_HOP] = {"client_hop", CLIENT LOAD, "client_hop 1", 12, "one word too many"},
	[DPERF_CHANGE_DIP] = {"change_dip 10.9.0.1 1 4096", CLIENT LOAD "flood\n",
			      "change_dip 10.9.0.1 0 4096", 21, "from 1 to 65536"},
	[DPERF_VLAN] = {"vlan 4094", CLIENT LOAD, "vlan 4095", 6, "from 1 to 4094"},
	[DPERF_VXLAN] = {"vxlan 7 02:00:00:00:00:01 02:00:00:00:00:02 10.8.0.1 1 10.8.0.2 1",
			 CLIENT LOAD,
			 "vxlan 7 02:00:00:00:00 02:00:00:00:00:02 10.8.0.1 1 10.8.0.2 1", 9,
			 "SMAC is '02:00:00:00:00'"},
	[DPERF_KNI] = {"kni kn0", CLIENT LOAD, "kni nineandmore", 5, "from 1 to 9 characters"},
	[DPERF_TOS] = {"tos 0xb8", CLIENT LOAD, "tos 0x100", 5, "from 0 to 255"},
	[DPERF_JUMBO] = {"jumbo 9000", CLIENT LOAD, "jumbo 8999", 7, "from 9000 to 9710"},
	[DPERF_NEIGH_IGNORE] = {"neigh_ignore", CLIENT LOAD, "neigh_ignore 1", 14,
				"one word too many"},
	[DPERF_RSS] = {"rss l3l4 auto", CLIENT LOAD, "rsss", 1, "did you mean 'rss'?"},
	[DPERF_FLOW_ISOLATE] = {"flow_isolate",
				CPU ADDRESSES LOAD
				"port 0000:3b:00.0 10.0.0.1 10.0.0.254 02:00:00:00:00:fe\n",
				"flow_isolate 1", 14, "one word too many"},
	[DPERF_CPS] = {"cps 1.5m", CLIENT, "cps 3g", 5,
		       "such as 100, 2k or 1.5m from 1 to 2147483647"},
	[DPERF_CC] = {"cc 100k", CLIENT "keepalive 1s\n", "cc 0", 4, "from 1 to"},
	[DPERF_KEEPALIVE] = {"keepalive 10us 32767", CLIENT LOAD, "keepalive 25us", 11,
			     "tens of us up to 990us"},
	[DPERF_PIPELINE] = {"pipeline 100", CLIENT LOAD "flood\nprotocol udp\nkeepalive 1us\n",
			    "pipeline 101", 10, "from 0 to 100"},
	[DPERF_FLOOD] = {"flood", CLIENT LOAD, "flood 1", 7, "one word too many"},
	[DPERF_LAUNCH_NUM] = {"launch_num 4", CLIENT LOAD, "launch_num 0", 12, "a number from 1"},
	[DPERF_TX_BURST] = {"tx_burst 1024", CLIENT LOAD, "tx_burst 1025", 10, "from 1 to 1024"},
	[DPERF_RETRANSMIT_TIMEOUT] = {"retransmit_timeout 300", CLIENT LOAD, "retransmit_timeout 1",
				      20, "from 2 to 300"},
	[DPERF_FAST_CLOSE] = {"fast_close", CLIENT LOAD, "fast_close 1", 12, "one word too many"},
	[DPERF_DISABLE_ACK] = {"disable_ack", CLIENT LOAD, "disable_ack 1", 13,
			       "one word too many"},
	[DPERF_TCP_RST] = {"tcp_rst 0", CLIENT LOAD, "tcp_rst 2", 9, "from 0 to 1"},
	[DPERF_PROTOCOL] = {"protocol http", CLIENT LOAD, "protocol sctp", 10, "tcp, udp, http"},
	[DPERF_PAYLOAD_SIZE] = {"payload_size 1460", CLIENT LOAD, "payload_size -1", 14,
				"such as 100, 2k or 1.5m"},
	[DPERF_PAYLOAD_RANDOM] = {"payload_random", CLIENT LOAD, "payload_random 1", 16,
				  "one word too many"},
	[DPERF_PAYLOAD_FILE] = {"payload_file /tmp/x", CLIENT LOAD, "payload_file", 1,
				"PATH is missing"},
	[DPERF_SEND_WINDOW] = {"send_window 16", CLIENT LOAD, "send_window 17", 13, "from 2 to 16"},
	[DPERF_MSS] = {"mss 1460", CLIENT LOAD, "mss 99999", 5, "from 1 to 9670"},
	[DPERF_PACKET_SIZE] = {"packet_size 1500", CLIENT LOAD, "packet_sizes 1", 1,
			       "did you mean 'packet_size'?"},
	[DPERF_HTTP_HOST] = {"http_host a.example", CLIENT LOAD "protocol http\n", "http_host", 1,
			     "HOST is missing"},
	[DPERF_HTTP_PATH] = {"http_path /a", CLIENT LOAD "protocol http\n", "http_path a", 11,
			     "begins with /"},
	[DPERF_HTTP_METHOD] = {"http_method POST", CLIENT LOAD "protocol http\n", "http_method PUT",
			       13, "GET, POST"},
};

static void test_each_directive(void **state)
{
	(void)state;
	for (unsigned i = 0; i < DPERF_IDS; i++) {
		struct sbuf b = {0};
		char place[32];

		assert_non_null(cases[i].good);
		sbuf_addf(&b, "%s\n%s", cases[i].good, cases[i].rest);
		struct dperf_conf *c = taken(b.s);
		assert_true(dperf_has(c, (enum dperf_id)i));
		dperf_free(c);
		sbuf_reset(&b);
		sbuf_addf(&b, "# first\n\n%s\n%s", cases[i].bad, cases[i].rest);
		snprintf(place, sizeof(place), "3:%u", cases[i].col);
		refused(b.s, place, cases[i].part);
		/* twice: of some as often as there are ports, of the others never */
		sbuf_reset(&b);
		sbuf_addf(&b, "%s\n%s\n%s", cases[i].good, cases[i].good, cases[i].rest);
		if (!dperf_directives[i].repeats)
			refused(b.s, "2:1", "stands in line 1 already; allowed: once");
		sbuf_free(&b);
	}
}

static void number_is(const char *text, enum dperf_id id, uint64_t n)
{
	struct dperf_conf *c = taken(text);

	assert_int_equal(dperf_number(c, id, ~0ull), n);
	dperf_free(c);
}

static void test_numbers(void **state)
{
	(void)state;
	number_is("cps 1.5m\n" CLIENT, DPERF_CPS, 1500000);
	number_is("cps 0.0015M\n" CLIENT, DPERF_CPS, 1500);
	number_is("cps 2.9\n" CLIENT, DPERF_CPS, 2);
	number_is("duration 1.5h\n" CLIENT LOAD, DPERF_DURATION, 5400 * DPERF_NS);
	number_is("duration 90\n" CLIENT LOAD, DPERF_DURATION, 90 * DPERF_NS);
	number_is("keepalive 60s\n" CLIENT LOAD, DPERF_KEEPALIVE, 60 * DPERF_NS);
	number_is("keepalive 990us\n" CLIENT LOAD, DPERF_KEEPALIVE, 990000);
	number_is("keepalive 2000us\n" CLIENT LOAD, DPERF_KEEPALIVE, 2000000);
	number_is("tos 0xB8\n" CLIENT LOAD, DPERF_TOS, 0xb8);
	refused("cps 2147483648\n" CLIENT, "1:5", "to 2147483647");
	refused("cps 2200m\n" CLIENT, "1:5", "to 2147483647");
	refused("cps 99999999999999999999999999\n" CLIENT, "1:5", "to 2147483647");
	refused("cps 1.2.3\n" CLIENT, "1:5", "such as");
	refused("duration 0.5\n" CLIENT LOAD, "1:10", "from 1 second on");
	refused("duration 99999999d\n" CLIENT LOAD, "1:10", "such as");
	refused("keepalive 3us\n" CLIENT LOAD, "1:11", "2us, 4us");
	refused("keepalive 1500us\n" CLIENT LOAD, "1:11", "whole ms");
	refused("keepalive 0\n" CLIENT LOAD, "1:11", "0us");
	refused("keepalive 1.5ms\n" CLIENT LOAD, "1:11", "whole ms");
}

static void test_whole(void **state)
{
	(void)state;
	assert_null(read_text(""));
	assert_non_null(strstr(wrong.s, "there is no cpu line"));
	assert_non_null(strstr(wrong.s, "there is no server line"));
	refused(CLIENT, "1:1", "neither cps nor cc");
	refused(PORT ADDRESSES LOAD, "1:1", "no cpu line");
	refused(CPU PORT "server 10.0.1.1 1\n" LOAD, "1:1", "no client line");
	refused(CPU PORT "client 10.0.0.2 1\n" LOAD, "1:1", "no server line");
	refused(CLIENT LOAD "client 10.0.0.201 1\n", "3:1", "2 lines for 1 ports");
	refused(CLIENT LOAD "server 10.0.1.2 1\n", "4:1", "2 lines for 1 ports");
	refused("cc 100\n" CLIENT, "1:1", "cc needs keepalive");
	refused("cpu 1-3\n" PORT "port 0000:3b:00.1 10.0.0.3 10.0.0.254\n" ADDRESSES
		"client 10.0.3.1 1\nserver 10.0.4.1 1\n" LOAD,
		"1:1", "3 of them for 2 ports");
	refused("cpu 1 2 1\nrss\n" PORT ADDRESSES LOAD, "1:1", "1 stands there twice");
	refused("cpu 0-1000\nrss\n" PORT ADDRESSES LOAD, "1:1", "up to 64");
	refused("cpu 1-2\n" PORT ADDRESSES LOAD, "4:17", "with rss");
	refused("rss\nvxlan 7 02:00:00:00:00:01 02:00:00:00:00:02 10.8.0.1 1 10.8.0.2 1\n" CLIENT
			LOAD,
		"1:1", "exclude each other");
	refused("vlan 7\nvxlan 7 02:00:00:00:00:01 02:00:00:00:00:02 10.8.0.1 1 10.8.0.2 1\n" CLIENT
			LOAD,
		"1:1", "exclude each other");
	refused("vxlan 7 02:00:00:00:00:01 02:00:00:00:00:02 10.8.0.1 2 10.8.0.2 1\n" CLIENT LOAD,
		"1:54", "2 local addresses; allowed: 1");
	refused("client_port_range 1 2\nlport_range 1 2\n" CLIENT "cps 1\n", "1:1", "exclude");
	refused("client_port_range 3 2\n" CLIENT "cps 1\n", "1:1", "3 is above 2");
	refused("client_port_range 1 2\n" CLIENT LOAD, "4:1",
		"200 tuples of addresses and ports for 2000");
	refused("cc 1k\nkeepalive 1s\nclient_port_range 1 2\n" CLIENT, "6:1",
		"200 tuples of addresses and ports for 1000");
	refused("flow_isolate\n" CLIENT LOAD, "3:1", "needs the gateway's MAC");
	refused("pipeline 2\n" CLIENT LOAD "keepalive 0us\n", "1:1", "needs 'protocol udp'");
	refused("pipeline 2\nprotocol udp\n" CLIENT LOAD, "1:1", "needs keepalive");
	refused("pipeline 2\nprotocol udp\nkeepalive 0us\npayload_file /a\n" CLIENT LOAD, "1:1",
		"excludes payload_file");
	refused("pipeline 2\n" SERVER "protocol udp\nkeepalive 0us\n", "1:1", "of a client");
	refused("pipeline 2\nprotocol udp\nkeepalive 1s\n" CLIENT LOAD, "1:1",
		"needs 'keepalive 0us'");
	refused("flood\nkeepalive 0us\n" CLIENT LOAD, "2:1", "an interval above 0");
	refused("keepalive 0us 5\n" CLIENT LOAD, "1:1", "without an interval");
	refused("change_dip 10.9.0.1 1 9\n" CLIENT LOAD, "1:1", "needs flood");
	refused("flood\nchange_dip fd00::1 1 9\n" CLIENT LOAD, "2:1", "another family");
	refused("flood\nchange_dip 10.9.0.0 3 65536\nchange_dip 11.0.0.0 1 1\n" CLIENT LOAD, "3:1",
		"65537 addresses in all; allowed: up to 65536");
	refused("payload_size 1461\n" CLIENT LOAD, "1:14",
		"allowed: up to 1460, or more with jumbo");
	refused("payload_size 10 20\n" CLIENT LOAD, "1:1", "2 sizes");
	refused("payload_size 10\npayload_file x\n" CLIENT LOAD, "2:1", "exclude");
	refused("mss 1461\n" CLIENT LOAD, "1:1", "up to 1460");
	refused("mss 1411\nvxlan 7 02:00:00:00:00:01 02:00:00:00:00:02 10.8.0.1 1 10.8.0.2 1\n" CLIENT
			LOAD,
		"1:1", "up to 1410 inside vxlan");
	refused("http_host a\n" CLIENT LOAD, "1:1", "needs 'protocol http'");
	refused("http_path /a\nprotocol http\npayload_size 100\n" CLIENT LOAD, "1:1", "exclude");
	refused("fast_close\nprotocol udp\n" CLIENT LOAD, "1:1", "needs TCP");
	refused("wait 3\n" SERVER, "1:1", "wait is of a client");
	refused("cps 3\n" SERVER, "1:1", "cps is of a client");
	refused(CPU "port 0000:3b:00.0 10.0.1.1 10.0.0.254\n" ADDRESSES LOAD, "2:1",
		"the address 10.0.1.1 is an address of line 4 (server)");
	refused(CPU "port 0000:3b:00.0 10.0.0.1 10.0.0.2\n" ADDRESSES LOAD, "2:1",
		"the gateway 10.0.0.2 is an address of line 3 (client)");
	refused(CPU "port 0000:3b:00.0 10.0.0.1 10.0.0.1\n" ADDRESSES LOAD, "2:1", "are the same");
	refused(CPU "port 0000:3b:00.0 10.0.0.1 fd00::1\n" ADDRESSES LOAD, "2:1", "two families");
	refused(CPU "port bond0:0(0000:3b:00.0,0000:3b:00.0) 10.0.0.1 10.0.0.254\n" ADDRESSES LOAD,
		"2:1", "in the bond twice");
	refused("vlan 3\n" CPU "port bond0:0(0000:3b:00.0) 10.0.0.1 10.0.0.254\n" ADDRESSES LOAD,
		"3:1", "a bond and vlan");
	refused(CPU PORT "client 10.0.0.2 100\nserver 10.0.0.50 1\n" LOAD, "4:1",
		"10.0.0.50 is in line 3 (client) already");
	refused(CPU PORT "client 10.0.9.200 100\nserver 10.0.1.1 1\n" LOAD, "3:19",
		"up to 254 there");
	refused(CPU PORT "client 10.0.0.2 100\nserver fd00::1 1\n" LOAD, "4:1", "another family");
}

/* What is wrong with a text at all; all errors are told, up to a limit. */
static void test_text(void **state)
{
	struct sbuf b = {0};

	(void)state;
	refused("cps 1k\xe2\x82\xac\n" CLIENT, "1:7", "a byte 0xe2");
	refused("# caf\xc3\xa9\n" CLIENT LOAD, "1:6", "a byte 0xc3");
	sbuf_add(&b, "rss");
	while (b.len < DPERF_LINE_MOST)
		sbuf_addc(&b, ' ');
	sbuf_add(&b, "\n" CLIENT LOAD);
	dperf_free(taken(b.s));
	sbuf_reset(&b);
	for (unsigned i = 0; i <= DPERF_LINE_MOST; i++)
		sbuf_addc(&b, ' ');
	sbuf_add(&b, "\n" CLIENT LOAD);
	refused(b.s, "1:2048", "a line of 2048 characters; allowed: up to 2047");
	sbuf_reset(&b);
	for (unsigned i = 0; i <= DPERF_WORDS_MOST; i++)
		sbuf_add(&b, "rss ");
	sbuf_add(&b, "\n" CLIENT LOAD);
	refused(b.s, "1:129", "more than 32 words");
	sbuf_reset(&b);
	for (unsigned i = 0; i < 100; i++)
		sbuf_addf(&b, "no%u\n", i);
	assert_null(read_text(b.s));
	unsigned lines = 0;
	for (const char *at = wrong.s; *at != '\0'; at++)
		lines += *at == '\n';
	assert_int_equal(lines, DPERF_WRONG_MOST + 1);
	assert_non_null(strstr(wrong.s, "t.conf:20:1: 'no19'"));
	assert_non_null(strstr(wrong.s, "there are more errors"));
	/* however many lines there are, nobody waits for what is told of them */
	sbuf_reset(&b);
	for (unsigned i = 0; i < 100000; i++)
		sbuf_add(&b, PORT);
	assert_null(read_text(b.s));
	assert_non_null(strstr(wrong.s, "t.conf:33:1: more than 32 ports\n"));
	sbuf_reset(&b);
	sbuf_add(&b, CLIENT LOAD "flood\n");
	for (unsigned i = 0; i < 65536; i++)
		sbuf_addf(&b, "change_dip 10.9.%u.%u 1 1\n", i >> 8, i & 255);
	dperf_free(taken(b.s));
	/* \r of other systems, no end of the last line, blanks at the front */
	dperf_free(taken("  cpu 1\r\n\tcps 1k\r\n" PORT "client 10.0.0.2 100\nserver 10.0.1.1 1"));
	sbuf_free(&b);
}

static void test_addresses(void **state)
{
	struct dperf_conf *c =
		taken(CPU PORT "client 10.0.0.252 2 10.0.0.9 10.0.1.7\nserver 10.0.2.1 1\n" LOAD);
	const struct dperf_line *l = dperf_find(c, DPERF_CLIENT, 0);
	static const char *const is[] = {"10.0.0.252", "10.0.0.253", "10.0.0.9", "10.0.1.7"};
	struct dperf_addr a;
	struct sbuf b = {0};

	(void)state;
	assert_int_equal(dperf_addresses(l), 4);
	for (unsigned i = 0; i < 4; i++) {
		sbuf_reset(&b);
		dperf_address(l, i, &a);
		dperf_print_addr(&a, &b);
		assert_string_equal(b.s, is[i]);
	}
	dperf_free(c);
	c = taken("cpu 7 1-2 5\nrss\n" PORT ADDRESSES LOAD);
	assert_int_equal(c->cpus, 4);
	static const unsigned cpus[] = {7, 1, 2, 5};
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(dperf_cpu(c, i), cpus[i]);
	dperf_free(c);
	sbuf_free(&b);
}

static void test_devices(void **state)
{
	char pci[16];

	(void)state;
	assert_true(dperf_pci("0000:3b:00.0", 0, pci));
	assert_string_equal(pci, "0000:3b:00.0");
	assert_false(dperf_pci("0000:3b:00.0", 1, pci));
	assert_true(dperf_pci("bond4:2(0000:3b:00.0,0000:3b:00.1)", 1, pci));
	assert_string_equal(pci, "0000:3b:00.1");
	assert_false(dperf_pci("bond4:2(0000:3b:00.0,0000:3b:00.1)", 2, pci));
	assert_true(dperf_pci("net_memif000", 0, pci));
	assert_string_equal(pci, "net_memif000");
	static const char *const bad[] = {
		"bond7:0(0000:3b:00.0)",
		"bond0:4(0000:3b:00.0)",
		"bond0:0()",
		"bond0:0(0000:3b:00.0,)",
		"bond0:0(0000:3b:00.0",
		"0000:3b:00:0",
		"net_memif0",
		"net_memif,00",
		"eth_memif000",
		"bond0:0(0000:3b:00.0,0000:3b:00.1,0000:3b:00.2,0000:3b:00.3,0000:3b:00.4)"};
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		struct sbuf b = {0};
		sbuf_addf(&b, "port %s 10.0.0.1 10.0.0.254\n" CPU ADDRESSES LOAD, bad[i]);
		refused(b.s, "1:6", "a PCI address");
		sbuf_free(&b);
	}
}

static void test_manual(void **state)
{
	struct sbuf b = {0};

	(void)state;
	dperf_manual(&b);
	for (unsigned i = 0; i < DPERF_IDS; i++) {
		char row[64];
		snprintf(row, sizeof(row), "\n| `%s`", dperf_directives[i].name);
		assert_non_null(strstr(b.s, row));
		assert_non_null(dperf_directives[i].about);
	}
	assert_non_null(strstr(b.s, "| `keepalive` | INTERVAL [REQUESTS] |"));
	sbuf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_directive), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_whole),          cmocka_unit_test(test_text),
		cmocka_unit_test(test_addresses),      cmocka_unit_test(test_devices),
		cmocka_unit_test(test_manual),
	};

	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	sbuf_free(&wrong);
	return rc;
}
