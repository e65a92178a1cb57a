/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what is known of the computer, with made-up folders in the place of the kernel's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "part/machine_cpus.h"

static char root[] = "/tmp/wr-machine-test-XXXXXX";

static int make_root(void **state)
{
	(void)state;
	strcpy(strrchr(root, '-') + 1, "XXXXXX");
	return mkdtemp(root) != NULL ? 0 : -1;
}

static int drop_root(void **state)
{
	struct sbuf command = {0};

	(void)state;
	sbuf_addf(&command, "rm -rf '%s'", root);
	int rc = system(sbuf_str(&command));
	sbuf_free(&command);
	return rc;
}

/* Makes a file and the folders in which it lies. */
static void file(const char *path, const char *text)
{
	struct sbuf full = {0};

	sbuf_addf(&full, "%s%s", root, path);
	for (char *at = full.s + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		mkdir(full.s, 0700);
		*at = '/';
	}
	FILE *f = fopen(full.s, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	sbuf_free(&full);
}

static void cpu_file(int cpu, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
	file(path, text);
}

static void topology(int cpu, const char *socket, const char *core)
{
	cpu_file(cpu, "topology/physical_package_id", socket);
	cpu_file(cpu, "topology/core_id", core);
}

/* The machine has two sockets of two cores with two threads each. CPU 5 is off. */
static void test_whole(void **state)
{
	struct machine m;

	(void)state;
	file("/sys/devices/system/cpu/online", "0-4,6-7\n");
	file("/sys/devices/system/cpu/isolated", "2-3,6\n");
	file("/sys/devices/system/cpu/nohz_full", "(null)\n");
	file("/sys/devices/system/node/online", "0-1\n");
	file("/sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
	file("/sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
	for (int i = 0; i < 8; i++)
		topology(i, i % 4 < 2 ? "0\n" : "1\n", i % 2 == 0 ? "0\n" : "8\n");
	cpu_file(6, "cpufreq/scaling_governor", "performance\n");
	cpu_file(6, "cpufreq/scaling_cur_freq", "3100000\n");
	cpu_file(6, "cpufreq/cpuinfo_max_freq", "3500000\n");
	file("/proc/cpuinfo",
	     "processor\t: 0\nvendor_id\t: X\nmodel name\t: Some CPU @ 3.0GHz\ncpu MHz\t\t: 2000.500\n\n"
	     "processor\t: 6\nmodel name\t: Some CPU @ 3.0GHz\ncpu MHz\t\t: 1.000\n");
	file("/proc/sys/kernel/osrelease", "6.1.0-test\n");
	machine_read(root, &m);
	assert_string_equal(m.model, "Some CPU @ 3.0GHz");
	assert_string_equal(m.kernel, "6.1.0-test");
	assert_int_equal(m.n, 7);
	assert_int_equal(m.sockets, 2);
	assert_int_equal(m.cores, 4);
	assert_true(m.knows_isolated && m.knows_nohz);
	assert_int_equal(m.cpu[5].cpu, 6);
	assert_int_equal(m.cpu[5].socket, 1);
	assert_int_equal(m.cpu[5].core, 0);
	assert_int_equal(m.cpu[5].node, 1);
	assert_int_equal(m.cpu[4].node, 0);
	assert_true(m.cpu[5].isolated && !m.cpu[4].isolated && m.cpu[2].isolated);
	assert_false(m.cpu[5].nohz);
	assert_string_equal(m.cpu[5].governor, "performance");
	assert_int_equal(m.cpu[5].khz, 3100000);
	assert_int_equal(m.cpu[5].max_khz, 3500000);
	assert_int_equal(m.cpu[0].khz, 2000500);
	assert_int_equal(m.cpu[1].khz, 0);
	assert_string_equal(m.cpu[0].governor, "");
	machine_free(&m);
}

/* A container may show little or nothing at all. Then the CPUs are those on which we may run. */
static void test_gaps(void **state)
{
	struct machine m;

	(void)state;
	machine_read(root, &m);
	assert_null(m.model);
	assert_null(m.kernel);
	assert_true(m.n > 0);
	assert_int_equal(m.sockets, 0);
	assert_int_equal(m.cores, 0);
	assert_false(m.knows_isolated || m.knows_nohz);
	assert_int_equal(m.cpu[0].socket, -1);
	assert_int_equal(m.cpu[0].node, -1);
	machine_free(&m);

	file("/sys/devices/system/cpu/online", "0-1\n");
	topology(0, "-1\n", "0\n");
	topology(1, "x\n", "1\n");
	file("/proc/cpuinfo", "no such lines\n");
	machine_read(root, &m);
	assert_int_equal(m.n, 2);
	assert_int_equal(m.cpu[0].socket, -1);
	assert_int_equal(m.cpu[1].socket, -1);
	assert_int_equal(m.cpu[1].core, 1);
	assert_int_equal(m.sockets, 0);
	assert_null(m.model);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, make_root, drop_root),
		cmocka_unit_test_setup_teardown(test_gaps, make_root, drop_root),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
