/* SPDX-License-Identifier: BSD-3-Clause */
/* The computer, as its kernel describes it in /proc and /sys. Where files are missing (in
 * containers, on other architectures) values are unknown; nothing fails. */
#pragma once
#include "base.h"

struct machine_cpu {
	int cpu;
	/* -1: unknown; cores of different sockets may have the same number */
	int socket, core, node;
	uint64_t khz, max_khz; /* 0: unknown */
	char governor[24];     /* "": unknown */
	bool isolated, nohz;
};

struct machine {
	char *model, *kernel;            /* NULL: unknown */
	unsigned sockets, cores;         /* 0: unknown */
	bool knows_isolated, knows_nohz; /* isolated and nohz of the CPUs are known */
	unsigned n;              /* CPUs that are online; one with two threads counts as two */
	struct machine_cpu *cpu; /* in ascending order */
};

/* root is "" or a folder that has proc and sys in it. The caller frees *out with machine_free(). */
void machine_read(const char *root, struct machine *out);
void machine_free(struct machine *);
