/* SPDX-License-Identifier: BSD-3-Clause */
/* One end, or both, of a run, as who measures sees it: a process of the kernel's sockets, one with
 * ports, or another machine. All functions wait, and return -EINTR after stacks_interrupt(). */
#pragma once
#include "stacks_net.h"
#include "stacks_role.h"

struct stacks_end {
	pid_t pid;          /* 0: no process of ours */
	int to, from, said; /* said: standard error; -1: none */
	bool port;
	bool term; /* it may be in the midst of something: SIGTERM ends it */
	unsigned nports;
	double hz;      /* cycles per second of its machine, of another one */
	struct sbuf in; /* what came, and is no whole line yet */
	double cycles;  /* of a port: that its workers were busy, as stacks_end_tick() saw */
};
#define STACKS_NO_END ((struct stacks_end){.to = -1, .from = -1, .said = -1})

struct stacks_sample {
	bool known;
	double at_ns, tx, rx, done, bad, resent, cpu_ns, cycles;
};

/* They begin one, of STACKS_NO_END. 0 or -errno with *e. */
int stacks_end_role(struct stacks_end *, int ns, const struct stacks_order *, struct err *e);
int stacks_end_remote(struct stacks_end *, const char *host, unsigned port,
		      const struct stacks_order *, struct err *e);
/* A program with ports: spec is the text of -p, ip that of --ip (NULL: none), map that of -m. What
 * it is told comes with stacks_end_say(). */
struct stacks_program {
	int ns;
	const int *cpu; /* control's, and the worker's */
	const char *spec, *ip, *map;
	unsigned mtu, nports;
	bool events; /* it tells in events what it does, one in each second at least */
};
int stacks_end_port(struct stacks_end *, const struct stacks_program *, struct err *e);
/* This program with words that are separated by blanks, without a port. */
int stacks_end_words(struct stacks_end *, int ns, int cpu, const char *words, struct err *e);
void stacks_end_say(struct stacks_end *, const char *commands);

/* Waits, but not longer, until one of them has printed something. 0, -ETIMEDOUT, -EINTR, or -EPIPE
 * with *e: list[0] has ended. Others that have ended are waited for no more. */
int stacks_ends_wait(struct stacks_end *const *list, unsigned n, unsigned ms, struct err *e);
/* The next line that is there, without its newline, which the caller frees; NULL: there is none. */
char *stacks_end_line(struct stacks_end *);

/* The document of `show WHAT`. New reference; NULL with *e. */
json_t *stacks_end_show(struct stacks_end *, const char *what, struct err *e);
/* Of a program with two ports, *second is the other port. */
int stacks_end_sample(struct stacks_end *, struct stacks_sample *first,
		      struct stacks_sample *second, struct err *e);
int stacks_end_tick(struct stacks_end *, double seconds, struct err *e);
void stacks_end_close(struct stacks_end *);

bool stacks_interrupted(void);
/* Waits so long: 0 or -EINTR with *e. */
int stacks_wait_ns(uint64_t ns, struct err *e);
