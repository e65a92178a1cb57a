/* SPDX-License-Identifier: BSD-3-Clause */
/* The same workload on two stacks, run after run in turn: connections of the kernel to the kernel,
 * of a port to the kernel, and of a port to a port. Each end is a process of its own, in network
 * namespaces without a name, which are gone when nobody is in them any more, or at two machines.
 * stacks_run() waits, so it is for a process that does nothing else. */
#pragma once
#include <jansson.h>
#include "out.h"
#include "stacks_words.h"

/* Runs all of it. notes: a line when it begins. The document has what was measured; complete is
 * false in it if it did not come to its end. NULL with *e: nothing was measured.  *code is then
 * the program's exit code. */
json_t *stacks_run(const struct stacks_opts *, void (*note)(const char *text), int *code,
		   struct err *e);
/* Has the run end as soon as it can; for handlers of signals. */
void stacks_interrupt(void);

/* An end on the kernel's sockets. It is told what to do in lines of JSON on descriptor `in`, and
 * answers on `out`; it returns when nothing more comes. */
int stacks_serve(int in, int out);
/* The same for whoever connects to the port, one after the other. */
int stacks_listen(const struct stacks_opts *, void (*note)(const char *text), struct err *e);

/* The tables; CSV has a row for each run. */
void stacks_print(enum out_mode, const json_t *doc, struct sbuf *out);
void stacks_html(const json_t *doc, struct sbuf *out);
void stacks_svg(const json_t *doc, struct sbuf *out); /* the drawing alone */
