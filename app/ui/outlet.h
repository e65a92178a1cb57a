/* SPDX-License-Identifier: BSD-3-Clause */
/* An outlet stands between curses and the terminal: curses writes into memory and never waits, and
 * the terminal gets the bytes as fast as it takes them. Control thread. */
#pragma once
#include <stdio.h>
#include "base.h"

struct outlet;
/* fd is the terminal; it stays the caller's. Returns NULL when it fails, and errno says why. */
struct outlet *outlet_open(int fd);
void outlet_close(struct outlet *);
/* The file that curses writes into. It is memory and no terminal. */
FILE *outlet_file(const struct outlet *);
/* The outlet's own descriptor of the terminal. It does not block, unless the terminal could not be
 * opened a second time. */
int outlet_fd(const struct outlet *);
/* Adds text to what curses has written. */
void outlet_add(struct outlet *, const char *text);
/* Writes what the terminal takes now. Returns false when there is more. When the terminal is gone,
 * everything is dropped. */
bool outlet_push(struct outlet *);
/* Writes everything, and waits as long as the terminal goes on taking it. Returns false when it
 * took nothing for some time; then the rest is dropped. */
bool outlet_drain(struct outlet *);
