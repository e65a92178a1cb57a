/* SPDX-License-Identifier: BSD-3-Clause */
/* What a person sees of work that takes time: one row, which the screen and the prompt draw each in its own place. */
#pragma once
#include "sess.h"

/* Between two looks; what is over before the second look is not shown. */
#define PROGRESS_LOOK_NS 500000000ull

struct progress {
	bool found;       /* there was something at the last look, */
	wchar_t *text;    /* and at the one before: this is shown; NULL: nothing */
	bool busy;        /* a command held the line then */
};

/* Look at the session; true: what is shown has changed. cols: for so many it is made. */
bool progress_look(struct progress *, struct sess *, int cols, bool ascii);
/* Characters of the text that so many columns have room for. */
size_t progress_fit(const wchar_t *text, int cols);
/* Between two looks: the command whose progress is shown has ended, or another one has begun. */
bool progress_over(const struct progress *, const struct sess *);
/* Nothing is shown any more. */
void progress_drop(struct progress *);
