/* SPDX-License-Identifier: BSD-3-Clause */
/* vt_share: shares of a whole, 0.1% or 20ppm. */
#include "value_impl.h"

#include <errno.h>
#include <string.h>

#define WHOLE 1000000000ull
#define PERCENT (WHOLE / 100)
#define PPM (WHOLE / 1000000)

static const struct unit share_units[] = {{"%", PERCENT}, {"ppm", PPM}, {"ppb", 1}, {NULL, 0}};

static int share_one(const struct vspec *s, const char *text, void *out, struct err *e)
{
	uint64_t v;
	int rc = 0;

	if (strcmp(text, "0") == 0)
		v = 0;
	else
		rc = whole_parse(s, text, share_units, "a share", &v, e);
	if (rc == 0)
		rc = whole_limits(s, text, v, 0, WHOLE, e);
	if (rc == 0)
		memcpy(out, &v, sizeof(v));
	return rc;
}

static int share_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	return value_spaced(share_one, s, text, out, e);
}

static void share_print(const struct vspec *s, const void *val, struct sbuf *out)
{
	uint64_t v;

	(void)s;
	memcpy(&v, val, sizeof(v));
	if (v != 0 && v < PERCENT / 100) {
		whole_put(v, PPM, out);
		sbuf_add(out, "ppm");
	} else {
		whole_put(v, PERCENT, out);
		sbuf_add(out, "%");
	}
}

static enum vplain share_plain(const struct vspec *s, const void *val, double *out)
{
	uint64_t v;

	(void)s;
	memcpy(&v, val, sizeof(v));
	*out = (double)v / (double)WHOLE;
	return VPLAIN_NUMBER;
}

/* A result that is within a millionth of a whole number of parts is taken as that number, because
 * 0.07 times 10^9 is not exactly 70000000 in binary. */
static void share_number(const struct vspec *s, double n, struct sbuf *out)
{
	double parts = n * (double)WHOLE;

	(void)s;
	if (parts >= 0 && parts < 1e15) {
		double whole = (double)(uint64_t)(parts + 0.5);
		double off = parts > whole ? parts - whole : whole - parts;
		parts = off <= 1e-6 ? whole : parts;
	}
	value_digits(parts, out);
	sbuf_add(out, "ppb");
}

static void share_complete(const struct vspec *s, const char *prefix,
			   void (*offer)(void *, const char *), void *arg)
{
	(void)s;
	unit_complete(share_units, prefix, offer, arg);
}

const struct vtype vt_share = {
	.name = "share",
	.syntax = "a share of the whole, with %, ppm or ppb: 0.1%, 20ppm, 0",
	.size = sizeof(uint64_t),
	.parse = share_parse,
	.print = share_print,
	.complete = share_complete,
	.plain = share_plain,
	.number = share_number,
};
