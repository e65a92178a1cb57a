/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that a text of a megabyte is refused or taken in a time that grows as the text does. A
 * parser that looked at all that follows, at each word, would not end within the time limit of a
 * test. */
#include "value_is.h"

#include "arrival_text.h"
#include "effort.h"
#include "sizes.h"
#include "vary.h"

enum { BYTES = 1 << 20 };

static const struct vspec one = {.type = &vt_uint};
static const char *const choices[] = {"none", "some", "with", NULL};
static const struct vspec specs[] = {
	{.type = &vt_bool},
	{.type = &vt_uint},
	{.type = &vt_rate},
	{.type = &vt_rate_steady},
	{.type = &vt_rate_load},
	{.type = &vt_per_second},
	{.type = &vt_duration},
	{.type = &vt_seconds},
	{.type = &vt_size, .min = 64, .max = 1518},
	{.type = &vt_sizes, .min = 64, .max = 1518},
	{.type = &vt_speed},
	{.type = &vt_share},
	{.type = &vt_every},
	{.type = &vt_enum, .choices = choices},
	{.type = &vt_text},
	{.type = &vt_fuint, .bits = 32},
	{.type = &vt_mac, .bits = 48},
	{.type = &vt_ip4, .bits = 32},
	{.type = &vt_ip6, .bits = 128},
	{.type = &vt_fflags, .bits = 8, .choices = choices},
	{.type = &vt_hex},
	{.type = &vt_hits, .choices = choices},
	{.type = &vt_limit},
	{.type = &vt_delay},
	{.type = &vt_flap},
	{.type = &vt_arrival},
	{.type = &vt_catchup},
	{.type = &vt_vary, .bits = 32, .of = &one},
};
static const char *const parts[] = {" ",       " x",  "1 ",    ",",        "1,",     ". ",
				    "..",      "1..", "1 .. ", "-",        "1",      "x",
				    "1k ",     "%",   ":",     "1.1.1.1,", "every ", "step 1 ",
				    "list 1,", "[",   "a=",    "\t",       "0x",     "ff:"};

static void test_long_texts_end(void **state)
{
	static char text[BYTES + 16];
	const size_t bytes = effort(BYTES, BYTES / 4);
	struct err e;
	size_t most = 0;

	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(specs); s++)
		most = specs[s].type->size > most ? specs[s].type->size : most;
	void *v = calloc(1, most);
	for (size_t p = 0; p < ARRAY_SIZE(parts); p++) {
		size_t n = strlen(parts[p]);
		for (size_t i = 0; i + n <= bytes; i += n)
			memcpy(text + i, parts[p], n + 1);
		for (size_t s = 0; s < ARRAY_SIZE(specs); s++)
			(void)specs[s].type->parse(&specs[s], text, v, &e);
	}
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_long_texts_end)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
