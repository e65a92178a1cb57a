/* SPDX-License-Identifier: BSD-3-Clause */
/* What workers use: machines, sets of tuples, versions of flows. Control gives them back when no
 * plan has them and no connection needs them any more. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "flows_ctl.h"

/* Memory is only taken from the system when connections are, so there may well be many. */
#define ENGINE_LEAST (1u << 20)
#define ENGINE_SPARE 4096
#define ENGINE_RECORDS (UINT32_MAX - 1) /* cells of workloads that a machine can have */
/* A program's protocol ends its connections itself: one of UDP lives on that hears nothing, as its
 * server may be the one that sends. */
#define ENGINE_QUIET_NS (2 * 86400 * 1000000000ull)

/* ---- machines ---- */

static uint64_t engine_mult(double of, double by)
{
	return (uint64_t)(of / by * 0x1p32);
}

static int engine_queue(struct ctl *c, const struct ctl_port *cp, struct flows_engine *x,
			unsigned q, const struct flow_machine_conf *like, struct err *e)
{
	int node = c->worker[cp->tx_worker[q]].node;
	struct flow_machine_conf conf = *like;
	struct flows_state *s = state_new(sizeof(*s), node);

	if (s == NULL)
		return err_set(e, ENODEV, "no memory for the flows of port %u", cp->p.id);
	x->queue[q].state = s;
	x->queue[q].node = node;
	if (x->errors != NULL) {
		x->errors[q] = state_new(sizeof(*x->errors[q]), node);
		if (x->errors[q] == NULL)
			return err_set(e, ENODEV, "no memory for the flows of port %u", cp->p.id);
	}
	s->mem = state_new(flows_mem_size(), node);
	if (s->mem == NULL)
		return err_set(e, ENODEV, "no memory for the flows of port %u", cp->p.id);
	conf.sink = flows_sink(s);
	if (getrandom(conf.secret, sizeof(conf.secret), 0) != (ssize_t)sizeof(conf.secret))
		return err_set(e, EIO, "the system gives no random numbers");
	return flow_machine_new(&x->queue[q].machine, &conf, e);
}

struct flows_engine *flows_engine_new(struct ctl *c, const struct ctl_port *cp,
				      const struct flows_room *room, struct err *e)
{
	unsigned n = flows_of(cp)->nqueues;
	struct flows_engine *x = xcalloc_lines(sizeof(*x));
	/* those that are closing or resting need cells beside those that are open */
	uint64_t cells = 2 * (room->most / n + 1) + ENGINE_SPARE;
	struct flow_machine_conf conf = {
		.connections = (uint32_t)RTE_MIN(RTE_MAX(cells, (uint64_t)ENGINE_LEAST), 1u << 27),
		.touched_hash = room->serves,
		.touched = (uint32_t)RTE_MIN(room->sure / n, 1u << 27),
		.is6 = room->is6,
		.paths = FLOWS_PATHS,
		.verify_sums = true,
		.kernel_peer = cp->p.dev_mtu != 0};
	int rc = 0;

	if (flows_of(cp)->arm != NULL)
		conf.buffers = FLOWS_CHANS;
	/* few workloads have more than three of each connection that is open */
	conf.record_cells = (uint32_t)RTE_MAX(conf.connections / 2 * 3ull,
					      RTE_MIN(room->records, (uint64_t)ENGINE_RECORDS));
	*x = (struct flows_engine){.refs = 1,
				   .of = flows_of(cp),
				   .nqueues = n,
				   .capacity = conf.connections,
				   .sure = room->sure,
				   .records = conf.record_cells,
				   .is6 = room->is6,
				   .buffers = conf.buffers > 0,
				   .base_tsc = clock_tsc(),
				   .ns_mult = engine_mult(1e9, clock_hz()),
				   .cycles_mult = engine_mult(clock_hz(), 1e9)};
	x->idents = xcalloc(1, sizeof(*x->idents));
	x->queue = xcalloc(n, sizeof(*x->queue));
	if (n > 1)
		x->errors = xcalloc(n, sizeof(struct flows_errors *));
	for (unsigned q = 0; q < n && rc == 0; q++)
		rc = engine_queue(c, cp, x, q, &conf, e);
	if (rc == 0)
		return x;
	flows_engine_unref(flows_of(cp), x);
	return NULL;
}

/* Frames that a ring of some queue holds at most: those of all rings that lead to a queue are about
 * as many as a kernel's ring has while a worker sleeps. */
#define ENGINE_RING 4096
#define ENGINE_RING_LEAST 256
#define ENGINE_RINGS 32768

/* With the rings that lead to it. */
static void engine_free_hand(struct flows_hand *h)
{
	if (h == NULL)
		return;
	for (unsigned i = 0; i < h->n; i++) {
		if (h->from[i] != NULL)
			flows_hand_drain(h->from[i]);
		mbox_pass_free(h->from[i]);
		if (h->home[i] != NULL)
			flows_hand_drain(h->home[i]);
		mbox_pass_free(h->home[i]);
	}
	free(h->to);
	free(h->from);
	free(h->back);
	free(h->home);
	rte_free(h);
}

static int engine_queue_hand(struct flows_engine *x, unsigned q, unsigned slots)
{
	struct flows_port *p = x->of;
	struct flows_state *s = x->queue[q].state;
	struct flows_hand *h = x->hand[q] = state_new(sizeof(*h), x->queue[q].node);

	if (h == NULL)
		return -ENODEV;
	*h = (struct flows_hand){.n = (uint16_t)x->nqueues,
				 .me = (uint16_t)q,
				 .to = xcalloc(x->nqueues, sizeof(struct rte_ring *)),
				 .from = xcalloc(x->nqueues, sizeof(struct rte_ring *)),
				 .back = xcalloc(x->nqueues, sizeof(struct rte_ring *)),
				 .home = xcalloc(x->nqueues, sizeof(struct rte_ring *)),
				 .all = p->handed,
				 .counts = &p->handed[q],
				 .state = s,
				 .shape = x->shape,
				 .in = {.io = &flows_hand_io, .io_q = h}};
	for (unsigned i = 0; i < x->nqueues; i++) {
		if (i == q)
			continue;
		h->from[i] = mbox_pass_new(slots, x->queue[q].node);
		h->home[i] = mbox_pass_new(slots, x->queue[q].node);
		if (h->from[i] == NULL || h->home[i] == NULL)
			return -ENODEV;
	}
	return 0;
}

/* Rings from each queue to each other one. */
static int engine_hand(struct flows_engine *x, struct err *e)
{
	unsigned slots = rte_align32prevpow2(ENGINE_RINGS / x->nqueues);
	int rc = 0;

	if (x->hand != NULL)
		return 0;
	slots = RTE_MAX(RTE_MIN(slots, (unsigned)ENGINE_RING), (unsigned)ENGINE_RING_LEAST);
	x->hand = xcalloc(x->nqueues, sizeof(struct flows_hand *));
	for (unsigned q = 0; q < x->nqueues && rc == 0; q++)
		rc = engine_queue_hand(x, q, slots);
	for (unsigned q = 0; q < x->nqueues && rc == 0; q++)
		for (unsigned i = 0; i < x->nqueues; i++)
			x->hand[q]->to[i] = x->hand[i]->from[q];
	for (unsigned q = 0; q < x->nqueues && rc == 0; q++)
		for (unsigned i = 0; i < x->nqueues; i++)
			x->hand[q]->back[i] = x->hand[i]->home[q];
	if (rc == 0)
		return 0;
	for (unsigned q = 0; q < x->nqueues; q++)
		engine_free_hand(x->hand[q]);
	free(x->hand);
	x->hand = NULL;
	return err_set(e, ENODEV,
		       "no memory for the rings between the %u queues of a port: fewer queues",
		       x->nqueues);
}

static void engine_free_set(struct flows_set *s, unsigned n)
{
	for (unsigned q = 0; q < n; q++)
		flow_tuples_free(s->tuples[q]);
	free(s->tuples);
	free(s);
}

static void engine_free_ver(struct flows_ver *v)
{
	flows_design_free(v->design);
	v->one->refs--;
	v->set->refs--;
	if (v->tally != NULL)
		v->tally->refs--;
	free(v->v.spec);
	free(v->v.handed);
	free(v->wl);
	free(v->mine);
	free(v->how.steer);
	free(v);
}

/* The counters of its tasks go on in those of the port. */
static void engine_keep_counts(struct flows_port *p, const struct flows_engine *x)
{
	flows_strays_add(x, &p->strays_before);
	for (unsigned q = 0; q < x->nqueues; q++) {
		const struct flows_state *s = x->queue[q].state;
		for (unsigned i = 0; s != NULL && i < CNT_NSIZES; i++)
			p->sizes_before[q].n[i] += s->sizes.n[i];
		p->claimed_before.frames += s != NULL ? s->claimed : 0;
		p->claimed_before.group += s != NULL ? s->claimed_group : 0;
	}
}

void flows_engine_unref(struct flows_port *p, struct flows_engine *x)
{
	if (x == NULL || --x->refs > 0)
		return;
	engine_keep_counts(p, x);
	for (struct flows_engine **at = &p->old; *at != NULL; at = &(*at)->older)
		if (*at == x) {
			*at = x->older;
			break;
		}
	while (x->ver != NULL) {
		struct flows_ver *v = x->ver;
		x->ver = v->next;
		engine_free_ver(v);
	}
	for (unsigned q = 0; q < x->nqueues; q++) {
		if (x->errors != NULL)
			rte_free(x->errors[q]);
		if (x->hand != NULL)
			engine_free_hand(x->hand[q]);
		flow_machine_free(x->queue[q].machine);
		if (x->queue[q].state != NULL)
			rte_free(x->queue[q].state->mem);
		rte_free(x->queue[q].state);
	}
	while (x->set != NULL) {
		struct flows_set *s = x->set;
		x->set = s->next;
		engine_free_set(s, x->nqueues);
	}
	free(x->errors);
	free(x->hand);
	free(x->idents);
	free(x->queue);
	free(x);
}

/* ---- versions ---- */

/* Several machines share the tuples of a flow: each opens its own, and every queue can tell whose
 * one is. */
static bool engine_mine(const void *arg, const struct flow_tuple *t)
{
	const struct flows_mine *m = arg;

	if (m->steer != NULL)
		return flows_steer_queue(m->steer, t) == m->queue;
	return flows_owner(t, m->nqueues) == m->queue;
}

/* How many sets have slots; the machines know no more than some. The others are found by a hash. */
static unsigned engine_dense(const struct flows_engine *x)
{
	unsigned n = 0;

	for (const struct flows_set *s = x->set; s != NULL; s = s->next)
		n += flow_tuples_bytes(s->tuples[0]) > 0;
	return n;
}

static struct flows_set *engine_set(struct flows_engine *x, const struct flows_design *d,
				    struct err *e)
{
	struct flow_tuples_conf conf = {.remote = d->client ? &d->remote : NULL,
					.remote_port = d->client ? &d->remote_port : NULL,
					.local = &d->local,
					.local_port = &d->local_port,
					.local_prefix6 = d->is6 ? d->local6 : NULL,
					.remote_prefix6 = d->is6 ? d->remote6 : NULL,
					.nest = {d->nest[0], d->nest[1], d->nest[2], d->nest[3]},
					.dense = d->client && d->ntuples <= FLOW_DENSE_MAX &&
						 engine_dense(x) < FLOW_SETS,
					.touched = x->sure >= d->ntuples / 4,
					.start = d->start,
					.queues = x->nqueues};
	struct flows_set *s;

	for (s = x->set; s != NULL; s = s->next)
		if (s->key == d->tuples_key) {
			s->refs++;
			return s;
		}
	s = xcalloc(1, sizeof(*s));
	s->key = d->tuples_key;
	s->refs = 1;
	s->tuples = xcalloc(x->nqueues, sizeof(struct flow_tuples *));
	for (unsigned q = 0; q < x->nqueues; q++) {
		conf.queue = q;
		if (flow_tuples_new(&s->tuples[q], &conf, e) < 0) {
			engine_free_set(s, x->nqueues);
			return NULL;
		}
	}
	s->next = x->set;
	x->set = s;
	return s;
}

static void engine_spec(struct flows_ver *v, unsigned q)
{
	const struct flows_design *d = v->design;
	const struct flows_load *l = &d->load;
	struct flows_state_of *s = v->one->state[q];
	struct flows_own_counts *own = v->one->own[q];

	v->mine[q] = (struct flows_mine){(uint16_t)q, (uint16_t)v->engine->nqueues, v->how.steer};
	v->wl[q].wl = (struct wl_flow){.wl = l->wl,
				       .conf = l->conf,
				       .content = l->content,
				       .ncontent = l->ncontent,
				       .counts = &s->transactions,
				       .own = l->owns != NULL   ? l->owns[q]
					      : l->arm != NULL  ? l->own
					      : l->http != NULL ? (void *)&own->http
								: (void *)&own->numbers,
				       .connect = {.h = s->connect},
				       .first = {.h = s->first_byte},
				       .whole = {.h = s->whole},
				       .since_due = {.h = s->since_due},
				       .close = {.h = s->close},
				       .client = d->client,
				       .by_server = v->tally != NULL,
				       .verify = d->verify,
				       .on_call = d->on_call};
	v->v.spec[q] =
		(struct flow_spec){.role = d->client ? FLOW_CLIENT : FLOW_SERVER,
				   .udp = d->udp,
				   .is6 = d->is6,
				   .wl = &v->wl[q].wl,
				   .counts = &s->counts,
				   .servers = v->tally != NULL ? v->tally->servers : NULL,
				   .server_counts = v->tally != NULL ? v->tally->counts[q] : NULL,
				   .tuples = v->set->tuples[q],
				   .path = d->path,
				   .npath = d->npath,
				   .path_of = d->path_of,
				   .nidents = d->nidents,
				   .to = d->to,
				   .to_path = d->to_path,
				   .nto = d->nto,
				   .back = d->back.n > 0 ? &d->back : NULL,
				   .mine = v->engine->nqueues > 1 ? engine_mine : NULL,
				   .mine_arg = &v->mine[q],
				   .most = v->engine->capacity,
				   .mss = d->mss,
				   .window = d->window,
				   .window_most = d->window_most,
				   .congestion = d->congestion,
				   .rto_ns = d->rto_ns,
				   .timewait_ns = d->timewait_ns,
				   .finwait_ns = d->udp && l->arm != NULL ? ENGINE_QUIET_NS : 0,
				   .retries = d->retries,
				   .sack = d->sack,
				   .buffered = l->buffered};
}

struct flows_ver *flows_ver_new(struct flows_engine *x, struct flows_one *one,
				struct flows_design *d, const struct flows_steering *how,
				struct err *e)
{
	struct flows_ver *v;
	struct flows_set *set;
	struct flows_tally *tally = NULL;

	if (flows_engine_idents(x, d, one, e) < 0 || (how->hand && engine_hand(x, e) < 0))
		return NULL;
	set = engine_set(x, d, e);
	if (set == NULL)
		return NULL;
	if (d->by_dst) {
		tally = flows_tally_of(one, d);
		if (tally == NULL) {
			set->refs--; /* flows_reap() frees it */
			err_set(e, ENODEV, "no memory for the counters of %u servers",
				d->client ? d->remote.count * d->remote_port.count
					  : d->local.count * d->local_port.count);
			return NULL;
		}
	}
	v = xcalloc(1, sizeof(*v));
	*v = (struct flows_ver){.engine = x,
				.one = one,
				.design = d,
				.how = *how,
				.set = set,
				.next = x->ver,
				.tally = tally};
	v->v.refs = 1;
	v->v.nqueues = (uint16_t)x->nqueues;
	v->v.spec = xcalloc(x->nqueues, sizeof(*v->v.spec));
	v->v.handed = xcalloc_lines(x->nqueues * sizeof(*v->v.handed));
	v->wl = xcalloc_lines(x->nqueues * sizeof(*v->wl));
	v->mine = xcalloc(x->nqueues, sizeof(*v->mine));
	one->refs++;
	x->ver = v;
	for (unsigned q = 0; q < x->nqueues; q++)
		engine_spec(v, q);
	for (unsigned q = 0; q < x->nqueues; q++)
		if (flow_check(&v->v.spec[q], e) < 0) {
			v->design = NULL; /* the caller's */
			v->how.steer = NULL;
			v->v.refs = 0;
			return NULL; /* flows_reap() frees it */
		}
	return v;
}

static bool engine_ver_gone(const struct flows_ver *v)
{
	bool gone = v->v.refs == 0;

	for (unsigned q = 0; q < v->v.nqueues && gone; q++)
		gone = __atomic_load_n(&v->v.handed[q].gone, __ATOMIC_ACQUIRE) ==
		       cell_get(&v->v.handed[q].given);
	return gone;
}

static void engine_reap(struct flows_engine *x)
{
	for (struct flows_ver **at = &x->ver; *at != NULL;) {
		struct flows_ver *v = *at;
		if (!engine_ver_gone(v)) {
			at = &v->next;
			continue;
		}
		*at = v->next;
		engine_free_ver(v);
	}
	for (struct flows_set **at = &x->set; *at != NULL;) {
		struct flows_set *s = *at;
		if (s->refs > 0) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		engine_free_set(s, x->nqueues);
	}
}

void flows_reap(struct flows_port *p)
{
	if (p->engine != NULL)
		engine_reap(p->engine);
	for (struct flows_one **at = &p->first; *at != NULL;) {
		struct flows_one *f = *at;
		if (!f->gone || f->in_run || f->refs > 0 || f->ver != NULL) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		flows_one_free(f);
	}
}
