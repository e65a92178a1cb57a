/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames in one line: what is told of each kind, of frames that are cut or damaged, and that a line
 * is text whatever the bytes are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "seed.h"

/* values: "ipv4.ttl=3 udp.dst=5" */
static void brief_build(const char *stack, const char *values, unsigned size, struct frame *f)
{
	struct frame_spec spec = {.size = (uint16_t)size};
	struct frame_vals dflt = {0};
	char *list = xstrdup(values), *save = NULL;
	struct err e = {.text = ""};

	assert_int_equal(frame_stack_parse(stack, &spec.stack, &e), 0);
	for (char *one = strtok_r(list, " ", &save); one != NULL;
	     one = strtok_r(NULL, " ", &save)) {
		char *value = strchr(one, '=');
		assert_non_null(value);
		*value++ = '\0';
		if (frame_vals_parse(&spec.vals, one, value, &e) != 0)
			fail_msg("%s=%s: %s", one, value, e.text);
	}
	assert_int_equal(frame_vals_parse(&dflt, "ipv4.src", "192.168.0.1", &e), 0);
	assert_int_equal(frame_vals_parse(&dflt, "ipv4.dst", "192.168.1.1", &e), 0);
	if (frame_build(&spec, &dflt, FRAME_MAX_LEN, f, &e) != 0)
		fail_msg("%s: %s", stack, e.text);
	frame_spec_free(&spec);
	frame_vals_free(&dflt);
	free(list);
}

static void brief_is(const struct frame *f, unsigned have, const char *line)
{
	struct sbuf out = {0};

	frame_brief(f->bytes, have, f->len, true, &out, NULL);
	assert_string_equal(sbuf_str(&out), line);
	sbuf_free(&out);
}

static const struct one {
	const char *stack, *values, *line;
} ones[] = {
	{"eth/ipv4/udp", "", "192.168.0.1:1234 > 192.168.1.1:5678 udp, payload 18"},
	{"eth/ipv6/udp", "ipv6.src=fd00::1 ipv6.dst=fd00::2",
	 "[fd00::1]:1234 > [fd00::2]:5678 udp"},
	{"eth/vlan/ipv4/tcp",
	 "vlan.vid=7 vlan.pcp=5 tcp.flags=syn,ack tcp.seq=9 tcp.ack=3 tcp.window=100 tcp.mss=1460",
	 "vlan 7 pcp 5, 192.168.0.1:1234 > 192.168.1.1:5678 tcp syn,ack seq 9 ack 3 win 100 mss 1460"},
	{"eth/qinq/vlan/ipv4/icmp", "qinq.vid=3 vlan.vid=4 icmp.id=1 icmp.seq=2",
	 "qinq 3, vlan 4, 192.168.0.1 > 192.168.1.1 icmp echo request id 0x0001 seq 2, payload 10"},
	{"eth/ipv4/icmp", "icmp.type=3 icmp.code=4 icmp.mtu=1400",
	 "192.168.0.1 > 192.168.1.1 icmp unreachable code 4 mtu 1400, payload 18"},
	{"eth/arp", "arp.psrc=10.0.0.1 arp.pdst=10.0.0.2", "arp who has 10.0.0.2, tell 10.0.0.1"},
	{"eth/arp", "arp.op=2 arp.psrc=10.0.0.1 arp.hwsrc=02:00:00:00:00:09",
	 "arp 10.0.0.1 is at 02:00:00:00:00:09"},
	{"eth/mpls/mpls/ipv4/udp", "mpls.label=16 mpls[2].label=17",
	 "mpls 16, mpls 17, 192.168.0.1:1234 > 192.168.1.1:5678 udp, payload 10"},
	{"eth/ipv4/udp/vxlan/eth/ipv4/udp", "vxlan.vni=5 ipv4[2].src=10.0.0.1 ipv4[2].dst=10.0.0.2",
	 "192.168.0.1:1234 > 192.168.1.1:4789 udp, vxlan 5, 10.0.0.1:1234 > 10.0.0.2:5678 udp"},
	{"eth/ipv4/gre/ipv4/udp", "gre.key=9",
	 "192.168.0.1 > 192.168.1.1 gre key 9, 192.168.0.1:1234 > 192.168.1.1:5678 udp"},
	{"eth/ipv4/ipv4/udp", "",
	 "192.168.0.1 > 192.168.1.1, 192.168.0.1:1234 > 192.168.1.1:5678 udp"},
	{"eth", "eth.dst=02:00:00:00:00:01 eth.src=02:00:00:00:00:02 eth.type=0x88b5",
	 "02:00:00:00:00:02 > 02:00:00:00:00:01 type 0x88b5, payload 46"},
	{"eth/ipv4", "ipv4.proto=99 ipv4.flags=mf ipv4.id=77",
	 "192.168.0.1 > 192.168.1.1 fragment 77 at 0, more follow protocol 99, payload 26"},
	{"eth/ipv4/udp", "ipv4.cksum=1 udp.cksum=1",
	 "192.168.0.1:1234 > 192.168.1.1:5678 [wrong ipv4.cksum] udp [wrong udp.cksum], payload 18"},
	{"eth/ipv4/udp", "udp.len=500",
	 "192.168.0.1:1234 > 192.168.1.1:5678 udp [length beyond the frame], payload 18"},
};

static void kinds_of_frames_have_lines(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(ones); i++) {
		struct frame f;
		struct sbuf out = {0};
		size_t n = strlen(ones[i].line);

		brief_build(ones[i].stack, ones[i].values, 0, &f);
		frame_brief(f.bytes, f.len, f.len, true, &out, NULL);
		if (strncmp(sbuf_str(&out), ones[i].line, n) != 0)
			fail_msg("%s %s\n%s\nwanted:\n%s", ones[i].stack, ones[i].values,
				 sbuf_str(&out), ones[i].line);
		sbuf_free(&out);
	}
}

/* Of a frame of which the begin is there, lengths and checksums are judged as far as that goes. */
static void cut_frames_are_not_called_damaged(void **state)
{
	struct frame f;

	(void)state;
	brief_build("eth/ipv4/udp", "", 1518, &f);
	brief_is(&f, 256, "192.168.0.1:1234 > 192.168.1.1:5678 udp, payload 1472");
	brief_is(&f, 41, "192.168.0.1:1234 > 192.168.1.1:5678, udp, cut");
	brief_is(&f, 37, "192.168.0.1 > 192.168.1.1, udp, cut");
	brief_is(&f, 33, "ipv4, cut");
	brief_is(&f, 13, "eth, cut");
	brief_is(&f, 0, "eth, cut");
	brief_build("eth/ipv4/udp", "ipv4.cksum=1", 1518, &f);
	brief_is(&f, 256,
		 "192.168.0.1:1234 > 192.168.1.1:5678 [wrong ipv4.cksum] udp, payload 1472");
}

static void runts_have_lines(void **state)
{
	struct sbuf out = {0};

	(void)state;
	for (unsigned len = 0; len < 14; len++)
		frame_brief((const uint8_t[14]){0}, len, len, true, &out, NULL);
	assert_non_null(strstr(sbuf_str(&out), "no header, payload 13"));
	sbuf_free(&out);
}

static void must_be_text(const struct sbuf *s)
{
	for (size_t i = 0; i < s->len; i++)
		if (s->s[i] < ' ' || s->s[i] > '~')
			fail_msg("byte 0x%02x in the line", (uint8_t)s->s[i]);
}

/* Bytes that are random, or a frame of which some are; cut anywhere. */
static void any_bytes_make_a_line_of_text(void **state)
{
	static const char *const stacks[] = {"eth/vlan/ipv4/tcp",
					     "eth/ipv6/icmpv6",
					     "eth/ipv4/udp/vxlan/eth/ipv6/udp",
					     "eth/ipv4/gre/ipv6/tcp",
					     "eth/ipv4/udp/gtpu/ipv4/icmp",
					     "eth/arp",
					     "eth/llc/snap"};

	(void)state;
	srand((unsigned)test_seed());
	for (unsigned round = 0; round < 20000; round++) {
		struct sbuf out = {0}, stack = {0};
		struct frame f;
		brief_build(stacks[round % ARRAY_SIZE(stacks)], "", 300, &f);
		unsigned len = (unsigned)rand() % (f.len + 1u), have = len;
		if (round % 3 == 0)
			have = (unsigned)rand() % (len + 1);
		for (unsigned k = 0; k < (round % 5 == 0 ? len : (unsigned)rand() % 9); k++)
			f.bytes[len > 0 ? (unsigned)rand() % len : 0] = (uint8_t)rand();
		uint8_t *exact = malloc(have > 0 ? have : 1);
		memcpy(exact, f.bytes, have);
		frame_brief(exact, have, len, true, &out, &stack);
		assert_true(out.len > 0);
		must_be_text(&out);
		must_be_text(&stack);
		free(exact);
		sbuf_free(&out);
		sbuf_free(&stack);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_frames_have_lines),
		cmocka_unit_test(cut_frames_are_not_called_damaged),
		cmocka_unit_test(runts_have_lines),
		cmocka_unit_test(any_bytes_make_a_line_of_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
