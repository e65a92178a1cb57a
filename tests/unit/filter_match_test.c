/* SPDX-License-Identifier: BSD-3-Clause */
/* Filters as workers run them, by machine code and by the interpreter, on frames of all kinds of
 * headers, spoilt, cut, and in several segments, against libpcap's own interpreter. */
#include "cmocka_names.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "eal_skip.h"
#include "effort.h"
#include "filter_load.h"
#include "filter_skip.h"
#include "frame.h"
#include "seed.h"

#define FRAMES 1500
#define PROGRAMS ((unsigned)effort(4000, 700))
#define PIECES 4
#define ROOM 4096 /* of a piece; what is behind it cannot be read */
#define LONGEST 1518

static uint64_t seed;

static const char *const exprs[] = {
	"ip",
	"ip6",
	"arp",
	"udp",
	"tcp",
	"icmp",
	"icmp6",
	"igmp",
	"sctp",
	"esp",
	"ah",
	"udp port 5000",
	"udp port 1234",
	"tcp port 5678",
	"port 4789 or port 2152",
	"portrange 1000-2000",
	"src portrange 0-1023 and udp",
	"tcp[tcpflags] & tcp-syn != 0",
	"tcp[tcpflags] & (tcp-syn|tcp-fin) != 0 and not port 80",
	"tcp[tcpflags] = tcp-ack",
	"vlan",
	"vlan and ip",
	"vlan and udp port 5678",
	"vlan 1 and vlan and ip6",
	"vlan and vlan and tcp",
	"vlan or arp",
	"mpls",
	"mpls and ip",
	"mpls and mpls and ip6",
	"pppoes and ip",
	"pppoed",
	"geneve and ip",
	"llc",
	"stp",
	"ip multicast",
	"ether multicast",
	"ether broadcast",
	"ip6 multicast",
	"host 10.0.0.1",
	"net 10.0.0.0/8",
	"not net 10.0.0.0/8",
	"host fe80::1 or net 2001:db8::/32",
	"src host 192.168.0.1 or dst net 198.18.0.0/15",
	"ether host 02:00:00:00:00:01",
	"ether src 02:00:00:00:00:01 and ip",
	"ether proto 0x88f7",
	"ether proto 0x8100 or ether[0] & 1 != 0",
	"ip proto 47 or ip6 proto 47",
	"ip proto 4 or ip proto 41",
	"ip[6:2] & 0x1fff != 0",
	"ip[6] & 0x20 != 0 or ip[8] < 5",
	"ip[0] & 0xf > 5 and udp",
	"icmp[icmptype] = icmp-echo or icmp[icmptype] = icmp-unreach",
	"icmp6[0] = 135 or icmp6[0] = 136",
	"udp[4:2] > 20",
	"udp[8:4] = 0x61626364",
	"tcp[((tcp[12:1] & 0xf0) >> 2):4] = 0x47455420",
	"greater 100",
	"less 64",
	"len > 80 and len <= 1000",
	"len - 14 = ip[2:2] + 0",
	"ether[len - 1] = 0",
	"ether[len - 60] & 1 = 0",
	"ether[len:1] = 0 or ip",
	"ether[ether[14] & 0xf] > 10",
	"ip[ip[9]] != ip[ip[8]]",
	"ether[100:4] * 3 + ether[20] / 2 != 7",
	"ether[30:2] % 7 = 3",
	"ether[31] ^ 0x55 & 0x0f = 5",
	"ether[16:2] / ether[30] > 3",
	"ether[16:2] % ether[31] = 1",
	"1 << ether[22] > 5",
	"0x12345678 >> ether[23] > 5",
	"ether[14:4] >> 4 = ether[18:4] << 3",
	"-ether[20] + 5 > 0",
	"ether[1500] != 0",
	"ether[65535] = 0 or udp",
	"ether[4292000000:4] = 0 or udp",
	"ether[ether[30:4]] = 0",
	"ether[ether[26:4]:4] != 5",
	"ip[ip[12:4]:2] < 99 or arp",
	"not ip and not ip6",
	"(udp or tcp) and (ip or ip6) and not vlan",
	"ether[12:4] = 0x81000001",
	"ether[0:4] > 0x80000000",
	"ip[12:4] >= 0xc0000000 and ip[12:4] - 1 < 0xe0000000",
};

struct test_filter {
	struct filter_prog prog;
	struct filter_exec *exec;
};

static struct test_filter filters[ARRAY_SIZE(exprs)];

static uint64_t any(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

/* ---- frames ---- */

static uint8_t bytes[LONGEST + 64];
static unsigned len;

static unsigned protos(void)
{
	unsigned n = 0;

	while (proto_table[n] != NULL)
		n++;
	return n;
}

/* A stack of up to six headers, of those that may follow each other. */
static void any_stack(struct frame_stack *s)
{
	static const char *const begin[] = {"eth/ipv4",      "eth/ipv6",     "eth/vlan",
					    "eth/vlan/ipv4", "eth",          "eth/ipv4/udp",
					    "eth/ipv6/tcp",  "eth/qinq/vlan"};
	char text[256], longer[300];
	unsigned want = (unsigned)any(4);

	snprintf(text, sizeof(text), "%s", begin[any(ARRAY_SIZE(begin))]);
	if (frame_stack_parse(text, s, NULL) != 0)
		fail_msg("%s", text);
	for (unsigned try = 0; try < 200 && want > 0; try++) {
		struct frame_stack next;
		snprintf(longer, sizeof(longer), "%s/%s", text, proto_table[any(protos())]->name);
		if (strlen(longer) >= sizeof(text) || frame_stack_parse(longer, &next, NULL) != 0)
			continue;
		memcpy(text, longer, strlen(longer) + 1);
		*s = next;
		want--;
	}
}

/* Values that the filters above look for. */
static const char *const values[][2] = {
	{"eth.dst", "02:00:00:00:00:01"},
	{"eth.src", "02:00:00:00:00:01"},
	{"eth.dst", "ff:ff:ff:ff:ff:ff"},
	{"ipv4.src", "10.0.0.1"},
	{"ipv4.dst", "198.18.0.1"},
	{"ipv4.ttl", "3"},
	{"ipv4.src", "192.168.0.1"},
	{"ipv6.src", "fe80::1"},
	{"ipv6.dst", "2001:db8::5"},
	{"udp.dst", "5000"},
	{"tcp.dst", "80"},
	{"tcp.flags", "syn"},
	{"icmpv6.type", "135"},
	{"vlan.vid", "1"},
};

static void any_frame(void)
{
	static struct frame f;
	struct frame_spec spec = {.fill = any(2) ? FILL_ABC : FILL_INC};
	struct err e;

	any_stack(&spec.stack);
	spec.size = any(2) == 0 ? 0 : (uint16_t)(frame_headers_len(&spec) + 68 + any(200));
	if (any(20) == 0)
		spec.size = LONGEST;
	for (unsigned n = (unsigned)any(8); n > 0; n--) {
		unsigned v = (unsigned)any(ARRAY_SIZE(values));
		if (frame_vals_parse(&spec.vals, values[v][0], values[v][1], &e) != 0)
			fail_msg("%s", e.text);
	}
	if (frame_build(&spec, NULL, LONGEST, &f, &e) != 0)
		fail_msg("%s", e.text);
	len = f.len;
	memcpy(bytes, f.bytes, len);
	frame_spec_free(&spec);
	/* other values, whichever fields they hit */
	for (uint64_t n = any(3) * any(4); n > 0; n--)
		bytes[any(RTE_MIN(len, 90u))] = (uint8_t)(any(2) ? any(256) : 1u << any(8));
	if (any(4) == 0)
		len = (unsigned)any(any(2) ? 80 : len) % (len + 1);
}

/* ---- buffers ---- */

static uint8_t *room[PIECES];
static struct rte_mbuf piece[PIECES];

static int make_rooms(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PIECES; i++) {
		room[i] = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);
		assert_true(room[i] != MAP_FAILED);
		assert_int_equal(mprotect(room[i] + ROOM, ROOM, PROT_NONE), 0);
	}
	return 0;
}

/* Puts n bytes into n_pieces buffers, each up to the end of what can be read. */
static struct rte_mbuf *frame_in(const uint8_t *from, unsigned n, unsigned n_pieces)
{
	unsigned done = 0;

	for (unsigned i = 0; i < n_pieces; i++) {
		unsigned here = i + 1 == n_pieces ? n - done : (unsigned)any(n - done + 1);
		here = i + 1 < n_pieces && any(2) != 0 ? RTE_MIN(here, 20u) : here;
		piece[i] = (struct rte_mbuf){
			.buf_addr = room[i],
			.buf_len = ROOM,
			.data_off = (uint16_t)(ROOM - here),
			.data_len = (uint16_t)here,
			.pkt_len = i == 0 ? n : here,
			.nb_segs = (uint16_t)(i == 0 ? n_pieces : 1),
			.next = i + 1 < n_pieces ? &piece[i + 1] : NULL,
		};
		memcpy(room[i] + ROOM - here, from + done, here);
		done += here;
	}
	return &piece[0];
}

/* ---- one against the other ---- */

static int compile_all(void **state)
{
	struct err e;

	for (unsigned i = 0; i < ARRAY_SIZE(exprs); i++) {
		if (filter_compile(exprs[i], 65535, FILTER_ETHERNET, &filters[i].prog, &e) != 0 ||
		    filter_load(&filters[i].prog, &filters[i].exec, &e) != 0) {
			print_error("%s\n", e.text);
			return -1;
		}
	}
	return make_rooms(state);
}

static int free_all(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(exprs); i++) {
		filter_unload(filters[i].exec);
		filter_prog_free(&filters[i].prog);
	}
	filter_unload(NULL);
	for (unsigned i = 0; i < PIECES; i++)
		munmap(room[i], 2 * ROOM);
	return 0;
}

static bool libpcap_says(const struct test_filter *f)
{
	return bpf_filter((const struct bpf_insn *)f->prog.insns, bytes, len, len) != 0;
}

static void differs(unsigned i, const char *who, bool want)
{
	for (unsigned n = 0; n < len; n++)
		printf("%02x", bytes[n]);
	fail_msg("\n%s: %s says %d, libpcap %d; %u bytes, %u pieces", exprs[i], who, !want, want,
		 len, piece[0].nb_segs);
}

static void test_same(void **state)
{
	unsigned passed[ARRAY_SIZE(exprs)] = {0}, never = 0, always = 0, code = 0;

	(void)state;
	for (unsigned round = 0; round < FRAMES; round++) {
		any_frame();
		const struct rte_mbuf *m =
			frame_in(bytes, len, any(2) ? 1 : 1 + (unsigned)any(PIECES));
		for (unsigned i = 0; i < ARRAY_SIZE(exprs); i++) {
			bool want = libpcap_says(&filters[i]);
			passed[i] += want;
			if (filter_match(filters[i].exec, m) != want)
				differs(i, "machine code", want);
			if (filter_match_plain(filters[i].exec, m) != want)
				differs(i, "the interpreter", want);
		}
	}
	for (unsigned i = 0; i < ARRAY_SIZE(exprs); i++) {
		never += passed[i] == 0;
		always += passed[i] == FRAMES;
		code += filters[i].exec->jit != NULL;
		if (passed[i] == 0)
			printf("no frame passes: %s\n", exprs[i]);
		if (filters[i].exec->jit == NULL)
			printf("no machine code: %s\n", exprs[i]);
	}
	printf("%zu filters, %u of them machine code; %u let all pass, %u none\n",
	       ARRAY_SIZE(exprs), code, always, never);
	/* else the comparison says little */
	assert_true(never < ARRAY_SIZE(exprs) / 4);
	assert_int_equal(always, 0);
#if defined(WR_BPF_CONVERT) && defined(__x86_64__)
	assert_true(code > ARRAY_SIZE(exprs) * 3 / 4);
#endif
}

/* ---- programs that no text makes ---- */

static const uint16_t codes[] = {
	BPF_LD | BPF_IMM,
	BPF_LD | BPF_W | BPF_LEN,
	BPF_LD | BPF_W | BPF_ABS,
	BPF_LD | BPF_H | BPF_ABS,
	BPF_LD | BPF_B | BPF_ABS,
	BPF_LD | BPF_W | BPF_IND,
	BPF_LD | BPF_H | BPF_IND,
	BPF_LD | BPF_B | BPF_IND,
	BPF_LD | BPF_MEM,
	BPF_LDX | BPF_W | BPF_IMM,
	BPF_LDX | BPF_W | BPF_LEN,
	BPF_LDX | BPF_MSH | BPF_B,
	BPF_LDX | BPF_MEM,
	BPF_ST,
	BPF_STX,
	BPF_ALU | BPF_ADD | BPF_K,
	BPF_ALU | BPF_SUB | BPF_K,
	BPF_ALU | BPF_MUL | BPF_K,
	BPF_ALU | BPF_DIV | BPF_K,
	BPF_ALU | BPF_MOD | BPF_K,
	BPF_ALU | BPF_AND | BPF_K,
	BPF_ALU | BPF_OR | BPF_K,
	BPF_ALU | BPF_XOR | BPF_K,
	BPF_ALU | BPF_LSH | BPF_K,
	BPF_ALU | BPF_RSH | BPF_K,
	BPF_ALU | BPF_ADD | BPF_X,
	BPF_ALU | BPF_SUB | BPF_X,
	BPF_ALU | BPF_MUL | BPF_X,
	BPF_ALU | BPF_DIV | BPF_X,
	BPF_ALU | BPF_MOD | BPF_X,
	BPF_ALU | BPF_AND | BPF_X,
	BPF_ALU | BPF_OR | BPF_X,
	BPF_ALU | BPF_XOR | BPF_X,
	BPF_ALU | BPF_LSH | BPF_X,
	BPF_ALU | BPF_RSH | BPF_X,
	BPF_ALU | BPF_NEG,
	BPF_JMP | BPF_JEQ | BPF_K,
	BPF_JMP | BPF_JGT | BPF_K,
	BPF_JMP | BPF_JGE | BPF_K,
	BPF_JMP | BPF_JSET | BPF_K,
	BPF_JMP | BPF_JEQ | BPF_X,
	BPF_JMP | BPF_JGT | BPF_X,
	BPF_JMP | BPF_JGE | BPF_X,
	BPF_JMP | BPF_JSET | BPF_X,
	BPF_JMP | BPF_JA,
	BPF_MISC | BPF_TAX,
	BPF_MISC | BPF_TXA,
};

#define WORDS 2
#define INSNS 10

static uint32_t any_k(void)
{
	switch (any(5)) {
	case 0:
		return (uint32_t)any(1ull << 32);
	case 1:
		return 1u << any(32);
	case 2:
		return UINT32_MAX - (uint32_t)any(200);
	default:
		return (uint32_t)any(160);
	}
}

/* `after`: how many come behind it. */
static struct filter_insn any_insn(unsigned after)
{
	struct filter_insn in = {.code = codes[any(ARRAY_SIZE(codes))], .k = any_k()};
	unsigned class = BPF_CLASS(in.code), mode = BPF_MODE(in.code);
	bool loads = class == BPF_LD || class == BPF_LDX;

	if (class == BPF_ST || class == BPF_STX || (loads && mode == BPF_MEM))
		in.k %= WORDS;
	if (loads && mode != BPF_IMM && any(20) != 0)
		in.k %= 100;
	if (loads && (mode == BPF_ABS || mode == BPF_MSH))
		in.k %= INT32_MAX;
	if (class == BPF_ALU && (BPF_OP(in.code) == BPF_LSH || BPF_OP(in.code) == BPF_RSH))
		in.k %= 32;
	if (class == BPF_ALU && in.k == 0)
		in.k = 1;
	if (class == BPF_JMP) {
		in.jt = (uint8_t)any(RTE_MIN(after, 5u));
		in.jf = (uint8_t)any(RTE_MIN(after, 5u));
		if (BPF_OP(in.code) == BPF_JA)
			in.k = in.jt;
	}
	return in;
}

static void test_any_program(void **state)
{
	struct filter_insn in[INSNS + WORDS + 1];
	unsigned code = 0, not_0 = 0;
	struct filter_exec *x;
	struct err e;

	(void)state;
	for (unsigned round = 0; round < PROGRAMS; round++) {
		struct filter_prog p = {in, 0};
		unsigned n = 1 + (unsigned)any(INSNS);
		for (; p.n < WORDS; p.n++)
			in[p.n] = (struct filter_insn){.code = BPF_ST, .k = p.n};
		while (p.n < n + WORDS) {
			in[p.n] = any_insn(n + WORDS - p.n);
			p.n++;
		}
		in[p.n++] = (struct filter_insn){.code = BPF_RET | BPF_A};
		if (filter_load(&p, &x, &e) != 0)
			fail_msg("%s", e.text);
		code += x->jit != NULL;
		for (unsigned i = 0; i < 4; i++) {
			any_frame();
			const struct rte_mbuf *m = frame_in(bytes, len, 1 + (unsigned)any(PIECES));
			uint32_t want = bpf_filter((const struct bpf_insn *)in, bytes, len, len);
			not_0 += want != 0;
			if (filter_match(x, m) == (want != 0) &&
			    filter_match_plain(x, m) == (want != 0) &&
			    (x->jit == NULL || (uint32_t)x->jit((void *)(uintptr_t)m) == want))
				continue;
			for (unsigned at = 0; at < p.n; at++)
				printf("%s\n",
				       bpf_image((const struct bpf_insn *)&in[at], (int)at));
			fail_msg("libpcap says %u", want);
		}
		filter_unload(x);
	}
	printf("%u programs, %u of them machine code; %u of %u results are not 0\n", PROGRAMS, code,
	       not_0, 4 * PROGRAMS);
	assert_true(not_0 > PROGRAMS / 4);
}

/* A frame of which the device took the tags and put them beside it passes as it came. */
static void test_tags_taken_out(void **state)
{
	const char *const stacks[] = {"eth/vlan/ipv4/udp", "eth/qinq/vlan/ipv6/tcp"};
	static struct frame f;

	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		unsigned tags = 1 + (unsigned)any(2);
		struct frame_spec spec = {0};
		uint8_t left[LONGEST];

		assert_int_equal(frame_stack_parse(stacks[tags - 1], &spec.stack, NULL), 0);
		assert_int_equal(frame_build(&spec, NULL, LONGEST, &f, NULL), 0);
		frame_spec_free(&spec);
		memcpy(bytes, f.bytes, len = f.len);
		for (unsigned t = 0; t < tags; t++) {
			bytes[14 + 4 * t] = (uint8_t)any(256);
			bytes[15 + 4 * t] = (uint8_t)any(3);
		}
		len -= any(4) == 0 ? (unsigned)any(len - 22) : 0;
		memcpy(left, bytes, 12);
		memcpy(left + 12, bytes + 12 + 4 * tags, len - 12 - 4 * tags);
		struct rte_mbuf *m = frame_in(left, len - 4 * tags, 1 + (unsigned)any(PIECES));
		m->ol_flags = tags == 2 ? RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED |
						  RTE_MBUF_F_RX_QINQ | RTE_MBUF_F_RX_QINQ_STRIPPED
					: RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		m->vlan_tci_outer = (uint16_t)get_be16(bytes + 14);
		m->vlan_tci = (uint16_t)get_be16(bytes + (tags == 2 ? 18 : 14));
		for (unsigned i = 0; i < ARRAY_SIZE(exprs); i++)
			if (filter_match(filters[i].exec, m) != libpcap_says(&filters[i]))
				differs(i, "with tags taken out it", libpcap_says(&filters[i]));
	}
	/* flags of a frame that is too short for them */
	struct rte_mbuf *m = frame_in(bytes, 5, 1);
	m->ol_flags = RTE_MBUF_F_RX_VLAN_STRIPPED;
	assert_false(filter_match(filters[0].exec, m));
}

static void test_bursts(void **state)
{
	struct rte_mbuf *m[64], copy[64];

	(void)state;
	any_frame();
	m[0] = frame_in(bytes, len, 1);
	for (unsigned i = 0; i < ARRAY_SIZE(exprs); i++) {
		uint64_t want = libpcap_says(&filters[i]) ? UINT64_MAX : 0;
		for (unsigned n = 0; n < 64; n++) {
			copy[n] = *m[0];
			m[n] = &copy[n];
		}
		assert_true(filter_match_burst(filters[i].exec, m, 64) == want);
		copy[7].pkt_len = copy[7].data_len = 0;
		assert_int_equal(filter_match_burst(filters[i].exec, m, 64) | 1ull << 7,
				 want | 1ull << 7);
		assert_int_equal(filter_match_burst(filters[i].exec, m, 0), 0);
		m[0] = &piece[0];
	}
}

/* Programs whose ways DPDK would follow one by one for hours are interpreted. */
static void test_many_ways(void **state)
{
	struct sbuf text = {0};
	struct test_filter f;
	struct err e;

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		sbuf_addf(&text, "%s(ether[%u] = 1 or ether[%u] = 2)", i > 0 ? " and " : "", 20 + i,
			  100 + i);
	assert_int_equal(filter_compile(text.s, 65535, FILTER_ETHERNET, &f.prog, &e), 0);
	assert_int_equal(filter_load(&f.prog, &f.exec, &e), 0);
	assert_null(f.exec->jit);
	for (unsigned i = 0; i < 100; i++) {
		len = 150;
		for (unsigned n = 0; n < len; n++)
			bytes[n] = (uint8_t)(any(50) ? 1 : 2);
		assert_int_equal(filter_match(f.exec, frame_in(bytes, len, 2)), libpcap_says(&f));
	}
	filter_unload(f.exec);
	filter_prog_free(&f.prog);
	sbuf_free(&text);
}

static void test_refused(void **state)
{
	struct filter_insn in = {.code = 0xffff};
	const struct filter_prog p = {&in, 1};
	struct filter_exec *x = NULL;
	struct err e;

	(void)state;
	assert_true(filter_load(&p, &x, &e) < 0);
	assert_null(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),           cmocka_unit_test(test_any_program),
		cmocka_unit_test(test_tags_taken_out), cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_many_ways),      cmocka_unit_test(test_refused),
	};
	int skip = filter_skip() ? 77 : eal_or_skip(argv[0]);

	(void)argc;
	if (skip != 0)
		return skip;
	seed = test_seed_not_0();
	return cmocka_run_group_tests(tests, compile_all, free_all);
}
