/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "dperf" of snapshots keeps the numbers of the last second. */
#pragma once
#include "app.h"

/* Begins to keep them, if it has not begun. Whoever asks for the part begins it, too. */
void dperf_watch(struct app *app);
/* Frees what is kept. */
void dperf_forget(struct app *app);
