/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to args.c, args_serve.c and args_dperf.c. The functions return 0, or -EINVAL with *e. */
#pragma once
#include "args.h"

/* Both are called when all options have been read, and check that the options go together:
 * args_attach() those of a client (rest: the words behind the name to attach to), args_serve()
 * those of any other program. They also set what follows from the options. */
int args_attach(struct args *a, char **rest, int nrest, struct err *e);
int args_serve(struct args *a, struct err *e);
/* The same for `doctor`, which opens no port. */
int args_doctor(const struct args *a, struct err *e);
/* Whether the command, which begins with this word, needs neither ports nor a session. */
bool args_is_alone(const struct args *a, const char *word);
/* Says the files of --dperf in commands: settings before the items that are there, the run behind
 * them; ports and the map only where no option names ports. Or in a->text, to be printed. */
int args_dperf(struct args *a, struct err *e);
/* Reads a whole text file. The caller frees *text, also after an error. */
int args_read_file(const char *path, char **text, struct err *e);
