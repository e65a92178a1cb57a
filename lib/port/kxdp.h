/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells leftover XDP programs of ours from those of others, and removes the former. The driver
 * attaches libxdp's default program. If our process is killed, the program stays, and goes on
 * taking every frame of the interface although nobody receives them. So each AF_XDP port holds a
 * lock on a file that names the program. When the process is killed, the lock ends and the file
 * stays: a program that is named in a file which nobody has locked is a leftover of ours. Control
 * thread only. */
#pragma once
#include "kern.h"

/* Removes a leftover of ours from k (*removed is true then). 0: there is no XDP program on k now.
 * -EBUSY: another process of ours uses k through AF_XDP, or there is a program of somebody else; e
 * says which, and what to do. */
int kxdp_clean(struct kern_if *k, bool *removed, const char *spec, struct err *e);
/* Takes the lock for k; to be called before the driver attaches its program. Returns the descriptor
 * of the lock file. -EBUSY: another process has the lock. Another -errno: no lock file can be made,
 * so that a leftover of this port cannot be told from somebody else's program later. */
int kxdp_lock(const struct kern_if *k);
/* Writes into the lock file which program the driver has attached. Does nothing if lock < 0. */
void kxdp_record(int lock, const struct kern_if *k);
/* Removes our program if it is still there, and the lock file. Does nothing if lock < 0. The
 * interface may be gone. */
void kxdp_unlock(int lock, struct kern_if *k);
