/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of a program's protocol on a port: its part of versions and plans, and what goes
 * through the memory that it shares with the worker (flows_arm_run.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"

struct flows_arm {
	unsigned refs; /* of the port, of designs, and of plans */
	uint64_t serial;
	struct flows_port *of;
	struct flows_arm_ask ask;
	struct wl_flow like[FLOWS_LINES];
	unsigned nqueues;
	struct flows_arm_job **job; /* [nqueues] */
	uint64_t next_tuple;
	uint64_t lets; /* how often connections were let come, stay, or end */
};

static void arm_free(struct flows_arm *a)
{
	for (unsigned q = 0; q < a->nqueues; q++)
		rte_free(a->job[q]);
	free(a->job);
	free(a);
}

/* A job for the worker of each queue, which has its share of a client's connections. */
static bool arm_jobs(struct flows_arm *a, const struct ctl *c, const struct ctl_port *cp)
{
	a->job = xcalloc(a->nqueues, sizeof(struct flows_arm_job *));
	for (unsigned q = 0; q < a->nqueues; q++) {
		struct flows_arm_job *j = state_new(sizeof(*j), c->worker[cp->tx_worker[q]].node);
		if (j == NULL)
			return false;
		j->client = a->ask.client;
		j->flows = (uint32_t)flows_dealt(a->ask.flows, q, a->nqueues);
		j->nlines = a->ask.nlines;
		a->job[q] = j;
	}
	return true;
}

struct flows_arm *flows_arm_new(struct ctl *c, const struct flows_arm_ask *ask, struct err *e)
{
	struct ctl_port *cp = c->port[ask->port];
	struct flows_port *p = flows_of(cp);
	static uint64_t serial; /* control is one thread */
	struct flows_arm *a;

	if (p->nqueues != 1 && ask->nlines > 0) {
		err_set(e, ENOTSUP,
			"port %u: its protocol runs on one worker, which receives and sends on one queue: give the port one, as -m "
			"\"1.%u\" does",
			ask->port, ask->port);
		return NULL;
	}
	if (p->arm != NULL) {
		err_set(e, EBUSY, "port %u: another protocol runs there already", ask->port);
		return NULL;
	}
	if (ask->nlines > FLOWS_LINES) {
		err_set(e, EINVAL, "port %u: %u connections of data are more than %d", ask->port,
			ask->nlines, FLOWS_LINES);
		return NULL;
	}
	a = xcalloc(1, sizeof(*a));
	*a = (struct flows_arm){.refs = 1,
				.serial = ++serial,
				.of = p,
				.ask = *ask,
				.nqueues = p->nqueues,
				.next_tuple = clock_tsc()};
	memcpy(a->like, ask->like, RTE_MAX(ask->nlines, 1u) * sizeof(*a->like));
	if (!arm_jobs(a, c, cp)) {
		arm_free(a);
		err_set(e, ENOMEM, "no memory for the connections of port %u", ask->port);
		return NULL;
	}
	p->arm = a;
	return a;
}

void flows_arm_unref(struct flows_arm *a)
{
	if (a == NULL || --a->refs > 0)
		return;
	a->ask.free(a->ask.arg);
	arm_free(a);
}

void flows_arm_end(struct flows_arm *a)
{
	if (a->of->arm == a)
		a->of->arm = NULL;
	flows_arm_unref(a);
}

/* ---- versions and plans ---- */

static bool arm_has_chans(const struct flows_arm *a, const struct stream *s)
{
	return s->cfg.id == a->ask.chan_stream;
}

bool flows_arm_has(const struct ctl_port *cp, const struct stream *s)
{
	const struct flows_arm *a = flows_of(cp)->arm;

	return a != NULL &&
	       (arm_has_chans(a, s) || s->cfg.id - a->ask.data_stream < RTE_MAX(a->ask.nlines, 1u));
}

bool flows_arm_load(struct flows_design *d, const struct ctl_port *cp, const struct stream *s)
{
	struct flows_arm *a = flows_of(cp)->arm;
	struct flows_load *l = &d->load;
	const struct wl_flow *like;

	if (!flows_arm_has(cp, s))
		return false;
	d->endless = true;
	l->arm = a;
	a->refs++;
	if (arm_has_chans(a, s)) {
		wl_content_init(&l->plain[0], NULL, 0, WL_FILL_X);
		l->content = l->plain;
		l->ncontent = 1;
		l->wl = &flow_buffer_wl;
		l->buffered = true;
		return true;
	}
	like = &a->like[s->cfg.id - a->ask.data_stream];
	l->wl = like->wl;
	l->conf = like->conf;
	l->content = like->content;
	l->ncontent = like->ncontent;
	l->own = like->own;
	l->owns = a->ask.nlines == 0 ? a->ask.owns : NULL;
	d->on_call = like->on_call;
	return true;
}

uint64_t flows_arm_hash(uint64_t h, const struct flows_arm *a)
{
	return a != NULL ? fnv1a_number(h, a->serial) : h;
}

static struct flows_one *arm_flow(const struct flows_port *p, unsigned stream)
{
	struct flows_one *f = p->first;

	while (f != NULL && (f->gone || f->id != stream || f->ver == NULL || !f->in_run ||
			     f->ver->design->load.arm != p->arm))
		f = f->next;
	return f;
}

static void arm_release(struct ctl *c, void *obj)
{
	(void)c;
	flows_arm_unref(obj);
}

struct flows_arm_job *flows_arm_job(const struct flows_port *p, unsigned q, struct plan_writer *w)
{
	struct flows_arm *a = p->arm;
	const struct flows_one *chan, *data;
	struct flows_arm_job *j;

	if (a == NULL)
		return NULL;
	chan = arm_flow(p, a->ask.chan_stream);
	data = arm_flow(p, a->ask.data_stream);
	if (chan == NULL || data == NULL)
		return NULL;
	j = a->job[q];
	for (unsigned i = 0; i < a->ask.nlines; i++) {
		const struct flows_one *line = arm_flow(p, a->ask.data_stream + i);
		if (line == NULL)
			return NULL;
		j->line[i].flow = line->state[q];
	}
	j->chan_flow = chan->state[q];
	j->data_flow = data->state[q];
	a->refs++;
	plan_keep(w, a, arm_release);
	return j;
}

/* ---- connections of control ---- */

static uint64_t arm_get(const cell_t *c)
{
	return __atomic_load_n(c, __ATOMIC_ACQUIRE);
}

static void arm_set(cell_t *c, uint64_t v)
{
	__atomic_store_n(c, v, __ATOMIC_RELEASE);
}

unsigned flows_arm_chans(const struct flows_arm *a)
{
	return a->nqueues * FLOWS_CHANS;
}

static struct flows_chan *arm_chan(const struct flows_arm *a, unsigned chan)
{
	return &a->job[chan / FLOWS_CHANS]->chan[chan % FLOWS_CHANS];
}

/* Another port each time, far from the one before. Returns to which queue its answers come. */
static unsigned arm_tuple(struct flows_arm *a, const struct flows_ver *v, struct flow_tuple *out)
{
	const struct flow_tuples *t = v->set->tuples[0];

	flow_tuples_at(t, a->next_tuple % flow_tuples_count(t), out);
	a->next_tuple += 7919;
	for (unsigned q = 0; q < a->nqueues; q++) {
		const struct flow_spec *s = &v->v.spec[q];
		if (s->mine == NULL || s->mine(s->mine_arg, out))
			return q;
	}
	return 0;
}

int flows_arm_connect(struct flows_arm *a)
{
	const struct flows_one *f = arm_flow(a->of, a->ask.chan_stream);
	struct flow_tuple tuple;
	unsigned q;

	if (f == NULL)
		return -EAGAIN;
	q = arm_tuple(a, f->ver, &tuple);
	for (unsigned i = 0; i < FLOWS_CHANS; i++) {
		struct flows_chan *c = &a->job[q]->chan[i];
		if (arm_get(&c->state) != FLOWS_CHAN_FREE)
			continue;
		if (cell_get(&c->order) == FLOWS_ORDER_CONNECT)
			continue;
		cell_set(&c->tx_put, 0);
		cell_set(&c->rx_got, 0);
		c->tuple = tuple;
		arm_set(&c->order, FLOWS_ORDER_CONNECT);
		return (int)(q * FLOWS_CHANS + i);
	}
	return -ENOSPC;
}

static int arm_error(enum wl_end why)
{
	switch (why) {
	case WL_END_REFUSED:
		return ECONNREFUSED;
	case WL_END_CONNECT_TIMEOUT:
	case WL_END_TIMED_OUT:
		return ETIMEDOUT;
	case WL_END_UNREACHABLE:
		return EHOSTUNREACH;
	case WL_END_RESET_BY_PEER:
		return ECONNRESET;
	case WL_END_CLOSED:
		return 0;
	default:
		return ECONNABORTED;
	}
}

void flows_arm_chan(struct flows_arm *a, unsigned chan, struct flows_arm_chan *out)
{
	struct flows_chan *c = arm_chan(a, chan);
	uint64_t state = arm_get(&c->state), order = cell_get(&c->order);

	*out = (struct flows_arm_chan){.used = state != FLOWS_CHAN_FREE ||
					       order == FLOWS_ORDER_CONNECT};
	if (order == FLOWS_ORDER_FORGET && state == FLOWS_CHAN_FREE) {
		cell_set(&c->tx_put, 0);
		cell_set(&c->rx_got, 0);
		arm_set(&c->order, FLOWS_ORDER_NONE);
	}
	if (state == FLOWS_CHAN_FREE || order == FLOWS_ORDER_FORGET)
		return;
	out->open = state == FLOWS_CHAN_OPEN;
	out->gone = state == FLOWS_CHAN_GONE;
	out->error = out->gone ? arm_error((enum wl_end)cell_get(&c->ended)) : 0;
	out->waiting = cell_get(&c->tx_put) - arm_get(&c->tx_got) + cell_get(&c->unacked);
	out->ended = (arm_get(&c->peer_done) != 0 || out->gone) &&
		     arm_get(&c->rx_put) == cell_get(&c->rx_got);
}

static unsigned arm_peer(const struct flow_tuple *t, uint8_t ip[16], unsigned *port)
{
	*port = t->remote_port;
	if (t->remote_port == 0)
		return 0;
	if (t->is6) {
		memcpy(ip, t->remote.v6, 16);
		return 16;
	}
	for (unsigned i = 0; i < 4; i++)
		ip[i] = (uint8_t)(t->remote.v4 >> (24 - 8 * i));
	return 4;
}

unsigned flows_arm_peer(const struct flows_arm *a, unsigned chan, uint8_t ip[16], unsigned *port)
{
	return arm_peer(&arm_chan(a, chan)->peer, ip, port);
}

size_t flows_arm_put(struct flows_arm *a, unsigned chan, const void *data, size_t n)
{
	struct flows_chan *c = arm_chan(a, chan);
	uint64_t put = cell_get(&c->tx_put), room = FLOW_BUFFER - (put - arm_get(&c->tx_got));

	n = RTE_MIN(n, room);
	for (size_t i = 0; i < n; i++)
		c->tx[(put + i) % FLOW_BUFFER] = ((const uint8_t *)data)[i];
	arm_set(&c->tx_put, put + n);
	return n;
}

size_t flows_arm_get(struct flows_arm *a, unsigned chan, void *data, size_t n)
{
	struct flows_chan *c = arm_chan(a, chan);
	uint64_t got = cell_get(&c->rx_got), there = arm_get(&c->rx_put) - got;

	n = RTE_MIN(n, there);
	for (size_t i = 0; i < n; i++)
		((uint8_t *)data)[i] = c->rx[(got + i) % FLOW_BUFFER];
	arm_set(&c->rx_got, got + n);
	return n;
}

void flows_arm_close(struct flows_arm *a, unsigned chan)
{
	arm_set(&arm_chan(a, chan)->order, FLOWS_ORDER_CLOSE);
}

void flows_arm_forget(struct flows_arm *a, unsigned chan)
{
	arm_set(&arm_chan(a, chan)->order, FLOWS_ORDER_FORGET);
}

/* ---- data ---- */

void flows_arm_go(struct flows_arm *a, bool all)
{
	for (unsigned q = 0; q < a->nqueues; q++)
		arm_set(&a->job[q]->go, all ? FLOWS_GO_ALL : FLOWS_GO_OPEN);
}

void flows_arm_let(struct flows_arm *a, enum flows_arm_let let, unsigned line)
{
	if (let == FLOWS_ARM_NONE)
		arm_set(&a->job[0]->go, FLOWS_GO_NOT);
	arm_set(&a->job[0]->let, FLOWS_LET((unsigned)let, line, ++a->lets));
}

/* Settings that have changed are in a version that the worker has when it was given it. */
bool flows_arm_let_done(const struct flows_arm *a)
{
	uint64_t let = cell_get(&a->job[0]->let);
	const struct flows_one *f;

	if (arm_get(&a->job[0]->let_done) != let)
		return false;
	if (FLOWS_LET_OF(let) != FLOWS_LET_COME)
		return true;
	f = arm_flow(a->of, a->ask.data_stream + FLOWS_LET_WHICH(let));
	return f != NULL && a->of->c->port[a->ask.port]->touched == 0 &&
	       arm_get(&f->ver->v.handed[0].given) > 0;
}

bool flows_arm_peer_look(const struct flows_arm *a, uint64_t identity,
			 struct flows_arm_peer_look *out)
{
	for (unsigned i = 0; i < FLOWS_PEERS && identity != 0; i++) {
		const struct flows_peer *p = &a->job[0]->peer[(identity + i) % FLOWS_PEERS];
		uint64_t is = arm_get(&p->identity);

		if (is != identity && is != 0)
			continue;
		if (is == 0)
			return false;
		*out = (struct flows_arm_peer_look){.cwnd = (uint32_t)cell_get(&p->cwnd),
						    .window = (uint32_t)cell_get(&p->window),
						    .mss = (uint32_t)cell_get(&p->mss),
						    .resent = (uint32_t)cell_get(&p->resent),
						    .srtt_ns = cell_get(&p->srtt_ns)};
		out->ip_len = arm_peer(&p->tuple, out->ip, &out->port);
		return true;
	}
	return false;
}

void flows_arm_stop(struct flows_arm *a)
{
	for (unsigned q = 0; q < a->nqueues; q++)
		arm_set(&a->job[q]->stop, 1);
}

static uint64_t arm_ago_ns(const cell_t *tsc)
{
	uint64_t at = arm_get(tsc), now = clock_tsc();

	return at == 0 ? 0 : now > at ? clock_ns(now - at) + 1 : 1;
}

static const char *arm_why(const struct flow_counts *k)
{
	if (k->refused > 0)
		return "refused";
	if (k->connect_timeout > 0)
		return "no answer";
	if (k->unreachable > 0)
		return "unreachable";
	if (k->no_tuple > 0)
		return "no source port is left";
	return k->no_memory > 0 ? "no memory" : "ended while they opened";
}

static uint64_t arm_failed(const struct flow_counts *k)
{
	return k->refused + k->connect_timeout + k->unreachable + k->no_tuple + k->no_memory;
}

static void arm_between(struct flows_arm_look *out, const struct flow_counts *f,
			const struct wl_counts *w, const struct flows_arm_at *from)
{
	out->done = w->done - from->wl.done;
	out->tx_bytes = f->tx_bytes - from->flow.tx_bytes;
	out->rx_bytes = f->rx_bytes - from->flow.rx_bytes;
	out->tx = f->tx - from->flow.tx;
	out->rx = f->rx - from->flow.rx;
	out->retransmitted = f->retransmitted - from->flow.retransmitted;
}

void flows_arm_look(const struct flows_arm *a, unsigned worker, struct flows_arm_look *out)
{
	const struct flows_arm_job *j = a->job[worker];

	*out = (struct flows_arm_look){.went = arm_get(&j->went.tsc) != 0,
				       .stopped = arm_get(&j->stopped.tsc) != 0,
				       .went_ago_ns = arm_ago_ns(&j->went.tsc),
				       .stopped_ago_ns = arm_ago_ns(&j->stopped.tsc),
				       .first_ago_ns = arm_ago_ns(&j->first_tsc)};
	if (j->data_flow == NULL)
		return;
	struct flow_counts f = j->data_flow->counts;
	struct wl_counts w = j->data_flow->transactions;
	out->established = f.established;
	out->open = f.open;
	out->failed = arm_failed(&f);
	out->ended = f.closed + f.reset_by_peer + f.timed_out;
	out->why = arm_why(&f);
	if (out->stopped)
		arm_between(out, &j->stopped.flow, &j->stopped.wl, &j->went);
	else
		arm_between(out, &f, &w, &j->went);
}

void flows_arm_line(const struct flows_arm *a, unsigned line, struct flows_arm_line *out)
{
	const struct flows_line *l = &a->job[0]->line[line];

	*out = (struct flows_arm_line){.why = ""};
	if (l->flow == NULL)
		return;
	struct flow_counts f = l->flow->counts;
	uint64_t ended = f.closed + f.reset_by_peer + f.reset_by_us + f.timed_out + f.aborted;
	out->ready = cell_get(&l->flow->transactions.started) > 0;
	out->failed = !out->ready && (arm_failed(&f) > 0 || ended > 0);
	out->ended = out->ready && ended + f.unreachable > 0;
	out->why = arm_why(&f);
	out->tx_bytes = f.tx_bytes;
	out->rx_bytes = f.rx_bytes;
	out->tx = f.tx;
	out->rx = f.rx;
	out->retransmitted = f.retransmitted;
	out->cwnd = (uint32_t)cell_get(&l->cwnd);
	out->window = (uint32_t)cell_get(&l->window);
	out->mss = (uint32_t)cell_get(&l->mss);
	out->unacked = (uint32_t)cell_get(&l->unacked);
	out->srtt_ns = cell_get(&l->srtt_ns);
}

uint64_t flows_rto_ns(const struct stream_cfg *cfg)
{
	return flows_cfg_of(cfg)->rto_ns;
}

unsigned flows_queues(const struct ctl *c, unsigned port)
{
	return flows_of(c->port[port])->nqueues;
}

uint64_t flows_mtu(const struct ctl *c, unsigned port)
{
	return ctl_mtu(c->port[port]);
}
