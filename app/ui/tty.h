/* SPDX-License-Identifier: BSD-3-Clause */
/* The terminal as it was found, and what it can do. */
#pragma once
#include "base.h"

/* Is this process in the foreground of the terminal behind fd? Who is not leaves modes and keys alone, else the kernel stops him. Where there
 * is no job control it is. */
bool tty_foreground(int fd);
/* First thing in main: keep the modes of the terminal on stdin, if it is one. */
void tty_save(void);
/* From now on the modes may differ from what was kept: tty_restore() writes them back, also at exit(). */
void tty_touch(void);
/* For a full screen: keys come as they are pressed and are not echoed, output goes out as it is; also tty_touch(). */
void tty_raw(void);
/* While a full screen is on the terminal behind fd (best one that does not wait): what tty_restore() has to write there first, and a pipe
 * (or -1) whose text goes there too, so that the last words of who dies are read. NULL: it is gone. */
void tty_screen(int fd, const char *leave, int pipe_fd);
/* What was read from that pipe last: shown too by who dies. */
void tty_last_words(const char *text);
/* Output that Ctrl-S has stopped goes on: who leaves must not wait for it for good. Async-signal-safe. */
void tty_go_on(int fd);
/* Async-signal-safe; does nothing before tty_touch(). */
void tty_restore(void);
/* Restore the modes, then die by the signal, on SIGSEGV SIGBUS SIGFPE SIGILL SIGABRT SIGQUIT. */
void tty_on_fatal(void);
/* Restore the modes and end by this signal. Returns only if the signal does not end processes. */
void tty_die(int signo);
/* The same on any thread, whatever control holds: what it has not printed yet is lost. Does not return. */
void tty_die_at_once(int signo);

/* Strings of the terminal type, "" where it has none. Owned; tty_caps_free(). */
struct tty_caps {
	char *cr, *up, *clear_down; /* start of line, one row up, erase to the end of the screen */
	char *bold, *red, *normal;
	char **keys;     /* what it sends for keys that are no text and move nothing: F1 to F63, Insert, the pages */
	unsigned nkeys;
	bool can_screen; /* the cursor can be put anywhere */
};
/* False: no terminal type, or one that cannot move its cursor (TERM unset, "dumb", unknown); all strings are "". */
bool tty_caps(struct tty_caps *t, int fd);
void tty_caps_free(struct tty_caps *t);
/* May colour be written to fd without being asked: a terminal, TERM not dumb, NO_COLOR unset or empty. */
bool tty_wants_color(int fd);
/* Columns of the terminal on fd: what it says, else COLUMNS, else 80. */
unsigned tty_columns(int fd);
/* Its rows in the same way: LINES, 24. */
unsigned tty_rows(int fd);
