/* SPDX-License-Identifier: BSD-3-Clause */
/* The prompt's history and its file, $XDG_STATE_HOME/wirerate/history. A history that cannot be kept is logged and
 * costs nothing else. */
#pragma once
#include <histedit.h>
#include "base.h"

struct history;
struct history *history_open(void);
void history_close(struct history *);
/* For EL_HIST. */
History *history_lines(struct history *);
/* Adds the line here and to the end of the file at once: several programs may share it, and a crash loses nothing. */
void history_add(struct history *, const char *line);
