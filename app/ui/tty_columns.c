/* SPDX-License-Identifier: BSD-3-Clause */
/* The size of the terminal is in a file of its own, beside tty.c, because verbs ask for it too. */
#include "tty.h"

#include <stdlib.h>
#include <sys/ioctl.h>

static unsigned of_environment(const char *name, unsigned dflt)
{
	const char *env = getenv(name);
	unsigned long n = env != NULL ? strtoul(env, NULL, 10) : 0;

	return n > 1 && n < 10000 ? (unsigned)n : dflt;
}

/* A terminal that says that it has one column is a window without a size yet. */
unsigned tty_columns(int fd)
{
	struct winsize w;

	return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col
							      : of_environment("COLUMNS", 80);
}

unsigned tty_rows(int fd)
{
	struct winsize w;

	return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 ? w.ws_row
							      : of_environment("LINES", 24);
}
