/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what pcapio writes against bytes written down by hand from draft-ietf-opsawg-pcapng and
 * draft-ietf-opsawg-pcap, in the byte order of x86 and arm64. */
#include "pcapio_world.h"

static const char *const two_comments[] = {"a", "bcde"};

/* What a function wrote into `at` is `digits`, it needs that many bytes and no fewer, and writes
 * none beyond them. */
#define SAYS(digits, call) \
	do { \
		struct bytes want = {0}; \
		uint8_t at[512]; \
		bytes_hex(&want, digits); \
		for (size_t size = 0; size <= sizeof(at); size++) { \
			memset(at, 0xee, sizeof(at)); \
			ssize_t n = call; \
			if (size < want.n) { \
				assert_int_equal(n, -ENOSPC); \
			} else { \
				assert_int_equal(n, want.n); \
				assert_memory_equal(at, want.at, want.n); \
			} \
			for (size_t i = size; i < sizeof(at); i++) \
				assert_int_equal(at[i], 0xee); \
		} \
		bytes_free(&want); \
	} while (0)

static void test_section(void **state)
{
	const struct pcapio_section none = {0}, all = {.hardware = "x86",
						       .os = "Linux",
						       .application = "wire rate",
						       .comments = two_comments,
						       .ncomments = 2};

	(void)state;
	SAYS(SHB, pcapio_put_section(at, size, &none));
	SAYS("0a0d0d0a 54000000 4d3c2b1a 0100 0000 ffffffff ffffffff"
	     "0200 0300 78383600 0300 0500 4c696e7578000000 0400 0900 776972652072617465000000"
	     "0100 0100 61000000 0100 0400 62636465 0000 0000 54000000",
	     pcapio_put_section(at, size, &all));
}

static void test_interface(void **state)
{
	const struct pcapio_interface least = {.link_type = PCAPIO_ETHERNET},
				      most = {.link_type = 0x0102,
					      .has_mac = true,
					      .mac = {2, 0, 0, 0, 0, 1},
					      .snaplen = 96,
					      .speed_bps = 10000000000,
					      .name = "eth0",
					      .description = "p",
					      .filter = "udp",
					      .comments = two_comments,
					      .ncomments = 1};

	(void)state;
	SAYS("01000000 20000000 0100 0000 00000000 0900 0100 09000000 0000 0000 20000000",
	     pcapio_put_interface(at, size, &least));
	SAYS("01000000 58000000 0201 0000 60000000"
	     "0200 0400 65746830 0300 0100 70000000 0600 0600 0200000000010000"
	     "0800 0800 00e40b5402000000 0900 0100 09000000 0b00 0400 00756470"
	     "0100 0100 61000000 0000 0000 58000000",
	     pcapio_put_interface(at, size, &most));
}

static void test_record(void **state)
{
	static const uint8_t frame[] = {1, 2, 3, 4, 5};
	const struct pcapio_record least = {.interface = 7,
					    .ns = 0x0123456789abcdef,
					    .frame = frame,
					    .caplen = 4,
					    .origlen = 1500},
				   none = {0},
				   most = {.frame = frame,
					   .caplen = 5,
					   .origlen = 5,
					   .flags = PCAPIO_OUTBOUND,
					   .has_queue = true,
					   .queue = 3,
					   .has_id = true,
					   .id = 0x0102030405060708,
					   .comments = two_comments,
					   .ncomments = 2};

	(void)state;
	SAYS("06000000 24000000 07000000 67452301 efcdab89 04000000 dc050000 01020304 24000000",
	     pcapio_put_record(at, size, &least));
	SAYS("06000000 20000000 00000000 00000000 00000000 00000000 00000000 20000000",
	     pcapio_put_record(at, size, &none));
	SAYS("06000000 58000000 00000000 00000000 00000000 05000000 05000000 0102030405000000"
	     "0200 0400 02000000 0500 0800 0807060504030201 0600 0400 03000000"
	     "0100 0100 61000000 0100 0400 62636465 0000 0000 58000000",
	     pcapio_put_record(at, size, &most));
}

static void test_stats(void **state)
{
	struct pcapio_stats some = {.interface = 1, .ns = 0x0000000100000002},
			    all = {.comments = two_comments, .ncomments = 1};

	(void)state;
	SAYS("05000000 18000000 01000000 01000000 02000000 18000000",
	     pcapio_put_stats(at, size, &some));
	pcapio_stats_set(&some, PCAPIO_ACCEPTED, 0);
	SAYS("05000000 28000000 01000000 01000000 02000000 0600 0800 0000000000000000"
	     "0000 0000 28000000",
	     pcapio_put_stats(at, size, &some));
	/* Times have their high word first, and counts are as the machine has them. */
	for (unsigned i = PCAPIO_START; i < PCAPIO_NSTATS; i++)
		pcapio_stats_set(&all, i, 0x0102030405060700 + i);
	SAYS("05000000 78000000 00000000 00000000 00000000"
	     "0200 0800 0403020102070605 0300 0800 0403020103070605"
	     "0400 0800 0407060504030201 0500 0800 0507060504030201"
	     "0600 0800 0607060504030201 0700 0800 0707060504030201"
	     "0800 0800 0807060504030201 0100 0100 61000000 0000 0000 78000000",
	     pcapio_put_stats(at, size, &all));
}

static void test_pcap(void **state)
{
	static const uint8_t frame[] = {1, 2, 3, 4, 5};
	const struct pcapio_record r = {.ns = 1700000000123456789,
					.frame = frame,
					.caplen = 5,
					.origlen = 64};
	struct pcapio_record late = r;
	uint8_t buf[64];

	(void)state;
	SAYS("4d3cb2a1 0200 0400 00000000 00000000 60000000 01000000",
	     pcapio_put_pcap_head(at, size, PCAPIO_ETHERNET, 96));
	SAYS("4d3cb2a1 0200 0400 00000000 00000000 00000400 93000000",
	     pcapio_put_pcap_head(at, size, 147, 0));
	SAYS("00f15365 15cd5b07 05000000 40000000 0102030405",
	     pcapio_put_pcap_record(at, size, &r));
	/* Seconds have 32 bits. */
	late.ns = 4294967295999999999;
	assert_int_equal(pcapio_put_pcap_record(buf, sizeof(buf), &late), 21);
	late.ns++;
	assert_int_equal(pcapio_put_pcap_record(buf, sizeof(buf), &late), -EINVAL);
}

/* Names may be anything, the format takes UTF-8 alone. */
static void test_utf8(void **state)
{
	const struct pcapio_section s = {.os = "\xc3\xa4\xff\xe2\x82z",
					 .application = "\xed\xa0\x80\xc0\x80"};

	(void)state;
	SAYS("0a0d0d0a 38000000 4d3c2b1a 0100 0000 ffffffffffffffff"
	     "0300 0600 c3a43f3f3f7a0000 0400 0500 3f3f3f3f3f000000 0000 0000 38000000",
	     pcapio_put_section(at, size, &s));
}

/* An option has 16 bits for its length. */
static void test_long_texts(void **state)
{
	char *text = malloc(PCAPIO_MAX_TEXT + 2);
	const char *const one[] = {text};
	uint8_t *at = malloc(1 << 18), frame[4] = {0};
	const struct pcapio_section s = {.comments = one, .ncomments = 1};
	const struct pcapio_interface i = {.filter = text};
	const struct pcapio_record r = {.frame = frame, .comments = one, .ncomments = 1};

	(void)state;
	memset(text, 'x', PCAPIO_MAX_TEXT + 1);
	text[PCAPIO_MAX_TEXT] = '\0';
	assert_int_equal(pcapio_put_section(at, 1 << 18, &s), 28 + 4 + 65536 + 4);
	assert_int_equal(at[24 + 4 + 65534], 'x');
	assert_int_equal(at[24 + 4 + 65535], 0);
	/* A filter has one byte more. */
	assert_int_equal(pcapio_put_interface(at, 1 << 18, &i), -EINVAL);
	text[PCAPIO_MAX_TEXT - 1] = '\0';
	assert_int_equal(pcapio_put_interface(at, 1 << 18, &i), 20 + 8 + 4 + 65536 + 4);
	memset(text, 'x', PCAPIO_MAX_TEXT + 1);
	text[PCAPIO_MAX_TEXT + 1] = '\0';
	assert_int_equal(pcapio_put_section(at, 1 << 18, &s), -EINVAL);
	assert_int_equal(pcapio_put_record(at, 1 << 18, &r), -EINVAL);
	free(at);
	free(text);
}

/* What is too large for a reader is not written either. */
static void test_large_blocks(void **state)
{
	const size_t size = PCAPIO_MAX_BLOCK + 64;
	uint8_t *at = malloc(size), *frame = calloc(1, PCAPIO_MAX_BLOCK);
	struct pcapio_record r = {.frame = frame, .caplen = PCAPIO_MAX_BLOCK - 32};

	(void)state;
	r.origlen = r.caplen;
	assert_int_equal(pcapio_put_record(at, size, &r), PCAPIO_MAX_BLOCK);
	r.caplen++;
	r.origlen = r.caplen;
	assert_int_equal(pcapio_put_record(at, size, &r), -EINVAL);
	r.caplen = PCAPIO_MAX_BLOCK - PCAPIO_PCAP_RECORD;
	r.origlen = r.caplen;
	assert_int_equal(pcapio_put_pcap_record(at, size, &r), PCAPIO_MAX_BLOCK);
	r.caplen++;
	r.origlen = r.caplen;
	assert_int_equal(pcapio_put_pcap_record(at, size, &r), -EINVAL);
	/* A frame has no more bytes than it had. */
	r.caplen = 65;
	r.origlen = 64;
	assert_int_equal(pcapio_put_record(at, size, &r), -EINVAL);
	assert_int_equal(pcapio_put_pcap_record(at, size, &r), -EINVAL);
	free(frame);
	free(at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_section),    cmocka_unit_test(test_interface),
		cmocka_unit_test(test_record),     cmocka_unit_test(test_stats),
		cmocka_unit_test(test_pcap),       cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_long_texts), cmocka_unit_test(test_large_blocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
