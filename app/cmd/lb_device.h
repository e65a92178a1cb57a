/* SPDX-License-Identifier: BSD-3-Clause */
/* What a device says of its connections, as a command of the user's tells it. The command is run by
 * a shell, again and again, and each time prints one number or three. */
#pragma once
#include "base.h"

/* A command that takes longer has failed. */
#define LB_DEVICE_PATIENCE_NS 20000000000ull

struct lb_told {
	uint64_t opened; /* all so far */
	bool holds;      /* it has told the two others, too: */
	uint64_t held;   /* that it holds now */
	uint64_t room;   /* the most that it can hold, above 0 */
};

struct lb_device;
struct lb_device *lb_device_new(const char *command);
void lb_device_free(struct lb_device *d); /* ends a command that runs. NULL is allowed */
const char *lb_device_command(const struct lb_device *d);
/* Starts the command, which must not be running. 0 or -errno with *e. */
int lb_device_ask(struct lb_device *d, struct err *e);
bool lb_device_asked(const struct lb_device *d); /* whether it runs */
/* 1: it has ended, and *out is what it told. 0: it still runs. -errno with *e: it has failed, or
 * what it printed are not these numbers. */
int lb_device_poll(struct lb_device *d, struct lb_told *out, struct err *e);
/* The numbers in what a command has printed. false: they are neither one nor three. */
bool lb_device_numbers(const char *text, struct lb_told *out);
