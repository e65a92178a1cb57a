/* SPDX-License-Identifier: BSD-3-Clause */
/* A server on an arm that lets connections of data come (arm_conf.each): all that comes is of
 * control, but while a test's connections are made. */
#include "iperf_wl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define LOOK_NS MS    /* how often it looks what has come while connections are made */
#define UDP_SPARES 12 /* bytes by which its header is shorter than that of TCP */
#define GUESTS 64     /* connections of control */

/* Somebody who has connected. */
struct guest {
	struct iperf *t;
	struct chan *chan; /* NULL: a free place */
	int timer;
	uint8_t cookie[IPERF_COOKIE];
	unsigned have;
	bool control; /* it is the client whose test runs: chan is iperf.chan */
};

enum serving_stage {
	SERVING_BEGINS, /* nobody listens yet */
	SERVING_NOTHING,
	SERVING_ENDS,  /* those of the test before end, and then more may come */
	SERVING_OPENS, /* they may come in a moment */
	SERVING_COME,  /* and come */
	SERVING_RUNS,
};

enum { SERVING_TCP, SERVING_UDP, SERVING_KINDS };

struct iperf_serving {
	struct iperf *t;
	struct arm *arm;
	struct arm_data *data;
	struct arm_listener *listener;
	struct sock_addr at;
	enum serving_stage stage;
	int timer;
	uint64_t tests;
	int64_t left;
	struct iperf_served served;
	struct wl_content content[SERVING_KINDS][IPERF_SERVED_CONTENTS];
	uint8_t head[SERVING_KINDS][IPERF_ALL][IPERF_UDP_HEAD64];
	struct sock_spec spec[SERVING_KINDS];
	struct sock_line *line[SERVING_KINDS];
	struct guest guest[GUESTS];
};

static struct iperf_served_lines *serving_lines(const struct iperf_serving *q)
{
	return q->line[q->t->p.udp ? SERVING_UDP : SERVING_TCP]->flow.own;
}

/* ---- who connects ---- */

static void guest_end(struct guest *g)
{
	struct chan *chan = g->chan;

	iperf_timer_end(g->t, &g->timer);
	g->chan = NULL;
	if (!g->control)
		chan_free(chan);
	g->control = false;
}

static void guest_said(struct guest *g)
{
	static const int8_t denied = IPERF_ACCESS_DENIED;
	struct iperf *t = g->t;
	enum iperf_who who = iperf_server_who(t, g->cookie);

	iperf_timer_end(t, &g->timer);
	if (who == IPERF_WHO_WAITS)
		return;
	if (who == IPERF_WHO_CLIENT) {
		g->control = true;
		t->chan = g->chan;
		iperf_server_control(t, g->cookie);
		return;
	}
	if (who != IPERF_WHO_ODD)
		(void)chan_put(g->chan, &denied, 1);
	guest_end(g);
}

static size_t guest_in(void *arg, const uint8_t *data, size_t n)
{
	struct guest *g = arg;
	size_t take = IPERF_COOKIE - g->have;

	if (g->control)
		return iperf_server_in(g->t, data, n);
	if (take > n)
		take = n;
	if (take == 0)
		return 0;
	memcpy(g->cookie + g->have, data, take);
	g->have += (unsigned)take;
	if (g->have == IPERF_COOKIE)
		guest_said(g);
	return take;
}

static void guest_gone(void *arg, int error)
{
	struct guest *g = arg;

	if (g->control)
		iperf_server_gone(g->t, error);
	else
		guest_end(g);
}

static void guest_late(void *arg)
{
	struct guest *g = arg;

	g->timer = -1;
	guest_end(g);
}

static const struct chan_ops guest_ops = {.in = guest_in, .ended = guest_gone};

static void on_guest(void *arg, arm_offer offer, const struct sock_addr *peer)
{
	struct iperf_serving *q = arg;
	struct guest *g = q->guest;

	(void)peer;
	while (g < q->guest + GUESTS && g->chan != NULL)
		g++;
	if (g == q->guest + GUESTS) { /* too many say nothing */
		q->arm->ops->refuse(q->arm, offer);
		return;
	}
	*g = (struct guest){.t = q->t};
	g->chan = q->arm->ops->take(q->arm, offer, &guest_ops, g);
	g->timer = loop_timer(q->t->loop, IPERF_COOKIE_NS, 0, guest_late, g);
}

void iperf_serving_held(struct iperf *t)
{
	for (struct guest *g = t->serving->guest; g < t->serving->guest + GUESTS; g++)
		if (g->chan != NULL && !g->control && g->have == IPERF_COOKIE)
			guest_said(g);
}

/* ---- a test's connections ---- */

bool iperf_serving_can(struct iperf *t)
{
	const struct iperf_params *p = &t->p;
	struct sbuf b = {0};
	int code = 0, error = 0;

	if (!p->udp && p->congestion[0] != '\0' && strcmp(p->congestion, "cubic") != 0 &&
	    strcmp(p->congestion, "reno") != 0) {
		code = IPERF_E_CONGESTION;
		error = ENOENT;
		sbuf_addf(
			&b,
			"the client asks for the congestion control '%s'; on a port it is cubic, or reno",
			p->congestion);
	} else if (p->cpu != 0) {
		code = IPERF_E_AFFINITY;
		error = EINVAL;
		sbuf_add(
			&b,
			"the client asks for a CPU (-A); on a port -m says which one its worker has");
	} else if (p->udp && p->blksize > t->ctl_mss + UDP_SPARES) {
		code = IPERF_E_UDP_BLOCK;
		sbuf_addf(
			&b,
			"the client asks for datagrams of %u bytes (-l), which do not fit into packets of the port; at most %u do",
			p->blksize, t->ctl_mss + UDP_SPARES);
	}
	if (code != 0)
		iperf_server_refuse(t, code, error, sbuf_str(&b));
	sbuf_free(&b);
	return code == 0;
}

static void serving_let(struct iperf_serving *q, enum arm_let let)
{
	q->arm->ops->let(q->arm, let, q->t->p.udp ? SERVING_UDP : SERVING_TCP);
}

/* Nobody reads what it fills. */
static void serving_fill(struct iperf_serving *q)
{
	struct iperf *t = q->t;
	const struct iperf_params *p = &t->p;
	struct iperf_served *s = &q->served;
	unsigned kind = p->udp ? SERVING_UDP : SERVING_TCP;

	memset(serving_lines(q), 0, sizeof(struct iperf_served_lines));
	q->left = (int64_t)(p->blocks != 0 ? p->blocks * p->blksize : p->bytes);
	s->want = t->want;
	memcpy(s->cookie, t->ctl.cookie, IPERF_COOKIE);
	for (unsigned i = 0; i < t->want; i++)
		s->line[i] =
			(struct iperf_wl_conf){.sends = iperf_server_sends(t, i),
					       .wide = p->udp64,
					       .blksize = p->blksize,
					       .burst = p->burst != 0 ? p->burst : 1,
					       .ns_byte = p->rate != 0 ? 8e9 / (double)p->rate : 0,
					       .left = q->left > 0 ? &q->left : NULL,
					       .content = &q->content[kind][1 + i],
					       .head = q->head[kind][i],
					       .number = (uint16_t)(1 + i)};
	__atomic_store_n(&s->test, ++q->tests, __ATOMIC_RELEASE);
}

/* Whether the ends of all of them are known. */
static bool serving_there(struct iperf_serving *q)
{
	const struct iperf_served_lines *lines = serving_lines(q);
	struct sock_addr own, peer;
	struct sock_info info;

	if (__atomic_load_n(&lines->n, __ATOMIC_ACQUIRE) < q->t->want)
		return false;
	for (unsigned i = 0; i < q->t->want; i++)
		if (!q->arm->ops->peer(q->arm, lines->line[i].identity, &info, &own, &peer))
			return false;
	return true;
}

/* What the arm says of its TCP is as it began. */
static void serving_carrier(struct iperf_serving *q)
{
	struct iperf *t = q->t;

	iperf_carrier(t, q->data);
	if (t->p.udp) {
		json_object_del(t->carrier, "congestion");
		json_object_del(t->carrier, "rto_floor");
		t->congestion[0] = '\0';
	} else if (t->p.congestion[0] != '\0') {
		json_object_set_new(t->carrier, "congestion", json_string(t->p.congestion));
		memcpy(t->congestion, t->p.congestion, sizeof(t->congestion));
	}
}

static void serving_run(struct iperf_serving *q)
{
	const struct iperf_served_lines *lines = serving_lines(q);
	struct iperf *t = q->t;
	struct sock_info info;

	q->stage = SERVING_RUNS;
	iperf_timer_end(t, &q->timer);
	serving_let(q, ARM_LET_STAY);
	serving_carrier(q);
	for (unsigned i = 0; i < t->want; i++) {
		struct iperf_stream *s = iperf_stream_new(t, (int)i + 1, iperf_server_sends(t, i));
		q->arm->ops->peer(q->arm, lines->line[i].identity, &info, &s->own, &s->peer);
		iperf_json_connected(t, s);
	}
	iperf_server_run(t);
}

static void serving_turn(void *arg);

static void serving_look_soon(struct iperf_serving *q)
{
	iperf_timer_end(q->t, &q->timer);
	q->timer = loop_timer(q->t->loop, LOOK_NS, LOOK_NS, serving_turn, q);
}

static void serving_turn(void *arg)
{
	struct iperf_serving *q = arg;
	struct iperf *t = q->t;

	if (q->stage == SERVING_BEGINS && q->arm->ops->let_done(q->arm)) {
		q->stage = SERVING_NOTHING;
		iperf_timer_end(t, &q->timer);
		iperf_server_ready(t);
	} else if (q->stage == SERVING_ENDS && q->arm->ops->let_done(q->arm)) {
		serving_fill(q);
		serving_let(q, ARM_LET_COME);
		q->stage = SERVING_OPENS;
	} else if (q->stage == SERVING_OPENS && q->arm->ops->let_done(q->arm)) {
		q->stage = SERVING_COME;
		iperf_ctl_streams(&t->ctl);
		iperf_flush(t);
	} else if (q->stage == SERVING_COME && serving_there(q)) {
		serving_run(q);
	}
}

void iperf_serving_prepare(struct iperf *t)
{
	struct iperf_serving *q = t->serving;
	struct sock_tune tune;
	struct err e;

	iperf_tune(t, &tune);
	if (q->arm->ops->tune(q->arm, t->p.udp ? SERVING_UDP : SERVING_TCP, &tune, &e) != 0) {
		iperf_server_refuse(t, IPERF_E_STREAM_LISTEN, EINVAL, e.text);
		return;
	}
	serving_let(q, ARM_LET_NONE);
	q->stage = SERVING_ENDS;
	serving_look_soon(q);
}

void iperf_serving_go(struct iperf *t)
{
	t->arm->ops->go(t->serving->data);
}

void iperf_serving_look(struct iperf *t)
{
	struct iperf_serving *q = t->serving;
	const struct iperf_served_lines *lines = serving_lines(q);
	struct sock_addr own, peer;
	struct sock_info info;

	for (unsigned i = 0; i < t->n; i++) {
		const struct iperf_served_line *l = &lines->line[i];
		struct iperf_now *now = &t->stream[i].now;

		iperf_line_look(&l->wl, t->stream[i].sends, now);
		if (!t->p.udp && q->arm->ops->peer(q->arm, l->identity, &info, &own, &peer))
			iperf_data_info(now, &info);
	}
}

void iperf_serving_stop(struct iperf *t)
{
	if (t->serving != NULL)
		__atomic_store_n(&t->serving->served.test, 0, __ATOMIC_RELEASE);
}

void iperf_serving_shut(struct iperf *t)
{
	struct iperf_serving *q = t->serving;

	if (q == NULL || q->stage <= SERVING_NOTHING)
		return;
	iperf_timer_end(t, &q->timer);
	iperf_serving_stop(t);
	serving_let(q, ARM_LET_NONE);
	q->stage = SERVING_NOTHING;
}

void iperf_serving_over(struct iperf *t)
{
	struct iperf_serving *q = t->serving;

	if (q == NULL)
		return;
	iperf_serving_shut(t);
	for (struct guest *g = q->guest; g < q->guest + GUESTS; g++)
		if (g->control)
			guest_end(g);
}

/* ---- the server ---- */

static bool serving_opens(struct sock_line *l, void *arg)
{
	((struct iperf_serving *)arg)->line[l->number] = l;
	return true;
}

static void serving_event(void *arg, short revents)
{
	struct iperf_serving *q = arg;
	unsigned events = q->arm->ops->events(q->data);
	struct err e;

	(void)revents;
	if (q->t->over || (events & SOCK_FAILED) == 0 || !q->arm->ops->error(q->data, &e))
		return;
	iperf_fail(q->t, IPERF_LACKS, "%s", e.text);
	q->t->over = true; /* there is nothing to serve on any more */
}

static void serving_specs(struct iperf_serving *q)
{
	for (unsigned k = 0; k < SERVING_KINDS; k++) {
		bool udp = k == SERVING_UDP;

		iperf_served_contents(q->content[k], udp, q->head[k]);
		q->spec[k] = (struct sock_spec){.flow = {.wl = udp ? &iperf_wl_served_datagrams
								   : &iperf_wl_served,
							 .conf = &q->served,
							 .content = q->content[k],
							 .ncontent = IPERF_SERVED_CONTENTS,
							 .on_call = true},
						.tune = {.udp = udp},
						.opens = serving_opens,
						.arg = q};
	}
}

static void serving_free(void *arg)
{
	free(arg);
}

int iperf_serving_start(struct iperf *t, struct err *e)
{
	struct iperf_serving *q = xcalloc(1, sizeof(*q));
	const struct sock_tune tune = {0};
	const struct arm_conf conf = {.spec = &q->spec[0],
				      .each = q->spec,
				      .flows = SERVING_KINDS,
				      .port = t->o.port};

	q->t = t;
	q->arm = t->arm;
	q->timer = -1;
	serving_specs(q);
	if (t->arm->ops->server_at(t->arm, t->o.bind != NULL ? t->o.bind : "", t->o.port,
				   t->o.family, &q->at, e) == 0)
		q->data = t->arm->ops->data(t->arm, &conf, e);
	if (q->data == NULL) {
		free(q);
		return -EADDRNOTAVAIL;
	}
	t->serving = q;
	t->ctl_mss = t->arm->ops->mss(t->arm, NULL);
	t->arm->ops->watch(q->data, serving_event, q);
	q->listener = t->arm->ops->listen(t->arm, &q->at, &tune, on_guest, q, e);
	serving_let(q, ARM_LET_NONE);
	serving_look_soon(q);
	return q->listener != NULL ? 0 : -EADDRINUSE;
}

static void device_said(void *arg, const char *key, const char *value, bool number)
{
	(void)number;
	if (strcmp(key, "device") == 0)
		*(const char **)arg = value;
}

const char *iperf_serving_device(struct iperf *t)
{
	const char *device = "";

	t->arm->ops->say(t->serving->data, device_said, &device);
	return device;
}

void iperf_serving_free(struct iperf *t)
{
	struct iperf_serving *q = t->serving;

	if (q == NULL)
		return;
	t->serving = NULL;
	iperf_timer_end(t, &q->timer);
	for (struct guest *g = q->guest; g < q->guest + GUESTS; g++)
		if (g->chan != NULL)
			guest_end(g);
	q->arm->ops->unlisten(q->arm, q->listener);
	q->arm->ops->watch(q->data, NULL, NULL);
	q->arm->ops->stop(q->data);
	q->arm->ops->free(q->data);
	q->arm->ops->later(q->arm, serving_free, q);
}
