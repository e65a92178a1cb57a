/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests examples/pktperf: its options, its figures from made-up counters, and that what it prints
 * of a wire of two ports with four queues each is what `show queues` says of the same traffic. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "app.h"
#include "out.h"
#include "pktperf.h"
#include "sess.h"
#include "set/set.h"

#define MAX_WORDS 40

/* Reads a command line. The words lie in *copy, as in argv: -d writes into them. */
static int options(struct perf *p, const char *line, char copy[256], struct err *e)
{
	char *argv[MAX_WORDS] = {"pktperf"}, *word;
	int argc = 1;

	snprintf(copy, 256, "%s", line);
	while ((word = strsep(&copy, " ")) != NULL)
		if (*word != '\0')
			argv[argc++] = word;
	argv[argc] = NULL;
	return perf_args(p, argc, argv, e);
}

static void test_defaults(void **state)
{
	char copy[256];
	struct perf p;
	struct err e;

	(void)state;
	assert_int_equal(options(&p, "-m 1.0", copy, &e), 0);
	assert_int_equal(p.burst, 32);
	assert_int_equal(p.size, 64);
	assert_int_equal(p.opts.rxd, 1024);
	assert_int_equal(p.opts.txd, 1024);
	assert_int_equal(p.opts.mbufs, 0);
	assert_int_equal(p.every_ns, 1000000000);
	assert_int_equal(p.rate.kind, RATE_PERCENT);
	assert_true(p.rate.value == 100);
	assert_true(p.opts.promiscuous);
	assert_int_equal(p.opts.neal_args, 0);
	assert_int_equal(p.opts.nports, 0);
	free(p.map);
}

static void test_options(void **state)
{
	static const char line[] = "-l 0-3 -- -b 512 -s 1518 -r 7 -d 512/4096 -m 1.0 -m 2-5:6-9.1 "
				   "-T 3600 -P -M 131072 -p wire -p tap:x";
	char copy[256];
	struct perf p;
	struct err e = {.text = ""};

	(void)state;
	if (options(&p, line, copy, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(p.burst, 512);
	assert_int_equal(p.size, 1518);
	assert_true(p.rate.kind == RATE_PERCENT && p.rate.value == 7);
	assert_int_equal(p.opts.rxd, 512);
	assert_int_equal(p.opts.txd, 4096);
	assert_int_equal(p.opts.mbufs, 131072);
	assert_int_equal(p.every_ns, 3600000000000);
	assert_false(p.opts.promiscuous);
	assert_int_equal(p.opts.neal_args, 2);
	assert_string_equal(p.opts.eal_args[1], "0-3");
	assert_int_equal(p.opts.nmaps, 2);
	assert_string_equal(p.opts.maps[1], "2-5:6-9.1");
	assert_int_equal(p.opts.nports, 2);
	assert_string_equal(p.opts.ports[1], "tap:x");
	free(p.map);
	assert_int_equal(options(&p, "-m 1.0 -r max -r 0", copy, &e), 0);
	assert_true(p.rate.kind == RATE_PERCENT && p.rate.value == 0);
	free(p.map);
}

static void test_refusals(void **state)
{
	static const char *const refused[][2] = {
		{"", "no map"},
		{"-m", "-m needs a value"},
		{"-m 1.0 -x", "-x"},
		{"-m 1.0 more", "'more'"},
		{"-m 1.0 -b 0", "1 to 512"},
		{"-m 1.0 -b 513", "1 to 512"},
		{"-m 1.0 -s 63", "64 to 1518"},
		{"-m 1.0 -s 1519", "64 to 1518"},
		{"-m 1.0 -s big", "\"big\""},
		{"-m 1.0 -r 101", "above 0 to 100%"},
		{"-m 1.0 -r -1", "\"-1\""},
		{"-m 1.0 -r 1%..2%", "1%..2%"},
		{"-m 1.0 -d 1024", "1024/512"},
		{"-m 1.0 -d 1024/", "-d: \"\""},
		{"-m 1.0 -d 511/1024", "512 to 4096"},
		{"-m 1.0 -d 1024/4097", "512 to 4096"},
		{"-m 1.0 -T 0", "1h"},
		{"-m 1.0 -T 3601", "1h"},
		{"-m 1.0 -M 511", "512 to 131072"},
		{"-l 0-3 -m 1.0", "-l"},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(refused); i++) {
		char copy[256];
		struct perf p;
		struct err e = {.text = ""};
		int rc = options(&p, refused[i][0], copy, &e);
		if (rc != -EINVAL || strstr(e.text, refused[i][1]) == NULL)
			fail_msg("%s: %d '%s'", refused[i][0], rc, e.text);
		free(p.map);
	}
}

/* Of a queue that counted for 2.5 s, and of two: times are means over the bursts of both. */
static void test_figures(void **state)
{
	static const struct snap_queue from[2] = {
		{.rx.packets = 100, .tx.packets = 7, .tx.unsent = 5, .tx_times = {10, 1000}}};
	static const struct snap_queue to[2] = {
		{.rx.packets = 350,
		 .tx = {.packets = 57, .stalls = 5, .dropped = 3, .unsent = 15, .nombuf = 10},
		 .tx_times = {20, 6000},
		 .rx_times = {2, 90}},
		{.rx.packets = 1000, .tx.packets = 1000, .tx_times = {90, 9000}},
	};
	static const double one[PERF_ROWS] = {100, 20, 2, 5.2, 4, 45, 500},
			    both[PERF_ROWS] = {500, 420, 2, 5.2, 4, 45, 140};
	double got[PERF_ROWS];

	(void)state;
	perf_figures(from, to, 1, 2.5, got);
	for (unsigned r = 0; r < PERF_ROWS; r++)
		assert_true(fabs(got[r] - one[r]) < 1e-9);
	perf_figures(from, to, 2, 2.5, got);
	for (unsigned r = 0; r < PERF_ROWS; r++)
		assert_true(fabs(got[r] - both[r]) < 1e-9);
	perf_figures(&from[1], &to[1], 1, 2.5, got);
	assert_true(isnan(got[PERF_RX_TIME])); /* no burst was sampled */
}

/* ---- a wire with four queues on each side ---- */

static struct perf perf;
static char words[256];

static bool live_open(void)
{
	char line[200];
	cpu_set_t cpus;
	struct err e = {.text = ""};
	unsigned cpu = 0;

	CPU_ZERO(&cpus);
	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	while (!CPU_ISSET(cpu, &cpus))
		cpu++;
	snprintf(line, sizeof(line),
		 "--lcores (0-2)@%u -- -p wire -m 1.0*4 -m 2.1*4 -b 16 -r 50000pps", cpu);
	/* control keeps pointers to the words */
	static char *argv[MAX_WORDS] = {"pktperf"};
	char *rest = words, *word;
	int argc = 1;
	snprintf(words, sizeof(words), "%s", line);
	while ((word = strsep(&rest, " ")) != NULL)
		argv[argc++] = word;
	assert_int_equal(perf_args(&perf, argc, argv, &e), 0);
	if (perf_open(&perf, &e) == 0)
		return true;
	fprintf(stderr, "skipped: %s\n", e.text);
	return false;
}

/* Sends 20,000 frames from port 0 and 10,000 from port 1. */
static void send_some(void)
{
	struct portset both = perf.senders;
	struct err e = {.text = ""};

	for (unsigned i = 0; i < 2; i++) {
		ctl_port_cfg(perf.ctl, i)->count = 20000 >> i;
		/* this machine may stand still for any time, and all that was due is counted */
		ctl_port_cfg(perf.ctl, i)->catchup.kind = CATCHUP_KEEP;
		ctl_touch(perf.ctl, i, WHY_ALL);
	}
	if (ctl_start(perf.ctl, &both, 0, &e) < 0)
		fail_msg("%s", e.text);
	do {
		ctl_turn(perf.ctl);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	} while (ctl_settled(perf.ctl, &both) == 0);
}

static json_t *shown;

static void take(void *arg, const struct sess_event *ev)
{
	(void)arg;
	if (ev->kind == SESS_DONE)
		shown = json_deep_copy(json_array_get(ev->results, 0));
}

/* What `show queues` prints. */
static json_t *show_queues_document(void)
{
	struct app app = {.ctl = perf.ctl};
	const struct sess_opts opts = {.out_mode = OUT_JSON, .batch = true};
	unsigned nsettings, nverbs;
	const struct setting *const *settings = set_rows(&nsettings);
	const struct verb *const *verbs = cmd_verbs(&nverbs);
	struct cmd_host host;

	app_host(&app, &host);
	struct cmd *cmd = app.cmd = cmd_new(settings, nsettings, verbs, nverbs, &host);
	struct sess *s = sess_local(cmd, &app, NULL, NULL, &opts, take, NULL);
	sess_exec(s, "show queues", NULL);
	while (sess_busy(s))
		sess_poll(s);
	sess_free(s);
	cmd_free(cmd);
	assert_non_null(shown);
	return shown;
}

/* The number in column `queue` of the row of that name in the block of the port; -1: it is "-". */
static long long cell(const char *text, unsigned port, const char *name, unsigned queue)
{
	char head[32], digits[32] = "";
	unsigned n = 0;

	snprintf(head, sizeof(head), "\n %-7u: ", port);
	const char *at = strstr(text, head);
	snprintf(head, sizeof(head), "\n  %-12s|", name);
	at = at != NULL ? strstr(at, head) : NULL;
	if (at == NULL)
		fail_msg("no row %s of port %u in\n%s", name, port, text);
	for (at = strchr(at, '|'); queue > 0; queue--)
		at = strchr(at + 1, '|');
	for (at++; *at != '|'; at++)
		if (isdigit((unsigned char)*at))
			digits[n++] = *at;
	return n > 0 ? atoll(digits) : -1;
}

static long long counter(const json_t *queue, const char *side, const char *name)
{
	const json_t *n = json_object_get(json_object_get(queue, side), name);

	assert_true(json_is_integer(n));
	return json_integer_value(n);
}

/* A row of the text holds what the queues counted, divided by seconds and rounded. */
static void same_row(const char *text, const json_t *queues, unsigned port, const char *name,
		     const char *side, const char *const counters[2], double seconds)
{
	long long sum = 0;
	json_t *queue;
	size_t q;

	json_array_foreach(queues, q, queue) {
		long long n = counter(queue, side, counters[0]);
		n += counters[1] != NULL ? counter(queue, side, counters[1]) : 0;
		assert_int_equal(cell(text, port, name, (unsigned)q), llround((double)n / seconds));
		sum += n;
	}
	assert_int_equal(q, 4);
	assert_int_equal(cell(text, port, name, 4), llround((double)sum / seconds));
}

static void same_as_shown(const char *text, const json_t *doc, double seconds)
{
	static const struct {
		const char *name, *side, *counter[2];
	} row[] = {
		{"RxQs", "rx", {"packets"}},    {"TxQs", "tx", {"packets"}},
		{"TxFull", "tx", {"stalls"}},   {"TxDrop", "tx", {"unsent", "dropped"}},
		{"NoTxMBUF", "tx", {"nombuf"}},
	};

	for (unsigned port = 0; port < 2; port++)
		for (unsigned r = 0; r < ARRAY_SIZE(row); r++) {
			const json_t *of = json_array_get(json_object_get(doc, "ports"), port);
			same_row(text, json_object_get(of, "queues"), port, row[r].name,
				 row[r].side, row[r].counter, seconds);
		}
}

static void test_as_shown(void **state)
{
	struct snap *from = ctl_snapshot(perf.ctl);
	struct sbuf rates = {0}, totals = {0};

	(void)state;
	send_some();
	struct snap *to = ctl_snapshot(perf.ctl);
	json_t *doc = show_queues_document();
	perf_text(&perf, from, to, false, &rates);
	perf_text(&perf, from, to, true, &totals);
	same_as_shown(rates.s, doc, (double)(to->time_ns - from->time_ns) / 1e9);
	same_as_shown(totals.s, doc, 1);
	for (unsigned port = 0; port < 2; port++) {
		assert_int_equal(cell(totals.s, port, "TxQs", 4), 20000 >> port);
		assert_int_equal(cell(totals.s, port, "RxQs", 4), 20000 >> (1 - port));
		for (unsigned q = 0; q < 4; q++)
			assert_int_equal(cell(totals.s, port, "TxQs", q), 5000 >> port);
		assert_true(cell(totals.s, port, "TxTime", 4) > 0);
		assert_true(cell(totals.s, port, "RxTime", 4) > 0);
	}
	assert_non_null(strstr(totals.s, "MaxPPS:14'880'952, WireSize:672 bits\n"));
	assert_non_null(strstr(totals.s, "PPS:50'000, Pkts/Thread:12'500, Cycles/Burst"));
	assert_non_null(strstr(totals.s, "Burst: 16\n        : TxRate:50kpps\n"
					 "        : Mapping: 1.0*4 2.1*4\n"));
	json_decref(doc);
	sbuf_free(&rates);
	sbuf_free(&totals);
	snap_free(from);
	snap_free(to);
	free(from);
	free(to);
}

/* Each queue has frames of its own, which its destination names. */
static void test_frames(void **state)
{
	struct err e = {.text = ""};

	(void)state;
	for (unsigned q = 0; q < 4; q++) {
		struct frame f;
		if (ctl_frame(perf.ctl, 0, q, &f, &e) < 0)
			fail_msg("%s", e.text);
		const uint8_t dst[6] = {0x00, 0xaa, 0xbb, 0xcc, 0xdd, (uint8_t)q};
		assert_memory_equal(f.bytes, dst, sizeof(dst));
		assert_int_equal(f.len, 60);
	}
	assert_int_equal(ctl_nstreams(perf.ctl, 0), 4);
}

static void test_close(void **state)
{
	(void)state;
	ctl_close(perf.ctl);
	free(perf.map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_figures),
	};
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_as_shown),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_close),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	if (!live_open())
		return rc != 0 ? rc : 77;
	return cmocka_run_group_tests(live, NULL, NULL) + rc;
}
