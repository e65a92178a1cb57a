/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the reader says of files that are wrong: the frames before the fault come, then an
 * error says at which byte it is and what it is, and says so again. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pcapio_world.h"

#define PCAP "d4c3b2a1 0200 0400 00000000 00000000 60000000 01000000 "
#define PCAP_RECORD "00f15365 40e20100 03000000 40000000 010203 "

/* Reads all of a file. Returns how it ended, and how many frames came. */
static int read_all(struct memory m, unsigned *frames, struct err *e)
{
	struct pcapio_reader *r;
	struct pcapio_record rec;
	int rc = pcapio_open_by(memory_read, &m, "x", &r, e);
	struct err again;

	*frames = 0;
	if (rc != 0)
		return rc;
	while ((rc = pcapio_next(r, &rec, e)) == 1)
		++*frames;
	assert_int_equal(pcapio_next(r, &rec, &again), rc);
	if (rc != 0)
		assert_string_equal(again.text, e->text);
	pcapio_close(r);
	return rc;
}

static const struct {
	const char *digits;
	unsigned frames;
	int rc;
	const char *text; /* a part of the error */
} bad[] = {
	/* no capture file */
	{"", 0, -EBADMSG, "'x' is no capture file: it is empty; files of pcap"},
	{"0a0d0d", 0, -EBADMSG, "'x' is no capture file: it begins with 0a 0d 0d; files of"},
	{"7f454c46 01020304", 0, -EBADMSG, "it begins with 7f 45 4c 46;"},
	{"0a0d0a0d 1c000000", 0, -EBADMSG, "it begins with 0a 0d 0a 0d;"}, /* by FTP as a text */

	/* pcap */
	{"d4c3b2a1", 0, -ENODATA,
	 "'x' is cut off: it ends at byte 4, in the middle of the file's header that begins at "
	 "byte 0; it has no frame before that, for the rest find a whole copy"},
	{"a1b2c3d4 0002 0003 00000000 00000000 00000060 00000001", 0, -ENOTSUP,
	 "cannot read 'x' from byte 0 on: pcap of version 2.3 is not read; `editcap`"},
	{"d4c3b2a1 0200 0400 00000000 00000000 60000000 01000008", 0, -EBADMSG,
	 "its link type is 0x8000001, with bits that must be 0"},
	{"d4c3b2a1 0200 0400 00000000 00000000 60000000 01000100", 0, -EBADMSG,
	 "its link type is 0x10001"},
	{PCAP "00f15365 40e20100 03000000 400000", 0, -ENODATA,
	 "it ends at byte 39, in the middle of a record that begins at byte 24; it has no frame"},
	{PCAP PCAP_RECORD "00f15365 40e20100 03000000 40000000 0102", 1, -ENODATA,
	 "it ends at byte 61, in the middle of a record that begins at byte 43; the frame before "
	 "that is whole"},
	{PCAP PCAP_RECORD PCAP_RECORD "00", 2, -ENODATA, "the 2 frames before that are whole"},
	{PCAP PCAP_RECORD "00f15365 40e20100 01000400 01000400", 1, -EBADMSG,
	 "cannot read 'x' from byte 43 on: a record says that it has 262145 bytes of a frame, and "
	 "frames are cut to 96; the frame before that is whole, for the rest find a copy that is "
	 "not damaged"},
	{"d4c3b2a1 0200 0400 00000000 00000000 ffffffff 01000000"
	 "00f15365 40e20100 f1ffff00 f1ffff00",
	 0, -EBADMSG, "a record says that it has 16777201 bytes"},

	/* blocks of pcapng */
	{"0a0d0d0a 1c000000", 0, -ENODATA,
	 "it ends at byte 8, in the middle of a block that begins at byte 0"},
	{"0a0d0d0a 1c000000 4d3c2b1b 0100 0000 ffffffffffffffff 1c000000", 0, -EBADMSG,
	 "a section has the magic number 4d 3c 2b 1b, which tells no byte order"},
	{"0a0d0d0a 1c000000 4d3c2b1a 0200 0000 ffffffffffffffff 1c000000", 0, -ENOTSUP,
	 "a section of pcapng of version 2.0 is not read"},
	{"0a0d0d0a 1c000000 4d3c2b1a 0100 0100 ffffffffffffffff 1c000000", 0, -ENOTSUP,
	 "a section of pcapng of version 1.1 is not read"},
	{"0a0d0d0a 18000000 4d3c2b1a 0100 0000 ffffffff 18000000", 0, -EBADMSG,
	 "a block of type 0xa0d0d0a has 24 bytes, too few for what it must say"},
	{SHB "01000000 0b000000 0b0000", 0, -ENODATA,
	 "it ends at byte 39, in the middle of a block that begins at byte 28"},
	{SHB "01000000 0b000000 0b000000", 0, -EBADMSG,
	 "cannot read 'x' from byte 28 on: a block of type 0x1 says that it has 11 bytes; 12, 16, "
	 "20 and so on are possible; it has no frame before that"},
	{SHB "01000000 08000000 08000000", 0, -EBADMSG, "says that it has 8 bytes"},
	{SHB "01000000 00000000 00000000", 0, -EBADMSG, "says that it has 0 bytes"},
	{SHB IDB EPB "77000000 12000000 00000000 00001200 0000", 1, -EBADMSG,
	 "cannot read 'x' from byte 84 on: a block of type 0x77 says that it has 18 bytes"},
	{SHB "00000080 04000001 00000000", 0, -EFBIG,
	 "a block of type 0x80000000 says that it has 16777220 bytes, and up to 16 MiB are read; it "
	 "has no frame before that, for the rest take `editcap`"},
	{SHB "00000080 00000001 00000000", 0, -ENODATA, "it ends at byte 40"},
	{SHB "01000000 14000000 0100 0000 00000000 18000000", 0, -EBADMSG,
	 "a block of type 0x1 has 20 bytes by the length at its begin, and 24 by the one at its "
	 "end"},
	{SHB "01000000 10000000 0100 0000 10000000", 0, -EBADMSG,
	 "a block of type 0x1 has 16 bytes, too few"},
	{SHB IDB "03000000 0c000000 0c000000", 0, -EBADMSG, "type 0x3 has 12 bytes, too few"},
	{SHB IDB "05000000 14000000 00000000 00000000 14000000", 0, -EBADMSG,
	 "type 0x5 has 20 bytes, too few"},
	{SHB IDB "06000000 1c000000 00000000 00000000 00000000 00000000 1c000000", 0, -EBADMSG,
	 "type 0x6 has 28 bytes, too few"},
	{SHB IDB "02000000 1c000000 00000000 00000000 00000000 00000000 1c000000", 0, -EBADMSG,
	 "type 0x2 has 28 bytes, too few"},

	/* frames */
	{SHB EPB, 0, -EBADMSG,
	 "a block of type 0x6 is of interface 0, and its section has described 0"},
	{SHB IDB EPB SHB EPB, 1, -EBADMSG,
	 "from byte 112 on: a block of type 0x6 is of interface 0"},
	{SHB IDB "06000000 20000000 01000000 00000000 e8030000 00000000 00000000 20000000", 0,
	 -EBADMSG, "is of interface 1, and its section has described 1"},
	{SHB IDB "02000000 20000000 0100 0000 00000000 e8030000 00000000 00000000 20000000", 0,
	 -EBADMSG, "type 0x2 is of interface 1, and"},
	{SHB IDB "05000000 18000000 ffffffff 00000000 00000000 18000000", 0, -EBADMSG,
	 "type 0x5 is of interface 4294967295, and"},
	{SHB "03000000 10000000 00000000 10000000", 0, -EBADMSG, "type 0x3 is of interface 0, and"},
	{SHB IDB "06000000 24000000 00000000 00000000 e8030000 05000000 05000000 01020304 24000000",
	 0, -EBADMSG,
	 "cannot read 'x' from byte 48 on: a block of type 0x6 says that it has 5 bytes of a frame, "
	 "in room for 4"},
	{SHB IDB "06000000 24000000 00000000 00000000 e8030000 ffffffff ffffffff 01020304 24000000",
	 0, -EBADMSG, "says that it has 4294967295 bytes of a frame, in room for 4"},
	{SHB IDB "03000000 14000000 05000000 01020304 14000000", 0, -EBADMSG,
	 "type 0x3 says that it has 5 bytes of a frame, in room for 4"},

	/* options */
	{SHB "01000000 18000000 0100 0000 00000000 0200 0100 18000000", 0, -EBADMSG,
	 "option 2 of a block of type 0x1 says that it has 1 bytes, and the block has 0 more"},
	{"0a0d0d0a 24000000 4d3c2b1a 0100 0000 ffffffffffffffff 0300 0500 41414141 24000000", 0,
	 -EBADMSG,
	 "option 3 of a block of type 0xa0d0d0a says that it has 5 bytes, and the block "
	 "has 4 more"},
	{SHB IDB
	 "06000000 24000000 00000000 00000000 00000000 00000000 00000000 0100 ffff 24000000",
	 0, -EBADMSG, "option 1 of a block of type 0x6 says that it has 65535 bytes, and"},
	{SHB IDB "06000000 28000000 00000000 00000000 00000000 00000000 00000000"
		 "0200 0300 01000000 28000000",
	 0, -EBADMSG, "option 2 of a block of type 0x6 has 3 bytes, and must have 4"},
	{SHB IDB "06000000 28000000 00000000 00000000 00000000 00000000 00000000"
		 "0500 0400 01000000 28000000",
	 0, -EBADMSG, "option 5 of a block of type 0x6 has 4 bytes, and must have 8"},
	{SHB IDB "06000000 24000000 00000000 00000000 00000000 00000000 00000000"
		 "0600 0000 24000000",
	 0, -EBADMSG, "option 6 of a block of type 0x6 has 0 bytes, and must have 4"},
	{SHB IDB "05000000 20000000 00000000 00000000 00000000 0400 0400 01000000 20000000", 0,
	 -EBADMSG, "option 4 of a block of type 0x5 has 4 bytes, and must have 8"},
	{SHB "01000000 1c000000 0100 0000 00000000 0900 0200 06000000 1c000000", 0, -EBADMSG,
	 "option 9 of a block of type 0x1 has 2 bytes, and must have 1"},
	{SHB "01000000 1c000000 0100 0000 00000000 0e00 0400 06000000 1c000000", 0, -EBADMSG,
	 "option 14 of a block of type 0x1 has 4 bytes, and must have 8"},
	{SHB "01000000 1c000000 0100 0000 00000000 0800 0400 06000000 1c000000", 0, -EBADMSG,
	 "option 8 of a block of type 0x1 has 4 bytes, and must have 8"},
	{SHB "01000000 1c000000 0100 0000 00000000 0600 0400 06000000 1c000000", 0, -EBADMSG,
	 "option 6 of a block of type 0x1 has 4 bytes, and must have 6"},
};

static void test_bad(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(bad); i++) {
		struct bytes file = {0};
		struct err e = {0};
		unsigned frames, k = i / 2;
		bytes_hex(&file, bad[k].digits);
		int rc = read_all((struct memory){file.at, file.n, i % 2 ? 1 : SIZE_MAX, 0},
				  &frames, &e);
		if (rc != bad[k].rc || frames != bad[k].frames || !strstr(e.text, bad[k].text))
			fail_msg("row %u: %d, %u frames, '%s', not %d, %u, '%s'", k, rc, frames,
				 e.text, bad[k].rc, bad[k].frames, bad[k].text);
		bytes_free(&file);
	}
}

/* A good file that ends anywhere: it is whole where a block has ended, and cut off elsewhere. */
static void cut_anywhere(const char *const *pieces, unsigned n, unsigned first)
{
	struct bytes file = {0};
	size_t border[8];

	for (unsigned i = 0; i < n; i++) {
		bytes_hex(&file, pieces[i]);
		border[i] = file.n;
	}
	for (size_t size = 4; size <= file.n; size++) {
		struct err e = {0};
		unsigned frames, want = 0;
		bool whole = false;
		for (unsigned i = 0; i < n; i++) {
			want += i >= first && border[i] <= size;
			whole |= border[i] == size;
		}
		int rc = read_all((struct memory){file.at, size, SIZE_MAX, 0}, &frames, &e);
		assert_int_equal(rc, whole ? 0 : -ENODATA);
		assert_int_equal(frames, want);
		if (!whole)
			assert_non_null(strstr(e.text, "is cut off: it ends at byte "));
	}
	bytes_free(&file);
}

static void test_cut_off(void **state)
{
	static const char *const ng[] = {SHB, IDB, EPB, EPB, EPB}, *const old[] = {PCAP,
										   PCAP_RECORD,
										   PCAP_RECORD};

	(void)state;
	cut_anywhere(ng, ARRAY_SIZE(ng), 2);
	cut_anywhere(old, ARRAY_SIZE(old), 1);
}

/* A frame may be cut to less than it has, but not by an interface that is known to cut them. */
static void test_snaplen(void **state)
{
	static const uint32_t most = 262144;
	struct bytes file = {0};
	struct err e;
	unsigned frames;
	uint32_t caplen;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		bytes_hex(&file, SHB "01000000 14000000 0100 0000 60000000 14000000");
		caplen = most + 4 * i;
		uint32_t size = 32 + caplen;
		bytes_hex(&file, "06000000");
		bytes_add(&file, &size, 4);
		bytes_hex(&file, "00000000 00000000 e8030000");
		bytes_add(&file, &caplen, 4);
		bytes_add(&file, &caplen, 4);
		uint8_t *zeros = calloc(1, caplen);
		bytes_add(&file, zeros, caplen);
		free(zeros);
		bytes_add(&file, &size, 4);
		int rc = read_all((struct memory){file.at, file.n, SIZE_MAX, 0}, &frames, &e);
		assert_int_equal(rc, i == 0 ? 0 : -EBADMSG);
		assert_int_equal(frames, i == 0);
		bytes_free(&file);
	}
	assert_non_null(strstr(e.text, "has 262148 bytes of a frame, and its interface cuts "
				       "frames to 96"));
}

/* Each number of interfaces costs memory, so there is a limit; so is there for their texts, which
 * counts those that are still held. */
static void test_limits(void **state)
{
	struct bytes file = {0};
	struct err e = {0};
	unsigned frames;

	(void)state;
	bytes_hex(&file, SHB);
	for (unsigned i = 0; i < PCAPIO_MAX_INTERFACES; i++)
		bytes_hex(&file, IDB);
	bytes_hex(&file, EPB);
	assert_int_equal(read_all((struct memory){file.at, file.n, SIZE_MAX, 0}, &frames, &e), 0);
	assert_int_equal(frames, 1);
	bytes_hex(&file, SHB IDB EPB);
	assert_int_equal(read_all((struct memory){file.at, file.n, SIZE_MAX, 0}, &frames, &e),
			 -EFBIG);
	assert_int_equal(frames, 1);
	assert_non_null(strstr(e.text, "it has more than 65536 interfaces; the frame before"));
	bytes_free(&file);

	/* An interface with 12 MiB of comments five times, and the sixth is too much. As
	 * statistics, of which the last stay, it may come as often as one likes. */
	const uint32_t n = 192, size = 20 + n * 65536;
	char *text = malloc(65532);
	memset(text, 'x', 65532);
	for (unsigned i = 0; i < 12; i++) {
		bytes_hex(&file, i == 0 ? SHB IDB : "");
		bytes_hex(&file, i < 6 ? "05000000" : "01000000");
		uint32_t whole = size + (i < 6 ? 4 : 0);
		bytes_add(&file, &whole, 4);
		bytes_hex(&file, i < 6 ? "00000000 00000000 00000000" : "01000000 00000000");
		for (unsigned k = 0; k < n; k++) {
			bytes_hex(&file, "0100 fcff");
			bytes_add(&file, text, 65532);
		}
		bytes_add(&file, &whole, 4);
		if (i < 6)
			bytes_hex(&file, EPB);
	}
	free(text);
	assert_int_equal(read_all((struct memory){file.at, file.n, SIZE_MAX, 0}, &frames, &e),
			 -EFBIG);
	assert_int_equal(frames, 6);
	assert_non_null(
		strstr(e.text, "its sections and interfaces have more than 64 MiB of text"));
	bytes_free(&file);
}

static void test_reading_fails(void **state)
{
	struct bytes file = {0}, packed = {0};
	struct err e = {0};
	unsigned frames;

	(void)state;
	bytes_hex(&file, SHB IDB EPB "06000000");
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(read_all((struct memory){file.at, file.n, i == 0 ? 1 : SIZE_MAX,
							  -EIO},
					  &frames, &e),
				 -EIO);
		assert_int_equal(frames, 1);
		assert_non_null(
			strstr(e.text, "cannot read 'x' from byte 88 on: Input/output error; "));
	}
	assert_int_equal(read_all((struct memory){file.at, 0, 1, -EIO}, &frames, &e), -EIO);
	/* Where a block has ended too. */
	assert_int_equal(read_all((struct memory){file.at, 84, 1, -EIO}, &frames, &e), -EIO);
	assert_int_equal(frames, 1);
	bytes_free(&file);

	/* A gzip file of stored bytes, whose checksum is wrong, and one that is none. */
	bytes_hex(&packed, "1f8b080000000000 00ff 01 5400 abff" SHB IDB EPB "00000000 54000000");
	for (unsigned i = 0; i < 2; i++) {
		struct memory m = {packed.at, packed.n, i == 0 ? 1 : SIZE_MAX, 0};
		assert_int_equal(read_all(m, &frames, &e), -EBADMSG);
		assert_int_equal(frames, 1);
		assert_non_null(strstr(e.text,
				       "cannot read 'x' from byte 84 (unpacked) on: what gzip has "
				       "packed is damaged; the frame before that is whole"));
	}
	bytes_free(&packed);
	bytes_hex(&packed, "1f8b ffff 0000000000000000");
	assert_int_equal(read_all((struct memory){packed.at, packed.n, 1, 0}, &frames, &e),
			 -EBADMSG);
	assert_non_null(strstr(e.text, "from byte 0 (unpacked) on: what gzip"));
	bytes_free(&packed);
}

/* Files are opened without waiting, and what is none is refused. */
static void test_paths(void **state)
{
	char dir[] = "/tmp/pcapio_XXXXXX", fifo[64], path[64];
	struct bytes file = {0};
	struct pcapio_reader *r;
	struct pcapio_record rec;
	struct err e = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	snprintf(path, sizeof(path), "%s/file", dir);
	assert_int_equal(pcapio_open(path, &r, &e), -ENOENT);
	assert_non_null(strstr(e.text, "file': No such file or directory"));
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(pcapio_open(fifo, &r, &e), -EINVAL);
	assert_non_null(strstr(e.text, "fifo': it is a pipe, not a regular file"));
	bytes_hex(&file, SHB IDB EPB);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, file.at, file.n), file.n);
	close(fd);
	assert_int_equal(pcapio_open(path, &r, &e), 0);
	assert_int_equal(pcapio_next(r, &rec, &e), 1);
	assert_int_equal(pcapio_next(r, &rec, &e), 0);
	pcapio_close(r);
	pcapio_close(NULL);
	bytes_free(&file);
	unlink(fifo);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad),           cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_snaplen),       cmocka_unit_test(test_limits),
		cmocka_unit_test(test_reading_fails), cmocka_unit_test(test_paths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
