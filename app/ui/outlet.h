/* SPDX-License-Identifier: BSD-3-Clause */
/* Between curses and the terminal: curses writes into memory and never waits, the terminal gets it as it takes it. */
#pragma once
#include <stdio.h>
#include "base.h"

struct outlet;
/* fd: the terminal; it stays the caller's. NULL: errno says why. */
struct outlet *outlet_open(int fd);
void outlet_close(struct outlet *);
FILE *outlet_file(const struct outlet *); /* for curses; no terminal */
/* A file descriptor of the terminal that does not wait, unless the terminal cannot be opened again. */
int outlet_fd(const struct outlet *);
void outlet_add(struct outlet *, const char *text);
/* Hand over what the terminal takes now. False: there is more. What a terminal that is gone would have got is dropped. */
bool outlet_push(struct outlet *);
/* Wait for the terminal, but not for good. False: it has not taken all, and the rest is dropped. */
bool outlet_drain(struct outlet *);
