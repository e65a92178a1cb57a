/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the program's tables of settings and verbs: they pass the language's own check, and what
 * people type finds its row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../cmd_objects.h"
#include "app.h"
#include "filebytes.h"
#include "frame_edit.h"
#include "set/set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two ports as the rows see them, without control. */
static struct port_cfg port[2];
static struct stream_cfg stream[2];
static struct cmd *cmd;

static const struct setting *more(void *arg, const char *name, struct err *e)
{
	(void)arg;
	(void)e;
	return set_row_named(name);
}

static int open_tables(void **state)
{
	unsigned ns, nv;
	const struct setting *const *settings = set_rows(&ns);
	const struct verb *const *verbs = cmd_verbs(&nv);
	static int global;
	static struct cmd_objects objects = {
		.nports = 2,
		.nstreams = 1,
		.global = &global,
		.port = port,
		.stream = stream,
		.port_bytes = sizeof(port[0]),
		.stream_bytes = sizeof(stream[0]),
	};
	struct cmd_host host = objects_host(&objects);

	(void)state;
	host.row = more;
	for (int i = 0; i < 2; i++) {
		ctl_cfg_init(&port[i]);
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
		struct set_obj obj;
		cmd_object(cmd, rows[i]->scope, 0, 0, &obj);
		if (rows[i]->scope == &scope_global || !set_applies(rows[i], &obj))
			continue;
		if (cmd_setting_text(cmd, rows[i], 0, 0, &text))
			fail_msg("%s is %s, its default is %s", rows[i]->name, sbuf_str(&text),
				 rows[i]->dflt);
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
	is("udp.dst", "80");
	is("tcp.dst", "5678");
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
	set("set 0 type ipv6");
	is("frame", "eth/vlan/ipv6/udp");
	set("set 0 proto icmp");
	is("frame", "eth/vlan/ipv6/icmpv6");
	set("set 0 type ipv4");
	is("frame", "eth/vlan/ipv4/icmp");
	set("set 0 with.vlan off");
	is("frame", "eth/ipv4/icmp");
	set("set 0 proto udp");
	set("set 0 dport 53");
	set("set 0 proto tcp");
	is("frame", "eth/ipv4/tcp");
	is("tcp.dst", "53");
	set("set 0 frame eth");
	set("set 0 proto udp");
	is("frame", "eth/ipv4/udp");
	set("set 0 frame eth/vlan");
	set("set 0 type vlan");
	is("frame", "eth/vlan/ipv4/udp");
	assert_int_equal(try("set 0 proto foo", &e), -EINVAL);
	is("frame", "eth/vlan/ipv4/udp");
	set("set 0 type arp");
	is("frame", "eth/vlan/arp");
	/* An edit that the frame cannot take is refused on all the ports that are named. */
	assert_int_equal(try("set 0,1 with.vxlan on", &e), -EINVAL);
	is("frame", "eth/vlan/arp");
	assert_false(frame_has_header(&stream[1].frame.stack, "vxlan"));
}

static void test_word_without_header(void **state)
{
	struct err e;

	(void)state;
	set("set 0 frame eth");
	assert_true(try("set 0 dport 80", &e) < 0);
	assert_non_null(strstr(e.text, "udp.dst"));
	assert_non_null(strstr(e.text, "tcp.dst"));
	/* A word with only one meaning may come before the frame. */
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

/* Any header up to the deepest stack has rows. They are made once, and are listed behind the
 * others. */
static void test_rows_on_demand(void **state)
{
	unsigned before, after;
	const struct setting *const *rows;

	(void)state;
	set_rows(&before);
	const struct setting *row = set_row_named("ipv4[64].src");
	assert_non_null(row);
	assert_ptr_equal(row, set_row_named("ipv4[64].src"));
	assert_ptr_equal(set_row_named("ipv4[1].src"), cmd_setting_find(cmd, "ipv4.src", NULL));
	assert_null(set_row_named("ipv4[65].src"));
	assert_null(set_row_named("ipv4[0].src"));
	assert_null(set_row_named("ipv4[2].sr"));
	assert_null(set_row_named("ipv9[2].src"));
	assert_null(set_row_named("ipv4[2]"));
	rows = set_rows(&after);
	assert_int_equal(after, before + 1);
	unsigned at = 0;
	while (at < after && rows[at] != row)
		at++;
	assert_true(at < after);
	/* The rows are sorted, whatever was asked for first. */
	const struct setting *third = set_row_named("ipv4[3].src"),
			     *second = set_row_named("ipv4[2].ttl");
	rows = set_rows(&after);
	for (at = 0; rows[at] != second; at++)
		assert_true(rows[at] != third && rows[at] != row);
	for (; rows[at] != third; at++)
		assert_true(rows[at] != row);
	set("set 0 ipv4[64].src 10.0.0.0/8");
	is("ipv4[64].src", "10.0.0.0/8");
}

static void offer(void *arg, const char *word, const char *help)
{
	(void)help;
	if (word != NULL)
		sbuf_addf(arg, "%s ", word);
}

static void completes(const char *line, const char *words)
{
	struct sbuf got = {0};
	int start;

	cmd_complete(cmd, line, (int)strlen(line), &start, offer, &got);
	assert_string_equal(sbuf_str(&got), words);
	sbuf_free(&got);
}

static void test_completion(void **state)
{
	(void)state;
	completes("set 0 vlan[3].v", "vlan[3].vid ");
	completes("set 0 vlan[3].p", "vlan[3].pcp ");
	completes("set 0 vlan[99].v", "");
	completes("set 0 reply.gtpu.t", "reply.gtpu.type reply.gtpu.teid ");
	completes("set 0 reply.mpls[2].l", "reply.mpls[2].label ");
	completes("set 0 reply.rat", ""); /* settings that are no fields have no answers */
	completes("set 0 reply.flow.s", "");
	completes("set 0 reply.gtpu.teid 1..5 ", "step from ");
	completes("set 0 udp.dst 1..5 ", "step from ");
	completes("set 0 udp.dst r", "random ");
	completes("set 0 udp.dst random r", "repeat ");
	completes("set 0 ipv4.src 10.0.0.0/8 f", "from ");
	completes("set 0 size im", "imix ");
	completes("set 0 nest udp.src,udp.d", "udp.src,udp.dst ");
	completes("set 0 pattern h", "hex ");
	completes("set 0 rnd.1 o", "off ");
}

static void test_variations(void **state)
{
	const struct frame_val *v;
	const struct proto *p = NULL;
	const struct field *f = NULL;
	unsigned nth = 0;

	(void)state;
	frame_field_parse("udp.dst", &p, &nth, &f, NULL);
	set("set 0 dport 1000..2000 step 4");
	is("udp.dst", "1000..2000 step 4");
	v = frame_vals_find(&stream[0].frame.vals, p, nth, f);
	assert_non_null(v->vary);
	assert_true(vary_at(v->vary, 2) == 1008);
	assert_int_equal(v->v[14] << 8 | v->v[15], 1000);
	set("set 0 udp.dst 9,8,7");
	is("udp.dst", "9,8,7");
	set("set 0 udp.dst 5..5");
	is("udp.dst", "5");
	assert_null(frame_vals_find(&stream[0].frame.vals, p, nth, f)->vary);
	assert_true(try("set 0 udp.dst 5..70000", NULL) < 0);
	is("udp.dst", "5");
	set("set 0 udp.dst default");
	assert_int_equal(stream[0].frame.vals.n, 0);
	set("set 0 src ip 192.168.0.1/24");
	is("ipv4.src", "192.168.0.1");
	set("set 0 src ip 192.168.0.0/24");
	is("ipv4.src", "192.168.0.0/24");
}

/* Each field can vary in several ways. What one stream shows of it, another one takes, and then it
 * shows the same. */
static void test_every_field_varies(void **state)
{
	static const char *const forms[] = {"random", "random repeat 5 seed 9", "%s..%s",
					    "list %s,%s", "%s mask %s"};
	unsigned n, varied = 0;
	const struct setting *const *rows = set_rows(&n);

	(void)state;
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; rows[i]->v.type == &vt_vary && rows[i]->resolve == NULL &&
				     k < ARRAY_SIZE(forms);
		     k++) {
			const struct vspec *of = rows[i]->v.of;
			const char *low = of->type == &vt_mac   ? "00:00:00:00:00:00"
					  : of->type == &vt_ip4 ? "0.0.0.0"
					  : of->type == &vt_ip6 ? "::"
								: "0";
			const char *high = of->type == &vt_mac   ? "00:00:00:00:00:01"
					   : of->type == &vt_ip4 ? "0.0.0.1"
					   : of->type == &vt_ip6 ? "::1"
								 : "1";
			struct sbuf line = {0}, first = {0}, second = {0};
			sbuf_addf(&line, "set 0 %s ", rows[i]->name);
			sbuf_addf(&line, forms[k], low, high);
			if (of->min != 0 && k >= 2)
				continue;
			set(line.s);
			cmd_setting_text(cmd, rows[i], 0, 0, &first);
			sbuf_reset(&line);
			sbuf_addf(&line, "set 1 %s %s", rows[i]->name, first.s);
			set(line.s);
			assert_true(cmd_setting_text(cmd, rows[i], 1, 0, &second));
			assert_string_equal(first.s, second.s);
			varied++;
			sbuf_free(&line);
			sbuf_free(&first);
			sbuf_free(&second);
		}
	}
	assert_true(varied > 100);
}

static void test_nest_rows(void **state)
{
	(void)state;
	set("set 0 nest tcp.dst,ipv4.src+eth[2].dst");
	is("nest", "tcp.dst,ipv4.src+eth[2].dst");
	assert_int_equal(stream[0].frame.nest.n, 3);
	assert_false(stream[0].frame.nest.at[1].same_digit);
	assert_true(stream[0].frame.nest.at[2].same_digit);
	assert_int_equal(stream[0].frame.nest.at[2].nth, 2);
	assert_true(try("set 0 nest tcp.dst,tcp.dst", NULL) < 0);
	is("nest", "tcp.dst,ipv4.src+eth[2].dst");
	set("set 0 nest default");
	assert_int_equal(stream[0].frame.nest.n, 0);
}

/* The files of requests and responses, which copies of a stream share. */
static void test_message_files(void **state)
{
	char name[] = "/tmp/wirerate_rows_XXXXXX", line[64];
	unsigned before = filebytes_count();
	struct stream_cfg copy;
	int fd = mkstemp(name);

	(void)state;
	assert_int_equal(write(fd, "GET\0", 4), 4);
	close(fd);
	snprintf(line, sizeof(line), "set 0,1 request.file %s", name);
	set(line);
	is("request.file", name);
	is("response.file", "none");
	assert_int_equal(filebytes_count(), before + 1);
	assert_ptr_equal(stream[0].request_file, stream[1].request_file);
	stream_cfg_copy(&copy, &stream[0]);
	assert_int_equal(truncate(name, 0), 0);
	assert_int_equal(try(line, NULL), -EINVAL);
	is("request.file", name);
	set("set 0,1 request.file none");
	is("request.file", "none");
	assert_memory_equal(copy.request_file->b, "GET\0", 4);
	stream_cfg_free(&copy);
	fd = open(name, O_WRONLY);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	snprintf(line, sizeof(line), "set 0 response.file %s", name);
	set(line); /* nobody else has what was read before */
	assert_int_equal(filebytes_count(), 1);
	set("set 0 response.file default");
	is("response.file", "none");
	unlink(name);
}

/* The bytes of the payload are typed or come from a file. What was set last counts. */
static void test_payload_bytes(void **state)
{
	char name[] = "/tmp/wirerate_rows_XXXXXX", line[64];
	uint8_t big[HEXBYTES_MAX + 1] = {0};
	struct err e;
	int fd = mkstemp(name);
	FILE *f = fdopen(fd, "wb");

	(void)state;
	fwrite("\x01\x02\n\0", 1, 4, f);
	fclose(f);
	set("set 0 pattern.hex 0a 0b");
	is("pattern.hex", "0a0b");
	snprintf(line, sizeof(line), "set 0 pattern.file %s", name);
	set(line);
	is("pattern.file", name);
	is("pattern.hex", "none");
	assert_int_equal(stream[0].frame.data->n, 4);
	assert_memory_equal(stream[0].frame.data->b, "\x01\x02\n\0", 4);
	set("set 0 pattern.hex default"); /* there are no typed bytes to take back */
	is("pattern.file", name);
	set("set 0 pattern.hex ff");
	is("pattern.file", "none");
	set("set 0 pattern.file default");
	is("pattern.hex", "ff");
	f = fopen(name, "wb");
	fwrite(big, 1, sizeof(big), f);
	fclose(f);
	assert_int_equal(try(line, &e), -ERANGE);
	assert_non_null(strstr(e.text, name));
	f = fopen(name, "wb");
	fclose(f);
	assert_int_equal(try(line, &e), -EINVAL);
	assert_non_null(strstr(e.text, "is empty"));
	unlink(name);
	assert_int_equal(try(line, &e), -EINVAL);
	is("pattern.hex", "ff");
	set("set 0 pattern.hex none");
	assert_null(stream[0].frame.data);
}

static void test_rnd_rows(void **state)
{
	const struct frame_rnd *r = &stream[0].frame.rnd[31];

	(void)state;
	set("set 0 rnd.31 42 01.Xx");
	is("rnd.31", "42 01.XX");
	assert_true(r->on && r->off == 42 && r->nbits == 5);
	assert_true(r->zero == 0x80000000 && r->one == 0x40000000 && r->rnd == 0x18000000);
	set("set 0 rnd.31 off");
	assert_false(r->on);
	set("set 0 rnd.0 0 11111111111111111111111111111111");
	assert_true(stream[0].frame.rnd[0].one == UINT32_MAX && stream[0].frame.rnd[0].nbits == 32);
}

static void test_stream_rows(void **state)
{
	(void)state;
	set("set 0/0 rate 3Gbps");
	assert_true(stream[0].rate.set && stream[0].rate.rate.kind == RATE_L1_BPS);
	assert_true(port[0].rate.kind == RATE_PERCENT);
	set("set 0 rate 5%");
	assert_true(port[0].rate.value == 5 && stream[0].rate.rate.kind == RATE_L1_BPS);
	set("set 0/0 rate none");
	assert_false(stream[0].rate.set);
	set("set 0/0 count 7");
	assert_true(stream[0].count == 7 && port[0].count == 0);
	set("set 0 weight 3");
	assert_int_equal(stream[0].weight, 3);
	set("set 0 enabled off");
	assert_false(stream[0].enabled);
	set("set 0 size 64:2,128");
	assert_int_equal(sizes_count(&stream[0].sizes), 3);
}

static void test_all_or_none(void **state)
{
	(void)state;
	set("set 1 frame eth/ipv4");
	/* port 1 has no such header, so port 0 stays as it is */
	assert_true(try("set all dport 7", NULL) < 0);
	assert_int_equal(stream[0].frame.vals.n, 0);
	assert_true(try("set 0 rate 10% 20%", NULL) < 0);
	is("rate", "100%");
}

/* The many names with a dot do not make shortened plain names ambiguous, and can be shortened
 * themselves. */
static void test_short_words(void **state)
{
	(void)state;
	set("set 0 pat zero");
	is("pattern", "zero");
	set("set 0 nes udp.src,udp.dst");
	is("nest", "udp.src,udp.dst");
	set("set 0 pattern.s 7");
	is("pattern.seed", "7");
	assert_true(try("set 0 ud 7", NULL) < 0);
}

/* Nothing that help says is wider than 120 columns. */
static void test_help_is_narrow(void **state)
{
	unsigned ns, nv, lines = 0;
	const struct setting *const *settings = set_rows(&ns);
	const struct verb *const *verbs = cmd_verbs(&nv);
	struct sbuf out = {0};

	(void)state;
	cmd_help(cmd, NULL, &out);
	for (unsigned i = 0; i < ns; i++)
		cmd_help(cmd, settings[i]->name, &out);
	for (unsigned i = 0; i < nv; i++)
		cmd_help(cmd, verbs[i]->name, &out);
	for (const char *p = out.s; *p != '\0'; lines++) {
		size_t n = strcspn(p, "\n");
		if (n > 120)
			fail_msg("%zu columns: %.*s", n, (int)n, p);
		p += n + (p[n] == '\n');
	}
	assert_true(lines > ns);
	sbuf_free(&out);
}

#define T(f) cmocka_unit_test_setup_teardown(f, open_tables, close_tables)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_sound),
		T(test_defaults_agree),
		T(test_pktgen_spellings),
		T(test_type_and_proto_edit_the_frame),
		T(test_word_without_header),
		T(test_nth_header),
		T(test_rows_on_demand),
		T(test_variations),
		T(test_every_field_varies),
		T(test_nest_rows),
		T(test_payload_bytes),
		T(test_message_files),
		T(test_rnd_rows),
		T(test_completion),
		T(test_stream_rows),
		T(test_all_or_none),
		T(test_short_words),
		T(test_help_is_narrow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
