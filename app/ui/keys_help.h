/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of the screen and what they do stand here once, for the help page and, in the same
 * order, for the footer. */
#pragma once

struct key_help {
	const char *key, *text;
	const char *brief; /* the text in the footer; NULL: the footer does not have this key */
};

extern const struct key_help keys_help[]; /* ends with a row without key */
