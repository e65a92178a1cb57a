/* SPDX-License-Identifier: BSD-3-Clause */
#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "log.h"
#include "userfile.h"

#define HISTORY_LINES 1000

struct history {
	History *h;
	char *path; /* of the file; NULL: the history is not kept */
	char *last; /* the newest line */
};

/* Opens the file for writing. how: O_APPEND or O_TRUNC. NULL with errno. */
static FILE *open_file(struct history *y, int how)
{
	const char *why;
	int fd = userfile_open(y->path, O_WRONLY | O_CREAT | how, 0600, &why);

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	fchmod(fd, 0600);
	FILE *f = fdopen(fd, how & O_APPEND ? "a" : "w");
	if (f == NULL)
		close(fd);
	return f;
}

static void give_up(struct history *y, int code)
{
	log_msg(LOG_LVL_DEBUG, "history is not kept: '%s': %s", y->path, strerror(code));
	free(y->path);
	y->path = NULL;
}

/* Reads the file, and returns its number of lines or -1. libedit can only open a file by its name,
 * so it gets the name of the descriptor. */
static int history_load(struct history *y)
{
	char self[40];
	const char *why;
	HistEvent ev;
	int fd = userfile_open(y->path, O_RDONLY, 0, &why), lines;

	if (fd < 0)
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	lines = history(y->h, &ev, H_LOAD, self);
	close(fd);
	return lines;
}

static void history_shorten(struct history *y)
{
	FILE *f = open_file(y, O_TRUNC);
	HistEvent ev;

	if (f == NULL)
		return;
	history(y->h, &ev, H_SAVE_FP, f);
	fclose(f);
}

struct history *history_open(void)
{
	struct history *y = xcalloc(1, sizeof(*y));
	HistEvent ev;

	y->h = history_init();
	if (y->h == NULL) {
		free(y);
		return NULL;
	}
	history(y->h, &ev, H_SETSIZE, HISTORY_LINES);
	history(y->h, &ev, H_SETUNIQUE, 1);
	y->path = file_state_path("history");
	if (y->path == NULL)
		return y;
	int rc = file_make_parents(y->path);
	int lines = history_load(y);
	if (rc != 0)
		give_up(y, -rc);
	else if (lines > 2 * HISTORY_LINES)
		history_shorten(y);
	if (history(y->h, &ev, H_FIRST) == 0 && ev.str != NULL)
		y->last = xstrdup(ev.str);
	return y;
}

void history_close(struct history *y)
{
	if (y == NULL)
		return;
	history_end(y->h);
	free(y->path);
	free(y->last);
	free(y);
}

History *history_lines(struct history *y)
{
	return y->h;
}

/* libedit can only write whole histories. So a history of this one line is written to the end of
 * the file. */
static void history_append(struct history *y, const char *line)
{
	HistEvent ev;
	FILE *f = open_file(y, O_APPEND);

	if (f == NULL) {
		give_up(y, errno);
		return;
	}
	History *one = history_init();
	fseek(f, 0, SEEK_END);
	if (one != NULL) {
		history(one, &ev, H_SETSIZE, 1);
		history(one, &ev, H_ENTER, line);
		history(one, &ev, H_SAVE_FP, f);
		history_end(one);
	}
	int bad = ferror(f) ? EIO : 0;
	if (fclose(f) != 0)
		bad = errno;
	if (bad != 0)
		give_up(y, bad);
}

void history_add(struct history *y, const char *line)
{
	HistEvent ev;

	if (y->last != NULL && strcmp(y->last, line) == 0)
		return;
	free(y->last);
	y->last = xstrdup(line);
	history(y->h, &ev, H_ENTER, line);
	if (y->path != NULL)
		history_append(y, line);
}
