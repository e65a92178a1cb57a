/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run of neper says, as lines KEY=VALUE, as a document or as CSV. */
#pragma once
#include <jansson.h>
#include "neper.h"

struct neper_print {
	int mode;                                  /* enum out_mode */
	void (*text)(void *arg, const char *text); /* results */
	void (*note)(void *arg, const char *text); /* lines for standard error */
	void *arg;
	json_t *doc; /* {"neper": {...}}, made by neper_print_init() */
};
/* Fills *out for neper_begin(). The caller releases p->doc. */
void neper_print_init(struct neper_print *p, const struct neper_kind *k, struct neper_out *out);
/* The run is over: prints the document, if it is to be printed. */
void neper_print_end(struct neper_print *p);
