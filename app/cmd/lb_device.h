/* SPDX-License-Identifier: BSD-3-Clause */
/* How many connections a device has counted, as a command of the user's tells it. The command is
 * run by a shell, again and again, and each time prints one number: all connections so far. */
#pragma once
#include "base.h"

/* A command that takes longer has failed. */
#define LB_DEVICE_PATIENCE_NS 5000000000ull

struct lb_device;
struct lb_device *lb_device_new(const char *command);
void lb_device_free(struct lb_device *d); /* ends a command that runs. NULL is allowed */
const char *lb_device_command(const struct lb_device *d);
/* Starts the command, which must not be running. 0 or -errno with *e. */
int lb_device_ask(struct lb_device *d, struct err *e);
bool lb_device_asked(const struct lb_device *d); /* whether it runs */
/* 1: it has ended, and *out is its number. 0: it still runs. -errno with *e: it has failed, or what
 * it printed is no number. */
int lb_device_poll(struct lb_device *d, uint64_t *out, struct err *e);
/* The number in what a command has printed. false: there is none, or there is more. */
bool lb_device_number(const char *text, uint64_t *out);
