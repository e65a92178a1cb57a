/* SPDX-License-Identifier: BSD-3-Clause */
/* Are the CPUs near the NIC? A frame that crosses to another node costs about twice the time, and
 * the link between the nodes has a limit of its own. */
#include "exam.h"

#include <stdio.h>
#include <stdlib.h>

/* Distance between two nodes as the firmware tells it, 10 for a node and itself; 0: not known. */
static unsigned numa_distance(struct exam *x, int from, int to)
{
	char line[1024], *at = line, *end;
	unsigned long d = 0;

	if (sys_line(&x->sys, line, sizeof(line), "/sys/devices/system/node/node%d/distance",
		     from) != SYS_READ)
		return 0;
	/* One number for each node that is online, in their order. */
	for (int node = 0; node <= to; node++) {
		if (!cpus_has(&x->nodes, node))
			continue;
		d = strtoul(at, &end, 10);
		if (end == at || d > 255)
			return 0;
		at = end;
	}
	return (unsigned)d;
}

static int numa_node_of(const struct exam *x, int cpu)
{
	for (int node = 0; node < NODES_MAX; node++)
		if (cpus_has(&x->nodes, node) && cpus_has(&x->node[node].cpus, cpu))
			return node;
	return -1;
}

/* The CPUs that work for the NIC but are on other nodes, and the distance of the farthest. */
static void numa_far(struct exam *x, int node, struct cpus *far, unsigned *distance)
{
	const struct cpus *work = x->has_map ? &x->workers : &x->may;
	int last = -1;

	*far = (struct cpus){0};
	*distance = 0;
	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		int at = cpus_has(work, cpu) ? numa_node_of(x, cpu) : -1;
		if (at < 0 || at == node)
			continue;
		cpus_put(far, cpu);
		unsigned d = at != last ? numa_distance(x, node, at) : 0;
		*distance = d > *distance ? d : *distance;
		last = at;
	}
}

static void numa_nic(struct exam *x, const struct nic *n)
{
	struct cpus near, far;
	struct sbuf text = {0}, list = {0}, why = {0};
	unsigned distance;

	numa_far(x, n->node, &far, &distance);
	exam_near(x, n->node, &near);
	bool none_near = cpus_count(&near) == 0, all_near = cpus_count(&far) == 0;
	cpus_text(x->has_map && all_near ? &x->workers : &near, &list);
	if (all_near || (!x->has_map && !none_near)) {
		found(x, DOCTOR_OK, nic_name(n), "on node %d, as are CPUs %s", n->node,
		      sbuf_str(&list));
	} else {
		cpus_text(&far, &text);
		struct doctor_finding *f =
			found(x, DOCTOR_WARNING, nic_name(n), "on node %d, where CPU%s %s %s not",
			      n->node, cpus_count(&far) == 1 ? "" : "s", text.s,
			      cpus_count(&far) == 1 ? "is" : "are");
		sbuf_add(&why, "frames cross between the nodes");
		if (distance > 10)
			sbuf_addf(&why, ", at a distance of %u where 10 is near", distance);
		sbuf_addf(&why, ", and each core carries fewer of them%s%s",
			  none_near ? "" : "; near are CPUs ", sbuf_str(&list));
		found_why(f, "%s", why.s);
	}
	sbuf_free(&text);
	sbuf_free(&list);
	sbuf_free(&why);
}

static void numa_run(struct exam *x)
{
	unsigned nodes = cpus_count(&x->nodes);

	if (nodes <= 1) {
		found(x, DOCTOR_OK, NULL,
		      nodes == 1 ? "one node" : "this kernel tells of no nodes");
		return;
	}
	for (int node = 0; node < NODES_MAX; node++)
		if (cpus_has(&x->nodes, node) && x->node[node].mem_kb == 0) {
			char name[32];
			snprintf(name, sizeof(name), "node %d", node);
			struct doctor_finding *f = found(x, DOCTOR_WARNING, name, "has no memory");
			found_why(
				f,
				"buffers for its NICs and CPUs lie on another node; memory modules can be put there");
		}
	for (unsigned i = 0; i < x->nnics; i++) {
		const struct nic *n = &x->nic[i];
		if (n->missing || n->pci[0] == '\0')
			continue;
		if (cpus_has(&x->nodes, n->node)) {
			numa_nic(x, n);
			continue;
		}
		struct doctor_finding *f =
			found(x, DOCTOR_NOTE, nic_name(n), "its node is not known");
		found_why(f, "the firmware does not tell; which CPUs are near it has to be tried");
	}
}

const struct check check_numa = {"numa", numa_run};
