/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of the work echo: those of a port, and those of the doors that a port has. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define ECHO_MAX_DOORS 4
#define ECHO_DFLT_DOORS "1"
#define ECHO_DFLT_LISTEN "7" /* RFC 862 */
#define ECHO_DFLT_OPEN "on"

struct echo_door {
	uint64_t listen; /* a UDP port */
	bool open;       /* frames to this UDP port go back */
};

struct echo_cfg {
	bool on;
	/* How many doors there are: the first ones of the array. The others keep what they had. */
	uint64_t ndoors;
	struct echo_door door[ECHO_MAX_DOORS];
};
