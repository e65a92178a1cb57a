/* SPDX-License-Identifier: BSD-3-Clause */
/* While curses has the terminal, whatever libraries write to stdout and stderr would garble it: it is taken from them line by line. */
#pragma once
#include "loop.h"

struct capture;
/* NULL: no pipe could be made, nothing is taken. A stderr that is no terminal stays as it is. */
struct capture *capture_open(struct loop *, void (*line)(void *arg, const char *text), void *arg);
void capture_close(struct capture *); /* what was written last is handed over first */
int capture_fd(const struct capture *); /* the pipe's end that is read, not blocking; -1: none */
