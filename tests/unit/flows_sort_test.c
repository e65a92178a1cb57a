/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which received frames the work flows claims, frame by frame, and what the machine is told
 * of their checksums. */
#include "flows_world.h"

/* eth/ipv4/tcp from 10.0.0.2:80 to 10.0.0.1:2000, a SYN that nobody expects. */
static const uint8_t plain[60] = {2,          0,          0,    0, 0, 1,  2,  0, 0, 0, 0,    2,
				  8,          0,          0x45, 0, 0, 40, 0,  0, 0, 0, 64,   6,
				  0,          0,          10,   0, 0, 2,  10, 0, 0, 1, 0,    80,
				  2000 / 256, 2000 % 256, 0,    0, 0, 1,  0,  0, 0, 0, 0x50, 2};

static struct rte_mempool *pool;
static struct flows_shape shape[3];
static struct flows_idents idents;
static struct flows_end ends[3];
static const uint64_t ends_of[] = {1, 2, 4};
static struct flows_job job;

static struct rte_mbuf *frame_of(const uint8_t *bytes, unsigned len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)len), bytes, len);
	return m;
}

static struct flows_own own;
static struct flows_state mine = {.mem = &own};

/* The shape by which a frame is claimed, or -1. */
static int claimed(const uint8_t *bytes, unsigned len)
{
	const struct flows_claim claim = {.job = &job, .state = &mine};
	/* a neighbour that somebody else has claimed, and one that is none of ours */
	static const uint8_t other[60] = {2};
	struct rte_mbuf *m[3] = {frame_of(plain, 60), frame_of(bytes, len), frame_of(other, 60)};
	uint8_t owner[3] = {5, 0, 0};
	struct dp_burst b = dp_look(m, 3);

	flows_claims(&claim, &b, m, 3, owner, 7);
	assert_int_equal(owner[0], 5);
	assert_int_equal(owner[2], 0);
	assert_true(owner[1] == 0 || owner[1] == 7);
	rte_pktmbuf_free_bulk(m, 3);
	return owner[1] == 7 ? own.shape[0] : -1;
}

static int with(unsigned at, uint8_t value)
{
	uint8_t f[60];

	memcpy(f, plain, 60);
	f[at] = value;
	return claimed(f, 60);
}

/* Shape 0: eth/ipv4. 1: eth/vlan/ipv4 with VLAN 7. 2: eth/ipv6. */
static void set_up(void)
{
	static const uint8_t vlan_mask[24] = {[12] = 0xff, [13] = 0xff, [16] = 0xff, [17] = 0xff},
			     vlan[24] = {[12] = 0x81, [16] = 8};
	static const uint8_t vid_mask[8] = {[6] = 0x0f, [7] = 0xff}, vid[8] = {[7] = 7};
	uint64_t value;

	if (pool == NULL)
		pool = world_pool(1023);
	world_shape(&shape[0]);
	shape[1] = (struct flows_shape){.l3 = 18, .words = 3, .nids = 1, .id_at = {1}};
	memcpy(shape[1].id, vid_mask, 8);
	memcpy(shape[1].mask, vlan_mask, 24);
	memcpy(shape[1].value, vlan, 24);
	world_shape(&shape[2]);
	shape[2].is6 = true;
	((uint8_t *)shape[2].value)[12] = 0x86;
	((uint8_t *)shape[2].value)[13] = 0xdd;
	ends[0] = (struct flows_end){.from = 0x0a000001,
				     .to = 0x0a000003,
				     .port_from = 1024,
				     .port_to = 3000};
	ends[1] = ends[0];
	ends[1].udp = true;
	ends[2] = (struct flows_end){
		.prefix6 = {0xfd, 1}, .from = 5, .to = 0xffffffff, .port_from = 80, .port_to = 80};
	memcpy(&value, vid, 8);
	memset(&idents, 0, sizeof(idents));
	world_ident(&idents, 0, NULL, 0);
	world_ident(&idents, 1, &value, 1);
	world_ident(&idents, 2, NULL, 0);
	job = (struct flows_job){.nshapes = 3,
				 .order = {1, 0, 2}, /* that of VLANs is longer */
				 .nends = 3,
				 .nidents = 3,
				 .shape = shape,
				 .idents = &idents,
				 .ends = ends_of,
				 .end = ends};
}

static void test_ip4(void **state)
{
	(void)state;
	set_up();
	assert_int_equal(claimed(plain, 60), 0);
	assert_int_equal(with(33, 3), 0); /* addresses and ports from..to */
	assert_int_equal(with(33, 4), -1);
	assert_int_equal(with(33, 0), -1);
	assert_int_equal(with(36, 3), -1);
	assert_int_equal(with(36, 4), 0);
	assert_int_equal(with(36, 12), -1);   /* 3280 */
	assert_int_equal(with(23, 17), -1);   /* UDP is another end's */
	assert_int_equal(with(23, 1), -1);    /* ICMP */
	assert_int_equal(with(12, 9), -1);    /* another type */
	assert_int_equal(with(0, 3), 0);      /* whoever it is addressed to */
	assert_int_equal(with(20, 0x20), 0);  /* the first fragment: the machine counts it */
	assert_int_equal(with(21, 1), -1);    /* a later one */
	assert_int_equal(with(14, 0x44), -1); /* a header that is too short */
	assert_int_equal(with(14, 0x65), -1); /* another version */
	assert_int_equal(claimed(plain, 37), -1);
	assert_int_equal(claimed(plain, 38), 0);
}

/* Options move the ports. */
static void test_options(void **state)
{
	uint8_t f[80] = {0};

	(void)state;
	set_up();
	memcpy(f, plain, 34);
	memcpy(f + 34 + 8, plain + 34, 26);
	f[14] = 0x47;
	assert_int_equal(claimed(f, 80), 0);
	assert_int_equal(claimed(f, 45), -1);
	f[14] = 0x48;
	assert_int_equal(claimed(f, 80), -1);
}

static void test_vlan(void **state)
{
	uint8_t f[64] = {0};

	(void)state;
	set_up();
	memcpy(f, plain, 12);
	memcpy(f + 12, "\x81\x00\xe0\x07", 4); /* its priority does not matter */
	memcpy(f + 16, plain + 12, 46);
	f[27] = 17;
	assert_int_equal(claimed(f, 64), 1);
	f[15] = 8;
	assert_int_equal(claimed(f, 64), -1);
	f[15] = 7;
	f[27] = 6;
	assert_int_equal(claimed(f, 64), -1); /* the end of TCP has no VLAN */
}

static void test_ip6(void **state)
{
	uint8_t f[78] = {0};

	(void)state;
	set_up();
	memcpy(f, plain, 12);
	f[12] = 0x86;
	f[13] = 0xdd;
	f[14] = 0x60;
	f[20] = 6;
	f[38] = 0xfd;
	f[39] = 1;
	f[53] = 5;
	f[57] = 80;
	assert_int_equal(claimed(f, 78), 2);
	assert_int_equal(claimed(f, 58), 2);
	assert_int_equal(claimed(f, 57), -1);
	f[53] = 4;
	assert_int_equal(claimed(f, 78), -1);
	f[50] = 1;
	assert_int_equal(claimed(f, 78), 2);
	f[49] = 1; /* the prefix */
	assert_int_equal(claimed(f, 78), -1);
	f[49] = 0;
	f[20] = 0; /* an extension header */
	assert_int_equal(claimed(f, 78), -1);
	f[20] = 6;
	f[14] = 0x45;
	assert_int_equal(claimed(f, 78), -1);
}

/* Extension headers of IPv6 move the ports; of fragments there is at most one. */
static void test_extensions(void **state)
{
	uint8_t f[110] = {0};

	(void)state;
	set_up();
	f[12] = 0x86;
	f[13] = 0xdd;
	f[14] = 0x60;
	f[20] = 0; /* hop by hop, 8 bytes; destination options, 16; fragment; TCP */
	f[38] = 0xfd;
	f[39] = 1;
	f[53] = 5;
	f[54] = 60;
	f[62] = 44;
	f[63] = 1;
	f[78] = 6;
	f[89] = 80;
	assert_int_equal(claimed(f, 110), 2);
	assert_int_equal(claimed(f, 90), 2);
	assert_int_equal(claimed(f, 89), -1);
	f[81] = 1; /* more come */
	assert_int_equal(claimed(f, 110), -1);
	f[81] = 8; /* it is not the first */
	assert_int_equal(claimed(f, 110), -1);
	f[81] = 0;
	f[63] = 255; /* beyond the frame */
	assert_int_equal(claimed(f, 110), -1);
	f[63] = 1;
	f[78] = 59; /* nothing follows */
	assert_int_equal(claimed(f, 110), -1);
}

/* Whether a frame is counted as a piece of what is ours, which nobody claims. */
static bool is_piece(const uint8_t *bytes, unsigned len)
{
	uint64_t before = mine.pieces;

	assert_int_equal(claimed(bytes, len), -1);
	return mine.pieces - before == 1;
}

/* Pieces behind the first one are counted by their addresses, which is all that they have. */
static void test_pieces(void **state)
{
	uint8_t f[110] = {0};

	(void)state;
	set_up();
	memcpy(f, plain, 60);
	f[21] = 1;
	assert_true(is_piece(f, 60));
	f[20] = 0x20;
	assert_true(is_piece(f, 60));
	f[23] = 1; /* of any protocol */
	assert_true(is_piece(f, 60));
	f[33] = 4; /* to somebody else */
	assert_false(is_piece(f, 60));
	f[33] = 1;
	f[13] = 1; /* none of IP */
	assert_false(is_piece(f, 60));
	memset(f, 0, sizeof(f));
	f[12] = 0x86;
	f[13] = 0xdd;
	f[14] = 0x60;
	f[20] = 0; /* hop by hop, 8 bytes; fragment */
	f[38] = 0xfd;
	f[39] = 1;
	f[53] = 5;
	f[54] = 44;
	f[62] = 6;
	f[65] = 8;
	assert_true(is_piece(f, 110));
	assert_false(is_piece(f, 62)); /* its header is not there */
	f[65] = 1;                     /* the first one has ports, but is not all there is */
	assert_true(is_piece(f, 110));
	f[39] = 2;
	assert_false(is_piece(f, 110));
	f[39] = 1;
	f[54] = 59;
	assert_false(is_piece(f, 110));
	f[55] = 255; /* beyond the frame */
	f[54] = 0;
	assert_false(is_piece(f, 110));
}

/* A network that a worker's plan does not have yet is none of its. */
static void test_network_of_later(void **state)
{
	uint8_t f[64] = {0};

	(void)state;
	set_up();
	memcpy(f, plain, 12);
	memcpy(f + 12, "\x81\x00\x00\x07", 4);
	memcpy(f + 16, plain + 12, 46);
	f[27] = 17;
	assert_int_equal(claimed(f, 64), 1);
	job.nidents = 1;
	assert_int_equal(claimed(f, 64), -1);
	assert_int_equal(claimed(plain, 60), 0);
}

/* ---- checksums of outer headers ---- */

/* eth/ipv4/udp/vxlan/eth/ipv4, and behind it UDP with 21 bytes. */
#define OUTER_LEN 113
static void outer_sum(uint8_t *f, unsigned at, unsigned from, unsigned len, uint32_t pseudo)
{
	uint32_t sum = pseudo;

	put_be16(f + at, 0);
	for (unsigned i = 0; i < len; i++)
		sum += i % 2 == 0 ? (uint32_t)f[from + i] << 8 : f[from + i];
	sum = (sum & 0xffff) + (sum >> 16);
	put_be16(f + at, (uint16_t) ~((sum & 0xffff) + (sum >> 16)));
}

static uint32_t outer_pseudo(const uint8_t *ip, unsigned len)
{
	return get_be16(ip + 12) + get_be16(ip + 14) + get_be16(ip + 16) + get_be16(ip + 18) + 17 +
	       len;
}

static void outer_frame(uint8_t f[OUTER_LEN], bool inner_sum)
{
	static const uint8_t headers[92] = {
		2,         [12] = 8, [14] = 0x45, [17] = 99,   [22] = 64, 17,        [26] = 192,
		0,         2,        1,           192,         0,         2,         2,
		0xc0,      1,        0x12,        0xb5,        0,         79,        [42] = 8,
		[48] = 7,  [50] = 2, [62] = 8,    [64] = 0x45, [67] = 49, [72] = 64, 17,
		[76] = 10, 0,        0,           2,           10,        0,         0,
		1,         0,        80,          7,           208,       0,         29};

	memcpy(f, headers, 92);
	for (unsigned i = 92; i < OUTER_LEN; i++)
		f[i] = (uint8_t)(i * 37);
	outer_sum(f, 74, 64, 20, 0);
	outer_sum(f, 90, 84, 29, outer_pseudo(f + 64, 29));
	if (!inner_sum)
		put_be16(f + 90, 0);
	outer_sum(f, 24, 14, 20, 0);
	outer_sum(f, 40, 34, 79, outer_pseudo(f + 14, 79));
}

static enum flow_verdict outer_judged(const uint8_t *f, unsigned len, bool kernel_peer)
{
	static const struct flows_shape s = {.l3 = 64,
					     .tunnel = true,
					     .nchecks = 2,
					     .check = {{FLOW_FIX_IP4, 24, 14, 14},
						       {FLOW_FIX_UDP, 40, 34, 14}}};

	return flows_outer_judge(&s, &(struct flow_in){.data = f, .len = len, .l3 = 64},
				 kernel_peer);
}

/* Each bit that counts in a checksum of an outer header is missed there. What lies behind the inner
 * addresses, other than lengths, is for the inner checksum, if there is one. */
static void test_outer_bits(void **state)
{
	uint8_t f[OUTER_LEN];

	(void)state;
	for (unsigned sum = 0; sum < 2; sum++) {
		outer_frame(f, sum != 0);
		assert_int_equal(outer_judged(f, OUTER_LEN, false), FLOW_SUM_GOOD);
		for (unsigned bit = 14 * 8; bit < OUTER_LEN * 8; bit++) {
			unsigned at = bit / 8;
			bool version = at == 14 || at == 64, inner = sum != 0 && at >= 64;

			if (version || inner) /* the shape tells them, or the machine */
				continue;
			f[at] ^= (uint8_t)(1 << bit % 8);
			assert_int_equal(outer_judged(f, OUTER_LEN, false), FLOW_SUM_BAD);
			f[at] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

static void test_outer_others(void **state)
{
	uint8_t f[OUTER_LEN + 5] = {0};
	uint32_t pseudo;

	(void)state;
	outer_frame(f, true);
	/* bytes behind the packet, as a short frame has them, are none of its */
	assert_int_equal(outer_judged(f, OUTER_LEN + 5, false), FLOW_SUM_GOOD);
	/* the sender made none */
	put_be16(f + 40, 0);
	assert_int_equal(outer_judged(f, OUTER_LEN, false), FLOW_SUM_GOOD);
	/* a kernel has left it to a device */
	pseudo = outer_pseudo(f + 14, 79);
	pseudo = (pseudo & 0xffff) + (pseudo >> 16);
	put_be16(f + 40, (pseudo & 0xffff) + (pseudo >> 16));
	assert_int_equal(outer_judged(f, OUTER_LEN, true), FLOW_SUM_PARTIAL);
	assert_int_equal(outer_judged(f, OUTER_LEN, false), FLOW_SUM_BAD);
	/* the bytes between the packet and the end of the outer one count */
	outer_frame(f, true);
	put_be16(f + 16, 104);
	put_be16(f + 38, 84);
	outer_sum(f, 24, 14, 20, 0);
	outer_sum(f, 40, 34, 84, outer_pseudo(f + 14, 84));
	assert_int_equal(outer_judged(f, OUTER_LEN + 5, false), FLOW_SUM_GOOD);
	f[OUTER_LEN + 2] ^= 8;
	assert_int_equal(outer_judged(f, OUTER_LEN + 5, false), FLOW_SUM_BAD);
	assert_int_equal(outer_judged(f, OUTER_LEN, false), FLOW_SUM_BAD); /* they are not there */
}

/* What the device says of sums that are wrong in the frame, and what becomes of it where nobody
 * looks at what the device has not judged. */
static void test_verdict(void **state)
{
	static const struct {
		uint64_t flags;
		unsigned bad, groups;
		bool trusted_bad;
	} row[] = {
		{0, 1, 0, false},
		{RTE_MBUF_F_RX_L4_CKSUM_GOOD | RTE_MBUF_F_RX_IP_CKSUM_GOOD, 0, 0, false},
		/* of the IP header nobody knows */
		{RTE_MBUF_F_RX_L4_CKSUM_GOOD, 1, 0, false},
		{RTE_MBUF_F_RX_L4_CKSUM_GOOD | RTE_MBUF_F_RX_IP_CKSUM_BAD, 1, 0, true},
		{RTE_MBUF_F_RX_L4_CKSUM_BAD | RTE_MBUF_F_RX_IP_CKSUM_GOOD, 1, 0, true},
		{RTE_MBUF_F_RX_OUTER_IP_CKSUM_BAD, 1, 0, true},
		{RTE_MBUF_F_RX_OUTER_L4_CKSUM_BAD, 1, 0, true},
		{RTE_MBUF_F_RX_OUTER_L4_CKSUM_GOOD, 1, 0, false},
		{RTE_MBUF_F_RX_L4_CKSUM_NONE, 0, 0, false},
		/* left to a device by a sender in here */
		{RTE_MBUF_F_TX_TCP_CKSUM, 0, 1, false},
	};

	(void)state;
	world_new(1, 1023, 1000);
	for (unsigned n = 0; n < 2 * ARRAY_SIZE(row); n++) {
		bool trust = n >= ARRAY_SIZE(row);
		unsigned i = n % ARRAY_SIZE(row);

		if (i == 0) {
			x.end[0].job.trust = trust;
			world_plan(0);
		}
		const struct flow_machine_counts *k = flow_machine_counts(x.end[0].machine);
		uint64_t bad = k->bad_checksum, none = k->no_match, group;
		unsigned wrong = trust ? row[i].trusted_bad : row[i].bad;
		struct rte_mbuf *m = rte_pktmbuf_alloc(x.end[0].q->pool);

		memcpy(rte_pktmbuf_append(m, 60), plain, 60);
		*rte_pktmbuf_mtod(m, uint8_t *) |= (uint8_t)row[i].groups;
		m->ol_flags = row[i].flags;
		group = x.end[0].state->claimed_group;
		x.end[1].pipe.m[x.end[1].pipe.n++] = m;
		world_turn();
		assert_int_equal(x.end[0].claimed, n + 1);
		assert_int_equal(x.end[0].state->claimed, n + 1);
		assert_int_equal(x.end[0].state->claimed_group - group, row[i].groups);
		assert_int_equal(k->bad_checksum - bad, wrong);
		assert_int_equal(k->no_match - none, !wrong);
	}
	world_plan(1);
	world_free();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ip4),        cmocka_unit_test(test_options),
		cmocka_unit_test(test_vlan),       cmocka_unit_test(test_ip6),
		cmocka_unit_test(test_verdict),    cmocka_unit_test(test_extensions),
		cmocka_unit_test(test_pieces),     cmocka_unit_test(test_network_of_later),
		cmocka_unit_test(test_outer_bits), cmocka_unit_test(test_outer_others),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
