/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads small files of /proc and /sys, or of a folder that stands for a machine. The files are
 * taken for hostile: how much is read is bounded, and what is no text, no number or out of its
 * range is told as not readable. */
#pragma once
#include "base.h"

#define CPUS_MAX 4096 /* more than Linux has; a CPU with a higher number is not readable */

enum sys_state {
	SYS_READ,   /* *out has the value */
	SYS_ABSENT, /* there is no such file, or the kernel has no value to tell */
	SYS_BAD     /* it is there and was not readable, which has been told */
};

struct sysroot {
	const char *path; /* "": the machine itself */
	/* Is called with the path of a file that was not readable, without the root, and the reason
	 * for a user. denied: this process lacks the right. NULL: nobody wants to know. */
	void (*bad)(void *arg, const char *path, const char *why, bool denied);
	void *arg;
};

/* A list of CPUs or nodes. */
struct cpus {
	uint64_t bit[CPUS_MAX / 64];
};
bool cpus_has(const struct cpus *, int cpu);
void cpus_put(struct cpus *, int cpu);
unsigned cpus_count(const struct cpus *);
int cpus_first(const struct cpus *); /* -1: it is empty */
/* Reads "0-3,8"; the empty list and "(null)", which is what the kernel writes for it in some files,
 * are lists too. false: it is no list. */
bool cpus_parse(const char *text, struct cpus *out);
void cpus_text(const struct cpus *, struct sbuf *out);

/* The functions below take the path from the root on, "/sys/class/net/%s/speed". */

/* A file of one line, without its newline. */
enum sys_state sys_line(const struct sysroot *, char *out, size_t size, const char *fmt, ...)
	WR_PRINTF(4, 5);
/* The beginning of a file of many lines: at most SYS_HEAD bytes. */
#define SYS_HEAD (256u << 10)
enum sys_state sys_head(const struct sysroot *, struct sbuf *out, const char *fmt, ...)
	WR_PRINTF(3, 4);
/* A file of one whole number, decimal or 0x..., from least to most. */
enum sys_state sys_number(const struct sysroot *, int64_t least, int64_t most, int64_t *out,
			  const char *fmt, ...) WR_PRINTF(5, 6);
enum sys_state sys_cpus(const struct sysroot *, struct cpus *out, const char *fmt, ...)
	WR_PRINTF(3, 4);
/* The last part of what a link points to, such as the name of a driver. */
enum sys_state sys_link(const struct sysroot *, char *out, size_t size, const char *fmt, ...)
	WR_PRINTF(4, 5);
/* The names in a folder, sorted, at most `most` of them and none longer than SYS_NAME. Returns how
 * many. */
#define SYS_NAME 64
unsigned sys_names(const struct sysroot *, char (*out)[SYS_NAME], unsigned most, const char *fmt,
		   ...) WR_PRINTF(4, 5);
bool sys_exists(const struct sysroot *, const char *fmt, ...) WR_PRINTF(2, 3);
/* The value of the first line "key : value" or "key=value" of a text; its length is in *n. NULL:
 * there is none. */
const char *sys_value(const char *text, const char *key, size_t *n);
