/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress is a row of text that tells a person how far something has come that takes time: the
 * running command, or the run of the ports. The screen and the line prompt draw it. */
#pragma once
#include "sess.h"

/* The time between two looks at the session. What has ended before the second look is not shown. */
#define PROGRESS_LOOK_NS 500000000ull

struct progress {
	bool found;    /* there was something at the last look */
	wchar_t *text; /* what is shown, after two such looks; NULL: nothing */
	bool busy;     /* a command was running or queued at the last look */
};

/* Looks at the session, and makes the text for so many columns. Returns true when what is shown has
 * changed. */
bool progress_look(struct progress *, struct sess *, int cols, bool ascii);
/* Returns how many characters of the text have room in so many columns. */
size_t progress_fit(const wchar_t *text, int cols);
/* To be asked between two looks. Returns true when the command whose progress is shown has ended,
 * or when a command has begun while that of a run is shown. */
bool progress_over(const struct progress *, const struct sess *);
/* Forgets everything: from then on nothing is shown. */
void progress_drop(struct progress *);
