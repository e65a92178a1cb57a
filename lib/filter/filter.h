/* SPDX-License-Identifier: BSD-3-Clause */
/* Capture filters: from the text that tcpdump takes, `udp port 5000`, to a program for workers. A
 * process of its own compiles the text by libpcap (child/), because that can take seconds, asks the
 * name servers for every word that it does not know, and reads text from outside. It has limits on
 * time and memory, and can open no file and no socket. Control alone calls these functions. */
#pragma once
#include "base.h"
#include "filter_run.h"

#define FILTER_CHARS_MOST 4096 /* of an expression */
#define FILTER_INSNS_MOST 4096
#define FILTER_CPU_S 2    /* of the compiler's own CPU time ... */
#define FILTER_WALL_S 5   /* ... and of the clock, on a machine that has little of it to give */
#define FILTER_ETHERNET 1 /* link type: libpcap's DLT_EN10MB */

/* A compiled filter, whose owner frees it. {0}: none. */
struct filter_prog {
	struct filter_insn *insns;
	unsigned n;
};
void filter_prog_free(struct filter_prog *p);

/* A filter that is being compiled. */
struct filter_job;

/* Begins to compile an expression for frames of this link type of which snaplen bytes are kept (1
 * to 262144). -EINVAL: the text is empty or too long; other codes: the compiler could not be
 * started. */
int filter_start(const char *expr, unsigned snaplen, int linktype, struct filter_job **out,
		 struct err *e);
/* filter_poll() has something to do when this descriptor can be read, and at this time of
 * CLOCK_MONOTONIC. */
int filter_fd(const struct filter_job *j);
uint64_t filter_deadline_ns(const struct filter_job *j);
/* Never waits. -EAGAIN: it is not ready. 0: *out is the program, which is checked. Otherwise *e
 * says what is wrong with the expression (-EINVAL), or that it took too long (-ETIMEDOUT), or what
 * else failed. From the first answer that is not -EAGAIN on it is always the same code, and then
 * *out and *e are left alone. */
int filter_poll(struct filter_job *j, struct filter_prog *out, struct err *e);
/* Ends the compiler if it still runs, and frees the job (NULL: nothing). */
void filter_job_free(struct filter_job *j);

/* All of this in one call, which waits for up to FILTER_WALL_S. */
int filter_compile(const char *expr, unsigned snaplen, int linktype, struct filter_prog *out,
		   struct err *e);

/* Whether a program is safe to run by filter_run(): known instructions, jumps that go forward and
 * stay inside, memory that exists. 0 or -EINVAL, and e says which instruction is not. */
int filter_check(const struct filter_prog *p, struct err *e);

/* The last byte of a frame that a checked program may ask for; UINT32_MAX: any. most_a: for each
 * instruction, the largest value that the accumulator may have before it (NULL: not wanted). */
uint32_t filter_reach(const struct filter_prog *p, uint32_t *most_a);
