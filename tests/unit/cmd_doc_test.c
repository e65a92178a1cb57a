/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the language says of itself: completion, help, JSON, the manual page, and the check of
 * the tables. */
#include "cmd_world.h"

#include <sys/stat.h>
#include <unistd.h>

static void take(void *arg, const char *word, const char *help)
{
	if (word != NULL)
		sbuf_addf(arg, "%s ", word);
	else
		sbuf_addf(arg, "(%s) ", help);
}

static void completes(const char *line, int start, const char *words)
{
	struct sbuf b = {0};
	int at = -1;

	cmd_complete(lang, line, (int)strlen(line), &at, take, &b);
	if (at != start || strcmp(sbuf_str(&b), words) != 0)
		fail_msg("\"%s\": %s at %d, expected %s at %d", line, sbuf_str(&b), at, words,
			 start);
	sbuf_free(&b);
}

static void test_complete(void **state)
{
	char dir[] = "/tmp/wr-cmd-test-XXXXXX", path[128], line[160], want[160];
	struct sbuf b = {0};
	int at;

	(void)state;
	completes("", 0, "set help start show wait lua load quit stream ");
	completes("stre", 0, "stream ");
	completes("stream ", 7, "add delete ");
	completes("stream d", 7, "delete ");
	completes("help stream ", 12, "add delete ");
	completes("stream add ", 11, "all 0 1 ");
	completes("stream add 0 ", 13, "(N: N[k|M|G] or 0xHEX, 1 to 99) like ");
	completes("stream add 0 l", 13, "like ");
	completes("st", 0, "start stream ");
	completes("str", 0, "stream ");
	completes("ex", 0, "exit ");
	completes("start ", 6, "all 0 1 ");
	completes("start 0,", 6, "0,all 0,0 0,1 ");
	completes("start 0/", 6, "0/all 0/0 0/1 0/2 ");
	completes("start 0 ", 8, "for ");
	completes("start 0 for 10", 12, "10ns 10us 10ms 10s 10m 10h ");
	completes("start 0 for 10s ", 16, "");
	completes("show ", 5, "stats rates queues page ");
	completes("show p", 5, "page ");
	completes("sh s", 3, "stats ");
	completes("show stats ", 11, "all 0 1 ");
	completes("show q", 5, "queues ");
	completes("set 0 r", 6, "rate rxburst ");
	completes("set 0/1 r", 8, "");
	completes("set 0/1 p", 8, "proto pattern ");
	completes("set 0 dst ", 10, "port ");
	completes("set 0 ds", 6, "dst ");
	completes("set 0 vl", 6, "");
	completes("set 0 vlan[", 6, "vlan[2].vid ");
	completes("set p", 4, "ports_per_page ");
	completes("set ", 4, "all 0 1 ports_per_page ");
	completes("set 0 proto ", 12, "udp tcp icmp ");
	completes("set 0 proto t", 12, "tcp ");
	completes("set 0 rate m", 11, "max ");
	completes("set 0 rate def", 11, "default ");
	/* This is what may stand there beside words. */
	completes(
		"set 0 rate ", 11,
		"max 1% 10% 50% 100% (rate: 10% | 1.5Mpps | 3Gbps[/l2] | max, or A..B over T | A..B step S every T) ");
	completes("set 0 udp.dst ", 14, "(udp.dst: N or 0xHEX, 0 to 65535) ");
	completes("set 0 dport 7", 12, "");
	completes("wait 0 ", 7, "(DURATION: a number with ns, us, ms, s, m or h: 10s, 1.5ms) ");
	completes("set 0 rate 5; se", 14, "set ");
	completes("set 0 rate 5;", 13, "set help start show wait lua load quit stream ");
	completes("set 0 # r", 9, "");
	completes("set 0 'ra", 6, "rate ");
	completes("help promi", 5, "promiscuous ");
	completes("ping4 ", 6, "");
	completes("set 0 proto tcp ", 16, "");
	cmd_complete(lang, "set 0 ra 5", 8, &at, take, &b);
	assert_string_equal(b.s, "rate ");
	assert_int_equal(at, 6);
	sbuf_free(&b);

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sub", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/two words", dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	snprintf(line, sizeof(line), "load %s/", dir);
	snprintf(want, sizeof(want), "%s/sub/ '%s/two words' ", dir, dir);
	completes(line, 5, want);
	snprintf(line, sizeof(line), "load '%s/two w", dir);
	snprintf(want, sizeof(want), "'%s/two words' ", dir);
	completes(line, 5, want);
	unlink(path);
	snprintf(path, sizeof(path), "%s/sub", dir);
	rmdir(path);
	rmdir(dir);
}

static void test_help(void **state)
{
	(void)state;
	ok("help");
	assert_non_null(strstr(out.s, "  start"));
	assert_non_null(strstr(out.s, "  udp."));
	assert_null(strstr(out.s, "udp.src"));
	assert_null(strstr(out.s, "Offered load."));
	ok("help all");
	assert_non_null(strstr(out.s, "start <ports> [for DURATION]"));
	assert_non_null(strstr(out.s, "Offered load."));
	assert_non_null(strstr(out.s, "\n  udp.src udp.dst\n  tcp.dst\n"));
	assert_null(strstr(out.s, "Pktgen's start"));
	assert_null(strstr(out.s, "latency"));
	assert_null(strstr(out.s, "vlan[2]"));
	ok("help burst");
	assert_string_equal(
		out.s,
		"set <ports> burst <value>\n  Frames per burst.\n  allowed: N[k|M|G] or 0xHEX, 1 to 512\n"
		"  unit:    frames\n  default: 32\n  also:    txburst\n");
	ok("help mtu");
	assert_non_null(strstr(out.s, "needs a stopped port, whose device is restarted"));
	ok("help start");
	assert_non_null(strstr(out.s, "DURATION: a number with ns"));
	ok("help dst port");
	assert_non_null(strstr(out.s, "set <streams> dport"));
	ok("help wa");
	assert_non_null(strstr(out.s, "wait <ports> [DURATION]"));
	ok("help st");
	assert_non_null(strstr(out.s, "Begin to send."));
	ok("help ping4");
	assert_non_null(strstr(out.s, "not in this version"));
	refused("rate 0 5", -EINVAL, 0, "rate is a setting, not a command");
	ok("help udp");
	assert_non_null(strstr(out.s, "set <streams> udp.src"));
	run.out_mode = 2; /* OUT_JSON */
	ok("help burst");
	json_t *o = json_loads(out.s, 0, NULL);
	assert_non_null(o);
	assert_int_equal(json_array_size(json_object_get(o, "settings")), 1);
	assert_int_equal(json_array_size(json_object_get(o, "commands")), 0);
	assert_string_equal(json_string_value(json_object_get(o, "help")), "burst");
	json_decref(o);
	ok("help");
	o = json_loads(out.s, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(o, "settings")), N_ROWS);
	json_decref(o);
	run.out_mode = 0;
	refused("help strat", -EINVAL, 5, "did you mean \"start\"");
	refused("help rte", -EINVAL, 5, "did you mean");
}

static void test_dump(void **state)
{
	json_t *o = cmd_dump(lang), *s, *v;
	struct sbuf b = {0};

	(void)state;
	assert_int_equal(json_array_size(json_object_get(o, "settings")), N_ROWS);
	assert_int_equal(json_array_size(json_object_get(o, "commands")), ARRAY_SIZE(verbs));
	s = json_array_get(json_object_get(o, "settings"), R_BURST);
	assert_string_equal(json_string_value(json_object_get(s, "name")), "burst");
	assert_string_equal(json_string_value(json_array_get(json_object_get(s, "aliases"), 0)),
			    "txburst");
	assert_int_equal(json_integer_value(json_object_get(s, "max")), 512);
	assert_string_equal(json_string_value(json_object_get(s, "default")), "32");
	assert_string_equal(json_string_value(json_object_get(s, "scope")), "port");
	v = json_array_get(json_object_get(o, "commands"), 2);
	assert_string_equal(json_string_value(json_object_get(v, "usage")),
			    "start <ports> [for DURATION]");
	assert_int_equal(json_array_size(json_object_get(v, "args")), 3);
	json_decref(o);

	cmd_man(lang, "wirerate", "1.2.3", &b);
	assert_non_null(strstr(b.s, ".TH WIRERATE 1"));
	assert_non_null(strstr(b.s, ".SH COMMANDS"));
	assert_non_null(strstr(b.s, ".B start <ports> [for DURATION]"));
	assert_non_null(strstr(b.s, ".B set <ports> burst <value>"));
	assert_null(strstr(b.s, "\n'"));
	sbuf_reset(&b);
	cmd_dict(lang, &b);
	assert_non_null(strstr(b.s, "\"ports_per_page\"\n"));
	assert_non_null(strstr(b.s, "\"dst port\"\n"));
	assert_non_null(strstr(b.s, "\"tcp\"\n"));
	sbuf_free(&b);
}

static void test_table_check(void **state)
{
	static const char *const twice[] = {"a", "a", NULL};
	static const struct setting bad[] = {
		{"one", "two,one", &scope_port, {&vt_uint, .min = 1, .max = 5}, "9", NULL, "x"},
		{"two", NULL, &scope_port, {&vt_uint}, "1", NULL, ""},
		{"two", NULL, &scope_stream, {&vt_uint}, NULL, NULL, "x"},
		{"four", NULL, &scope_port, {&vt_enum, .choices = twice}, "a", NULL, "x"},
		{"five", NULL, &scope_port, {NULL}, "a", NULL, "x"},
		{"six seven", NULL, &scope_port, {&vt_uint, .min = 7, .max = 5}, "5", NULL, "x"},
	};
	static const struct arg_spec bad_args[] = {{ARG_WORD, "for", ARG_OPT},
						   {ARG_VALUE, "V"},
						   {ARG_REST, "x"},
						   {ARG_WORD, NULL},
						   {ARG_END}};
	static const struct verb bad_verbs[] = {{"v", "v,w", bad_args, "x", 0, run_text},
						{"w", NULL, NULL, NULL}};
	const struct setting *list[ARRAY_SIZE(bad)];
	const struct verb *vlist[] = {&bad_verbs[0], &bad_verbs[1]};
	static const struct cmd_host host = {NULL, NULL, h_nports, h_count, h_object};
	struct sbuf b = {0};
	static const char *const want[] = {"one: its alias repeats",
					   "one: its default does not parse",
					   "two: no help",
					   "two: \"two\" is also",
					   "two: no default",
					   "four: choice \"a\" twice",
					   "five: no type",
					   "six seven: a name is one plain",
					   "six seven: its limits",
					   "v: its alias repeats",
					   "v: argument 0: what follows",
					   "v: argument 1: a value without",
					   "v: argument 2 takes the rest",
					   "v: argument 3: a word",
					   "w: no help",
					   "w: nothing to run",
					   "w: \"w\" is also"};

	(void)state;
	if (cmd_table_check(lang, &b) != 0)
		fail_msg("%s", b.s);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
		list[i] = &bad[i];
	struct cmd *c = cmd_new(list, ARRAY_SIZE(bad), vlist, 2, &host);
	assert_true(cmd_table_check(c, &b) >= (int)ARRAY_SIZE(want));
	for (unsigned i = 0; i < ARRAY_SIZE(want); i++)
		if (strstr(b.s, want[i]) == NULL)
			fail_msg("not told: %s; told:\n%s", want[i], b.s);
	cmd_free(c);
	sbuf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_complete),
		T(test_help),
		T(test_dump),
		T(test_table_check),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
