/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys_help.h"

#include <stddef.h>

const struct key_help keys_help[] = {
	{"1..9 0", "a page, in their order"},
	{"Tab", "next page"},
	{"Left Right", "select a port"},
	{"Up Down", "select a stream; lines of the history once something is typed"},
	{"< >", "page through ports"},
	{"[ ]", "scroll a page that is longer than the screen"},
	{"F5", "start the selected port"},
	{"F6", "stop the selected port"},
	{"PgUp PgDn", "scroll the messages above the prompt"},
	{"?", "help; once something is typed: what may stand here"},
	{"Ctrl-L", "draw everything anew"},
	{"Ctrl-C", "cancel what runs, or the line"},
	{"Ctrl-D", "quit"},
	{NULL, NULL},
};
