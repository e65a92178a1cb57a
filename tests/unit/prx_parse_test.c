/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests probes behind all stacks of headers that the tables can build, with right checksums, and
 * what is found where none should be. */
#include "frame.h"
#include "prx_frames.h"
#include "prx_own.h"

#define DATA 200

static struct rte_mempool *pool;
static const struct prx_spec spec = {
	.nports = 4,
	.of = {{0, 0}, {0, 0}, {0, 0}, {100, 4}},
	.window_blocks = 2,
	.holes = 1,
	.hz = 2000000000,
	.ns_mult = NS_MULT,
	.verify = true,
};

static void random_stack(struct frame_stack *s, unsigned depth)
{
	const struct proto *next[64];

	s->hdr[0] = proto_find("eth");
	for (s->n = 1; s->n < depth; s->n++) {
		unsigned n = 0;
		for (const struct proto *const *p = proto_table; *p != NULL; p++)
			if (!(*p)->is_payload && !(*p)->closed &&
			    proto_bind(s->hdr[s->n - 1], *p) != NULL)
				next[n++] = *p;
		if (n == 0)
			return;
		s->hdr[s->n] = next[any(n)];
	}
}

/* Makes a probe the payload's first bytes. */
static void fill(struct frame_spec *s, uint32_t seq)
{
	s->fill = FILL_HEX;
	s->data = xcalloc(1, HEXBYTES_SIZE);
	s->data->n = DATA;
	for (unsigned i = 0; i < DATA; i++)
		s->data->b[i] = (uint8_t)any(256);
	put_probe(s->data->b, seq, 3, 2, 77, 1000000, 0);
}

static void receive(struct prx *x, const uint8_t *bytes, unsigned len, unsigned segment)
{
	struct rte_mbuf *m = NULL;

	for (unsigned at = 0; at < len; at += segment) {
		unsigned n = len - at < segment ? len - at : segment;
		struct rte_mbuf *part = rte_pktmbuf_alloc(pool);
		assert_non_null(part);
		memcpy(rte_pktmbuf_append(part, (uint16_t)n), bytes + at, n);
		if (m == NULL)
			m = part;
		else
			assert_int_equal(rte_pktmbuf_chain(m, part), 0);
	}
	prx_burst(x, &m, 1, 1500000);
	rte_pktmbuf_free(m);
}

/* Gives the frame to a receiver and checks what it finds. segment: how many bytes a buffer
 * holds. */
static void check(struct prx *x, struct frame_spec *s, uint32_t seq, unsigned segment)
{
	static struct frame f;
	struct prx_walk w;
	struct sbuf text = {0};
	struct err e = {.text = ""};
	unsigned at = frame_headers_len(s), size = at + PROBE_LEN + FRAME_FCS + any(100);

	s->size = (uint16_t)(size < 64 ? 64 : size);
	fill(s, seq);
	frame_stack_print(&s->stack, &text);
	if (frame_build(s, NULL, FRAME_MAX_LEN + FRAME_FCS, &f, &e) != 0)
		fail_msg("%s: %s", sbuf_str(&text), e.text);
	prx_walk(f.bytes, f.len, &w);
	receive(x, f.bytes, f.len, segment);
	if (prx_flow(x, 3, 77, 2)->received != seq + 1 || x->place[0] != at ||
	    x->port.searched != 0)
		fail_msg(
			"%s: at %u, found at %u, received %lu of %u, corrupted %lu, damaged %lu, plain %lu, searched %lu",
			sbuf_str(&text), at, x->place[0],
			(unsigned long)prx_flow(x, 3, 77, 2)->received, seq + 1,
			(unsigned long)prx_flow(x, 3, 77, 2)->corrupted,
			(unsigned long)x->port.damaged, (unsigned long)x->port.plain,
			(unsigned long)x->port.searched);
	sbuf_free(&text);
	free(s->data);
	s->data = NULL;
}

static void test_stacks(void **state)
{
	static const uint8_t quotes[100] = {[77] = 1};
	struct prx_spec own = spec;
	own.quotes = quotes;
	struct prx *x = prx_new(&own);
	struct frame_spec s = {0};

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		random_stack(&s.stack, 1 + any(12));
		check(x, &s, i, i % 3 == 0 ? 100 : 1800);
	}
	free(x);
}

/* The pseudo header may take addresses from elsewhere; there are options, and lengths that headers
 * tell. */
static void test_values(void **state)
{
	static const char *const stack[][4] = {
		{"eth/ipv6/ipv6rt/udp", "ipv6rt.segleft", "1"},
		{"eth/ipv6/ipv6dst/tcp", "ipv6dst.homeaddr", "2001:db8::99"},
		{"eth/ipv6/ipv6rt/ipv6dst/udp", "ipv6rt.segleft", "1"},
		{"eth/ipv4/tcp", "tcp.tsval", "1"},
		{"eth/ipv4/udp", "ipv4.ralert", "0"},
		{"eth/ipv4/gre/ipv4/udp", "gre.cksum", "auto"},
		{"eth/ipv4/gre/ipv6/udp", "gre.key", "7"},
		{"eth/ipv4/udp/gtpu/ipv4/udp", "gtpu.qfi", "3"},
		{"eth/ipv4/udp/geneve/eth/ipv4/udp", "geneve.options", "0102030405"},
		{"eth/ipv4/udp", "udp.cksum", "0"},
		{"eth/ipv6/udp/vxlan/eth/ipv6/udp", "udp.cksum", "0"},
	};
	struct prx *x = prx_new(&spec);
	struct err e = {.text = ""};
	uint32_t seq = 0;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(stack); i++) {
		struct frame_spec s = {0};
		assert_int_equal(frame_stack_parse(stack[i][0], &s.stack, &e), 0);
		if (frame_vals_parse(&s.vals, stack[i][1], stack[i][2], &e) == 0)
			check(x, &s, seq++, 1800);
		frame_spec_free(&s);
	}
	assert_true(seq >= ARRAY_SIZE(stack) - 1);
	free(x);
}

/* UDP over IPv6 without a checksum is not whole, except for tunnels; over IPv4 it is. A frame whose
 * checksum a device has set to zero is corrupted, not unknown. */
static void test_no_udp_sum(void **state)
{
	static const char *const stacks[] = {"eth/ipv4/udp", "eth/ipv6/udp",
					     "eth/ipv6/udp/vxlan/eth/ipv4/udp",
					     "eth/ipv6/ipv6frag/udp",
					     "eth/ipv4/udp/vxlan/eth/ipv6/udp"};
	static const bool whole[] = {true, false, true, false, false};
	static struct frame f;
	struct err e = {.text = ""};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++) {
		struct prx *x = prx_new(&spec);
		struct frame_spec s = {.size = 250};
		assert_int_equal(frame_stack_parse(stacks[i], &s.stack, &e), 0);
		if (i >= 2) /* then no outer sum sees it */
			assert_int_equal(frame_vals_parse(&s.vals, "udp.cksum", "0", &e), 0);
		fill(&s, 0);
		assert_int_equal(frame_build(&s, NULL, FRAME_MAX_LEN + FRAME_FCS, &f, &e), 0);
		put16(f.bytes + frame_headers_len(&s) - 2, 0);
		receive(x, f.bytes, f.len, 1800);
		assert_int_equal(x->port.damaged, 0);
		assert_int_equal(prx_flow(x, 3, 77, 2)->received, whole[i]);
		assert_int_equal(prx_flow(x, 3, 77, 2)->corrupted, !whole[i]);
		free(s.data);
		s.data = NULL;
		frame_spec_free(&s);
		free(x);
	}
}

/* One bit that differs anywhere in an SCTP packet, except in its probe, makes it corrupted. This
 * holds below other headers too, but not in a fragment. */
static void test_sctp(void **state)
{
	static const char *const stacks[] = {"eth/ipv4/sctp", "eth/vlan/ipv6/sctp",
					     "eth/ipv4/udp/vxlan/eth/ipv4/sctp"};
	static struct frame f;
	struct prx *x = prx_new(&spec);
	struct err e = {.text = ""};
	uint32_t seq = 0, bad = 0;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++) {
		struct frame_spec s = {.size = 250};
		assert_int_equal(frame_stack_parse(stacks[i], &s.stack, &e), 0);
		unsigned at = frame_headers_len(&s), begin = at - 28;
		if (i == 2) /* the outer sum would see the bit too */
			assert_int_equal(frame_vals_parse(&s.vals, "udp.cksum", "0", &e), 0);
		for (unsigned k = 0; k < 400; k++) {
			fill(&s, seq++);
			assert_int_equal(frame_build(&s, NULL, FRAME_MAX_LEN + FRAME_FCS, &f, &e),
					 0);
			unsigned byte = begin + any(f.len - begin);
			/* The kind of the chunk says where the probe is, so this test leaves it
			 * alone. */
			bool flip = k % 2 == 1 && byte != begin + 12 &&
				    (byte < at || byte >= at + PROBE_LEN);
			if (flip)
				f.bytes[byte] ^= (uint8_t)(1u << any(8));
			bad += flip;
			receive(x, f.bytes, f.len, k % 3 == 0 ? 100 : 1800);
			free(s.data);
			s.data = NULL;
			assert_int_equal(prx_flow(x, 3, 77, 2)->corrupted, bad);
			assert_int_equal(prx_flow(x, 3, 77, 2)->received, seq - bad);
		}
		frame_spec_free(&s);
	}
	assert_true(bad > 400);
	struct frame_spec s = {.size = 250};
	assert_int_equal(frame_stack_parse(stacks[0], &s.stack, &e), 0);
	fill(&s, seq++);
	assert_int_equal(frame_build(&s, NULL, FRAME_MAX_LEN + FRAME_FCS, &f, &e), 0);
	f.bytes[20] |= 0x20; /* this sets "more fragments"; the header's sum is made right again */
	put16(f.bytes + 24, 0);
	put16(f.bytes + 24, plain_sum(f.bytes + 14, 20, 0));
	f.bytes[f.len - 1] ^= 1;
	receive(x, f.bytes, f.len, 1800);
	assert_int_equal(prx_flow(x, 3, 77, 2)->corrupted, bad);
	free(s.data);
	free(x);
}

/* Makes an ICMP error, of the headers in `stack`, about the frame f, of which it quotes what comes
 * behind Ethernet's header, n bytes of it. Returns its length. */
static unsigned error_about(const char *stack, const struct frame *f, unsigned n, uint8_t *out)
{
	static struct frame error;
	struct frame_spec s = {0};
	struct err e = {.text = ""};

	assert_int_equal(frame_stack_parse(stack, &s.stack, &e), 0);
	unsigned at = frame_headers_len(&s);
	bool six = strstr(stack, "icmpv6") != NULL;
	assert_int_equal(frame_vals_parse(&s.vals, six ? "icmpv6.type" : "icmp.type",
					  six ? "1" : "3", &e),
			 0);
	s.size = (uint16_t)(at + n + FRAME_FCS);
	s.fill = FILL_HEX;
	s.data = xcalloc(1, HEXBYTES_SIZE);
	s.data->n = (uint16_t)n;
	memcpy(s.data->b, f->bytes + 14, n);
	if (frame_build(&s, NULL, FRAME_MAX_LEN + FRAME_FCS, &error, &e) != 0)
		fail_msg("%s: %s", stack, e.text);
	memcpy(out, error.bytes, error.len);
	frame_spec_free(&s);
	return error.len;
}

/* A frame that an ICMP error quotes has not arrived: the error is plain, however much of the frame
 * it quotes, and wherever probes were found before. Where the error itself is damaged nobody says
 * that it is one. */
static void test_quoted(void **state)
{
	static const char *const of[][3] = {
		{"eth/ipv4/udp", "eth/ipv4/icmp",
		 "eth/vlan/vlan/vlan/vlan/vlan/vlan/vlan/ipv4/udp"},
		{"eth/ipv6/udp", "eth/ipv6/icmpv6", "eth/ipv6/ipv6/ipv6dst/udp"},
		{"eth/ipv4", "eth/ipv4/icmp", "eth/ipv6/udp"},
	};
	static struct frame f[2];
	struct err e = {.text = ""};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
		struct frame_spec s = {.size = 250}, other = {.size = 250};
		uint64_t quoted[PRX_PLACES / 64] = {0};
		struct prx_spec own = spec;
		uint8_t out[400];
		assert_int_equal(frame_stack_parse(of[i][0], &s.stack, &e), 0);
		assert_int_equal(frame_stack_parse(of[i][2], &other.stack, &e), 0);
		unsigned at = frame_headers_len(&s), before = i == 1 ? 48 : 28, place = at + before;
		assert_int_equal(frame_headers_len(&other), place);
		quoted[place / 64] |= 1ull << place % 64;
		own.quoted = quoted;
		struct prx *x = prx_new(&own);
		const struct prx_flow *flow = prx_flow(x, 3, 77, 2);
		uint64_t plain = 0, arrived = 0;
		fill(&s, 0);
		assert_int_equal(frame_build(&s, NULL, FRAME_MAX_LEN + FRAME_FCS, &f[0], &e), 0);
		for (unsigned turn = 0; turn < 2; turn++) {
			for (unsigned n = 20; n <= f[0].len - 14u; n++) {
				unsigned len = error_about(of[i][1], &f[0], n, out);
				receive(x, out, len, n % 3 == 0 ? 100 : 1800);
				assert_int_equal(x->port.plain, ++plain);
			}
			assert_int_equal(flow->received, arrived);
			assert_int_equal(x->port.damaged + x->port.searched + x->port.foreign, 0);
			/* from now on probes are expected where the error has the quoted one */
			fill(&other, (uint32_t)arrived++);
			assert_int_equal(frame_build(&other, NULL, FRAME_MAX_LEN + FRAME_FCS, &f[1],
						     &e),
					 0);
			receive(x, f[1].bytes, f[1].len, 1800);
			assert_int_equal(flow->received, arrived);
			assert_int_equal(x->place[0], place);
			free(other.data);
			other.data = NULL;
		}
		free(s.data);
		fill(&s, (uint32_t)arrived);
		assert_int_equal(frame_build(&s, NULL, FRAME_MAX_LEN + FRAME_FCS, &f[0], &e), 0);
		unsigned len = error_about(of[i][1], &f[0], f[0].len - 14, out);
		out[len - 1] ^= 1;
		receive(x, out, len, 1800);
		assert_int_equal(x->port.plain, plain);
		assert_int_equal(flow->received, arrived);
		assert_int_equal(flow->corrupted, 1);
		frame_spec_free(&s);
		frame_spec_free(&other);
		free(x);
	}
}

/* Behind headers that nobody knows a probe is looked for. Frames without a probe are plain, and
 * those with a strange one are foreign. */
static void test_others(void **state)
{
	struct prx *x = prx_new(&spec);
	uint8_t p[1000];

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		p[i] = (uint8_t)any(256);
	put16(p + 12, 0xabcd);
	receive(x, p, sizeof(p), 1800);
	assert_int_equal(x->port.plain, 1);
	put_probe(p + 100, 0, 3, 2, 77, 1000000, 0);
	receive(x, p, sizeof(p), 1800);
	assert_int_equal(x->port.searched, 1);
	assert_int_equal(prx_flow(x, 3, 77, 2)->received, 1);
	put_probe(p + 100, 1, 3, 2, 77, 1000000, 0);
	/* the probe is found where the last one was, across segments */
	receive(x, p, sizeof(p), 50);
	assert_int_equal(x->port.searched, 1);
	assert_int_equal(prx_flow(x, 3, 77, 2)->received, 2);
	put_probe(p + 14, 2, 4, 2, 77, 1000000, 0); /* there is no such port */
	memset(p + 100, 0, 16);
	receive(x, p, sizeof(p), 1800);
	assert_int_equal(x->port.foreign, 1);
	/* so many cannot have been sent since */
	put_probe(p + 14, 0x40000000, 3, 2, 77, 1000000, 0);
	receive(x, p, sizeof(p), 1800);
	assert_int_equal(x->port.foreign, 2);
	put_probe(p + 14, 2, 3, 2, PROBE_NONE, 1000000, 0);
	receive(x, p, sizeof(p), 1800);
	assert_int_equal(x->port.plain, 2);
	assert_int_equal(x->port.probes, 2);
	receive(x, p, 20, 1800);
	receive(x, p, 1, 1800);
	assert_int_equal(x->port.plain, 4);
	assert_int_equal(x->port.damaged, 0);
	free(x);
}

static void test_sizes(void **state)
{
	struct prx_spec s = spec;

	(void)state;
	assert_true(prx_size(&s) > 400 * sizeof(struct prx_flow));
	s.window_blocks = 3;
	assert_int_equal(prx_size(&s), 0);
	s.window_blocks = 1u << 24;
	for (unsigned i = 0; i < 4; i++) {
		s.of[i].nstreams = PROBE_STREAMS;
		s.of[i].nqueues = PROBE_QUEUES;
	}
	assert_int_equal(prx_size(&s), 0); /* this is beyond 2^40 */
}

/* Frames have bytes changed where it matters to a walk over the headers. The quick answer is that
 * of a walk and of all its sums. */
static void test_quick_sums(void **state)
{
	static const uint8_t place[] = {12, 13, 14, 16, 17, 20, 21, 23, 24,
					25, 30, 36, 37, 38, 39, 40, 41, 59};
	static const uint16_t tunnel[] = {2152, 6081, 6635, 4789, 8472, 53};
	unsigned whole = 0, runs = 200000;

	(void)state;
	for (unsigned i = 0; i < runs; i++) {
		uint8_t frame[PRX_LEN];
		struct prx_walk w;
		put_frame(frame, i, 3, 2, 77, 1000000, any(4096));
		for (unsigned changes = any(3); changes > 0; changes--)
			frame[place[any(ARRAY_SIZE(place))]] ^= (uint8_t)(1u << any(8));
		if (any(20) == 0)
			put16(frame + 36, tunnel[any(ARRAY_SIZE(tunnel))]);
		if (any(20) == 0)
			put16(frame + 40, 0);
		unsigned len = any(10) == 0 ? 58 + any(3) : PRX_LEN;
		prx_walk(frame, len, &w);
		bool right = !prx_damaged(frame, &w, PRX_AT);
		assert_int_equal(prx_surely_whole(frame, len, PRX_AT), right);
		whole += right;
	}
	assert_true(whole > runs / 10 && whole < runs / 10 * 9);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks),     cmocka_unit_test(test_values),
		cmocka_unit_test(test_no_udp_sum), cmocka_unit_test(test_sctp),
		cmocka_unit_test(test_quoted),     cmocka_unit_test(test_others),
		cmocka_unit_test(test_sizes),      cmocka_unit_test(test_quick_sums)};
	int rc = eal_or_skip(argv[argc - 1]);

	if (rc != 0)
		return rc;
	pool = pool_of(511);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
