/* SPDX-License-Identifier: BSD-3-Clause */
/* Pktgen's settings that this version does not have. They are in the table so that they are refused
 * by name, and not as typing errors. */
#include "pktgen.h"

#define LATER(scope_, name_, alias_, help_) \
	{ \
		.name = name_, .alias = alias_, .scope = scope_, .v = {&vt_text}, .dflt = "", \
		.flags = SET_LATER, .help = help_ \
	}

const struct setting pktgen_later_rows[] = {
	LATER(&scope_port, "prime", NULL, "frames that `start <ports> prime` sends"),
	LATER(&scope_port, "dump", NULL, "received frames to dump into the log"),
	LATER(&scope_port, "tx_cycles", NULL,
	      "raw cycles between bursts; `rate` says it in frames per second"),
	{0},
};
