/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of the work "probe" for control: what goes into plans, and what `show plan` says. The
 * work makes receivers look for the probes that senders put into their frames. */
#include "probe_int.h"

static void release_arm(struct ctl *c, void *arm)
{
	(void)c;
	probe_arm_unref(arm);
}

static void probes_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *p)
{
	struct probe_arm *a = probes_of(c)->now;

	for (unsigned i = 0; a != NULL && i < a->ntaps; i++) {
		struct dp_duty *duty =
			a->tap[i].port == cp->p.id ? plan_duty(p, cp, a->tap[i].queue) : NULL;
		if (duty == NULL)
			continue;
		plan_tap(duty, &(struct dp_tap){.rx = prx_rx,
						.state = a->tap[i].prx,
						.flush = prx_flush});
		plan_keep(p, probe_arm_ref(a), release_arm);
	}
}

static void probes_plan_json(const struct ctl *c, json_t *doc)
{
	const struct probe_arm *a = probes_of(c)->now;
	json_t *from = json_array();

	for (unsigned p = 0; a != NULL && p < a->spec.nports; p++)
		if (a->spec.of[p].nstreams > 0)
			json_array_append_new(from,
					      json_pack("{s:i, s:i, s:i}", "port", (int)p,
							"streams", (int)a->spec.of[p].nstreams,
							"tx_queues", (int)a->spec.of[p].nqueues));
	if (a == NULL) {
		json_decref(from);
		return;
	}
	json_t *o =
		json_pack("{s:I, s:I, s:I, s:I, s:I, s:i, s:I, s:b, s:b, s:o}", "memory_bytes",
			  (json_int_t)a->bytes, "table_bytes",
			  (json_int_t)(a->bytes - a->merge_most), "merge_most_bytes",
			  (json_int_t)a->merge_most, "merge_bytes",
			  (json_int_t)probe_merge_bytes(a->merge), "limit_bytes",
			  (json_int_t)probes_of(c)->limit_bytes, "rx_queues", (int)a->ntaps,
			  "window", (json_int_t)(64ull * a->spec.window_blocks), "verify",
			  (int)a->spec.verify, "polling", (int)probes_of(c)->awake, "from", from);
	json_object_set_new(doc, "probes", o);
}

const struct work work_probe = {
	.name = "probe",
	.ctl_bytes = sizeof(struct probes),
	.cfg_bytes = sizeof(struct probe_cfg),
	.ctl_open = probes_open,
	.ctl_close = probes_close,
	.waits = probes_wait,
	.prepared = probes_targets,
	.holds_starts = probes_hold,
	.fill = probes_fill,
	.awake = probes_awake,
	.turn = probes_turn,
	.next_ns = probes_next_ns,
	.clear = probes_clear,
	.plan_json = probes_plan_json,
	.faults_to = probes_faults_to,
	.faults_told = probes_faults_told,
	.witness = &probe_witness,
};
