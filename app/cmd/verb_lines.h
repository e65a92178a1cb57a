/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs that set streams do it by commands. Control thread only. */
#pragma once
#include <jansson.h>
#include "cmd.h"

/* Runs commands, a line each. What they print and warn of is dropped; *results, which may be NULL,
 * gets their documents as an array. */
int verb_lines(struct cmd_run *r, const char *text, json_t **results, struct err *e);
