/* SPDX-License-Identifier: BSD-3-Clause */
#include "cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 64 /* groups above that are looked at */
#define NO_QUOTA 1000000000000000ull

/* Whether a list "cpu,cpuacct" has a word. */
static bool cgroup_listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)) != NULL; at += n)
		if ((at == list || at[-1] == ',') && (at[n] == '\0' || at[n] == ','))
			return true;
	return false;
}

/* Where the hierarchy is mounted, of version 2 (controller NULL) or of this controller. */
static bool cgroup_mount(struct exam *x, const char *controller, struct sbuf *out)
{
	struct sbuf text = {0};
	char where[512], type[32], options[512];
	bool there = false;

	sys_head(&x->sys, &text, "/proc/self/mounts");
	for (char *line = text.s; line != NULL && *line != '\0' && !there;) {
		char *next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		if (sscanf(line, "%*s %511s %31s %511s", where, type, options) == 3)
			there = controller == NULL ? strcmp(type, "cgroup2") == 0
						   : strcmp(type, "cgroup") == 0 &&
							     cgroup_listed(options, controller);
		line = next;
	}
	if (there)
		sbuf_add(out, where);
	sbuf_free(&text);
	return there;
}

/* Where the process is in that hierarchy, of a line "0::/path" or "4:memory:/path". */
static bool cgroup_own(struct exam *x, const char *controller, struct sbuf *out)
{
	struct sbuf text = {0};
	bool there = false;

	sys_head(&x->sys, &text, "/proc/self/cgroup");
	for (char *line = text.s; line != NULL && *line != '\0' && !there;) {
		char *next = strchr(line, '\n'), *list = strchr(line, ':');
		if (next != NULL)
			*next++ = '\0';
		char *path = list != NULL ? strchr(list + 1, ':') : NULL;
		if (path != NULL) {
			*path++ = '\0';
			there = controller == NULL ? list[1] == '\0'
						   : cgroup_listed(list + 1, controller);
			/* a path through ".." leads out of what this container sees */
			there = there && path[0] == '/' && strstr(path, "..") == NULL;
			if (there && strcmp(path, "/") != 0)
				sbuf_add(out, path);
		}
		line = next;
	}
	sbuf_free(&text);
	return there;
}

/* Calls look() with the path of the file in each group, from the process's own one upwards. */
static void cgroup_each(struct exam *x, const char *controller, const char *file,
			void (*look)(struct exam *x, const char *path, void *arg), void *arg)
{
	struct sbuf mount = {0}, own = {0}, path = {0};

	if (cgroup_mount(x, controller, &mount) && cgroup_own(x, controller, &own))
		for (unsigned depth = 0; depth < DEPTH_MOST; depth++) {
			sbuf_reset(&path);
			sbuf_addf(&path, "%s%s/%s", mount.s, sbuf_str(&own), file);
			look(x, path.s, arg);
			char *up = own.len > 0 ? strrchr(own.s, '/') : NULL;
			if (up == NULL)
				break;
			*up = '\0';
			own.len = (size_t)(up - own.s);
		}
	sbuf_free(&mount);
	sbuf_free(&own);
	sbuf_free(&path);
}

struct cgroup_least {
	uint64_t v;
	bool bad; /* a file was not readable */
	struct sbuf *file;
};

static void cgroup_take(struct cgroup_least *least, uint64_t v, const char *path)
{
	if (v >= least->v)
		return;
	least->v = v;
	sbuf_reset(least->file);
	sbuf_add(least->file, path);
}

static void cgroup_look_limit(struct exam *x, const char *path, void *arg)
{
	char text[32];
	int64_t v;

	if (sys_line(&x->sys, text, sizeof(text), "%s", path) == SYS_READ &&
	    strcmp(text, "max") != 0 &&
	    sys_number(&x->sys, 0, INT64_MAX, &v, "%s", path) == SYS_READ)
		cgroup_take(arg, (uint64_t)v, path);
}

uint64_t cgroup_limit(struct exam *x, const char *v2_file, const char *v1_controller,
		      const char *v1_file, struct sbuf *file)
{
	struct cgroup_least least = {.v = CGROUP_NONE, .file = file};

	cgroup_each(x, NULL, v2_file, cgroup_look_limit, &least);
	cgroup_each(x, v1_controller, v1_file, cgroup_look_limit, &least);
	/* Version 1 writes a number near 2^63 where there is no limit. */
	return least.v < 1ull << 60 ? least.v : CGROUP_NONE;
}

/* "200000 100000": so many us of every so many. */
static void cgroup_look_quota(struct exam *x, const char *path, void *arg)
{
	struct cgroup_least *least = arg;
	unsigned long long quota, period;
	char text[64], end;

	enum sys_state state = sys_line(&x->sys, text, sizeof(text), "%s", path);
	if (state == SYS_READ && strncmp(text, "max ", 4) == 0)
		return;
	if (state == SYS_READ && sscanf(text, "%llu %llu%c", &quota, &period, &end) == 2 &&
	    period > 0 && quota < NO_QUOTA && strchr(text, '-') == NULL) {
		cgroup_take(least, quota * 1000 / period, path);
		return;
	}
	least->bad |= state != SYS_ABSENT;
	if (state == SYS_READ)
		x->sys.bad(x->sys.arg, path, "it holds no quota", false);
}

static void cgroup_look_cfs(struct exam *x, const char *path, void *arg)
{
	size_t folder = (size_t)(strrchr(path, '/') - path);
	struct cgroup_least *least = arg;
	int64_t quota, period;
	enum sys_state state = sys_number(&x->sys, -1, (int64_t)NO_QUOTA, &quota, "%s", path);

	if (state == SYS_READ && quota >= 0) {
		state = sys_number(&x->sys, 1, (int64_t)NO_QUOTA, &period, "%.*s/cpu.cfs_period_us",
				   (int)folder, path);
		if (state == SYS_READ)
			cgroup_take(least, (uint64_t)(quota * 1000 / period), path);
	}
	least->bad |= state == SYS_BAD;
}

bool cgroup_cpu_thousandths(struct exam *x, uint64_t *out, struct sbuf *file)
{
	struct cgroup_least least = {.v = CGROUP_NONE, .file = file};

	cgroup_each(x, NULL, "cpu.max", cgroup_look_quota, &least);
	cgroup_each(x, "cpu", "cpu.cfs_quota_us", cgroup_look_cfs, &least);
	*out = least.v;
	return !least.bad;
}
