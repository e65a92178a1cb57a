/* SPDX-License-Identifier: BSD-3-Clause */
/* Control takes the rings that workers hand over, gives them to the writer's thread, and opens the
 * recorder for the next fault when they are back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "recorder_ctl.h"

#define SECOND_NS 1000000000ull /* from one file to the next */
/* Rings that have not been handed over after so long are left out: their port may be paused. */
#define COLLECT_NS 300000000ull
#define LOOK_NS 2000000ull
#define ARMED_NS 20000000ull /* workers do not wake control when something happens */
#define CLOSE_NS 5000000000ull

static uint64_t word_of(const struct recorder *r)
{
	return __atomic_load_n(&r->group->word, __ATOMIC_ACQUIRE);
}

/* Gives a ring back to its queue, to be used again. */
static void ring_back(struct recorder_queue *q, struct recorder_ring *ring)
{
	recorder_ring_begin(ring);
	__atomic_store_n(&q->spare, ring, __ATOMIC_RELEASE);
}

/* ---- a file for rings ---- */

static void about_port(const struct ctl_port *cp, struct recorder_port_about *out)
{
	out->port = cp->p.id;
	snprintf(out->name, sizeof(out->name), "%s", cp->p.name);
	snprintf(out->description, sizeof(out->description), "port %u, -p %.100s", cp->p.id,
		 cp->p.spec_text);
	memcpy(out->mac, cp->p.mac.addr_bytes, sizeof(out->mac));
	out->speed_bps = cp->p.link_mbps * 1000000;
}

/* Which stream has which cell. */
static void name_streams(const struct ctl_port *cp, struct recorder_names *out)
{
	for (unsigned i = 0; i < cp->nstreams; i++) {
		const struct stream *s = stream_at(cp, i);
		if (s == NULL)
			continue;
		if (s->cell >= out->ncells) {
			out->id = xrealloc(out->id, (s->cell + 1) * sizeof(*out->id));
			while (out->ncells <= s->cell)
				out->id[out->ncells++] = UINT16_MAX;
		}
		out->id[s->cell] = (uint16_t)i;
	}
	out->nqueues = cp->p.ntxq;
}

static struct recorder_file *make_file(const struct ctl *c, const struct recorder *r)
{
	struct recorder_file *f = recorder_file_new(r->nqueues, r->nports, c->nports);

	f->nfeeds = 0;
	f->dir = r->dir;
	f->dir_text = r->spec.dir;
	f->program = r->spec.program;
	f->snap = r->spec.snap;
	f->dump = r->dump;
	for (unsigned i = 0, n = 0; i < c->nports; i++) {
		if (portset_has(&r->spec.ports, i))
			about_port(c->port[i], &f->iface[n++]);
		if (c->port[i]->p.used)
			name_streams(c->port[i], &f->names[i]);
	}
	clock_wall_at(&f->tsc_at, &f->ns_at);
	f->ns_of_cycle = 1e9 / clock_hz();
	return f;
}

static unsigned iface_of(const struct recorder_file *f, unsigned port)
{
	unsigned i = 0;

	while (f->iface[i].port != port)
		i++;
	return i;
}

static void add_feed(struct recorder_file *f, const struct recorder_queue *q,
		     struct recorder_ring *ring)
{
	f->feed[f->nfeeds++] = (struct recorder_feed){.ring = ring,
						      .iface = iface_of(f, q->port),
						      .port = q->port,
						      .queue = q->queue,
						      .tx = q->tx};
}

/* The queue that a feed's ring is of. */
static struct recorder_queue *queue_of(const struct recorder *r, const struct recorder_feed *feed)
{
	unsigned i = 0;

	while (r->queue[i]->port != feed->port || r->queue[i]->queue != feed->queue ||
	       r->queue[i]->tx != feed->tx)
		i++;
	return r->queue[i];
}

/* The file is over, or never began: its rings go back. */
static void file_back(struct recorder *r)
{
	struct recorder_file *f = r->file;

	for (unsigned i = 0; i < f->nfeeds; i++)
		ring_back(queue_of(r, &f->feed[i]), f->feed[i].ring);
	recorder_file_free(f);
	r->file = NULL;
	r->dump = false;
}

/* ---- taking rings ---- */

/* Are the rings of this word all handed over? Older ones go back. */
static bool all_handed(struct recorder *r, uint64_t word)
{
	bool all = true;

	for (unsigned i = 0; i < r->nqueues; i++) {
		struct recorder_queue *q = r->queue[i];
		struct recorder_ring *ring = __atomic_load_n(&q->frozen, __ATOMIC_ACQUIRE);
		if (ring != NULL && ring->epoch != word) {
			r->unwritten[RECORDER_BUSY] += ring->nfaults;
			__atomic_store_n(&q->frozen, NULL, __ATOMIC_RELAXED);
			ring_back(q, ring);
			ring = NULL;
		}
		all &= ring != NULL;
	}
	return all;
}

static void take_rings(struct ctl *c, struct recorder *r, uint64_t word)
{
	r->file = make_file(c, r);
	for (unsigned i = 0; i < r->nqueues; i++) {
		struct recorder_queue *q = r->queue[i];
		struct recorder_ring *ring = __atomic_load_n(&q->frozen, __ATOMIC_ACQUIRE);
		if (ring == NULL)
			continue;
		__atomic_store_n(&q->frozen, NULL, __ATOMIC_RELAXED);
		add_feed(r->file, q, ring);
	}
	r->done = word;
	r->since_ns = 0;
}

/* No worker has the queues any more: what was not handed over is taken where it is. */
static void take_all(struct recorder *r, uint64_t word)
{
	for (unsigned i = 0; i < r->nqueues; i++) {
		struct recorder_queue *q = r->queue[i];
		if (q->frozen != NULL)
			continue;
		q->ring->epoch = word;
		q->frozen = q->ring;
		q->ring = q->spare;
		q->spare = NULL;
	}
}

/* Why no file is to be written now; RECORDER_WHYS: one is. */
static enum recorder_why may_write(const struct ctl *c, const struct recorder *r, uint64_t now_ns)
{
	const struct recorders *all = recorders_of(c);

	if (all->files >= RECORDER_FILES_MOST)
		return RECORDER_LIMIT;
	/* a person who asks, and the end, need not wait */
	if (all->files > 0 && now_ns - all->last_ns < SECOND_NS && !r->dump &&
	    r->stage == RECORDER_ON)
		return RECORDER_RATE;
	return RECORDER_WHYS;
}

static void begin_file(struct ctl *c, struct recorder *r, uint64_t now_ns)
{
	struct recorders *all = recorders_of(c);
	enum recorder_why why = may_write(c, r, now_ns);
	struct err e;
	struct writer *w = why == RECORDER_WHYS ? ctl_writer(c, &e) : NULL;

	if (w != NULL) {
		all->files++;
		all->last_ns = now_ns;
		writer_add(w, &r->file->client);
		return;
	}
	r->unwritten[why == RECORDER_WHYS ? RECORDER_FAILED : why] += recorder_file_faults(r->file);
	file_back(r);
}

/* ---- what came of it ---- */

static void end_file(struct ctl *c, struct recorder *r)
{
	struct recorder_file *f = r->file;
	unsigned port = recorder_file_port(f);
	uint64_t faults = recorder_file_faults(f);

	if (f->error != 0) {
		r->nfailed++;
		r->unwritten[RECORDER_FAILED] += faults;
		snprintf(r->why, sizeof(r->why), "%s", strerror(f->error));
		ctl_note(c, port, "recorder of port %u: '%s' could not be written: %s", port,
			 f->path, r->why);
	} else {
		r->nfiles++;
		r->in_files += faults;
		snprintf(r->last, sizeof(r->last), "%s", f->path);
		ctl_note(c, port, "recorder of port %u: %llu fault%s, %llu frames in '%s'", port,
			 (unsigned long long)faults, faults == 1 ? "" : "s",
			 (unsigned long long)f->frames, f->path);
	}
	file_back(r);
	if (recorders_of(c)->files == RECORDER_FILES_MOST)
		ctl_note(
			c, port,
			"recorder: that was file %u of %u; no more are written until the program is started again",
			RECORDER_FILES_MOST, RECORDER_FILES_MOST);
}

/* Opens the recorder for the next fault, if it may. */
static void open_again(struct ctl *c, struct recorder *r, uint64_t now_ns)
{
	enum recorder_why why = may_write(c, r, now_ns);

	if (why != RECORDER_WHYS) {
		cell_set(&r->group->why, why);
		return;
	}
	for (unsigned i = 0; i < r->nqueues; i++)
		if (__atomic_load_n(&r->queue[i]->spare, __ATOMIC_ACQUIRE) == NULL)
			return;
	cell_set(&r->group->why, RECORDER_BUSY);
	__atomic_store_n(&r->group->open, r->done, __ATOMIC_RELEASE);
}

/* It is over: its memory goes, what it has counted stays. */
static void recorder_over(struct recorder *r)
{
	r->stage = RECORDER_OFF;
	r->kept = xcalloc(r->nqueues + 1, sizeof(*r->kept));
	for (unsigned i = 0; i < r->nqueues; i++)
		recorder_count_of(r, i, &r->kept[i]);
	r->nkept = r->nqueues;
	recorder_free_queues(r);
}

/* true: more may come of it at once. */
static bool recorder_step(struct ctl *c, struct recorder *r, uint64_t now_ns)
{
	uint64_t word;

	if (r->stage == RECORDER_OFF)
		return false;
	if (r->file != NULL) {
		if (!writer_over(&r->file->client))
			return false;
		end_file(c, r);
	}
	word = word_of(r);
	if (r->stage == RECORDER_ENDING && (r->refs == 0 || r->alone)) {
		/* a fault that no queue has frozen yet */
		word = (word + 1) & ~1ull;
		r->group->word = word;
		if (word != r->done)
			take_all(r, word);
		else
			recorder_over(r);
	}
	if (r->stage == RECORDER_OFF)
		return false;
	if ((word & 1) == 0 && word != r->done) {
		r->since_ns = r->since_ns == 0 ? now_ns : r->since_ns;
		if (!all_handed(r, word) && now_ns - r->since_ns < COLLECT_NS)
			return false;
		take_rings(c, r, word);
		begin_file(c, r, now_ns);
		return r->file == NULL;
	}
	if (r->stage == RECORDER_ON && word == r->done && r->group->open != word)
		open_again(c, r, now_ns);
	return false;
}

void recorders_turn(struct ctl *c)
{
	uint64_t now_ns = clock_raw_ns();

	for (struct recorder *r = recorders_of(c)->first; r != NULL; r = r->next)
		while (recorder_step(c, r, now_ns))
			;
}

uint64_t recorders_next_ns(const struct ctl *c)
{
	uint64_t next = UINT64_MAX;

	for (const struct recorder *r = recorders_of(c)->first; r != NULL; r = r->next) {
		if (r->stage == RECORDER_OFF)
			continue;
		bool soon = r->stage == RECORDER_ENDING || r->dump || r->since_ns != 0;
		next = RTE_MIN(next, soon ? LOOK_NS : ARMED_NS);
	}
	return next;
}

/* No worker runs any more: what was noted is written, and not waited for without end. */
void recorders_close(struct ctl *c)
{
	struct clock_wait wait = {0};
	bool busy = true;

	for (struct recorder *r = recorders_of(c)->first; r != NULL; r = r->next) {
		r->stage = r->stage == RECORDER_ON ? RECORDER_ENDING : r->stage;
		r->alone = true;
	}
	while (busy && clock_waited(&wait, clock_raw_ns()) < CLOSE_NS) {
		recorders_turn(c);
		busy = false;
		for (const struct recorder *r = recorders_of(c)->first; r != NULL; r = r->next)
			busy |= r->stage != RECORDER_OFF;
		if (busy)
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}
