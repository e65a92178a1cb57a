/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the facts about the machine: CPUs, NUMA nodes and the distribution. */
#include "exam.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory of a node in KB, of its line "Node 0 MemTotal:  65798360 kB". */
static uint64_t node_memory(struct exam *x, int node)
{
	struct sbuf text = {0};
	uint64_t kb = UINT64_MAX;
	const char *at = NULL;

	if (sys_head(&x->sys, &text, "/sys/devices/system/node/node%d/meminfo", node) == SYS_READ)
		at = strstr(sbuf_str(&text), "MemTotal:");
	if (at != NULL) {
		char *end;
		at += strlen("MemTotal:");
		unsigned long long v = strtoull(at + strspn(at, " "), &end, 10);
		if (strncmp(end, " kB", 3) == 0 && at[strspn(at, " ")] != '-')
			kb = v;
	}
	sbuf_free(&text);
	return kb;
}

static void read_nodes(struct exam *x)
{
	struct cpus nodes;

	if (sys_cpus(&x->sys, &nodes, "/sys/devices/system/node/online") != SYS_READ)
		return;
	for (int n = 0; n < NODES_MAX; n++) {
		struct node *node = &x->node[n];
		if (!cpus_has(&nodes, n) ||
		    sys_cpus(&x->sys, &node->cpus, "/sys/devices/system/node/node%d/cpulist", n) !=
			    SYS_READ)
			continue;
		node->mem_kb = node_memory(x, n);
		cpus_put(&x->nodes, n);
	}
}

/* Reads the flags of the first processor; all have the same for what is asked here. Other kinds of
 * CPU than x86 call the line "Features". */
static void read_flags(struct exam *x)
{
	struct sbuf text = {0};
	size_t n = 0;

	sys_head(&x->sys, &text, "/proc/cpuinfo");
	const char *flags = sys_value(sbuf_str(&text), "flags", &n);
	if (flags != NULL) {
		sbuf_addc(&x->flags, ' ');
		sbuf_addn(&x->flags, flags, n);
		sbuf_addc(&x->flags, ' ');
	}
	const char *vendor = sys_value(sbuf_str(&text), "vendor_id", &n);
	x->intel = vendor != NULL && n == 12 && strncmp(vendor, "GenuineIntel", n) == 0;
	sbuf_free(&text);
}

/* Is the machine a guest? Processors of x86 say so. Others do not, and it is told by the
 * hypervisor's folder, by the description of the hardware, or by the name of its maker. */
static bool read_virtual(struct exam *x)
{
	static const char *const makers[] = {"QEMU",       "KVM",           "Amazon EC2",
					     "Google",     "VMware",        "Xen",
					     "OpenStack",  "Alibaba Cloud", "Microsoft Corporation",
					     "Apple Inc.", "Parallels",     "DigitalOcean"};
	char maker[64], product[64], in[64][SYS_NAME];

	if (x->flags.len > 0 && x->x86)
		return exam_flag(x, "hypervisor");
	if (sys_exists(&x->sys, "/sys/hypervisor/type") ||
	    sys_exists(&x->sys, "/proc/device-tree/hypervisor"))
		return true;
	unsigned n = sys_names(&x->sys, in, ARRAY_SIZE(in), "/proc/device-tree");
	for (unsigned i = 0; i < n; i++)
		if (strncmp(in[i], "fw-cfg", 6) == 0)
			return true;
	if (sys_line(&x->sys, maker, sizeof(maker), "/sys/class/dmi/id/sys_vendor") != SYS_READ)
		return false;
	sys_line(&x->sys, product, sizeof(product), "/sys/class/dmi/id/product_name");
	for (size_t i = 0; i < ARRAY_SIZE(makers); i++)
		if (strncmp(maker, makers[i], strlen(makers[i])) == 0)
			return strstr(product, "metal") == NULL;
	return false;
}

/* A user namespace other than the machine's has other users. */
static bool read_user_ns(struct exam *x)
{
	unsigned long long from, to, n;
	struct sbuf text = {0};
	bool other = false;

	if (sys_head(&x->sys, &text, "/proc/self/uid_map") == SYS_READ)
		other = sscanf(sbuf_str(&text), "%llu %llu %llu", &from, &to, &n) != 3 ||
			from != 0 || to != 0 || n != UINT32_MAX;
	sbuf_free(&text);
	return other;
}

static void read_os(struct exam *x)
{
	struct sbuf text = {0}, names = {0};
	size_t n;

	sys_head(&x->sys, &text, "/etc/os-release");
	const char *value = sys_value(sbuf_str(&text), "ID", &n);
	if (value != NULL)
		sbuf_addn(&names, value, n);
	value = sys_value(sbuf_str(&text), "ID_LIKE", &n);
	if (value != NULL)
		sbuf_addn(&names, value, n);
	x->os = strstr(sbuf_str(&names), "ubuntu") != NULL   ? OS_UBUNTU
		: strstr(sbuf_str(&names), "debian") != NULL ? OS_DEBIAN
		: strstr(sbuf_str(&names), "fedora") != NULL ||
				strstr(sbuf_str(&names), "rhel") != NULL
			? OS_REDHAT
			: OS_OTHER;
	sbuf_free(&names);
	sbuf_free(&text);
}

void exam_machine(struct exam *x)
{
	const struct doctor_self *self = x->self;

	x->x86 = strcmp(self->arch, "x86_64") == 0;
	for (unsigned i = 0; i < self->ncpus; i++)
		cpus_put(&x->may, self->cpu[i]);
	x->has_map = self->ncores > 0;
	for (unsigned i = 0; i < self->ncores; i++) {
		cpus_put(&x->used, self->core[i].cpu);
		if (!self->core[i].control)
			cpus_put(&x->workers, self->core[i].cpu);
	}
	if (!x->has_map)
		x->used = x->may;
	if (sys_cpus(&x->sys, &x->online, "/sys/devices/system/cpu/online") != SYS_READ)
		x->online = x->may;
	read_nodes(x);
	read_flags(x);
	x->virtual = read_virtual(x);
	x->user_ns = read_user_ns(x);
	read_os(x);
}
