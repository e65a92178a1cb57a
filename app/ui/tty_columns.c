/* SPDX-License-Identifier: BSD-3-Clause */
/* Beside tty.c, because verbs ask for it too. */
#include "tty.h"

#include <stdlib.h>
#include <sys/ioctl.h>

unsigned tty_columns(int fd)
{
	struct winsize w;
	const char *env = getenv("COLUMNS");

	/* A terminal of one column is a window that has no size yet. */
	if (ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 1)
		return w.ws_col;
	unsigned long n = env != NULL ? strtoul(env, NULL, 10) : 0;
	return n > 1 && n < 10000 ? (unsigned)n : 80;
}
