/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of control: a ring of messages, a file, and a listener. */
#include "log.h"
#include "userfile.h"
#include "visible.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000ull

static struct {
	struct log_entry ring[LOG_RING]; /* we own the texts */
	uint64_t next;
	FILE *file;
	enum log_level stderr_max;
	void (*listen)(void *arg, const struct log_entry *);
	void *listen_arg;
	bool telling; /* the listener is running: it is not told what it logs itself */
} lg = {.stderr_max = LOG_LVL_WARN};

static const char level_letter[] = "EWID";

int log_open(const char *path, struct err *e)
{
	FILE *f = NULL;

	if (path != NULL) {
		const char *why;
		int fd = userfile_open(path, O_WRONLY | O_APPEND | O_CREAT, 0666, &why);
		f = fd >= 0 ? fdopen(fd, "a") : NULL;
		if (f == NULL)
			return err_set(
				e, fd < 0 ? -fd : ENOMEM,
				"cannot write the log file '%.400s': %s; name a file in a directory that you "
				"can write",
				path, fd < 0 ? why : "there is no memory");
		setvbuf(f, NULL, _IOLBF, 0);
	}
	if (lg.file != NULL)
		fclose(lg.file);
	lg.file = f;
	return 0;
}

void log_stderr(enum log_level max)
{
	lg.stderr_max = max;
}

static void to_file(const struct log_entry *m)
{
	time_t s = (time_t)(m->wall_ns / NS_PER_S);
	struct tm tm;
	char stamp[32];

	localtime_r(&s, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	fprintf(lg.file, "%c %s.%03u %s\n", level_letter[m->level], stamp,
		(unsigned)(m->wall_ns % NS_PER_S / 1000000), m->text);
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	struct log_entry *m = &lg.ring[lg.next % LOG_RING];
	struct timespec t;
	struct sbuf text = {0}, shown = {0};
	va_list ap;

	va_start(ap, fmt);
	sbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	while (text.len > 0 && (text.s[text.len - 1] == '\n' || text.s[text.len - 1] == '\r'))
		text.s[--text.len] = '\0';
	/* A message is one line, without anything that moves the cursor of a terminal. */
	for (size_t i = 0; i < text.len; i++)
		if (text.s[i] == '\n' || text.s[i] == '\t')
			text.s[i] = ' ';
	visible_add(&shown, sbuf_str(&text), text.len);
	sbuf_free(&text);
	clock_gettime(CLOCK_REALTIME, &t);
	free((char *)m->text);
	*m = (struct log_entry){(uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec, lg.next++,
				level, shown.s};
	if (lg.file != NULL)
		to_file(m);
	if (lg.listen == NULL) {
		if (level <= lg.stderr_max)
			visible_print(stderr, "wirerate: %s\n", shown.s);
	} else if (!lg.telling) {
		struct log_entry copy = *m;
		lg.telling = true;
		lg.listen(lg.listen_arg, &copy);
		lg.telling = false;
	}
}

uint64_t log_next(void)
{
	return lg.next;
}

bool log_get(uint64_t seq, struct log_entry *out)
{
	if (seq >= lg.next || lg.next - seq > LOG_RING)
		return false;
	*out = lg.ring[seq % LOG_RING];
	return true;
}

void log_listen(void (*fn)(void *arg, const struct log_entry *), void *arg)
{
	lg.listen = fn;
	lg.listen_arg = arg;
}
