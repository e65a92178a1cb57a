/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the protocol tables: all rows are complete and fit together, and fields of any bits are
 * written and read back. */
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
	static const char *const names[] = {"eth",     "vlan", "qinq",    "mpls",   "arp",
					    "ipv4",    "ipv6", "ipv6hbh", "ipv6rt", "ipv6frag",
					    "ipv6dst", "icmp", "icmpv6",  "igmp",   "udp",
					    "tcp",     "sctp", "gre",     "vxlan",  "geneve",
					    "gtpu",    "bfd",  "pppoe",   "esp",    "ah",
					    "llc",     "snap", "payload"};

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

/* Returns true when the conditions of two fields exclude each other, so that both may have the same
 * bits. */
static bool exclude(const struct field *f, const struct field *g)
{
	if (f->when.field == NULL || g->when.field == NULL ||
	    strcmp(f->when.field, g->when.field) != 0)
		return false;
	for (unsigned v = 0; v < 256; v++)
		if (cond_has(&f->when, v) && cond_has(&g->when, v))
			return false;
	return true;
}

static bool has_bytes(const struct proto *p, const struct section *section)
{
	EACH_FIELD(f, p)
		if (f->section == section && f->kind == FIELD_BYTES)
			return true;
	return false;
}

static void fields_lie_inside_and_do_not_overlap(void **state)
{
	(void)state;
	EACH_PROTO(p)
		EACH_FIELD(f, *p) {
			unsigned len = f->section != NULL ? f->section->len : (*p)->len;
			if (f->section != NULL && has_bytes(*p, f->section) && f->bit >= len * 8) {
				/* the field is a view of bytes */
				assert_int_equal((f->bit + f->bits) % 8, 0);
				continue;
			}
			if (f->bit + f->bits > len * 8)
				fail_msg("%s.%s ends behind its %s", (*p)->name, f->name,
					 f->section != NULL ? "part" : "header");
			if (f->section != NULL && f->bits != 0)
				assert_in_range(f->bit, f->section->head_len * 8, len * 8);
			for (const struct field *g = (*p)->fields; g < f; g++) {
				if (g->section == f->section && g->bit < f->bit + f->bits &&
				    f->bit < g->bit + g->bits && !exclude(f, g))
					fail_msg("%s.%s and %s overlap", (*p)->name, f->name,
						 g->name);
			}
		}
}

/* Bits of the fixed bytes without a name could never be set. If fields depend on a type, some
 * message of it may leave some bits free. */
static void fields_without_condition_leave_no_holes(void **state)
{
	(void)state;
	EACH_PROTO(p) {
		bool named[64 * 8] = {0}, some = false;
		EACH_FIELD(f, *p) {
			for (unsigned b = 0; f->section == NULL && b < f->bits; b++)
				named[f->bit + b] = true;
			some |= f->when.field != NULL;
		}
		for (unsigned b = 0; b < (*p)->len * 8u; b++)
			if (!named[b])
				fail_msg("%s: bit %u has no field%s", (*p)->name, b,
					 some ? " under any condition" : "");
	}
}

static void check_cond(const struct proto *p, const struct cond *c)
{
	if (c->field == NULL)
		return;
	const struct field *f = proto_field(p, c->field);
	assert_non_null(f);
	assert_in_range(c->n, 1, ARRAY_SIZE(c->in));
	for (unsigned i = 0; i < c->n; i++) {
		assert_true(c->in[i].lo <= c->in[i].hi);
		assert_true(c->in[i].hi >> f->bits == 0);
	}
}

static void parts_are_sound(void **state)
{
	(void)state;
	EACH_PROTO(p) {
		unsigned nsections = 0, raw = 0;

		check_cond(*p, &(*p)->closed_when);
		for (const struct section *section = (*p)->sections;
		     section != NULL && section->name != NULL; section++, nsections++) {
			unsigned nbytes = 0;
			check_cond(*p, &section->when);
			for (unsigned k = 0; k < ARRAY_SIZE(section->seen); k++)
				check_cond(*p, &section->seen[k]);
			EACH_FIELD(f, *p)
				nbytes += f->section == section && f->kind == FIELD_BYTES;
			assert_in_range(nbytes, 0, 1);
			assert_in_range(section->head_len, 0, sizeof(section->head));
			assert_true(section->head_len <= section->len);
			if (section->option) {
				assert_true(section->optional && (*p)->options != OPTIONS_NONE &&
					    section->head_len >= 2);
				assert_int_equal(nbytes, 0);
			} else if (nbytes != 0 && (*p)->options != OPTIONS_NONE) {
				raw++;
			}
		}
		assert_in_range(nsections, 0, PROTO_MAX_SECTIONS);
		assert_int_equal(raw, (*p)->options != OPTIONS_NONE);
	}
}

static void conditions_and_names_in_fields_are_known(void **state)
{
	(void)state;
	EACH_PROTO(p) {
		unsigned n = 0;
		EACH_FIELD(f, *p) {
			n++;
			check_cond(*p, &f->when);
			if (f->kind == FIELD_BYTES) {
				assert_non_null(f->section);
				assert_int_equal(f->bits, 0);
				assert_true(f->max <= HEXBYTES_MAX);
			} else {
				assert_int_equal(f->bits == 0, f->role == ROLE_HERE);
				assert_true(f->section == NULL ||
					    (f->section >= (*p)->sections &&
					     f->section < (*p)->sections + PROTO_MAX_SECTIONS));
			}
			if (f->role != ROLE_HAS && f->role != ROLE_COUNT) {
				assert_null(f->of);
				continue;
			}
			bool known = false;
			EACH_FIELD(g, *p)
				known |= proto_of_has(f, g->name) &&
					 (f->role == ROLE_HAS || g->kind == FIELD_BYTES);
			for (const struct section *section = (*p)->sections; section->name != NULL;
			     section++)
				known |= f->role == ROLE_HAS && proto_of_has(f, section->name);
			assert_true(known);
		}
		assert_in_range(n, 0, PROTO_MAX_FIELDS);
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
	EACH_PROTO(p)
		EACH_FIELD(f, *p) {
			struct vspec spec;
			struct err e;
			uint8_t v[VT_FIELD_BYTES], back[VT_FIELD_BYTES], hdr[64] = {0};

			proto_vspec(f, &spec);
			assert_non_null(spec.type);
			if (f->kind == FIELD_BYTES) {
				struct hexbytes *bytes = malloc(HEXBYTES_SIZE);
				assert_int_equal(spec.type->size, HEXBYTES_SIZE);
				assert_int_equal(f->dflt != NULL,
						 proto_default_bytes(*p, f) != NULL);
				if (f->dflt != NULL) {
					assert_int_equal(spec.type->parse(&spec, f->dflt, bytes,
									  &e),
							 0);
					assert_int_equal(bytes->n, proto_default_bytes(*p, f)->n);
				}
				free(bytes);
				continue;
			}
			assert_int_equal(spec.type->size, VT_FIELD_BYTES);
			assert_int_equal(spec.bits, f->role == ROLE_HERE ? 1 : f->bits);
			proto_default(*p, f, back);
			if (f->dflt == NULL) {
				assert_memory_equal(back, (uint8_t[VT_FIELD_BYTES]){0},
						    sizeof(back));
				continue;
			}
			if (spec.type->parse(&spec, f->dflt, v, &e) != 0)
				fail_msg("%s.%s: %s", (*p)->name, f->name, e.text);
			assert_memory_equal(v, back, sizeof(v));
			proto_put(f, hdr, v);
			proto_get(f, hdr, back);
			assert_memory_equal(v, back, sizeof(v));
		}
}

static void images_hold_the_defaults(void **state)
{
	uint8_t img[64] = {0}, v[VT_FIELD_BYTES], back[VT_FIELD_BYTES];

	(void)state;
	EACH_PROTO(p)
		EACH_FIELD(f, *p) {
			if (f->bits == 0 || f->when.field != NULL ||
			    (f->section != NULL && f->bit >= f->section->len * 8))
				continue;
			memset(img, 0xff, sizeof(img));
			proto_image(*p, f->section, img);
			proto_default(*p, f, v);
			proto_get(f, img, back);
			assert_memory_equal(v, back, sizeof(v));
			assert_int_equal(img[f->section != NULL ? f->section->len : (*p)->len],
					 0xff);
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
			const struct bind *first = proto_bind(lower, *p);
			assert_true(first != NULL && first <= b);
			const struct field *f = proto_bind_field(lower, b);
			if (b->field != NULL)
				assert_non_null(f);
			if (f != NULL)
				assert_int_equal(b->value >> f->bits, 0);
			if (b->also != NULL)
				assert_non_null(proto_field(lower, b->also));
			assert_int_equal(b->peek & ~b->peek_mask, 0);
			reachable = true;
		}
		assert_true(reachable);
	}
}

/* Two headers with the same number above one header are told apart by their first byte. One of them
 * may stand for all other bytes. */
static void bindings_are_unambiguous(void **state)
{
	(void)state;
	EACH_PROTO(p)
		EACH_PROTO(q) {
			for (const struct bind *a = (*p)->binds; p != q && a->lower != NULL; a++) {
				for (const struct bind *b = (*q)->binds;
				     !(*p)->is_payload && !(*q)->is_payload && b->lower != NULL;
				     b++) {
					const struct proto *lower = proto_find(a->lower);
					if (strcmp(a->lower, b->lower) != 0 ||
					    proto_bind_field(lower, a) !=
						    proto_bind_field(lower, b) ||
					    a->value != b->value)
						continue;
					if (a->peek_mask == b->peek_mask && a->peek == b->peek)
						fail_msg("%s and %s above %s", (*p)->name,
							 (*q)->name, a->lower);
				}
			}
		}
}

static void binding_values_are_the_assigned_numbers(void **state)
{
	static const struct {
		const char *lower, *upper;
		uint64_t value;
	} known[] = {
		{"eth", "vlan", 0x8100},     {"eth", "ipv4", 0x0800},  {"vlan", "ipv4", 0x0800},
		{"vlan", "vlan", 0x8100},    {"ipv4", "ipv4", 4},      {"ipv4", "tcp", 6},
		{"ipv4", "udp", 17},         {"eth", "qinq", 0x88a8},  {"qinq", "vlan", 0x8100},
		{"eth", "arp", 0x0806},      {"vlan", "ipv6", 0x86dd}, {"eth", "mpls", 0x8847},
		{"eth", "pppoe", 0x8864},    {"ipv6", "tcp", 6},       {"ipv6", "icmpv6", 58},
		{"ipv4", "icmp", 1},         {"ipv4", "igmp", 2},      {"ipv4", "sctp", 132},
		{"ipv6", "ipv6hbh", 0},      {"ipv6", "ipv6rt", 43},   {"ipv6rt", "ipv6frag", 44},
		{"ipv6frag", "ipv6dst", 60}, {"ipv4", "gre", 47},      {"ipv4", "esp", 50},
		{"ipv6dst", "ah", 51},       {"ah", "udp", 17},        {"gre", "eth", 0x6558},
		{"geneve", "eth", 0x6558},   {"udp", "vxlan", 4789},   {"udp", "geneve", 6081},
		{"udp", "gtpu", 2152},       {"udp", "bfd", 3784},     {"pppoe", "ipv4", 0x21},
		{"pppoe", "ipv6", 0x57},     {"llc", "snap", 0xaa},    {"ipv4", "ipv6", 41},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(known); i++) {
		const struct bind *b =
			proto_bind(proto_find(known[i].lower), proto_find(known[i].upper));
		assert_non_null(b);
		assert_int_equal(b->value, known[i].value);
	}
	assert_null(proto_bind(proto_find("eth"), proto_find("udp")));
	assert_null(proto_bind(proto_find("udp"), proto_find("ipv4")));
	assert_null(proto_bind(proto_find("payload"), proto_find("payload")));
}

/* Writes a field one bit at a time, in the slow and obvious way. */
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
			struct field f = {.name = "x",
					  .bit = (uint16_t)bit,
					  .bits = (uint16_t)bits};
			uint8_t fast[24], slow[24], v[VT_FIELD_BYTES], want[VT_FIELD_BYTES],
				got[VT_FIELD_BYTES];

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
		cmocka_unit_test(fields_lie_inside_and_do_not_overlap),
		cmocka_unit_test(fields_without_condition_leave_no_holes),
		cmocka_unit_test(parts_are_sound),
		cmocka_unit_test(conditions_and_names_in_fields_are_known),
		cmocka_unit_test(rows_are_complete_and_sound),
		cmocka_unit_test(defaults_parse_and_fit),
		cmocka_unit_test(images_hold_the_defaults),
		cmocka_unit_test(bindings_name_protocols_and_fit_their_field),
		cmocka_unit_test(bindings_are_unambiguous),
		cmocka_unit_test(binding_values_are_the_assigned_numbers),
		cmocka_unit_test(any_run_of_bits_is_written_and_read_back),
		cmocka_unit_test(numbers_are_big_endian),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
