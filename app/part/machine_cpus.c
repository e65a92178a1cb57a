/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine_cpus.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define CPUS_MAX 4096
#define CPU_DIR "/sys/devices/system/cpu"

struct cpu_list {
	bool has[CPUS_MAX];
};

/* Reads the first line of a file without its newline. Returns false when there is none. */
static bool read_line(const char *root, const char *path, char *out, size_t size)
{
	struct sbuf full = {0};

	sbuf_addf(&full, "%s%s", root, path);
	FILE *f = fopen(sbuf_str(&full), "re");
	sbuf_free(&full);
	bool ok = f != NULL && fgets(out, (int)size, f) != NULL;
	if (f != NULL)
		fclose(f);
	if (ok)
		out[strcspn(out, "\n")] = '\0';
	return ok;
}

/* Reads a list of CPUs or nodes, "0-3,8". An empty list is valid, and so is "(null)", which the
 * kernel writes for an empty list in some files. Returns false when there is no such file. */
static bool read_list(const char *root, const char *path, struct cpu_list *out)
{
	char line[CPUS_MAX];

	memset(out, 0, sizeof(*out));
	if (!read_line(root, path, line, sizeof(line)))
		return false;
	for (char *at = line; *at >= '0' && *at <= '9';) {
		unsigned long from = strtoul(at, &at, 10), to = from;
		if (*at == '-')
			to = strtoul(at + 1, &at, 10);
		for (unsigned long i = from; i <= to && i < CPUS_MAX; i++)
			out->has[i] = true;
		at += *at == ',';
	}
	return true;
}

static bool cpu_file(const char *root, int cpu, const char *name, char *out, size_t size)
{
	char path[96];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, name);
	return read_line(root, path, out, size);
}

static long long cpu_number(const char *root, int cpu, const char *name, long long missing)
{
	char line[32], *end;

	if (!cpu_file(root, cpu, name, line, sizeof(line)))
		return missing;
	long long v = strtoll(line, &end, 10);
	return end != line && v >= 0 ? v : missing;
}

static void machine_online(const char *root, struct cpu_list *out)
{
	cpu_set_t *set;
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);

	if (read_list(root, CPU_DIR "/online", out))
		return;
	set = CPU_ALLOC(CPUS_MAX);
	if (sched_getaffinity(0, size, set) == 0)
		for (int i = 0; i < CPUS_MAX; i++)
			out->has[i] = CPU_ISSET_S(i, size, set);
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

static void read_nodes(const char *root, struct machine *m)
{
	struct cpu_list nodes, cpus;
	char path[64];

	if (!read_list(root, "/sys/devices/system/node/online", &nodes))
		return;
	for (int node = 0; node < CPUS_MAX; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
		if (!nodes.has[node] || !read_list(root, path, &cpus))
			continue;
		for (unsigned i = 0; i < m->n; i++)
			if (cpus.has[m->cpu[i].cpu])
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

static void read_kernel(const char *root, struct machine *m)
{
	struct utsname u;
	struct sbuf text = {0};
	char release[128];

	if (root[0] != '\0') {
		if (read_line(root, "/proc/sys/kernel/osrelease", release, sizeof(release)))
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
	struct cpu_list list;

	*m = (struct machine){0};
	machine_online(root, &list);
	m->cpu = xcalloc(CPUS_MAX, sizeof(*m->cpu));
	for (int i = 0; i < CPUS_MAX; i++) {
		struct machine_cpu *c = &m->cpu[m->n];
		if (!list.has[i])
			continue;
		m->n++;
		*c = (struct machine_cpu){.cpu = i, .node = -1};
		c->socket = (int)cpu_number(root, i, "topology/physical_package_id", -1);
		c->core = (int)cpu_number(root, i, "topology/core_id", -1);
		c->khz = (uint64_t)cpu_number(root, i, "cpufreq/scaling_cur_freq", 0);
		c->max_khz = (uint64_t)cpu_number(root, i, "cpufreq/cpuinfo_max_freq", 0);
		if (!cpu_file(root, i, "cpufreq/scaling_governor", c->governor,
			      sizeof(c->governor)))
			c->governor[0] = '\0';
	}
	m->knows_isolated = read_list(root, CPU_DIR "/isolated", &list);
	for (unsigned i = 0; i < m->n; i++)
		m->cpu[i].isolated = list.has[m->cpu[i].cpu];
	m->knows_nohz = read_list(root, CPU_DIR "/nohz_full", &list);
	for (unsigned i = 0; i < m->n; i++)
		m->cpu[i].nohz = list.has[m->cpu[i].cpu];
	read_nodes(root, m);
	read_cpuinfo(root, m);
	read_kernel(root, m);
	machine_count(m);
}

void machine_free(struct machine *m)
{
	free(m->model);
	free(m->kernel);
	free(m->cpu);
	*m = (struct machine){0};
}
