/* SPDX-License-Identifier: BSD-3-Clause */
#include "lb_cpu.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"

#define NETNS_DIR "/run/netns/"

int lb_cpu_parse(const char *text, struct lb_cpu_of *out, struct err *e)
{
	char path[320], *end;
	struct stat st;

	*out = (struct lb_cpu_of){.known = true};
	if (strncmp(text, "pid:", 4) == 0) {
		long pid = strtol(text + 4, &end, 10);
		if (pid <= 0 || pid > INT32_MAX || *end != '\0')
			return err_set(e, EINVAL,
				       "\"%s\": allowed is the number of a process, like pid:1234",
				       text);
		out->pid = (int)pid;
		snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
		return access(path, R_OK) == 0
			       ? 0
			       : err_set(e, ENOENT,
					 "there is no process %ld; `pgrep NAME` tells its number",
					 pid);
	}
	if (strncmp(text, "netns:", 6) != 0 || text[6] == '\0' || strchr(text, '/') != NULL)
		return err_set(
			e, EINVAL,
			"\"%s\": allowed are pid:N, a process, and netns:NAME, the processes of a namespace of `ip netns`",
			text);
	snprintf(path, sizeof(path), NETNS_DIR "%.250s", text + 6);
	if (stat(path, &st) != 0)
		return err_set(e, ENOENT,
			       "there is no network namespace \"%s\"; `ip netns` lists them",
			       text + 6);
	out->netns = (unsigned long)st.st_ino;
	return 0;
}

/* Ticks of user and system that a process has used, with those of children that have ended. */
static bool process_ticks(int pid, uint64_t *sum)
{
	char path[64], line[1024];
	unsigned long long v[4];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return false;
	char *got = fgets(line, sizeof(line), f);
	fclose(f);
	/* the name, in parentheses, may have anything in it */
	const char *rest = got != NULL ? strrchr(line, ')') : NULL;
	if (rest == NULL ||
	    sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
		   &v[0], &v[1], &v[2], &v[3]) != 4)
		return false;
	*sum += v[0] + v[1] + v[2] + v[3];
	return true;
}

/* Our own namespace's processes are not the device's, even if somebody names it: we are in it. */
static bool netns_ticks(unsigned long inode, uint64_t *sum)
{
	DIR *d = opendir("/proc");
	const struct dirent *one;
	bool any = false;

	if (d == NULL)
		return false;
	while ((one = readdir(d)) != NULL) {
		char path[300];
		struct stat st;
		int pid = atoi(one->d_name);
		if (pid <= 0 || pid == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
		if (stat(path, &st) == 0 && (unsigned long)st.st_ino == inode)
			any |= process_ticks(pid, sum);
	}
	closedir(d);
	return any;
}

static bool softirq_ticks(uint64_t *out)
{
	unsigned long long v = 0;
	FILE *f = fopen("/proc/stat", "re");

	if (f == NULL)
		return false;
	int n = fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %llu", &v);
	fclose(f);
	*out = v;
	return n == 1;
}

void lb_cpu_mark(const struct lb_cpu_of *of, struct lb_cpu_mark *out)
{
	*out = (struct lb_cpu_mark){.ns = clock_raw_ns()};
	out->known[1] = softirq_ticks(&out->softirq);
	if (of->known)
		out->known[0] = of->pid > 0 ? process_ticks(of->pid, &out->device)
					    : netns_ticks(of->netns, &out->device);
}

static double ticks_share(bool known, uint64_t a, uint64_t b, uint64_t ns)
{
	long hz = sysconf(_SC_CLK_TCK);

	return known && ns > 0 && hz > 0 && b >= a
		       ? (double)(b - a) / (double)hz / ((double)ns / 1e9)
		       : (double)NAN;
}

void lb_cpu_since(const struct lb_cpu_mark *a, const struct lb_cpu_mark *b, struct lb_cpu *out)
{
	uint64_t ns = b->ns > a->ns ? b->ns - a->ns : 0;

	out->device = ticks_share(a->known[0] && b->known[0], a->device, b->device, ns);
	out->softirq = ticks_share(a->known[1] && b->known[1], a->softirq, b->softirq, ns);
}
