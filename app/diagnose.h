/* SPDX-License-Identifier: BSD-3-Clause */
/* The doctor without ports: `wirerate doctor`, and the reason when a port or EAL does not start. */
#pragma once
#include "args.h"

/* Examines the machine, and prints the report on standard output. Returns the exit code: 0 or 1, 2
 * for a device or a map that is none, 3 when standard output takes nothing. */
int diagnose_run(const struct args *);
/* Prints the errors that the doctor finds about the devices of the command line, if there are any,
 * below the message with which the start has failed. */
void diagnose_start(const struct args *);
