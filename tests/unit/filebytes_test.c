/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of files: who holds them, and what is no such file. */
#include "cmocka_names.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "filebytes.h"

static char folder[] = "/tmp/filebytes.XXXXXX";

static char *at(const char *name)
{
	static char path[2][128];
	static unsigned i;

	i = !i;
	snprintf(path[i], sizeof(path[i]), "%s/%s", folder, name);
	return path[i];
}

static void put(const char *name, const void *bytes, size_t n)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

static struct filebytes *get(const char *name)
{
	struct filebytes *f = NULL;
	struct err e;

	if (filebytes_read(at(name), 1000, &f, &e) != 0)
		fail_msg("%s", e.text);
	return f;
}

static void test_shared(void **state)
{
	struct filebytes *a, *b, *c;

	(void)state;
	put("a", "x\0y", 3);
	a = filebytes_hold(get("a"));
	assert_true(a->n == 3 && memcmp(a->b, "x\0y", 3) == 0);
	assert_string_equal(a->name, at("a"));
	/* the same again; another name; other bytes */
	assert_ptr_equal(get("a"), a);
	put("b", "x\0y", 3);
	b = filebytes_hold(get("b"));
	assert_ptr_not_equal(a, b);
	put("a", "xyz", 3);
	c = filebytes_hold(get("a"));
	assert_true(c != a && c->hash != a->hash && memcmp(a->b, "x\0y", 3) == 0);
	assert_int_equal(filebytes_count(), 3);
	filebytes_drop(a);
	filebytes_drop(b);
	assert_int_equal(filebytes_count(), 1);
	/* what was read last is still there, and goes with the next one */
	filebytes_drop(c);
	assert_int_equal(filebytes_count(), 1);
	put("d", "d", 1);
	get("d");
	assert_int_equal(filebytes_count(), 1);
	filebytes_drop(filebytes_hold(NULL));
}

static void test_refused(void **state)
{
	static const struct {
		const char *name, *why;
	} of[] = {
		{"empty", "is empty; it must have 1 byte at least"},
		{"large", "it has more than 1000 bytes"},
		{"pipe", "it is a pipe, not a regular file"},
		{".", "it is a folder, not a regular file"},
		{"none", "No such file"},
	};
	char *large = calloc(1, 1001);
	struct filebytes *f = NULL;
	struct err e;

	(void)state;
	put("empty", "", 0);
	put("large", large, 1001);
	free(large);
	assert_int_equal(mkfifo(at("pipe"), 0600), 0);
	unsigned before = filebytes_count();
	for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
		assert_int_equal(filebytes_read(at(of[i].name), 1000, &f, &e), -EINVAL);
		if (strstr(e.text, of[i].why) == NULL || strstr(e.text, at(of[i].name)) == NULL)
			fail_msg("%s", e.text);
	}
	assert_int_equal(filebytes_read("/dev/zero", 1000, &f, &e), -EINVAL);
	assert_non_null(strstr(e.text, "it is a device"));
	assert_true(f == NULL && filebytes_count() == before);
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(folder) == NULL;
}

static int end(void **state)
{
	static const char *const names[] = {"a", "b", "d", "empty", "large", "pipe"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		unlink(at(names[i]));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
