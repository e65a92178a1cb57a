/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of args.c and args_serve.c: what is left when all options were taken. 0 or -EINVAL. */
#pragma once
#include "args.h"

/* rest: words behind the name. */
int args_attach(struct args *a, char **rest, int nrest, struct err *e);
int args_serve(struct args *a, struct err *e);
/* A whole file of text; the caller frees *text, also after an error. */
int args_read_file(const char *path, char **text, struct err *e);
