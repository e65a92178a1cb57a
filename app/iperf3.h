/* SPDX-License-Identifier: BSD-3-Clause */
/* `wirerate iperf3 OPTIONS` without a port: on the kernel's sockets, without DPDK. And the program
 * under the name iperf3. */
#pragma once
#include "args.h"

/* Whether the program was called by this name. */
bool iperf3_is_name(const char *argv0);
/* Runs to the end. as_name: messages and exit codes are iperf3's. Returns the exit code. *signo
 * becomes the signal that ended it, if one did and it is not as_name. */
int iperf3_run(const struct args *, char *const *word, unsigned n, bool as_name, int *signo);
