/* SPDX-License-Identifier: BSD-3-Clause */
/* The arm `port`: its connections of data, as the workers count them. The memory that these use is
 * given back when the last connection has gone. */
#include "flows_arm_port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* So long control waits for the workers to stop the data, which takes them a turn. */
#define STOP_NS 200000000ull
#define OWN_LEAST 64

struct arm_data {
	struct port_arm *of;
	struct arm_conf conf;
	struct sock_spec spec;
	/* Of each worker, of all of its connections; own: the memory of these. */
	struct sock_line *sums;
	void **owns;
	unsigned workers;
	struct sock_line *lines; /* with arm_conf.each: the first of conf.flows; else NULL */
	unsigned source;         /* and the port of the first */
	loop_fd_fn *watch;
	void *watch_arg;
	unsigned events;
	bool starts, connected, went, spent, tells_failed, stopped;
	uint64_t ended, ticks;
};

static unsigned port_mss(struct arm *arm, const struct chan *chan)
{
	const struct port_arm *a = port_of(arm);
	unsigned mtu = (unsigned)flows_mtu(a->ctl, a->ask.port);

	(void)chan;
	return mtu > port_headers(a) ? mtu - port_headers(a) : 0;
}

static void data_free(struct arm_data *d)
{
	for (unsigned i = 0; d->lines != NULL && i < d->conf.flows; i++)
		free(d->lines[i].flow.own);
	for (unsigned i = 0; i < d->workers; i++)
		free(d->owns[i]);
	free(d->lines);
	free(d->owns);
	free(d->sums);
	free(d);
}

static void *own_new(const struct wl_flow *f)
{
	uint32_t bytes = f->wl->own_bytes;

	return xcalloc_lines(bytes > OWN_LEAST ? bytes : OWN_LEAST);
}

static void sums_new(struct arm_data *d)
{
	d->sums = xcalloc(d->workers, sizeof(*d->sums));
	d->owns = xcalloc(d->workers, sizeof(*d->owns));
	for (unsigned i = 0; i < d->workers; i++) {
		d->owns[i] = own_new(&d->spec.flow);
		d->sums[i] = (struct sock_line){.flow = d->spec.flow,
						.spec = &d->spec,
						.number = i,
						.fd = -1};
		d->sums[i].flow.own = d->owns[i];
	}
}

/* Returns what each of them does. */
static struct wl_flow *lines_new(struct arm_data *d)
{
	const struct sock_spec *spec = d->conf.each;
	struct wl_flow *like = xcalloc(d->conf.flows, sizeof(*like));

	d->lines = xcalloc(d->conf.flows, sizeof(*d->lines));
	for (unsigned i = 0; i < d->conf.flows; i++) {
		struct sock_line *l = &d->lines[i];
		*l = (struct sock_line){.flow = spec[i].flow,
					.spec = &spec[i],
					.number = i,
					.fd = -1};
		l->flow.own = own_new(&l->flow);
		like[i] = l->flow;
		if (spec[i].opens != NULL)
			spec[i].opens(l, spec[i].arg);
	}
	return like;
}

static void port_memory_free(void *arg)
{
	struct port_arm *a = arg;
	struct arm_data *d = a->data;

	for (unsigned i = 0; d->spec.closes != NULL && d->lines == NULL && i < d->workers; i++)
		d->spec.closes(&d->sums[i], d->spec.arg);
	data_free(d);
	if (a->later != NULL)
		a->later(a->later_arg);
	flows_arm_free(a);
}

static unsigned port_workers(const struct arm *arm)
{
	const struct port_arm *a = (const struct port_arm *)arm;

	return flows_queues(a->ctl, a->ask.port);
}

static struct arm_data *port_data(struct arm *arm, const struct arm_conf *conf, struct err *e)
{
	struct port_arm *a = port_of(arm);
	if (flows_own_check(a, conf, e) != 0)
		return NULL;
	struct arm_data *d = xcalloc(1, sizeof(*d));
	struct flows_arm_ask ask;
	struct wl_flow *like = NULL;

	*d = (struct arm_data){.of = a,
			       .conf = *conf,
			       .spec = *conf->spec,
			       .workers = port_workers(arm)};
	sums_new(d);
	if (conf->each != NULL)
		like = lines_new(d);
	a->data = d;
	a->resets = conf->each == NULL && (d->spec.tune.udp || d->spec.tune.rst);
	ask = (struct flows_arm_ask){.port = a->ask.port,
				     .client = conf->spec->flow.client,
				     .flows = conf->flows,
				     .nlines = like != NULL ? conf->flows : 0,
				     .like = like != NULL ? like : &d->spec.flow,
				     .owns = d->owns,
				     .free = port_memory_free,
				     .arg = a};
	if (flows_arm_take_streams(a, like != NULL ? conf->flows : 1, e) == 0 &&
	    flows_arm_set_streams(a, conf, &d->source, e) == 0) {
		ask.chan_stream = a->chan_stream;
		ask.data_stream = a->data_stream;
		a->arm = flows_arm_new(a->ctl, &ask, e);
	}
	free(like);
	if (a->arm == NULL) {
		data_free(d);
		a->data = NULL;
		return NULL;
	}
	for (unsigned i = 0; d->spec.opens != NULL && d->lines == NULL && i < d->workers; i++)
		d->spec.opens(&d->sums[i], d->spec.arg);
	return d;
}

static int port_add(struct arm_data *d, unsigned thread, const struct sock_addr *to,
		    const struct sock_addr *from, struct err *e)
{
	(void)d, (void)thread, (void)to, (void)from, (void)e;
	return 0;
}

static int port_serve(struct arm_data *d, unsigned thread, const struct sock_addr *at,
		      struct err *e)
{
	(void)d, (void)thread, (void)at, (void)e;
	return 0;
}

static int port_start(struct arm_data *d, struct err *e)
{
	(void)e;
	d->starts = true;
	if (d->spec.flow.client && !d->spec.again)
		flows_arm_go(d->of->arm, false);
	return 0;
}

static void port_go(struct arm_data *d)
{
	flows_arm_go(d->of->arm, true);
}

/* What a worker has counted, as it is now. */
static void sum_look(struct arm_data *d, struct sock_line *l, struct flows_arm_look *k)
{
	flows_arm_look(d->of->arm, l->number, k);
	l->counts.done = k->done;
	l->n.tx_bytes = k->tx_bytes;
	l->n.rx_bytes = k->rx_bytes;
	l->n.tx_calls = k->tx;
	l->n.rx_calls = k->rx;
	l->first_ns = k->first_ago_ns != 0 ? sock_now_ns() - k->first_ago_ns : 0;
}

static void look_add(struct flows_arm_look *all, const struct flows_arm_look *k)
{
	all->done += k->done;
	all->established += k->established;
	all->open += k->open;
	all->ended += k->ended;
	if (all->failed == 0)
		all->why = k->why;
	all->failed += k->failed;
	all->went &= k->went;
	all->stopped &= k->stopped;
	/* the first to begin, and the last to end */
	if (k->went_ago_ns > all->went_ago_ns)
		all->went_ago_ns = k->went_ago_ns;
	if (k->first_ago_ns > all->first_ago_ns)
		all->first_ago_ns = k->first_ago_ns;
	if (k->stopped_ago_ns < all->stopped_ago_ns)
		all->stopped_ago_ns = k->stopped_ago_ns;
}

/* All of them together. */
static const struct flows_arm_look *data_look(struct arm_data *d)
{
	static struct flows_arm_look all; /* control is one thread */
	struct flows_arm_look k;

	sum_look(d, &d->sums[0], &all);
	for (unsigned i = 1; i < d->workers; i++) {
		sum_look(d, &d->sums[i], &k);
		look_add(&all, &k);
	}
	return &all;
}

static void line_look(struct arm_data *d, struct sock_line *l, struct flows_arm_line *k)
{
	flows_arm_line(d->of->arm, l->number, k);
	l->n.tx_bytes = k->tx_bytes;
	l->n.rx_bytes = k->rx_bytes;
	l->n.tx_calls = k->tx;
	l->n.rx_calls = k->rx;
}

/* How many lines are ready. *failed: one that cannot become so; NULL: there is none. */
static unsigned lines_ready(struct arm_data *d, struct sock_line **failed, const char **why)
{
	struct flows_arm_line k;
	unsigned n = 0;

	*failed = NULL;
	for (unsigned i = 0; i < d->conf.flows; i++) {
		line_look(d, &d->lines[i], &k);
		n += k.ready && !k.ended;
		if (k.failed && *failed == NULL) {
			*failed = &d->lines[i];
			*why = k.why;
		}
	}
	return n;
}

static struct sock_line *data_next(const void *of, const struct sock_line *before)
{
	return before == NULL ? (struct sock_line *)(uintptr_t)of : NULL;
}

static void data_tick(struct arm_data *d, bool last)
{
	uint64_t now = sock_now_ns();

	for (unsigned i = 0; d->conf.tick != NULL && i < d->workers; i++) {
		const struct arm_thread t = {i, &d->sums[i], data_next};
		d->conf.tick(d->conf.sock.arg, &t, now, last);
	}
}

static void port_stop(struct arm_data *d)
{
	const struct timespec little = {.tv_nsec = 50000};
	uint64_t until = sock_now_ns() + STOP_NS;

	if (d == NULL || d->stopped)
		return;
	d->stopped = true;
	flows_arm_stop(d->of->arm);
	while (d->of->stage == PORT_RUNS && !data_look(d)->stopped && sock_now_ns() < until)
		nanosleep(&little, NULL);
	data_look(d);
	data_tick(d, true);
}

static void port_free(struct arm_data *d)
{
	(void)d; /* with the arm */
}

static void port_later(struct arm *arm, void (*fn)(void *arg), void *arg)
{
	struct port_arm *a = port_of(arm);

	if (a->arm == NULL) {
		fn(arg);
		return;
	}
	a->later = fn;
	a->later_arg = arg;
}

static void port_watch(struct arm_data *d, loop_fd_fn *fn, void *arg)
{
	d->watch = fn;
	d->watch_arg = arg;
}

static unsigned port_events(struct arm_data *d)
{
	unsigned events = d->events;

	d->events = 0;
	return events;
}

static bool port_error(struct arm_data *d, struct err *e)
{
	const struct flows_arm_look *k = data_look(d);

	if (d->of->stage == PORT_FAILED) {
		*e = d->of->error;
		return true;
	}
	if (d->lines != NULL && d->spec.flow.client) {
		struct sock_line *failed;
		const char *why;
		lines_ready(d, &failed, &why);
		if (failed != NULL)
			err_set(e, ECONNREFUSED, "connection %u of data failed: %s",
				failed->number + 1, why);
		return failed != NULL;
	}
	if (k->failed == 0)
		return false;
	err_set(e, ECONNREFUSED, "%llu connections of data failed: %s",
		(unsigned long long)k->failed, k->why);
	return true;
}

static void port_each(struct arm_data *d, void (*fn)(void *arg, struct sock_line *), void *arg)
{
	struct flows_arm_line k;

	for (unsigned i = 0; d->lines != NULL && i < d->conf.flows; i++) {
		line_look(d, &d->lines[i], &k);
		fn(arg, &d->lines[i]);
	}
	if (d->lines != NULL)
		return;
	data_look(d);
	for (unsigned i = 0; i < d->workers; i++)
		fn(arg, &d->sums[i]);
}

static bool port_info(struct arm_data *d, const struct sock_line *l, struct sock_info *out)
{
	struct flows_arm_line k;
	struct flows_arm_look sum;

	if (d->lines == NULL) {
		flows_arm_look(d->of->arm, l->number, &sum);
		*out = (struct sock_info){.retransmits = (uint32_t)sum.retransmitted};
		return !d->spec.tune.udp;
	}
	flows_arm_line(d->of->arm, l->number, &k);
	*out = (struct sock_info){.retransmits = (uint32_t)k.retransmitted,
				  .cwnd_bytes = k.cwnd,
				  .snd_wnd = k.window,
				  .unacked = k.unacked,
				  .rtt_us = (uint32_t)(k.srtt_ns / 1000),
				  .mss = k.mss,
				  .pmtu = k.mss != 0 ? k.mss + port_headers(d->of) : 0};
	return !d->spec.tune.udp;
}

static uint64_t port_mapped(struct arm_data *d, const struct sock_line *l)
{
	(void)d, (void)l;
	return 0;
}

static void port_ends(struct arm_data *d, const struct sock_line *l, struct sock_addr *own,
		      struct sock_addr *peer)
{
	*own = d->of->own;
	*peer = d->of->to;
	if (d->lines != NULL)
		sock_addr_set_port(own, d->source + l->number);
	sock_addr_set_port(peer, d->conf.port);
}

static unsigned port_alive(struct arm_data *d)
{
	struct sock_line *failed;
	const char *why;

	if (d->lines != NULL)
		return lines_ready(d, &failed, &why);
	return (unsigned)data_look(d)->open;
}

static uint64_t port_began_ns(struct arm_data *d)
{
	uint64_t ago = data_look(d)->went_ago_ns;

	return ago == 0 ? 0 : sock_now_ns() - ago;
}

static uint64_t port_ended_ns(struct arm_data *d)
{
	uint64_t ago = data_look(d)->stopped_ago_ns;

	return ago == 0 ? 0 : sock_now_ns() - ago;
}

static void port_say(struct arm_data *d, arm_say_fn *say, void *arg)
{
	const struct stream_cfg *s =
		ctl_stream_cfg(d->of->ctl, d->of->ask.port, d->of->data_stream);
	const struct port_arm *a = d->of;
	char text[32];

	say(arg, "stack", "port", false);
	say(arg, "device", ctl_port_name(a->ctl, a->ask.port), false);
	if (d->spec.tune.udp || s == NULL)
		return;
	const char *algorithm = d->spec.tune.congestion;
	say(arg, "congestion", algorithm != NULL ? algorithm : "cubic", false);
	snprintf(text, sizeof(text), "%.6f", (double)flows_rto_ns(s) / 1e9);
	say(arg, "rto_floor", text, true);
}

static void lines_events(struct arm_data *d, unsigned *events, bool *failed)
{
	struct sock_line *bad;
	const char *why;
	unsigned ready = lines_ready(d, &bad, &why);

	*failed |= bad != NULL && !d->stopped;
	if (d->starts && ready == d->conf.flows && !d->connected)
		*events |= SOCK_CONNECTED;
}

void flows_data_events(struct arm_data *d)
{
	const struct flows_arm_look *k = data_look(d);
	bool failed =
		d->of->stage == PORT_FAILED || (k->failed > 0 && !d->stopped && d->lines == NULL);
	unsigned events = 0;

	if (d->lines != NULL && d->spec.flow.client)
		lines_events(d, &events, &failed);
	if (failed) {
		events |= d->tells_failed ? 0 : SOCK_FAILED;
		d->tells_failed = true;
	}
	if (d->lines != NULL)
		;
	else if (!d->spec.flow.client)
		events |= k->established > 0 && !d->connected ? SOCK_ACCEPTED : 0;
	else if (d->starts && (d->spec.again || k->open >= d->conf.flows))
		events |= d->connected ? 0 : SOCK_CONNECTED;
	d->connected |= (events & (SOCK_ACCEPTED | SOCK_CONNECTED)) != 0;
	if (d->conf.sock.budget != 0 && k->done >= d->conf.sock.budget && !d->spent) {
		events |= SOCK_SPENT;
		d->spent = true;
	}
	if (!d->spec.again && k->ended > d->ended && d->lines == NULL)
		events |= SOCK_ENDED;
	d->ended = k->ended;
	/* a server's time begins with what comes */
	uint64_t ago = d->spec.flow.client ? k->went_ago_ns : k->first_ago_ns;
	if (!d->stopped && d->conf.sock.tick_ns != 0 && ago / d->conf.sock.tick_ns > d->ticks) {
		d->ticks = ago / d->conf.sock.tick_ns;
		data_tick(d, false);
	}
	d->events |= events;
	if (d->events != 0 && d->watch != NULL)
		d->watch(d->watch_arg, 0);
}

const struct arm_ops flows_arm_ops = {
	.name = "port",
	.together = true,
	.server_at = flows_own_server_at,
	.reach = flows_own_reach,
	.connect = flows_chan_connect,
	.listen = flows_chan_listen,
	.take = flows_chan_take,
	.refuse = flows_chan_refuse,
	.unlisten = flows_chan_unlisten,
	.mss = port_mss,
	.workers = port_workers,
	.wait = flows_chans_wait,
	.data = port_data,
	.add = port_add,
	.serve = port_serve,
	.start = port_start,
	.go = port_go,
	.stop = port_stop,
	.free = port_free,
	.later = port_later,
	.watch = port_watch,
	.events = port_events,
	.error = port_error,
	.each = port_each,
	.info = port_info,
	.mapped = port_mapped,
	.ends = port_ends,
	.alive = port_alive,
	.began_ns = port_began_ns,
	.ended_ns = port_ended_ns,
	.tune = flows_arm_retune,
	.let = flows_served_let,
	.let_done = flows_served_let_done,
	.peer = flows_served_peer,
	.say = port_say,
};
