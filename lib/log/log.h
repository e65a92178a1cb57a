/* SPDX-License-Identifier: BSD-3-Clause */
/* Log of control: a ring of the last messages (for `show log` and the log page) and an optional file. Control thread only; EAL's
 * own text arrives here too. Never writes to stdout. */
#pragma once
#include "base.h"

enum log_level { LOG_LVL_ERROR, LOG_LVL_WARN, LOG_LVL_INFO, LOG_LVL_DEBUG };
struct log_entry {
	uint64_t wall_ns;
	uint64_t seq; /* counts from 0 */
	enum log_level level;
	const char *text; /* valid until the ring wraps */
};
#define LOG_RING 1024

int log_open(const char *path, struct err *e); /* append to a file as well; NULL closes it */
void log_stderr(enum log_level max);           /* also print messages up to this level to stderr (default: LOG_LVL_WARN) */
void log_msg(enum log_level level, const char *fmt, ...) WR_PRINTF(2, 3);
uint64_t log_next(void);                       /* sequence number of the next message */
bool log_get(uint64_t seq, struct log_entry *out);
/* Called for each new message (console prints it above the prompt); NULL: none. When set, log_stderr is not used. */
void log_listen(void (*fn)(void *arg, const struct log_entry *), void *arg);
