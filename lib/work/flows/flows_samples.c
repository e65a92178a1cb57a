/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of connections: workers look for them when somebody asks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"
#include "vary.h"

_Static_assert(FLOWS_SAMPLES_MOST == FLOWS_SAMPLES, "what the program may ask for");

void flows_request_unref(struct flows_request *r)
{
	if (r == NULL || --r->refs > 0)
		return;
	free(r->queue);
	free(r);
}

int flows_ask(struct ctl *c, unsigned port, unsigned n, struct err *e)
{
	struct ctl_port *cp = c->port[port];
	struct flows_port *p = flows_of(cp);
	static uint64_t number;
	struct flows_request *r;

	if (!flows_has_tasks(cp))
		return err_set(
			e, EINVAL,
			"port %u has no connections: no flow of it has been started; `set %u flow client` and `start %u` do",
			port, port, port);
	r = xcalloc(1, sizeof(*r));
	*r = (struct flows_request){.refs = 1,
				    .nqueues = p->nqueues,
				    .wanted = RTE_MIN(n, (unsigned)FLOWS_SAMPLES)};
	r->queue = xcalloc_lines(p->nqueues * sizeof(*r->queue));
	number++;
	for (unsigned q = 0; q < p->nqueues; q++) {
		r->queue[q].asked = number;
		r->queue[q].want = r->wanted;
	}
	flows_request_unref(p->request);
	p->request = r;
	flows_replan(c, cp);
	return 0;
}

bool flows_answered(const struct ctl *c, unsigned port)
{
	const struct flows_request *r = flows_of(c->port[port])->request;

	for (unsigned q = 0; r != NULL && q < r->nqueues; q++)
		if (__atomic_load_n(&r->queue[q].answered, __ATOMIC_ACQUIRE) != r->queue[q].asked)
			return false;
	return true;
}

json_t *flows_address_json(const struct flow_addr *a, bool is6)
{
	const struct vtype *t = is6 ? &vt_ip6 : &vt_ip4;
	uint8_t v[VT_FIELD_BYTES] = {0};
	struct sbuf text = {0};

	if (is6)
		memcpy(v, a->v6, 16);
	else
		vary_store(a->v4, v);
	t->print(&(struct vspec){.type = t}, v, &text);
	json_t *s = json_string(sbuf_str(&text));
	sbuf_free(&text);
	return s;
}

static json_t *samples_unless(uint64_t v, uint64_t none)
{
	return v == none ? json_null() : json_integer((json_int_t)v);
}

static json_t *samples_one(const struct flows_port *p, unsigned queue, const struct flows_sample *s)
{
	const struct flow_info *i = &s->info;
	json_t *o = json_object();
	int stream = -1;

	for (const struct flows_one *f = p->first; f != NULL; f = f->next)
		if (f->state[queue] == s->flow)
			stream = (int)f->id;
	json_object_set_new(o, "stream", stream < 0 ? json_null() : json_integer(stream));
	json_object_set_new(o, "queue", json_integer(queue));
	json_object_set_new(o, "state", json_string(flow_state_name(i->state)));
	json_object_set_new(o, "protocol", json_string(i->state == FLOW_UDP ? "udp" : "tcp"));
	json_object_set_new(o, "src", flows_address_json(&i->tuple.local, i->tuple.is6));
	json_object_set_new(o, "sport", json_integer(i->tuple.local_port));
	json_object_set_new(o, "dst", flows_address_json(&i->tuple.remote, i->tuple.is6));
	json_object_set_new(o, "dport", json_integer(i->tuple.remote_port));
	json_object_set_new(o, "cwnd", json_integer(i->cwnd));
	json_object_set_new(o, "ssthresh", samples_unless(i->ssthresh, UINT32_MAX));
	json_object_set_new(o, "rtt_ns", samples_unless(i->srtt_ns, 0));
	json_object_set_new(o, "rto_ns", json_integer((json_int_t)i->rto_ns));
	json_object_set_new(o, "unacked", json_integer(i->unacked));
	json_object_set_new(o, "unsent", samples_unless(i->unsent, UINT32_MAX));
	json_object_set_new(o, "peer_window", json_integer(i->peer_window));
	json_object_set_new(o, "mss", json_integer(i->mss));
	json_object_set_new(o, "retries", json_integer(i->retries));
	json_object_set_new(o, "age_ns", json_integer((json_int_t)i->age_ns));
	json_object_set_new(o, "number", json_integer(i->number));
	return o;
}

/* A few of each queue, in turns. */
json_t *flows_connections_json(struct ctl *c, unsigned port)
{
	const struct flows_port *p = flows_of(c->port[port]);
	const struct flows_request *r = p->request;
	json_t *list = json_array();

	for (unsigned i = 0; r != NULL && flows_answered(c, port) && i < FLOWS_SAMPLES; i++)
		for (unsigned q = 0; q < r->nqueues && json_array_size(list) < r->wanted; q++)
			if (i < r->queue[q].n)
				json_array_append_new(list,
						      samples_one(p, q, &r->queue[q].sample[i]));
	return json_pack("{s:s, s:i, s:o}", "show", "connections", "port", (int)port, "connections",
			 list);
}
