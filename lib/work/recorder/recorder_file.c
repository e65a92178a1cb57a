/* SPDX-License-Identifier: BSD-3-Clause */
/* One file of a recorder, on the thread of the writer: the rings of its queues become one sequence
 * by time, with comments on the frames that faults are about. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "frame_probe.h"
#include "pcapio.h"
#include "recorder_ctl.h"
#include "userfile.h"

#define BUF_BYTES (1u << 20)
#define BLOCK_BYTES (PCAPIO_MAX_TEXT + (64u << 10)) /* a frame with its comments, at most */
#define FRAMES_A_TURN 4096                          /* others wait for the thread too */
#define NAME_TRIES 20
#define COMMENTS_MOST 8 /* of one frame */
#define ETH_BYTES 14

/* Where the writer stands in a ring. */
struct cursor {
	uint64_t at;  /* number of the next frame */
	uint64_t run; /* and the run that it is in */
};

/* A probe that was found in a frame. */
struct seen {
	uint64_t key; /* which frame it is: see key_of() */
	uint64_t tsc;
};

/* A comment on a frame. */
struct mark {
	unsigned feed;
	uint64_t at; /* number of the frame in the feed's ring */
	char *text;
};

struct recorder_writing {
	struct cursor *cursor; /* [nfeeds] */
	struct seen *came;     /* sorted by key: probes of received frames */
	size_t ncame;
	struct mark *mark; /* sorted by feed and frame */
	size_t nmarks, cap;
	size_t *next_mark; /* [nfeeds]: the first one that is not written yet */
	uint8_t *buf;
	size_t len;
	int fd;
	uint64_t whole; /* bytes of the file that are whole blocks */
};

/* ---- frames of rings ---- */

/* The oldest frame that is there. */
static struct cursor cursor_begin(const struct recorder_ring *r)
{
	struct cursor c = {.at = recorder_ring_first(r)};

	c.run = c.at < r->count ? recorder_ring_run_of(r, c.at) : 0;
	return c;
}

static void cursor_next(const struct recorder_ring *r, struct cursor *c)
{
	c->at++;
	if (c->run + 1 < r->nruns && recorder_ring_run(r, c->run + 1)->first <= c->at)
		c->run++;
}

static const uint8_t *bytes_of(const struct recorder_ring *r, uint64_t at)
{
	return r->data + (size_t)(at % r->frames) * r->stride;
}

/* ---- probes in frames ---- */

/* Port, stream, Tx queue and number of a frame in one word. */
static uint64_t key_of(unsigned port, unsigned stream, unsigned queue, uint32_t seq)
{
	return (uint64_t)port << 51 | (uint64_t)queue << 45 | (uint64_t)stream << 32 | seq;
}

/* Is this the probe of a stream that there is? */
static bool is_ours(const struct recorder_file *f, const struct probe *p)
{
	const struct recorder_names *n = p->port < f->nnames ? &f->names[p->port] : NULL;

	return n != NULL && p->queue < n->nqueues && p->stream < n->ncells;
}

/* Looks for a probe in a frame, first where the one before was. Returns false if there is none. */
static bool find_probe(const struct recorder_file *f, const uint8_t *b, uint32_t len,
		       uint32_t *place, struct probe *out)
{
	uint64_t w[2];

	for (uint32_t i = 0, at = *place; at + PROBE_LEN <= len || i == 0;
	     at = i++ == 0 ? ETH_BYTES : at + 2) {
		if (at + PROBE_LEN > len)
			continue;
		memcpy(w, b + at, sizeof(w));
		w[0] = be64toh(w[0]);
		w[1] = be64toh(w[1]);
		if (!probe_right(w[0], w[1]) || PROBE_STREAM(w[1]) == PROBE_NONE)
			continue;
		*out = probe_of(w[0], w[1]);
		if (!is_ours(f, out))
			continue;
		*place = at;
		return true;
	}
	return false;
}

static int by_key(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
				: (x->tsc > y->tsc) - (x->tsc < y->tsc);
}

/* Notes all probes that were received. */
static void note_came(const struct recorder_file *f, struct recorder_writing *w)
{
	uint64_t most = 0;
	uint32_t place = 42;

	for (unsigned i = 0; i < f->nfeeds; i++)
		most += f->feed[i].tx ? 0
				      : RTE_MIN(f->feed[i].ring->count,
						(uint64_t)f->feed[i].ring->frames);
	w->came = xcalloc(most + 1, sizeof(*w->came));
	for (unsigned i = 0; i < f->nfeeds; i++) {
		const struct recorder_ring *r = f->feed[i].ring;
		struct cursor c = cursor_begin(r);
		struct probe p;
		for (; !f->feed[i].tx && c.at < r->count; cursor_next(r, &c))
			if (find_probe(f, bytes_of(r, c.at), recorder_ring_run(r, c.run)->caplen,
				       &place, &p))
				w->came[w->ncame++] =
					(struct seen){key_of(p.port, p.stream, p.queue, p.seq),
						      recorder_ring_run(r, c.run)->tsc};
	}
	qsort(w->came, w->ncame, sizeof(*w->came), by_key);
}

/* When the frame came for the last time before `tsc`; 0: it did not come, as far as is known. */
static uint64_t came_at(const struct recorder_writing *w, uint64_t key, uint64_t tsc)
{
	size_t low = 0, high = w->ncame;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (w->came[mid].key < key || (w->came[mid].key == key && w->came[mid].tsc <= tsc))
			low = mid + 1;
		else
			high = mid;
	}
	return low > 0 && w->came[low - 1].key == key ? w->came[low - 1].tsc : 0;
}

/* ---- comments ---- */

static void add_mark(struct recorder_writing *w, unsigned feed, uint64_t at, struct sbuf *text)
{
	if (w->nmarks == w->cap) {
		w->cap = w->cap != 0 ? 2 * w->cap : 64;
		w->mark = xrealloc(w->mark, w->cap * sizeof(*w->mark));
	}
	w->mark[w->nmarks++] = (struct mark){feed, at, text->s};
	*text = (struct sbuf){0};
}

static int by_frame(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return x->feed != y->feed ? (x->feed > y->feed) - (x->feed < y->feed)
				  : (x->at > y->at) - (x->at < y->at);
}

/* Comments on received frames of which a fault was told. */
static void mark_received(const struct recorder_file *f, struct recorder_writing *w)
{
	for (unsigned i = 0; i < f->nfeeds; i++) {
		const struct recorder_ring *r = f->feed[i].ring;
		for (unsigned k = 0; k < r->nfaults; k++) {
			const struct recorder_fault *x = &r->fault[k];
			struct sbuf text = {0};
			if (x->at >= r->count || x->at < recorder_ring_first(r))
				continue;
			uint64_t was = x->kind == DP_FAULT_LOSS
					       ? came_at(w,
							 key_of(x->port, x->stream, x->txq,
								x->expected - 1),
							 x->tsc)
					       : 0;
			recorder_comment_rx(f, x, was != 0 ? x->tsc - was : RECORDER_UNKNOWN,
					    &text);
			add_mark(w, i, x->at, &text);
		}
	}
}

/* Is the fault about this frame that was sent? */
static bool fault_is_of(const struct recorder_writing *w, const struct recorder_fault *x,
			const struct probe *p)
{
	if (!x->known || x->port != p->port || x->stream != p->stream || x->txq != p->queue)
		return false;
	if (x->kind != DP_FAULT_LOSS)
		return x->seq == p->seq;
	return p->seq - x->expected < x->missing &&
	       came_at(w, key_of(p->port, p->stream, p->queue, p->seq), UINT64_MAX) == 0;
}

/* Comments on frames that were sent, and of which a fault was told where they came or not. */
static void mark_sent(const struct recorder_file *f, struct recorder_writing *w, unsigned feed)
{
	const struct recorder_ring *r = f->feed[feed].ring;
	struct cursor c = cursor_begin(r);
	uint32_t place = 42;
	struct probe p;

	for (; c.at < r->count; cursor_next(r, &c)) {
		if (!find_probe(f, bytes_of(r, c.at), recorder_ring_run(r, c.run)->caplen, &place,
				&p) ||
		    p.port != f->feed[feed].port || p.queue != f->feed[feed].queue)
			continue;
		for (unsigned i = 0; i < f->nfeeds; i++) {
			const struct recorder_ring *o = f->feed[i].ring;
			for (unsigned k = 0; k < o->nfaults; k++) {
				struct sbuf text = {0};
				if (!fault_is_of(w, &o->fault[k], &p))
					continue;
				recorder_comment_tx(f, &o->fault[k], p.seq, &text);
				add_mark(w, feed, c.at, &text);
			}
		}
	}
}

/* ---- the file ---- */

/* Makes a new file, named by time. */
static int name_file(struct recorder_file *f)
{
	char name[128];
	time_t s = (time_t)(f->ns_at / 1000000000);
	unsigned ms = (unsigned)(f->ns_at / 1000000 % 1000), port = recorder_file_port(f);
	const char *why;
	struct tm tm;
	int fd = -EEXIST;

	localtime_r(&s, &tm);
	for (unsigned i = 0; i < NAME_TRIES && fd == -EEXIST; i++) {
		size_t n = strftime(name, sizeof(name), "wirerate-recorder-%Y%m%d-%H%M%S", &tm);
		n += (size_t)snprintf(name + n, sizeof(name) - n, ".%03u-port%u", ms, port);
		if (i > 0)
			n += (size_t)snprintf(name + n, sizeof(name) - n, "-%u", i + 1);
		snprintf(name + n, sizeof(name) - n, ".pcapng");
		fd = userfile_open_at(f->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666,
				      &why);
		/* something else of that name: the next one may be free */
		fd = fd == -EINVAL || fd == -ELOOP ? -EEXIST : fd;
	}
	if (f->dir_text[0] != '\0')
		snprintf(f->path, sizeof(f->path), "%.380s/%s", f->dir_text, name);
	else
		snprintf(f->path, sizeof(f->path), "%s", name);
	return fd;
}

/* Gives the file what is in the buffer, which is whole blocks. A file that takes no more ends
 * behind the last whole block that it has from before. */
static void file_flush(struct recorder_file *f, struct recorder_writing *w)
{
	size_t done = 0;

	while (done < w->len && f->error == 0) {
		ssize_t n = write(w->fd, w->buf + done, w->len - done);
		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			f->error = n == 0 ? EIO : errno;
	}
	if (f->error == 0)
		w->whole += w->len;
	else if (ftruncate(w->fd, (off_t)w->whole) != 0)
		f->error = errno;
	w->len = 0;
}

/* Takes the bytes of a block that was put behind the others. */
static void file_took(struct recorder_file *f, struct recorder_writing *w, ssize_t n)
{
	if (n < 0 && f->error == 0)
		f->error = (int)-n;
	w->len += n > 0 ? (size_t)n : 0;
	if (w->len + BLOCK_BYTES > BUF_BYTES)
		file_flush(f, w);
}

static void put_head(struct recorder_file *f, struct recorder_writing *w)
{
	struct sbuf os = {0}, about = {0};
	struct utsname u;

	if (uname(&u) == 0)
		sbuf_addf(&os, "%s %s", u.sysname, u.release);
	recorder_comment_file(f, &about);
	const char *comment = sbuf_str(&about);
	const struct pcapio_section sec = {.os = os.s,
					   .application = f->program,
					   .comments = &comment,
					   .ncomments = 1};
	file_took(f, w, pcapio_put_section(w->buf + w->len, BUF_BYTES - w->len, &sec));
	for (unsigned i = 0; i < f->nifaces; i++) {
		const struct recorder_port_about *p = &f->iface[i];
		struct pcapio_interface d = {.link_type = PCAPIO_ETHERNET,
					     .has_mac = true,
					     .snaplen = f->snap,
					     .speed_bps = p->speed_bps,
					     .name = p->name,
					     .description = p->description};
		memcpy(d.mac, p->mac, sizeof(d.mac));
		file_took(f, w, pcapio_put_interface(w->buf + w->len, BUF_BYTES - w->len, &d));
	}
	sbuf_free(&os);
	sbuf_free(&about);
}

static uint64_t stamp_of(const struct recorder_file *f, uint64_t tsc)
{
	return f->ns_at + (uint64_t)(int64_t)((double)(int64_t)(tsc - f->tsc_at) * f->ns_of_cycle);
}

static void put_frame(struct recorder_file *f, struct recorder_writing *w, unsigned feed)
{
	const struct recorder_feed *from = &f->feed[feed];
	const struct cursor *c = &w->cursor[feed];
	const struct recorder_run *run = recorder_ring_run(from->ring, c->run);
	const char *comment[COMMENTS_MOST];
	struct pcapio_record rec = {.interface = from->iface,
				    .has_queue = true,
				    .ns = stamp_of(f, run->tsc),
				    .frame = bytes_of(from->ring, c->at),
				    .caplen = run->caplen,
				    .origlen = run->len,
				    .flags = from->tx ? PCAPIO_OUTBOUND : PCAPIO_INBOUND,
				    .queue = from->queue,
				    .comments = comment};
	size_t *m = &w->next_mark[feed];

	for (; *m < w->nmarks && w->mark[*m].feed == feed && w->mark[*m].at <= c->at; ++*m)
		if (w->mark[*m].at == c->at && rec.ncomments < COMMENTS_MOST)
			comment[rec.ncomments++] = w->mark[*m].text;
	file_took(f, w, pcapio_put_record(w->buf + w->len, BUF_BYTES - w->len, &rec));
	f->frames++;
}

/* The feed whose next frame is the earliest; nfeeds: there are no more. Of frames of one time,
 * those that were sent are first. */
static unsigned next_feed(const struct recorder_file *f, const struct recorder_writing *w)
{
	unsigned best = f->nfeeds;
	uint64_t tsc = UINT64_MAX;

	for (unsigned i = 0; i < f->nfeeds; i++) {
		const struct recorder_ring *r = f->feed[i].ring;
		if (w->cursor[i].at >= r->count)
			continue;
		uint64_t t = recorder_ring_run(r, w->cursor[i].run)->tsc;
		if (best < f->nfeeds &&
		    (t > tsc || (t == tsc && (!f->feed[i].tx || f->feed[best].tx))))
			continue;
		best = i;
		tsc = t;
	}
	return best;
}

/* ---- the client ---- */

static void writing_end(struct recorder_file *f)
{
	struct recorder_writing *w = f->own;

	if (w->fd >= 0) {
		file_flush(f, w);
		f->bytes = w->whole;
		close(w->fd);
	}
	for (size_t i = 0; i < w->nmarks; i++)
		free(w->mark[i].text);
	free(w->mark);
	free(w->next_mark);
	free(w->came);
	free(w->cursor);
	free(w->buf);
	free(w);
	f->own = NULL;
}

static void writing_begin(struct recorder_file *f)
{
	struct recorder_writing *w = xcalloc(1, sizeof(*w));

	f->own = w;
	w->fd = name_file(f);
	if (w->fd < 0) {
		f->error = -w->fd;
		return;
	}
	w->cursor = xcalloc(f->nfeeds + 1, sizeof(*w->cursor));
	w->next_mark = xcalloc(f->nfeeds + 1, sizeof(*w->next_mark));
	w->buf = xcalloc(1, BUF_BYTES);
	note_came(f, w);
	mark_received(f, w);
	for (unsigned i = 0; i < f->nfeeds; i++)
		if (f->feed[i].tx)
			mark_sent(f, w, i);
	if (w->nmarks > 0)
		qsort(w->mark, w->nmarks, sizeof(*w->mark), by_frame);
	for (unsigned i = 0; i < f->nfeeds; i++) {
		w->cursor[i] = cursor_begin(f->feed[i].ring);
		while (w->next_mark[i] < w->nmarks && w->mark[w->next_mark[i]].feed < i)
			w->next_mark[i]++;
	}
	put_head(f, w);
}

enum writer_turn recorder_file_turn(struct writer_client *client)
{
	struct recorder_file *f = (struct recorder_file *)client;
	unsigned feed = 0;

	if (f->own == NULL)
		writing_begin(f);
	for (unsigned i = 0; i < FRAMES_A_TURN && f->error == 0; i++) {
		feed = next_feed(f, f->own);
		if (feed == f->nfeeds)
			break;
		put_frame(f, f->own, feed);
		cursor_next(f->feed[feed].ring, &f->own->cursor[feed]);
	}
	if (f->error == 0 && feed < f->nfeeds)
		return WRITER_MOVED;
	writing_end(f);
	return WRITER_DONE;
}

struct recorder_file *recorder_file_new(unsigned nfeeds, unsigned nifaces, unsigned nnames)
{
	struct recorder_file *f = xcalloc(1, sizeof(*f));

	f->client.turn = recorder_file_turn;
	f->nfeeds = nfeeds;
	f->nifaces = nifaces;
	f->nnames = nnames;
	f->feed = xcalloc(nfeeds + 1, sizeof(*f->feed));
	f->iface = xcalloc(nifaces + 1, sizeof(*f->iface));
	f->names = xcalloc(nnames + 1, sizeof(*f->names));
	return f;
}

void recorder_file_free(struct recorder_file *f)
{
	if (f == NULL)
		return;
	for (unsigned i = 0; i < f->nnames; i++)
		free(f->names[i].id);
	free(f->names);
	free(f->iface);
	free(f->feed);
	free(f);
}
