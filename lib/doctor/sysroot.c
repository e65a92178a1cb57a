/* SPDX-License-Identifier: BSD-3-Clause */
#include "sysroot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userfile.h"

#define LINE_MOST 16384   /* a list of CPUs is the longest line that is asked for */
#define FOLDER_MOST 65536 /* entries of a folder that are looked at */

bool cpus_has(const struct cpus *c, int cpu)
{
	return cpu >= 0 && cpu < CPUS_MAX && (c->bit[cpu / 64] >> cpu % 64 & 1) != 0;
}

void cpus_put(struct cpus *c, int cpu)
{
	if (cpu >= 0 && cpu < CPUS_MAX)
		c->bit[cpu / 64] |= 1ull << cpu % 64;
}

unsigned cpus_count(const struct cpus *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < CPUS_MAX / 64; i++)
		n += (unsigned)__builtin_popcountll(c->bit[i]);
	return n;
}

int cpus_first(const struct cpus *c)
{
	for (int i = 0; i < CPUS_MAX; i++)
		if (cpus_has(c, i))
			return i;
	return -1;
}

static bool cpus_number(const char **at, int *out)
{
	long v = 0;
	const char *p = *at;

	while (*p >= '0' && *p <= '9' && v < CPUS_MAX)
		v = v * 10 + (*p++ - '0');
	if (p == *at || v >= CPUS_MAX)
		return false;
	*at = p;
	*out = (int)v;
	return true;
}

bool cpus_parse(const char *text, struct cpus *out)
{
	const char *at = text;
	int from, to;

	*out = (struct cpus){0};
	if (*text == '\0' || strcmp(text, "(null)") == 0)
		return true;
	do {
		if (!cpus_number(&at, &from))
			return false;
		to = from;
		if (*at == '-' && (at++, !cpus_number(&at, &to)))
			return false;
		if (to < from)
			return false;
		for (int i = from; i <= to; i++)
			cpus_put(out, i);
	} while (*at == ',' && at++ != NULL);
	return *at == '\0';
}

void cpus_text(const struct cpus *c, struct sbuf *out)
{
	size_t began = out->len;

	for (int i = 0; i < CPUS_MAX; i++) {
		int first = i;
		if (!cpus_has(c, i))
			continue;
		while (cpus_has(c, i + 1))
			i++;
		sbuf_addf(out, "%s%d", out->len > began ? "," : "", first);
		if (i > first)
			sbuf_addf(out, "%s%d", i > first + 1 ? "-" : ",", i);
	}
}

/* Where the kernel has no value it answers with one of these. */
static bool is_no_value(int code)
{
	return code == ENOENT || code == ENOTDIR || code == EINVAL || code == ENODEV ||
	       code == ENXIO || code == EOPNOTSUPP || code == ENODATA;
}

/* Binary data has control characters. Other bytes above 0x7f may be names in any script; a report
 * shows them in visible form. */
static bool is_text(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)s[i] < ' ' && s[i] != '\n' && s[i] != '\t') || s[i] == 0x7f)
			return false;
	return true;
}

/* Tells that a file is not readable. */
static enum sys_state sys_bad(const struct sysroot *r, const char *path, int code, const char *why)
{
	if (r->bad != NULL)
		r->bad(r->arg, path, why, code == EACCES || code == EPERM);
	return SYS_BAD;
}

/* Reads at most `most` bytes; whole: a file with more than that is not readable. */
static enum sys_state sys_bytes(const struct sysroot *r, const char *path, size_t most, bool whole,
				struct sbuf *out)
{
	struct sbuf full = {0};
	const char *why = "";
	char buf[4096];
	ssize_t n = 1;

	sbuf_reset(out);
	sbuf_addf(&full, "%s%s", r->path, path);
	int fd = userfile_open(full.s, O_RDONLY, 0, &why), code = fd < 0 ? -fd : 0;
	sbuf_free(&full);
	if (fd < 0)
		return code != EINVAL && is_no_value(code) ? SYS_ABSENT
							   : sys_bad(r, path, code, why);
	while (out->len <= most && (n = read(fd, buf, sizeof(buf))) > 0)
		sbuf_addn(out, buf, (size_t)n);
	code = errno;
	close(fd);
	if (n < 0)
		return is_no_value(code) ? SYS_ABSENT : sys_bad(r, path, code, strerror(code));
	if (out->len > most && whole)
		return sys_bad(r, path, 0, "it is too large");
	if (out->len > most) {
		out->s[most] = '\0';
		out->len = most;
	}
	return is_text(sbuf_str(out), out->len) ? SYS_READ
						: sys_bad(r, path, 0, "it holds no text");
}

static enum sys_state sys_one_line(const struct sysroot *r, const char *path, struct sbuf *out)
{
	enum sys_state state = sys_bytes(r, path, LINE_MOST, true, out);

	if (state != SYS_READ)
		return state;
	while (out->len > 0 && strchr("\n\t ", out->s[out->len - 1]) != NULL)
		out->s[--out->len] = '\0';
	return strchr(sbuf_str(out), '\n') == NULL
		       ? SYS_READ
		       : sys_bad(r, path, 0, "it has more than one line");
}

enum sys_state sys_line(const struct sysroot *r, char *out, size_t size, const char *fmt, ...)
{
	struct sbuf path = {0}, line = {0};
	va_list ap;

	va_start(ap, fmt);
	sbuf_vaddf(&path, fmt, ap);
	va_end(ap);
	enum sys_state state = sys_one_line(r, path.s, &line);
	if (state == SYS_READ && line.len >= size)
		state = sys_bad(r, path.s, 0, "its line is too long");
	snprintf(out, size, "%s", state == SYS_READ ? sbuf_str(&line) : "");
	sbuf_free(&line);
	sbuf_free(&path);
	return state;
}

enum sys_state sys_head(const struct sysroot *r, struct sbuf *out, const char *fmt, ...)
{
	struct sbuf path = {0};
	va_list ap;

	va_start(ap, fmt);
	sbuf_vaddf(&path, fmt, ap);
	va_end(ap);
	enum sys_state state = sys_bytes(r, path.s, SYS_HEAD, false, out);
	if (state != SYS_READ)
		sbuf_reset(out);
	sbuf_free(&path);
	return state;
}

enum sys_state sys_number(const struct sysroot *r, int64_t least, int64_t most, int64_t *out,
			  const char *fmt, ...)
{
	struct sbuf path = {0}, line = {0};
	char why[96], *end;
	va_list ap;

	va_start(ap, fmt);
	sbuf_vaddf(&path, fmt, ap);
	va_end(ap);
	enum sys_state state = sys_one_line(r, path.s, &line);
	if (state == SYS_READ) {
		const char *s = sbuf_str(&line);
		errno = 0;
		long long v = strtoll(s, &end, strncmp(s, "0x", 2) == 0 ? 16 : 10);
		if (end == s || *end != '\0' || errno != 0 || v < least || v > most) {
			snprintf(why, sizeof(why), "it holds no number from %lld to %lld",
				 (long long)least, (long long)most);
			state = sys_bad(r, path.s, 0, why);
		} else {
			*out = v;
		}
	}
	sbuf_free(&line);
	sbuf_free(&path);
	return state;
}

enum sys_state sys_cpus(const struct sysroot *r, struct cpus *out, const char *fmt, ...)
{
	struct sbuf path = {0}, line = {0};
	va_list ap;

	*out = (struct cpus){0};
	va_start(ap, fmt);
	sbuf_vaddf(&path, fmt, ap);
	va_end(ap);
	enum sys_state state = sys_one_line(r, path.s, &line);
	if (state == SYS_READ && !cpus_parse(sbuf_str(&line), out)) {
		*out = (struct cpus){0};
		state = sys_bad(r, path.s, 0, "it holds no list of numbers");
	}
	sbuf_free(&line);
	sbuf_free(&path);
	return state;
}

enum sys_state sys_link(const struct sysroot *r, char *out, size_t size, const char *fmt, ...)
{
	struct sbuf path = {0}, full = {0};
	enum sys_state state = SYS_READ;
	char to[PATH_MAX];
	va_list ap;

	out[0] = '\0';
	va_start(ap, fmt);
	sbuf_vaddf(&path, fmt, ap);
	va_end(ap);
	sbuf_addf(&full, "%s%s", r->path, path.s);
	ssize_t n = readlink(full.s, to, sizeof(to) - 1);
	if (n < 0) {
		state = errno == ENOENT || errno == ENOTDIR
				? SYS_ABSENT
				: sys_bad(r, path.s, errno,
					  errno == EINVAL ? "it is no link" : strerror(errno));
	} else {
		to[n] = '\0';
		const char *slash = strrchr(to, '/'), *last = slash != NULL ? slash + 1 : to;
		if (*last == '\0' || strlen(last) >= size || !is_text(last, strlen(last)))
			state = sys_bad(r, path.s, 0, "it leads to no name");
		else
			memcpy(out, last, strlen(last) + 1);
	}
	sbuf_free(&full);
	sbuf_free(&path);
	return state;
}

static int sys_by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

unsigned sys_names(const struct sysroot *r, char (*out)[SYS_NAME], unsigned most, const char *fmt,
		   ...)
{
	struct sbuf path = {0}, full = {0};
	const struct dirent *de;
	unsigned n = 0, seen = 0;
	va_list ap;

	va_start(ap, fmt);
	sbuf_vaddf(&path, fmt, ap);
	va_end(ap);
	sbuf_addf(&full, "%s%s", r->path, path.s);
	DIR *d = opendir(full.s);
	if (d == NULL && errno != ENOENT)
		sys_bad(r, path.s, errno, strerror(errno));
	while (d != NULL && n < most && seen++ < FOLDER_MOST && (de = readdir(d)) != NULL) {
		size_t len = strlen(de->d_name);
		if (de->d_name[0] != '.' && len < SYS_NAME && is_text(de->d_name, len))
			memcpy(out[n++], de->d_name, len + 1);
	}
	if (d != NULL)
		closedir(d);
	qsort(out, n, sizeof(out[0]), sys_by_name);
	sbuf_free(&full);
	sbuf_free(&path);
	return n;
}

bool sys_exists(const struct sysroot *r, const char *fmt, ...)
{
	struct sbuf full = {0};
	va_list ap;

	sbuf_add(&full, r->path);
	va_start(ap, fmt);
	sbuf_vaddf(&full, fmt, ap);
	va_end(ap);
	bool there = access(sbuf_str(&full), F_OK) == 0;
	sbuf_free(&full);
	return there;
}

const char *sys_value(const char *text, const char *key, size_t *n)
{
	size_t len = strlen(key);

	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		const char *at = line + len;
		if (strncmp(line, key, len) != 0)
			continue;
		at += strspn(at, " \t");
		if (*at != ':' && *at != '=')
			continue;
		at++;
		at += strspn(at, " \t");
		*n = strcspn(at, "\n");
		return at;
	}
	return NULL;
}
