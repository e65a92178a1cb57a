/* SPDX-License-Identifier: BSD-3-Clause */
/* The arm `port` (arm.h): our own TCP and UDP on a worker of a port. A work makes it, and gives it
 * to the program by its face. Control thread. */
#pragma once
#include "app.h"
#include "arm.h"

struct arm_port_ask {
	unsigned port;         /* of ours */
	unsigned control_port; /* of TCP */
	uint64_t window;       /* bytes; 0: as flows have it */
};
struct arm_port {
	/* From data() on the port is the arm's: its streams are kept, and come back when it is
	 * over. r is used during calls of data() and tune() alone. NULL with *e. */
	struct arm *(*make)(struct cmd_run *r, const struct arm_port_ask *ask);
	/* What ran on it has gone: it stops the port. Then over() is asked in each turn, until it
	 * is true, and the arm is no more. */
	void (*end)(struct arm *);
	bool (*over)(struct arm *);
	/* The same, also in the midst of it, and nobody asks: it ends by itself soon. */
	void (*drop)(struct arm *);
};
/* NULL: no work makes one. */
const struct arm_port *arm_port(void);

/* What the protocol of a verb runs on: the arm of a port, or that of the kernel's sockets. */
enum arm_stack { ARM_ANY, ARM_KERNEL, ARM_PORT };
struct arm_use {
	struct arm *arm; /* NULL: none was made, or it is no more */
	bool port;       /* it is that of a port */
	unsigned number; /* of this one */
};
/* Which it is to be, and whether it can be: without a word (ARM_ANY) that of the first port which
 * has addresses, if there is one. -EINVAL, -EBUSY with *e. */
int arm_use_choose(struct cmd_run *r, enum arm_stack, struct arm_use *out, struct err *e);
void arm_use_make(struct cmd_run *r, unsigned control_port, struct arm_use *);
/* Nobody uses it any more; that of a port ends by itself soon. */
void arm_use_drop(struct arm_use *);
