/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of control: a ring of the last messages (for `show log` and the page of the log), and a
 * file if one is asked for. Control thread only. The text of EAL arrives here too. It never writes
 * to stdout. */
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

/* Appends all messages to a file from now on; NULL: to none. Returns 0, or -errno with text. */
int log_open(const char *path, struct err *e);
/* Messages up to this level are printed on stderr as well (default: LOG_LVL_WARN). */
void log_stderr(enum log_level max);
void log_msg(enum log_level level, const char *fmt, ...) WR_PRINTF(2, 3);
uint64_t log_next(void); /* sequence number of the next message */
/* Gets a message by its sequence number. False: it is not there yet, or not any more. */
bool log_get(uint64_t seq, struct log_entry *out);
/* fn is called for each new message (the console prints it above the prompt); NULL: none. While it
 * is set, nothing is printed on stderr. */
void log_listen(void (*fn)(void *arg, const struct log_entry *), void *arg);
