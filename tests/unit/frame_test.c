/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how frames are described, built and dissected. Some of the frames have bytes that are known
 * from elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

#define ANY_SIZE (FRAME_MAX_LEN + FRAME_FCS)

/* Sets values by a text "field=value ...". */
static void set_vals(struct frame_vals *a, const char *text)
{
	char buf[512], *save = NULL;
	struct err e;

	snprintf(buf, sizeof(buf), "%s", text);
	for (char *w = strtok_r(buf, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
		char *eq = strchr(w, '=');
		assert_non_null(eq);
		*eq = '\0';
		if (frame_vals_parse(a, w, eq + 1, &e) != 0)
			fail_msg("%s: %s", w, e.text);
	}
}

static int build(const char *stack, const char *vals, unsigned size, struct frame *f, struct err *e)
{
	struct frame_spec spec = {.size = (uint16_t)size};
	struct frame_vals dflt = {0};

	assert_int_equal(frame_stack_parse(stack, &spec.stack, NULL), 0);
	set_vals(&spec.vals, vals);
	set_vals(
		&dflt,
		"eth.dst=02:77:72:00:00:01 eth.src=02:77:72:00:00:00 ipv4.src=192.168.0.1 ipv4.dst=192.168.1.1");
	int rc = frame_build(&spec, &dflt, ANY_SIZE, f, e);
	frame_vals_free(&spec.vals);
	frame_vals_free(&dflt);
	return rc;
}

static void must_build(const char *stack, const char *vals, unsigned size, struct frame *f)
{
	struct err e;

	if (build(stack, vals, size, f, &e) != 0)
		fail_msg("%s %s %u: %s", stack, vals, size, e.text);
}

static void expect_hex(const struct frame *f, const char *hex)
{
	struct sbuf got = {0};

	for (unsigned i = 0; i < f->len; i++)
		sbuf_addf(&got, "%02x", f->bytes[i]);
	assert_string_equal(sbuf_str(&got), hex);
	sbuf_free(&got);
}

static unsigned be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static json_t *dissected(const struct frame *f)
{
	return frame_dissect(f->bytes, f->len);
}

static json_t *field_of(json_t *j, unsigned hdr, const char *name)
{
	return json_object_get(json_object_get(json_array_get(json_object_get(j, "headers"), hdr),
					       "fields"),
			       name);
}

static void stacks_print_as_they_were_read(void **state)
{
	static const char *const texts[] = {"eth", "eth/ipv4", "eth/ipv4/udp",
					    "eth/vlan/vlan/vlan/ipv4/tcp",
					    "eth/ipv4/ipv4/ipv4/udp"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		struct frame_stack s, with_payload;
		struct sbuf out = {0};
		char longer[64];

		assert_int_equal(frame_stack_parse(texts[i], &s, NULL), 0);
		frame_stack_print(&s, &out);
		assert_string_equal(sbuf_str(&out), texts[i]);
		snprintf(longer, sizeof(longer), "%s/payload", texts[i]);
		assert_int_equal(frame_stack_parse(longer, &with_payload, NULL), 0);
		assert_int_equal(with_payload.n, s.n);
		assert_memory_equal(with_payload.hdr, s.hdr, s.n * sizeof(s.hdr[0]));
		sbuf_free(&out);
	}
}

static void wrong_stacks_are_refused_with_column_and_help(void **state)
{
	static const struct {
		const char *text;
		int col;
		const char *says;
	} wrong[] = {
		{"", 0, "possible here: eth"},
		{"ipv4/udp", 0, "may start with: eth"},
		{"eth/ipv5/udp", 4, "did you mean ipv4"},
		{"eth/ipv4/upd", 9, "did you mean udp"},
		{"eth/udp", 4,
		 "udp cannot follow eth; after eth may come: vlan qinq mpls arp ipv4 ipv6 pppoe llc payload"},
		{"eth/ipv4/udp/tcp", 13, "after udp may come: mpls vxlan geneve gtpu bfd payload"},
		{"eth//ipv4", 4, "missing"},
		{"eth/", 4, "missing"},
		{"eth/payload/ipv4", 12, "fills the rest"},
		{"eth/ ipv4", 4, "joined by"},
		{"eth ipv4", 3, "joined by"},
		{"eth/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 4, "so long"},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct frame_stack s = {.n = 7};
		struct err e = {.col = -2};
		assert_int_equal(frame_stack_parse(wrong[i].text, &s, &e), -EINVAL);
		if (strstr(e.text, wrong[i].says) == NULL || e.col != wrong[i].col)
			fail_msg("\"%s\": column %d, %s", wrong[i].text, e.col, e.text);
		assert_int_equal(s.n, 7);
	}
}

static void stacks_end_at_the_limit_of_headers(void **state)
{
	struct sbuf t = {0};
	struct frame_stack s;
	struct err e;

	(void)state;
	sbuf_add(&t, "eth");
	for (unsigned i = 1; i < FRAME_MAX_HDRS; i++)
		sbuf_add(&t, "/vlan");
	assert_int_equal(frame_stack_parse(sbuf_str(&t), &s, &e), 0);
	assert_int_equal(s.n, FRAME_MAX_HDRS);
	sbuf_add(&t, "/payload");
	assert_int_equal(frame_stack_parse(sbuf_str(&t), &s, &e), 0);
	t.len -= strlen("/payload");
	sbuf_add(&t, "/vlan");
	assert_int_equal(frame_stack_parse(sbuf_str(&t), &s, &e), -EINVAL);
	assert_non_null(strstr(e.text, "at most 64"));
	sbuf_free(&t);
}

static void collect(void *arg, const char *word)
{
	sbuf_addf(arg, "%s ", word);
}

static void completion_follows_the_bindings(void **state)
{
	static const struct {
		const char *text, *offers;
	} cases[] = {
		{"", "eth "},
		{"eth/",
		 "eth/vlan eth/qinq eth/mpls eth/arp eth/ipv4 eth/ipv6 eth/pppoe eth/llc eth/payload "},
		{"eth/v", "eth/vlan "},
		{"eth/l", "eth/llc "},
		{"eth",
		 "eth eth/vlan eth/qinq eth/mpls eth/arp eth/ipv4 eth/ipv6 eth/pppoe eth/llc eth/payload "},
		{"eth/ipv4/u", "eth/ipv4/udp "},
		{"eth/ipv4/esp/", "eth/ipv4/esp/payload "},
		{"eth/payload/", ""},
		{"eth/payload", "eth/payload "},
		{"eth/zzz/", ""},
		{"udp", ""},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sbuf got = {0};
		frame_stack_complete(cases[i].text, collect, &got);
		assert_string_equal(sbuf_str(&got), cases[i].offers);
		sbuf_free(&got);
	}
}

static void field_names_are_read(void **state)
{
	const struct proto *p;
	const struct field *f;
	unsigned nth;
	struct err e;

	(void)state;
	assert_int_equal(frame_field_parse("udp.dst", &p, &nth, &f, &e), 0);
	assert_true(p == proto_find("udp") && f == proto_field(p, "dst") && nth == 1);
	assert_int_equal(frame_field_parse("ipv4[12].src", &p, &nth, &f, &e), 0);
	assert_int_equal(nth, 12);
	static const struct {
		const char *text;
		int col;
		const char *says;
	} wrong[] = {
		{"udpp.dst", 0, "did you mean udp"},
		{"udp.dts", 4, "did you mean dst"},
		{"udp", 3, "dot"},
		{"ipv4[0].src", 5, "1..64"},
		{"ipv4[65].src", 5, "1..64"},
		{"ipv4[].src", 5, "1..64"},
		{"ipv4[4294967297].src", 5, "1..64"},
		{"ipv4[2.src", 5, "]"},
		{"ipv4[2]src", 7, "dot"},
		{"payload.x", 8, "it has: none"},
		{"", 0, "unknown header"},
		{"ipv4[-1].src", 5, "1..64"},
	};
	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(frame_field_parse(wrong[i].text, &p, &nth, &f, &e), -EINVAL);
		if (strstr(e.text, wrong[i].says) == NULL || e.col != wrong[i].col)
			fail_msg("\"%s\": column %d, %s", wrong[i].text, e.col, e.text);
	}
}

static void values_are_set_replaced_and_removed(void **state)
{
	struct frame_vals a = {0}, b = {0};
	const struct proto *ip = proto_find("ipv4");
	const struct field *ttl = proto_field(ip, "ttl"), *id = proto_field(ip, "id");
	uint8_t v[VT_FIELD_BYTES] = {0};

	(void)state;
	for (unsigned nth = 1; nth <= 20; nth++) {
		v[15] = (uint8_t)nth;
		frame_vals_set(&a, ip, nth, ttl, v);
	}
	v[15] = 99;
	frame_vals_set(&a, ip, 7, ttl, v);
	assert_int_equal(a.n, 20);
	assert_int_equal(frame_vals_find(&a, ip, 7, ttl)->v[15], 99);
	assert_int_equal(frame_vals_find(&a, ip, 8, ttl)->v[15], 8);
	assert_null(frame_vals_find(&a, ip, 7, id));
	frame_vals_copy(&b, &a);
	assert_true(frame_vals_unset(&a, ip, 1, ttl));
	assert_false(frame_vals_unset(&a, ip, 1, ttl));
	assert_int_equal(a.n, 19);
	assert_int_equal(frame_vals_find(&a, ip, 20, ttl)->v[15], 20);
	assert_int_equal(frame_vals_find(&b, ip, 1, ttl)->v[15], 1);
	frame_vals_copy(&b, &a);
	assert_int_equal(b.n, 19);
	frame_vals_free(&a);
	frame_vals_copy(&b, &a);
	assert_int_equal(b.n, 0);
	frame_vals_free(&b);
}

/* Frames have the bytes that another implementation makes of the same description. */
static void frames_have_the_bytes_known_from_elsewhere(void **state)
{
	struct frame f;

	(void)state;
	must_build("eth/vlan/ipv4/udp", "", 64, &f);
	expect_hex(
		&f,
		"0277720000010277720000008100000108004500002a000000004011f870c0a80001c0a8010104d2162e00168e94"
		"6162636465666768696a6b6c6d6e");
	must_build("eth/ipv4/tcp", "", 0, &f);
	expect_hex(
		&f,
		"02777200000102777200000008004500002e000000004006f877c0a80001c0a8010104d2162e00012378000123905010"
		"200081440000616263646566");
}

static void sizes_are_checked_and_auto_fits_the_stack(void **state)
{
	struct frame_spec spec = {0};
	struct frame f;
	struct err e;

	(void)state;
	must_build("eth/ipv4/udp", "", 0, &f);
	assert_int_equal(f.len, 60);
	must_build("eth/vlan/vlan/vlan/ipv4/tcp", "", 0, &f);
	assert_int_equal(f.len, 66);
	must_build("eth/ipv4/udp", "", ANY_SIZE, &f);
	assert_int_equal(f.len, FRAME_MAX_LEN);
	assert_int_equal(be16(f.bytes + 16), FRAME_MAX_LEN - 14);
	assert_int_equal(build("eth/vlan/vlan/vlan/ipv4/tcp", "", 64, &f, &e), -EINVAL);
	assert_non_null(strstr(e.text, "smallest is 70"));
	assert_int_equal(build("eth/ipv4/udp", "", 63, &f, &e), -EINVAL);
	assert_non_null(strstr(e.text, "64"));
	assert_int_equal(build("eth/ipv4/udp", "", ANY_SIZE + 1, &f, &e), -EINVAL);
	assert_non_null(strstr(e.text, "16384"));
	assert_int_equal(frame_stack_parse("eth/ipv4/udp", &spec.stack, &e), 0);
	spec.size = 1519;
	assert_int_equal(frame_build(&spec, NULL, 1518, &f, &e), -EINVAL);
	assert_non_null(strstr(e.text, "up to 1518"));
	assert_non_null(strstr(e.text, "mtu 1501"));
	spec.size = 1518;
	assert_int_equal(frame_build(&spec, NULL, 1518, &f, &e), 0);
	spec.stack.n = 0;
	assert_int_equal(frame_build(&spec, NULL, 1518, &f, &e), -EINVAL);
}

static void dissection_finds_what_was_built(void **state)
{
	static const char *const stacks[] = {"eth",
					     "eth/vlan",
					     "eth/ipv4",
					     "eth/ipv4/udp",
					     "eth/ipv4/tcp",
					     "eth/vlan/ipv4/udp",
					     "eth/vlan/vlan/ipv4/tcp",
					     "eth/ipv4/ipv4",
					     "eth/ipv4/ipv4/udp",
					     "eth/vlan/ipv4/ipv4/ipv4/tcp"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++) {
		for (unsigned size = 0; size < 260; size += size == 0 ? 118 : 1) {
			struct frame f;
			size_t k;
			json_t *h;

			must_build(stacks[i], "", size, &f);
			json_t *j = dissected(&f);
			assert_string_equal(json_string_value(json_object_get(j, "stack")),
					    stacks[i]);
			assert_int_equal(json_integer_value(json_object_get(j, "size")), f.len + 4);
			assert_null(json_object_get(j, "padding"));
			json_array_foreach(json_object_get(j, "headers"), k, h) {
				assert_int_equal(json_integer_value(json_object_get(h, "offset")),
						 f.off[k]);
				assert_null(json_object_get(h, "malformed"));
				if (field_of(j, (unsigned)k, "cksum") != NULL)
					assert_true(
						json_is_true(field_of(j, (unsigned)k, "cksum_ok")));
			}
			json_decref(j);
		}
	}
}

static void dissection_shows_values(void **state)
{
	struct frame f;

	(void)state;
	must_build(
		"eth/vlan/ipv4/tcp",
		"vlan.vid=4095 vlan.pcp=5 ipv4.src=10.1.2.3 tcp.flags=syn,ack tcp.seq=4294967295 eth.src=0a:0b:0c:0d:0e:0f",
		0, &f);
	json_t *j = dissected(&f);
	assert_string_equal(json_string_value(field_of(j, 0, "src")), "0a:0b:0c:0d:0e:0f");
	assert_int_equal(json_integer_value(field_of(j, 0, "type")), 0x8100);
	assert_int_equal(json_integer_value(field_of(j, 1, "vid")), 4095);
	assert_int_equal(json_integer_value(field_of(j, 1, "pcp")), 5);
	assert_string_equal(json_string_value(field_of(j, 2, "src")), "10.1.2.3");
	assert_int_equal(json_integer_value(field_of(j, 2, "ttl")), 64);
	assert_string_equal(json_string_value(field_of(j, 3, "flags")), "syn,ack");
	assert_int_equal(json_integer_value(field_of(j, 3, "seq")), 4294967295);
	json_decref(j);
}

static void values_are_taken_before_defaults(void **state)
{
	struct frame f;

	(void)state;
	must_build("eth/ipv4/ipv4/udp",
		   "ipv4.dst=1.1.1.1 ipv4[2].src=2.2.2.2 ipv4[2].ttl=7 ipv4[3].ttl=9 tcp.dst=1", 0,
		   &f);
	json_t *j = dissected(&f);
	assert_string_equal(json_string_value(field_of(j, 1, "src")), "192.168.0.1");
	assert_string_equal(json_string_value(field_of(j, 1, "dst")), "1.1.1.1");
	assert_int_equal(json_integer_value(field_of(j, 1, "ttl")), 64);
	assert_string_equal(json_string_value(field_of(j, 2, "src")), "2.2.2.2");
	assert_string_equal(json_string_value(field_of(j, 2, "dst")), "192.168.1.1");
	assert_int_equal(json_integer_value(field_of(j, 2, "ttl")), 7);
	assert_int_equal(json_integer_value(field_of(j, 3, "dst")), 5678);
	json_decref(j);
}

/* A field that is set wrong on purpose stays so. The others are what they would have been, and
 * checksums are over what is there. */
static void overrides_are_taken_as_they_are(void **state)
{
	static const struct {
		const char *val;
		unsigned off, value;
	} cases[] = {
		{"eth.type=0x86dd", 12, 0x86dd}, {"ipv4.len=20", 16, 20},
		{"ipv4.len=65535", 16, 65535},   {"ipv4.cksum=0", 24, 0},
		{"ipv4.cksum=0xbad", 24, 0xbad}, {"udp.len=3", 38, 3},
		{"udp.cksum=0", 40, 0},          {"udp.cksum=0xdead", 40, 0xdead},
	};
	struct frame plain;

	(void)state;
	must_build("eth/ipv4/udp", "", 99, &plain);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct frame f;
		unsigned differ = 0;

		must_build("eth/ipv4/udp", cases[i].val, 99, &f);
		assert_int_equal(f.len, 95);
		assert_int_equal(be16(f.bytes + cases[i].off), cases[i].value);
		for (unsigned at = 0; at < f.len; at += 2)
			differ += memcmp(f.bytes + at, plain.bytes + at, at + 2 <= f.len ? 2 : 1) !=
				  0;
		/* Only the field itself differs, and at most the one checksum that covers it. */
		assert_in_range(differ, 1, 2);
	}
}

static void wrong_checksums_and_lengths_are_seen(void **state)
{
	static const struct {
		const char *vals;
		unsigned hdr;
		const char *malformed;
		int ip_ok, udp_ok; /* -1: not judged */
	} cases[] = {
		{"ipv4.cksum=1", 1, NULL, 0, 1},
		{"udp.cksum=1", 2, NULL, 1, 0},
		{"udp.cksum=0", 2, NULL, 1, -1},
		{"ipv4.len=9999", 1, "beyond the frame", 1, -1},
		{"udp.len=9999", 2, "beyond the frame", 1, -1},
		{"udp.len=7", 2, "below", 1, -1},
		{"ipv4.flags=mf", 1, NULL, 1, -1},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct frame f;
		int ok[2];

		must_build("eth/ipv4/udp", cases[i].vals, 80, &f);
		json_t *j = dissected(&f);
		for (unsigned k = 0; k < 2; k++) {
			json_t *o = field_of(j, k + 1, "cksum_ok");
			ok[k] = o == NULL ? -1 : json_is_true(o);
		}
		json_t *why =
			json_object_get(json_array_get(json_object_get(j, "headers"), cases[i].hdr),
					"malformed");
		if (ok[0] != cases[i].ip_ok || ok[1] != cases[i].udp_ok ||
		    (why != NULL) != (cases[i].malformed != NULL))
			fail_msg("%s: ipv4 %d udp %d", cases[i].vals, ok[0], ok[1]);
		if (why != NULL)
			assert_non_null(strstr(json_string_value(why), cases[i].malformed));
		json_decref(j);
	}
}

static void what_cannot_be_headers_is_payload(void **state)
{
	static const struct {
		const char *vals, *stack;
	} cases[] = {
		{"eth.type=0x9999", "eth"},  {"ipv4.version=6", "eth/ipv4"},
		{"ipv4.ihl=4", "eth/ipv4"},  {"ipv4.ihl=15", "eth/ipv4"},
		{"ipv4.frag=1", "eth/ipv4"}, {"ipv4.proto=99", "eth/ipv4"},
		{"ipv4.len=19", "eth/ipv4"}, {"ipv4.len=22", "eth/ipv4"},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct frame f;
		must_build("eth/ipv4/udp", cases[i].vals, 64, &f);
		json_t *j = dissected(&f);
		if (strcmp(json_string_value(json_object_get(j, "stack")), cases[i].stack) != 0)
			fail_msg("%s: %s", cases[i].vals,
				 json_string_value(json_object_get(j, "stack")));
		json_decref(j);
	}
}

/* A short segment is dissected as a host sends it: with IPv4 options, TCP options, and padding up
 * to the minimum behind the length. */
static void options_and_padding_are_told_apart(void **state)
{
	uint8_t b[] = {2,    0, 0, 0, 0, 1,  2, 0, 0, 0,  0,    2, 8, 0,  0x46, 0, 0,
		       48,   0, 0, 0, 0, 64, 6, 0, 0, 10, 0,    0, 1, 10, 0,    0, 2,
		       0x94, 4, 0, 0, 0, 80, 1, 0, 0, 0,  0,    1, 0, 0,  0,    0, 0x60,
		       2,    1, 0, 0, 0, 0,  0, 2, 4, 5,  0xb4, 0, 0, 0,  0};

	(void)state;
	json_t *j = frame_dissect(b, sizeof(b));
	json_t *hdrs = json_object_get(j, "headers");
	assert_string_equal(json_string_value(json_object_get(j, "stack")), "eth/ipv4/tcp");
	assert_string_equal(json_string_value(json_object_get(json_array_get(hdrs, 1), "options")),
			    "94040000");
	assert_string_equal(json_string_value(json_object_get(json_array_get(hdrs, 2), "options")),
			    "020405b4");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "payload"), "len")),
			 0);
	assert_int_equal(json_integer_value(
				 json_object_get(json_object_get(j, "padding"), "offset")),
			 62);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "padding"), "len")),
			 4);
	json_decref(j);
}

/* Roles serve a tunnel like those of later protocols: named by the lower header's port, with a
 * length that counts from behind a part of the header, and with a checksum of its own, which the
 * outer one covers. */
static void roles_serve_headers_of_any_kind(void **state)
{
	static const struct field fields[] = {
		{.name = "hlen", .role = ROLE_HLEN, .bits = 8, .len_from = 4, .len_unit = 4},
		{.name = "len",
		 .role = ROLE_LEN,
		 .bit = 8,
		 .bits = 8,
		 .len_from = 8,
		 .len_unit = 4},
		{.name = "cksum", .role = ROLE_SUM_L4, .bit = 16, .bits = 16},
		{.name = "rest", .bit = 32, .bits = 32},
		{0},
	};
	static const struct bind binds[] = {{.lower = "udp", .value = 4789, .field = "dst"}, {0}};
	static const struct proto tunnel = {.name = "tunnel",
					    .len = 8,
					    .fields = fields,
					    .binds = binds};
	struct frame_spec spec = {.size = 80};
	struct frame f;
	uint32_t sum = 0;

	(void)state;
	assert_int_equal(frame_stack_parse("eth/ipv4/udp", &spec.stack, NULL), 0);
	spec.stack.hdr[spec.stack.n++] = &tunnel;
	assert_int_equal(frame_build(&spec, NULL, ANY_SIZE, &f, NULL), 0);
	assert_int_equal(be16(f.bytes + 36), 4789);
	assert_int_equal(f.bytes[42], 1);
	assert_int_equal(f.bytes[43], (76 - 42 - 8 + 3) / 4);
	for (unsigned at = 42; at < 76; at += 2)
		sum += be16(f.bytes + at);
	assert_int_equal(sum % 0xffff, 0);
	json_t *j = dissected(&f);
	assert_true(json_is_true(field_of(j, 2, "cksum_ok")));
	json_decref(j);
	set_vals(&spec.vals, "udp.dst=99");
	assert_int_equal(frame_build(&spec, NULL, ANY_SIZE, &f, NULL), 0);
	assert_int_equal(be16(f.bytes + 36), 99);
	frame_vals_free(&spec.vals);
	spec.size = 2000;
	/* A length of 8 bits ends at 255 * 4. */
	assert_int_equal(frame_build(&spec, NULL, ANY_SIZE, &f, NULL), -EINVAL);
}

static void a_udp_checksum_of_zero_is_sent_as_ones(void **state)
{
	unsigned hits = 0;

	(void)state;
	/* One of 65536 values of a field that the sum covers must bring it to zero. */
	for (unsigned port = 0; port < 65536; port++) {
		char val[32];
		struct frame f;
		snprintf(val, sizeof(val), "udp.src=%u", port);
		must_build("eth/ipv4/udp", val, 65, &f);
		assert_int_not_equal(be16(f.bytes + 40), 0);
		if (be16(f.bytes + 40) == 0xffff) {
			json_t *j = dissected(&f);
			assert_true(json_is_true(field_of(j, 2, "cksum_ok")));
			json_decref(j);
			hits++;
		}
	}
	assert_int_equal(hits, 1);
}

static void payload_patterns_fill_to_the_end(void **state)
{
	struct frame_spec spec = {.size = 120};
	struct frame f;
	struct err e;
	const unsigned at = 42;

	(void)state;
	assert_int_equal(frame_stack_parse("eth/ipv4/udp", &spec.stack, NULL), 0);
	memset(f.bytes, 0xee, sizeof(f.bytes));
	assert_int_equal(frame_build(&spec, NULL, 1518, &f, &e), 0);
	assert_memory_equal(
		f.bytes + at,
		"abcdefghijklmnopqrstuvwxyz012345abcdefghijklmnopqrstuvwxyz012345abcdefghij", 74);
	assert_int_equal(f.bytes[f.len], 0xee);
	spec.fill = FILL_USER;
	assert_int_equal(frame_build(&spec, NULL, 1518, &f, &e), -EINVAL);
	strcpy(spec.user, "xyz");
	assert_int_equal(frame_build(&spec, NULL, 1518, &f, &e), 0);
	for (unsigned i = 0; i < 74; i++)
		assert_int_equal(f.bytes[at + i], "xyz"[i % 3]);
	memset(spec.user, 'q', sizeof(spec.user)); /* there is no end of string */
	assert_int_equal(frame_build(&spec, NULL, 1518, &f, &e), 0);
	for (unsigned i = at; i < f.len; i++)
		assert_int_equal(f.bytes[i], 'q');
	spec.fill = FILL_ZERO;
	assert_int_equal(frame_build(&spec, NULL, 1518, &f, &e), 0);
	for (unsigned i = at; i < f.len; i++)
		assert_int_equal(f.bytes[i], 0);
}

static void printing_shows_headers_and_bytes(void **state)
{
	static const char *const lines[] = {
		"64 bytes with FCS\n",
		"eth         0  dst 02:77:72:00:00:01  src 02:77:72:00:00:00  type 0x0800\n",
		"ipv4       14  version 4  ihl 5",
		"proto 17  cksum 0x0001 (bad)\n               src 192.168.0.1  dst 192.168.1.1\n",
		"udp        34  src 1234  dst 5678  len 26  cksum 0x0000 (none)\n",
		"payload    42  18 bytes\n",
		"0000  02 77 72 00 00 01 02 77  72 00 00 00 08 00 45 00  .wr....wr.....E.\n",
		"0030  67 68 69 6a 6b 6c 6d 6e  6f 70 71 72              ghijklmnopqr\n",
	};
	struct sbuf out = {0};
	struct frame f;

	(void)state;
	must_build("eth/ipv4/udp", "ipv4.cksum=1 udp.cksum=0", 64, &f);
	frame_print(f.bytes, f.len, &out);
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++)
		if (strstr(sbuf_str(&out), lines[i]) == NULL)
			fail_msg("no \"%s\" in\n%s", lines[i], sbuf_str(&out));
	sbuf_free(&out);
}

static void any_bytes_are_dissected_without_harm(void **state)
{
	struct frame f;

	(void)state;
	srand(2);
	must_build("eth/vlan/ipv4/ipv4/tcp", "", 0, &f);
	for (unsigned round = 0; round < 3000; round++) {
		unsigned len = (unsigned)rand() % (f.len + 1u);
		/* There are exactly len bytes on the heap, so that the sanitizer sees a byte too
		 * many. */
		uint8_t *copy = malloc(len + 1);
		struct sbuf out = {0};

		memcpy(copy, f.bytes, len);
		for (unsigned k = (unsigned)rand() % 4; k > 0 && len > 0; k--)
			copy[(unsigned)rand() % len] = (uint8_t)rand();
		copy = realloc(copy, len != 0 ? len : 1);
		json_t *j = frame_dissect(copy, len);
		json_t *payload = json_object_get(j, "payload"),
		       *padding = json_object_get(j, "padding");
		json_int_t end = json_integer_value(json_object_get(payload, "offset")) +
				 json_integer_value(json_object_get(payload, "len"));
		if (padding != NULL)
			end += json_integer_value(json_object_get(padding, "len"));
		assert_int_equal(end, len);
		frame_print(copy, len, &out);
		sbuf_free(&out);
		json_decref(j);
		free(copy);
	}
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_print_as_they_were_read),
		cmocka_unit_test(wrong_stacks_are_refused_with_column_and_help),
		cmocka_unit_test(stacks_end_at_the_limit_of_headers),
		cmocka_unit_test(completion_follows_the_bindings),
		cmocka_unit_test(field_names_are_read),
		cmocka_unit_test(values_are_set_replaced_and_removed),
		cmocka_unit_test(frames_have_the_bytes_known_from_elsewhere),
		cmocka_unit_test(sizes_are_checked_and_auto_fits_the_stack),
		cmocka_unit_test(dissection_finds_what_was_built),
		cmocka_unit_test(dissection_shows_values),
		cmocka_unit_test(values_are_taken_before_defaults),
		cmocka_unit_test(overrides_are_taken_as_they_are),
		cmocka_unit_test(wrong_checksums_and_lengths_are_seen),
		cmocka_unit_test(what_cannot_be_headers_is_payload),
		cmocka_unit_test(options_and_padding_are_told_apart),
		cmocka_unit_test(roles_serve_headers_of_any_kind),
		cmocka_unit_test(a_udp_checksum_of_zero_is_sent_as_ones),
		cmocka_unit_test(payload_patterns_fill_to_the_end),
		cmocka_unit_test(printing_shows_headers_and_bytes),
		cmocka_unit_test(any_bytes_are_dissected_without_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
