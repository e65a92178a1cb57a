/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the command language without a session: how lines are split into commands and words, how
 * errors are shown, and `set` and verbs in the program of cmd_world.h. */
#include "cmd_world.h"

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

/* Each command comes with the line of its first word, as errors name it. */
static void test_next_command(void **state)
{
	static const struct {
		const char *text;
		unsigned long at;
	} want[] = {{"a 1", 0}, {"b {x\n}", 2}, {"c", 3}, {"d # e; f", 5}, {"g", 7}};
	const char *text = "  a 1\n# no; no\n b {x\n}; ;c;#\n;\nd # e; f\n \n\tg";
	struct sbuf one = {0};
	unsigned long line = 0, at = 99;
	unsigned n = 0;

	(void)state;
	while (cmd_next_command(&text, &line, &one, &at)) {
		assert_true(n < ARRAY_SIZE(want));
		assert_string_equal(one.s, want[n].text);
		assert_int_equal(at, want[n++].at);
	}
	assert_int_equal(n, ARRAY_SIZE(want));
	assert_int_equal(line, 7);
	text = " # nothing\n;;";
	assert_false(cmd_next_command(&text, &line, &one, &at));
	text = "\nwirerate>\n wirerate> # no\nwirerate> ;";
	assert_false(cmd_next_command(&text, &line, &one, &at));
	sbuf_free(&one);
}

/* Text that was copied from a screen has prompts in it, which are passed over. Nothing else that
 * looks like a prompt is. */
static void test_prompts(void **state)
{
	static const struct {
		const char *text, *one;
		unsigned long at;
	} want[] = {
		{"wirerate> a 1", "a 1", 0},
		{"  wirerate>\ta", "a", 0},
		{"wirerate>\nwirerate> a\nb", "a", 1},
		{"wirerate> wirerate> a", "a", 0},
		{"a wirerate> b", "a wirerate> b", 0},
		{"wirerate>a", "wirerate>a", 0},
		{"wirerate", "wirerate", 0},
		{"wirerate >", "wirerate >", 0},
		{"wirerate> a {\nwirerate> b}", "a {\nwirerate> b}", 0},
		{"'wirerate>' a", "'wirerate>' a", 0},
		{"# x\nwirerate> a", "a", 1},
	};
	struct sbuf one = {0};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(want); i++) {
		const char *text = want[i].text;
		unsigned long line = 0, at = 99;
		assert_true(cmd_next_command(&text, &line, &one, &at));
		assert_string_equal(one.s, want[i].one);
		assert_int_equal(at, want[i].at);
	}
	assert_string_equal(cmd_past_prompt(" wirerate> set 0"), "set 0");
	assert_string_equal(cmd_past_prompt(" set 0"), "set 0");
	sbuf_free(&one);
}

static void test_err_print_at(void **state)
{
	struct sbuf b = {0};

	(void)state;
	cmd_err_print_at("f.cmd:7", "set x y", &(struct err){.text = "bad", .col = 4}, &b);
	assert_string_equal(b.s, "f.cmd:7: set x y\n             ^ bad\n");
	sbuf_reset(&b);
	cmd_err_print_at("f.cmd:7", "lua {a\nb c\nd}", &(struct err){.text = "bad", .col = 9}, &b);
	assert_string_equal(b.s, "f.cmd:8: b c\n           ^ bad\n");
	sbuf_reset(&b);
	cmd_err_print_at("f.cmd:7", "set x y", &(struct err){.text = "bad", .col = -1}, &b);
	assert_string_equal(b.s, "f.cmd:7: bad\n");
	sbuf_free(&b);
	char *where = cmd_where("stdin", 3);
	assert_string_equal(where, "stdin");
	free(where);
}

static void test_quote(void **state)
{
	static const char *const texts[] = {"plain", "",      "two words", "#x",     "a;b", "don't",
					    "'",     "\"",    "'\"\\",     "{",      "{a}", "a\nb",
					    "\\",    "x # y", " ",         "a'b\\\\"};
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

/* Pktgen takes all of these for numbers, or dies on them. */
static void test_slips(void **state)
{
	(void)state;
	refused("set 0 rate abc5", -EINVAL, 11,
		"rate: \"abc5\" is not a rate; allowed: 10% | 1.5Mpps");
	refused("set 0 rate -5", -EINVAL, 11, "negative");
	refused("set 0 rate 1e99", -ERANGE, 11, "too many digits");
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
	refused("set 0 size 64..128", -EINVAL, 13,
		"which is not a unit; allowed: bytes with FCS or auto, 64 to 1518");
	refused("set ports_per_page", -EINVAL, 18,
		"ports_per_page: the value is missing; allowed: N");
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
	refused("set 0/1,2 size 64", -EINVAL, 4,
		"no port 2; streams of one port are written with it each time: 0/1,0/2");
	refused("set 0/7 size 64", -EINVAL, 4, "no stream 0/7; port 0 has streams 0-2");
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
	refused("start 0 fro 5s", -EINVAL, 8,
		"unexpected \"fro\"; syntax: start <ports> [for DURATION]");
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
	/* Only one of the rows behind the alias takes this value. */
	refused("set 0/all dst port 5000", -ERANGE, 19, "tcp.dst: \"5000\" is too large");
	ok("set 0/all dst port 500");
	assert_true(world.stream[0][0].has[1] && world.stream[0][1].has[2] &&
		    !world.stream[0][1].has[1]);
}

/* The numbers of streams stay, so some in between may be missing. */
static void test_holes(void **state)
{
	struct sbuf b = {0};

	(void)state;
	world.hole[0][1] = world.hole[1][0] = true;
	ok("set 0/all size 100");
	assert_int_equal(changes, 2);
	ok("set 0/0-2 size 101");
	assert_int_equal(changes, 4);
	ok("set all/1-2 size 102"); /* 0/2, 1/1, 1/2 */
	assert_int_equal(changes, 7);
	assert_int_equal(world.stream[0][1].size, 0);
	ok("show stats 0/1-2");
	refused("set 0/1 size 99", -EINVAL, 4, "no stream 0/1; port 0 has streams 0, 2");
	refused("set 0/0,0/1 size 99", -EINVAL, 4, "no stream 0/1");
	refused("set 0/2-3 size 99", -EINVAL, 4, "no stream 0/3; port 0 has streams 0, 2");
	refused("set 1 size 99", -EINVAL, 4, "no stream 1/0; port 1 has streams 1-2");
	refused("set all size 99", -EINVAL, 4, "no stream 1/0");
	refused("show stats 0/1", -EINVAL, 11, "no stream 0/1");
	world.hole[0][2] = true;
	refused("set 0/1-2 size 99", -EINVAL, 4, "no stream 0/1; port 0 has stream 0");
	world.hole[0][0] = true;
	refused("set 0/all size 99", -EINVAL, 4, "port 0 has no stream");
	ok("set 0 rate 5");
	cmd_streams_text(lang, 1, &b);
	assert_string_equal(b.s, "1-2");
	sbuf_free(&b);
}

/* A line that is only looked at may name streams that a line before it makes. */
static void test_check_before_streams(void **state)
{
	struct err e;

	(void)state;
	world.hole[0][1] = true;
	assert_int_equal(cmd_check(lang, "set 0/1,1/7-9 size 100", &e), 0);
	assert_int_equal(cmd_check(lang, "set 0/1 size 5", &e), -ERANGE);
	assert_int_equal(cmd_check(lang, "set 2/1 size 100", &e), -EINVAL);
	assert_non_null(strstr(e.text, "no port 2"));
	assert_int_equal(cmd_check(lang, "stream delete 0/7", &e), 0);
	assert_int_equal(cmd_check(lang, "quit now", &e), -EINVAL);
	assert_non_null(strstr(e.text, "quit is not allowed in a file that is loaded"));
}

/* Verbs may have two words, and may name streams that they are to make. */
static void test_two_words(void **state)
{
	(void)state;
	ok("stream add 0");
	assert_string_equal(last_text, "0 -1 -");
	ok("stream add 0,1 4 like 1/2");
	assert_string_equal(last_text, "0,1 4 1/2");
	ok("strea a 0/7-9 l 0/1");
	assert_string_equal(last_text, "0/7-9 -1 0/1");
	ok("stream d 0/1");
	refused("stream add 9/0", -EINVAL, 11, "no port 9");
	refused("stream add 0 like 0/7", -EINVAL, 18, "no stream 0/7");
	refused("stream add 0 like", -EINVAL, 17,
		"stream is missing; syntax: stream add <ports> [N] [like <stream>]");
	refused("stream delete 0/7", -EINVAL, 14, "no stream 0/7");
	refused("stream", -EINVAL, 6, "a word is missing; allowed: add | delete");
	refused("stream ad", -EINVAL, 9, "ports is missing; syntax: stream add");
	refused("stream del", -EINVAL, 10, "ports is missing; syntax: stream delete");
	refused("stream foo 0", -EINVAL, 7,
		"\"foo\" is not what \"stream\" can do; allowed: add | delete");
	refused("streem add", -EINVAL, 0, "did you mean \"stream\"");
	refused("st a 0", -EINVAL, 0, "ambiguous: start, stream add");
	/* The name of one verb goes on where that of another ends. */
	ok("show page main 2");
	assert_string_equal(last_text, "main 2@10");
	ok("sh pa main");
	assert_string_equal(last_text, "main@6");
	ok("sh stats 0");
	refused("show page", -EINVAL, 9, "CHUNK is missing; syntax: show page");
	refused("show pag2", -EINVAL, 5, "allowed: stats | rates | queues");
	ok("help stream");
	assert_non_null(strstr(out.s, "stream add <ports> [N] [like <stream>]\n  Make streams."));
	assert_non_null(strstr(out.s, "stream delete"));
	ok("help stream d");
	assert_null(strstr(out.s, "Make streams."));
}

/* The host knows names beyond the table, but only exactly as they are written. */
static void test_rows_of_the_host(void **state)
{
	(void)state;
	ok("set 0 ipv4[3].ttl 200");
	assert_int_equal(world.stream[0][0].field[1][15], 200);
	refused("set 0 ipv4[3].ttl 256", -ERANGE, 18, "ipv4[3].ttl");
	refused("set 0 ipv4[3].tt 25", -EINVAL, 6, "no setting");
	refused("set 0 ipv4[2].ttl 25", -EINVAL, 6, "no setting");
	ok("help ipv4[9].ttl");
	assert_non_null(strstr(out.s, "set <streams> ipv4[9].ttl <value>"));
}

/* An exact name means that row, whatever it is a prefix of. Names go before aliases, and the
 * longest alias before others; then the scope of the targets decides. */
static void test_exact_names(void **state)
{
	static const struct setting r[] = {
		{"mac", "a b", &scope_port, {&vt_uint}, "0", NULL, "x"},
		{"macs", "mac", &scope_stream, {&vt_uint}, "0", NULL, "x"},
		{"a", "b  c", &scope_stream, {&vt_uint}, "0", NULL, "x"},
		{"size", NULL, &scope_port, {&vt_uint}, "0", NULL, "x"},
		{"size", NULL, &scope_stream, {&vt_uint}, "0", NULL, "x"},
	};
	const struct setting *list[ARRAY_SIZE(r)];
	static const struct verb v1 = {"go", NULL, NULL, "x", 0, run_text},
				 v2 = {"gone", "g o", NULL, "x", 0, run_text};
	static const struct verb *const v[] = {&v1, &v2};
	struct err e;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(r); i++)
		list[i] = &r[i];
	struct cmd *c = cmd_new(list, ARRAY_SIZE(r), v, 2, NULL);
	assert_ptr_equal(cmd_setting_find(c, "mac", &e), &r[0]);
	assert_ptr_equal(cmd_setting_find(c, "macs", &e), &r[1]);
	assert_ptr_equal(cmd_setting_find(c, "a b", &e), &r[0]);
	assert_ptr_equal(cmd_setting_find(c, "a", &e), &r[2]);
	assert_ptr_equal(cmd_setting_find(c, "b c", &e), &r[2]);
	assert_ptr_equal(cmd_setting_find(c, "  b    c ", &e), &r[2]);
	assert_ptr_equal(cmd_setting_find(c, "size", &e), &r[3]);
	assert_null(cmd_setting_find(c, "b", &e));
	assert_null(cmd_setting_find(c, "a b c", &e));
	cmd_free(c);
	assert_int_equal(exec("set 0 size 100", &e), 0);
}

static void test_warnings(void **state)
{
	(void)state;
	ok("set 0/all,1/1 size 64");
	assert_string_equal(note.s,
			    "warning: streams 0/0-2: size 64 is below the stack's 100 bytes\n"
			    "warning: stream 1/1: size 64 is below the stack's 100 bytes\n");
	ok("set all/all size default");
	ok("set 0/1,1 size 64");
	assert_string_equal(note.s, "warning: stream 0/1: size 64 is below the stack's 100 bytes\n"
				    "warning: port 1: size 64 is below the stack's 100 bytes\n");
	assert_int_equal(world.stream[1][0].size, 64);
	ok("set 0 size 100");
	assert_int_equal(note.len, 0);
	/* Those who run many lines check by themselves what the lines come to. */
	cmd_hold_checks(lang, true);
	ok("set 0 size 64");
	assert_int_equal(note.len, 0);
	cmd_hold_checks(lang, false);
	ok("set 0 size 64");
	assert_true(note.len > 0);
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
	/* Lines before this one may change what it means. */
	world.stream[0][0].proto = 2;
	checked("set 0 dport 5", 0, -1);
	busy_port = 0;
	checked("set 0 mtu 2000", 0, -1);
	assert_int_equal(runs, 0);
}

static void test_progress(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} spans[] = {
		{0, "0.0 s"},
		{49999999, "0.0 s"},
		{50000000, "0.1 s"},
		{9949999999, "9.9 s"},
		{9950000000, "10 s"},
		{59499999999, "59 s"},
		{59500000000, "1 min 0 s"},
		{3599499999999, "59 min 59 s"},
		{3599500000000, "1 h 0 min"},
		{90000000000000, "25 h 0 min"},
	};
	struct cmd_progress p = {.left_ns = CMD_LEFT_UNKNOWN};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(spans); i++) {
		struct sbuf text = {0};
		cmd_progress_span(spans[i].ns, &text);
		assert_string_equal(text.s, spans[i].text);
		sbuf_free(&text);
	}
	cmd_progress_time(&p, 250, 1000);
	assert_true(p.share == 0.25 && p.left_ns == 750);
	cmd_progress_time(&p, 1001, 1000);
	assert_true(p.share == 1 && p.left_ns == 0);
	cmd_progress_time(&p, 0, 0);
	assert_true(p.share == 1 && p.left_ns == 0);
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
	assert_int_equal(target_parse("0", NULL, &t, NULL), 0);
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
	/* For plain rows it is the same whether they are at their default or were set to it. */
	ok("set 0 rate 100");
	assert_false(cmd_setting_text(lang, &rows[R_RATE], 0, 0, &b));
	assert_int_equal(cmd_set(lang, NULL, &rows[R_PAGE], "3", NULL, &e), 0);
	assert_int_equal(cmd_set(lang, NULL, &rows[R_RATE], "3", NULL, &e), -EINVAL);
	assert_int_equal(cmd_set(lang, &t, &rows[R_RATE], "3 4", NULL, &e), -EINVAL);
	assert_int_equal(e.col, 2);
	assert_int_equal(target_parse("0,9", NULL, &t, NULL), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_split),
		T(test_next),
		T(test_next_command),
		T(test_prompts),
		T(test_err_print_at),
		T(test_quote),
		T(test_err_print),
		T(test_set),
		T(test_slips),
		T(test_all_or_none),
		T(test_warnings),
		T(test_holes),
		T(test_check_before_streams),
		T(test_two_words),
		T(test_rows_of_the_host),
		T(test_exact_names),
		T(test_verbs),
		T(test_check),
		T(test_setting_text),
		T(test_find),
		T(test_progress),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
