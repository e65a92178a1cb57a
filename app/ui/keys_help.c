/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys_help.h"

#include <stddef.h>

const struct key_help keys_help[] = {
	{"1..9 0", "a page, in their order", NULL},
	{"Tab", "next page; Shift-Tab: the one before. Once something is typed: complete it", NULL},
	{"F5", "start the selected port", "start"},
	{"F6", "stop the selected port", "stop"},
	{"Left Right", "select a port", "port"},
	{"?", "help; once something is typed: what may stand here", NULL},
	{"PgUp PgDn", "scroll the messages above the prompt", "log"},
	{"Esc", "back from a long answer or list to the page", NULL},
	{"< >", "page through ports", "ports"},
	{"[ ]",
	 "scroll a page that is longer than its area; Ctrl-Up and Ctrl-Down once something is typed",
	 "rows"},
	{"- +", "select a stream of the port", "stream"},
	{"Up Down", "lines of the history", "history"},
	{"Ctrl-L", "draw everything anew", "repaint"},
	{"Ctrl-C", "cancel what runs, or drop the line", NULL},
	{"Ctrl-D", "quit", "quit"},
	{NULL, NULL, NULL},
};
