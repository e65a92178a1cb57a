/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments into a server and a client with live connections: made up, or changed from those that
 * the two send each other, while the network loses, doubles and reorders. Whatever comes, the sums
 * of fates close, memory is what was given, and when all is over no cell is in use. */
#define WORLD_ROOM 640
#include "../unit/flow_world.h"
#include "../unit/wl_text.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 24 /* connections at once */

static struct wl_bytes_conf small = {.transactions = 3,
				     .close = WL_CLOSE_FIN,
				     .timeout_ns = SECOND};
static struct wl_stream_conf flood = {.bytes = 3000, .datagram = 100};

/* The last frames that each end was to receive. */
static struct world_frame seen[2][8];
static unsigned nseen[2];
/* The channel that each end uses now. */
static uint32_t number_of[2];

static bool note(struct world *w, unsigned from, struct world_frame *f)
{
	(void)w;
	seen[!from][nseen[!from]++ % 8] = *f;
	return w->nframe < WORLD_FRAMES / 2;
}

/* Headers that come in the first piece, and what of the payload; then pieces of odd lengths. */
#define PIECES 3
static struct flow_piece piece[256][PIECES];
static void in_pieces(struct world *w, const struct world_frame *f, struct flow_in *in)
{
	struct flow_piece *p = piece[world_random(w) % 256];
	uint32_t at = w->l3 + 100u + (uint32_t)(world_random(w) % 3), n;

	if (f->len <= at)
		return;
	in->len = at;
	in->rest = p;
	for (unsigned i = 0; i < PIECES; i++) {
		n = i + 1 < PIECES ? (uint32_t)(world_random(w) % (f->len - at + 1)) : f->len - at;
		p[i] = (struct flow_piece){.data = world_random(w) % 8 == 0 ? NULL : f->data + at,
					   .len = n,
					   .next = i + 1 < PIECES ? &p[i + 1] : NULL};
		at += n;
	}
}

static uint16_t folded(uint64_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* What a fuzzer would take long to find. */
static void mend(struct world_frame *f)
{
	uint8_t *ip = f->data + 14, *l4;
	bool is6 = ip[0] >> 4 == 6;
	unsigned ip_len = is6 ? 40 : (ip[0] & 15u) * 4, n;
	uint8_t rest[4] = {0, ip[is6 ? 6 : 9]};
	uint16_t check;

	put_be16(ip + (is6 ? 4 : 2), f->len - 14 - (is6 ? 40 : 0));
	if (ip_len < 20 || 14 + ip_len + 20 > f->len || (ip[0] >> 4 != 4 && !is6))
		return;
	if (!is6) {
		put_be16(ip + 10, 0);
		check = folded(wl_sum(ip, ip_len));
		memcpy(ip + 10, &check, 2);
	}
	l4 = ip + ip_len;
	n = f->len - 14 - ip_len;
	put_be16(rest + 2, n);
	put_be16(l4 + (rest[1] == 17 ? 6 : 16), 0);
	check = folded((uint64_t)wl_sum(is6 ? ip + 8 : ip + 12, is6 ? 32 : 8) + wl_sum(rest, 4) +
		       wl_sum(l4, n));
	memcpy(l4 + (rest[1] == 17 ? 6 : 16), &check, 2);
}

static void shift32(uint8_t *p, uint32_t by)
{
	uint32_t v = (get_be16(p) << 16 | get_be16(p + 2)) + by;

	put_be16(p, v >> 16);
	put_be16(p + 2, v & 0xffff);
}

/* Distances of which those near 0 are frequent. */
static uint32_t distance(struct input *in)
{
	unsigned kind = byte(in);

	switch (kind & 7) {
	case 0:
	case 1:
	case 2:
		return 0;
	case 3:
		return (uint32_t)(int8_t)byte(in);
	case 4:
		return (uint32_t)(int16_t)number(in, 2);
	case 5:
		return (uint32_t)(int16_t)number(in, 2) << 8;
	case 6:
		return (uint32_t)number(in, 4);
	default:
		return 1;
	}
}

/* One that was sent, with other numbers, flags, window, options, length. */
static void forge(struct world *w, struct input *in, unsigned to)
{
	unsigned what = byte(in), header, n;
	struct world_frame f = seen[to][byte(in) % 8];
	unsigned l4 = w->end[0].spec.is6 ? 54 : 34;
	uint8_t *t = f.data + l4;

	if (f.len < l4 + 20)
		return;
	f.to = (uint8_t)to;
	f.when = w->now;
	shift32(t + 4, distance(in));
	shift32(t + 8, distance(in));
	if ((what & 1) != 0)
		t[13] = (uint8_t)byte(in);
	if ((what & 2) != 0)
		put_be16(t + 14, (unsigned)number(in, 2));
	if ((what & 4) != 0) { /* options in place of payload, or of nothing */
		n = byte(in) % 11 * 4;
		for (unsigned i = 0; i < n; i++)
			t[20 + i] = (uint8_t)byte(in);
		t[12] = (uint8_t)((20 + n) << 2);
	}
	header = (t[12] >> 4) * 4u;
	if ((what & 8) != 0) {
		n = (unsigned)number(in, 2) % 500;
		f.len = l4 + (header < 20 ? 20 : header) + n;
	}
	if ((what & 16) != 0)
		f.data[byte(in) % f.len] ^= (uint8_t)byte(in);
	if ((what & 32) != 0)
		put_be16(t, 1024 + byte(in) % 4);
	if (f.len < l4 + header)
		f.len = l4 + header;
	if ((what & 64) == 0)
		mend(&f);
	world_post(w, &f);
}

static void made_up(struct world *w, struct input *in, unsigned to)
{
	struct world_frame f = {.when = w->now, .to = (uint8_t)to, .len = 15 + byte(in)};
	static const uint8_t begin[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45};

	memcpy(f.data, begin, sizeof(begin));
	if (w->end[0].spec.is6)
		f.data[14] = 0x60;
	for (unsigned i = 15; i < f.len; i++)
		f.data[i] = (uint8_t)byte(in);
	world_post(w, &f);
}

static void error(struct world *w, struct input *in, unsigned to)
{
	const struct world_frame *f = &seen[!to][byte(in) % 8];
	uint8_t quote[80] = {0};
	unsigned n = byte(in) % 80, mtu;

	if (f->len >= 74)
		memcpy(quote, f->data + 14, 60);
	if (byte(in) % 4 == 0)
		quote[byte(in) % 40] ^= (uint8_t)byte(in);
	mtu = (unsigned)number(in, 2);
	flow_icmp(w->end[to].m, (enum flow_icmp)(byte(in) % (FLOW_ICMP_EXCEEDED + 1)), mtu, quote,
		  n, byte(in) % 16 == 0, w->now);
}

/* Something happens to a frame on its way. */
static void weather(struct world *w, struct input *in)
{
	unsigned what = byte(in) % 4, at = byte(in);
	struct world_frame *f;

	if (w->nframe == 0)
		return;
	at %= w->nframe;
	f = w->frame[at];
	if (what == 0) {
		free(f);
		memmove(w->frame + at, w->frame + at + 1, (--w->nframe - at) * sizeof(w->frame[0]));
	} else if (what == 1) {
		world_post(w, f);
	} else if (what == 2) {
		struct world_frame late = *f;

		late.when += number(in, 2) * 100000;
		world_post(w, &late);
	} else {
		f->data[14 + byte(in) % (f->len - 14)] ^= (uint8_t)byte(in);
	}
}

static void channel(struct world *w, struct input *in, unsigned at)
{
	static uint8_t data[3000];
	struct world_end *e = &w->end[at];
	unsigned n = (unsigned)number(in, 2) % sizeof(data), what = byte(in) % 8;

	if (e->wl.wl != &flow_buffer_wl)
		return;
	if (what == 0)
		number_of[at] = flow_accept(e->m, e->version);
	else if (what < 4)
		CHECK(flow_write(e->m, number_of[at], data, n, w->now) <= n);
	else if (what < 6)
		CHECK(flow_read(e->m, number_of[at], data, n, w->now) <= n);
	else if (what == 6)
		flow_close(e->m, number_of[at], byte(in) % 4 ? WL_CLOSE_FIN : WL_CLOSE_RST, w->now);
	else
		flow_forget(e->m, number_of[at], w->now);
	if (what == 3 && at == 0) {
		struct flow_tuple t = {.is6 = e->spec.is6,
				       .local = {.v4 = 0x0a000001, .v6 = {0xfd, [15] = 1}},
				       .remote = {.v4 = 0x0a000002, .v6 = {0xfd, [15] = 2}},
				       .local_port = (uint16_t)(1024 + n % 4),
				       .remote_port = 80};
		uint32_t opened = flow_open_one(e->m, e->version, &t, w->now);

		number_of[at] = opened != 0 ? opened : number_of[at];
	}
}

static void judge(const struct world *w)
{
	world_sums(w);
	for (unsigned i = 0; i < 2; i++) {
		const struct flow_machine_counts *k = flow_machine_counts(w->end[i].m);

		CHECK(k->cells_used <= 2 * MOST && w->end[i].counts.open <= 2 * MOST);
		CHECK(k->tx < 1000000);
	}
}

static void step(struct world *w, struct input *in)
{
	unsigned what = byte(in), to = what >> 7;

	switch (what % 10) {
	case 0:
		if (w->end[0].wl.wl != &flow_buffer_wl)
			flow_open(w->end[0].m, w->end[0].version, 1 + byte(in) % 4, w->now, 0,
				  w->now);
		break;
	case 1:
		world_run(w, w->now + number(in, 2) * 1000);
		break;
	case 2:
		world_run(w, w->now + number(in, 2) * 1000000);
		break;
	case 3:
	case 4:
	case 5:
		forge(w, in, to);
		break;
	case 6:
		made_up(w, in, to);
		break;
	case 7:
		error(w, in, to);
		break;
	case 8:
		weather(w, in);
		break;
	default:
		channel(w, in, to);
	}
	judge(w);
}

static void over(struct world *w)
{
	uint32_t number;

	for (unsigned i = 0; i < 2; i++) {
		flow_abort(w->end[i].m, &w->end[i].wl);
		for (unsigned k = 0; k < 1000 && flow_sweeping(w->end[i].m); k++) {
			flow_poll(w->end[i].m, w->now);
			world_flush(w, i);
		}
		CHECK(!flow_sweeping(w->end[i].m));
		while ((number = flow_accept(w->end[i].m, w->end[i].version)) != 0)
			flow_forget(w->end[i].m, number, w->now);
	}
	/* what is still on its way may open connections once more: they go too */
	w->end[1].wl.draining = true;
	world_run(w, w->now + 3000 * SECOND);
	for (unsigned i = 0; i < 2; i++) {
		flow_abort(w->end[i].m, &w->end[i].wl);
		world_run(w, w->now + 3000 * SECOND);
	}
	CHECK(world_run(w, w->now + 100000 * SECOND));
	world_empty(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	unsigned how = byte(&in), also = byte(&in);
	struct world_setup s = {.connections = MOST,
				.is6 = (also & 1) != 0,
				.ports = how & 8 ? 4 : 20,
				.hashed = (how & 4) != 0,
				.fill = how & 16 ? WL_FILL_X : WL_FILL_PATTERN};
	struct world *w;

	s.udp = (how & 3) == 3;
	s.wl = (how & 3) == 0                                    ? &flow_buffer_wl
	       : (how & 3) == 1 || (s.udp && (also & 0xe0) != 0) ? &wl_stream
								 : &wl_bytes;
	s.conf = s.wl == &wl_stream ? (const void *)&flood : (const void *)&small;
	flood.direction = (also & 0x60) == 0 ? WL_BOTH : (enum wl_direction)(also >> 5 & 3);
	flood.gap_ns = (also & 0x80) != 0 ? MS : 0;
	small.server_closes = (also & 0x20) != 0;
	small.close = (also & 0x40) != 0 ? WL_CLOSE_RST : WL_CLOSE_FIN;
	memset(seen, 0, sizeof(seen));
	nseen[0] = nseen[1] = number_of[0] = number_of[1] = 0;
	small.request = small.response = (struct wl_vary)WL_FIXED(64);
	if ((also & 4) != 0)
		small.request = vary_of(&vt_wl_sizes, "8..500,50:2");
	small.response = (also & 4) != 0 ? vary_of(&vt_wl_sizes, "9..560:3,20")
					 : (struct wl_vary)WL_FIXED(900);
	w = world_new(&s);
	for (unsigned i = 0; i < 2; i++) {
		w->end[i].spec.mss = i == 0 && (also & 8) != 0 ? 64 : 400;
		w->end[i].spec.initial_window = (also & 16) != 0 ? 1 : 0;
		w->end[i].spec.sack = (how & 32) != 0;
		w->end[i].spec.congestion = (enum flow_congestion)((how >> 6) % 3);
		w->end[i].spec.window = 5000;
	}
	w->fault = note;
	w->shape = (also & 2) != 0 ? in_pieces : NULL;
	world_adopt(w);
	if (s.wl != &flow_buffer_wl)
		flow_open(w->end[0].m, w->end[0].version, 2, w->now, 0, w->now);
	for (unsigned i = 0; i < 200 && in.at < in.end; i++)
		step(w, &in);
	over(w);
	world_free(w);
	return 0;
}
