/* SPDX-License-Identifier: BSD-3-Clause */
/* iperf3's options: what they come to, and what is said of those that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "iperf.h"

#define WORDS 40

/* Reads a line of words with one blank between them. */
static int read_line(const char *line, struct iperf_opts *o, struct err *e)
{
	static char text[512];
	char *word[WORDS];
	unsigned n = 0;

	assert_true(strlen(line) < sizeof(text));
	strcpy(text, line);
	for (char *p = strtok(text, " "); p != NULL; p = strtok(NULL, " ")) {
		assert_in_range(n, 0, WORDS - 1);
		word[n++] = p;
	}
	return iperf_opts_read(o, word, n, e);
}

static void test_defaults(void **state)
{
	struct iperf_opts o;
	struct err e;

	(void)state;
	assert_int_equal(read_line("-c h", &o, &e), 0);
	assert_string_equal(o.host, "h");
	assert_int_equal(o.port, 5201);
	assert_int_equal(o.p.time_s, 10);
	assert_int_equal(o.p.blksize, 131072);
	assert_int_equal(o.p.rate, 0);
	assert_int_equal(o.p.parallel, 1);
	assert_true(o.interval_s == 1);
	iperf_opts_free(&o);
	assert_int_equal(read_line("-c h -u", &o, &e), 0);
	assert_int_equal(o.p.rate, 1 << 20);
	assert_int_equal(o.p.blksize, 0); /* what fits */
	iperf_opts_free(&o);
}

static void test_values(void **state)
{
	struct iperf_opts o;
	struct err e;

	(void)state;
	assert_int_equal(
		read_line(
			"-c fe80::1%eth0 -p 99 -u -b 1.5M/20 -n 2K -l 1000 -P 7 -O 3 -i 0.25 -S 0x20 -w 64k -4 "
			"--cport 7000 --title=x --connect-timeout 250 --stack kernel",
			&o, &e),
		0);
	assert_string_equal(o.host, "fe80::1%eth0");
	assert_string_equal(o.device, "eth0");
	assert_int_equal(o.port, 99);
	assert_int_equal(o.p.rate, 1500000);
	assert_int_equal(o.p.burst, 20);
	assert_int_equal(o.p.bytes, 2048);
	assert_int_equal(o.p.time_s, 0);
	assert_int_equal(o.p.blksize, 1000);
	assert_int_equal(o.p.parallel, 7);
	assert_int_equal(o.p.omit_s, 3);
	assert_true(o.interval_s == 0.25);
	assert_int_equal(o.p.tos, 32);
	assert_int_equal(o.p.window, 65536);
	assert_int_equal(o.family, AF_INET);
	assert_int_equal(o.cport, 7000);
	assert_string_equal(o.p.title, "x");
	assert_int_equal(o.connect_ms, 250);
	iperf_opts_free(&o);
	assert_int_equal(read_line("-s -1 --idle-timeout 5 -J -B ::1%lo", &o, &e), 0);
	assert_true(o.server && o.one_off && o.json);
	assert_string_equal(o.bind, "::1");
	assert_string_equal(o.device, "lo");
	iperf_opts_free(&o);
}

static void test_machine(void **state)
{
	static const struct {
		const char *line;
		uint32_t cpu, there, tos;
	} good[] = {
		{"-c h", 0, 0, 0},
		{"-c h -A 0", 1, 0, 0},
		{"-c h -A 3,0", 4, 1, 0},
		{"-c h -A ,1023", 0, 1024, 0},
		{"-c h --dscp 10", 0, 0, 40},
		{"-c h --dscp 0x2e", 0, 0, 184},
		{"-c h --dscp EF", 0, 0, 184},
		{"-c h --dscp cs7", 0, 0, 224},
		{"-c h --dscp af41", 0, 0, 136},
	};
	struct iperf_opts o;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(read_line(good[i].line, &o, &e), 0);
		assert_int_equal(o.cpu, good[i].cpu);
		assert_int_equal(o.p.cpu, good[i].there);
		assert_int_equal(o.p.tos, good[i].tos);
		iperf_opts_free(&o);
	}
	assert_int_equal(read_line("-s -D -I f", &o, &e), 0);
	assert_true(o.daemon);
	assert_string_equal(o.pid_file, "f");
	iperf_opts_free(&o);
}

static void test_wrong(void **state)
{
	static const struct {
		const char *line;
		int rc;
		const char *why;
	} wrong[] = {
		{"", -EINVAL, "a client (-c HOST) or a server (-s)"},
		{"-c h -s", -EINVAL, "-s and -c exclude each other"},
		{"-s -t 3", -EINVAL, "option -t, --time is one of clients"},
		{"-c h -1", -EINVAL, "option -1, --one-off is one of servers"},
		{"-c h -P 129", -ERANGE,
		 "option -P, --parallel: '129' is out of range; allowed are 1 to 128"},
		{"-c h -P x", -EINVAL, "'x' is not a whole number"},
		{"-c h -p 0", -ERANGE, "allowed are 1 to 65535"},
		{"-c h -t 86401", -ERANGE, "allowed are 0 to 86400"},
		{"-c h -b 10Q", -EINVAL, "is not a rate in bit/s"},
		{"-c h -b 1M/0", -EINVAL, "no number of 1 to 1000 behind the slash"},
		{"-c h -l 2M", -ERANGE, "allowed are 1 to 1M"},
		{"-c h -u -l 15", -ERANGE, "datagrams of 15 bytes; allowed are 16 to 65507"},
		{"-c h -n 1M -t 1", -EINVAL, "only one of -t, -n and -k"},
		{"-c h -n 1M -k 1", -EINVAL, "only one of -t, -n and -k"},
		{"-c h -R --bidir", -EINVAL, "-R and --bidir exclude each other"},
		{"-c h -4 -6", -EINVAL, "-4 and -6 exclude each other"},
		{"-c h -i 0.01", -ERANGE, "allowed are 0.1 to 60, and 0"},
		{"-c h -u -N", -EINVAL, "about TCP"},
		{"-c h -f x", -EINVAL, "allowed are k m g t K M G T"},
		{"-c h --stack up", -EINVAL, "allowed are kernel and port"},
		{"-c h --sctp", -ENOTSUP, "option --sctp of iperf3: not in this version"},
		{"-c h -A 1024", -EINVAL, "allowed are 0 to 1023"},
		{"-c h -A 1,", -EINVAL, "is no CPU"},
		{"-c h -A ,", -EINVAL, "is no CPU"},
		{"-s -A 0,1", -EINVAL, "a server has one CPU"},
		{"-c h -D", -EINVAL, "option -D, --daemon is one of servers"},
		{"-c h --dscp 64", -EINVAL, "allowed are 0 to 63"},
		{"-c h --dscp af14", -EINVAL, "is not a number"},
		{"-c h -F f", -ENOTSUP, "-n with the size of the file"},
		{"-c h -X n", -ENOTSUP, "it is about SCTP"},
		{"-c h --paralel 2", -EINVAL, "did you mean --parallel?"},
		{"-c h -y", -EINVAL, "unknown option -y of iperf3"},
		{"-c h --udp=1", -EINVAL, "takes no value"},
		{"-c h -t", -EINVAL, "needs a value"},
		{"-c h more", -EINVAL, "'more' is no option"},
		{"-c h --cport 65535 -P 2", -ERANGE, "beyond 65535"},
	};
	struct iperf_opts o;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(read_line(wrong[i].line, &o, &e), wrong[i].rc);
		if (strstr(e.text, wrong[i].why) == NULL)
			fail_msg("%s: %s", wrong[i].line, e.text);
		iperf_opts_free(&o);
	}
}

static void test_help(void **state)
{
	struct iperf_opts o;
	struct sbuf b = {0};
	struct err e;

	(void)state;
	assert_int_equal(read_line("--help", &o, &e), 0);
	assert_true(o.help);
	iperf_opts_free(&o);
	iperf_opts_help(&b);
	assert_non_null(strstr(b.s, "-P, --parallel N"));
	assert_null(strstr(b.s, "sctp"));
	sbuf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_values),
		cmocka_unit_test(test_machine),  cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_help),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
