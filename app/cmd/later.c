/* SPDX-License-Identifier: BSD-3-Clause */
/* Words whose feature comes with a later version: known, completed, and refused by name. */
#include "verbs.h"

static const struct arg_spec any[] = {{ARG_REST, "...", ARG_OPT}, {ARG_END}};

#define LATER(name_, alias_, help_) {.name = name_, .alias = alias_, .args = any, .help = help_, .flags = VERB_LATER | VERB_HIDDEN}

const struct verb verbs_later[] = {
	LATER("capture", NULL, "Write received frames to a file."),
	LATER("pcap", NULL, "Replay a capture file."),
	LATER("ping4", NULL, "Send an ICMP echo request."),
	LATER("ping6", NULL, "Send an ICMPv6 echo request."),
	LATER("restart", NULL, "Stop and start the devices."),
	LATER("plugin", NULL, "Load code at run time."),
	LATER("bonding", NULL, "State of bonded devices."),
	LATER("dbg", NULL, "Pktgen's debug commands; `show plan`, `show xstats` and `show log` answer most of them."),
};
const unsigned nverbs_later = ARRAY_SIZE(verbs_later);
