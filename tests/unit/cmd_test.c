/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd_world.h"

#include <sys/stat.h>
#include <unistd.h>

static void splits(const char *line, const char *words)
{
	struct cmd_word w[16];
	char buf[256];
	struct err e;
	struct sbuf got = {0};

	int n = cmd_split(line, w, 16, buf, sizeof(buf), &e);
	if (n < 0)
		sbuf_addf(&got, "!%d %s", e.col, e.text);
	for (int i = 0; i < n; i++)
		sbuf_addf(&got, "%d:%s%s|", w[i].col, w[i].quoted ? "'" : "", w[i].text);
	if (strncmp(sbuf_str(&got), words, words[0] == '!' ? strlen(words) : 1000) != 0)
		fail_msg("%s: %s, expected %s", line, sbuf_str(&got), words);
	sbuf_free(&got);
}

static void test_split(void **state)
{
	(void)state;
	splits("set 0  rate\t10%", "0:set|4:0|7:rate|12:10%|");
	splits("", "");
	splits("  # nothing; at \"all", "");
	splits("a # b", "0:a|");
	splits("a#b", "0:a#b|");
	splits("lua 'print(\"a;b\")' x", "0:lua|4:'print(\"a;b\")|19:x|");
	splits("a \"q \\\" \\\\ \\n\" ''", "0:a|2:'q \" \\ \\n|15:'|");
	splits("lua {a {b} c}", "0:lua|4:'a {b} c|");
	splits("lua print(\"x\")", "0:lua|4:print(\"x\")|");
	splits("it's", "0:it's|");
	splits("lua {x\ny}", "0:lua|4:'x\ny|");
	splits("a\r\n", "0:a|");
	splits("a 'b", "!2 no closing '");
	splits("a {b", "!2 no closing }");
	splits("a 'b'c", "!5 a blank is wanted");
	splits("a ; b", "!2 \";\" separates");
	splits("a a a a a a a a a a a a a a a a a", "!32 more than 16 words");
}

static void test_next(void **state)
{
	static const char *const want[] = {"a 'x;y'", " b # c; d", "", "e {\n;}", " ", "f"};
	const char *text = "a 'x;y'; b # c; d\n\ne {\n;}; ;f";
	struct sbuf one = {0};
	unsigned n = 0;

	(void)state;
	while (cmd_next(&text, &one)) {
		assert_true(n < ARRAY_SIZE(want));
		assert_string_equal(sbuf_str(&one), want[n++]);
	}
	assert_int_equal(n, ARRAY_SIZE(want));
	text = "a 'open; b\nc";
	assert_true(cmd_next(&text, &one));
	assert_string_equal(one.s, "a 'open; b\nc");
	assert_false(cmd_next(&text, &one));
	sbuf_free(&one);
}

static void test_quote(void **state)
{
	static const char *const texts[] = {"plain", "",  "two words", "#x",   "a;b", "don't", "'", "\"",
					    "'\"\\", "{", "{a}",       "a\nb", "\\",  "x # y", " ", "a'b\\\\"};
	struct cmd_word w[2];
	char buf[64];
	struct sbuf q = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		sbuf_reset(&q);
		cmd_quote(texts[i], &q);
		assert_int_equal(cmd_split(q.s, w, 2, buf, sizeof(buf), NULL), 1);
		assert_string_equal(w[0].text, texts[i]);
	}
	sbuf_free(&q);
}

static void test_err_print(void **state)
{
	struct sbuf b = {0};
	struct err e = {.text = "bad", .col = 4};

	(void)state;
	cmd_err_print("set x y", &e, &b);
	assert_string_equal(b.s, "set x y\n    ^ bad\n");
	sbuf_reset(&b);
	cmd_err_print("a\n\tb x\ny", &(struct err){.text = "bad", .col = 5}, &b);
	assert_string_equal(b.s, "\tb x\n\t  ^ bad\n");
	sbuf_reset(&b);
	cmd_err_print("\xc3\xa4 x", &(struct err){.text = "bad", .col = 3}, &b);
	assert_string_equal(b.s, "\xc3\xa4 x\n  ^ bad\n");
	sbuf_reset(&b);
	cmd_err_print("a", &(struct err){.text = "bad", .col = -1}, &b);
	assert_string_equal(b.s, "bad\n");
	sbuf_reset(&b);
	cmd_err_print("a", &(struct err){.text = "bad", .col = 77}, &b);
	assert_string_equal(b.s, "bad\n");
	sbuf_free(&b);
}

static void test_set(void **state)
{
	(void)state;
	ok("set 0 rate 10%");
	assert_true(world.port[0].rate.kind == RATE_PERCENT && world.port[0].rate.value == 10);
	assert_true(world.port[1].rate.value == 100);
	assert_int_equal(changes, 1);
	ok("set all count 1M");
	assert_int_equal(world.port[0].count, 1000000);
	assert_int_equal(world.port[1].count, 1000000);
	ok("set 0,0,0-1,all txburst 64");
	assert_int_equal(changes, 1 + 2 + 2);
	assert_int_equal(world.port[1].burst, 64);
	ok("set ports_per_page 6");
	assert_int_equal(world.per_page, 6);
	ok("set 0 size 128");
	assert_int_equal(world.stream[0][0].size, 128);
	assert_int_equal(world.stream[0][1].size, 0);
	ok("set 0/1-2,1/all size 256");
	assert_int_equal(world.stream[0][0].size, 128);
	assert_int_equal(world.stream[0][2].size, 256);
	assert_int_equal(world.stream[1][0].size, 256);
	ok("set 0 user pattern hello  big world");
	assert_string_equal(world.stream[0][0].pattern, "hello big world");
	ok("set 0 pattern 'hello  # big'");
	assert_string_equal(world.stream[0][0].pattern, "hello  # big");
	ok("set 0 pattern ''");
	assert_string_equal(world.stream[0][0].pattern, "");
	ok("set 0 src port 99");
	assert_int_equal(world.stream[0][0].field[0][15], 99);
	ok("set 0 udp.src default");
	assert_false(world.stream[0][0].has[0]);
	ok("set 0 rate default");
	assert_true(world.port[0].rate.value == 100);
	ok("  set 0 promisc on # comment");
	assert_true(world.port[0].promisc);
	ok("se 1 cou 5");
	assert_int_equal(world.port[1].count, 5);
	ok("");
	ok("   # nothing");
}

/* Pktgen takes all of these (reference: number validation), or dies on them. */
static void test_slips(void **state)
{
	(void)state;
	refused("set 0 rate abc5", -EINVAL, 11, "rate: \"abc5\" is not a rate; allowed: 10% | 1.5Mpps");
	refused("set 0 rate -5", -EINVAL, 11, "negative");
	refused("set 0 rate 1e99", -EINVAL, 12, "\"e99\"");
	refused("set 0 rate 0", -ERANGE, 11, "above 0 to 100%");
	refused("set 0 rate 200", -ERANGE, 11, "above 0 to 100%");
	refused("set 0 rate 10 20", -EINVAL, 14, "more after the number");
	refused("set 0 rate  10   20", -EINVAL, 17, "more after the number");
	refused("set 0 rate '10 20'", -EINVAL, 15, "more after the number");
	refused("set 0 count abc5", -EINVAL, 12, "is not a number");
	refused("set 0 count -5", -EINVAL, 12, "negative");
	refused("set 0 burst 0", -ERANGE, 12, "1 to 512");
	refused("set 0 burst 513", -ERANGE, 12, "1 to 512");
	refused("set 0 size 63", -ERANGE, 11, "64 to 1518");
	refused("set 0 size 64..128", -ENOTSUP, 11, "not in this version");
	refused("set ports_per_page", -EINVAL, 18, "ports_per_page: the value is missing; allowed: N");
	refused("set ports_per_page 0", -ERANGE, 19, "1 to 6");
	refused("set 0 ports_per_page 4", -EINVAL, 6, "write: set ports_per_page <value>");
	refused("ping4 0", -ENOTSUP, 0, "ping4: not in this version");
	refused("set 0 latency 5", -ENOTSUP, 6, "latency: not in this version");
	refused("set", -EINVAL, 3, "setting is missing; syntax: set [<ports>] <setting> <value>");
	refused("set 0", -EINVAL, 5, "setting is missing");
	refused("set 0 rate", -EINVAL, 10, "rate: the value is missing; allowed: 10%");
	refused("set 0 rate   ", -EINVAL, 11, "rate: the value is missing; allowed: 10%");
	refused("set rate 10", -EINVAL, 4, "set <ports> rate <value>");
	refused("set -1 rate 10", -EINVAL, 4, "negative");
	refused("set 0x rate 10", -EINVAL, 5, "comma");
	refused("set 5 rate 10", -EINVAL, 4, "no port 5; there are ports 0 to 1");
	refused("set 0-5 rate 10", -EINVAL, 4, "no port 2; there are ports 0 to 1");
	refused("set 0/7 size 64", -EINVAL, 4, "no stream 0/7; port 0 has streams 0 to 2");
	refused("set 0/1 rate 10", -EINVAL, 8, "belongs to a port");
	refused("set 0 rte 10", -EINVAL, 6, "did you mean \"rate\"");
	refused("set 0 dst prot 5", -EINVAL, 6, "there is dst port");
	refused("set 0 zzzzzz 5", -EINVAL, 6, "no setting \"zzzzzz\"");
	refused("set 0 user 5", -EINVAL, 6, "there is user pattern");
	refused("set 0 p tcp", -EINVAL, 6, "ambiguous: promiscuous, proto, pattern");
	refused("sett 0 rate 10", -EINVAL, 0, "did you mean \"set\"");
	refused("xyzzy", -EINVAL, 0, "no command \"xyzzy\"");
	refused("s 0", -EINVAL, 0, "ambiguous");
	refused("set 0 rate 'x", -EINVAL, 11, "no closing '");
	refused("set 0 proto tpc", -EINVAL, 12, "did you mean \"tcp\"");
	refused("start", -EINVAL, 5, "ports is missing; syntax: start <ports> [for DURATION]");
	refused("start 7", -EINVAL, 6, "no port 7");
	refused("start 0 fro 5s", -EINVAL, 8, "unexpected \"fro\"; syntax: start <ports> [for DURATION]");
	refused("start 0 for", -EINVAL, 11, "DURATION is missing");
	refused("start 0 for 5", -EINVAL, 13, "has no unit");
	refused("start 0 for 5s now", -EINVAL, 15, "unexpected \"now\"");
	refused("start foo", -EINVAL, 6, "port list");
	refused("show stat s", -EINVAL, 10, "unexpected \"s\"");
	refused("show stast", -EINVAL, 5, "did you mean \"stats\"");
	refused("show", -EINVAL, 4, "what is missing; allowed: stats | rates | queues");
	refused("wait 0 abc", -EINVAL, 7, "is not a duration");
	refused("quit now", -EINVAL, 5, "unexpected \"now\"");
	refused("start 0; stop 0", -EINVAL, 7, "separates");
	nports = 0;
	refused("set all rate 10", -EINVAL, 4, "there is no port");
	refused("start all", -EINVAL, 6, "there is no port");
}

static void test_all_or_none(void **state)
{
	(void)state;
	busy_port = 1;
	refused("set all mtu 2000", -EBUSY, 4, "stop 1");
	ok("set all rate 50");
	world.stream[0][1].proto = 2;
	refused("set 0/all dport 5", -EINVAL, 4, "icmp has no ports");
	world.stream[0][1].proto = 1;
	/* a value that only one of the rows behind the alias takes */
	refused("set 0/all dst port 5000", -ERANGE, 19, "tcp.dst: \"5000\" is too large");
	ok("set 0/all dst port 500");
	assert_true(world.stream[0][0].has[1] && world.stream[0][1].has[2] && !world.stream[0][1].has[1]);
}

static void test_warnings(void **state)
{
	(void)state;
	ok("set 0/1,1 size 64");
	assert_string_equal(note.s, "warning: stream 0/1: size 64 is below the stack's 100 bytes\n"
				    "warning: port 1: size 64 is below the stack's 100 bytes\n");
	assert_int_equal(world.stream[1][0].size, 64);
	ok("set 0 size 100");
	assert_int_equal(note.len, 0);
}

static void test_verbs(void **state)
{
	struct err e;

	(void)state;
	ok("start 0-1 for 1.5ms");
	assert_int_equal(last_ports, 3);
	assert_string_equal(last_text, "for 1500000");
	ok("star all");
	assert_string_equal(last_text, "");
	ok("str 1");
	assert_int_equal(last_ports, 2);
	ok("show ra");
	assert_string_equal(last_text, "1 -");
	ok("show stats 0,1");
	assert_string_equal(last_text, "0 0,1");
	ok("lua print( 1,  'a' )");
	assert_string_equal(last_text, "print( 1, a )@4");
	ok("load a.cmd");
	assert_string_equal(last_text, "a.cmd@5");
	assert_int_equal(exec("exit", &e), 0);
	assert_int_equal(exec("q", &e), 0);
	assert_int_equal(exec("qu", &e), 0);
	assert_int_equal(exec("wait 0", &e), VERB_PENDING);
	assert_int_equal(cmd_poll(&run, &e), VERB_PENDING);
	cmd_cancel(&run);
	assert_int_equal(cmd_poll(&run, &e), VERB_DONE);
	assert_int_equal(polls, 2);
	assert_int_equal(cancels, 1);
	assert_int_equal(exec("", &e), 0);
	assert_int_equal(cmd_poll(&run, &e), VERB_DONE);
}

static void checked(const char *line, int rc, int col)
{
	struct err e = {.col = -1};
	struct world before = world;

	int got = cmd_check(lang, line, &e);
	if (got != rc || e.col != col)
		fail_msg("%s: %d at %d: %s", line, got, e.col, e.text);
	assert_memory_equal(&before, &world, sizeof(world));
}

static void test_check(void **state)
{
	(void)state;
	checked("set 0 rate 5", 0, -1);
	checked("set 0 rate abc", -EINVAL, 11);
	checked("set 7 rate 5", -EINVAL, 4);
	checked("start 0", 0, -1);
	checked("quit", -EINVAL, 0);
	/* earlier lines may change what this one means */
	world.stream[0][0].proto = 2;
	checked("set 0 dport 5", 0, -1);
	busy_port = 0;
	checked("set 0 mtu 2000", 0, -1);
	assert_int_equal(runs, 0);
}

static void test_setting_text(void **state)
{
	struct sbuf b = {0};
	struct target t;
	struct err e;

	(void)state;
	assert_false(cmd_setting_text(lang, &rows[R_RATE], 0, 0, &b));
	assert_string_equal(b.s, "100%");
	sbuf_reset(&b);
	assert_int_equal(target_parse("0", &t, NULL), 0);
	assert_int_equal(cmd_set(lang, &t, &rows[R_RATE], "1500kpps", NULL, &e), 0);
	assert_true(cmd_setting_text(lang, &rows[R_RATE], 0, 0, &b));
	assert_string_equal(b.s, "1.5Mpps");
	sbuf_reset(&b);
	assert_false(cmd_setting_text(lang, &rows[R_UDST], 0, 0, &b));
	assert_int_equal(cmd_set(lang, &t, &rows[R_DPORT], "0x50", NULL, &e), 0);
	sbuf_reset(&b);
	assert_true(cmd_setting_text(lang, &rows[R_UDST], 0, 0, &b));
	assert_string_equal(b.s, "80");
	sbuf_reset(&b);
	assert_false(cmd_setting_text(lang, &rows[R_DPORT], 0, 0, &b));
	assert_string_equal(b.s, "80");
	/* unset to the default and explicitly set to it are the same for plain rows */
	ok("set 0 rate 100");
	assert_false(cmd_setting_text(lang, &rows[R_RATE], 0, 0, &b));
	assert_int_equal(cmd_set(lang, NULL, &rows[R_PAGE], "3", NULL, &e), 0);
	assert_int_equal(cmd_set(lang, NULL, &rows[R_RATE], "3", NULL, &e), -EINVAL);
	assert_int_equal(cmd_set(lang, &t, &rows[R_RATE], "3 4", NULL, &e), -EINVAL);
	assert_int_equal(e.col, 2);
	assert_int_equal(target_parse("0,9", &t, NULL), 0);
	assert_int_equal(cmd_set(lang, &t, &rows[R_RATE], "3", NULL, &e), -EINVAL);
	assert_int_equal(e.col, -1);
	sbuf_free(&b);
}

static void test_find(void **state)
{
	struct err e;

	(void)state;
	assert_ptr_equal(cmd_setting_find(lang, "rate", &e), &rows[R_RATE]);
	assert_ptr_equal(cmd_setting_find(lang, "dst port", &e), &rows[R_DPORT]);
	assert_ptr_equal(cmd_setting_find(lang, "d p", &e), &rows[R_DPORT]);
	assert_ptr_equal(cmd_setting_find(lang, "ra", &e), &rows[R_RATE]);
	assert_null(cmd_setting_find(lang, "rate 5", &e));
	assert_null(cmd_setting_find(lang, "", &e));
	assert_null(cmd_setting_find(lang, "nothing", &e));
	assert_non_null(strstr(e.text, "no setting \"nothing\""));
	assert_int_equal(cmd_nsettings(lang), N_ROWS);
	assert_int_equal(cmd_nverbs(lang), ARRAY_SIZE(verbs));
	assert_null(cmd_setting_at(lang, N_ROWS));
	assert_null(cmd_verb_at(lang, 99));
}

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
		fail_msg("\"%s\": %s at %d, expected %s at %d", line, sbuf_str(&b), at, words, start);
	sbuf_free(&b);
}

static void test_complete(void **state)
{
	char dir[] = "/tmp/wr-cmd-test-XXXXXX", path[128], line[160], want[160];
	struct sbuf b = {0};
	int at;

	(void)state;
	completes("", 0, "set help start show wait lua load quit ");
	completes("st", 0, "start ");
	completes("str", 0, "str ");
	completes("start ", 6, "all 0 1 ");
	completes("start 0,", 6, "0,all 0,0 0,1 ");
	completes("start 0/", 6, "0/all 0/0 0/1 0/2 ");
	completes("start 0 ", 8, "for ");
	completes("start 0 for 10", 12, "10ns 10us 10ms 10s 10m 10h ");
	completes("start 0 for 10s ", 16, "");
	completes("show ", 5, "stats rates queues ");
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
	/* what stands there beside words */
	completes("set 0 rate ", 11, "max 1% 10% 50% 100% (rate: 10% | 1.5Mpps | 3Gbps[/l2] | max) ");
	completes("set 0 udp.dst ", 14, "(udp.dst: N or 0xHEX, 0 to 65535) ");
	completes("set 0 dport 7", 12, "");
	completes("wait 0 ", 7, "(DURATION: a number with ns, us, ms, s, m or h: 10s, 1.5ms) ");
	completes("set 0 rate 5; se", 14, "set ");
	completes("set 0 rate 5;", 13, "set help start show wait lua load quit ");
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
	assert_non_null(strstr(out.s, "start <ports> [for DURATION]"));
	assert_non_null(strstr(out.s, "Offered load."));
	assert_non_null(strstr(out.s, "\n  udp.src udp.dst\n  tcp.dst\n"));
	assert_null(strstr(out.s, "Pktgen's start"));
	assert_null(strstr(out.s, "latency"));
	assert_null(strstr(out.s, "vlan[2]"));
	ok("help burst");
	assert_string_equal(out.s,
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
	assert_string_equal(json_string_value(json_array_get(json_object_get(s, "aliases"), 0)), "txburst");
	assert_int_equal(json_integer_value(json_object_get(s, "max")), 512);
	assert_string_equal(json_string_value(json_object_get(s, "default")), "32");
	assert_string_equal(json_string_value(json_object_get(s, "scope")), "port");
	v = json_array_get(json_object_get(o, "commands"), 2);
	assert_string_equal(json_string_value(json_object_get(v, "usage")), "start <ports> [for DURATION]");
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
		{"one", "two,one", SCOPE_PORT, {&vt_uint, .min = 1, .max = 5}, "9", NULL, "x"},
		{"two", NULL, SCOPE_PORT, {&vt_uint}, "1", NULL, ""},
		{"two", NULL, SCOPE_STREAM, {&vt_uint}, NULL, NULL, "x"},
		{"four", NULL, SCOPE_PORT, {&vt_enum, .choices = twice}, "a", NULL, "x"},
		{"five", NULL, SCOPE_PORT, {NULL}, "a", NULL, "x"},
		{"six seven", NULL, SCOPE_PORT, {&vt_uint, .min = 7, .max = 5}, "5", NULL, "x"},
	};
	static const struct arg_spec bad_args[] = {
		{ARG_WORD, "for", ARG_OPT}, {ARG_VALUE, "V"}, {ARG_REST, "x"}, {ARG_WORD, NULL}, {ARG_END}};
	static const struct verb bad_verbs[] = {{"v", "v,w", bad_args, "x", 0, run_text}, {"w", NULL, NULL, NULL}};
	const struct setting *list[ARRAY_SIZE(bad)];
	const struct verb *vlist[] = {&bad_verbs[0], &bad_verbs[1]};
	static const struct cmd_host host = {NULL, h_nports, h_nstreams, h_object};
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
		T(test_split),    T(test_next),  T(test_quote),        T(test_err_print),
		T(test_set),      T(test_slips), T(test_all_or_none),  T(test_warnings),
		T(test_verbs),    T(test_check), T(test_setting_text), T(test_find),
		T(test_complete), T(test_help),  T(test_dump),         T(test_table_check),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
