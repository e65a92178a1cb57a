/* SPDX-License-Identifier: BSD-3-Clause */
/* What `show ports`, `show plan` and `show xstats` say, as JSON trees. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_int.h"

json_t *value_json(const struct vtype *type, const void *value)
{
	struct sbuf text = {0};

	type->print(&(struct vspec){.type = type}, value, &text);
	json_t *v = json_string(sbuf_str(&text));
	sbuf_free(&text);
	return v;
}

static json_t *one_port(struct ctl *c, struct ctl_port *cp)
{
	uint8_t mac[VT_FIELD_BYTES] = {0};
	json_t *notes = json_array(), *o;
	struct sbuf pacing = {0};

	(void)c;
	const char *driver = cp->p.opened ? port_driver(&cp->p) : NULL;

	memcpy(mac + sizeof(mac) - RTE_ETHER_ADDR_LEN, cp->p.mac.addr_bytes, RTE_ETHER_ADDR_LEN);
	if (!cp->p.used)
		json_array_append_new(notes, json_string("not used: no map names it"));
	if (cp->restart)
		json_array_append_new(
			notes,
			json_string(
				"changed settings need a restart of the device; the next start does it"));
	if (cp->p.used && cp->p.pacing.kind != PACING_SOFTWARE) {
		pacing_text(&cp->p, &pacing);
		json_array_append_new(notes, json_string(sbuf_str(&pacing)));
		sbuf_reset(&pacing);
	}
	if (cp->p.used && (stamps_rx(&cp->p) != NULL || cp->cfg.timestamps == TIMESTAMPS_NIC ||
			   cp->p.stamps.why != NULL)) {
		sbuf_add(&pacing, "arrivals are timed ");
		stamps_text(&cp->p, &pacing);
		json_array_append_new(notes, json_string(sbuf_str(&pacing)));
		sbuf_reset(&pacing);
	}
	if (cp->p.used)
		port_notes(&cp->p, notes);
	o = json_pack(
		"{s:i, s:s, s:s, s:s, s:s, s:I, s:o, s:I, s:i, s:b, s:i, s:i, s:i, s:i, s:I, s:I, s:s, s:s, s:s, s:b}",
		"port", (int)cp->p.id, "name", cp->p.name, "spec", cp->p.spec_text, "driver",
		driver != NULL ? driver : "-", "link", snap_link_name(cp->p.link), "speed_mbps",
		(json_int_t)port_speed_mbps(&cp->p), "mac", value_json(&vt_mac, mac), "mtu",
		(json_int_t)ctl_mtu(cp), "node", cp->p.node, "used", (int)cp->p.used, "rx_queues",
		(int)cp->p.nrxq, "tx_queues", (int)cp->p.ntxq, "rxd", (int)cp->p.rxd, "txd",
		(int)cp->p.txd, "mbufs",
		(json_int_t)(cp->p.ntxq ? port_txq(&cp->p, 0)->pool_size : 0), "memory_bytes",
		(json_int_t)cp->p.memory_bytes, "offloads", cp->p.offloads, "rss", cp->p.rss,
		"flow_control", cp->p.fc, "promiscuous", (int)cp->p.applied.promiscuous);
	json_object_set_new(o, "pci", cp->p.pci[0] != '\0' ? json_string(cp->p.pci) : json_null());
	pacing_text(&cp->p, &pacing);
	json_object_set_new(o, "pacing", json_string(sbuf_str(&pacing)));
	sbuf_reset(&pacing);
	stamps_text(&cp->p, &pacing);
	json_object_set_new(o, "timestamps", json_string(sbuf_str(&pacing)));
	sbuf_free(&pacing);
	json_object_set_new(o, "notes", notes);
	return o;
}

const char *ctl_dpdk_version(void)
{
	return rte_version();
}

bool ctl_dpdk_static(void)
{
	return linked_static();
}

json_t *ctl_portset_json(const struct portset *ports)
{
	json_t *list = json_array();

	for (unsigned p = 0; p < PORTSET_MAX; p++)
		if (portset_has(ports, p))
			json_array_append_new(list, json_integer(p));
	return list;
}

json_t *ctl_ports_json(struct ctl *c)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < c->nports; i++)
		json_array_append_new(a, one_port(c, c->port[i]));
	return json_pack("{s:s, s:o}", "show", "ports", "ports", a);
}

const char *ctl_port_bus(const struct ctl *c, unsigned port, int *node)
{
	const struct port *p = &c->port[port]->p;

	*node = p->node;
	return p->pci[0] != '\0' ? p->pci : NULL;
}

/* Adds what the task's own work says of it. If that says nothing, only the task's Rx queues are
 * listed. */
static void add_task(const struct ctl *c, const struct dp_plan *p, unsigned t, json_t *tasks)
{
	EACH_WORK(w, task_json) {
		json_t *o = w->task_json(c, &p->task[t], plan_about(p, t));
		if (o != NULL)
			json_array_append_new(tasks, o);
	}
}

json_t *ctl_plan_json(struct ctl *c)
{
	json_t *a = json_array();

	for (unsigned w = 0; w < c->nworkers; w++) {
		const struct ctl_worker *cw = &c->worker[w];
		json_t *tasks = json_array();
		for (unsigned t = 0; cw->posted != NULL && t < cw->posted->ntasks; t++)
			add_task(c, cw->posted, t, tasks);
		for (unsigned r = 0; cw->posted != NULL && r < plan_queues(cw->posted); r++) {
			const struct dp_duty *s = &cw->posted->rx[r];
			json_array_append_new(tasks,
					      json_pack("{s:s, s:i, s:i, s:i, s:i}", "kind",
							cw->posted->task[s->owner].kind->name,
							"port", (int)s->q->port, "rx_queue",
							(int)s->q->queue, "burst", (int)s->burst,
							"taps", (int)s->ntaps));
		}
		json_array_append_new(
			a, json_pack("{s:i, s:i, s:I, s:I, s:b, s:o}", "lcore", (int)cw->lcore,
				     "cpu", cw->cpu, "plan",
				     (json_int_t)(cw->posted != NULL ? cw->posted->seq : 0),
				     "acknowledged", (json_int_t)cell_get(&cw->w->cells.acked),
				     "shares_cpu", (int)cw->w->shares_cpu, "tasks", tasks));
	}
	json_t *doc = json_pack("{s:s, s:I, s:o}", "show", "plan", "memory_reserved_bytes",
				(json_int_t)c->eal_memory, "workers", a);
	json_object_set_new(doc, "ports", port_pacing_json(c));
	EACH_WORK(w, plan_json)
		w->plan_json(c, doc);
	return doc;
}

static json_t *xstats_json(struct port *p)
{
	json_t *o = json_object();

	port_xstats(p, o);
	return o;
}

json_t *ctl_xstats_json(struct ctl *c, const struct portset *ports)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && c->port[i]->p.used)
			json_array_append_new(a, json_pack("{s:i, s:s, s:o}", "port", (int)i,
							   "name", c->port[i]->p.name, "xstats",
							   xstats_json(&c->port[i]->p)));
	return json_pack("{s:s, s:o}", "show", "xstats", "ports", a);
}
