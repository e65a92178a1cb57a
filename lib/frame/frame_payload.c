/* SPDX-License-Identifier: BSD-3-Clause */
/* The payload of the frame of ordinal 0. */
#include "frame_payload.h"

#include <errno.h>
#include <string.h>

/* Writes the first n bytes of a random block. */
static void random_bytes(uint64_t seed, uint8_t *p, unsigned n)
{
	uint64_t key = vary_key(seed, 0, 0);

	for (unsigned i = 0; i < n; i++)
		p[i] = (uint8_t)(vary_r32(key, i / 4) >> (24 - i % 4 * 8));
}

static void fill_repeat(const uint8_t *what, size_t len, uint8_t *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		p[i] = what[i % len];
}

static int user_text(const struct frame_spec *spec, uint8_t *p, unsigned n, struct err *e)
{
	size_t len = strnlen(spec->user, sizeof(spec->user));

	if (len == 0)
		return err_set(
			e, EINVAL,
			"the payload pattern is user, but the user pattern is empty: set its text, "
			"or pattern abc or zero");
	fill_repeat((const uint8_t *)spec->user, len, p, n);
	return 0;
}

static int given_bytes(const struct frame_spec *spec, uint8_t *p, unsigned n, struct err *e)
{
	const struct hexbytes *data = spec->data;

	if (data == NULL || data->n == 0)
		return err_set(
			e, EINVAL,
			"the payload pattern is %s, but there are no bytes: `set <ports> pattern.%s ...` gives them",
			spec->fill == FILL_HEX ? "hex" : "file",
			spec->fill == FILL_HEX ? "hex" : "file");
	fill_repeat(data->b, data->n, p, n);
	return 0;
}

int frame_payload(const struct frame_spec *spec, uint8_t *p, unsigned n, struct err *e)
{
	static const char abc[] = "abcdefghijklmnopqrstuvwxyz012345";

	switch (spec->fill) {
	case FILL_ABC:
		fill_repeat((const uint8_t *)abc, sizeof(abc) - 1, p, n);
		return 0;
	case FILL_ZERO:
	case FILL_NONE:
		memset(p, 0, n);
		return 0;
	case FILL_USER:
		return user_text(spec, p, n, e);
	case FILL_INC:
		for (unsigned i = 0; i < n; i++)
			p[i] = (uint8_t)i;
		return 0;
	case FILL_RANDOM:
		random_bytes(spec->fill_seed, p, n);
		return 0;
	case FILL_HEX:
	case FILL_FILE:
		return given_bytes(spec, p, n, e);
	}
	return err_set(e, EINVAL, "unknown payload pattern");
}
