/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the kinds of payload, and copies of what describes a frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

#define AT 42 /* eth/ipv4/udp */

static struct hexbytes *bytes_of(const char *text)
{
	size_t n = strlen(text);
	struct hexbytes *b = xcalloc(1, sizeof(*b) + n);

	b->n = (uint16_t)n;
	memcpy(b->b, text, n);
	return b;
}

static void build(const struct frame_spec *spec, struct frame *f)
{
	struct err e = {.text = ""};

	memset(f->bytes, 0xee, sizeof(f->bytes));
	if (frame_build(spec, NULL, 9018, f, &e) != 0)
		fail_msg("%s", e.text);
	assert_int_equal(f->len, spec->size - FRAME_FCS);
	assert_int_equal(f->bytes[f->len], 0xee);
}

static void counting_bytes_start_over(void **state)
{
	struct frame_spec spec = {.size = 700, .fill = FILL_INC};
	struct frame f;

	(void)state;
	assert_int_equal(frame_stack_parse("eth/ipv4/udp", &spec.stack, NULL), 0);
	build(&spec, &f);
	for (unsigned i = AT; i < f.len; i++)
		assert_int_equal(f.bytes[i], (i - AT) % 256);
}

static void random_payload_is_a_piece_of_its_block(void **state)
{
	/* These are bytes by the formula of vary.h, worked out elsewhere. */
	static const uint8_t seed7[] = {0x36, 0x53, 0x5f, 0xc1, 0xb7, 0xe3, 0xbb, 0x44,
					0x4d, 0x3a, 0xdf, 0xb6, 0xc1, 0x5f, 0x78, 0x0f};
	struct frame_spec spec = {.size = 1518, .fill = FILL_RANDOM, .fill_seed = 7};
	uint8_t *block = malloc(FRAME_RANDOM_BLOCK);
	unsigned seen[256] = {0};
	struct frame f, g;

	(void)state;
	assert_int_equal(frame_stack_parse("eth/ipv4/udp", &spec.stack, NULL), 0);
	build(&spec, &f);
	frame_random_block(7, block);
	assert_memory_equal(block, seed7, sizeof(seed7));
	assert_memory_equal(f.bytes + AT, block, f.len - AT);
	for (unsigned i = 0; i < FRAME_RANDOM_BLOCK; i++)
		seen[block[i]]++;
	for (unsigned v = 0; v < 256; v++)
		assert_in_range(seen[v], FRAME_RANDOM_BLOCK / 256 * 2 / 3,
				FRAME_RANDOM_BLOCK / 256 * 4 / 3);
	spec.fill_seed = 8;
	build(&spec, &g);
	/* These are the headers, but for the checksum over the payload. */
	assert_memory_equal(f.bytes, g.bytes, 40);
	assert_memory_not_equal(f.bytes + AT, g.bytes + AT, 64);
	free(block);
}

static void given_bytes_repeat_to_the_end(void **state)
{
	static const enum frame_fill kinds[] = {FILL_HEX, FILL_FILE};
	static const char *const words[] = {"hex", "file"};
	struct frame_spec spec = {.size = 120};
	struct hexbytes *data = bytes_of("12345"), *none = bytes_of("");
	struct frame f;
	struct err e;

	(void)state;
	assert_int_equal(frame_stack_parse("eth/ipv4/udp", &spec.stack, NULL), 0);
	for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
		spec.fill = kinds[k];
		spec.data = data;
		build(&spec, &f);
		for (unsigned i = AT; i < f.len; i++)
			assert_int_equal(f.bytes[i], "12345"[(i - AT) % 5]);
		spec.data = none;
		assert_int_equal(frame_build(&spec, NULL, 1518, &f, &e), -EINVAL);
		assert_non_null(strstr(e.text, words[k]));
		spec.data = NULL;
		assert_int_equal(frame_build(&spec, NULL, 1518, &f, &e), -EINVAL);
	}
	free(data);
	free(none);
}

static void a_copy_has_its_own_values_and_bytes(void **state)
{
	struct frame_spec spec = {.size = 99, .fill = FILL_HEX, .data = bytes_of("abc")}, copy;
	struct frame f, g;
	struct err e;

	(void)state;
	assert_int_equal(frame_stack_parse("eth/ipv4/udp", &spec.stack, NULL), 0);
	assert_int_equal(frame_vals_parse(&spec.vals, "udp.dst", "99", &e), 0);
	build(&spec, &f);
	frame_spec_copy(&copy, &spec);
	frame_spec_copy(&copy, &copy);
	/* What was copied may change and be freed. */
	assert_int_equal(frame_vals_parse(&spec.vals, "udp.dst", "1", &e), 0);
	spec.data->b[0] = 'z';
	frame_spec_free(&spec);
	frame_spec_free(&spec);
	build(&copy, &g);
	assert_memory_equal(f.bytes, g.bytes, f.len);
	assert_int_equal(g.bytes[37], 99);
	frame_spec_free(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counting_bytes_start_over),
		cmocka_unit_test(random_payload_is_a_piece_of_its_block),
		cmocka_unit_test(given_bytes_repeat_to_the_end),
		cmocka_unit_test(a_copy_has_its_own_values_and_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
