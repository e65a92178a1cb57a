/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the log: the ring of the last messages, the file, and the function that hears of each
 * message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_ring_keeps_the_last(void **state)
{
	struct log_entry m;
	uint64_t first = log_next();

	(void)state;
	log_stderr(LOG_LVL_ERROR);
	for (unsigned i = 0; i < LOG_RING + 10; i++)
		log_msg(LOG_LVL_INFO, "message %u", i);
	assert_int_equal(log_next(), first + LOG_RING + 10);
	assert_false(log_get(first + 9, &m));
	assert_true(log_get(first + 10, &m));
	assert_string_equal(m.text, "message 10");
	assert_int_equal(m.seq, first + 10);
	assert_true(m.wall_ns > 0);
	assert_true(log_get(first + LOG_RING + 9, &m));
	assert_false(log_get(log_next(), &m));
}

static void test_one_message_one_line(void **state)
{
	struct log_entry m;

	(void)state;
	log_msg(LOG_LVL_INFO, "EAL: two\nlines \033[2J\n\n");
	assert_true(log_get(log_next() - 1, &m));
	assert_string_equal(m.text, "EAL: two lines \\u001b[2J");
}

static void test_file(void **state)
{
	char path[] = "log_test_XXXXXX", line[200];
	int fd = mkstemp(path);
	struct err e;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(log_open(path, &e), 0);
	log_msg(LOG_LVL_DEBUG, "to the file %d", 1);
	log_open(NULL, NULL);
	log_msg(LOG_LVL_DEBUG, "not to the file");
	FILE *f = fopen(path, "r");
	assert_non_null(fgets(line, sizeof(line), f));
	assert_int_equal(line[0], 'D');
	assert_non_null(strstr(line, " to the file 1\n"));
	assert_null(fgets(line, sizeof(line), f));
	fclose(f);
	unlink(path);
	assert_int_equal(log_open("/nowhere/at/all", &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nowhere/at/all"));
}

static int heard;

static void listener(void *arg, const struct log_entry *m)
{
	heard++;
	assert_string_equal(arg, "arg");
	assert_string_equal(m->text, "heard");
	/* A listener that logs must not hear itself for ever. */
	log_msg(LOG_LVL_INFO, "from the listener");
}

static void test_listener(void **state)
{
	(void)state;
	log_listen(listener, "arg");
	log_msg(LOG_LVL_ERROR, "heard");
	log_listen(NULL, NULL);
	log_msg(LOG_LVL_INFO, "not heard");
	assert_int_equal(heard, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_keeps_the_last),
		cmocka_unit_test(test_one_message_one_line),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
