/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture_merge.h"

#include <stdlib.h>

/* Turns, of 1 to 5 ms, in which a pipe may take nothing when the capture is to end. */
#define CLOSING_TURNS 1000

struct capture_merge *capture_merge_new(struct capture_out *out,
					struct capture_source *const *source, const unsigned *iface,
					unsigned n)
{
	struct capture_merge *m = xcalloc(1, sizeof(*m));

	m->client.turn = capture_merge_turn;
	m->out = out;
	m->nfeeds = n;
	m->feed = xcalloc(n, sizeof(*m->feed));
	for (unsigned i = 0; i < n; i++) {
		m->feed[i].source = source[i];
		m->feed[i].iface = iface[i];
		m->feed[i].piece = xcalloc(source[i]->npieces, sizeof(*m->feed[i].piece));
	}
	return m;
}

void capture_merge_free(struct capture_merge *m)
{
	if (m == NULL)
		return;
	for (unsigned i = 0; i < m->nfeeds; i++)
		free(m->feed[i].piece);
	free(m->feed);
	free(m);
}

void capture_merge_close(struct capture_merge *m)
{
	__atomic_store_n(&m->closing, true, __ATOMIC_RELEASE);
}

static struct capture_piece *feed_piece(const struct capture_feed *f)
{
	return f->piece[f->head];
}

/* The stamp of the next frame. */
static uint64_t feed_ns(const struct capture_feed *f)
{
	return pcapio_epb_stamp(feed_piece(f)->data + f->off);
}

/* Takes what has come. The horizon is read first: all frames before it are in the ring then. */
static void feed_take(struct capture_feed *f, bool closing)
{
	struct capture_source *s = f->source;
	void *p;

	f->horizon_ns = closing ? UINT64_MAX : __atomic_load_n(&s->horizon_ns, __ATOMIC_ACQUIRE);
	while (f->n < s->npieces && rte_ring_sc_dequeue(s->full, &p) == 0) {
		unsigned at = f->head + f->n++;
		f->piece[at < s->npieces ? at : at - s->npieces] = p;
	}
}

/* Gives the first piece back to its worker. */
static void feed_next(struct capture_feed *f)
{
	rte_ring_sp_enqueue(f->source->empty, feed_piece(f));
	f->head = f->head + 1 < f->source->npieces ? f->head + 1 : 0;
	f->n--;
	f->off = f->frames = 0;
	f->bytes = 0;
}

/* The feed with the earliest frame. NULL: nothing waits. *limit_ns: no other source gives a frame
 * that is earlier than this. */
static struct capture_feed *merge_first(struct capture_merge *m, uint64_t *limit_ns)
{
	struct capture_feed *first = NULL;
	uint64_t first_ns = 0, limit = UINT64_MAX;

	for (unsigned i = 0; i < m->nfeeds; i++) {
		struct capture_feed *f = &m->feed[i];
		uint64_t ns = f->n > 0 ? feed_ns(f) : f->horizon_ns;
		if (f->n > 0 && (first == NULL || ns < first_ns)) {
			limit = first != NULL && first_ns < limit ? first_ns : limit;
			first = f;
			first_ns = ns;
		} else if (ns < limit) {
			limit = ns;
		}
	}
	*limit_ns = limit;
	/* A source that is silent because its worker has no CPU must not make others lose frames:
	 * better that some are out of order. */
	if (first != NULL && first->n >= first->source->npieces / 2 && first_ns > limit)
		*limit_ns = first_ns;
	return first;
}

/* The blocks of the feed's first piece with stamps up to limit_ns. */
static void feed_run(const struct capture_feed *f, uint64_t limit_ns, struct capture_blocks *run)
{
	const struct capture_piece *p = feed_piece(f);

	*run = (struct capture_blocks){.at = p->data + f->off,
				       .iface = f->iface,
				       .first_ns = feed_ns(f)};
	if (p->last_ns <= limit_ns) {
		run->len = p->used - f->off;
		run->frames = p->frames - f->frames;
		run->bytes = p->bytes - f->bytes;
		run->last_ns = p->last_ns;
		return;
	}
	for (const uint8_t *at = run->at; f->off + run->len < p->used; at = run->at + run->len) {
		uint64_t ns = pcapio_epb_stamp(at);
		if (ns > limit_ns)
			break;
		run->last_ns = ns;
		run->bytes += pcapio_epb_origlen(at) + RTE_ETHER_CRC_LEN;
		run->len += pcapio_epb_length(at);
		run->frames++;
	}
}

/* Writes what is in order. Returns whether that was anything. */
static bool merge_write(struct capture_merge *m)
{
	struct capture_blocks run;
	struct capture_feed *f;
	uint64_t limit_ns;
	bool moved = false;

	while ((f = merge_first(m, &limit_ns)) != NULL && feed_ns(f) <= limit_ns) {
		feed_run(f, limit_ns, &run);
		if (!capture_out_put(m->out, &run))
			break;
		moved = true;
		f->off += run.len;
		f->frames += run.frames;
		f->bytes += run.bytes;
		if (f->off == feed_piece(f)->used)
			feed_next(f);
	}
	return moved;
}

enum writer_turn capture_merge_turn(struct writer_client *c)
{
	struct capture_merge *m = (struct capture_merge *)c;
	bool closing = __atomic_load_n(&m->closing, __ATOMIC_ACQUIRE), waits = false;

	for (unsigned i = 0; i < m->nfeeds; i++)
		feed_take(&m->feed[i], closing);
	bool moved = merge_write(m);
	size_t left = moved ? 1 : capture_out_flush(m->out);
	/* A reader that takes nothing must not keep a capture from its end. */
	if (closing && !moved && left > 0 && left == m->left && ++m->still > CLOSING_TURNS)
		capture_out_give_up(m->out);
	m->still = left == m->left && !moved ? m->still : 0;
	m->left = left;
	for (unsigned i = 0; i < m->nfeeds; i++)
		waits |= m->feed[i].n > 0;
	if (closing && !waits) {
		capture_out_end(m->out);
		return WRITER_DONE;
	}
	if (capture_out_why(m->out) != CAPTURE_GOES_ON && !m->told) {
		m->told = true;
		writer_tell(m->thread);
	}
	return moved ? WRITER_MOVED : WRITER_IDLE;
}
