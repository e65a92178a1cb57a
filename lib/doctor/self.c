/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts about this process. */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#define SELF_CPUS 4096

static uint64_t self_caps(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (syscall(SYS_capget, &head, data) != 0)
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

/* The kernel does not show a namespace that is above the process's own one. */
static bool self_net_foreign(void)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int owner = fd >= 0 ? ioctl(fd, NS_GET_USERNS) : -1;
	bool foreign = fd >= 0 && owner < 0 && errno == EPERM;

	if (owner >= 0)
		close(owner);
	if (fd >= 0)
		close(fd);
	return foreign;
}

static char *self_path(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	return xstrdup(n > 0 ? path : "wirerate");
}

static uint64_t self_limit(rlim_t limit)
{
	return limit == RLIM_INFINITY ? UINT64_MAX : limit;
}

static void self_cpus(struct doctor_self *out)
{
	cpu_set_t *set = CPU_ALLOC(SELF_CPUS);
	size_t size = CPU_ALLOC_SIZE(SELF_CPUS);

	CPU_ZERO_S(size, set);
	out->cpu = xcalloc(SELF_CPUS, sizeof(*out->cpu));
	if (sched_getaffinity(0, size, set) == 0)
		for (int i = 0; i < SELF_CPUS; i++)
			if (CPU_ISSET_S(i, size, set))
				out->cpu[out->ncpus++] = i;
	CPU_FREE(set);
}

void doctor_self_read(struct doctor_self *out)
{
	struct timex clock = {.modes = 0}; /* nothing is set */
	struct utsname u = {0};
	struct rlimit lim;

	*out = (struct doctor_self){.caps = self_caps(),
				    .net_foreign = self_net_foreign(),
				    .uid = geteuid(),
				    .parent = getppid(),
				    .path = self_path(),
				    .memlock_bytes = UINT64_MAX,
				    .memlock_hard_bytes = UINT64_MAX};
	if (getrlimit(RLIMIT_MEMLOCK, &lim) == 0) {
		out->memlock_bytes = self_limit(lim.rlim_cur);
		out->memlock_hard_bytes = self_limit(lim.rlim_max);
	}
	uname(&u);
	out->kernel = xstrdup(u.release);
	out->arch = xstrdup(u.machine);
	out->writer = xstrdup("");
	out->program = xstrdup("");
	out->dpdk = xstrdup("");
	int state = adjtimex(&clock);
	out->clock_synced = state >= 0 && state != TIME_ERROR && (clock.status & STA_UNSYNC) == 0;
	self_cpus(out);
}

void doctor_self_free(struct doctor_self *s)
{
	free(s->path);
	free(s->kernel);
	free(s->arch);
	free(s->writer);
	free(s->program);
	free(s->dpdk);
	free(s->cpu);
	free(s->core);
	*s = (struct doctor_self){0};
}
