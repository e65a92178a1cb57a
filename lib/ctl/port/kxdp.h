/* SPDX-License-Identifier: BSD-3-Clause */
/* Who put the XDP program on an interface. The driver attaches libxdp's default program, which outlives a killed process and then takes
 * every frame of the interface for nobody. So each AF_XDP port holds a lock file that names the program; the lock goes with the process, the
 * name stays: a program that a free lock file names is a leftover of ours. */
#pragma once
#include "kern.h"

/* 0: no XDP program on k, or a leftover of ours that was removed (*removed). -EBUSY: someone else's, e says whose and what to do. */
int kxdp_clean(struct kern_if *k, bool *removed, const char *spec, struct err *e);
/* Take the lock before the driver attaches; descriptor, -EBUSY when another process has it, or another -errno when no lock file can be made
 * (then a leftover cannot be told from a stranger's program). */
int kxdp_lock(const struct kern_if *k);
/* Write down which program the driver attached. */
void kxdp_record(int lock, const struct kern_if *k);
/* The program is gone, or is removed here; the lock file goes too. k may be gone. */
void kxdp_unlock(int lock, struct kern_if *k);
