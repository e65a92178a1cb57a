/* SPDX-License-Identifier: BSD-3-Clause */
/* What devices under test did, as JSON for `show wire`, and their tasks for `show plan`. */
#include "wire_ctl.h"

#define COUNT(member, text) \
	{ \
		.name = #member, .unit = "frames", .help = text, \
		.offset = offsetof(struct dut_counts, member) \
	}

static const struct counter rows[] = {
	COUNT(in, "taken from the sender"),
	COUNT(out, "handed to the receiver"),
	COUNT(lost, "lost as asked"),
	COUNT(queue_drops, "found the queue of the limit full"),
	COUNT(too_long, "longer than the device's MTU"),
	COUNT(failed, "while the direction had failed or the link was down"),
	COUNT(overflow, "found no room in the device's memory"),
	COUNT(flushed, "were inside when the device was closed"),
	COUNT(duplicated, "copies made"),
	COUNT(reordered, "handed over behind a later one of their Tx queue"),
	COUNT(corrupted, "handed over with a wrong bit"),
	COUNT(waiting, "inside now"),
	COUNT(held, "of these, those that others shall overtake"),
	COUNT(most_waiting, "most that were inside at once"),
	{0},
};

static const char *stage_word(const struct wire_dut *d)
{
	if (d == NULL || d->stage == WIRE_DUT_OFF)
		return d != NULL && d->failed ? "failed" : "off";
	return d->stage == WIRE_DUT_ON ? "on" : d->stage == WIRE_DUT_TURNING ? "coming" : "going";
}

static json_t *one_wire(struct ctl *c, struct ctl_port *cp)
{
	const struct ctl_port *to = wire_peer(c, cp);
	struct wire_dut *d = to != NULL ? wire_dut_of(to) : NULL;
	struct dut_counts now = {0}, base = {0};
	json_t *o = json_pack("{s:i, s:s, s:o, s:s, s:s}", "port", (int)cp->p.id, "name",
			      cp->p.name, "to", to != NULL ? json_integer(to->p.id) : json_null(),
			      "device", stage_word(d), "link", snap_link_name(cp->p.link));

	if (d != NULL) {
		wire_dut_counts(d, &now);
		base = d->base;
	}
	json_object_set_new(o, "before", json_integer((json_int_t)base.waiting));
	for (const struct counter *r = rows; r->name != NULL; r++) {
		uint64_t v, b;
		memcpy(&v, (const uint8_t *)&now + r->offset, sizeof(v));
		memcpy(&b, (const uint8_t *)&base + r->offset, sizeof(b));
		/* members from `waiting` on say what is inside now, so no baseline is subtracted */
		bool state = r->offset >= offsetof(struct dut_counts, waiting);
		json_object_set_new(o, r->name, json_integer((json_int_t)(state ? v : v - b)));
	}
	bool there = d != NULL && d->mem != NULL;
	uint64_t room = !there ? 0 : RTE_MIN(d->room_wanted, (uint64_t)d->line.ncells);
	json_object_set_new(o, "room_bytes", json_integer((json_int_t)(room * DUT_CELL)));
	json_object_set_new(o, "room_wanted_bytes",
			    json_integer((json_int_t)(there ? d->room_wanted * DUT_CELL : 0)));
	json_object_set_new(o, "pool_bytes",
			    json_integer(d != NULL && d->line.pool != NULL
						 ? (json_int_t)d->pool_bytes
						 : 0));
	if (d != NULL && d->failed)
		json_object_set_new(o, "why", json_string(d->why));
	return o;
}

json_t *wire_json(struct ctl *c, const struct portset *ports)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && wire_has_port(c, i))
			json_array_append_new(a, one_wire(c, c->port[i]));
	return json_pack("{s:s, s:o}", "show", "wire", "ports", a);
}

bool wire_has_port(const struct ctl *c, unsigned port)
{
	return port_may_peer(&c->port[port]->p);
}

json_t *wire_dut_task_json(const struct ctl *c, const struct dp_task *task, const void *about)
{
	(void)about;
	if (task->kind != &dp_kind_dut)
		return NULL;
	const struct dut_job *j = task->job;
	for (unsigned i = 0; i < c->nports; i++) {
		const struct wire_dut *d = wire_dut_of(c->port[i]);
		if (d != NULL && &d->line == j->line)
			return json_pack("{s:s, s:i, s:i, s:i, s:I, s:i}", "kind", task->kind->name,
					 "port", (int)d->to->p.id, "from", (int)d->from->p.id,
					 "rings", (int)d->line.nrings, "memory_bytes",
					 (json_int_t)(d->pool_bytes + (uint64_t)j->room * DUT_CELL),
					 "buffers", (int)d->line.pool->size);
	}
	return NULL;
}
