/* SPDX-License-Identifier: BSD-3-Clause */
/* The computer as its kernel tells it in /proc and /sys. Files that are not there (containers, other architectures) leave gaps, never a failure. */
#pragma once
#include "base.h"

struct machine_cpu {
	int cpu;
	int socket, core, node; /* -1: unknown; core counts within its socket */
	uint64_t khz, max_khz;  /* 0: unknown */
	char governor[24];      /* "": unknown */
	bool isolated, nohz;
};

struct machine {
	char *model, *kernel;   /* NULL: unknown */
	unsigned sockets, cores; /* 0: unknown */
	bool knows_isolated, knows_nohz;
	unsigned n;             /* threads: CPUs that are online */
	struct machine_cpu *cpu; /* ascending */
};

/* root: "" or a folder that has proc and sys. Caller frees with machine_free(). */
void machine_read(const char *root, struct machine *out);
void machine_free(struct machine *);
