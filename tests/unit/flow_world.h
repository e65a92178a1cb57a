/* SPDX-License-Identifier: BSD-3-Clause */
/* Two machines of lib/flow back to back, in virtual time: what one puts into its sink the other
 * receives after a while, unless a test loses it, or lets it come late, twice or damaged. */
#pragma once
#include "cmocka_names.h"
#include <stdlib.h>
#include "flow.h"
#include "workload.h"

#define MS 1000000ull
#define SECOND 1000000000ull

#define WORLD_FRAMES 8192
#ifndef WORLD_ROOM
#define WORLD_ROOM 2048
#endif
#define WORLD_OUT 512

/* A frame on its way. */
struct world_frame {
	uint64_t when;
	uint32_t len, nr; /* nr: the how manieth that this end has sent */
	uint8_t to, segments;
	bool partial; /* its checksum was left to a device */
	uint8_t data[WORLD_ROOM];
};

/* One end. */
struct world_end {
	struct flow_machine *m;
	struct flow_sink sink;
	struct flow_room room[FLOW_ROOMS][WORLD_OUT];
	struct flow_out out[WORLD_OUT];
	uint8_t buffer[FLOW_ROOMS][WORLD_OUT][WORLD_ROOM];
	struct flow_counts counts;
	struct wl_counts transactions;
	struct wl_numbers numbers;
	struct wl_content content[2];
	struct wl_flow wl;
	struct flow_tuples *tuples;
	struct flow_path path;
	struct flow_spec spec;
	int version;
	uint32_t sent;
};

struct world {
	uint64_t now;
	uint64_t delay; /* of each frame, ns */
	struct world_end end[2];
	struct world_frame *frame[WORLD_FRAMES];
	unsigned nframe, most_frames;
	unsigned l3; /* where the innermost IP header begins */
	/* Called for each frame that is sent; false: it is lost. It may change the frame. NULL: all
	 * arrive as they are. */
	bool (*fault)(struct world *w, unsigned from, struct world_frame *f);
	/* Called for each frame that arrives: how a machine is to be given it. May be NULL. */
	void (*shape)(struct world *w, const struct world_frame *f, struct flow_in *in);
	uint64_t random;
	uint64_t digest; /* of all frames that were sent, in their order */
	bool tunnel;
	void *arg;
};

static inline uint64_t world_random(struct world *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

static inline bool world_more(struct flow_sink *s, unsigned kind)
{
	(void)s;
	(void)kind;
	return false;
}

/* The buffers are free again, all of them. Each is there for one frame, of whichever kind. */
static inline void world_refill(struct world_end *e, unsigned n)
{
	for (unsigned k = 0; k < FLOW_ROOMS; k++) {
		for (unsigned i = 0; i < n; i++) {
			uint8_t *b = e->buffer[k][i];

			e->room[k][i] = (struct flow_room){.data = b, .handle = b};
		}
		e->sink.nroom[k] = n;
	}
	e->sink.nout = 0;
}

static inline void world_post(struct world *w, const struct world_frame *f)
{
	struct world_frame *copy = malloc(sizeof(*copy));
	unsigned i = w->nframe;

	assert_non_null(copy);
	assert_true(w->nframe < WORLD_FRAMES);
	*copy = *f;
	/* in the order of arrival; of those at the same time in the order of sending */
	for (; i > 0 && w->frame[i - 1]->when > copy->when; i--)
		w->frame[i] = w->frame[i - 1];
	w->frame[i] = copy;
	w->nframe++;
	if (w->nframe > w->most_frames)
		w->most_frames = w->nframe;
}

static inline void world_digest(struct world *w, const struct world_frame *f)
{
	uint64_t d = w->digest ^ w->now, word;

	for (uint32_t i = 0; i < f->len; i += 8) {
		word = 0;
		memcpy(&word, f->data + i, f->len - i < 8 ? f->len - i : 8);
		d = (d ^ word) * 0x9e3779b97f4a7c15ull;
		d ^= d >> 32;
	}
	w->digest = d + f->len;
}

/* What an end has put into its sink goes on its way. */
static inline void world_flush(struct world *w, unsigned from)
{
	struct world_end *e = &w->end[from];

	for (uint32_t i = 0; i < e->sink.nout; i++) {
		const struct flow_out *o = &e->out[i];
		struct world_frame f = {.when = w->now + w->delay,
					.len = o->len,
					.to = !from,
					.nr = e->sent++};

		assert_in_range(o->len + o->fill, 20, WORLD_ROOM);
		memcpy(f.data, o->handle, o->len);
		if (o->segment != 0)
			memcpy(f.data + o->len, wl_rest + o->rest, o->fill);
		else
			memset(f.data + o->len, WL_X, o->fill);
		f.len += o->fill;
		world_digest(w, &f);
		f.partial = o->sum_wanted;
		f.segments = 1;
		if (o->segment != 0) {
			assert_true(f.len - o->payload > o->segment);
			f.segments = (uint8_t)((f.len - o->payload + o->segment - 1) / o->segment);
		}
		if (w->fault == NULL || w->fault(w, from, &f))
			world_post(w, &f);
	}
	world_refill(e, WORLD_OUT);
}

/* Frames that are due arrive, in one burst for each end. */
static inline void world_deliver(struct world *w, unsigned to)
{
	struct flow_in in[256] = {0};
	struct world_frame *mine[256];
	unsigned n = 0, kept = 0;

	for (unsigned i = 0; i < w->nframe; i++) {
		struct world_frame *f = w->frame[i];

		if (f->when <= w->now && f->to == to && n < 256) {
			in[n] = (struct flow_in){.data = f->data,
						 .len = f->len,
						 .l3 = (uint16_t)w->l3,
						 .segments = f->segments,
						 .verdict = f->partial ? FLOW_SUM_PARTIAL
								       : FLOW_SUM_UNKNOWN};
			if (w->shape != NULL)
				w->shape(w, f, &in[n]);
			mine[n++] = f;
		} else {
			w->frame[kept++] = f;
		}
	}
	w->nframe = kept;
	flow_rx(w->end[to].m, in, n, w->now);
	for (unsigned i = 0; i < n; i++)
		free(mine[i]);
}

/* When something happens next; UINT64_MAX: nothing will. */
static inline uint64_t world_next(const struct world *w)
{
	uint64_t next = UINT64_MAX, t;

	if (w->nframe > 0)
		next = w->frame[0]->when;
	for (unsigned i = 0; i < 2; i++) {
		t = flow_next_ns(w->end[i].m);
		if (t < next)
			next = t;
	}
	return next;
}

static inline void world_turn(struct world *w)
{
	for (unsigned i = 0; i < 2; i++) {
		world_deliver(w, i);
		flow_poll(w->end[i].m, w->now);
		world_flush(w, i);
	}
}

/* Until `until`, or until nothing happens any more. Returns whether that came first. */
static inline bool world_run(struct world *w, uint64_t until)
{
	world_flush(w, 0);
	world_flush(w, 1);
	for (;;) {
		uint64_t next = world_next(w);

		if (next == UINT64_MAX)
			return true;
		if (next > until) {
			w->now = until;
			return false;
		}
		if (next > w->now)
			w->now = next;
		world_turn(w);
	}
}

/* ---- setting up ---- */

/* fd00::1 and fd00::2 */
static const uint8_t world_prefix6[12] = {0xfd};

/* VXLAN: what stands before the inner Ethernet header (RFC 7348 5), without lengths and sums. */
#define WORLD_TUNNEL 50
static inline unsigned world_tunnel(uint8_t *h, struct flow_fix fix[3])
{
	static const uint8_t outer[WORLD_TUNNEL] = {2,    9, 9,  9,  9,    2, 2,    9,    9, 9,
						    9,    1, 8,  0,  0x45, 0, 0,    0,    0, 0,
						    0x40, 0, 64, 17, 0,    0, 1,    2,    3, 4,
						    1,    2, 3,  5,  0,    9, 0x12, 0xb5, 0, 0,
						    0,    0, 8,  0,  0,    0, 0,    0,    7};

	memcpy(h, outer, sizeof(outer));
	fix[0] = (struct flow_fix){.kind = FLOW_FIX_IP4, .at = 16, .from = 14, .sum = 24};
	fix[1] = (struct flow_fix){.kind = FLOW_FIX_LENGTH, .at = 38, .from = 34};
	fix[2] = (struct flow_fix){.kind = FLOW_FIX_UDP, .at = 40, .from = 34, .sum = 14};
	return WORLD_TUNNEL;
}

/* 10.0.0.1:1024.. to 10.0.0.2:80, or the same with fd00:: */
static inline void world_path(struct world *w, struct world_end *e, bool client, bool tunnel)
{
	uint8_t h[FLOW_PREFIX_MAX] = {0};
	struct flow_fix fix[3];
	unsigned at = tunnel ? world_tunnel(h, fix) : 0, ip = at + 14;

	h[at] = h[at + 6] = 2;
	h[at + 5] = client ? 2 : 1;
	h[at + 11] = client ? 1 : 2;
	if (e->spec.is6) {
		put_be16(h + at + 12, 0x86dd);
		h[ip] = 0x60;
		h[ip + 6] = e->spec.udp ? 17 : 6;
		h[ip + 7] = 64;
	} else {
		put_be16(h + at + 12, 0x0800);
		h[ip] = 0x45;
		h[ip + 6] = 0x40;
		h[ip + 8] = 64;
		h[ip + 9] = e->spec.udp ? 17 : 6;
	}
	w->l3 = ip;
	assert_int_equal(flow_path_init(&e->path, h, ip, ip + (e->spec.is6 ? 40 : 20), 0, fix,
					tunnel ? 3 : 0, NULL),
			 0);
}

struct world_setup {
	const struct workload *wl;
	const void *conf;
	bool udp, verify, hashed, is6, tunnel;
	bool general;              /* no segment takes a shorter way */
	uint32_t connections;      /* 0: 1000 */
	uint32_t ports, addresses; /* of the client; 0: 60000, and one */
	enum wl_fill fill;
};

static inline void world_end(struct world *w, unsigned i, const struct world_setup *s)
{
	struct world_end *e = &w->end[i];
	bool client = i == 0;
	uint32_t most = s->connections != 0 ? s->connections : 1000;
	uint32_t addresses = client && s->addresses != 0 ? s->addresses : 1;
	/* behind the server's are more for a client that has several */
	struct flow_values local = {.count = addresses,
				    .base = !client ? 0x0a000002
						    : 0x0a000001 + 2 * (addresses - 1)};
	struct flow_values remote = {.count = 1, .base = 0x0a000002};
	struct flow_values port = {.count = 1, .base = 80};
	struct flow_values ports = {.count = s->ports != 0 ? s->ports : 60000, .base = 1024};
	struct flow_tuples_conf tuples = {.local = &local,
					  .local_port = client ? &ports : &port,
					  .dense = !s->hashed};
	struct flow_machine_conf conf = {.connections = 2 * most,
					 .verify_sums = true,
					 .secret = {i + 1, 77},
					 .sink = &e->sink,
					 .buffers = 4,
					 .general = s->general,
					 .is6 = s->is6,
					 .now_ns = w->now};
	struct err err;

	if (s->is6)
		tuples.local_prefix6 = tuples.remote_prefix6 = world_prefix6;
	if (client) {
		tuples.remote = &remote;
		tuples.remote_port = &port;
	}
	assert_int_equal(flow_tuples_new(&e->tuples, &tuples, &err), 0);
	assert_int_equal(flow_machine_new(&e->m, &conf, &err), 0);
	for (unsigned k = 0; k < 2; k++)
		assert_int_equal(wl_content_init(&e->content[k], NULL, 0, s->fill), 0);
	e->sink = (struct flow_sink){.room = {e->room[0], e->room[1]},
				     .out = e->out,
				     .max_out = WORLD_OUT,
				     .room_bytes = WORLD_ROOM,
				     .more = world_more};
	world_refill(e, WORLD_OUT);
	e->wl = (struct wl_flow){.wl = s->wl,
				 .conf = s->conf,
				 .content = e->content,
				 .ncontent = 2,
				 .counts = &e->transactions,
				 .own = &e->numbers,
				 .client = client,
				 .verify = s->verify};
	e->spec = (struct flow_spec){.role = client ? FLOW_CLIENT : FLOW_SERVER,
				     .udp = s->udp,
				     .is6 = s->is6,
				     .wl = &e->wl,
				     .counts = &e->counts,
				     .tuples = e->tuples,
				     .path = &e->path,
				     .npath = 1,
				     .most = most,
				     .mss = 1460,
				     .window = 262144,
				     .timewait_ns = SECOND,
				     .retries = 5,
				     .sack = true,
				     .buffered = s->wl == &flow_buffer_wl};
}

/* A test may change the specs before this. */
static inline void world_adopt(struct world *w)
{
	struct err err;

	for (unsigned i = 0; i < 2; i++) {
		struct world_end *e = &w->end[i];

		world_path(w, e, i == 0, w->tunnel);
		assert_int_equal(flow_check(&e->spec, &err), 0);
		e->version = flow_adopt(e->m, &e->spec);
		assert_true(e->version >= 0);
	}
}

static inline struct world *world_new(const struct world_setup *s)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->now = 1000 * SECOND;
	w->delay = 10000;
	w->random = 88172645463325252ull;
	w->tunnel = s->tunnel;
	world_end(w, 0, s);
	world_end(w, 1, s);
	return w;
}

/* What must hold at any time. */
static inline void world_sums(const struct world *w)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct flow_counts *k = &w->end[i].counts;
		const struct wl_counts *t = &w->end[i].transactions;

		assert_int_equal(k->opened, k->established + k->refused + k->connect_timeout +
						    k->unreachable + k->aborted_opening +
						    k->opening);
		assert_int_equal(k->established, k->closed + k->reset_by_us + k->reset_by_peer +
							 k->timed_out + k->aborted + k->open);
		assert_int_equal(t->started, t->done + t->failed + t->open);
	}
}

/* Nothing is left: no connection, no cell. */
static inline void world_empty(struct world *w)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct flow_machine_counts *k = flow_machine_counts(w->end[i].m);

		assert_int_equal(w->end[i].counts.opening, 0);
		assert_int_equal(w->end[i].counts.open, 0);
		assert_int_equal(w->end[i].transactions.open, 0);
		assert_int_equal(k->cells_used, 0);
		assert_int_equal(k->side_used, 0);
		flow_retire(w->end[i].m, w->end[i].version);
		assert_ptr_equal(flow_released(w->end[i].m), &w->end[i].spec);
	}
	world_sums(w);
}

static inline void world_free(struct world *w)
{
	for (unsigned i = 0; i < w->nframe; i++)
		free(w->frame[i]);
	for (unsigned i = 0; i < 2; i++) {
		flow_machine_free(w->end[i].m);
		flow_tuples_free(w->end[i].tuples);
	}
	free(w);
}
