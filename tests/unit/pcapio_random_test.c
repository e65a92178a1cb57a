/* SPDX-License-Identifier: BSD-3-Clause */
/* Random files of pcapio are read as they were written: plain and packed, in pieces of any size. */
#include <zlib.h>

#include "pcapio_world.h"
#include "seed.h"

#define FILES 300
#define MOST_RECORDS 60
#define MOST_INTERFACES 5
#define MOST_COMMENTS 4

/* What was written. Its texts and frames stay where they are until the file is done. */
struct written {
	struct bytes file;
	struct pcapio_section section;
	struct pcapio_interface interfaces[MOST_INTERFACES];
	struct pcapio_stats stats[MOST_INTERFACES];
	bool has_stats[MOST_INTERFACES];
	unsigned ninterfaces, nrecords, nheld;
	struct pcapio_record records[MOST_RECORDS];
	void *held[4096];
};

static uint64_t state_of_rnd;

static uint64_t rnd(uint64_t below)
{
	uint64_t *s = &state_of_rnd;

	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s % below;
}

/* Often small, sometimes any number of 64 bits. */
static uint64_t rnd_number(void)
{
	uint64_t v = rnd(UINT64_MAX);

	return v >> rnd(64);
}

static void *hold(struct written *w, size_t n)
{
	assert_true(w->nheld < ARRAY_SIZE(w->held));
	void *p = calloc(1, n + 1);
	w->held[w->nheld++] = p;
	return p;
}

static const char *rnd_text(struct written *w)
{
	static const char *const parts[] = {
		"a", "Z", " ", "\n", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
	unsigned n = (unsigned)rnd(rnd(20) == 0 ? 5000 : 12);
	char *text = hold(w, 4 * n), *end = text;

	for (unsigned i = 0; i < n; i++)
		end = stpcpy(end, parts[rnd(ARRAY_SIZE(parts))]);
	return text;
}

static const char *rnd_text_or_none(struct written *w)
{
	return rnd(2) ? rnd_text(w) : NULL;
}

static const char *const *rnd_comments(struct written *w, unsigned *n)
{
	*n = rnd(3) == 0 ? (unsigned)rnd(MOST_COMMENTS + 1) : 0;
	if (*n == 0)
		return NULL;
	const char **list = hold(w, MOST_COMMENTS * sizeof(*list));
	for (unsigned i = 0; i < *n; i++)
		list[i] = rnd_text(w);
	return list;
}

static void put(struct written *w, ssize_t n, const uint8_t *block)
{
	assert_true(n > 0);
	bytes_add(&w->file, block, (size_t)n);
}

static void write_interface(struct written *w, uint8_t *block, size_t size)
{
	struct pcapio_interface *i = &w->interfaces[w->ninterfaces++];

	*i = (struct pcapio_interface){
		.link_type = (uint16_t)rnd(300),
		.snaplen = rnd(2) ? (uint32_t)rnd_number() : 0,
		.speed_bps = rnd(2) ? rnd_number() : 0,
		.name = rnd_text_or_none(w),
		.description = rnd_text_or_none(w),
		.filter = rnd_text_or_none(w),
		.has_mac = rnd(2),
	};
	for (unsigned b = 0; b < 6 && i->has_mac; b++)
		i->mac[b] = (uint8_t)rnd(256);
	i->comments = rnd_comments(w, &i->ncomments);
	put(w, pcapio_put_interface(block, size, i), block);
}

/* Those that workers write are among them: with flags and a queue, and without the rest. */
static void write_record(struct written *w, uint8_t *block, size_t size)
{
	struct pcapio_record *r = &w->records[w->nrecords++];
	uint32_t caplen = (uint32_t)rnd(rnd(10) == 0 ? 20000 : 100);
	uint8_t *frame = hold(w, caplen);
	struct pcapio_epb t;

	for (uint32_t i = 0; i < caplen; i++)
		frame[i] = (uint8_t)rnd(256);
	*r = (struct pcapio_record){
		.interface = (uint32_t)rnd(w->ninterfaces),
		.timed = true,
		.has_queue = rnd(2),
		.has_id = rnd(2),
		.ns = rnd_number(),
		.frame = frame,
		.caplen = caplen,
		.origlen = caplen + (uint32_t)rnd(2) * (uint32_t)rnd(1000),
		.flags = rnd(2) ? (uint32_t)rnd_number() : 0,
		.offset = w->file.n,
	};
	r->link_type = w->interfaces[r->interface].link_type;
	r->queue = r->has_queue ? (uint32_t)rnd_number() : 0;
	r->id = r->has_id ? rnd_number() : 0;
	r->comments = rnd_comments(w, &r->ncomments);
	if (!r->has_queue || r->has_id || r->ncomments > 0 || r->flags == 0) {
		put(w, pcapio_put_record(block, size, r), block);
		return;
	}
	pcapio_epb_init(&t, r->interface, r->flags, r->queue);
	memcpy(block + PCAPIO_EPB_HEAD, frame, caplen);
	put(w, pcapio_epb_put(&t, block, r->ns, caplen, r->origlen), block);
}

static void write_stats(struct written *w, uint8_t *block, size_t size)
{
	uint32_t which = (uint32_t)rnd(w->ninterfaces);
	struct pcapio_stats *s = &w->stats[which];

	*s = (struct pcapio_stats){.interface = which, .ns = rnd_number()};
	for (unsigned i = PCAPIO_START; i < PCAPIO_NSTATS; i++)
		if (rnd(2))
			pcapio_stats_set(s, i, rnd_number());
	s->comments = rnd_comments(w, &s->ncomments);
	w->has_stats[which] = true;
	put(w, pcapio_put_stats(block, size, s), block);
}

static void write_file(struct written *w)
{
	static uint8_t block[1 << 20];

	w->section = (struct pcapio_section){
		.hardware = rnd_text_or_none(w),
		.os = rnd_text_or_none(w),
		.application = rnd_text_or_none(w),
	};
	w->section.comments = rnd_comments(w, &w->section.ncomments);
	put(w, pcapio_put_section(block, sizeof(block), &w->section), block);
	write_interface(w, block, sizeof(block));
	while (w->nrecords < MOST_RECORDS && rnd(MOST_RECORDS) > 0) {
		uint64_t what = rnd(20);
		if (what == 0 && w->ninterfaces < MOST_INTERFACES)
			write_interface(w, block, sizeof(block));
		else if (what == 1)
			write_stats(w, block, sizeof(block));
		else
			write_record(w, block, sizeof(block));
	}
}

static void same_text(const char *got, const char *want)
{
	assert_int_equal(got == NULL, want == NULL);
	if (want != NULL)
		assert_string_equal(got, want);
}

static void same_comments(const char *const *got, unsigned ngot, const char *const *want,
			  unsigned nwant)
{
	assert_int_equal(ngot, nwant);
	for (unsigned i = 0; i < nwant; i++)
		assert_string_equal(got[i], want[i]);
}

#define SAME(member) assert_int_equal(got->member, want->member)

static void same_record(const struct pcapio_record *got, const struct pcapio_record *want)
{
	SAME(interface);
	SAME(link_type);
	SAME(timed);
	SAME(has_queue);
	SAME(has_id);
	SAME(ns);
	SAME(caplen);
	SAME(origlen);
	SAME(flags);
	SAME(queue);
	SAME(id);
	SAME(offset);
	assert_memory_equal(got->frame, want->frame, want->caplen);
	same_comments(got->comments, got->ncomments, want->comments, want->ncomments);
}

static void same_interface(const struct pcapio_interface *got, const struct pcapio_interface *want)
{
	SAME(link_type);
	SAME(has_mac);
	SAME(snaplen);
	SAME(speed_bps);
	assert_memory_equal(got->mac, want->mac, sizeof(want->mac));
	same_text(got->name, want->name);
	same_text(got->description, want->description);
	same_text(got->filter, want->filter);
	same_comments(got->comments, got->ncomments, want->comments, want->ncomments);
}

static void same_stats(const struct pcapio_stats *got, const struct pcapio_stats *want)
{
	SAME(interface);
	SAME(has);
	SAME(ns);
	assert_memory_equal(got->value, want->value, sizeof(want->value));
	same_comments(got->comments, got->ncomments, want->comments, want->ncomments);
}

static void read_back(const struct written *w, const uint8_t *at, size_t n)
{
	struct memory m = {at, n, rnd(2) ? SIZE_MAX : 1 + rnd(100), 0};
	struct pcapio_reader *r;
	struct pcapio_record rec;
	struct err e;

	assert_int_equal(pcapio_open_by(memory_read, &m, "x", &r, &e), 0);
	for (unsigned i = 0; i < w->nrecords; i++) {
		memset(&rec, 0xee, sizeof(rec));
		assert_int_equal(pcapio_next(r, &rec, &e), 1);
		same_record(&rec, &w->records[i]);
	}
	assert_int_equal(pcapio_next(r, &rec, &e), 0);
	const struct pcapio_section *s = pcapio_reader_section(r);
	same_text(s->hardware, w->section.hardware);
	same_text(s->os, w->section.os);
	same_text(s->application, w->section.application);
	same_comments(s->comments, s->ncomments, w->section.comments, w->section.ncomments);
	assert_int_equal(pcapio_reader_interfaces(r), w->ninterfaces);
	for (unsigned i = 0; i < w->ninterfaces; i++) {
		same_interface(pcapio_reader_interface(r, i), &w->interfaces[i]);
		const struct pcapio_stats *stats = pcapio_reader_stats(r, i);
		assert_int_equal(stats != NULL, w->has_stats[i]);
		if (stats != NULL)
			same_stats(stats, &w->stats[i]);
	}
	pcapio_close(r);
}

static void test_ng(void **state)
{
	(void)state;
	for (unsigned i = 0; i < FILES; i++) {
		struct written *w = calloc(1, sizeof(*w));
		write_file(w);
		read_back(w, w->file.at, w->file.n);
		if (i % 4 == 0) {
			uLong n = compressBound(w->file.n) + 64;
			uint8_t *packed = malloc(n);
			z_stream z = {.next_in = w->file.at,
				      .avail_in = (uInt)w->file.n,
				      .next_out = packed,
				      .avail_out = (uInt)n};
			assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8,
						      Z_DEFAULT_STRATEGY),
					 Z_OK);
			assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
			deflateEnd(&z);
			read_back(w, packed, z.total_out);
			free(packed);
		}
		for (unsigned k = 0; k < w->nheld; k++)
			free(w->held[k]);
		bytes_free(&w->file);
		free(w);
	}
}

static void test_pcap(void **state)
{
	(void)state;
	for (unsigned i = 0; i < FILES; i++) {
		uint8_t block[512], frame[400];
		struct bytes file = {0};
		struct pcapio_record want[MOST_RECORDS], rec;
		struct pcapio_reader *r;
		struct err e;
		unsigned n = (unsigned)rnd(MOST_RECORDS);
		uint16_t link_type = (uint16_t)rnd(65536);
		for (unsigned b = 0; b < sizeof(frame); b++)
			frame[b] = (uint8_t)rnd(256);
		bytes_add(&file, block,
			  (size_t)pcapio_put_pcap_head(block, sizeof(block), link_type, 0));
		for (unsigned k = 0; k < n; k++) {
			want[k] = (struct pcapio_record){
				.link_type = link_type,
				.timed = true,
				.ns = rnd_number() % 4294967296000000000u,
				.frame = frame + rnd(100),
				.caplen = (uint32_t)rnd(300),
				.offset = file.n,
			};
			want[k].origlen = want[k].caplen + (uint32_t)rnd(100);
			ssize_t size = pcapio_put_pcap_record(block, sizeof(block), &want[k]);
			assert_int_equal(size, PCAPIO_PCAP_RECORD + want[k].caplen);
			bytes_add(&file, block, (size_t)size);
		}
		struct memory m = {file.at, file.n, 1 + rnd(1000), 0};
		assert_int_equal(pcapio_open_by(memory_read, &m, "x", &r, &e), 0);
		for (unsigned k = 0; k < n; k++) {
			assert_int_equal(pcapio_next(r, &rec, &e), 1);
			same_record(&rec, &want[k]);
		}
		assert_int_equal(pcapio_next(r, &rec, &e), 0);
		pcapio_close(r);
		bytes_free(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ng),
		cmocka_unit_test(test_pcap),
	};

	state_of_rnd = test_seed_not_0();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
