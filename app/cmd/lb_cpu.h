/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of the machine's CPUs a device takes that runs on it: by its process, by the processes
 * of its network namespace, and by the interrupts in which the kernel forwards. From /proc. */
#pragma once
#include "base.h"

struct lb_cpu_of {
	bool known;          /* somebody has named processes */
	int pid;             /* one process; 0: those of the namespace */
	unsigned long netns; /* inode */
};

/* Shares of one CPU: 1.5 are one and a half. NAN: not known. */
struct lb_cpu {
	double device;  /* its processes */
	double softirq; /* of the whole machine */
};

/* "pid:N" or "netns:NAME". -EINVAL or -ENOENT with *e. */
int lb_cpu_parse(const char *text, struct lb_cpu_of *out, struct err *e);
struct lb_cpu_mark {
	uint64_t ns;              /* when it was made */
	uint64_t device, softirq; /* ticks so far */
	bool known[2];
};
void lb_cpu_mark(const struct lb_cpu_of *of, struct lb_cpu_mark *out);
/* What was used between two marks. */
void lb_cpu_since(const struct lb_cpu_mark *a, const struct lb_cpu_mark *b, struct lb_cpu *out);
