/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's setting and verb tables: sound by the language's own check, and what people type finds its row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "app.h"
#include "set/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Two ports as the rows see them, without control. */
static struct port_cfg port[2];
static struct stream_cfg stream[2];
static struct cmd *cmd;

static unsigned nports(void *arg)
{
	(void)arg;
	return 2;
}

static unsigned nstreams(void *arg, unsigned p)
{
	(void)arg;
	(void)p;
	return 1;
}

static void *object(void *arg, enum cmd_scope scope, unsigned p, unsigned s)
{
	(void)s;
	return scope == SCOPE_PORT ? (void *)&port[p] : scope == SCOPE_STREAM ? (void *)&stream[p] : arg;
}

static int open_tables(void **state)
{
	unsigned ns, nv;
	const struct setting *const *settings = set_rows(&ns);
	const struct verb *const *verbs = cmd_verbs(&nv);
	static int global;
	struct cmd_host host = {.arg = &global, .nports = nports, .nstreams = nstreams, .object = object};

	(void)state;
	for (int i = 0; i < 2; i++) {
		port_cfg_init(&port[i]);
		stream_cfg_init(&stream[i]);
	}
	cmd = cmd_new(settings, ns, verbs, nv, &host);
	return 0;
}

static int close_tables(void **state)
{
	(void)state;
	cmd_free(cmd);
	for (int i = 0; i < 2; i++)
		stream_cfg_free(&stream[i]);
	return 0;
}

static int try(const char *line, struct err *e)
{
	struct sbuf out = {0}, note = {0};
	struct cmd_run *r = xcalloc(1, sizeof(*r));
	struct err own;

	r->out = &out;
	r->note = &note;
	int rc = cmd_exec(cmd, r, line, e != NULL ? e : &own);
	sbuf_free(&out);
	sbuf_free(&note);
	free(r);
	return rc;
}

static void set(const char *line)
{
	struct err e;

	if (try(line, &e) != 0)
		fail_msg("%s: %s", line, e.text);
}

static void is(const char *name, const char *want)
{
	struct err e;
	const struct setting *s = cmd_setting_find(cmd, name, &e);
	struct sbuf text = {0};

	if (s == NULL)
		fail_msg("%s: %s", name, e.text);
	cmd_setting_text(cmd, s, 0, 0, &text);
	assert_string_equal(sbuf_str(&text), want);
	sbuf_free(&text);
}

static void test_sound(void **state)
{
	struct sbuf problems = {0};
	int n = cmd_table_check(cmd, &problems);

	(void)state;
	if (n != 0)
		fail_msg("%s", sbuf_str(&problems));
	sbuf_free(&problems);
}

/* A fresh port holds what the rows say is the default. */
static void test_defaults_agree(void **state)
{
	unsigned n;
	const struct setting *const *rows = set_rows(&n);

	(void)state;
	for (unsigned i = 0; i < n; i++) {
		struct sbuf text = {0};
		const void *obj = rows[i]->scope == SCOPE_PORT ? (void *)&port[0] : (void *)&stream[0];
		if (rows[i]->scope == SCOPE_GLOBAL || !set_applies(rows[i], obj))
			continue;
		if (cmd_setting_text(cmd, rows[i], 0, 0, &text))
			fail_msg("%s is %s, its default is %s", rows[i]->name, sbuf_str(&text), rows[i]->dflt);
		sbuf_free(&text);
	}
}

static void test_pktgen_spellings(void **state)
{
	(void)state;
	set("set 0 txburst 16");
	is("burst", "16");
	set("set 0 dst ip 10.0.0.1");
	is("ipv4.dst", "10.0.0.1");
	set("set 0 src mac aabb:ccdd:eeff");
	is("eth.src", "aa:bb:cc:dd:ee:ff");
	set("set 0 dport 80");
	is("tcp.dst", "80");
	is("udp.dst", "5678");
	set("set 0 ttl 3");
	is("ipv4.ttl", "3");
	set("set 0 tcp flags syn,ack");
	is("tcp.flags", "syn,ack");
	set("set 0 user pattern hello");
	is("userpattern", "hello");
	set("set 0 idle busy");
	assert_true(port[0].idle_busy);
	set("set 0 idle auto");
	assert_false(port[0].idle_busy);
}

static void test_type_and_proto_edit_the_frame(void **state)
{
	struct err e;

	(void)state;
	set("set 0 proto udp");
	is("frame", "eth/ipv4/udp");
	set("set 0 type vlan");
	is("frame", "eth/vlan/ipv4/udp");
	set("set 0 type vlan");
	is("frame", "eth/vlan/ipv4/udp");
	set("set 0 dport 53");
	is("udp.dst", "53");
	set("set 0 type ipv4");
	is("frame", "eth/ipv4/udp");
	set("set 0 proto tcp");
	is("frame", "eth/ipv4/tcp");
	set("set 0 frame eth");
	set("set 0 proto udp");
	is("frame", "eth/ipv4/udp");
	set("set 0 frame eth/vlan");
	set("set 0 type vlan");
	is("frame", "eth/vlan/ipv4/tcp");
	assert_int_equal(try("set 0 proto icmp", &e), -ENOTSUP);
	assert_int_equal(try("set 0 type arp", &e), -ENOTSUP);
	assert_int_equal(try("set 0 proto foo", &e), -EINVAL);
	is("frame", "eth/vlan/ipv4/tcp");
}

static void test_word_without_header(void **state)
{
	struct err e;

	(void)state;
	set("set 0 frame eth");
	assert_true(try("set 0 dport 80", &e) < 0);
	assert_non_null(strstr(e.text, "udp.dst"));
	assert_non_null(strstr(e.text, "tcp.dst"));
	/* One meaning only: it may come before the frame. */
	set("set 0 vlan 7");
	is("vlan.vid", "7");
}

/* The second header of a kind has values of its own. */
static void test_nth_header(void **state)
{
	(void)state;
	set("set 0 frame eth/vlan/vlan/ipv4/udp");
	set("set 0 vlan 10");
	set("set 0 vlan[2].vid 20");
	is("vlan.vid", "10");
	is("vlan[2].vid", "20");
	set("set 0 vlan[2].vid default");
	is("vlan.vid", "10");
	assert_int_equal(stream[0].frame.vals.n, 1);
}

static void test_all_or_none(void **state)
{
	(void)state;
	set("set 1 frame eth/ipv4");
	assert_true(try("set all dport 7", NULL) < 0); /* port 1 has no such header, so port 0 stays as it is */
	assert_int_equal(stream[0].frame.vals.n, 0);
	assert_true(try("set 0 rate 10% 20%", NULL) < 0);
	is("rate", "100%");
}

#define T(f) cmocka_unit_test_setup_teardown(f, open_tables, close_tables)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_sound), T(test_defaults_agree), T(test_pktgen_spellings), T(test_type_and_proto_edit_the_frame),
		T(test_word_without_header), T(test_nth_header), T(test_all_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
