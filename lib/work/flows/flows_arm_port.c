/* SPDX-License-Identifier: BSD-3-Clause */
/* The arm `port`: two streams of a port carry a program's connections, one those of control and one
 * its data. The memory that the worker uses is given back when the last connection has gone. */
#include "cmd/verb_lines.h"
#include "flows_arm_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TURN_NS 1000000
/* So long control waits for the worker to stop the data, which takes it a turn. */
#define STOP_NS 200000000ull
#define OWN_LEAST 64

struct arm_data {
	struct port_arm *of;
	struct arm_conf conf;
	struct sock_spec spec;
	struct sock_line line;   /* of all connections */
	struct sock_line *lines; /* with arm_conf.each: the first of conf.flows; else NULL */
	unsigned source;         /* and the port of the first */
	loop_fd_fn *watch;
	void *watch_arg;
	unsigned events;
	bool starts, connected, went, spent, tells_failed, stopped;
	uint64_t ended, ticks;
};

static void port_fail(struct port_arm *a, const struct err *e)
{
	if (a->stage == PORT_FAILED || a->stage == PORT_ENDS)
		return;
	a->stage = PORT_FAILED;
	a->error = *e;
}

/* ---- addresses ---- */

/* One address of the port's setting, "10.0.0.1/24". */
static bool own_read(char *word, struct sock_addr *out)
{
	char *slash = strchr(word, '/');

	*out = (struct sock_addr){.len = 0};
	if (slash != NULL)
		*slash = '\0';
	if (inet_pton(AF_INET, word, &out->sa.v4.sin_addr) == 1) {
		out->sa.v4.sin_family = AF_INET;
		out->len = sizeof(out->sa.v4);
	} else if (inet_pton(AF_INET6, word, &out->sa.v6.sin6_addr) == 1) {
		out->sa.v6.sin6_family = AF_INET6;
		out->len = sizeof(out->sa.v6);
	}
	return out->len != 0;
}

/* The port's first address of the family that is also `like`, if that is not NULL. */
static bool own_find(const struct port_arm *a, int family, const struct sock_addr *like,
		     struct sock_addr *out)
{
	const struct setting *s = cmd_setting_find(a->r->cmd, "ip", &(struct err){.col = -1});
	struct sbuf text = {0};
	char *save = NULL;
	bool found = false;

	if (s != NULL && cmd_setting_text(a->r->cmd, s, a->ask.port, 0, &text))
		for (char *w = strtok_r(text.s, ",", &save); w != NULL && !found;
		     w = strtok_r(NULL, ",", &save))
			found = own_read(w, out) &&
				(family == AF_UNSPEC || out->sa.any.sa_family == family) &&
				(like == NULL || sock_addr_same(out, like));
	sbuf_free(&text);
	return found;
}

static int own_none(const struct port_arm *a, const char *what, struct err *e)
{
	return err_set(e, EADDRNOTAVAIL,
		       "port %u has no %s address of its own: `set %u ip ADDRESS/LENGTH`, or --ip",
		       a->ask.port, what, a->ask.port);
}

static const char *own_word(int family)
{
	return family == AF_INET6 ? "IPv6" : family == AF_INET ? "IPv4" : "IP";
}

static int port_server_at(struct arm *arm, const char *host, unsigned port, int family,
			  struct sock_addr *out, struct err *e)
{
	struct port_arm *a = port_of(arm);
	struct sock_addr at;

	if (*host == '\0') {
		if (!own_find(a, family, NULL, &a->own))
			return own_none(a, own_word(family), e);
	} else {
		int rc = sock_resolve(host, 0, family, &at, 1, e);
		if (rc < 0)
			return rc;
		if (!own_find(a, at.sa.any.sa_family, &at, &a->own))
			return err_set(e, EADDRNOTAVAIL,
				       "%s is no address of port %u: `show settings %u ip`", host,
				       a->ask.port, a->ask.port);
	}
	*out = a->own;
	sock_addr_set_port(out, port);
	return 0;
}

static int port_reach(struct arm *arm, struct sock_addr *list, unsigned n, struct err *e)
{
	struct port_arm *a = port_of(arm);
	int family = n > 0 ? list[0].sa.any.sa_family : AF_UNSPEC;

	for (unsigned i = 0; i < n; i++)
		if (own_find(a, list[i].sa.any.sa_family, NULL, &a->own)) {
			a->to = list[0] = list[i];
			return 1;
		}
	return own_none(a, own_word(family), e);
}

/* ---- data ---- */

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
	free(d->lines);
	free(d->line.flow.own);
	free(d);
}

static void *own_new(const struct wl_flow *f)
{
	uint32_t bytes = f->wl->own_bytes;

	return xcalloc_lines(bytes > OWN_LEAST ? bytes : OWN_LEAST);
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

static void port_arm_free(struct port_arm *a)
{
	for (unsigned i = 0; i < FLOWS_SERVED; i++)
		sbuf_free(&a->tuned[i]);
	free(a);
}

static void port_memory_free(void *arg)
{
	struct port_arm *a = arg;
	struct arm_data *d = a->data;

	if (d->spec.closes != NULL && d->lines == NULL)
		d->spec.closes(&d->line, d->spec.arg);
	data_free(d);
	if (a->later != NULL)
		a->later(a->later_arg);
	port_arm_free(a);
}

/* Addresses to connect from are the port's own, of the family of the server's. */
static int local_check(const struct port_arm *a, const struct arm_conf *c, struct err *e)
{
	struct sock_addr own;
	int rc = 0;

	for (unsigned i = 0; i < c->nlocal && rc == 0; i++)
		if (!own_find(a, a->to.sa.any.sa_family, &c->local[i], &own))
			rc = err_set(
				e, EADDRNOTAVAIL,
				"address %u to connect from is no %s address of port %u: `show "
				"settings %u ip` shows those that it has",
				i + 1, own_word(a->to.sa.any.sa_family), a->ask.port, a->ask.port);
	return rc;
}

static struct arm_data *port_data(struct arm *arm, const struct arm_conf *conf, struct err *e)
{
	struct port_arm *a = port_of(arm);
	if (local_check(a, conf, e) != 0)
		return NULL;
	struct arm_data *d = xcalloc(1, sizeof(*d));
	struct flows_arm_ask ask;
	struct wl_flow *like = NULL;

	*d = (struct arm_data){.of = a, .conf = *conf, .spec = *conf->spec};
	d->line = (struct sock_line){.flow = conf->spec->flow, .spec = &d->spec, .fd = -1};
	d->line.flow.own = own_new(&conf->spec->flow);
	if (conf->each != NULL)
		like = lines_new(d);
	a->data = d;
	ask = (struct flows_arm_ask){.port = a->ask.port,
				     .client = conf->spec->flow.client,
				     .flows = conf->flows,
				     .nlines = like != NULL ? conf->flows : 0,
				     .like = like != NULL ? like : &d->line.flow,
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
	if (d->spec.opens != NULL && d->lines == NULL)
		d->spec.opens(&d->line, d->spec.arg);
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

/* The line as it is now. */
static const struct flows_arm_look *data_look(struct arm_data *d)
{
	static struct flows_arm_look k; /* control is one thread */
	uint64_t now = sock_now_ns();

	flows_arm_look(d->of->arm, &k);
	d->line.counts.done = k.done;
	d->line.n.tx_bytes = k.tx_bytes;
	d->line.n.rx_bytes = k.rx_bytes;
	d->line.n.tx_calls = k.tx;
	d->line.n.rx_calls = k.rx;
	d->line.first_ns = k.first_ago_ns != 0 ? now - k.first_ago_ns : 0;
	return &k;
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
	const struct arm_data *d = of;

	return before == NULL ? (struct sock_line *)(uintptr_t)&d->line : NULL;
}

static void data_tick(struct arm_data *d, bool last)
{
	const struct arm_thread t = {0, d, data_next};

	if (d->conf.tick != NULL)
		d->conf.tick(d->conf.sock.arg, &t, sock_now_ns(), last);
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
	fn(arg, &d->line);
}

static bool port_info(struct arm_data *d, const struct sock_line *l, struct sock_info *out)
{
	struct flows_arm_line k;

	if (d->lines == NULL) {
		*out = (struct sock_info){.retransmits = (uint32_t)data_look(d)->retransmitted};
		return !d->spec.tune.udp;
	}
	flows_arm_line(d->of->arm, l->number, &k);
	*out = (struct sock_info){.retransmits = (uint32_t)k.retransmitted,
				  .cwnd_bytes = k.cwnd,
				  .snd_wnd = k.window,
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

static void data_events(struct arm_data *d)
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

static const struct arm_ops port_ops = {
	.name = "port",
	.together = true,
	.server_at = port_server_at,
	.reach = port_reach,
	.connect = flows_chan_connect,
	.listen = flows_chan_listen,
	.take = flows_chan_take,
	.refuse = flows_chan_refuse,
	.unlisten = flows_chan_unlisten,
	.mss = port_mss,
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

/* ---- the arm ---- */

static bool dropped_turn(struct port_arm *a);

static void port_starts(struct port_arm *a)
{
	struct err e;
	int rc = ctl_start_ready(a->ctl, &a->ports, a->again, &e);

	a->again = true;
	if (rc > 0)
		rc = ctl_start(a->ctl, &a->ports, 0, &e);
	else if (rc == 0)
		return;
	if (rc < 0)
		port_fail(a, &e);
	else
		a->stage = PORT_RUNS;
}

static void port_turn(void *arg)
{
	struct port_arm *a = arg;
	struct err e;

	if (a->stage == PORT_ASKED) {
		port_starts(a);
	} else if (a->stage == PORT_RUNS && !ctl_sending(a->ctl, a->ask.port)) {
		err_set(&e, ECANCELED, "port %u was stopped", a->ask.port);
		port_fail(a, &e);
	}
	if (a->stage == PORT_RUNS)
		flows_chans_accept(a);
	flows_chans_turn(a);
	if (dropped_turn(a))
		return;
	if (a->data != NULL && a->stage != PORT_NEW && a->stage != PORT_ENDS)
		data_events(a->data);
}

static struct arm *arm_flows_make(struct cmd_run *r, const struct arm_port_ask *ask)
{
	struct port_arm *a = xcalloc(1, sizeof(*a));
	struct app *app = app_of(r);

	*a = (struct port_arm){
		.base = {&port_ops}, .r = r, .ctl = app->ctl, .loop = app->loop, .ask = *ask};
	portset_add(&a->ports, ask->port);
	a->timer = loop_timer(a->loop, TURN_NS, TURN_NS, port_turn, a);
	return &a->base;
}

static void port_stops(struct port_arm *a)
{
	a->stops = true;
	ctl_stop(a->ctl, &a->ports);
	ctl_hurry(a->ctl, &a->ports);
}

/* Connections of control may still have something to acknowledge. */
static void arm_flows_end(struct arm *arm)
{
	struct port_arm *a = port_of(arm);

	a->stage = PORT_ENDS;
	if (a->chans == NULL)
		port_stops(a);
}

static void arm_is_over(struct port_arm *a)
{
	flows_chans_free(a);
	if (!a->stops)
		port_stops(a);
	loop_timer_del(a->loop, a->timer);
	flows_arm_give_streams(a);
	if (a->arm != NULL)
		flows_arm_end(a->arm); /* which frees it, now or later */
	else
		port_arm_free(a);
}

static bool arm_flows_over(struct arm *arm)
{
	struct port_arm *a = port_of(arm);
	bool sending = ctl_sending(a->ctl, a->ask.port);

	if (sending && a->chans != NULL)
		return false;
	if (!a->stops)
		port_stops(a);
	if (sending)
		return false;
	arm_is_over(a);
	return true;
}

/* Those that nobody asks any more: their own timers see to their ends. */
static struct port_arm *dropped; /* control is one thread */

static bool dropped_turn(struct port_arm *a)
{
	struct port_arm **at = &dropped;

	while (*at != NULL && *at != a)
		at = &(*at)->next_dropped;
	if (*at == NULL)
		return false;
	*at = a->next_dropped;
	if (arm_flows_over(&a->base))
		return true;
	a->next_dropped = dropped;
	dropped = a;
	return false;
}

/* What its connections of control have put still goes out, as a socket's would: now, as the program
 * may be about to end. */
static void arm_flows_drop(struct arm *arm)
{
	struct port_arm *a = port_of(arm);

	arm_flows_end(arm);
	flows_chans_finish(a, STOP_NS);
	a->next_dropped = dropped;
	dropped = a;
	dropped_turn(a);
}

const struct arm_port flows_arm_port = {
	.make = arm_flows_make,
	.end = arm_flows_end,
	.over = arm_flows_over,
	.drop = arm_flows_drop,
};
