/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of files that settings name. A file is read when its setting is set, and what becomes
 * of it later changes nothing. All who have the same bytes of the same name share them: they are
 * counted. For control's thread. */
#pragma once
#include "base.h"

struct filebytes {
	struct filebytes *next; /* of all that there are */
	unsigned refs;
	uint64_t hash; /* of the name and the bytes */
	char *name;
	const uint8_t *b; /* n of them, at least 1 */
	uint32_t n;
};

/* Reads a file of 1 to `most` bytes. What *out becomes lives as long as somebody holds it, and up
 * to the next call in any case. -EINVAL with *e: it is no such file. */
int filebytes_read(const char *name, size_t most, struct filebytes **out, struct err *e);
/* Holds it once more, and returns it; NULL: nothing. */
struct filebytes *filebytes_hold(struct filebytes *f);
/* The opposite. */
void filebytes_drop(struct filebytes *f);
/* How many there are, for tests. */
unsigned filebytes_count(void);
