/* SPDX-License-Identifier: BSD-3-Clause */
/* This keeps the modes of the terminal as they were found, puts them back whatever ends the
 * program, and says what the terminal can do. Control thread, unless a function says otherwise. */
#pragma once
#include "base.h"

/* Returns true when this process is in the foreground of the terminal behind fd, or when there is
 * no job control. A process in the background must leave modes and keys alone, or the kernel stops
 * it. */
bool tty_foreground(int fd);
/* Keeps the modes of the terminal on stdin, if it is one. To be called first in main(). */
void tty_save(void);
/* Says that from now on the modes may differ from those that were kept: tty_restore() will write
 * these back, and is called at exit() too. */
void tty_touch(void);
/* Sets the modes for a full screen: keys come as they are pressed and are not echoed, and output
 * goes out as it is written. Calls tty_touch(). */
void tty_raw(void);
/* Says that a full screen is on the terminal behind fd, which should not block. tty_restore() will
 * first write `leave` there, and after it the text that waits in a pipe (-1: none), so that the
 * last words of a program that dies can be read. leave NULL: the screen is gone. */
void tty_screen(int fd, const char *leave, int pipe_fd);
/* Keeps the end of the text that was read from that pipe last. tty_restore() writes it before what
 * still waits in the pipe. */
void tty_last_words(const char *text);
/* Lets output go on that Ctrl-S has stopped, so that a program which ends does not wait for it for
 * good. Async-signal-safe. */
void tty_go_on(int fd);
/* Leaves the screen and restores the modes. Does nothing before tty_touch(). Async-signal-safe. */
void tty_restore(void);
/* From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and SIGQUIT restore the modes and then end
 * the program. */
void tty_on_fatal(void);
/* Restores the modes and ends the program by this signal. Returns if the signal does not do so. */
void tty_die(int signo);
/* Does the same on any thread, whatever lock control holds. What control has not printed yet is
 * lost. Does not return. */
void tty_die_at_once(int signo);

/* Strings of the terminal type, "" where it has none. They are freed by tty_caps_free(). */
struct tty_caps {
	char *cr, *up, *clear_down; /* start of line, one row up, erase to the end of the screen */
	char *clear;                /* home, and erase all of it */
	char *bold, *red, *normal;
	char **keys; /* sequences of F1 to F63, Insert, Page Up, Page Down and Shift-Tab */
	unsigned nkeys;
	bool can_screen; /* the cursor can be put anywhere */
};
/* Fills *t. Returns false when there is no terminal type, or one that cannot move its cursor (TERM
 * unset, "dumb", unknown); then all strings are "". */
bool tty_caps(struct tty_caps *t, int fd);
void tty_caps_free(struct tty_caps *t);
/* Returns true when colours may be written to fd although nobody asked for them: it is a terminal,
 * TERM is set and not "dumb", and NO_COLOR is unset or empty. */
bool tty_wants_color(int fd);
/* Returns how many columns the terminal on fd has. Where it does not say, this is COLUMNS of the
 * environment, else 80. */
unsigned tty_columns(int fd);
/* Returns how many rows it has. Where it does not say, this is LINES of the environment, else
 * 24. */
unsigned tty_rows(int fd);
