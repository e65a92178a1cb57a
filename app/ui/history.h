/* SPDX-License-Identifier: BSD-3-Clause */
/* The prompt's history and its file, $XDG_STATE_HOME/wirerate/history. When the file cannot be
 * written this is logged, and the history is kept in memory alone. Control thread. */
#pragma once
#include <histedit.h>
#include "base.h"

struct history;
/* Reads the file. Returns NULL when libedit cannot make a history. */
struct history *history_open(void);
void history_close(struct history *);
/* Returns libedit's own handle, for EL_HIST. It still belongs to *history. */
History *history_lines(struct history *);
/* Adds the line to the history and, at once, to the end of the file: several programs may share the
 * file, and a crash loses nothing. A line that is the same as the one before it is not added. */
void history_add(struct history *, const char *line);
