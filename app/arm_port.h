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
	 * over. r is used during calls of data() alone. NULL with *e. */
	struct arm *(*make)(struct cmd_run *r, const struct arm_port_ask *ask);
	/* What ran on it has gone: it stops the port. Then over() is asked in each turn, until it
	 * is true, and the arm is no more. */
	void (*end)(struct arm *);
	bool (*over)(struct arm *);
	/* The same at once, also in the midst of it. */
	void (*drop)(struct arm *);
};
/* NULL: no work makes one. */
const struct arm_port *arm_port(void);
/* Whether a port has addresses of its own, and the first one that has. */
bool arm_port_first(struct cmd_run *r, unsigned *port);
