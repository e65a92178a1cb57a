/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the tasks of flows into plans: one for each queue whose Rx and Tx sides are one worker's. */
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"
#include "proto_run.h"

bool flows_has_tasks(const struct ctl_port *cp)
{
	const struct flows_port *p = flows_of(cp);

	if (p->engine == NULL)
		return false;
	for (const struct flows_one *f = p->first; f != NULL; f = f->next)
		if (f->ver != NULL)
			return true;
	return p->engine->ver != NULL;
}

void flows_replan(struct ctl *c, const struct ctl_port *cp)
{
	for (unsigned q = 0; q < flows_of(cp)->nqueues; q++)
		ctl_replan(c, (unsigned)cp->tx_worker[q]);
}

/* ---- which frames ---- */

/* Runs of values without a hole. */
struct fill_runs {
	unsigned n;
	uint32_t from[FLOWS_ENDS], to[FLOWS_ENDS];
};

static int fill_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Of more than `most` runs there is one, with the holes. */
static void fill_values(const struct flow_values *v, unsigned most, struct fill_runs *out)
{
	uint32_t last = v->base + (v->count - 1) * v->step;

	*out = (struct fill_runs){.n = 1, .from = {v->base}, .to = {last}};
	if (v->list == NULL)
		return;
	uint32_t *all = xcalloc(v->count, sizeof(*all));
	memcpy(all, v->list, v->count * sizeof(*all));
	qsort(all, v->count, sizeof(*all), fill_compare);
	out->from[0] = out->to[0] = all[0];
	for (uint32_t i = 1; i < v->count; i++) {
		if (all[i] == out->to[out->n - 1] + 1) {
			out->to[out->n - 1] = all[i];
		} else if (out->n < most) {
			out->from[out->n] = out->to[out->n] = all[i];
			out->n++;
		} else {
			*out = (struct fill_runs){.n = 1,
						  .from = {all[0]},
						  .to = {all[v->count - 1]}};
			break;
		}
	}
	free(all);
}

/* Adds the local ends of a flow. steered: of struct flows_end; left: for how many of them other
 * flows leave room. */
static unsigned fill_flow_ends(const struct flows_ver *v, unsigned steered, unsigned left,
			       struct flows_end *out)
{
	const struct flows_design *d = v->design;
	struct fill_runs address, port;
	unsigned n = 0, most = left;

	do { /* fewer runs until they fit */
		fill_values(&d->local, most, &address);
		fill_values(&d->local_port, most, &port);
		most /= 2;
	} while (address.n * port.n > left && most > 0);
	for (unsigned a = 0; a < address.n; a++)
		for (unsigned p = 0; p < port.n && n < left; p++) {
			struct flows_end *e = &out[n++];
			*e = (struct flows_end){.udp = d->udp,
						.hand = v->how.hand,
						.is6 = d->is6,
						.steered = (uint8_t)steered,
						.from = address.from[a],
						.to = address.to[a],
						.port_from = (uint16_t)port.from[p],
						.port_to = (uint16_t)port.to[p]};
			memcpy(e->prefix6, d->local6, sizeof(e->prefix6));
		}
	return n;
}

/* Which of these ends has all that an end has; n: none. */
static unsigned fill_has(const struct flows_end *end, unsigned n, const struct flows_end *e)
{
	unsigned i = 0;

	while (i < n && !(end[i].udp == e->udp && end[i].hand == e->hand &&
			  end[i].from <= e->from && end[i].to >= e->to &&
			  end[i].port_from <= e->port_from && end[i].port_to >= e->port_to &&
			  memcmp(end[i].prefix6, e->prefix6, sizeof(e->prefix6)) == 0))
		i++;
	return i;
}

/* Ends as they are put together; ends: by numbers of networks. */
struct fill_ends {
	struct flows_end *end;
	unsigned n;
	uint64_t *ends;
};

/* Frames of a design's networks may be to ends of its own, of which there are `more` behind those
 * that are there. One that another design has too is that one's. */
static void fill_add_ends(struct fill_ends *to, const struct flows_design *d, unsigned more)
{
	const struct flows_end *e = to->end + to->n;
	uint64_t bits = 0;

	for (; more > 0; more--, e++) {
		unsigned at = fill_has(to->end, to->n, e);
		if (at == to->n)
			to->end[to->n++] = *e;
		bits |= 1ull << at;
	}
	for (uint32_t i = 0; i < d->idents->n; i++)
		to->ends[d->ident[i]] |= bits;
}

/* Connections of earlier versions still get their frames: adds the ends that these versions have
 * and none of the others does, as far as there is room. */
static void fill_older_ends(const struct flows_engine *x, struct fill_ends *to)
{
	for (const struct flows_ver *v = x->ver; v != NULL; v = v->next) {
		if (v->design == NULL || v->one->ver == NULL || v->one->ver == v)
			continue;
		fill_add_ends(to, v->design,
			      fill_flow_ends(v, 0, FLOWS_ENDS - to->n, to->end + to->n));
	}
}

/* Whether the job has a place for it. A run that is armed has no times yet: clients have to wait
 * for these, and servers answer already, so that they are there before anybody asks. */
static bool fill_is_in(const struct ctl_port *cp, const struct flows_one *f)
{
	return f->in_run && cp->run.active && !(cp->run.armed && f->client);
}

/* Of struct flows_end. */
static unsigned fill_steered(const struct ctl_port *cp, const struct flows_one *f)
{
	unsigned at = 1;

	if (!fill_is_in(cp, f) || f->ver->how.steer == NULL)
		return 0;
	for (const struct flows_one *o = flows_of(cp)->first; o != f; o = o->next)
		at += fill_is_in(cp, o);
	return at;
}

static void fill_order(struct flows_job *j)
{
	for (unsigned i = 0, k; i < j->nshapes; i++) {
		for (k = i; k > 0 && j->shape[j->order[k - 1]].l3 < j->shape[i].l3; k--)
			j->order[k] = j->order[k - 1];
		j->order[k] = (uint8_t)i;
	}
}

/* The shape that is looked at first, and the first of its ends: what sort_shape() would find. */
static void fill_usual(struct flows_job *j)
{
	struct flows_usual *u = &j->usual;
	const struct flows_shape *s;
	const struct flows_end *e;
	unsigned ident;

	*u = (struct flows_usual){0};
	if (j->nshapes == 0)
		return;
	s = &j->shape[j->order[0]];
	ident = s->nids == 0 ? flows_ident(j->idents, j->order[0], NULL, 0) : FLOWS_IDENTS;
	if (s->is6 || s->nchecks != 0 || s->words != FLOWS_USUAL_WORDS || ident >= j->nidents ||
	    j->ends[ident] == 0)
		return;
	e = &j->end[__builtin_ctzll(j->ends[ident])];
	if (e->is6)
		return;
	*u = (struct flows_usual){.there = true,
				  .protocol = e->udp ? IP_UDP : IP_TCP,
				  .told = (uint8_t)(j->order[0] | (e->hand ? FLOWS_HAND : 0)),
				  .ident = (uint16_t)ident,
				  .l3 = s->l3,
				  .port_from = e->port_from,
				  .port_span = (uint16_t)(e->port_to - e->port_from),
				  .from = e->from,
				  .span = e->to - e->from};
	memcpy(u->mask, s->mask, sizeof(u->mask));
	memcpy(u->value, s->value, sizeof(u->value));
}

static void fill_ends(const struct ctl_port *cp, struct flows_job *j, struct plan_writer *w)
{
	const struct flows_port *p = flows_of(cp);
	const struct flows_engine *x = p->engine;
	struct fill_ends to = {.end = plan_carve(w, FLOWS_ENDS * sizeof(*to.end)),
			       .ends = plan_carve(w, x->idents->n * sizeof(*to.ends))};
	unsigned flows = 0;

	for (const struct flows_one *f = p->first; f != NULL; f = f->next)
		flows += f->ver != NULL;
	/* First those of frames that are handed over: all of one tuple's come to one worker then,
	 * also where others have the same ends. */
	for (unsigned hand = 2; hand-- > 0;)
		for (const struct flows_one *f = p->first; f != NULL; f = f->next) {
			if (f->ver == NULL || f->ver->how.hand != (hand != 0))
				continue;
			flows--; /* each of the others has one */
			unsigned room = FLOWS_ENDS - to.n;
			fill_add_ends(&to, f->ver->design,
				      fill_flow_ends(f->ver, fill_steered(cp, f),
						     room > flows ? room - flows : 0,
						     to.end + to.n));
		}
	fill_older_ends(x, &to);
	j->end = to.end;
	j->nends = (uint16_t)to.n;
	j->ends = to.ends;
	j->shape = x->shape; /* those that are there do not change */
	j->nshapes = (uint16_t)x->nshapes;
	fill_order(j);
	j->idents = x->idents;
	j->nidents = x->idents->n;
	fill_usual(j);
}

/* ---- flows ---- */

static void fill_release_ver(struct ctl *c, void *obj)
{
	(void)c;
	((struct flows_ver *)obj)->v.refs--;
}

static void fill_release_engine(struct ctl *c, void *obj)
{
	struct flows_engine *x = obj;

	(void)c;
	flows_engine_unref(x->of, x);
}

static void fill_release_request(struct ctl *c, void *obj)
{
	(void)c;
	flows_request_unref(obj);
}

static struct flows_pace fill_pace(const struct flows_rate *r, bool held, unsigned q, unsigned n,
				   struct pace_shape *shape)
{
	struct flows_pace p = {.off = r->off,
			       .held = held,
			       .max = r->max,
			       .epoch = r->epoch,
			       .start_tsc = r->start_tsc,
			       .first = q,
			       .step = n,
			       .period = r->period};

	if (r->shaped)
		p.shape = memcpy(shape, &r->shape, sizeof(*shape));
	return p;
}

static void fill_flow(const struct ctl_port *cp, const struct flows_one *f, unsigned q,
		      struct pace_shape shape[2], struct flows_flow *out)
{
	unsigned n = f->nqueues;

	*out = (struct flows_flow){.state = f->state[q],
				   .version = &f->ver->v,
				   .run = cp->run.id,
				   .start_tsc = cp->run.start_tsc,
				   .end_tsc = f->end_tsc,
				   .opens = flows_dealt(f->opens, q, n),
				   .most = flows_dealt(f->ver->design->most, q, n),
				   .stop = f->stopping,
				   .abort = f->stopping && cp->run.hurry,
				   .drain_cycles = clock_cycles(f->drain_ns),
				   .late_cycles = clock_cycles(CNT_LATE_NS),
				   .grace_cycles = clock_cycles(f->grace_ns),
				   .cps = fill_pace(&f->cps, false, q, n, &shape[0]),
				   .tps = fill_pace(&f->tps, f->hold, q, n, &shape[1])};
}

/* Adds servers that are dead to those of other flows of the port, as far as there is room. */
static void fill_dead(const struct flows_dead_value *of, struct flows_dead *out)
{
	for (unsigned i = 0; i < of->n && out->n < FLOWS_DEAD; i++)
		memcpy(out->address[out->n++], of->address[i], sizeof(of->address[i]));
}

static void fill_flows(const struct ctl_port *cp, unsigned q, struct flows_job *j,
		       struct plan_writer *w)
{
	struct flows_port *p = flows_of(cp);
	unsigned n = 0;

	for (const struct flows_one *f = p->first; f != NULL; f = f->next)
		n += fill_is_in(cp, f);
	struct flows_flow *flow = plan_carve(w, n * sizeof(*flow));
	struct pace_shape *shape = plan_carve(w, 2 * n * sizeof(*shape));
	j->flow = flow;
	for (struct flows_one *f = p->first; f != NULL; f = f->next) {
		if (!fill_is_in(cp, f))
			continue;
		fill_dead(&f->dead, &j->dead);
		/* whose a frame is is not known yet where it is judged */
		j->trust = f->trusts && (j->trust || j->nflows == 0);
		fill_flow(cp, f, q, &shape[2 * j->nflows], &flow[j->nflows]);
		j->nflows++;
		f->ver->v.refs++;
		plan_keep(w, f->ver, fill_release_ver);
	}
}

/* What the device is to complete of frames of flows. Super-frames have filling in buffers behind
 * the first one. */
static uint8_t fill_offload(const struct ctl_port *cp)
{
	uint64_t sums = RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM,
		 cut = RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS,
		 can = cp->cfg.no_offload ? 0 : cp->p.io_offloads;

	if ((can & sums) != sums)
		return 0;
	return FLOW_OFFLOAD_SUM | ((can & cut) == cut ? FLOW_OFFLOAD_SEGMENT : 0);
}

static void fill_queue(struct ctl_port *cp, unsigned q, struct dp_duty *duty, struct plan_writer *w)
{
	struct flows_port *p = flows_of(cp);
	struct flows_engine *x = p->engine;
	struct flows_job *j = plan_carve(w, sizeof(*j));
	struct flows_claim *claim = plan_carve(w, sizeof(*claim));

	*j = (struct flows_job){.q = p->share[q],
				.machine = x->queue[q].machine,
				.queue = (uint16_t)q,
				.base_tsc = x->base_tsc,
				.ns_mult = x->ns_mult,
				.cycles_mult = x->cycles_mult,
				.burst = (uint16_t)cp->cfg.burst,
				.offload = fill_offload(cp),
				.kernel_peer = cp->p.dev_mtu != 0,
				.nqueues = (uint16_t)x->nqueues,
				.hand = x->hand != NULL ? x->hand[q] : NULL,
				/* an armed run comes into use when it begins */
				.heard = 2 * p->listens + (cp->run.active && !cp->run.armed),
				.errors = x->errors};
	if (p->request != NULL) {
		j->samples = &p->request->queue[q];
		p->request->refs++;
		plan_keep(w, p->request, fill_release_request);
	}
	fill_flows(cp, q, j, w);
	j->arm = flows_arm_job(p, q, w);
	/* behind its versions, which it frees */
	x->refs++;
	plan_keep(w, x, fill_release_engine);
	fill_ends(cp, j, w);
	*claim = (struct flows_claim){.job = j, .state = x->queue[q].state};
	unsigned task = plan_task(w,
				  &(struct dp_task){.kind = &dp_kind_flows,
						    .state = &x->queue[q].state->base,
						    .job = j},
				  cp);
	/* a host would take all of UDP that comes to its addresses */
	plan_sort_first(duty, flows_claims, claim, task);
	if (j->hand != NULL)
		plan_source(w, &j->hand->in, (unsigned)cp->cfg.rxburst, task);
	plan_hear(w, &(struct dp_hearer){.port = cp->p.rxq[q]->port,
					 .icmp = flows_heard,
					 .arg = claim});
}

/* Connections need no complete checksums from a kernel of this machine, and take super-frames,
 * unless content is compared: that is judged segment by segment, as it would come from a network.
 * Without a run, other frames are to come as they would from a network, too. */
static void fill_undone(struct ctl_port *cp)
{
	const struct flows_port *p = flows_of(cp);
	bool on = false, verify = false;

	for (const struct flows_one *f = p->first; f != NULL; f = f->next)
		on |= f->in_run;
	for (const struct flows_ver *v = on ? p->engine->ver : NULL; v != NULL; v = v->next)
		verify |= v->design->verify;
	port_undone(&cp->p, on, on && !verify);
}

void flows_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *w)
{
	const struct flows_port *p = flows_of(cp);

	(void)c;
	fill_undone(cp);
	for (unsigned q = 0; flows_has_tasks(cp) && q < p->nqueues; q++) {
		struct dp_duty *duty = plan_duty(w, cp, q);
		if (duty != NULL)
			fill_queue(cp, q, duty, w);
	}
}

/* Whose a connection is, and why; the reason of the first flow whose frames are handed over. */
static void fill_steering_json(const struct flows_port *p, json_t *o)
{
	const char *by = "sender's queue";

	for (const struct flows_one *f = p->first; f != NULL; f = f->next) {
		if (f->ver == NULL)
			continue;
		if (f->ver->how.hand) {
			json_object_set_new(o, "why", json_string(f->ver->how.why));
			by = "handed over";
			break;
		}
		if (f->ver->how.steer != NULL)
			by = "hash of the device";
	}
	json_object_set_new(o, "steering", json_string(by));
}

json_t *flows_task_json(const struct ctl *c, const struct dp_task *task, const void *about)
{
	const struct ctl_port *cp = about;

	(void)c;
	if (task->kind != &dp_kind_flows)
		return NULL;
	const struct flows_job *j = task->job;
	const struct flows_engine *x = flows_of(cp)->engine;
	const struct flow_machine_counts *k = flow_machine_counts(j->machine);
	struct flow_machine_conf used = {.connections = (uint32_t)cell_get(&k->cells_used) + 1,
					 .side_cells = (uint32_t)cell_get(&k->side_used) + 1},
				 all = {.connections = x->capacity,
					.record_cells = (uint32_t)x->records,
					.is6 = x->is6,
					.paths = FLOWS_PATHS};
	uint64_t tuples = 0, slots = 0;
	int versions = 0;

	for (const struct flows_ver *v = x->ver; v != NULL; v = v->next)
		versions++;
	for (unsigned i = 0; i < j->nflows; i++) {
		const struct flow_tuples *t = j->flow[i].version->spec[j->queue].tuples;
		tuples += flow_tuples_count(t);
		slots += flow_tuples_bytes(t);
	}
	json_t *o =
		json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I}", "kind",
			  task->kind->name, "port", (int)cp->p.id, "rx_queue", (int)j->queue,
			  "tx_queue", (int)j->queue, "flows", (int)j->nflows, "versions", versions,
			  "connections", (json_int_t)cell_get(&k->cells_used), "connections_max",
			  (json_int_t)x->capacity, "tuples", (json_int_t)tuples, "slots_bytes",
			  (json_int_t)slots, "memory_bytes",
			  (json_int_t)flow_machine_bytes(&used, false), "memory_max_bytes",
			  (json_int_t)flow_machine_bytes(&all, true));
	if (x->nqueues > 1)
		fill_steering_json(flows_of(cp), o);
	return o;
}
