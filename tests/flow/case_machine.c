/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine of a case: its settings, its time, what goes in and what comes out. */
#include "flow_case.h"
#include "value.h"

/* ---- settings ---- */

static struct wl_vary flow_size(struct flow_case *c, struct words *w, const char *what)
{
	static const struct vspec spec = {.type = &vt_wl_sizes, .min = 1, .max = WL_BYTES_MAX};
	struct wl_vary v;
	struct err e;

	if (vt_wl_sizes.parse(&spec, words_need(c, w, what), &v, &e) != 0)
		case_fail(c, "%s: %s", what, e.text);
	return v;
}

static void flow_work(struct flow_case *c, struct words *w)
{
	const char *what = words_need(c, w, "buffer, up, down, both or bytes");

	if (strcmp(what, "buffer") == 0)
		return;
	if (strcmp(what, "bytes") == 0) {
		c->wl.wl = &wl_bytes;
		c->wl.conf = &c->bytes;
		c->bytes.request = flow_size(c, w, "bytes of the request");
		c->bytes.response = flow_size(c, w, "bytes of the response");
		return;
	}
	c->wl.wl = &wl_stream;
	c->wl.conf = &c->stream;
	if (strcmp(what, "up") == 0)
		c->stream.direction = WL_UP;
	else if (strcmp(what, "down") == 0)
		c->stream.direction = WL_DOWN;
	else if (strcmp(what, "both") == 0)
		c->stream.direction = WL_BOTH;
	else
		case_fail(c, "'%s' is no work: it is buffer, up, down, both or bytes", what);
	c->stream.bytes = words_number(c, w, "bytes, or 0: without end");
}

static void flow_congestion_of(struct flow_case *c, const char *name)
{
	if (strcmp(name, "cubic") == 0)
		c->spec.congestion = FLOW_CUBIC;
	else if (strcmp(name, "newreno") == 0)
		c->spec.congestion = FLOW_NEWRENO;
	else if (strcmp(name, "none") == 0)
		c->spec.congestion = FLOW_NO_CONGESTION;
	else
		case_fail(c, "'%s' is not cubic, newreno or none", name);
}

static bool flow_time(struct flow_case *c, struct words *w, const char *name)
{
	const struct {
		const char *name;
		uint64_t *ns;
	} times[] = {
		{"rto", &c->spec.rto_ns},         {"rtofirst", &c->spec.rto_first_ns},
		{"delack", &c->spec.delack_ns},   {"timewait", &c->spec.timewait_ns},
		{"finwait", &c->spec.finwait_ns}, {"timeout", &c->bytes.timeout_ns},
		{"gap", &c->stream.gap_ns},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(times); i++) {
		if (strcmp(name, times[i].name) == 0) {
			*times[i].ns = words_time(c, words_need(c, w, "a time"));
			return true;
		}
	}
	return false;
}

static bool flow_number(struct flow_case *c, struct words *w, const char *name)
{
	if (strcmp(name, "mss") == 0)
		c->spec.mss = (uint16_t)words_number(c, w, "an MSS");
	else if (strcmp(name, "window") == 0)
		c->spec.window = (uint32_t)words_number(c, w, "a window");
	else if (strcmp(name, "iw") == 0)
		c->spec.initial_window = (uint16_t)words_number(c, w, "segments");
	else if (strcmp(name, "tos") == 0)
		c->tos = (uint8_t)words_number(c, w, "a TOS byte");
	else if (strcmp(name, "retries") == 0)
		c->spec.retries = (uint8_t)words_number(c, w, "retries");
	else if (strcmp(name, "datagram") == 0)
		c->stream.datagram = (uint32_t)words_number(c, w, "bytes");
	else if (strcmp(name, "transactions") == 0)
		c->bytes.transactions = words_number(c, w, "transactions");
	else
		return false;
	return true;
}

void machine_flow(struct flow_case *c, struct words *w)
{
	const char *word = words_need(c, w, "client or server");

	c->client = strcmp(word, "client") == 0;
	if (!c->client && strcmp(word, "server") != 0)
		case_fail(c, "'%s' is neither client nor server", word);
	c->tos = 0;
	c->wl = (struct wl_flow){.wl = &flow_buffer_wl};
	c->bytes = (struct wl_bytes_conf){.transactions = 1, .close = WL_CLOSE_FIN};
	c->stream = (struct wl_stream_conf){.datagram = 100};
	c->spec = (struct flow_spec){.mss = 1460,
				     .window = 65535,
				     .congestion = FLOW_NEWRENO,
				     .timewait_ns = 60 * SECOND,
				     .retries = 6,
				     .sack = true};
	while ((word = words_next(w)) != NULL) {
		if (strcmp(word, "cc") == 0)
			flow_congestion_of(c, words_need(c, w, "an algorithm"));
		else if (strcmp(word, "nosack") == 0)
			c->spec.sack = false;
		else if (strcmp(word, "udp") == 0)
			c->udp = true;
		else if (strcmp(word, "work") == 0)
			flow_work(c, w);
		else if (!flow_number(c, w, word) && !flow_time(c, w, word))
			case_fail(c, "a flow has no setting '%s'", word);
	}
	c->our_port = c->client ? 1024 : 80;
	c->their_port = c->client ? 80 : 40000;
}

/* ---- begin ---- */

static void machine_refill(struct flow_case *c)
{
	for (unsigned i = 0; i < CASE_OUT; i++)
		c->room[i] = (struct flow_room){.data = c->buffer[i], .handle = c->buffer[i]};
	c->sink.nroom[FLOW_PLAIN] = CASE_OUT;
	c->sink.nout = 0;
}

static void machine_tuples(struct flow_case *c, struct err *e)
{
	static const uint8_t prefix6[12] = {0xfd};
	const uint32_t net = c->is6 ? 0 : 0x0a000000;
	const struct flow_values local = {.count = 1, .base = net + (c->client ? 1 : 2)},
				 remote = {.count = 1, .base = net + 2},
				 ours = {.count = 1, .base = c->our_port},
				 theirs = {.count = 1, .base = 80};
	const struct flow_tuples_conf conf = {.local = &local,
					      .local_port = &ours,
					      .remote = c->client ? &remote : NULL,
					      .remote_port = c->client ? &theirs : NULL,
					      .local_prefix6 = c->is6 ? prefix6 : NULL,
					      .remote_prefix6 = c->is6 ? prefix6 : NULL};
	static const struct flow_fix fix[2] = {
		{.kind = FLOW_FIX_IP4, .at = 16, .from = 14, .sum = 24},
		{.kind = FLOW_FIX_LENGTH, .at = 38, .from = 34}};
	uint8_t h[FLOW_PREFIX_MAX] = {0};
	unsigned l4 = seg_path(c, h);

	if (c->is6)
		put_be16(h + c->l3, 0x6000 | c->tos << 4);
	else
		h[c->l3 + 1] = c->tos;
	if (flow_tuples_new(&c->tuples, &conf, e) != 0 ||
	    flow_path_init(&c->path, h, c->l3, l4, c->tunnel ? CASE_IDENT : 0, fix,
			   c->tunnel ? 2 : 0, e) != 0)
		case_fail(c, "the tuples are not possible");
}

void machine_start(struct flow_case *c)
{
	struct err e = {0};
	const struct flow_machine_conf conf = {.connections = 512,
					       .side_cells = 2048,
					       .buffers = 32,
					       .verify_sums = true,
					       .is6 = c->is6,
					       .general = c->general,
					       .secret = {1, 2},
					       .now_ns = c->now_ns,
					       .sink = &c->sink};

	if (c->running)
		return;
	if (c->our_port == 0)
		case_fail(c, "a case begins with a line 'flow client' or 'flow server'");
	machine_tuples(c, &e);
	c->sink = (struct flow_sink){.room = {c->room},
				     .out = c->outs,
				     .max_out = CASE_OUT,
				     .room_bytes = CASE_ROOM};
	machine_refill(c);
	wl_content_init(&c->content, NULL, 0, WL_FILL_PATTERN);
	c->wl.content = &c->content;
	c->wl.ncontent = 1;
	c->wl.counts = &c->transactions;
	c->wl.own = &c->numbers;
	c->wl.client = c->client;
	c->wl.verify = !c->udp || c->wl.wl != &wl_bytes;
	c->spec.role = c->client ? FLOW_CLIENT : FLOW_SERVER;
	c->spec.udp = c->udp;
	c->spec.is6 = c->is6;
	c->spec.wl = &c->wl;
	c->spec.counts = &c->counts;
	c->spec.tuples = c->tuples;
	c->spec.path = &c->path;
	c->spec.npath = 1;
	c->spec.most = 256;
	c->spec.buffered = c->wl.wl == &flow_buffer_wl;
	if (flow_check(&c->spec, &e) != 0 || flow_machine_new(&c->m, &conf, &e) != 0)
		case_fail(c, "the flow is not possible: %s", e.text);
	c->version = flow_adopt(c->m, &c->spec);
	if (c->version < 0)
		case_fail(c, "the flow was not adopted");
	c->running = true;
}

/* ---- time ---- */

static void machine_said(struct flow_case *c, const struct seg *s, bool from_us)
{
	char text[140];

	seg_print(c, s, from_us, text, sizeof(text));
	case_say(c, from_us ? ">" : "<", text);
}

/* The first SYN of the machine says where its numbers begin; others must say the same, and a new
 * connection is told by the case. */
static void machine_learn(struct flow_case *c, const struct seg *s)
{
	uint32_t end = s->seq + s->len + (s->flags & TH_FIN);

	if (c->udp || (s->flags & TH_RST) != 0)
		return;
	if ((s->flags & TH_SYN) != 0 && !c->isn_known) {
		c->our_isn = s->seq;
		c->isn_known = true;
		c->sent_end = s->seq + 1;
	}
	if ((int32_t)(end - c->sent_end) > 0 && (s->flags & TH_SYN) == 0)
		c->sent_end = end;
}

void machine_flush(struct flow_case *c)
{
	for (unsigned i = 0; i < c->sink.nout; i++) {
		const struct flow_out *o = &c->outs[i];
		struct seg s;

		if (c->ncame == CASE_OUT)
			case_fail(c, "more than %u frames wait", CASE_OUT);
		if (o->fill != 0 || o->sum_wanted || o->segment != 0)
			case_fail(c, "a frame wants what the sink does not offer");
		seg_read(c, o->handle, o->len, &s);
		machine_learn(c, &s);
		machine_said(c, &s, true);
		c->came[c->ncame++] = s;
	}
	machine_refill(c);
	if (!c->client && c->channel == 0 && c->spec.buffered)
		c->channel = flow_accept(c->m, c->version);
}

void machine_run(struct flow_case *c, uint64_t until_ns, bool frames)
{
	machine_start(c);
	for (unsigned turns = 0;; turns++) {
		uint64_t next;

		machine_flush(c);
		if (frames && c->ncame > 0)
			return;
		next = flow_next_ns(c->m);
		if (next > until_ns) {
			if (c->now_ns < until_ns)
				c->now_ns = until_ns;
			return;
		}
		if (next > c->now_ns)
			c->now_ns = next;
		if (turns > 1000000)
			case_fail(c, "the machine does not come to rest");
		flow_poll(c->m, c->now_ns);
	}
}

/* Cuts a frame behind its headers, which are at most so long, into pieces of odd lengths. Each is a
 * block of its own. */
enum { PIECES = 6 };
static void machine_cut(const struct flow_case *c, struct flow_in *in, struct flow_piece *p)
{
	static const uint32_t odd[PIECES] = {1, 7, 250, 3, 500, 2000};
	uint32_t at = c->l3 + (c->is6 ? 40u : 60u) + 60 + 3;

	if (!c->pieces || in->len <= at)
		return;
	in->rest = p;
	for (unsigned i = 0; i < PIECES; i++) {
		uint32_t left = in->len - at, n = left < odd[i] ? left : odd[i];
		uint8_t *data = malloc(n);

		if (data == NULL)
			abort();
		memcpy(data, in->data + at, n);
		p[i] = (struct flow_piece){.data = data, .len = n};
		at += n;
		if (at == in->len)
			break;
		p[i].next = &p[i + 1];
	}
	in->len = c->l3 + (c->is6 ? 40u : 60u) + 60 + 3;
}

/* The frame is a block of its own, so that tools see who reads behind its end. */
void machine_in(struct flow_case *c, const struct seg *s, bool hold)
{
	uint8_t room[CASE_ROOM], *f;
	struct flow_piece pieces[64][PIECES];
	struct flow_in in[64] = {0};
	unsigned len = seg_build(c, s, room), n;

	machine_said(c, s, false);
	f = malloc(len);
	if (f == NULL || c->nheld == 64)
		case_fail(c, "too many frames are held");
	memcpy(f, room, len);
	c->held[c->nheld] = f;
	c->held_len[c->nheld++] = len;
	if (hold)
		return;
	n = c->nheld;
	for (unsigned i = 0; i < n; i++) {
		in[i] = (struct flow_in){.data = c->held[i],
					 .len = c->held_len[i],
					 .l3 = (uint16_t)c->l3,
					 .ident = c->tunnel ? CASE_IDENT : 0};
		machine_cut(c, &in[i], pieces[i]);
	}
	flow_rx(c->m, in, n, c->now_ns);
	c->nheld = 0;
	for (unsigned i = 0; i < n; i++) {
		free(c->held[i]);
		for (const struct flow_piece *p = in[i].rest; p != NULL; p = p->next)
			free((void *)(uintptr_t)p->data);
	}
	flow_poll(c->m, c->now_ns);
	machine_flush(c);
}

bool machine_info(struct flow_case *c, struct flow_info *info)
{
	uint32_t at = 0;

	while (flow_walk(c->m, &at, 1u << 20, info)) {
		if (info->state != FLOW_FREE && info->tuple.remote_port == c->their_port)
			return true;
	}
	return false;
}

/* ---- the end ---- */

static void machine_sums(struct flow_case *c)
{
	const struct flow_counts *k = &c->counts;

	if (k->opened != k->established + k->refused + k->connect_timeout + k->unreachable +
				 k->aborted_opening + k->opening)
		case_fail(c, "opened is not the sum of its fates");
	if (k->established !=
	    k->closed + k->reset_by_us + k->reset_by_peer + k->timed_out + k->aborted + k->open)
		case_fail(c, "established is not the sum of its fates");
	if (c->transactions.started !=
	    c->transactions.done + c->transactions.failed + c->transactions.open)
		case_fail(c, "started is not the sum of its fates");
	if (c->transactions.mismatched != 0)
		case_fail(c, "bytes were not what the peer had sent");
}

void machine_end(struct flow_case *c)
{
	const struct flow_machine_counts *k;
	uint32_t other;

	machine_start(c);
	machine_flush(c);
	if (c->ncame > 0 && !c->loose) {
		machine_said(c, &c->came[0], true);
		case_fail(c, "the case ends, and a frame came that it did not expect");
	}
	machine_sums(c);
	flow_forget(c->m, c->channel, c->now_ns);
	while (c->spec.buffered && !c->client && (other = flow_accept(c->m, c->version)) != 0)
		flow_forget(c->m, other, c->now_ns);
	flow_abort(c->m, &c->wl);
	for (unsigned i = 0; i < 1000 && flow_sweeping(c->m); i++) {
		flow_poll(c->m, c->now_ns);
		machine_refill(c);
	}
	/* what rests goes too */
	c->ncame = 0;
	c->loose = true;
	machine_run(c, c->now_ns + 400 * SECOND, false);
	k = flow_machine_counts(c->m);
	if (k->cells_used != 0 || k->side_used != 0 || c->counts.open != 0 ||
	    c->counts.opening != 0)
		case_fail(c, "at the end %u cells, %u side cells are left", (unsigned)k->cells_used,
			  (unsigned)k->side_used);
	machine_sums(c);
	flow_retire(c->m, c->version);
	if (flow_released(c->m) != &c->spec)
		case_fail(c, "the version was not released");
}

void machine_drop(struct flow_case *c)
{
	for (unsigned i = 0; i < c->nheld; i++)
		free(c->held[i]);
	if (c->m != NULL)
		flow_machine_free(c->m);
	if (c->tuples != NULL)
		flow_tuples_free(c->tuples);
}
