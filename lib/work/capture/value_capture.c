/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of `capture`: sizes of files ("1GB", "64 MiB", "500000") and filters. */
#include "capture_app.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct unit {
	const char *name;
	uint64_t bytes;
} units[] = {
	{"", 1},
	{"B", 1},
	{"kB", 1000},
	{"MB", 1000000},
	{"GB", 1000000000},
	{"TB", 1000000000000},
	{"KiB", 1ull << 10},
	{"MiB", 1ull << 20},
	{"GiB", 1ull << 30},
	{"TiB", 1ull << 40},
	{"k", 1000},
	{"M", 1000000},
	{"G", 1000000000},
};

static int bytes_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	char *end;
	double n = strtod(text, &end);
	uint64_t unit = 0;

	(void)s;
	end += strspn(end, " ");
	for (unsigned i = 0; i < ARRAY_SIZE(units); i++)
		if (strcasecmp(end, units[i].name) == 0)
			unit = units[i].bytes;
	if (text[0] < '0' || text[0] > '9' || unit == 0)
		return err_at(
			e, EINVAL, 0,
			"'%.40s' is no size; write bytes with or without a unit: 1GB, 64MiB, 500000",
			text);
	if (!(n * (double)unit >= CAPTURE_SIZE_LEAST) || n * (double)unit > 1e18)
		return err_at(e, ERANGE, 0,
			      "%.40s is out of range; a file has at least %u bytes, %s", text,
			      CAPTURE_SIZE_LEAST, "and at most 10^18");
	*(uint64_t *)out = (uint64_t)(n * (double)unit);
	return 0;
}

static void bytes_print(const struct vspec *s, const void *val, struct sbuf *out)
{
	(void)s;
	sbuf_addf(out, "%" PRIu64, *(const uint64_t *)val);
}

const struct vtype capture_vt_bytes = {
	.name = "bytes",
	.syntax = "1GB | 64MiB | 500000",
	.size = sizeof(uint64_t),
	.parse = bytes_parse,
	.print = bytes_print,
};

/* The text alone is used, which may be longer than a value. */
static int filter_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	(void)s;
	if (text[0] == '\0' || strlen(text) > FILTER_CHARS_MOST)
		return err_at(e, EINVAL, 0,
			      "a filter has 1 to %u characters, as in 'udp and port 5000'",
			      FILTER_CHARS_MOST);
	*(uint64_t *)out = 0;
	return 0;
}

static void filter_print(const struct vspec *s, const void *val, struct sbuf *out)
{
	(void)s, (void)val, (void)out;
}

const struct vtype capture_vt_filter = {
	.name = "filter",
	.syntax = "'udp port 5000', as tcpdump takes it",
	.size = sizeof(uint64_t),
	.parse = filter_parse,
	.print = filter_print,
};
