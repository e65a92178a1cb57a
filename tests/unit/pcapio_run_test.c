/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the workers' half of pcapio: its blocks are, byte for byte, those that control writes, and
 * a row of them can be walked. */
#include "pcapio_world.h"

#define MOST 300u

/* A copy by vectors goes beyond the frame's end, and this one leaves rubbish there. */
static void copy_in_steps(uint8_t *to, const uint8_t *frame, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += 16) {
		uint8_t step[16];
		memset(step, 0xdd, sizeof(step));
		memcpy(step, frame + i, n - i < 16 ? n - i : 16);
		memcpy(to + i, step, sizeof(step));
	}
}

static void test_same_bytes(void **state)
{
	uint8_t frame[MOST], want[1024], got[1024];
	struct pcapio_epb t;

	(void)state;
	for (unsigned i = 0; i < MOST; i++)
		frame[i] = (uint8_t)(i * 7 + 1);
	for (uint32_t n = 0; n <= MOST; n++) {
		const struct pcapio_record r = {.interface = n * 3,
						.has_queue = true,
						.ns = 1700000000123456789ull * (n % 3),
						.frame = frame,
						.caplen = n,
						.origlen = 2 * n,
						.flags = n % 2 ? PCAPIO_INBOUND : PCAPIO_OUTBOUND,
						.queue = n ^ 5};
		ssize_t size = pcapio_put_record(want, sizeof(want), &r);
		assert_int_equal(pcapio_epb_size(n), size);
		pcapio_epb_init(&t, r.interface, r.flags, r.queue);

		memset(got, 0xee, sizeof(got)); /* first the frame, with rubbish behind it */
		copy_in_steps(got + PCAPIO_EPB_HEAD, frame, n);
		assert_int_equal(pcapio_epb_put(&t, got, r.ns, n, 2 * n), size);
		assert_memory_equal(got, want, (size_t)size);

		memset(got, 0xee, sizeof(got)); /* first the rest, then exactly the frame */
		assert_int_equal(pcapio_epb_put(&t, got, r.ns, n, 2 * n), size);
		memcpy(got + PCAPIO_EPB_HEAD, frame, n);
		assert_memory_equal(got, want, (size_t)size);
		for (size_t i = (size_t)size; i < sizeof(got); i++)
			assert_int_equal(got[i], 0xee);
	}
}

static void test_walk(void **state)
{
	static uint8_t mem[100 * 512];
	struct pcapio_epb t[4];
	uint8_t *end = mem;
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		pcapio_epb_init(&t[i], i / 2, i % 2 + 1, 10 * i);
	for (unsigned i = 0; i < 100; i++) {
		memset(end + PCAPIO_EPB_HEAD, (int)i, i * 3);
		end += pcapio_epb_put(&t[i % 4], end, ((uint64_t)i << 40) + i, i * 3, 1000 + i);
	}
	for (const uint8_t *at = mem; at < end; at += pcapio_epb_length(at), n++) {
		struct pcapio_record r;
		assert_int_equal(pcapio_epb_stamp(at), ((uint64_t)n << 40) + n);
		assert_int_equal(pcapio_epb_interface(at), n % 4 / 2);
		assert_int_equal(pcapio_epb_caplen(at), n * 3);
		assert_int_equal(pcapio_epb_origlen(at), 1000 + n);
		assert_int_equal(pcapio_epb_flags(at), n % 2 + 1);
		assert_int_equal(pcapio_epb_queue(at), n % 4 * 10);
		for (unsigned i = 0; i < n * 3; i++)
			assert_int_equal(pcapio_epb_frame(at)[i], n);
		pcapio_epb_record(at, &r);
		assert_true(r.timed && r.has_queue && !r.has_id && r.ncomments == 0);
		assert_int_equal(r.ns, ((uint64_t)n << 40) + n);
		assert_int_equal(r.interface, n % 4 / 2);
		assert_int_equal(r.caplen, n * 3);
		assert_int_equal(r.origlen, 1000 + n);
		assert_int_equal(r.flags, n % 2 + 1);
		assert_int_equal(r.queue, n % 4 * 10);
		assert_ptr_equal(r.frame, at + PCAPIO_EPB_HEAD);
	}
	assert_int_equal(n, 100);
}

static void test_restamp(void **state)
{
	uint8_t one[256] = {0}, other[256] = {0};
	struct pcapio_epb t;

	(void)state;
	pcapio_epb_init(&t, 3, PCAPIO_INBOUND, 1);
	uint32_t size = pcapio_epb_put(&t, one, UINT64_MAX, 60, 60);
	pcapio_epb_put(&t, other, 0x1122334455667788, 60, 60);
	pcapio_epb_restamp(one, 0x1122334455667788);
	assert_memory_equal(one, other, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_restamp),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
