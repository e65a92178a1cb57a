/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of the screen and what they do, stated once: for the help page and, in this order, for the footer. */
#pragma once

struct key_help {
	const char *key, *text;
	const char *brief; /* in the footer; NULL: not there */
};

extern const struct key_help keys_help[]; /* ends with a row without key */
