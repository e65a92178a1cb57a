/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program and its filter compiler say to each other. The program starts
 * `wirerate-filter FILTER_WIRE SNAPLEN LINKTYPE EXPRESSION`; the answer on standard output is one
 * head and what it announces. */
#pragma once
#include "filter.h"

/* Changes with every change of this file: the two may come from different installations. */
#define FILTER_WIRE "wirerate-filter-1"
#define FILTER_TEXT_MOST 1024 /* bytes of a reason */

enum filter_answer {
	FILTER_PROGRAM,   /* n instructions */
	FILTER_SYNTAX,    /* n bytes: libpcap's words */
	FILTER_HOST,      /* n bytes: the name of a host, which would have to be looked up */
	FILTER_NET,       /* the name of a network */
	FILTER_ETHER,     /* the name of an Ethernet address */
	FILTER_TOO_LARGE, /* n bytes, decimal: the number of instructions */
	FILTER_ANSWERS
};

struct filter_head {
	char version[24]; /* FILTER_WIRE */
	uint32_t answer;
	uint32_t n;
};
