/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the reader of capture files on files written down by hand: all kinds that it reads, and
 * each way in which one may be wrong. Each file comes once as a whole and once byte by byte. */
#include <zlib.h>

#include "pcapio_world.h"

static const size_t steps[] = {1, 7, SIZE_MAX};

/* A file that is being read. */
struct reading {
	struct bytes file;
	struct memory memory;
	struct pcapio_reader *r;
	struct pcapio_record rec;
	struct err e;
};

static int reading_open(struct reading *g, size_t step)
{
	g->memory = (struct memory){g->file.at, g->file.n, step, 0};
	return pcapio_open_by(memory_read, &g->memory, "x", &g->r, &g->e);
}

/* The next record, which must be there. */
static const struct pcapio_record *reading_next(struct reading *g)
{
	int rc = pcapio_next(g->r, &g->rec, &g->e);

	if (rc != 1)
		print_error("%d: %s\n", rc, g->e.text);
	assert_int_equal(rc, 1);
	return &g->rec;
}

static void reading_end(struct reading *g)
{
	assert_int_equal(pcapio_next(g->r, &g->rec, &g->e), 0);
	assert_int_equal(pcapio_next(g->r, &g->rec, &g->e), 0);
	pcapio_close(g->r);
}

#define EACH_STEP(g, digits) \
	struct reading g = {0}; \
	bytes_hex(&g.file, digits); \
	for (unsigned step = 0; step < ARRAY_SIZE(steps) || (bytes_free(&g.file), false); step++)

static void is_frame(const struct pcapio_record *r, uint64_t ns, const char *digits,
		     uint32_t origlen)
{
	struct bytes want = {0};

	bytes_hex(&want, digits);
	assert_true(r->timed);
	assert_int_equal(r->ns, ns);
	assert_int_equal(r->caplen, want.n);
	assert_int_equal(r->origlen, origlen);
	if (want.n > 0)
		assert_memory_equal(r->frame, want.at, want.n);
	bytes_free(&want);
}

static void test_pcap(void **state)
{
	static const struct {
		const char *digits;
		uint64_t ns[2];
	} files[] = {
		{"d4c3b2a1 0200 0400 00000000 00000000 60000000 01000000"
		 "00f15365 40e20100 03000000 40000000 010203"
		 "ffffffff 3f420f00 00000000 00000000",
		 {1700000000123456000, 4294967295999999000}},
		{"a1b2c3d4 0002 0004 00000000 00000000 00000060 00000001"
		 "6553f100 0001e240 00000003 00000040 010203"
		 "ffffffff 000f423f 00000000 00000000",
		 {1700000000123456000, 4294967295999999000}},
		{"4d3cb2a1 0200 0400 00000000 00000000 60000000 01000000"
		 "00f15365 15cd5b07 03000000 40000000 010203"
		 "00000000 00000000 00000000 00000000",
		 {1700000000123456789, 0}},
		{"a1b23c4d 0002 0004 00000000 00000000 00000060 00000001"
		 "6553f100 075bcd15 00000003 00000040 010203"
		 "00000000 00000000 00000000 00000000",
		 {1700000000123456789, 0}},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(files); i++) {
		EACH_STEP(g, files[i].digits)
		{
			assert_int_equal(reading_open(&g, steps[step]), 0);
			is_frame(reading_next(&g), files[i].ns[0], "010203", 64);
			assert_int_equal(g.rec.link_type, PCAPIO_ETHERNET);
			assert_int_equal(g.rec.interface, 0);
			assert_int_equal(g.rec.offset, 24);
			assert_true(!g.rec.has_queue && !g.rec.has_id && g.rec.flags == 0);
			is_frame(reading_next(&g), files[i].ns[1], "", 0);
			assert_int_equal(pcapio_reader_interfaces(g.r), 1);
			const struct pcapio_interface *f = pcapio_reader_interface(g.r, 0);
			assert_int_equal(f->link_type, PCAPIO_ETHERNET);
			assert_int_equal(f->snaplen, 96);
			assert_null(f->name);
			assert_null(pcapio_reader_stats(g.r, 0));
			assert_null(pcapio_reader_section(g.r)->os);
			reading_end(&g);
		}
	}
}

/* How many bytes of FCS frames have stands beside the link type. A length that is below what was
 * captured is raised. */
static void test_pcap_edges(void **state)
{
	(void)state;
	EACH_STEP(g, "d4c3b2a1 0200 0400 01000000 02000000 00000000 93000024"
		     "01000000 02000000 03000000 01000000 010203")
	{
		assert_int_equal(reading_open(&g, steps[step]), 0);
		is_frame(reading_next(&g), 1000002000, "010203", 3);
		assert_int_equal(g.rec.link_type, 147);
		reading_end(&g);
	}
}

/* All that can stand in a section, big-endian: options of each kind, with comments among them, what
 * is not known, and no end of the options where the block ends. */
#define BIG \
	"0a0d0d0a 0000004c 1a2b3c4d 0001 0002 0000000000000000" \
	"0001 0003 6f6e6500 0003 0005 4c696e7578000000 8001 0001 ff000000" \
	"0002 0003 78383600 0001 0000 0004 0003 61007a00 0000004c" \
	"00000001 00000074 0065 0000 00000040 0002 0004 65746830 0001 0001 63000000" \
	"0003 0001 64000000 0004 0008 c0000201ffffff00 0006 0006 0200000000010000" \
	"0008 0008 000000003b9aca00 0009 0001 09000000 000b 0005 0069636d70000000" \
	"000e 0008 0000000000000005 0000 0000 00000074" \
	"00000006 00000064 00000000 00000000 00000007 00000005 00000009 0102030405000000" \
	"0001 0002 68690000 0002 0004 00000021 0003 0005 0201020304000000" \
	"0005 0008 0000000000000102 0006 0004 00000203 0001 0001 78000000 0000 0000 00000064"

static void check_big(struct reading *g, uint32_t interface)
{
	is_frame(reading_next(g), 5000000007, "0102030405", 9);
	assert_int_equal(g->rec.interface, interface);
	assert_int_equal(g->rec.link_type, 101);
	assert_int_equal(g->rec.flags, 0x21);
	assert_true(g->rec.has_queue && g->rec.has_id);
	assert_int_equal(g->rec.queue, 0x203);
	assert_int_equal(g->rec.id, 0x102);
	assert_int_equal(g->rec.ncomments, 2);
	assert_string_equal(g->rec.comments[0], "hi");
	assert_string_equal(g->rec.comments[1], "x");
	const struct pcapio_section *s = pcapio_reader_section(g->r);
	assert_string_equal(s->os, "Linux");
	assert_string_equal(s->hardware, "x86");
	assert_string_equal(s->application, "a"); /* a zero byte ends it */
	assert_int_equal(s->ncomments, 2);
	assert_string_equal(s->comments[0], "one");
	assert_string_equal(s->comments[1], "");
	const struct pcapio_interface *i = pcapio_reader_interface(g->r, interface);
	assert_string_equal(i->name, "eth0");
	assert_string_equal(i->description, "d");
	assert_string_equal(i->filter, "icmp");
	assert_true(i->has_mac);
	assert_memory_equal(i->mac, "\x02\0\0\0\0\x01", 6);
	assert_int_equal(i->speed_bps, 1000000000);
	assert_int_equal(i->snaplen, 64);
	assert_int_equal(i->link_type, 101);
	assert_int_equal(i->ncomments, 1);
	assert_string_equal(i->comments[0], "c");
}

/* Two sections of different byte orders. Each counts its interfaces from 0, and the reader counts
 * on. Between them are blocks that are passed over. */
static void test_sections(void **state)
{
	(void)state;
	EACH_STEP(g,
		  BIG "00000004 00000014 0000 0000 00000000 00000014" /* names */
		      "00000bad 00000014 00007ed9 01020304 00000014"  /* custom */
		      "40000bad 00000010 00007ed9 00000010"           /* custom, no copies */
		      "0000000a 0000000c 0000000c"                    /* secrets */
		      "80000001 00000010 ffffffff 00000010"           /* of one's own */
		  SHB IDB IDB EPB                                     /* numbers begin anew */
		      "06000000 20000000 01000000 00000000 01000000 00000000 05000000 20000000" BIG)
	{
		assert_int_equal(reading_open(&g, steps[step]), 0);
		assert_int_equal(pcapio_reader_interfaces(g.r), 0);
		check_big(&g, 0);
		is_frame(reading_next(&g), 1000000, "01020304", 4);
		assert_int_equal(g.rec.interface, 1);
		assert_int_equal(g.rec.ncomments, 0);
		assert_null(pcapio_reader_section(g.r)->os);
		is_frame(reading_next(&g), 1000, "", 5);
		assert_int_equal(g.rec.interface, 2);
		check_big(&g, 3);
		assert_int_equal(pcapio_reader_interfaces(g.r), 4);
		reading_end(&g);
	}
}

/* Simple and old packet blocks: the first have no time, are of interface 0, and are cut to its
 * snaplen. */
static void test_other_packets(void **state)
{
	(void)state;
	EACH_STEP(g, SHB "01000000 14000000 0100 0000 03000000 14000000" /* snaplen 3 */
		  IDB "03000000 14000000 02000000 01020000 14000000"
			 "03000000 14000000 09000000 01020300 14000000"
			 "02000000 30000000 0100 ffff 00000000 02000000 02000000 05000000 01020000"
			 "0200 0400 02000000 0000 0000 30000000")
	{
		assert_int_equal(reading_open(&g, steps[step]), 0);
		for (unsigned i = 0; i < 2; i++) {
			reading_next(&g);
			assert_false(g.rec.timed);
			assert_int_equal(g.rec.ns, 0);
			assert_int_equal(g.rec.interface, 0);
			assert_int_equal(g.rec.caplen, i == 0 ? 2 : 3);
			assert_int_equal(g.rec.origlen, i == 0 ? 2 : 9);
			assert_memory_equal(g.rec.frame, "\1\2\3", g.rec.caplen);
		}
		is_frame(reading_next(&g), 2000, "0102", 5);
		assert_int_equal(g.rec.interface, 1);
		assert_int_equal(g.rec.flags, PCAPIO_OUTBOUND);
		assert_false(g.rec.has_queue);
		reading_end(&g);
	}
}

/* A stamp in ns. */
static void test_stamps(void **state)
{
	static const struct {
		uint8_t resolution;
		int64_t offset_s;
		uint64_t stamp, ns;
		bool timed;
	} rows[] = {
		{0, 0, 5, 5000000000, true},
		{0, 0, 18446744073, 18446744073000000000u, true},
		{0, 0, 18446744074, 0, false},
		{3, 1, 1234, 2234000000, true},
		{6, -1, 999999, 0, false},
		{6, -1, 1000000, 0, true},
		{9, 0, UINT64_MAX, UINT64_MAX, true},
		{9, 1, UINT64_MAX, 0, false},
		{9, INT64_MAX, 0, 0, false},
		{9, INT64_MIN, UINT64_MAX, 0, false},
		{10, 0, 19, 1, true},
		{12, 0, 1234567, 1234, true},
		{18, 0, UINT64_MAX, 18446744073, true},
		{29, 0, UINT64_MAX, 0, true},
		{127, 7, UINT64_MAX, 7000000000, true},
		{0x80, 0, 5, 5000000000, true},
		{0x80 + 1, 0, 5, 2500000000, true},
		{0x80 + 10, 0, 1025, 1000976562, true},
		{0x80 + 30, 0, UINT64_MAX, 17179869183999999999u, true},
		{0x80 + 64, 0, 1ull << 63, 500000000, true},
		{0x80 + 127, 0, UINT64_MAX, 0, true},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct reading g = {0};
		uint32_t words[2] = {(uint32_t)(rows[i].stamp >> 32), (uint32_t)rows[i].stamp};
		bytes_hex(&g.file, SHB "01000000 28000000 0100 0000 00000000 0900 0100");
		bytes_add(&g.file, (const uint8_t[4]){rows[i].resolution}, 4);
		bytes_hex(&g.file, "0e00 0800");
		bytes_add(&g.file, &rows[i].offset_s, 8);
		bytes_hex(&g.file, "28000000 06000000 20000000 00000000");
		bytes_add(&g.file, words, 8);
		bytes_hex(&g.file, "00000000 00000000 20000000");
		assert_int_equal(reading_open(&g, SIZE_MAX), 0);
		reading_next(&g);
		assert_int_equal(g.rec.timed, rows[i].timed);
		assert_int_equal(g.rec.ns, rows[i].ns);
		reading_end(&g);
		bytes_free(&g.file);
	}
}

/* The last statistics count, and times in them are ns of the interface. */
static void test_stats(void **state)
{
	(void)state;
	EACH_STEP(g, SHB IDB IDB
		  "05000000 28000000 01000000 00000000 01000000 0400 0800 0900000000000000"
		  "0000 0000 28000000" EPB
		  "05000000 54000000 01000000 00000000 02000000 0200 0800 00000000 03000000"
		  "0100 0200 68690000 0300 0800 01000000 00000000 0800 0800 0102030405060708"
		  "0900 0800 0000000000000000 0000 0000 54000000")
	{
		assert_int_equal(reading_open(&g, steps[step]), 0);
		is_frame(reading_next(&g), 1000000, "01020304", 4);
		assert_null(pcapio_reader_stats(g.r, 0));
		const struct pcapio_stats *s = pcapio_reader_stats(g.r, 1);
		assert_int_equal(s->interface, 1);
		assert_int_equal(s->ns, 1000);
		assert_int_equal(s->has, 1u << PCAPIO_RECEIVED);
		assert_int_equal(s->value[PCAPIO_RECEIVED], 9);
		assert_int_equal(pcapio_next(g.r, &g.rec, &g.e), 0);
		s = pcapio_reader_stats(g.r, 1);
		assert_int_equal(s->ns, 2000);
		assert_int_equal(s->has,
				 1u << PCAPIO_START | 1u << PCAPIO_END | 1u << PCAPIO_DELIVERED);
		assert_int_equal(s->value[PCAPIO_START], 3000);
		assert_int_equal(s->value[PCAPIO_END], (1ull << 32) * 1000);
		assert_int_equal(s->value[PCAPIO_DELIVERED], 0x0807060504030201);
		assert_int_equal(s->ncomments, 1);
		assert_string_equal(s->comments[0], "hi");
		reading_end(&g);
	}
}

/* More bytes than the interface cuts frames to are believed up to what programs take for the most,
 * since many writers do not know better; and what is no text is no filter. */
static void test_lenient(void **state)
{
	(void)state;
	EACH_STEP(g, SHB
		  "01000000 20000000 0100 0000 02000000 0b00 0300 01756400 0000 0000 20000000" EPB)
	{
		assert_int_equal(reading_open(&g, steps[step]), 0);
		is_frame(reading_next(&g), 1000000, "01020304", 4);
		assert_null(pcapio_reader_interface(g.r, 0)->filter);
		reading_end(&g);
	}
}

/* Packs bytes as one member of a gzip file. */
static void pack(const struct bytes *from, struct bytes *to)
{
	uint8_t out[65536];
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = from->at;
	z.avail_in = (uInt)from->n;
	z.next_out = out;
	z.avail_out = sizeof(out);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	bytes_add(to, out, z.total_out);
	deflateEnd(&z);
}

/* Two members, the border in the middle of a block, and an empty one. */
static void test_gzip(void **state)
{
	struct bytes one = {0}, two = {0}, none = {0};
	struct reading g = {0};

	(void)state;
	bytes_hex(&one, SHB IDB "06000000 24000000 0000");
	bytes_hex(&two, "0000 00000000 e8030000 04000000 04000000 01020304 24000000");
	pack(&one, &g.file);
	pack(&none, &g.file);
	pack(&two, &g.file);
	for (unsigned step = 0; step < ARRAY_SIZE(steps); step++) {
		assert_int_equal(reading_open(&g, steps[step]), 0);
		is_frame(reading_next(&g), 1000000, "01020304", 4);
		assert_int_equal(g.rec.offset, 48);
		reading_end(&g);
	}
	/* Each file that ends too early says so, also where a block ends. */
	for (size_t n = 2; n < g.file.n; n++) {
		struct reading cut = {.file = {g.file.at, n, 0}};
		int rc = reading_open(&cut, n % 2 ? 1 : SIZE_MAX);
		bool opened = rc == 0;
		if (opened)
			while ((rc = pcapio_next(cut.r, &cut.rec, &cut.e)) == 1)
				continue;
		assert_int_equal(rc, -ENODATA);
		assert_non_null(strstr(cut.e.text, "is cut off"));
		if (opened)
			pcapio_close(cut.r);
	}
	bytes_free(&g.file);
	bytes_free(&one);
	bytes_free(&two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pcap),     cmocka_unit_test(test_pcap_edges),
		cmocka_unit_test(test_sections), cmocka_unit_test(test_other_packets),
		cmocka_unit_test(test_stamps),   cmocka_unit_test(test_stats),
		cmocka_unit_test(test_lenient),  cmocka_unit_test(test_gzip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
