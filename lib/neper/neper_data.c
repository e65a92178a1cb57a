/* SPDX-License-Identifier: BSD-3-Clause */
/* The connections of data of a run. */
#include "neper_int.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A request over UDP without an answer is lost after so long. */
#define LOST_NS 1000000000ull

static bool data_is(const struct neper *n, enum neper_which which)
{
	return n->opts->kind == &neper_kind[which];
}

static void data_tune(struct neper *n, struct sock_tune *t)
{
	const struct neper_opts *o = n->opts;

	*t = (struct sock_tune){.udp = !o->kind->tcp,
				.no_delay = o->no_delay,
				.reuse_addr = o->reuseaddr,
				.debug = o->debug,
				.freebind = o->freebind,
				.fastopen = o->tcp_fastopen && o->client,
				.rst = o->client && !o->time_wait,
				.tx_delay_us = (int)o->tcp_tx_delay,
				.mark = (int)o->mark,
				.backlog = (int)o->listen_backlog,
				.pacing = o->max_pacing_rate};
	if (o->kind->tcp && *o->congestion_control != '\0')
		t->congestion = o->congestion_control;
	if (!o->client) {
		t->reuse_port = true;
		t->reuse_addr = true;
	}
	/* each connection of a thread has the same source port as the one before it */
	if (o->client && o->source_port >= 0)
		t->reuse_addr = true;
}

/* ns of a byte by the rate, in 2^-32. */
static uint64_t data_byte_fraction(const struct neper_opts *o)
{
	return (uint64_t)(4294967296e9 / (double)o->max_pacing_rate);
}

/* What the kernel does by SO_MAX_PACING_RATE, and sockets by their specs, is the record's on an arm
 * that has neither: a ms of the rate is a piece. What comes late is made up for, so that a worker
 * that had no CPU for a moment keeps the rate. */
#define PIECE_LEAST 1400
#define BURST_NS 50000000
static void data_pace(const struct neper *n, struct neper_wl_conf *c)
{
	const struct neper_opts *o = n->opts;
	uint64_t ms = o->max_pacing_rate / 1000, piece = c->piece;

	c->every_ns = (uint64_t)(o->kind->rr ? o->delay : 0);
	c->slot_ns = (uint64_t)o->noburst;
	c->gap_ns = (uint64_t)(o->kind->rr ? 0 : o->delay);
	c->burst_ns = BURST_NS;
	if (o->max_pacing_rate == 0)
		return;
	c->byte_fraction = data_byte_fraction(o);
	if (o->kind->tcp && o->delay == 0 && ms < piece)
		c->piece = (uint32_t)(ms > PIECE_LEAST      ? ms
				      : piece < PIECE_LEAST ? piece
							    : PIECE_LEAST);
}

static void data_rr(struct neper *n, struct wl_flow *f)
{
	const struct neper_opts *o = n->opts;
	uint64_t piece = (uint64_t)o->buffer_size < 65507 ? (uint64_t)o->buffer_size : 65507;

	n->wl = (struct neper_wl_conf){.request = (uint64_t)o->request_size,
				       .response = (uint64_t)o->response_size,
				       .piece = (uint32_t)piece,
				       .again = data_is(n, NEPER_TCP_CRR),
				       .no_close = o->time_wait || !o->client,
				       .timeout_ns = LOST_NS};
	f->wl = &neper_rr;
	f->conf = &n->wl;
	if (n->arm->ops->together) {
		n->wl.chain = true;
		data_pace(n, &n->wl);
		n->wl.budget = o->client && o->test_length < 0 ? (uint64_t)-o->test_length : 0;
		n->wl.taken = &n->taken;
		f->on_call = o->client && !n->wl.again;
	} else {
		f->on_call = o->client && (o->test_length < 0 || o->delay > 0 || o->noburst > 0);
	}
	n->spec.every_ns = (uint64_t)o->delay;
	n->spec.slot_ns = (uint64_t)o->noburst;
	n->spec.again = n->spec.leave = n->wl.again && o->client;
}

static void data_pieces(struct neper *n, struct wl_flow *f, bool sends)
{
	n->wl = (struct neper_wl_conf){.piece = (uint32_t)n->opts->buffer_size,
				       .no_close = n->opts->time_wait || !n->opts->client};
	if (n->opts->split_bidir)
		n->wl.split = &n->split;
	if (n->arm->ops->together)
		data_pace(n, &n->wl);
	if (!sends)
		n->wl.piece = 0;
	f->wl = &neper_pieces;
	f->conf = &n->wl;
}

static void data_stream(struct neper *n, struct wl_flow *f)
{
	const struct neper_opts *o = n->opts;
	struct sock_spec *s = &n->spec;
	bool up = o->client ? o->enable_write : o->enable_read;
	bool down = o->client ? o->enable_read : o->enable_write;

	s->gap_ns = (uint64_t)o->delay;
	s->zerocopy = o->zerocopy;
	s->more = o->kind->tcp && !o->no_cork;
	s->skip_receive = o->skip_rx_copy;
	s->map_receive = o->rx_zerocopy;
	if (o->split_bidir ||
	    (n->arm->ops->together && (o->delay | (int64_t)o->max_pacing_rate) != 0)) {
		bool sends = o->client ? up : down;
		data_pieces(n, f, o->kind->tcp ? sends : o->client);
		return;
	}
	if (!o->kind->tcp) {
		n->wl = (struct neper_wl_conf){.request = (uint64_t)o->buffer_size};
		f->wl = &neper_datagrams;
		f->conf = &n->wl;
		/* the kernel paces datagrams only where the interface has the queue fq */
		if (o->max_pacing_rate != 0)
			s->byte_fraction = data_byte_fraction(o);
		s->burst_ns = 1000000;
		return;
	}
	n->stream = (struct wl_stream_conf){
		.direction = (enum wl_direction)((up ? WL_UP : 0) | (down ? WL_DOWN : 0))};
	f->wl = &wl_stream;
	f->conf = &n->stream;
}

unsigned neper_thread_of(const struct neper *n, const struct sock_line *l)
{
	if (n->arm->ops->together)
		return l->number;
	return l->thread != NULL ? sock_thread_number(l->thread) : 0;
}

/* Flows that are counted together have numbers for the log, from 0 on, and a share of it each. */
static void data_numbers(const struct neper_opts *o, uint32_t flows, struct neper_times *k)
{
	k->flow_most = (uint32_t)o->logrtt_entries_per_flow;
	k->log_most *= flows;
	k->flow_log = xcalloc(flows, sizeof(*k->flow_log));
	k->free = xcalloc(flows, sizeof(*k->free));
	for (k->nfree = 0; k->nfree < flows; k->nfree++)
		k->free[k->nfree] = flows - 1 - k->nfree;
}

/* On the thread: a line begins. */
static bool data_opens(struct sock_line *l, void *arg)
{
	struct neper *n = arg;
	const struct neper_opts *o = n->opts;
	unsigned thread = neper_thread_of(n, l);
	int64_t flows = o->num_flows / n->threads + (thread < o->num_flows % n->threads);
	struct neper_thread *t = &n->thread[thread];
	struct neper_times *k = l->flow.own;

	if (t->first_ns == 0)
		t->first_ns = sock_now_ns();
	if (!o->kind->rr || !o->client)
		return true;
	/* threads take the times that all of them share in turn */
	k->slots = (uint32_t)(o->num_flows < n->threads ? o->num_flows : n->threads);
	k->slot = thread;
	if (o->npercentiles > 0)
		k->hist = hist_new(NEPER_SHAPE);
	if (*o->log_rtt != '\0') {
		k->log_most = (uint64_t)o->logrtt_entries_per_flow;
		if (n->arm->ops->together)
			data_numbers(o, (uint32_t)flows, k);
		k->log = xcalloc(k->log_most, sizeof(*k->log));
	}
	return true;
}

static void data_closes(struct sock_line *l, void *arg)
{
	struct neper_times *k = l->flow.own;

	(void)arg;
	if (l->flow.wl != &neper_rr)
		return;
	free(k->hist);
	free(k->log);
	free(k->flow_log);
	free(k->free);
	free(l->user); /* the histogram of the last sample */
}

static int data_cpus(struct neper *n, struct err *e)
{
	cpu_set_t set;
	unsigned cpus = 0;
	int *allowed;

	if (!n->opts->pin_cpu)
		return 0;
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return err_set(e, errno, "the CPUs of this process are not known: %s",
			       strerror(errno));
	allowed = xcalloc(CPU_SETSIZE, sizeof(*allowed));
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			allowed[cpus++] = i;
	n->cpu = xcalloc((size_t)n->threads, sizeof(*n->cpu));
	for (int64_t i = 0; i < n->threads; i++)
		n->cpu[i] = allowed[i % cpus];
	free(allowed);
	return 0;
}

int neper_data_new(struct neper *n, struct err *e)
{
	const struct neper_opts *o = n->opts;
	uint32_t most =
		o->buffer_size < SOCK_BUFFER_MOST ? (uint32_t)o->buffer_size : SOCK_BUFFER_MOST;
	int rc;

	n->threads = n->arm->ops->together ? n->arm->ops->workers(n->arm) : o->num_threads;
	rc = data_cpus(n, e);
	if (rc != 0)
		return rc;
	wl_content_init(&n->content, NULL, 0, WL_FILL_X);
	n->spec.flow = (struct wl_flow){.content = &n->content, .ncontent = 1, .client = o->client};
	n->spec.buffer = o->kind->tcp ? most : 0;
	n->spec.keep = !data_is(n, NEPER_TCP_CRR);
	n->spec.opens = data_opens;
	n->spec.closes = data_closes;
	n->spec.arg = n;
	data_tune(n, &n->spec.tune);
	if (o->kind->rr)
		data_rr(n, &n->spec.flow);
	else
		data_stream(n, &n->spec.flow);
	const struct arm_conf conf = {
		.sock = {.threads = (unsigned)n->threads,
			 .cpu = n->cpu,
			 .epoll_events = (unsigned)o->maxevents,
			 .gather = o->client,
			 .budget = o->test_length < 0 && o->client ? (uint64_t)-o->test_length : 0,
			 .tick_ns = n->tick_ns,
			 .arg = n},
		.tick = neper_tick_fn,
		.spec = &n->spec,
		.flows = (unsigned)o->num_flows,
		.port = (unsigned)o->port,
		.ports = o->kind->tcp ? (unsigned)o->num_ports : 1,
		.source_port = o->source_port > 0 ? (unsigned)o->source_port : 0,
		.local = n->local,
		.nlocal = n->nlocal};
	n->thread = xcalloc(conf.sock.threads, sizeof(*n->thread));
	n->data = n->arm->ops->data(n->arm, &conf, e);
	return n->data != NULL ? 0 : -EIO;
}

int neper_data_client(struct neper *n, struct err *e)
{
	const struct neper_opts *o = n->opts;
	unsigned threads = (unsigned)o->num_threads, flows = (unsigned)o->num_flows, flow = 0;
	unsigned ports = o->kind->tcp ? (unsigned)o->num_ports : 1;
	int rc = 0;

	for (unsigned t = 0; rc == 0 && t < threads; t++)
		for (unsigned i = 0; rc == 0 && i < flows / threads + (t < flows % threads);
		     i++, flow++) {
			struct sock_addr to = n->addr[n->addr_at], from = {.len = 0};
			sock_addr_set_port(&to, (unsigned)o->port + flow % ports);
			if (n->nlocal > 0)
				from = n->local[flow % n->nlocal];
			if (o->source_port >= 0) {
				from = (struct sock_addr){.len = to.len};
				from.sa.any.sa_family = to.sa.any.sa_family;
				sock_addr_set_port(&from, (unsigned)o->source_port + flow);
			}
			rc = n->arm->ops->add(n->data, t, &to, &from, e);
		}
	return rc != 0 ? rc : n->arm->ops->start(n->data, e);
}

int neper_data_server(struct neper *n, struct err *e)
{
	const struct neper_opts *o = n->opts;
	int64_t ports = o->kind->tcp ? o->num_ports : 1;
	int rc = 0;

	for (int64_t i = 0; rc == 0 && i < ports; i++)
		for (unsigned t = 0; rc == 0 && t < (unsigned)o->num_threads; t++) {
			struct sock_addr at = n->addr[0];
			sock_addr_set_port(&at, (unsigned)(o->port + i));
			rc = n->arm->ops->serve(n->data, t, &at, e);
		}
	return rc != 0 ? rc : n->arm->ops->start(n->data, e);
}

static void data_add_done(void *arg, struct sock_line *l)
{
	*(uint64_t *)arg += cell_get(&l->counts.done);
}

uint64_t neper_data_done(struct neper *n)
{
	uint64_t done = 0;

	n->arm->ops->each(n->data, data_add_done, &done);
	return done;
}

struct data_io {
	uint64_t tx, rx, tx_bytes, rx_bytes;
};

static void data_add_io(void *arg, struct sock_line *l)
{
	struct data_io *io = arg;

	io->tx += cell_get(&l->n.tx_calls);
	io->rx += cell_get(&l->n.rx_calls);
	io->tx_bytes += cell_get(&l->n.tx_bytes);
	io->rx_bytes += cell_get(&l->n.rx_bytes);
}

void neper_data_iostat(struct neper *n)
{
	struct data_io io = {0};
	uint64_t now = sock_now_ns();
	double s = (double)(now - n->io.at_ns) / 1e9;
	char text[256];

	n->arm->ops->each(n->data, data_add_io, &io);
	snprintf(
		text, sizeof(text),
		"t=%.3f      TX: %6llu ops, %10llu bytes, %8.1f Mbps; RX: %6llu ops, %10llu bytes, "
		"%8.1f Mbps;",
		(double)(now - n->begin_ns) / 1e9, (unsigned long long)(io.tx - n->io.tx),
		(unsigned long long)(io.tx_bytes - n->io.tx_bytes),
		(double)(io.tx_bytes - n->io.tx_bytes) * 8 / 1e6 / s,
		(unsigned long long)(io.rx - n->io.rx),
		(unsigned long long)(io.rx_bytes - n->io.rx_bytes),
		(double)(io.rx_bytes - n->io.rx_bytes) * 8 / 1e6 / s);
	n->io.tx = io.tx;
	n->io.rx = io.rx;
	n->io.tx_bytes = io.tx_bytes;
	n->io.rx_bytes = io.rx_bytes;
	n->io.at_ns = now;
	n->out.line(n->out.arg, text);
}
