/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests captures without control: what workers put into pieces, what of a burst stays when the
 * device takes a part of it, what happens where no piece is free; how sources become one sequence;
 * and which frames limits let into files. Files are read by hand, block by block. */
#include "capture_ctl.h"
#include "dp_fake.h"

#include <fcntl.h>
#include <unistd.h>

#define NPIECES 4
#define MAX_FRAMES 4096

static char folder[] = "/tmp/capture_test_XXXXXX";

static struct rte_mbuf *frame_of(struct rte_mempool *mp, unsigned len, unsigned number)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	assert_non_null(m);
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);
	assert_non_null(p);
	for (unsigned i = 0; i < len; i++)
		p[i] = (uint8_t)(number + i * 7);
	memcpy(p, &number, sizeof(number));
	return m;
}

/* Stamps are cycle counts: a source whose clock has one ns per cycle and begins at 0. */
static struct capture_source *source_of(unsigned npieces, bool tx)
{
	struct capture_source *s = capture_source_new(npieces, -1);

	assert_non_null(s);
	s->mult = 1ull << DP_CLOCK_SHIFT;
	s->snap = 262144;
	s->tx = tx;
	pcapio_epb_init(&s->epb, 0, tx ? PCAPIO_OUTBOUND : PCAPIO_INBOUND, 3);
	return s;
}

/* Does a block say frame `number` with this length? */
static void check_block(const uint8_t *at, unsigned number, unsigned len, unsigned cap, uint64_t ns)
{
	unsigned got;

	assert_int_equal(pcapio_word(at), PCAPIO_EPB);
	assert_int_equal(pcapio_epb_origlen(at), len);
	assert_int_equal(pcapio_epb_caplen(at), cap);
	assert_int_equal(pcapio_epb_stamp(at), ns);
	memcpy(&got, pcapio_epb_frame(at), sizeof(got));
	assert_int_equal(got, number);
	for (unsigned i = sizeof(got); i < cap; i++)
		assert_int_equal(pcapio_epb_frame(at)[i], (uint8_t)(number + i * 7));
}

static struct capture_piece *next_piece(struct capture_source *s)
{
	void *p = NULL;

	return rte_ring_sc_dequeue(s->full, &p) == 0 ? p : NULL;
}

/* ---- workers ---- */

/* Frames of all lengths, in one segment or several, whole and cut. */
static void test_frames(void **state)
{
	struct rte_mempool *mp = pool_of(255);
	static const unsigned lens[] = {14, 60, 61, 62, 63, 64, 95, 96, 97, 511, 512, 513, 1514};
	static const unsigned snaps[] = {262144, 96, 61, 14, 1};

	(void)state;
	for (unsigned k = 0; k < ARRAY_SIZE(snaps); k++) {
		struct capture_source *s = source_of(NPIECES, false);
		struct rte_mbuf *m[ARRAY_SIZE(lens) + 1];
		unsigned n = ARRAY_SIZE(lens);
		s->snap = snaps[k];
		for (unsigned i = 0; i < n; i++)
			m[i] = frame_of(mp, lens[i], i);
		/* the last one again, in three segments */
		m[n] = frame_of(mp, 100, n);
		for (unsigned part = 0; part < 2; part++) {
			struct rte_mbuf *more = rte_pktmbuf_alloc(mp);
			uint8_t *p = (uint8_t *)rte_pktmbuf_append(more, 50);
			for (unsigned i = 0; i < 50; i++)
				p[i] = (uint8_t)(n + (100 + part * 50 + i) * 7);
			assert_int_equal(rte_pktmbuf_chain(m[n], more), 0);
		}
		capture_rx(s, NULL, m, n + 1, 1000 + k);
		assert_null(next_piece(s));
		capture_hand_over(s);
		struct capture_piece *p = next_piece(s);
		assert_non_null(p);
		assert_int_equal(p->frames, n + 1);
		uint32_t at = 0;
		uint64_t bytes = 0;
		for (unsigned i = 0; i <= n; i++) {
			unsigned len = i < n ? lens[i] : 200, cap = RTE_MIN(len, snaps[k]);
			if (cap >= sizeof(unsigned))
				check_block(p->data + at, i, len, cap, 1000 + k);
			at += pcapio_epb_length(p->data + at);
			bytes += len + 4;
		}
		assert_int_equal(at, p->used);
		assert_int_equal(bytes, p->bytes);
		assert_int_equal(s->seen, n + 1);
		assert_int_equal(s->accepted, n + 1);
		assert_int_equal(s->no_block, 0);
		rte_pktmbuf_free_bulk(m, n + 1);
		capture_source_free(s);
	}
	assert_true(rte_mempool_full(mp));
	rte_mempool_free(mp);
}

/* What comes after the end is neither counted nor written. */
static void test_end(void **state)
{
	struct rte_mempool *mp = pool_of(63);
	struct rte_mbuf *m[4];

	(void)state;
	for (int tx = 0; tx < 2; tx++) {
		struct capture_source *s = source_of(NPIECES, tx);
		s->end_tsc = tx ? rte_rdtsc() + rte_get_tsc_hz() / 50 : 2000;
		for (unsigned i = 0; i < 4; i++)
			m[i] = frame_of(mp, 60, i);
		if (tx) {
			capture_offered(s, m, 4);
			capture_taken(s, 4);
			while (rte_rdtsc() < s->end_tsc)
				;
			capture_offered(s, m, 4);
			capture_taken(s, 4);
			capture_offered(s, m, 4);
			capture_taken(s, 2);
		} else {
			capture_rx(s, NULL, m, 4, 1999);
			capture_rx(s, NULL, m, 4, 2000);
			capture_rx(s, NULL, m, 4, 2001);
		}
		capture_hand_over(s);
		struct capture_piece *p = next_piece(s);
		assert_int_equal(p->frames, 4);
		assert_int_equal(p->used, 4 * pcapio_epb_size(60));
		assert_int_equal(s->seen, 4);
		assert_int_equal(s->accepted, 4);
		rte_pktmbuf_free_bulk(m, 4);
		capture_source_free(s);
	}
	rte_mempool_free(mp);
}

/* The device takes a part of each burst, of any size, and offers the rest again. Every frame is in
 * the pieces once, whatever their size and wherever a piece ends. */
static void test_taken(void **state)
{
	struct rte_mempool *mp = pool_of(1023);
	struct rte_mbuf *m[DP_BURST_MAX];
	unsigned lens[MAX_FRAMES], number = 0, seen = 0, back = 0;
	struct capture_source *s = source_of(64, true);

	(void)state;
	for (unsigned i = 0; i < MAX_FRAMES; i++)
		lens[i] = 60 + any(1400);
	while (number < MAX_FRAMES) {
		unsigned n = 1 + any(DP_BURST_MAX - 1), at = 0;
		n = RTE_MIN(n, MAX_FRAMES - number);
		for (unsigned i = 0; i < n; i++)
			m[i] = frame_of(mp, lens[number + i], number + i);
		while (at < n) {
			unsigned take = any(4) == 0 ? 0 : any(n - at + 1);
			capture_offered(s, m + at, n - at);
			capture_taken(s, take);
			at += take;
		}
		number += n;
		rte_pktmbuf_free_bulk(m, n);
		assert_int_equal(s->seen, number);
		for (struct capture_piece *p; (p = next_piece(s)) != NULL;) {
			uint64_t bytes = 0;
			uint32_t off = 0;
			assert_true(p->used <= CAPTURE_ROOM && p->frames > 0);
			assert_true(p->used + pcapio_epb_size(lens[seen + p->frames]) >
				    CAPTURE_ROOM);
			for (unsigned i = 0; i < p->frames; i++, seen++) {
				const uint8_t *b = p->data + off;
				check_block(b, seen, lens[seen], lens[seen], pcapio_epb_stamp(b));
				bytes += lens[seen] + 4;
				off += pcapio_epb_length(b);
			}
			assert_int_equal(off, p->used);
			assert_int_equal(bytes, p->bytes);
			assert_true(p->first_ns <= p->last_ns);
			assert_int_equal(p->first_ns, pcapio_epb_stamp(p->data));
			rte_ring_sp_enqueue(s->empty, p);
			back++;
		}
	}
	capture_hand_over(s);
	struct capture_piece *last = next_piece(s);
	assert_int_equal(seen + (last != NULL ? last->frames : 0), MAX_FRAMES);
	assert_int_equal(s->accepted, MAX_FRAMES);
	assert_int_equal(s->no_block, 0);
	assert_true(back > 20);
	capture_source_free(s);
	rte_mempool_free(mp);
}

/* Nobody gives pieces back: all frames are in pieces or counted, and later ones go in again when
 * there is room. */
static void test_no_room(void **state)
{
	struct rte_mempool *mp = pool_of(1023);
	struct rte_mbuf *m[64];
	struct capture_source *s = source_of(NPIECES, true);
	uint64_t in = 0, offered = 0;
	struct capture_piece *p;

	(void)state;
	for (unsigned i = 0; i < 64; i++)
		m[i] = frame_of(mp, 1514, i);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 100; i++) {
			unsigned take = any(65);
			capture_offered(s, m, 64);
			capture_taken(s, take);
			offered += take;
		}
		assert_int_equal(s->seen, offered);
		assert_int_equal(s->accepted, offered);
		assert_true(s->no_block > 0);
		capture_hand_over(s);
		unsigned pieces = 0;
		for (; (p = next_piece(s)) != NULL; pieces++) {
			in += p->frames;
			rte_ring_sp_enqueue(s->empty, p);
		}
		assert_int_equal(pieces, NPIECES);
		assert_int_equal(in + s->no_block, s->accepted);
	}
	rte_pktmbuf_free_bulk(m, 64);
	capture_source_free(s);
	rte_mempool_free(mp);
}

/* ---- merging and limits ---- */

struct read_back {
	unsigned frames;
	uint64_t last_ns;
	unsigned number[MAX_FRAMES];
	uint64_t ns[MAX_FRAMES];
	unsigned stats;
	size_t bytes;
};

/* Reads a file. It must be whole blocks, with its statistics at the end where `ended`. */
static void read_file(const char *path, bool ended, struct read_back *r)
{
	static uint8_t buf[8 << 20];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd >= 0 ? read(fd, buf, sizeof(buf)) : -1;
	uint32_t type = 0;

	assert_true(n > 0 && n < (ssize_t)sizeof(buf));
	close(fd);
	*r = (struct read_back){.bytes = (size_t)n};
	for (const uint8_t *at = buf; at < buf + n; at += pcapio_word(at + 4)) {
		type = pcapio_word(at);
		assert_true(at + pcapio_word(at + 4) <= buf + n);
		assert_int_equal(pcapio_word(at + pcapio_word(at + 4) - 4), pcapio_word(at + 4));
		if (type == PCAPIO_EPB) {
			memcpy(&r->number[r->frames], pcapio_epb_frame(at), 4);
			r->ns[r->frames] = pcapio_epb_stamp(at);
			assert_true(r->ns[r->frames] >= r->last_ns);
			r->last_ns = r->ns[r->frames++];
		}
		r->stats += type == 5;
	}
	assert_true(!ended || (type == 5 && r->stats == 1));
}

static void no_stats(void *arg, unsigned iface, struct pcapio_stats *out)
{
	(void)arg, (void)iface;
	out->ns = 1;
}

static struct capture_out *out_of(const char *name, struct capture_to *to)
{
	struct sbuf path = {0};
	struct err e = {.text = ""};

	sbuf_addf(&path, "%s/%s", folder, name);
	to->path = path.s;
	to->nifaces = 1;
	to->iface = xcalloc(1, sizeof(*to->iface));
	struct capture_out *o = capture_out_open(to, -1, no_stats, NULL, &e);
	assert_string_equal(e.text, "");
	assert_non_null(o);
	return o;
}

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

#define SOURCES 3
struct merge_world {
	struct rte_mempool *mp;
	struct capture_source *s[SOURCES];
	struct capture_merge *m;
	struct capture_out *out;
	unsigned number;
	uint64_t now;
};

static void merge_open(struct merge_world *x, const char *name, struct capture_to *to,
		       unsigned npieces)
{
	static const unsigned iface[SOURCES];

	*x = (struct merge_world){.mp = pool_of(1023), .now = 1000};
	x->out = out_of(name, to);
	for (unsigned i = 0; i < SOURCES; i++) {
		x->s[i] = source_of(npieces, false);
		x->s[i]->horizon_ns = 0;
	}
	x->m = capture_merge_new(x->out, x->s, iface, SOURCES);
	x->m->told = true; /* there is no thread */
}

/* A burst of n frames comes to source i, at a time that is later than all before. */
static void merge_burst(struct merge_world *x, unsigned i, unsigned n)
{
	struct rte_mbuf *m[64];

	for (unsigned k = 0; k < n; k++)
		m[k] = frame_of(x->mp, 60 + any(100), x->number++);
	capture_rx(x->s[i], NULL, m, n, x->now);
	x->now += 1 + any(3);
	rte_pktmbuf_free_bulk(m, n);
}

static void merge_end(struct merge_world *x)
{
	for (unsigned i = 0; i < SOURCES; i++) {
		capture_hand_over(x->s[i]);
		cell_set(&x->s[i]->horizon_ns, UINT64_MAX);
	}
	capture_merge_close(x->m);
	for (unsigned i = 0; capture_merge_turn(&x->m->client) != WRITER_DONE; i++)
		assert_true(i < 100);
}

static void merge_free(struct merge_world *x)
{
	capture_merge_free(x->m);
	for (unsigned i = 0; i < SOURCES; i++)
		capture_source_free(x->s[i]);
	capture_out_free(x->out);
	assert_true(rte_mempool_full(x->mp));
	rte_mempool_free(x->mp);
}

/* Frames of several sources are in the order of their times, and none is missing, however the
 * sources hand over. */
static void test_merge(void **state)
{
	struct capture_to to = {0};
	static struct read_back r;
	struct merge_world x;

	(void)state;
	merge_open(&x, "merge.pcapng", &to, 64);
	while (x.number < MAX_FRAMES - 64) {
		merge_burst(&x, any(SOURCES), 1 + any(32));
		if (any(4) == 0) {
			unsigned i = any(SOURCES);
			capture_hand_over(x.s[i]);
			cell_set(&x.s[i]->horizon_ns, x.now);
		}
		if (any(8) == 0)
			capture_merge_turn(&x.m->client);
	}
	merge_end(&x);
	const struct capture_fates *f = capture_out_fates(x.out, 0);
	assert_int_equal(f->written, x.number);
	assert_int_equal(f->beyond_limit + f->write_failed + f->rotated_out, 0);
	read_file(path_of("merge.pcapng"), true, &r);
	assert_int_equal(r.frames, x.number);
	for (unsigned i = 0; i < r.frames; i++)
		assert_int_equal(r.number[i], i);
	assert_int_equal(r.bytes, capture_out_bytes(x.out));
	merge_free(&x);
}

/* While a source may still give an earlier frame, later ones of others wait; but not when their
 * memory is getting full. */
static void test_merge_waits(void **state)
{
	struct capture_to to = {0};
	struct merge_world x;

	(void)state;
	merge_open(&x, "waits.pcapng", &to, 8);
	const struct capture_fates *f = capture_out_fates(x.out, 0);
	merge_burst(&x, 0, 10);
	capture_hand_over(x.s[0]);
	cell_set(&x.s[2]->horizon_ns, 5000);
	capture_merge_turn(&x.m->client);
	assert_int_equal(capture_merge_turn(&x.m->client), WRITER_IDLE);
	assert_int_equal(f->written, 0);
	cell_set(&x.s[1]->horizon_ns, 5000);
	capture_merge_turn(&x.m->client);
	capture_merge_turn(&x.m->client);
	assert_int_equal(f->written, 10);
	x.now = 6000;
	for (unsigned i = 0; i < 4; i++) {
		merge_burst(&x, 0, 10);
		capture_hand_over(x.s[0]);
		capture_merge_turn(&x.m->client);
		capture_merge_turn(&x.m->client);
	}
	assert_int_equal(f->written, 20);
	merge_end(&x);
	assert_int_equal(f->written, 50);
	merge_free(&x);
}

/* Exactly so many frames are in the file, and the others are counted. */
static void test_limit_frames(void **state)
{
	static const unsigned limits[] = {1, 9, 10, 11, 299, 300};
	static struct read_back r;

	(void)state;
	for (unsigned k = 0; k < ARRAY_SIZE(limits); k++) {
		struct capture_to to = {.frames = limits[k]};
		struct merge_world x;
		merge_open(&x, "frames.pcapng", &to, 8);
		for (unsigned i = 0; i < 30; i++) {
			merge_burst(&x, i % SOURCES, 10);
			capture_merge_turn(&x.m->client);
		}
		merge_end(&x);
		const struct capture_fates *f = capture_out_fates(x.out, 0);
		assert_int_equal(f->written, limits[k]);
		assert_int_equal(f->beyond_limit, 300 - limits[k]);
		assert_int_equal(capture_out_why(x.out), CAPTURE_LIMIT_FRAMES);
		read_file(path_of("frames.pcapng"), true, &r);
		assert_int_equal(r.frames, limits[k]);
		merge_free(&x);
	}
}

/* No file is larger than its size, and another frame would have made it so. */
static void test_limit_size(void **state)
{
	struct capture_to to = {.size_bytes = 70000};
	static struct read_back r;
	struct merge_world x;

	(void)state;
	merge_open(&x, "size.pcapng", &to, 8);
	for (unsigned i = 0; i < 100; i++) {
		merge_burst(&x, 0, 20);
		capture_hand_over(x.s[0]);
		capture_merge_turn(&x.m->client);
	}
	merge_end(&x);
	const struct capture_fates *f = capture_out_fates(x.out, 0);
	read_file(path_of("size.pcapng"), true, &r);
	assert_int_equal(capture_out_why(x.out), CAPTURE_LIMIT_SIZE);
	assert_true(r.bytes <= 70000 && r.bytes > 70000 - 600);
	assert_int_equal(r.frames, f->written);
	assert_int_equal(f->written + f->beyond_limit, x.number);
	merge_free(&x);
}

/* A ring of files: what was written over is counted, and what is there follows without a gap. */
static void test_rotate(void **state)
{
	struct capture_to to = {.size_bytes = 70000, .rotate = 3};
	static struct read_back r;
	struct merge_world x;
	unsigned first = UINT_MAX, in = 0;

	(void)state;
	merge_open(&x, "ring.pcapng", &to, 8);
	for (unsigned i = 0; i < 190; i++) {
		merge_burst(&x, i % SOURCES, 20);
		capture_merge_turn(&x.m->client);
	}
	merge_end(&x);
	const struct capture_fates *f = capture_out_fates(x.out, 0);
	assert_int_equal(f->written, x.number);
	assert_true(capture_out_files(x.out) > 4);
	for (unsigned i = 1; i <= 3; i++) {
		char name[32];
		snprintf(name, sizeof(name), "ring_%05u.pcapng", i);
		read_file(path_of(name), true, &r);
		assert_true(r.bytes <= 70000);
		for (unsigned k = 1; k < r.frames; k++)
			assert_int_equal(r.number[k], r.number[0] + k);
		first = RTE_MIN(first, r.number[0]);
		in += r.frames;
	}
	assert_int_equal(in, x.number - first);
	assert_int_equal(in + f->rotated_out, x.number);
	assert_int_equal(access(path_of("ring_00004.pcapng"), F_OK), -1);
	merge_free(&x);
}

/* A file spans no more than its time. */
static void test_every(void **state)
{
	struct capture_to to = {.every_ns = 100, .rotate = 1000};
	static struct read_back r;
	struct merge_world x;
	unsigned in = 0;

	(void)state;
	merge_open(&x, "every.pcapng", &to, 8);
	for (unsigned i = 0; i < 300; i++)
		merge_burst(&x, 0, 3);
	merge_end(&x);
	unsigned n = (unsigned)capture_out_files(x.out);
	assert_true(n > 4);
	for (unsigned i = 1; i <= n; i++) {
		char name[32];
		snprintf(name, sizeof(name), "every_%05u.pcapng", i);
		read_file(path_of(name), true, &r);
		assert_true(r.frames > 0 && r.ns[r.frames - 1] - r.ns[0] < 100);
		assert_int_equal(r.number[0], in);
		in += r.frames;
	}
	assert_int_equal(in, x.number);
	merge_free(&x);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
	char line[128];

	(void)state;
	snprintf(line, sizeof(line), "rm -r %s", folder);
	return system(line);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),       cmocka_unit_test(test_end),
		cmocka_unit_test(test_taken),        cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_merge),        cmocka_unit_test(test_merge_waits),
		cmocka_unit_test(test_limit_frames), cmocka_unit_test(test_limit_size),
		cmocka_unit_test(test_rotate),       cmocka_unit_test(test_every),
	};

	(void)argc;
	int rc = eal_or_skip(argv[0]);
	if (rc != 0)
		return rc;
	any_seed = (unsigned)test_seed();
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
