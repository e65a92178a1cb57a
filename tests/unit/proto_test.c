/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "proto.h"

#define EACH_PROTO(p) for (const struct proto *const *p = proto_table; *p != NULL; p++)
#define EACH_FIELD(f, p) for (const struct field *f = (p)->fields; f->name != NULL; f++)

static void every_protocol_is_found_by_its_name(void **state)
{
	static const char *const names[] = { "eth", "vlan", "ipv4", "udp", "tcp", "payload" };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		const struct proto *p = proto_find(names[i]);
		assert_non_null(p);
		assert_string_equal(p->name, names[i]);
	}
	assert_null(proto_find("ipv5"));
	assert_null(proto_find(""));
	EACH_PROTO(p)
		assert_ptr_equal(proto_find((*p)->name), *p);
}

static void fields_tile_the_header(void **state)
{
	(void)state;
	EACH_PROTO(p) {
		unsigned bit = 0;
		EACH_FIELD(f, *p) {
			assert_int_equal(f->bit, bit);
			assert_in_range(f->bits, 1, VT_FIELD_BYTES * 8);
			bit += f->bits;
		}
		assert_int_equal(bit, (*p)->len * 8);
	}
}

static void rows_are_complete_and_sound(void **state)
{
	(void)state;
	EACH_PROTO(p) {
		assert_non_null((*p)->help);
		EACH_FIELD(f, *p) {
			assert_non_null(f->help);
			assert_non_null(f->since);
			assert_ptr_equal(proto_field(*p, f->name), f);
			if (f->role == ROLE_SUM_HDR || f->role == ROLE_SUM_L4) {
				/* The sum takes words from the header's start. */
				assert_int_equal(f->bits, 16);
				assert_int_equal(f->bit % 16, 0);
			}
			if (f->role == ROLE_VERSION)
				assert_non_null(f->dflt);
			if (f->kind == FIELD_FLAGS) {
				unsigned n = 0;
				while (f->choices[n] != NULL)
					n++;
				assert_int_equal(n, f->bits);
			}
		}
		if ((*p)->has_pseudo) {
			assert_non_null(proto_field(*p, "src"));
			assert_non_null(proto_field(*p, "dst"));
		}
	}
}

static void defaults_parse_and_fit(void **state)
{
	(void)state;
	EACH_PROTO(p) EACH_FIELD(f, *p) {
		struct vspec spec;
		struct err e;
		uint8_t v[VT_FIELD_BYTES], back[VT_FIELD_BYTES], hdr[64] = {0};

		proto_vspec(f, &spec);
		assert_non_null(spec.type);
		assert_int_equal(spec.type->size, VT_FIELD_BYTES);
		assert_int_equal(spec.bits, f->bits);
		if (f->dflt == NULL)
			continue;
		if (spec.type->parse(&spec, f->dflt, v, &e) != 0)
			fail_msg("%s.%s: %s", (*p)->name, f->name, e.text);
		proto_put(f, hdr, v);
		proto_get(f, hdr, back);
		assert_memory_equal(v, back, sizeof(v));
	}
}

static void bindings_name_protocols_and_fit_their_field(void **state)
{
	(void)state;
	EACH_PROTO(p) {
		bool reachable = (*p)->starts;
		for (const struct bind *b = (*p)->binds; b->lower != NULL; b++) {
			const struct proto *lower = proto_find(b->lower);
			assert_non_null(lower);
			assert_ptr_equal(proto_bind(lower, *p), b);
			const struct field *f = proto_bind_field(lower, b);
			if (b->field != NULL)
				assert_non_null(f);
			if (f != NULL)
				assert_int_equal(b->value >> f->bits, 0);
			reachable = true;
		}
		assert_true(reachable);
	}
}

/* Two headers with the same number above one header could not be told apart by the dissector. */
static void bindings_are_unambiguous(void **state)
{
	(void)state;
	EACH_PROTO(p) EACH_PROTO(q) {
		for (const struct bind *a = (*p)->binds; p != q && a->lower != NULL; a++) {
			const struct proto *lower = proto_find(a->lower);
			const struct bind *b = proto_bind(lower, *q);
			if (b != NULL && proto_bind_field(lower, a) != NULL && proto_bind_field(lower, a) == proto_bind_field(lower, b))
				assert_int_not_equal(a->value, b->value);
		}
	}
}

static void binding_values_are_the_assigned_numbers(void **state)
{
	static const struct { const char *lower, *upper; uint64_t value; } known[] = {
		{ "eth", "vlan", 0x8100 }, { "eth", "ipv4", 0x0800 }, { "vlan", "ipv4", 0x0800 }, { "vlan", "vlan", 0x8100 },
		{ "ipv4", "ipv4", 4 },	   { "ipv4", "tcp", 6 },      { "ipv4", "udp", 17 },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(known); i++) {
		const struct bind *b = proto_bind(proto_find(known[i].lower), proto_find(known[i].upper));
		assert_non_null(b);
		assert_int_equal(b->value, known[i].value);
	}
	assert_null(proto_bind(proto_find("eth"), proto_find("udp")));
	assert_null(proto_bind(proto_find("udp"), proto_find("ipv4")));
	assert_null(proto_bind(proto_find("payload"), proto_find("payload")));
}

/* One bit at a time, the slow and obvious way. */
static void slow_put(const struct field *f, uint8_t *hdr, const uint8_t *v)
{
	for (unsigned i = 0; i < f->bits; i++) {
		unsigned to = f->bit + i, from = VT_FIELD_BYTES * 8 - f->bits + i;
		uint8_t mask = (uint8_t)(0x80 >> to % 8);
		hdr[to / 8] &= (uint8_t)~mask;
		if (v[from / 8] >> (7 - from % 8) & 1)
			hdr[to / 8] |= mask;
	}
}

static void any_run_of_bits_is_written_and_read_back(void **state)
{
	(void)state;
	srand(1);
	for (unsigned bits = 1; bits <= VT_FIELD_BYTES * 8; bits++) {
		for (unsigned bit = 0; bit < 17; bit++) {
			struct field f = { .name = "x", .bit = (uint16_t)bit, .bits = (uint16_t)bits };
			uint8_t fast[24], slow[24], v[VT_FIELD_BYTES], want[VT_FIELD_BYTES], got[VT_FIELD_BYTES];

			for (unsigned i = 0; i < sizeof(fast); i++)
				fast[i] = slow[i] = (uint8_t)rand();
			for (unsigned i = 0; i < sizeof(v); i++)
				v[i] = (uint8_t)rand();
			proto_put(&f, fast, v);
			slow_put(&f, slow, v);
			assert_memory_equal(fast, slow, sizeof(fast));
			for (unsigned i = 0; i < sizeof(v); i++) {
				unsigned keep = i * 8 + 8 + bits > 128 ? i * 8 + 8 + bits - 128 : 0;
				want[i] = keep >= 8 ? v[i] : (uint8_t)(v[i] & ((1u << keep) - 1));
			}
			proto_get(&f, fast, got);
			assert_memory_equal(got, want, sizeof(want));
		}
	}
}

static void numbers_are_big_endian(void **state)
{
	const struct field *port = proto_field(proto_find("udp"), "dst");
	const struct field *vid = proto_field(proto_find("vlan"), "vid");
	uint8_t hdr[8] = {0};

	(void)state;
	proto_put_u64(port, hdr, 0x1234);
	assert_int_equal(hdr[2], 0x12);
	assert_int_equal(hdr[3], 0x34);
	assert_int_equal(proto_get_u64(port, hdr), 0x1234);
	memset(hdr, 0xff, sizeof(hdr));
	proto_put_u64(vid, hdr, 0);
	assert_int_equal(hdr[0], 0xf0);
	assert_int_equal(hdr[1], 0);
	assert_int_equal(hdr[2], 0xff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_protocol_is_found_by_its_name),
		cmocka_unit_test(fields_tile_the_header),
		cmocka_unit_test(rows_are_complete_and_sound),
		cmocka_unit_test(defaults_parse_and_fit),
		cmocka_unit_test(bindings_name_protocols_and_fit_their_field),
		cmocka_unit_test(bindings_are_unambiguous),
		cmocka_unit_test(binding_values_are_the_assigned_numbers),
		cmocka_unit_test(any_run_of_bits_is_written_and_read_back),
		cmocka_unit_test(numbers_are_big_endian),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
