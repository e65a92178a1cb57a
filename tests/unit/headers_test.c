/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests frames of all protocols: what is set is read back, and what fills itself has the bytes that
 * the standards ask for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "effort.h"
#include "frame.h"
#include "frame_run.h"

#define ANY_SIZE (FRAME_MAX_LEN + FRAME_FCS)
#define EACH_PROTO(p) for (const struct proto *const *p = proto_table; *p != NULL; p++)

static int try_build(const char *stack, const char *vals, unsigned size, struct frame *f,
		     struct err *e)
{
	struct frame_spec spec = {.size = (uint16_t)size};
	char buf[4096], *save = NULL;

	if (frame_stack_parse(stack, &spec.stack, e) != 0)
		fail_msg("%s: %s", stack, e->text);
	snprintf(buf, sizeof(buf), "%s", vals);
	for (char *w = strtok_r(buf, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
		char *eq = strchr(w, '=');
		*eq = '\0';
		if (frame_vals_parse(&spec.vals, w, eq + 1, e) != 0)
			fail_msg("%s: %s", w, e->text);
	}
	unsigned hdrs = frame_headers_len(&spec);
	int rc = frame_build(&spec, NULL, ANY_SIZE, f, e);
	if (rc == 0)
		assert_int_equal(f->l.tail, hdrs);
	frame_vals_free(&spec.vals);
	return rc;
}

static void build(const char *stack, const char *vals, unsigned size, struct frame *f)
{
	struct err e;

	if (try_build(stack, vals, size, f, &e) != 0)
		fail_msg("%s %s: %s", stack, vals, e.text);
}

/* Copies the text of a field of a dissected frame; "" if it is not shown. */
static void shown(json_t *j, unsigned hdr, const char *name, char *out, size_t size)
{
	json_t *v =
		json_object_get(json_object_get(json_array_get(json_object_get(j, "headers"), hdr),
						"fields"),
				name);

	if (json_is_integer(v))
		snprintf(out, size, "%lld", (long long)json_integer_value(v));
	else
		snprintf(out, size, "%s", v != NULL ? json_string_value(v) : "");
}

/* Dissects a frame and checks the result: it has the same stack, nothing is malformed, and all
 * checksums are right. Returns the dissection. */
static json_t *dissect_sound(const char *stack, const char *vals, const struct frame *f)
{
	json_t *j = frame_dissect(f->bytes, f->len), *h, *v;
	const char *key;
	size_t k;

	if (strcmp(json_string_value(json_object_get(j, "stack")), stack) != 0)
		fail_msg("%s %s: dissected as %s", stack, vals,
			 json_string_value(json_object_get(j, "stack")));
	json_array_foreach(json_object_get(j, "headers"), k, h) {
		assert_int_equal(json_integer_value(json_object_get(h, "offset")), f->off[k]);
		if (json_object_get(h, "malformed") != NULL)
			fail_msg("%s %s: header %zu is malformed", stack, vals, k);
		json_object_foreach(json_object_get(h, "fields"), key, v) {
			if (strlen(key) > 3 && strcmp(key + strlen(key) - 3, "_ok") == 0 &&
			    !json_is_true(v))
				fail_msg("%s %s: %s of header %zu", stack, vals, key, k);
		}
	}
	return j;
}

/* Options, parts, and fields of a message type, alone and together. */
static const struct {
	const char *stack, *vals;
} built[] = {
	{"eth/qinq/vlan/ipv4/tcp", "qinq.vid=7 qinq.pcp=3 vlan.vid=9"},
	{"eth/vlan/vlan/mpls/mpls/ipv4/udp/vxlan/eth/ipv6/tcp",
	 "mpls.label=1048575 mpls[2].tc=7 vxlan.vni=16777215 "
	 "eth[2].src=02:00:00:00:00:09 ipv6.flow=0xabcde"},
	{"eth/mpls/ipv6/udp", "mpls.ttl=1"},
	{"eth/arp",
	 "arp.op=2 arp.hwsrc=02:00:00:00:00:01 arp.psrc=10.0.0.1 arp.hwdst=02:00:00:00:00:02 arp.pdst=10.0.0.2"},
	{"eth/ipv4/udp", "ipv4.ralert=5"},
	{"eth/ipv4/udp", "ipv4.options=070804000000000a"},
	{"eth/ipv4/udp", "ipv4.ralert=1 ipv4.options=070b0400000000000000ff"},
	{"eth/ipv6/ipv6hbh/ipv6dst/ipv6rt/ipv6frag/ipv6dst/ah/udp",
	 "ipv6hbh.ralert=1 ipv6dst.options=1e020102 ipv6frag.id=0x12345678 "
	 "ipv6rt.addrs=20010db8000000000000000000000009"},
	{"eth/ipv6/ipv6hbh/tcp", "ipv6hbh.options=1e0b0102030405060708090a0b"},
	{"eth/ipv6/ipv6dst/udp", "ipv6dst.homeaddr=2001:db8::7"},
	{"eth/ipv6/ipv6rt/udp",
	 "ipv6rt.segleft=1 ipv6rt.flags=0x40 ipv6rt.tag=0x1234 "
	 "ipv6rt.addrs=20010db800000000000000000000000920010db8000000000000000000000008"},
	{"eth/ipv6/ipv6rt/tcp",
	 "ipv6rt.type=0 ipv6rt.res=0x01020304 ipv6rt.segleft=2 "
	 "ipv6rt.addrs=20010db800000000000000000000000920010db8000000000000000000000008"},
	{"eth/ipv6/ipv6rt/udp", "ipv6rt.addr1=2001:db8::5"},
	{"eth/ipv6/ipv6rt/udp",
	 "ipv6rt.segleft=2 ipv6rt.addr3=2001:db8::5 ipv6rt.addr1=2001:db8::6"},
	{"eth/ipv6/ipv6rt/udp", "ipv6rt.type=0 ipv6rt.segleft=2 ipv6rt.addr2=2001:db8::7"},
	{"eth/ipv6/ipv6frag/udp", "ipv6frag.res=1 ipv6frag.res2=2"},
	{"eth/ipv4/icmp", "icmp.id=0x1234 icmp.seq=9"},
	{"eth/ipv4/icmp",
	 "icmp.type=13 icmp.id=0x0001 icmp.orig=1 icmp.recv=2 icmp.xmit=4294967295"},
	{"eth/ipv4/icmp", "icmp.type=17 icmp.mask=255.255.0.0"},
	{"eth/ipv4/icmp/ipv4/udp", "icmp.type=3 icmp.code=4 icmp.mtu=1400 icmp.unused=0x0008"},
	{"eth/ipv4/icmp/ipv4/tcp", "icmp.type=5 icmp.gateway=10.0.0.9"},
	{"eth/ipv4/icmp/ipv4/tcp", "icmp.type=12 icmp.ptr=9"},
	{"eth/ipv6/icmpv6", "icmpv6.id=0x0007 icmpv6.seq=65535"},
	{"eth/ipv6/icmpv6/ipv6/udp", "icmpv6.type=2 icmpv6.mtu=1400"},
	{"eth/ipv6/icmpv6/ipv6/udp", "icmpv6.type=4 icmpv6.ptr=40"},
	{"eth/ipv6/ipv6hbh/icmpv6", "icmpv6.type=131 icmpv6.maxresp=5 icmpv6.maddr=ff02::5"},
	{"eth/ipv6/icmpv6", "icmpv6.type=133 icmpv6.slla=02:00:00:00:00:05"},
	{"eth/ipv6/icmpv6",
	 "icmpv6.type=134 icmpv6.curhlim=5 icmpv6.managed=1 icmpv6.other=1 icmpv6.lifetime=9 icmpv6.reachable=7 "
	 "icmpv6.retrans=8 icmpv6.slla=02:00:00:00:00:05 icmpv6.prefix=2001:db8:: icmpv6.prefixlen=48 icmpv6.onlink=0 icmpv6.auto=1 "
	 "icmpv6.valid=5 icmpv6.preferred=4 icmpv6.linkmtu=9000"},
	{"eth/ipv6/icmpv6",
	 "icmpv6.type=135 icmpv6.target=2001:db8::2 icmpv6.slla=02:00:00:00:00:05 icmpv6.options=0e01010203040506"},
	{"eth/ipv6/icmpv6",
	 "icmpv6.type=136 icmpv6.r=1 icmpv6.s=1 icmpv6.o=1 icmpv6.target=2001:db8::2 icmpv6.tlla=02:00:00:00:00:05"},
	{"eth/ipv6/icmpv6", "icmpv6.type=137 icmpv6.target=2001:db8::2 icmpv6.dst=2001:db8::3"},
	{"eth/ipv4/igmp", "igmp.group=239.1.1.1 igmp.maxresp=9"},
	{"eth/ipv4/igmp",
	 "igmp.type=0x11 igmp.s=1 igmp.qrv=3 igmp.qqic=9 igmp.srcs=0a0000010a000002"},
	{"eth/ipv4/udp/bfd", "bfd.state=3 bfd.my=7 bfd.your=8 bfd.mintx=50000"},
	{"eth/ipv4/igmp",
	 "igmp.type=0x22 igmp.nrec=1 igmp.rtype=2 igmp.maddr=239.1.1.1 igmp.rsrcs=0a0000010a000002"},
	{"eth/ipv4/tcp",
	 "tcp.mss=1400 tcp.sackok=1 tcp.tsval=1 tcp.tsecr=2 tcp.wscale=9 tcp.options=fe06010203ff"},
	{"eth/ipv6/tcp", "tcp.wscale=9"},
	{"eth/ipv4/sctp", "sctp.tsn=7 sctp.sid=1 sctp.ssn=2 sctp.ppid=3 sctp.flags=0x07"},
	{"eth/ipv6/sctp",
	 "sctp.type=1 sctp.itag=0x00000007 sctp.arwnd=1 sctp.os=2 sctp.mis=3 sctp.itsn=4"},
	{"eth/ipv4/gre/eth/ipv4/udp", "gre.key=5"},
	{"eth/ipv6/gre/ipv6/udp", "gre.offset=0 gre.key=6 gre.seq=7"},
	{"eth/ipv4/gre/mpls/ipv4/udp", "gre.c=1"},
	{"eth/ipv4/udp/geneve/eth/arp", "geneve.vni=99 geneve.o=1 geneve.options=0102030100000001"},
	{"eth/ipv4/udp/gtpu/ipv4/udp", "gtpu.teid=4294967295"},
	{"eth/ipv4/udp/gtpu/ipv6/udp", "gtpu.seq=5 gtpu.npdu=6"},
	{"eth/ipv4/udp/gtpu/ipv4/tcp",
	 "gtpu.pdutype=1 gtpu.pdubits=8 gtpu.ppp=1 gtpu.rqi=1 gtpu.qfi=63"},
	{"eth/vlan/pppoe/ipv6/tcp", "pppoe.sid=0x1234 pppoe.code=0x00"},
	{"eth/pppoe/mpls/ipv4/udp", "pppoe.sid=0x0001"},
	{"eth/ipv4/esp", "esp.spi=0x00000101 esp.seq=7"},
	{"eth/ipv6/ah/icmpv6", "ah.spi=0x00000102 ah.icv=0102030405060708090a0b0c0d0e0f10"},
	{"eth/ipv4/ah/udp", "ah.seq=3"},
	{"eth/llc", "llc.ctl=0x03 llc.dsap=0x42 llc.ssap=0x42"},
	{"eth/vlan/llc/snap/ipv4/udp", "snap.oui=0x000000"},
	{"eth/llc/snap/arp", "arp.op=2"},
};

static void what_is_set_is_read_back(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(built); i++) {
		for (unsigned size = 0; size < 1519; size += size == 0 ? 300 : 609) {
			struct frame f;
			char buf[2048], *save = NULL, text[4200];

			build(built[i].stack, built[i].vals, size, &f);
			json_t *j = dissect_sound(built[i].stack, built[i].vals, &f);
			snprintf(buf, sizeof(buf), "%s", built[i].vals);
			for (char *w = strtok_r(buf, " ", &save); w != NULL;
			     w = strtok_r(NULL, " ", &save)) {
				const struct proto *p;
				const struct field *fd;
				unsigned nth, h = 0;
				char *eq = strchr(w, '='), *num;

				*eq = '\0';
				assert_int_equal(frame_field_parse(w, &p, &nth, &fd, NULL), 0);
				while (f.l.h[h].proto != p || f.l.h[h].nth != nth)
					h++;
				shown(j, h, fd->name, text, sizeof(text));
				unsigned long long want = strtoull(eq + 1, &num, 0);
				bool number = fd->kind == FIELD_UINT && *num == '\0';
				if (number ? text[0] == '\0' || strtoull(text, NULL, 10) != want
					   : strcmp(text, eq + 1) != 0)
					fail_msg("%s %s: %s reads \"%s\"", built[i].stack, w,
						 eq + 1, text);
			}
			json_decref(j);
		}
	}
}

/* Finds the shortest way from eth up to p. */
static void path_to(const struct proto *p, struct sbuf *out)
{
	const struct bind *b = p->binds;

	if (p->starts) {
		sbuf_add(out, p->name);
		return;
	}
	path_to(proto_find(b->lower), out);
	sbuf_addf(out, "/%s", p->name);
}

static void every_binding_is_built_and_found_again(void **state)
{
	unsigned n = 0;

	(void)state;
	EACH_PROTO(p) {
		for (const struct bind *b = (*p)->binds; b->lower != NULL; b++, n++) {
			struct sbuf stack = {0};
			struct frame f;

			path_to(proto_find(b->lower), &stack);
			if ((*p)->is_payload) {
				build(sbuf_str(&stack), "", 200, &f);
			} else {
				sbuf_addf(&stack, "/%s", (*p)->name);
				build(sbuf_str(&stack), "", 200, &f);
				/* Pseudowires without control word cannot be told from what else a
				 * label may stand for. */
				if (strcmp((*p)->name, "mpls") != 0 &&
				    strcmp((*p)->name, "gtpu") != 0 &&
				    strcmp((*p)->name, "vxlan") != 0)
					json_decref(dissect_sound(sbuf_str(&stack), "", &f));
			}
			sbuf_free(&stack);
		}
	}
	assert_true(n > 150);
}

static void bytes_are(const struct frame *f, unsigned at, const char *hex)
{
	struct sbuf got = {0};

	for (unsigned i = 0; i < strlen(hex) / 2; i++)
		sbuf_addf(&got, "%02x", f->bytes[at + i]);
	if (strcmp(sbuf_str(&got), hex) != 0)
		fail_msg("at %u: %s, expected %s", at, sbuf_str(&got), hex);
	sbuf_free(&got);
}

/* Lengths, flags, counts, padding and what names the next header are as the standards draw them. */
static void what_fills_itself_has_the_bytes_of_the_standards(void **state)
{
	static const struct {
		const char *stack, *vals;
		unsigned at;
		const char *hex;
	} cases[] = {
		{"eth/mpls/mpls/ipv4", "", 12,
		 "8847"
		 "00010040"
		 "00010140"
		 "45"},
		{"eth/qinq/vlan/ipv6", "", 12,
		 "88a8"
		 "00018100"
		 "000186dd"
		 "6"
		 "0"},
		{"eth/ipv4/udp", "ipv4.ralert=0", 14, "46"},
		{"eth/ipv4/udp", "ipv4.ralert=0", 34, "94040000"},
		{"eth/ipv4/udp", "ipv4.options=0703", 34, "07030000"},
		{"eth/ipv4/tcp", "tcp.sackok=1 tcp.mss=1", 34 + 12,
		 "7"
		 "0"},
		{"eth/ipv4/tcp", "tcp.sackok=1 tcp.mss=1", 54,
		 "02040001"
		 "0402"
		 "0000"},
		{"eth/ipv4/tcp", "tcp.sackok=0", 34 + 12, "50"},
		{"eth/ipv4/tcp", "tcp.tsecr=1", 54,
		 "080a"
		 "00000000"
		 "00000001"
		 "0000"},
		{"eth/ipv6/ipv6hbh/udp", "", 54,
		 "1100"
		 "010400000000"},
		{"eth/ipv6/ipv6hbh/udp", "ipv6hbh.ralert=0", 54,
		 "1100"
		 "05020000"
		 "0100"},
		{"eth/ipv6/ipv6hbh/udp", "ipv6hbh.options=1e0101", 54,
		 "1100"
		 "1e0101"
		 "010100"},
		{"eth/ipv6/ipv6dst/udp", "ipv6dst.options=1e03010203", 54,
		 "1100"
		 "1e03010203"
		 "00"},
		{"eth/ipv6/ipv6rt/udp",
		 "ipv6rt.addrs=0000000000000000000000000000000100000000000000000000000000000002",
		 54,
		 "1104"
		 "0400"
		 "01000000"},
		{"eth/ipv6/ipv6rt/udp", "ipv6rt.addr2=::2", 54,
		 "1104"
		 "0400"
		 "01000000"
		 "00000000000000000000000000000000"
		 "00000000000000000000000000000002"},
		{"eth/ipv6/ipv6rt/udp",
		 "ipv6rt.addr1=::2 ipv6rt.addrs=11111111111111111111111111111111aa", 54 + 8,
		 "00000000000000000000000000000002"
		 "aa"
		 "00000000000000"
		 "04d2"},
		{"eth/ipv4/gre/ipv4", "", 34, "00000800"},
		{"eth/ipv4/gre/ipv4", "gre.key=1", 34,
		 "20000800"
		 "00000001"
		 "45"},
		{"eth/ipv4/gre/ipv4", "gre.seq=2 gre.k=1", 34,
		 "30000800"
		 "00000000"
		 "00000002"
		 "45"},
		/* This is wrong on purpose. */
		{"eth/ipv4/gre/ipv4", "gre.k=0 gre.key=1", 34,
		 "00000800"
		 "00000001"
		 "45"},
		{"eth/ipv4/udp/gtpu/ipv4", "", 42, "30ff"},
		{"eth/ipv4/udp/gtpu/ipv4", "gtpu.seq=1", 42, "32ff"},
		{"eth/ipv4/udp/gtpu/ipv4", "gtpu.qfi=9", 42, "34ff"},
		{"eth/ipv4/udp/gtpu/ipv4", "gtpu.qfi=9", 50,
		 "00000085"
		 "01000900"
		 "45"},
		{"eth/ipv4/udp/gtpu/ipv4", "gtpu.next=0", 42, "34ff"},
		{"eth/ipv4/udp/gtpu/ipv4", "gtpu.npdu=7", 50,
		 "00000700"
		 "45"},
		{"eth/ipv4/udp/vxlan/eth", "vxlan.vni=1", 36, "12b5"},
		{"eth/ipv4/udp/vxlan/eth", "vxlan.vni=1", 42,
		 "08000000"
		 "00000100"},
		{"eth/ipv4/udp/bfd", "", 36,
		 "0ec8"
		 "0020"},
		{"eth/ipv4/udp/bfd", "bfd.diag=7 bfd.state=3 bfd.p=1 bfd.my=7 bfd.minecho=2", 42,
		 "27e00318"
		 "00000007"
		 "00000000"
		 "000f4240"
		 "000f4240"
		 "00000002"},
		{"eth/ipv4/udp/geneve/ipv6", "geneve.options=01", 42,
		 "0100"
		 "86dd"
		 "00000000"
		 "01000000"
		 "6"
		 "0"},
		{"eth/llc/snap/ipv4", "", 12,
		 "002e"
		 "aaaa03"
		 "000000"
		 "0800"
		 "45"},
		{"eth/llc/snap/arp", "", 12, "0024"},
		{"eth/pppoe/ipv4", "", 12,
		 "8864"
		 "1100"
		 "0001"
		 "0028"
		 "0021"
		 "45"},
		{"eth/ipv4/ah/tcp", "", 34,
		 "0604"
		 "0000"},
		{"eth/ipv4/igmp", "igmp.type=0x11 igmp.srcs=01020304", 34 + 8,
		 "027d0001"
		 "01020304"},
		{"eth/ipv4/icmp/ipv4", "", 34, "0300"},
		{"eth/ipv6/icmpv6/ipv6", "", 54, "0100"},
		{"eth/ipv4/sctp", "", 46,
		 "0003"
		 "0010"},
		{"eth/arp", "", 14,
		 "0001"
		 "0800"
		 "06"
		 "04"
		 "0001"},
		{"eth/ipv4/igmp", "", 16, "001c"},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct frame f;
		build(cases[i].stack, cases[i].vals, 0, &f);
		bytes_are(&f, cases[i].at, cases[i].hex);
	}
}

/* Returns a CRC-32C, made slowly, as RFC 9260 appendix A tells it: with the polynomial 0x1edc6f41,
 * the highest power first, and the bits of bytes and of the result turned round. */
static uint32_t slow_crc32c(const uint8_t *p, unsigned n)
{
	uint32_t crc = UINT32_MAX, out = 0;

	for (unsigned i = 0; i < n * 8; i++) {
		bool in = p[i / 8] >> (i % 8) & 1, top = crc >> 31;
		crc = crc << 1 ^ (in != top ? 0x1edc6f41u : 0);
	}
	for (unsigned i = 0; i < 32; i++)
		out |= (~crc >> i & 1) << (31 - i);
	return out;
}

static void sctp_has_a_crc32c(void **state)
{
	struct frame f;

	(void)state;
	/* This is its well-known check value. */
	assert_int_equal(slow_crc32c((const uint8_t *)"123456789", 9), 0xe3069283);
	/* It is made by the CPU's instruction, without it, and in two parts. */
	for (unsigned n = 0; n < 600; n++) {
		uint8_t b[600];
		for (unsigned i = 0; i < n; i++)
			b[i] = (uint8_t)(i * 31 + n * 7 + (i >> 5));
		uint32_t crc = slow_crc32c(b, n), part = n / 3;
		assert_int_equal(~frun_crc32c(UINT32_MAX, b, n), crc);
		assert_int_equal(~frun_crc32c_plain(UINT32_MAX, b, n), crc);
		assert_int_equal(~frun_crc32c(frun_crc32c_plain(UINT32_MAX, b, part), b + part,
					      n - part),
				 crc);
	}
	for (unsigned size = 70; size < 80; size++) {
		uint8_t copy[128];
		build("eth/ipv4/sctp", "", size, &f);
		json_decref(dissect_sound("eth/ipv4/sctp", "", &f));
		memcpy(copy, f.bytes + 34, f.len - 34u);
		memset(copy + 8, 0, 4);
		uint32_t crc = slow_crc32c(copy, f.len - 34u);
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(f.bytes[42 + k], (uint8_t)(crc >> 8 * k));
	}
	f.bytes[f.len - 1] ^= 1;
	json_t *j = frame_dissect(f.bytes, f.len);
	json_t *ok =
		json_object_get(json_object_get(json_array_get(json_object_get(j, "headers"), 2),
						"fields"),
				"cksum_ok");
	assert_true(json_is_false(ok));
	json_decref(j);
}

static void fields_that_are_not_in_the_frame_are_not_found(void **state)
{
	const struct proto *icmp = proto_find("icmp"), *tcp = proto_find("tcp"),
			   *ip = proto_find("ipv4");
	uint8_t v[VT_FIELD_BYTES];
	unsigned n = 0;
	struct frame f;

	(void)state;
	build("eth/ipv4/icmp", "icmp.type=5 icmp.gateway=1.2.3.4", 0, &f);
	assert_true(frame_field_get(&f, 2, proto_field(icmp, "gateway"), v));
	assert_memory_equal(v + 12, ((uint8_t[]){1, 2, 3, 4}), 4);
	assert_false(frame_field_get(&f, 2, proto_field(icmp, "id"), v));
	assert_false(frame_field_get(&f, 2, proto_field(icmp, "orig"), v));
	assert_false(frame_field_get(&f, 3, proto_field(icmp, "id"), v));
	build("eth/ipv4/tcp", "tcp.sackok=1 ipv4.options=0102", 0, &f);
	assert_true(frame_field_get(&f, 2, proto_field(tcp, "sackok"), v));
	assert_int_equal(v[15], 1);
	assert_false(frame_field_get(&f, 2, proto_field(tcp, "mss"), v));
	assert_memory_equal(frame_field_bytes(&f, 1, proto_field(ip, "options"), &n), "\1\2", 2);
	assert_int_equal(n, 2);
	assert_null(frame_field_bytes(&f, 2, proto_field(tcp, "options"), &n));
	/* Values of another message type are kept, but change nothing. */
	struct frame g;
	build("eth/ipv4/icmp", "icmp.type=3", 0, &f);
	build("eth/ipv4/icmp", "icmp.type=3 icmp.id=0xffff icmp.orig=7 icmp.gateway=9.9.9.9", 0,
	      &g);
	assert_int_equal(f.len, g.len);
	assert_memory_equal(f.bytes, g.bytes, f.len);
}

static void values_of_other_messages_name_what_keeps_them_out(void **state)
{
	static const struct {
		const char *val, *by;
		unsigned says;
	} cases[] = {
		{"icmp.id=1", "type", 3},   {"icmp.gateway=1.2.3.4", "type", 3},
		{"icmp.orig=1", "type", 3}, {"icmp.mtu=9", NULL, 0},
		{"icmp.code=1", NULL, 0},   {"icmp[2].id=1", NULL, 0},
		{"ipv4.ralert=1", NULL, 0}, {"icmp.type=4", NULL, 0},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct frame_spec spec = {0};
		char text[64];
		uint64_t says = 0;

		snprintf(text, sizeof(text), "%s", cases[i].val);
		*strchr(text, '=') = '\0';
		/* This makes it type 3. */
		assert_int_equal(frame_stack_parse("eth/ipv4/icmp/ipv4", &spec.stack, NULL), 0);
		assert_int_equal(frame_vals_parse(&spec.vals, text, strchr(cases[i].val, '=') + 1,
						  NULL),
				 0);
		const struct field *by = frame_val_idle(&spec, &spec.vals.val[0], &says);
		assert_int_equal(by != NULL, cases[i].by != NULL);
		if (by != NULL)
			assert_string_equal(by->name, cases[i].by);
		assert_int_equal(says, cases[i].says);
		frame_vals_free(&spec.vals);
	}
}

static void what_does_not_fit_is_refused(void **state)
{
	static const struct {
		const char *stack, *vals;
		unsigned size;
		const char *says;
	} cases[] = {
		{"eth/llc", "", 1519, "size smaller by 1"},
		{"eth/ipv4/udp",
		 "ipv4.ralert=0 ipv4.options=00000000000000000000000000000000000000000000000000000000000000000000000000000000",
		 0, "ipv4.ihl cannot hold the length 16"},
		{"eth/ipv4/tcp", "tcp.mss=1", 60, "too small"},
		{"eth/vlan/vlan/ipv4/tcp", "tcp.mss=1", 68, "smallest is 70"},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct frame f;
		struct err e;
		assert_int_equal(try_build(cases[i].stack, cases[i].vals, cases[i].size, &f, &e),
				 -EINVAL);
		if (strstr(e.text, cases[i].says) == NULL)
			fail_msg("%s: %s", cases[i].stack, e.text);
	}
	/* This stack has many long options. */
	struct sbuf stack = {0}, vals = {0};
	struct frame f;
	struct err e;
	sbuf_add(&stack, "eth/ipv6");
	for (unsigned i = 1; i <= 12; i++) {
		sbuf_add(&stack, "/ipv6dst");
		sbuf_addf(&vals, "ipv6dst[%u].options=", i);
		for (unsigned k = 0; k < 150; k++)
			sbuf_add(&vals, "1e");
		sbuf_add(&vals, " ");
	}
	assert_int_equal(try_build(sbuf_str(&stack), sbuf_str(&vals), 0, &f, &e), 0);
	assert_int_equal(f.l.tail, 54 + 12 * 152);
	sbuf_free(&stack);
	sbuf_free(&vals);
}

static void padding_follows_what_carries_nothing(void **state)
{
	static const char *const stacks[] = {"eth/arp", "eth/ipv4/igmp", "eth/vlan/ipv4/igmp",
					     "eth/ipv4/gre/ipv4/igmp"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++) {
		struct frame f;
		build(stacks[i], "", 128, &f);
		json_t *j = dissect_sound(stacks[i], "", &f), *pad = json_object_get(j, "padding");
		assert_int_equal(json_integer_value(json_object_get(pad, "offset")), f.l.tail);
		assert_int_equal(json_integer_value(json_object_get(pad, "len")), 124 - f.l.tail);
		json_decref(j);
	}
	/* In a tunnel the inner Ethernet frame has it. */
	struct frame f;
	build("eth/ipv4/udp/vxlan/eth/arp", "", 128, &f);
	bytes_are(&f, 16, "006e");
	bytes_are(&f, 38, "005a");
}

static void any_bytes_are_dissected_without_harm(void **state)
{
	const char *seed = getenv("HEADERS_SEED");
	unsigned s = seed != NULL ? (unsigned)strtoul(seed, NULL, 10) : 3;

	(void)state;
	srand(s);
	for (unsigned round = 0; round < effort(20000, 3000); round++) {
		unsigned which = (unsigned)rand() % (unsigned)ARRAY_SIZE(built);
		struct frame f;
		struct sbuf out = {0};

		build(built[which].stack, built[which].vals, 0, &f);
		unsigned len = rand() % 4 != 0 ? f.len : (unsigned)rand() % (f.len + 1u);
		/* There are exactly len bytes on the heap, so that the sanitizer sees a byte too
		 * many. */
		uint8_t *copy = malloc(len != 0 ? len : 1);
		memcpy(copy, f.bytes, len);
		for (unsigned k = (unsigned)rand() % 6; k > 0 && len > 0; k--)
			copy[(unsigned)rand() % len] =
				(uint8_t)(rand() % 3 != 0 ? rand() : rand() % 9);
		json_t *j = frame_dissect(copy, len);
		json_t *payload = json_object_get(j, "payload"),
		       *padding = json_object_get(j, "padding");
		json_int_t end = json_integer_value(json_object_get(payload, "offset")) +
				 json_integer_value(json_object_get(payload, "len"));
		if (padding != NULL)
			end += json_integer_value(json_object_get(padding, "len"));
		if (end != len)
			fail_msg("HEADERS_SEED=%u round %u: %s", s, round, built[which].stack);
		frame_print(copy, len, &out);
		sbuf_free(&out);
		json_decref(j);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_set_is_read_back),
		cmocka_unit_test(every_binding_is_built_and_found_again),
		cmocka_unit_test(what_fills_itself_has_the_bytes_of_the_standards),
		cmocka_unit_test(sctp_has_a_crc32c),
		cmocka_unit_test(fields_that_are_not_in_the_frame_are_not_found),
		cmocka_unit_test(values_of_other_messages_name_what_keeps_them_out),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(padding_follows_what_carries_nothing),
		cmocka_unit_test(any_bytes_are_dissected_without_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
