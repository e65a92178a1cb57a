/* SPDX-License-Identifier: BSD-3-Clause */
/* Two kinds of Pktgen's words that are refused. The first stand for features of a later version:
 * they are completed, and the refusal says so. The others need no command here: the refusal says
 * what to use instead. */
#include "cmd/verbs.h"
#include "pktgen.h"

#include <errno.h>
#include <string.h>

static const struct arg_spec any[] = {{ARG_REST, "...", ARG_OPT}, {ARG_END}};

#define LATER(name_, alias_, help_) \
	{ \
		.name = name_, .alias = alias_, .args = any, .help = help_, \
		.flags = VERB_LATER | VERB_HIDDEN \
	}

/* Refuses the word. The verb's help says what to use instead. */
static int run_instead(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	const char *word = r->line + strspn(r->line, " \t");

	(void)args;
	return err_at(e, EINVAL, (int)(word - r->line), "%.*s: %s", (int)strcspn(word, " \t"), word,
		      r->verb->help);
}

#define INSTEAD(name_, alias_, help_) \
	{ \
		.name = name_, .alias = alias_, .args = any, .help = help_, .flags = VERB_HIDDEN, \
		.run = run_instead \
	}

const struct verb pktgen_later_verbs[] = {
	LATER("pcap", NULL, "Replay a capture file."),
	LATER("restart", NULL, "Stop and start the devices."),
	LATER("plugin", NULL, "Load code at run time."),
	LATER("bonding", NULL, "State of bonded devices."),
	INSTEAD("dbg", NULL,
		"Here `show plan` tells rates and cycles of queues, `show xstats` what devices count, `show log` what happened."),
	INSTEAD("jumbo", NULL,
		"`enable <ports> jumbo` sets an MTU of 9000, `set <ports> mtu 4000` any other; `size` then goes up to the MTU and 18."),
	INSTEAD("cmap", NULL,
		"`show map` tells which core serves which queue, `page cpu` what the machine's cores do."),
	INSTEAD("hugepages", NULL,
		"`show ports` tells the memory of each port, /proc/meminfo that of the machine."),
	INSTEAD("history", NULL, "The arrow keys bring back lines that were typed."),
	INSTEAD("chelp", NULL, "`help` lists all commands, `help WORD` tells about one."),
	INSTEAD("echo", NULL, "`lua \"print('text')\"` prints."),
	INSTEAD("ls", "cd,pwd,mkdir,rm,more,path,env",
		"Files and the environment are the shell's; `script FILE`, `load FILE` and `save FILE` take any path."),
	INSTEAD("hmap", NULL, "`show settings` tells the values in force."),
	{0},
};
