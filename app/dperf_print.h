/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program with --dperf prints without a prompt, as dperf does: a block each second, and the
 * totals at its end. Control thread. */
#pragma once
#include "app.h"

struct dperf_print_opts {
	bool quiet;               /* no block each second */
	void (*clear)(void *arg); /* is called before each of them; NULL: nothing is */
	void (*print)(void *arg, const char *text);
	void *arg;
};
struct dperf_print;

struct dperf_print *dperf_print_new(struct app *app, const struct dperf_print_opts *opts);
/* Prints the totals, if anything has run. NULL: does nothing. */
void dperf_print_end(struct dperf_print *);
void dperf_print_free(struct dperf_print *);
