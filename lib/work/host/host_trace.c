/* SPDX-License-Identifier: BSD-3-Clause */
/* What a traceroute has found, as JSON. */
#include "host_ctl.h"
#include "neigh_trace.h"

static json_t *probe_json(const struct neigh_trace_probe *x)
{
	static const char *const states[] = {[NEIGH_TRACE_OPEN] = "open",
					     [NEIGH_TRACE_REACHED] = "answer",
					     [NEIGH_TRACE_ERROR] = "error",
					     [NEIGH_TRACE_LOST] = "lost"};
	bool told = x->state == NEIGH_TRACE_REACHED || x->state == NEIGH_TRACE_ERROR;

	return json_pack("{ss,so,so,sI,so}", "state", states[x->state], "from",
			 told ? host_ip_json(x->pong.ip) : json_null(), "error",
			 x->state == NEIGH_TRACE_ERROR ? json_string(neigh_pong_error(&x->pong))
						       : json_null(),
			 "mtu", (json_int_t)(told ? x->pong.mtu : 0), "rtt_ns",
			 told ? json_integer((json_int_t)x->rtt_ns) : json_null());
}

void host_trace_json(const struct neigh_trace *t, uint64_t sent, json_t *out)
{
	unsigned count = neigh_trace_count(t), end = neigh_trace_end(t);
	json_t *hops = json_array();

	for (unsigned hop = 0; hop * t->probes < count && hop * t->probes < sent; hop++) {
		json_t *probes = json_array();
		for (unsigned i = 0; i < t->probes && hop * t->probes + i < sent; i++)
			json_array_append_new(probes, probe_json(neigh_trace_probe(t, hop, i)));
		json_array_append_new(hops,
				      json_pack("{si,so}", "hop", (int)hop + 1, "probes", probes));
	}
	json_object_set_new(out, "most", json_integer(t->hops));
	json_object_set_new(out, "probes", json_integer(t->probes));
	json_object_set_new(out, "end", end > 0 ? json_integer(end) : json_null());
	json_object_set_new(out, "reached", json_boolean(neigh_trace_reached(t)));
	json_object_set_new(out, "hops", hops);
}
