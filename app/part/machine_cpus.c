/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine_cpus.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "sysroot.h"

#define CPU_DIR "/sys/devices/system/cpu"

static int64_t cpu_number(const struct sysroot *sys, int cpu, const char *name, int64_t missing)
{
	int64_t v = missing;

	return sys_number(sys, 0, INT64_MAX, &v, CPU_DIR "/cpu%d/%s", cpu, name) == SYS_READ
		       ? v
		       : missing;
}

static void machine_online(const struct sysroot *sys, struct cpus *out)
{
	cpu_set_t *set;
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);

	if (sys_cpus(sys, out, CPU_DIR "/online") == SYS_READ)
		return;
	set = CPU_ALLOC(CPUS_MAX);
	if (sched_getaffinity(0, size, set) == 0)
		for (int i = 0; i < CPUS_MAX; i++)
			if (CPU_ISSET_S(i, size, set))
				cpus_put(out, i);
	CPU_FREE(set);
}

static struct machine_cpu *cpu_of(struct machine *m, int cpu)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->cpu[i].cpu == cpu)
			return &m->cpu[i];
	return NULL;
}

/* The value of a line "model name : AMD EPYC" if its key is this one, else NULL. The line is
 * changed. */
static const char *value_of(char *line, const char *key)
{
	size_t n = strlen(key);
	char *at = line + n;

	if (strncmp(line, key, n) != 0 || at[strspn(at, " \t")] != ':')
		return NULL;
	at += strspn(at, " \t") + 1;
	at += strspn(at, " \t");
	at[strcspn(at, "\n")] = '\0';
	return at;
}

/* Reads the model, and the clock frequencies where cpufreq did not tell them. Else reading stops at
 * the model, because to read the whole file makes the kernel ask each CPU. */
static void read_cpuinfo(const char *root, struct machine *m)
{
	static const char *const names[] = {"model name", "cpu model", "cpu", "Model", "Hardware"};
	struct sbuf path = {0};
	char line[4096];
	struct machine_cpu *cpu = NULL;
	bool clocks = m->n > 0 && m->cpu[0].khz == 0;

	sbuf_addf(&path, "%s/proc/cpuinfo", root);
	FILE *f = fopen(sbuf_str(&path), "re");
	sbuf_free(&path);
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		const char *v = value_of(line, "processor");
		if (v != NULL)
			cpu = cpu_of(m, atoi(v));
		for (size_t i = 0; i < ARRAY_SIZE(names) && m->model == NULL; i++)
			if ((v = value_of(line, names[i])) != NULL && *v != '\0')
				m->model = xstrdup(v);
		if ((v = value_of(line, "cpu MHz")) != NULL && cpu != NULL && cpu->khz == 0)
			cpu->khz = (uint64_t)(strtod(v, NULL) * 1000);
		if (m->model != NULL && !clocks)
			break;
	}
	if (f != NULL)
		fclose(f);
}

static void read_nodes(const struct sysroot *sys, struct machine *m)
{
	struct cpus nodes, cpus;

	if (sys_cpus(sys, &nodes, "/sys/devices/system/node/online") != SYS_READ)
		return;
	for (int node = 0; node < CPUS_MAX; node++) {
		if (!cpus_has(&nodes, node) ||
		    sys_cpus(sys, &cpus, "/sys/devices/system/node/node%d/cpulist", node) !=
			    SYS_READ)
			continue;
		for (unsigned i = 0; i < m->n; i++)
			if (cpus_has(&cpus, m->cpu[i].cpu))
				m->cpu[i].node = node;
	}
}

/* Counts sockets and cores. Both are 0 if the socket or core of any CPU is unknown. */
static void machine_count(struct machine *m)
{
	for (unsigned i = 0; i < m->n; i++) {
		bool socket = true, core = true;
		if (m->cpu[i].socket < 0 || m->cpu[i].core < 0) {
			m->sockets = m->cores = 0;
			return;
		}
		for (unsigned k = 0; k < i; k++) {
			socket &= m->cpu[k].socket != m->cpu[i].socket;
			core &= m->cpu[k].socket != m->cpu[i].socket ||
				m->cpu[k].core != m->cpu[i].core;
		}
		m->sockets += socket;
		m->cores += core;
	}
}

static void read_kernel(const struct sysroot *sys, struct machine *m)
{
	struct utsname u;
	struct sbuf text = {0};
	char release[128];

	if (sys->path[0] != '\0') {
		if (sys_line(sys, release, sizeof(release), "/proc/sys/kernel/osrelease") ==
		    SYS_READ)
			m->kernel = xstrdup(release);
		return;
	}
	if (uname(&u) != 0)
		return;
	sbuf_addf(&text, "%s %s %s", u.sysname, u.release, u.machine);
	m->kernel = text.s;
}

void machine_read(const char *root, struct machine *m)
{
	const struct sysroot sys = {.path = root};
	struct cpus list;

	*m = (struct machine){0};
	machine_online(&sys, &list);
	m->cpu = xcalloc(cpus_count(&list), sizeof(*m->cpu));
	for (int i = 0; i < CPUS_MAX; i++) {
		struct machine_cpu *c = &m->cpu[m->n];
		if (!cpus_has(&list, i))
			continue;
		m->n++;
		*c = (struct machine_cpu){.cpu = i, .node = -1};
		c->socket = (int)cpu_number(&sys, i, "topology/physical_package_id", -1);
		c->core = (int)cpu_number(&sys, i, "topology/core_id", -1);
		c->khz = (uint64_t)cpu_number(&sys, i, "cpufreq/scaling_cur_freq", 0);
		c->max_khz = (uint64_t)cpu_number(&sys, i, "cpufreq/cpuinfo_max_freq", 0);
		sys_line(&sys, c->governor, sizeof(c->governor),
			 CPU_DIR "/cpu%d/cpufreq/scaling_governor", i);
	}
	m->knows_isolated = sys_cpus(&sys, &list, CPU_DIR "/isolated") == SYS_READ;
	for (unsigned i = 0; i < m->n; i++)
		m->cpu[i].isolated = cpus_has(&list, m->cpu[i].cpu);
	m->knows_nohz = sys_cpus(&sys, &list, CPU_DIR "/nohz_full") == SYS_READ;
	for (unsigned i = 0; i < m->n; i++)
		m->cpu[i].nohz = cpus_has(&list, m->cpu[i].cpu);
	read_nodes(&sys, m);
	read_cpuinfo(root, m);
	read_kernel(&sys, m);
	machine_count(m);
}

void machine_free(struct machine *m)
{
	free(m->model);
	free(m->kernel);
	free(m->cpu);
	*m = (struct machine){0};
}
